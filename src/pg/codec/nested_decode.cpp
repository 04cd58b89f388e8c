// Decoder trees: how they are built, and how rows become arrays, composites, and values that input functions make from
// text. Functions that read rows may ereport; functions that build trees may throw.
#include "pg/codec/nested_decode.hpp"

#include <algorithm>
#include <new>
#include <type_traits>
#include <vector>

#include "columnar/layout.hpp"
#include "columnar/nested_view.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::codec {

using boundary::guard;
using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

namespace {

/// Memory of the current context with `count` objects in it. May ereport.
template <class T>
T* make_objects(int count) {
  static_assert(std::is_trivially_destructible_v<T>);
  auto* memory = static_cast<T*>(palloc(sizeof(T) * static_cast<size_t>(count + 1)));
  for (int i = 0; i < count; ++i) new (memory + i) T();
  return memory;
}

/// True if the values of the view are in other rows of its children, whatever their type.
bool is_indirect(const ColumnView& view) {
  return view.layout == Layout::kRunEndEncoded || (view.layout == Layout::kDictionary && view.dictionary == nullptr) ||
         columnar::is_union(view.layout);
}

/// Builds trees of palloc'd nodes. May throw.
class TreeBuilder {
 public:
  explicit TreeBuilder(const RowSite* place) : place_(place) {}

  NestedDecoder* build(const Field& field, const ColumnView& view, SqlType declared, bool in_json) {
    auto* decoder = guard([] { return make_objects<NestedDecoder>(1); });
    fill(decoder, field, view, declared, in_json);
    return decoder;
  }

 private:
  void fill(NestedDecoder* decoder, const Field& field, const ColumnView& view, SqlType declared, bool in_json) {
    decoder->field = &field;
    decoder->view = view;
    decoder->place = place_;
    const SqlType base = domain_base(declared);
    if (base.oid != declared.oid && !in_json) {
      decoder->domain = declared.oid;
      decoder->domain_cache = guard([] { return static_cast<void**>(palloc0(sizeof(void*))); });
    }
    decoder->conversion = conversion_of(field, base);
    if (is_indirect(view)) {
      fill_indirect(decoder, base, in_json);
      return;
    }
    switch (decoder->conversion) {
      case Conversion::kValue: fill_value(decoder, base); break;
      case Conversion::kText:
        fill_value(decoder, {TEXTOID, -1});
        decoder->input = guard([=] { return make_input(base); });
        break;
      case Conversion::kGeometry: fill_geometry(decoder, base); break;
      case Conversion::kArray: fill_array(decoder, base); break;
      case Conversion::kComposite: fill_composite(decoder, base); break;
      case Conversion::kJson:
        decoder->is_json_text = base.oid == JSONOID;
        fill_json_children(decoder);
        break;
      case Conversion::kNull:
      case Conversion::kNone: break;
    }
    if (in_json && !columnar::is_nested(field.layout)) decoder->json = guard([=] { return make_json_leaf(base.oid); });
  }

  void fill_value(NestedDecoder* decoder, SqlType base) {
    const registry::TypeInfo* type = guard([=] { return engine_type(base.oid); });
    const bool is_half = type == &registry::type_info(registry::TypeId::kFloat2);
    decoder->value = make_value_decoder(*decoder->field, base, is_half);
    decoder->value.view = decoder->view;
    decoder->value.place = place_;
    decoder->value.names_place = false;
  }

  static void fill_geometry(NestedDecoder* decoder, SqlType base) {
    decoder->geometry = guard([] { return make_objects<format::geoarrow::GeometryField>(1); });
    *decoder->geometry = geometry_of(*decoder->field, base).value_or(format::geoarrow::GeometryField());
  }

  static TextInput* make_input(SqlType base) {
    auto* input = make_objects<TextInput>(1);
    Oid function;
    getTypeInputInfo(base.oid, &function, &input->parameter);
    fmgr_info(function, &input->function);
    input->typmod = base.typmod;
    return input;
  }

  NestedDecoder* make_children(NestedDecoder* decoder) {
    const int count = decoder->view.child_count;
    decoder->children = guard([=] { return make_objects<NestedDecoder>(count); });
    return decoder->children;
  }

