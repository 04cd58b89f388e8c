// Maps columnar fields to SQL types, and tells which declared column types can read a field. Used by fdw_arrow (IMPORT,
// scans) and by the planner to decide what the engine may read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "columnar/schema.hpp"
#include "columnar/sql_type.hpp"
#include "format/geoarrow/geometry_field.hpp"
#include "pg/boundary/postgres.hpp"
#include "registry/types.hpp"

namespace strom::pg::codec {

/// A SQL type with its modifier (-1 = none).
struct SqlType {
  Oid oid = InvalidOid;
  int32_t typmod = -1;
};

/// Which types a file may name. Files come from anywhere, and using a type of any role in this database would run that
/// role's code with the reader's rights.
enum class NamedTypes : uint8_t {
  kTrusted,  // types of the server itself and of its extensions
  kAny,      // types of any role; only where the user allows it
};

/// The SQL type that `field` maps to: the one that its metadata names (`pg_type`, `pg_typmod`, Arrow's extension types)
/// if there is such a type and it can read the field, else the one of its layout. Its oid is InvalidOid when the field
/// cannot be read, and then unsupported_feature() says why. May throw.
SqlType sql_type_of(const columnar::Field& field, NamedTypes which = NamedTypes::kTrusted);

/// Like sql_type_of(), but ignores the field's own metadata. Metadata of its children count.
SqlType stored_type_of(const columnar::Field& field, NamedTypes which = NamedTypes::kTrusted);

/// True if statistics of the field hold for values of the declared type, and Decoder decodes them.
bool has_statistics(const columnar::Field& field, SqlType declared);

/// Names the feature that keeps `field` from being read ("type Foo"); empty when the field can be read.
std::string unsupported_feature(const columnar::Field& field);

/// How well a column declared as a SQL type reads a field.
enum class Fit {
  kNone,       // types differ: 42804
  kConverted,  // readable, but values change on the way (char(n) padding, wider numbers): codec only, not the engine
  kExact,      // the engine may load the field's bytes as values of the declared type
};

/// How `declared` reads `field`.
/// - Text types are interchangeable.
/// - Integers and floating point may be declared wider than the field.
/// - The scale of a numeric must equal the file's; its precision must not be smaller.
/// - The n of char(n) must equal the file's.
/// - The length of varchar(n) is trusted, not checked against values.
/// - Types that Arrow does not have are read from their text.
/// - Lists are read as arrays, structs as composite types, and all nested types as json and jsonb.
/// May throw.
Fit fit(const columnar::Field& field, SqlType declared);

/// How values of a field become values of a declared type that is not a domain.
enum class Conversion : uint8_t {
  kNone,
  kValue,      // see file_reader()
  kText,       // text through the type's input function
  kArray,      // a list
  kComposite,  // a struct
  kJson,       // a nested type as json or jsonb
  kNull,       // all rows are NULL
  kGeometry,   // see geometry_of()
};
/// The conversion of the field itself, not of its children. May throw.
Conversion conversion_of(const columnar::Field& field, SqlType base);

/// How a field is read as PostGIS's geometry, by its extension type and by the declared type. nullopt: the field holds
/// no geometries, or the declared type is none or asks for other geometries. May throw.
std::optional<format::geoarrow::GeometryField> geometry_of(const columnar::Field& field, SqlType declared);

using columnar::value_field;

/// The innermost element of a list of lists; `dimensions` gets the depth of nesting. nullptr when arrays cannot have so
/// many dimensions.
const columnar::Field* array_leaf(const columnar::Field& field, int* dimensions);
/// The element type of an array type. May throw.
SqlType element_type(SqlType array);
/// The base type and its modifier if `type` is a domain, else `type`. May throw.
SqlType domain_base(SqlType type);

/// A column of a composite type and the child of a struct that it reads.
struct Part {
  AttrNumber attnum = 0;
  std::string name;
  SqlType type;
  int child = -1;
};
/// Matches by name if all names agree, else by position. False when the struct does not match the type. May throw.
bool match_parts(const columnar::Field& structure, SqlType composite, std::vector<Part>* parts);

/// The engine's type for values of a SQL type; nullptr when the engine does not compute with it. Domains map like their
/// base types. All enum types map to one type, and so do all arrays. May ereport.
const registry::TypeInfo* engine_type(Oid type);

/// True if the expression has PostGIS's type geometry, or a domain over it. May ereport.
bool is_geometry(const Node* expr);

/// Like domain_base(), but may ereport.
SqlType base_type(SqlType type);

/// The precision of numeric(precision, scale); -1 for numeric without modifier.
int declared_precision(SqlType type);
int declared_scale(SqlType type);

/// The name in PostgreSQL's spelling, such as "integer" or "numeric(10,2)". May throw.
std::string type_name(SqlType type);

}  // namespace strom::pg::codec
