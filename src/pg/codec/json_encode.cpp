// See json_encode.hpp. Lists are read from arrays, structs from objects, maps with text keys from objects and others
// from arrays of pairs. No function here holds anything with a destructor: all may ereport.
#include "pg/codec/json_encode.hpp"

#include <cstring>

#include "columnar/layout.hpp"
#include "pg/codec/type_map.hpp"

namespace strom::pg::codec {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

namespace {

[[noreturn]] void fail(const ValueWriter& writer, const char* what) {
  refuse_value(writer, ERRCODE_INVALID_TEXT_REPRESENTATION, what);
}

void append_node(const ValueWriter& writer, ColumnBuilder& to, JsonbValue* value);

/// The array or object in which a nested value stands.
JsonbContainer* container(const ValueWriter& writer, const JsonbValue* value, bool is_array, const char* what) {
  if (value->type != jbvBinary) fail(writer, what);
  JsonbContainer* found = value->val.binary.data;
  if (is_array ? !JsonContainerIsArray(found) : !JsonContainerIsObject(found)) fail(writer, what);
  return found;
}

void append_elements(const ValueWriter& writer, ColumnBuilder& to, const JsonbValue* value) {
  JsonbContainer* array = container(writer, value, true, "json that is no array where the file has a list");
  const auto count = static_cast<uint32>(JsonContainerSize(array));
  const Field& field = to.field();
  if (field.layout == Layout::kFixedList && count != static_cast<uint32>(field.byte_width))
    fail(writer, "an array of another length than the file's lists");
  for (uint32 i = 0; i < count; ++i)
    append_node(*writer.children[0], to.child(0), getIthJsonbValueFromContainer(array, i));
  if (!to.append_list())
    refuse_value(writer, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "more than 2^31 elements of one record batch");
}

/// A field's name in the file, converted to the server's encoding.
const char* server_name(const Field& field, int* size) {
  const char* name = pg_any_to_server(field.name.data(), static_cast<int>(field.name.size()), PG_UTF8);
  *size = name == field.name.data() ? static_cast<int>(field.name.size()) : static_cast<int>(std::strlen(name));
  return name;
}

void append_members(const ValueWriter& writer, ColumnBuilder& to, const JsonbValue* value) {
  JsonbContainer* object = container(writer, value, false, "json that is no object where the file has a struct");
  int known = 0;
  for (size_t i = 0; i < writer.children.size(); ++i) {
    int size = 0;
    const char* name = server_name(to.field().children[i], &size);
    JsonbValue* member = getKeyJsonValueFromContainer(object, name, size, nullptr);
    known += member != nullptr;
    append_node(*writer.children[i], to.child(i), member);
  }
  if (known < static_cast<int>(JsonContainerSize(object)))
    fail(writer, "an object with a key that the file's struct does not have");
  to.append_struct();
}

void append_entry(const ValueWriter& entry, ColumnBuilder& to, JsonbValue* key, JsonbValue* value) {
  if (key == nullptr || key->type == jbvNull) fail(entry, "an entry of a map without a key");
  append_node(*entry.children[0], to.child(0), key);
  append_node(*entry.children[1], to.child(1), value);
  to.append_struct();
}

void append_pairs(const ValueWriter& writer, ColumnBuilder& to, JsonbContainer* array) {
  constexpr int kKeySize = 3, kValueSize = 5;
  const auto count = static_cast<uint32>(JsonContainerSize(array));
  for (uint32 i = 0; i < count; ++i) {
    const JsonbValue* pair = getIthJsonbValueFromContainer(array, i);
    JsonbContainer* object = container(writer, pair, false, "json that is no pair of key and value");
    append_entry(*writer.children[0], to.child(0), getKeyJsonValueFromContainer(object, "key", kKeySize, nullptr),
                 getKeyJsonValueFromContainer(object, "value", kValueSize, nullptr));
  }
}

void append_map(const ValueWriter& writer, ColumnBuilder& to, const JsonbValue* value) {
  if (value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data)) {
    append_pairs(writer, to, value->val.binary.data);
  } else {
    JsonbIterator* iterator =
        JsonbIteratorInit(container(writer, value, false, "json that is no object where the file has a map"));
    JsonbValue key, member;
    (void)JsonbIteratorNext(&iterator, &key, true);  // skips the beginning of the object
    while (JsonbIteratorNext(&iterator, &key, true) == WJB_KEY) {
      (void)JsonbIteratorNext(&iterator, &member, true);
      append_entry(*writer.children[0], to.child(0), &key, &member);
    }
  }
  if (!to.append_list())
    refuse_value(writer, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "more than 2^31 entries of one record batch");
}

/// A leaf as text for the input function of its type.
char* leaf_text(const ValueWriter& writer, const JsonbValue* value) {
  const bool is_json = writer.type == JSONBOID || writer.type == JSONOID;
  switch (value->type) {
    case jbvBool: return pstrdup(value->val.boolean ? "true" : "false");
    case jbvNumeric: return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
    case jbvString: {
      if (!is_json) return pnstrdup(value->val.string.val, static_cast<Size>(value->val.string.len));
      StringInfoData quoted;
      initStringInfo(&quoted);
      escape_json(&quoted, pnstrdup(value->val.string.val, static_cast<Size>(value->val.string.len)));
      return quoted.data;
    }
    case jbvBinary:
      if (is_json) return JsonbToCString(nullptr, value->val.binary.data, value->val.binary.len);
      fail(writer, "json that is an array or an object where the file has one value");
    default: fail(writer, "json that the file's type does not have");
  }
}

void append_leaf(const ValueWriter& writer, ColumnBuilder& to, const JsonbValue* value) {
  const ValueWriter& values = *writer.children[0];
  auto* input = const_cast<FmgrInfo*>(&writer.input);
  char* text = leaf_text(writer, value);
  values.append(values, to, InputFunctionCall(input, text, writer.input_parameter, writer.modifier));
}

void append_node(const ValueWriter& writer, ColumnBuilder& to, JsonbValue* value) {
  check_stack_depth();
  const Field& field = to.field();
  if (value == nullptr || value->type == jbvNull) {
    if (!field.nullable) refuse_value(writer, ERRCODE_NOT_NULL_VIOLATION, "NULL for a part that cannot be NULL");
    return to.append_null();
  }
  if (writer.refusal != nullptr) return writer.append(writer, to, 0);
  if (!field.dictionary) {
    if (columnar::is_list(field.layout)) return append_elements(writer, to, value);
    if (field.layout == Layout::kStruct) return append_members(writer, to, value);
    if (field.layout == Layout::kMap) return append_map(writer, to, value);
  }
  append_leaf(writer, to, value);
}

}  // namespace

void append_json(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  auto* packed = pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(value)));
  if (writer.type == JSONOID)
    packed = reinterpret_cast<struct varlena*>(DatumGetPointer(
        DirectFunctionCall1(jsonb_in, CStringGetDatum(text_to_cstring(reinterpret_cast<text*>(packed))))));
  Jsonb* json = DatumGetJsonbP(PointerGetDatum(packed));
  JsonbValue root;
  if (JB_ROOT_IS_SCALAR(json)) {
    JsonbExtractScalar(&json->root, &root);
  } else {
    root.type = jbvBinary;
    root.val.binary.data = &json->root;
    root.val.binary.len = static_cast<int>(VARSIZE(json)) - VARHDRSZ;
  }
  append_node(writer, to, &root);
}

}  // namespace strom::pg::codec