  /// Sets up children of the same type: parts of a dictionary, runs, and members of a union. Only jsonb can hold
  /// unions.
  void fill_indirect(NestedDecoder* decoder, SqlType base, bool in_json) {
    const ColumnView& view = decoder->view;
    const Field& field = *decoder->field;
    decoder->is_json_text = base.oid == JSONOID;
    NestedDecoder* children = make_children(decoder);
    for (int i = 0; i < view.child_count; ++i) {
      if (view.layout == Layout::kDictionary) {
        fill_kept(&children[i], field, view.children[i], base, in_json);
      } else if (view.layout == Layout::kRunEndEncoded) {
        if (i == 1) fill_kept(&children[i], field.children[1], view.children[i], base, in_json);
      } else {
        fill_json(&children[i], field.children[static_cast<size_t>(i)], view.children[i]);
      }
    }
  }

  void fill_kept(NestedDecoder* child, const Field& field, const ColumnView& view, SqlType base, bool in_json) {
    if (in_json)
      fill_json(child, field, view);
    else
      fill(child, field, view, base, false);
  }

  void fill_json_children(NestedDecoder* decoder) {
    NestedDecoder* children = make_children(decoder);
    for (int i = 0; i < decoder->view.child_count; ++i)
      fill_json(&children[i], decoder->field->children[static_cast<size_t>(i)], decoder->view.children[i]);
  }

  /// Sets up a part of a jsonb. Nested types keep their structure there, whatever their metadata say.
  void fill_json(NestedDecoder* decoder, const Field& field, const ColumnView& view) {
    const bool is_nested = columnar::is_nested(value_field(field).layout);
    const SqlType type = is_nested ? SqlType{JSONBOID, -1} : sql_type_of(field);
    fill(decoder, field, view, type, true);
  }

  void fill_array(NestedDecoder* decoder, SqlType base) {
    const SqlType element = element_type(base);
    int dimensions = 0;
    array_leaf(*decoder->field, &dimensions);
    decoder->array = guard([=] {
      auto* shape = make_objects<ArrayShape>(1);
      shape->element = element.oid;
      shape->dimensions = dimensions;
      get_typlenbyvalalign(element.oid, &shape->length, &shape->by_value, &shape->alignment);
      return shape;
    });
    fill_list(decoder, element);
  }

  /// Sets up a list. A list inside of a list is kArray without an ArrayShape of its own.
  void fill_list(NestedDecoder* decoder, SqlType element) {
    decoder->conversion = Conversion::kArray;
    NestedDecoder* children = make_children(decoder);
    fill_element(&children[0], decoder->field->children[0], decoder->view.children[0], element);
  }

  void fill_element(NestedDecoder* decoder, const Field& field, const ColumnView& view, SqlType element) {
    if (!columnar::is_list(value_field(field).layout)) return fill(decoder, field, view, element, false);
    decoder->field = &field;
    decoder->view = view;
    decoder->place = place_;
    if (!is_indirect(view)) return fill_list(decoder, element);
    NestedDecoder* children = make_children(decoder);
    for (int i = 0; i < view.child_count; ++i) {
      if (view.layout == Layout::kDictionary)
        fill_element(&children[i], field, view.children[i], element);
      else if (i == 1)
        fill_element(&children[i], field.children[1], view.children[i], element);
    }
  }

  void fill_composite(NestedDecoder* decoder, SqlType base) {
    std::vector<Part> parts;
    match_parts(*decoder->field, base, &parts);
    decoder->composite = guard([=] {
      auto* shape = make_objects<CompositeShape>(1);
      shape->desc = lookup_rowtype_tupdesc_copy(base.oid, base.typmod);
      shape->children = static_cast<int*>(palloc(sizeof(int) * static_cast<size_t>(shape->desc->natts + 1)));
      for (int i = 0; i < shape->desc->natts; ++i) shape->children[i] = -1;
      return shape;
    });
    NestedDecoder* children = make_children(decoder);
    for (const Part& part : parts) {
      decoder->composite->children[part.attnum - 1] = part.child;
      fill(&children[part.child], decoder->field->children[static_cast<size_t>(part.child)],
           decoder->view.children[part.child], part.type, false);
    }
  }

  const RowSite* place_;
};

}  // namespace

