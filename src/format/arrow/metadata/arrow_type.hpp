// The IPC format's name of each layout: one for each row of registry/arrow_types.def. Private to src/format/arrow.
#pragma once

#include "arrow_ipc_generated.h"
#include "columnar/layout.hpp"

namespace strom::format::arrow {

/// A type, and the parameters that distinguish its layouts, see registry/arrow_types.def.
struct ArrowType {
  columnar::Layout layout;
  fbs::Type type;
  int first, second;
};

inline constexpr ArrowType kArrowTypes[] = {
#define STROM_ARROW_TYPE(name, text, arrow, first, second, ...) \
  {columnar::Layout::k##name, fbs::Type::arrow, first, second},
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
};

constexpr const ArrowType& arrow_type(columnar::Layout layout) { return kArrowTypes[static_cast<int>(layout)]; }

/// The row of a type with these parameters; nullptr: there is no such row.
constexpr const ArrowType* find_arrow_type(fbs::Type type, int first = 0, int second = 0) {
  for (const ArrowType& row : kArrowTypes)
    if (row.type == type && row.first == first && row.second == second && type != fbs::Type::NONE) return &row;
  return nullptr;
}

}  // namespace strom::format::arrow
