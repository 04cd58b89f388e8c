// Attributes in the texts of VCF files, as pg/sqlfn/vcf.cpp has them. They give flags: NULL where a key is not there.
#pragma once

#include "engine/expr/text_parts.hpp"

namespace strom::engine::expr {

/// Takes an item and the separator behind it from `rest`. `more`: there was a separator, and so another item.
STROM_INLINE StrView take_item(StrView& rest, char separator, bool* more) {
  const int64_t at = find_bytes(rest, 0, {&separator, 1});
  const StrView item = {rest.ptr, at < 0 ? rest.len : at};
  *more = at >= 0;
  rest = behind(rest, at < 0 ? rest.len : at + 1);
  return item;
}

/// The value of KEY=VALUE among items; of KEY alone nothing, which is there.
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

/// The value of a cell that stands where `key` stands in the format. Values at a cell's end may be left out.
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