Decoder make_file_decoder(const Field& field, SqlType declared, const ColumnView& view, const RowSite* place) {
  const SqlType base = domain_base(declared);
  const bool is_plain = base.oid == declared.oid && !columnar::is_nested(field.layout) && !is_indirect(view) &&
                        conversion_of(field, base) == Conversion::kValue;
  Decoder decoder;
  if (is_plain) {
    const registry::TypeInfo* type = guard([=] { return engine_type(base.oid); });
    decoder = make_value_decoder(field, base, type == &registry::type_info(registry::TypeId::kFloat2));
  } else {
    decoder.nested = TreeBuilder(place).build(field, view, declared, false);
  }
  decoder.view = view;
  decoder.place = place;
  return decoder;
}

void raise_corrupt(const NestedDecoder* decoder, const char* what) {
  ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                  errmsg("corrupt Arrow file \"%s\"", decoder->place != nullptr ? decoder->place->file : ""),
                  errdetail("%s", what)));
}

FoundRow find_row(const NestedDecoder* decoder, int64_t row) {
  for (;;) {
    if (decoder->view.layout == Layout::kNull || !columnar::is_valid(decoder->view, row)) return {};
    if (!is_indirect(decoder->view)) return {decoder, row};
    int child = 0;
    int64_t child_row = 0;
    if (!columnar::value_row(decoder->view, decoder->field->type_ids, row, &child, &child_row))
      raise_corrupt(decoder, "A row refers to a value that does not exist.");
    decoder = &decoder->children[child];
    row = child_row;
  }
}

void find_elements(const FoundRow& list, int64_t* begin, int64_t* count) {
  columnar::ChildRows rows;
  if (!columnar::list_rows(list.decoder->view, list.row, &rows))
    raise_corrupt(list.decoder, "Elements of a list lie outside of its column.");
  *begin = rows.begin;
  *count = rows.count;
}

Datum decode_leaf(const FoundRow& leaf) {
  const NestedDecoder* decoder = leaf.decoder;
  if (decoder->geometry != nullptr) return decode_geometry(leaf);
  const Datum value = decoder->value.read(decoder->value, leaf.row);
  if (decoder->input == nullptr) return value;
  TextInput* input = decoder->input;
  char* text = text_to_cstring(reinterpret_cast<::text*>(DatumGetPointer(value)));
  return InputFunctionCall(&input->function, text, input->parameter, input->typmod);
}

namespace {

/// An array under construction.
struct ArrayValue {
  const ArrayShape* shape;
  int dimensions[MAXDIM];
  Datum* values;
  bool* nulls;
  int64_t count, room;
};

void raise_ragged(const char* what) {
  ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("nested lists do not make an array"),
                  errdetail("%s", what), errhint("Declare the column as jsonb.")));
}

/// Makes room for `more` elements. The count comes from the file, so it is checked against a limit first.
void add_room(ArrayValue* array, int64_t more) {
  constexpr int64_t kMost = MaxArraySize;
  if (more > kMost - array->count)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("array size exceeds the maximum allowed (%lld)", static_cast<long long>(kMost))));
  if (array->count + more <= array->room) return;
  array->room = std::max(array->count + more, std::min(2 * array->room, kMost));
  const Size values = sizeof(Datum) * static_cast<Size>(array->room + 1);
  const Size nulls = sizeof(bool) * static_cast<Size>(array->room + 1);
  array->values = static_cast<Datum*>(array->values == nullptr ? palloc_extended(values, MCXT_ALLOC_HUGE)
                                                               : repalloc_huge(array->values, values));
  array->nulls = static_cast<bool*>(array->nulls == nullptr ? palloc_extended(nulls, MCXT_ALLOC_HUGE)
                                                            : repalloc_huge(array->nulls, nulls));
}

