// Which SQL type a field of an Arrow schema is. Arrow_Fdw has types as OIDs and the tools have them as SQL, so this one
// function is a template for both. The types themselves are those of registry/arrow_types.def.
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

/// The same type in SQL; empty when the field's parameters are a part of it.
constexpr const char* layout_type_text(Layout layout) {
  switch (layout) {
#define STROM_ARROW_TYPE(name, text, arrow, first, second, form, width, values, sql, sql_text, ...) \
  case Layout::k##name: return sql_text;
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
  }
  return "";
}

/// The field that describes the values: of a run-end encoded field, the field of its values; otherwise the field
/// itself.
inline const Field& value_field(const Field& field) {
  const Field* at = &field;
  while (at->layout == Layout::kRunEndEncoded) at = &at->children[1];
  return *at;
}

template <class Names>
typename Names::Type sql_type_of(const Field& field, const Names& names);

/// The type of a field by what is stored, without its own metadata but with that of its children. None for fields that
/// cannot be read. `Names` tells what types are to the caller:
///   Type                                           a SQL type; a default one is none
///   Type builtin(registry::TypeId, const Field&)   a built-in type with the precision and scale of the field
///   std::optional<Type> named(const Field&)        the type that the field's metadata name, where that counts
///   std::optional<Type> array_of(const Type&)      nothing where there is no such array
///   bool is_json(const Type&)
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

/// The type that the field's metadata name, or else the type of what is stored.
template <class Names>
typename Names::Type sql_type_of(const Field& field, const Names& names) {
  if (!field.unsupported.empty()) return {};
  if (const auto named = names.named(field)) return *named;
  return stored_sql_type(field, names);
}

}  // namespace strom::columnar
