// Writes SQL values to fields of files that other programs wrote: text with other offsets, numbers of other widths,
// dictionaries, nested types. Implements the part of describer.hpp that INSERT into such files needs.
#include <utility>

#include "columnar/append_view.hpp"
#include "columnar/layout.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/describer.hpp"
#include "pg/codec/file_values.hpp"
#include "pg/codec/json_encode.hpp"
#include "pg/codec/plain_values.hpp"

namespace strom::pg::codec {

using boundary::guard;
using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

namespace {

void append_refused(const ValueWriter& writer, ColumnBuilder&, Datum) {
  refuse_value(writer, ERRCODE_FEATURE_NOT_SUPPORTED, writer.refusal);
}

/// Appends the index of a dictionary's value. A value that the dictionary lacks is added.
void append_encoded(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const ValueWriter& values = *writer.children[0];
  ColumnBuilder& scratch = *writer.scratch;
  scratch.clear();
  values.append(values, scratch, value);
  if (!scratch.is_valid(0)) return to.append_null();
  if (writer.dictionary == nullptr) append_refused(writer, to, value);
  char boolean;
  std::string_view bytes;
  (void)columnar::value_bytes(scratch.view(), 0, &boolean, &bytes);
  const int64_t index = writer.dictionary->find_or_add(bytes);
  if (index < 0 || !columnar::append_index(index, to))
    refuse_value(writer, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "one value more than the file's dictionary can have");
}

void append_run(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const ValueWriter& values = *writer.children[0];
  values.append(values, to.child(1), value);
  if (!to.append_run())
    refuse_value(writer, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "one value more than the file's ends of runs can count");
}

/// True if Arrow has a type for the values, though the file may use another form of it. Units and precision may differ,
/// so each value is checked.
bool takes(const Field& file, const Field& ours) {
  if (file.dictionary || ours.dictionary) return false;
  if (columnar::same_type(file, ours)) return true;
  if (columnar::is_decimal(file.layout)) return columnar::is_decimal(ours.layout);
  switch (file.layout) {
    case Layout::kDate32:
    case Layout::kDate64: return ours.layout == Layout::kDate32;
    case Layout::kTime32:
    case Layout::kTime64: return ours.layout == Layout::kTime64;
    case Layout::kTimestamp: return ours.layout == Layout::kTimestamp && file.timezone.empty() == ours.timezone.empty();
    case Layout::kList: return ours.layout == Layout::kList && takes(file.children[0], ours.children[0]);
    default: return false;
  }
}

bool is_real(Layout layout) {
  return layout == Layout::kFloat16 || layout == Layout::kFloat32 || layout == Layout::kFloat64;
}

}  // namespace

void Describer::refuse(ValueWriter& writer, const Field& file) {
  const std::string text = "a value of type " + columnar::type_text(file);
  MemoryContext memory = owner.memory_;
  const char* copied = text.c_str();
  writer.refusal = guard([=] { return MemoryContextStrdup(memory, copied); });
  writer.append = append_refused;
  writer.children.clear();
}

std::unique_ptr<ValueWriter> Describer::describe_for(const Field& file, SqlType type, Described* ours) {
  const WriteSettings saved = owner.settings_;
  owner.settings_.numeric_needs_precision = false;  // the file's field has a precision
  owner.settings_.enum_as_dictionary = false;       // dictionaries belong to the file
  if (columnar::is_text(file.layout)) owner.settings_.numeric.as = format::pgwire::NumericChoice::As::kText;
  if (is_real(file.layout)) owner.settings_.numeric.as = format::pgwire::NumericChoice::As::kReal;
  *ours = describe(file.name, type);
  owner.settings_ = saved;
  std::unique_ptr<ValueWriter> writer = std::move(ours->writer);
  if (!owner.settings_.may_narrow) {
    if (!takes(file, ours->field)) return nullptr;
    return writer;
  }
  writer->own_field = std::make_shared<const Field>(file);
  return fit(*writer, file, ours->field, type) ? std::move(writer) : nullptr;
}

bool Describer::fit(ValueWriter& writer, const Field& file, const Field& ours, SqlType type) {
  if (!file.unsupported.empty()) return false;
  const SqlType base = domain_base(type);
  if (file.dictionary) {
    Field values = file;
    values.dictionary = false;
    refuse(writer, file);  // stays for dictionaries to which no value can be added
    if (columnar::DictionaryBuilder::can_hold(values)) writer.append = append_encoded;
    return fit_values(writer, values, type);
  }
  if (file.layout == Layout::kRunEndEncoded) {
    writer.append = append_run;
    return fit_values(writer, file.children[1], type);
  }
  if (file.layout == Layout::kNull || columnar::is_union(file.layout)) {
    refuse(writer, file);
    return true;
  }
  if (!columnar::is_nested(file.layout)) return fit_plain(writer, file, ours, base);
  if (base.oid == JSONBOID || base.oid == JSONOID) {
    writer.type = base.oid;
    return fit_json(writer, file);
  }
  if (columnar::is_list(file.layout)) return fit_list(writer, file, base);
  return file.layout == Layout::kStruct && fit_composite(writer, file, base);
}

/// Fits `type` to the values of a dictionary, run-end encoded field or list, which the writer's only child writes.
bool Describer::fit_values(ValueWriter& writer, const Field& values, SqlType type) {
  Described ours;
  auto child = describe_for(values, type, &ours);
  if (child == nullptr) return false;
  writer.children.clear();
  writer.children.push_back(std::move(child));
  return true;
}

bool Describer::fit_plain(ValueWriter& writer, const Field& file, const Field& ours, SqlType base) {
  if (columnar::is_text(file.layout)) {
    if (conversion_of(file, base) == Conversion::kNone && ours.layout != Layout::kUtf8) return false;
    if (ours.layout != Layout::kUtf8) by_output(base.oid, writer);
    writer.children.clear();
    return true;
  }
  if (columnar::is_binary(file.layout) && ours.layout == Layout::kBinary) return true;
  if (takes(file, ours)) return true;
  const bool is_half = ours.layout == Layout::kFloat16;
  const AppendValue append = file_value_writer(file, base.oid, is_half);
  if (append != nullptr) writer.append = append;
  return append != nullptr;
}

/// Fits an array type; lists nested in lists are its dimensions.
bool Describer::fit_list(ValueWriter& writer, const Field& file, SqlType base) {
  const SqlType element = element_type(base);
  if (!OidIsValid(element.oid)) return false;
  const Field* leaf = &file;
  int dimensions = 0;
  while (columnar::is_list(leaf->layout) && !leaf->dictionary) {
    leaf = &leaf->children[0];
    ++dimensions;
  }
  if (dimensions > MAXDIM || !fit_values(writer, *leaf, element)) return false;
  set_element(writer, element.oid);
  writer.dimensions = dimensions;
  return true;
}

bool Describer::fit_composite(ValueWriter& writer, const Field& file, SqlType base) {
  std::vector<Part> parts;
  if (guard([base] { return get_typtype(base.oid); }) != TYPTYPE_COMPOSITE || !match_parts(file, base, &parts))
    return false;
  std::vector<std::unique_ptr<ValueWriter>> children;
  writer.targets.clear();
  for (const Part& part : parts) {
    Described ours;
    children.push_back(describe_for(file.children[static_cast<size_t>(part.child)], part.type, &ours));
    if (children.back() == nullptr) return false;
    writer.targets.push_back(part.child);
  }
  writer.row = row_of(base.oid);
  writer.append = codec::append_composite;
  writer.children = std::move(children);
  return true;
}

/// Builds a tree of writers in the shape of the file's nested type. Leaves go through the input functions of their
/// types.
bool Describer::fit_json(ValueWriter& writer, const Field& file) {
  writer.own_field = std::make_shared<const Field>(file);
  writer.append = append_json;
  writer.children.clear();
  const bool is_node = !file.dictionary && (columnar::is_list(file.layout) || file.layout == Layout::kMap ||
                                            file.layout == Layout::kStruct);
  if (is_node) {
    for (const Field& child : file.children) {
      auto part = new_writer();
      if (!fit_json(*part, child)) return false;
      writer.children.push_back(std::move(part));
    }
    return true;
  }
  if (columnar::is_union(file.layout) || file.layout == Layout::kNull) {
    refuse(writer, file);
    return true;
  }
  const SqlType type = sql_type_of(file);
  if (!OidIsValid(type.oid) || !fit_values(writer, file, type)) return false;
  by_input(type.oid, writer);
  writer.type = type.oid;
  writer.modifier = type.typmod;
  return true;
}

}  // namespace strom::pg::codec
