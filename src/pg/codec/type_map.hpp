// Which SQL type a columnar field is, and which declared column types can read it. Used by fdw_arrow (IMPORT, scans)
// and by the planner to decide what the engine may read.
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

/// Types that a file may name. Files come from anywhere, and the types of any role in this database run that role's
/// code with the rights of who reads them.
enum class NamedTypes : uint8_t {
  kTrusted,  // of the server itself and of its extensions
  kAny,      // of whoever: only where the user says so
};

/// The SQL type that `field` maps to: the one that its metadata names (`pg_type`, `pg_typmod`, Arrow's extension types)
/// if there is such a type and it can read the field, else the one of its layout. Its oid is InvalidOid when the field
/// cannot be read, and then unsupported_feature() says why. May throw.
SqlType sql_type_of(const columnar::Field& field, NamedTypes which = NamedTypes::kTrusted);

/// The same without the field's own metadata, with that of its children.
SqlType stored_type_of(const columnar::Field& field, NamedTypes which = NamedTypes::kTrusted);

/// Statistics of the field hold for values of the declared type, and Decoder decodes them.
bool has_statistics(const columnar::Field& field, SqlType declared);

/// Name of what keeps `field` from being read ("type Foo"); empty when it can be.
std::string unsupported_feature(const columnar::Field& field);

/// How well a column declared as a SQL type reads a field.
enum class Fit {
  kNone,       // types differ: 42804
  kConverted,  // readable, but values change on the way (char(n) padding, wider numbers): codec only, not the engine
  kExact,      // the engine may load the field's bytes as values of the declared type
};

/// Declared type against field. The text types are interchangeable, integers and floating point may be
/// declared wider than the field is; a numeric's declared scale must be the file's and
/// its precision not smaller, a char(n)'s n that of the file. The length of varchar(n) is taken as the table's promise
/// and not checked against values. Types that Arrow does not have are read from their text. Lists are read as arrays,
/// structs as composite types, and nested types of all kinds as json and jsonb. May throw.
Fit fit(const columnar::Field& field, SqlType declared);

/// How values of a field become values of a declared type, which is no domain.
enum class Conversion : uint8_t {
  kNone,
  kValue,      // see file_reader()
  kText,       // by the type's input function
  kArray,      // of lists
  kComposite,  // of structs
  kJson,       // json or jsonb of nested types
  kNull,       // all rows are NULL
  kGeometry,   // see geometry_of()
};
/// Of the field itself, not of its children. May throw.
Conversion conversion_of(const columnar::Field& field, SqlType base);

/// How a field is read as PostGIS's geometry: by its extension type, and by what the declared type asks for. nullopt:
/// the field holds no geometries, or others than those, or the type is another. May throw.
std::optional<format::geoarrow::GeometryField> geometry_of(const columnar::Field& field, SqlType declared);

using columnar::value_field;

/// What a list's elements are, below all lists that nest in it, which are `dimensions`; nullptr when an array cannot
/// have so many.
const columnar::Field* array_leaf(const columnar::Field& field, int* dimensions);
/// Type of the elements of an array type. May throw.
SqlType element_type(SqlType array);
/// `type`, or the type and modifier that it is a domain over. May throw.
SqlType domain_base(SqlType type);

/// A column of a composite type and the child of a struct that it reads.
struct Part {
  AttrNumber attnum = 0;
  std::string name;
  SqlType type;
  int child = -1;
};
/// By name where all names agree, else by position. False when the struct is not of that type. May throw.
bool match_parts(const columnar::Field& structure, SqlType composite, std::vector<Part>* parts);

/// The engine's type for values of a SQL type: those of domains are of their base types, those of all enum types of
/// one, and of all arrays. nullptr when the engine does not compute with them. May ereport.
const registry::TypeInfo* engine_type(Oid type);

/// The expression is of PostGIS's type geometry, or a domain over it. May ereport.
bool is_geometry(const Node* expr);

/// `type`, or the type and modifier that it is a domain over. May ereport.
SqlType base_type(SqlType type);

/// Of numeric(precision, scale); precision -1 for numeric alone.
int declared_precision(SqlType type);
int declared_scale(SqlType type);

/// "integer", "numeric(10,2)": PostgreSQL's spelling. May throw.
std::string type_name(SqlType type);

}  // namespace strom::pg::codec
