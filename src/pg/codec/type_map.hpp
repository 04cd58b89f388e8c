// Which SQL type a columnar field is, and which declared column types can read it. Used by fdw_arrow (IMPORT, scans)
// and by the planner to decide what the engine may read.
#pragma once

#include <string>

#include "columnar/schema.hpp"
#include "pg/boundary/postgres.hpp"
#include "registry/types.hpp"

namespace strom::pg::codec {

/// A SQL type with its modifier (-1 = none).
struct SqlType {
  Oid oid = InvalidOid;
  int32_t typmod = -1;
};

/// The SQL type that `field` maps to; its oid is InvalidOid when the field cannot be read, and then
/// unsupported_feature() says why.
SqlType sql_type_of(const columnar::Field& field);

/// Name of what keeps `field` from being read ("dictionary encoding"); empty when it can be.
std::string unsupported_feature(const columnar::Field& field);

/// How well a column declared as a SQL type reads a field.
enum class Fit {
  kNone,       // types differ: 42804
  kConverted,  // readable, but values change on the way (char(n) padding): codec only, not the engine
  kExact,      // the engine may load the field's bytes as values of the declared type
};

/// Declared type against field. The text types are interchangeable; all other types must be the mapped one, a
/// numeric's declared scale must be the file's and its precision not smaller, a char(n)'s n that of the file.
/// The length of varchar(n) is taken as the table's promise and not checked against values.
Fit fit(const columnar::Field& field, SqlType declared);

/// The engine's type for values of a SQL type: those of domains are of their base types, those of all enum types of
/// one, and of all arrays. nullptr when the engine does not compute with them. May ereport.
const registry::TypeInfo* engine_type(Oid type);

/// `type`, or the type and modifier that it is a domain over. May ereport.
SqlType base_type(SqlType type);

/// "integer", "numeric(10,2)": PostgreSQL's spelling. May throw.
std::string type_name(SqlType type);

/// "Timestamp(us)", "Decimal128(10,2)": Arrow's spelling, for messages.
std::string arrow_type_name(const columnar::Field& field);

}  // namespace strom::pg::codec
