// Trees of decoders: for nested columns of Arrow files, and for values whose conversion is more than a copy. Private to
// src/pg/codec; decode.hpp is the interface.
#pragma once

#include <cstdint>

#include "format/geoarrow/geometry_field.hpp"
#include "pg/codec/decode.hpp"

namespace strom::pg::codec {

/// Builds the values of a type from text.
struct TextInput {
  FmgrInfo function;
  Oid parameter = InvalidOid;
  int32_t typmod = -1;
};

/// Elements of an array type.
struct ArrayShape {
  Oid element = InvalidOid;
  int16_t length = 0;
  bool by_value = false;
  char alignment = 'i';
  int dimensions = 0;
};

struct CompositeShape {
  TupleDesc desc = nullptr;
  int* children = nullptr;  // for each attribute: the struct's child, or -1
};

/// The form that a leaf takes in jsonb, the same as in to_jsonb().
enum class JsonForm : uint8_t {
  kBool,
  kNumber,  // values that are no JSON number (NaN) become strings
  kTime,    // dates and timestamps in ISO 8601
  kJson,    // json or jsonb itself
  kBytes,   // \x and hexadecimal digits
  kString,
};

struct JsonLeaf {
  JsonForm form = JsonForm::kString;
  Oid type = InvalidOid;  // of the value
  FmgrInfo output;        // kNumber, kString
};

/// One column or part of one, as values of one SQL type. Plain data in a memory context.
struct NestedDecoder {
  const columnar::Field* field = nullptr;
  columnar::ColumnView view;
  Conversion conversion = Conversion::kNone;            // how rows of this column itself are converted
  NestedDecoder* children = nullptr;                    // one for each child of the view
  Decoder value;                                        // kValue: the value; kText: the text
  TextInput* input = nullptr;                           // kText
  format::geoarrow::GeometryField* geometry = nullptr;  // kGeometry
  ArrayShape* array = nullptr;                          // kArray, unless it is nested in another list
  CompositeShape* composite = nullptr;                  // kComposite
  bool is_json_text = false;                            // kJson: the type is json, not jsonb
  JsonLeaf* json = nullptr;                             // for a leaf inside of a kJson
  Oid domain = InvalidOid;                              // the declared type, if it is a domain
  void** domain_cache = nullptr;
  const RowSite* place = nullptr;
};

/// The place where the value of a row is stored: a row of `root` or of one of its descendants.
struct FoundRow {
  const NestedDecoder* decoder = nullptr;  // nullptr: the row is NULL
  int64_t row = 0;
};
/// Finds that place through run ends, dictionaries and unions. May ereport.
FoundRow find_row(const NestedDecoder* root, int64_t row);

/// The range of child rows that are the elements of a list. May ereport.
void find_elements(const FoundRow& list, int64_t* begin, int64_t* count);

/// The value of row `row`, of any type. May ereport.
Datum decode_row(const NestedDecoder* root, int64_t row, bool* is_null);

/// The value of a leaf that find_row() found. May ereport.
Datum decode_leaf(const FoundRow& leaf);

/// A row of a field of geometries. May ereport.
Datum decode_geometry(const FoundRow& leaf);

/// A row of a nested column as jsonb. May ereport.
Datum decode_jsonb(const NestedDecoder* root, int64_t row);

/// How values of `type` become jsonb. May ereport.
JsonLeaf* make_json_leaf(Oid type);

[[noreturn]] void raise_corrupt(const NestedDecoder* decoder, const char* what);

}  // namespace strom::pg::codec