void collect(const FoundRow& list, int level, ArrayValue* array) {
  check_stack_depth();
  int64_t begin = 0, count = 0;
  find_elements(list, &begin, &count);
  if (count > static_cast<int64_t>(MaxArraySize))
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("array size exceeds the maximum allowed (%d)", static_cast<int>(MaxArraySize))));
  if (array->dimensions[level] < 0) array->dimensions[level] = static_cast<int>(count);
  if (array->dimensions[level] != count) raise_ragged("Lists of one level have different numbers of elements.");
  const NestedDecoder* child = &list.decoder->children[0];
  if (level + 1 < array->shape->dimensions) {
    for (int64_t i = 0; i < count; ++i) {
      const FoundRow found = find_row(child, begin + i);
      if (found.decoder == nullptr) raise_ragged("A list in a list is NULL.");
      collect(found, level + 1, array);
    }
    return;
  }
  add_room(array, count);
  for (int64_t i = 0; i < count; ++i) {
    CHECK_FOR_INTERRUPTS();
    const auto at = array->count++;
    array->values[at] = decode_row(child, begin + i, &array->nulls[at]);
  }
}

Datum decode_array(const FoundRow& list) {
  ArrayValue array{list.decoder->array, {}, nullptr, nullptr, 0, 0};
  const ArrayShape& shape = *array.shape;
  for (int& size : array.dimensions) size = -1;
  collect(list, 0, &array);
  if (array.count == 0) return PointerGetDatum(construct_empty_array(shape.element));
  int lower_bounds[MAXDIM];
  for (int& bound : lower_bounds) bound = 1;
  return PointerGetDatum(construct_md_array(array.values, array.nulls, shape.dimensions, array.dimensions, lower_bounds,
                                            shape.element, shape.length, shape.by_value, shape.alignment));
}

Datum decode_composite(const FoundRow& found) {
  const NestedDecoder* decoder = found.decoder;
  const CompositeShape& shape = *decoder->composite;
  const int count = shape.desc->natts;
  auto* values = static_cast<Datum*>(palloc0(sizeof(Datum) * static_cast<Size>(count + 1)));
  auto* nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<Size>(count + 1)));
  for (int i = 0; i < count; ++i) {
    nulls[i] = true;
    if (shape.children[i] >= 0) values[i] = decode_row(&decoder->children[shape.children[i]], found.row, &nulls[i]);
  }
  return HeapTupleGetDatum(heap_form_tuple(shape.desc, values, nulls));
}

Datum decode_json(const NestedDecoder* root, int64_t row) {
  const Datum value = decode_jsonb(root, row);
  if (!root->is_json_text) return value;
  Jsonb* json = DatumGetJsonbP(value);
  return CStringGetTextDatum(JsonbToCString(nullptr, &json->root, VARSIZE(json)));
}

Datum decode_found(const FoundRow& found) {
  switch (found.decoder->conversion) {
    case Conversion::kValue:
    case Conversion::kGeometry:
    case Conversion::kText: return decode_leaf(found);
    case Conversion::kArray: return decode_array(found);
    case Conversion::kComposite: return decode_composite(found);
    default: break;
  }
  raise_corrupt(found.decoder, "A value has no type.");
}

}  // namespace

Datum decode_row(const NestedDecoder* root, int64_t row, bool* is_null) {
  check_stack_depth();
  const FoundRow found = find_row(root, row);
  *is_null = found.decoder == nullptr;
  Datum value = 0;
  if (!*is_null) value = root->conversion == Conversion::kJson ? decode_json(root, row) : decode_found(found);
  if (OidIsValid(root->domain))
    domain_check(value, *is_null, root->domain, root->domain_cache, GetMemoryChunkContext(root->domain_cache));
  return value;
}

namespace {

struct RowContext {
  const NestedDecoder* decoder;
  int64_t row;
};

void describe_row(void* argument) {
  const auto* context = static_cast<const RowContext*>(argument);
  const RowSite* place = context->decoder->place;
  if (place != nullptr)
    errcontext("column \"%s\" of file \"%s\", record batch %d, row %lld", place->column, place->file, place->batch,
               static_cast<long long>(context->row));
}

}  // namespace

Datum decode_nested(const Decoder& decoder, int64_t row, bool* is_null) {
  RowContext context{decoder.nested, row};
  ErrorContextCallback callback;
  callback.callback = describe_row;
  callback.arg = &context;
  callback.previous = error_context_stack;
  error_context_stack = &callback;
  const Datum value = decode_row(decoder.nested, row, is_null);
  error_context_stack = callback.previous;
  return value;
}

}  // namespace strom::pg::codec
