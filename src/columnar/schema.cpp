// See schema.hpp.
#include "columnar/schema.hpp"

#include <algorithm>

namespace strom::columnar {

bool same_type(const Field& a, const Field& b) {
  const bool has_names = a.layout == Layout::kStruct || is_union(a.layout);
  return a.layout == b.layout && a.dictionary == b.dictionary && (!a.dictionary || a.index == b.index) &&
         a.unsupported == b.unsupported && a.precision == b.precision && a.scale == b.scale &&
         a.byte_width == b.byte_width && (!has_unit(a.layout) || a.unit == b.unit) && a.timezone == b.timezone &&
         a.type_ids == b.type_ids &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    [has_names](const Field& one, const Field& other) {
                      return (!has_names || one.name == other.name) && same_type(one, other);
                    });
}

int64_t stored_width(const Field& field) {
  return field.dictionary ? value_width(field.index, 0) : value_width(field.layout, field.byte_width);
}

namespace {

/// `of_values`: a field with a dictionary has the text of its values' type alone, and so have its children.
std::string text_of(const Field& field, bool of_values) {
  if (!field.unsupported.empty()) return field.unsupported;
  std::string text = layout_name(field.layout);
  if (is_decimal(field.layout)) text += "(" + std::to_string(field.precision) + "," + std::to_string(field.scale) + ")";
  if (field.layout == Layout::kFixedBinary || field.layout == Layout::kFixedList)
    text += "(" + std::to_string(field.byte_width) + ")";
  if (has_unit(field.layout))
    text += std::string("(") + unit_name(field.unit) + (field.timezone.empty() ? "" : ",") + field.timezone + ")";
  if (!field.children.empty()) {
    const bool has_names = field.layout == Layout::kStruct || is_union(field.layout);
    std::string parts;
    for (const Field& child : field.children)
      parts += (parts.empty() ? "" : ", ") + (has_names ? child.name + ": " : "") + text_of(child, of_values);
    text += "<" + parts + ">";
  }
  if (of_values || !field.dictionary) return text;
  return "Dictionary<" + std::string(layout_name(field.index)) + ", " + text + ">";
}

}  // namespace

std::string type_text(const Field& field) { return text_of(field, false); }
std::string value_type_text(const Field& field) { return text_of(field, true); }

}  // namespace strom::columnar
