// Which SQL type a field of an Arrow schema is: one function for Arrow_Fdw, which has types as OIDs, and for the tools,
// which have them as SQL. The types themselves are those of registry/arrow_types.def.
#pragma once

#include <optional>

#include "columnar/layout.hpp"
#include "columnar/schema.hpp"
#include "registry/types.hpp"

namespace strom::columnar {

/// The SQL type that reads all values of a layout.
constexpr registry::TypeId layout_type(Layout layout) {
  switch (layout) {
#define STROM_ARROW_TYPE(name, text, arrow, first, second, form, width, values, sql, ...) \
  case Layout::k##name: return registry::TypeId::sql;
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
  }
  return registry::TypeId::kText;
}

/// The same in SQL; empty when the field's parameters belong to it.
constexpr const char* layout_type_text(Layout layout) {
  switch (layout) {
#define STROM_ARROW_TYPE(name, text, arrow, first, second, form, width, values, sql, sql_text, ...) \
  case Layout::k##name: return sql_text;
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
  }
  return "";
}

/// The field whose values `field` has in another form: that of the values of a run-end encoded one.
inline const Field& value_field(const Field& field) {
  const Field* at = &field;
  while (at->layout == Layout::kRunEndEncoded) at = &at->children[1];
  return *at;
}

template <class Names>
typename Names::Type sql_type_of(const Field& field, const Names& names);

/// The type of a field by what is stored alone, without its own metadata, with that of its children. `Names` is what
/// types are to the caller:
///   Type                                           a SQL type; one that was made by default is none
///   Type builtin(registry::TypeId, const Field&)   a built-in type with the precision and scale of the field
///   std::optional<Type> named(const Field&)        the type that the field's metadata name, where that counts
///   std::optional<Type> array_of(const Type&)      nothing where there is no such array
///   bool is_json(const Type&)
/// None for fields that cannot be read.
template <class Names>
typename Names::Type stored_sql_type(const Field& field, const Names& names) {
  using registry::TypeId;
  if (!field.unsupported.empty()) return {};
  if (field.layout == Layout::kRunEndEncoded) return sql_type_of(field.children[1], names);
  if (field.layout == Layout::kTimestamp)
    return names.builtin(field.timezone.empty() ? TypeId::kTimestamp : TypeId::kTimestampTz, field);
  if (is_list(field.layout)) {
    const Field& element = field.children[0];
    const typename Names::Type type = sql_type_of(element, names);
    const bool is_plain = !is_nested(value_field(element).layout) || !names.is_json(type);
    const auto array = is_plain ? names.array_of(type) : std::nullopt;
    if (array) return *array;
  }
  return names.builtin(layout_type(field.layout), field);
}

/// The type that its metadata name, or else that of what is stored.
template <class Names>
typename Names::Type sql_type_of(const Field& field, const Names& names) {
  if (!field.unsupported.empty()) return {};
  if (const auto named = names.named(field)) return *named;
  return stored_sql_type(field, names);
}

}  // namespace strom::columnar
