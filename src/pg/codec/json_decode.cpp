// Rows of nested columns as jsonb. Lists become arrays, and structs objects. Maps with text keys become objects, other
// maps arrays of pairs. A union becomes the value of its member. Leaves have the form that to_jsonb() gives them.
// May ereport.
#include <cmath>

#include "base/half.hpp"
#include "columnar/layout.hpp"
#include "columnar/nested_view.hpp"
#include "pg/codec/nested_decode.hpp"

namespace strom::pg::codec {

using columnar::Field;
using columnar::Layout;

namespace {

JsonForm json_form(Oid type) {
  switch (type) {
    case BOOLOID: return JsonForm::kBool;
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID: return JsonForm::kNumber;
    case DATEOID:
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID: return JsonForm::kTime;
    case JSONOID:
    case JSONBOID: return JsonForm::kJson;
    case BYTEAOID: return JsonForm::kBytes;
    default: return JsonForm::kString;
  }
}

bool is_number_type(Oid type) {
  char category;
  bool preferred;
  get_type_category_preferred(type, &category, &preferred);
  return category == TYPCATEGORY_NUMERIC;
}

void set_string(JsonbValue* out, char* text, int64_t size) {
  out->type = jbvString;
  out->val.string.val = text;
  out->val.string.len = static_cast<int>(size);
}

void set_cstring(JsonbValue* out, char* text) { set_string(out, text, static_cast<int64_t>(strlen(text))); }

// Sets a JSON number from digits, or a string if the text is no number (NaN).
void set_number(JsonbValue* out, char* text) {
  if (strpbrk(text, "Nn") != nullptr) {  // NaN, Infinity
    set_cstring(out, text);
    return;
  }
  out->type = jbvNumeric;
  out->val.numeric = DatumGetNumeric(
      DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

void set_bytes(JsonbValue* out, Datum value) {
  const auto* bytes = DatumGetByteaPP(value);
  const int64_t size = VARSIZE_ANY_EXHDR(bytes);
  const int64_t room = 2 * size + 2;
  if (room > static_cast<int64_t>(MaxAllocSize) - 1)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("binary value is too long for jsonb")));
  char* text = static_cast<char*>(palloc(static_cast<Size>(room + 1)));
  text[0] = '\\';
  text[1] = 'x';
  hex_encode(VARDATA_ANY(bytes), static_cast<size_t>(size), text + 2);
  set_string(out, text, room);
}

// Sets a value of json or jsonb. jsonb stores a scalar as an array with one element.
void set_json(JsonbValue* out, const JsonLeaf& leaf, Datum value) {
  if (leaf.type == JSONOID)
    value = DirectFunctionCall1(jsonb_in,
                                CStringGetDatum(text_to_cstring(reinterpret_cast<text*>(DatumGetPointer(value)))));
  Jsonb* json = DatumGetJsonbP(value);
  if (JB_ROOT_IS_SCALAR(json)) {
    JsonbExtractScalar(&json->root, out);
    return;
  }
  out->type = jbvBinary;
  out->val.binary.data = &json->root;
  out->val.binary.len = static_cast<int>(VARSIZE(json)) - VARHDRSZ;
}

void set_leaf(JsonbValue* out, const FoundRow& found) {
  JsonLeaf* leaf = found.decoder->json;
  const Datum value = decode_leaf(found);
  switch (leaf->form) {
    case JsonForm::kBool:
      out->type = jbvBool;
      out->val.boolean = DatumGetBool(value);
      return;
    case JsonForm::kNumber: set_number(out, OutputFunctionCall(&leaf->output, value)); return;
    case JsonForm::kTime: set_cstring(out, JsonEncodeDateTime(nullptr, value, leaf->type, nullptr)); return;
    case JsonForm::kJson: set_json(out, *leaf, value); return;
    case JsonForm::kBytes: set_bytes(out, value); return;
    case JsonForm::kString:
      if (leaf->type == TEXTOID || leaf->type == VARCHAROID) {
        auto* bytes = PG_DETOAST_DATUM_PACKED(value);
        set_string(out, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
      } else {
        set_cstring(out, OutputFunctionCall(&leaf->output, value));
      }
      return;
  }
}

/// A jsonb value under construction.
struct Writer {
  JsonbParseState* state = nullptr;
  JsonbValue* result = nullptr;
};

void push(Writer* writer, JsonbIteratorToken token, JsonbValue* value) {
  writer->result = pushJsonbValue(&writer->state, token, value);
}

void push_row(Writer* writer, JsonbIteratorToken token, const NestedDecoder* decoder, int64_t row);

void push_list(Writer* writer, const FoundRow& list) {
  int64_t begin = 0, count = 0;
  find_elements(list, &begin, &count);
  push(writer, WJB_BEGIN_ARRAY, nullptr);
  for (int64_t i = 0; i < count; ++i) push_row(writer, WJB_ELEM, &list.decoder->children[0], begin + i);
  push(writer, WJB_END_ARRAY, nullptr);
}

// A name of the file in the server's encoding.
void push_name(Writer* writer, const char* name, int size) {
  char* text = pg_any_to_server(name, size, PG_UTF8);
  JsonbValue key;
  set_cstring(&key, text);
  push(writer, WJB_KEY, &key);
}

void push_struct(Writer* writer, const FoundRow& found) {
  const NestedDecoder* decoder = found.decoder;
  push(writer, WJB_BEGIN_OBJECT, nullptr);
  for (int i = 0; i < decoder->view.child_count; ++i) {
    const Field* field = decoder->children[i].field;
    push_name(writer, field->name.c_str(), static_cast<int>(field->name.size()));
    push_row(writer, WJB_VALUE, &decoder->children[i], found.row);
  }
  push(writer, WJB_END_OBJECT, nullptr);
}

void push_key(Writer* writer, const NestedDecoder* keys, int64_t row) {
  const FoundRow found = find_row(keys, row);
  if (found.decoder == nullptr) raise_corrupt(keys, "A key of a map is NULL.");
  JsonbValue key;
  set_leaf(&key, found);
  push(writer, WJB_KEY, &key);
}

void push_map(Writer* writer, const FoundRow& map) {
  int64_t begin = 0, count = 0;
  find_elements(map, &begin, &count);
  const NestedDecoder* entries = &map.decoder->children[0];
  const NestedDecoder *keys = &entries->children[0], *values = &entries->children[1];
  const bool is_object = columnar::is_text(value_field(*keys->field).layout);
  push(writer, is_object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, nullptr);
  for (int64_t row = begin; row < begin + count; ++row) {
    CHECK_FOR_INTERRUPTS();
    if (is_object) {
      push_key(writer, keys, row);
    } else {
      push(writer, WJB_BEGIN_OBJECT, nullptr);
      push_name(writer, "key", 3);
      push_row(writer, WJB_VALUE, keys, row);
      push_name(writer, "value", 5);
    }
    push_row(writer, WJB_VALUE, values, row);
    if (!is_object) push(writer, WJB_END_OBJECT, nullptr);
  }
  push(writer, is_object ? WJB_END_OBJECT : WJB_END_ARRAY, nullptr);
}

// Appends any row; `token` says whether it is an array element or the value of a member.
void push_row(Writer* writer, JsonbIteratorToken token, const NestedDecoder* decoder, int64_t row) {
  check_stack_depth();
  CHECK_FOR_INTERRUPTS();
  const FoundRow found = find_row(decoder, row);
  if (found.decoder != nullptr) {
    const Layout layout = found.decoder->view.layout;
    if (columnar::is_list(layout)) return push_list(writer, found);
    if (layout == Layout::kStruct) return push_struct(writer, found);
    if (layout == Layout::kMap) return push_map(writer, found);
  }
  JsonbValue value;
  value.type = jbvNull;
  if (found.decoder != nullptr) set_leaf(&value, found);
  push(writer, token, &value);
}

}  // namespace

JsonLeaf* make_json_leaf(Oid type) {
  auto* leaf = static_cast<JsonLeaf*>(palloc0(sizeof(JsonLeaf)));
  leaf->form = json_form(type);
  leaf->type = type;
  if (leaf->form == JsonForm::kString && is_number_type(type) && !OidIsValid(get_element_type(type))) {
    const registry::TypeInfo* info = engine_type(type);  // finds int1 and float2; oid and money stay strings
    if (info == &registry::type_info(registry::TypeId::kFloat2) ||
        info == &registry::type_info(registry::TypeId::kInt1))
      leaf->form = JsonForm::kNumber;
  }
  Oid function;
  bool is_varlena;
  getTypeOutputInfo(type, &function, &is_varlena);
  fmgr_info(function, &leaf->output);
  return leaf;
}

Datum decode_jsonb(const NestedDecoder* root, int64_t row) {
  Writer writer;
  const FoundRow found = find_row(root, row);
  if (found.decoder != nullptr && found.decoder->json != nullptr) {  // a member of a union
    JsonbValue value;
    set_leaf(&value, found);
    return JsonbPGetDatum(JsonbValueToJsonb(&value));
  }
  push_row(&writer, WJB_ELEM, root, row);
  return JsonbPGetDatum(JsonbValueToJsonb(writer.result));
}

}  // namespace strom::pg::codec
