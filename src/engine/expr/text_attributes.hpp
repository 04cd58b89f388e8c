// Attributes in the texts of VCF files, with the results of pg/sqlfn/vcf.cpp. They give flags: NULL for a missing key.
#pragma once

#include "engine/expr/text_parts.hpp"

namespace strom::engine::expr {

/// Takes an item and the separator behind it from `rest`. `more`: there was a separator, so another item follows.
STROM_INLINE StrView take_item(StrView& rest, char separator, bool* more) {
  const int64_t at = find_bytes(rest, 0, {&separator, 1});
  const StrView item = {rest.ptr, at < 0 ? rest.len : at};
  *more = at >= 0;
  rest = behind(rest, at < 0 ? rest.len : at + 1);
  return item;
}

/// The value of KEY=VALUE among items. A KEY alone has an empty value.
template <char kSeparator>
struct NamedAttribute {
  STROM_INLINE static uint8_t eval(const Context&, StrView& out, StrView items, StrView key) {
    for (bool more = true; more;) {
      StrView value = take_item(items, kSeparator, &more);
      bool has_value;
      const StrView name = take_item(value, '=', &has_value);
      if (!text_equal(name, key)) continue;
      out = value;
      return 0;
    }
    return block::kNullFlag;
  }
};

/// The value in a cell at the place that `key` has in the format. Values at a cell's end may be missing.
struct CellAttribute {
  STROM_INLINE static uint8_t eval(const Context&, StrView& out, StrView format, StrView cell, StrView key) {
    for (bool more_names = true, more_values = true; more_names && more_values;) {
      const StrView name = take_item(format, ':', &more_names);
      const StrView value = take_item(cell, ':', &more_values);
      if (!text_equal(name, key)) continue;
      out = value;
      return 0;
    }
    return block::kNullFlag;
  }
};

}  // namespace strom::engine::expr
