// Comparisons: calls of registry/functions/compare.def.
#pragma once

#include "engine/expr/compare.hpp"
#include "engine/expr/datetime.hpp"
#include "engine/expr/interval.hpp"
#include "engine/expr/interval_parts.hpp"
#include "engine/expr/network.hpp"
#include "engine/expr/row_decimal.hpp"
#include "engine/expr/small_types.hpp"
#include "engine/expr/text.hpp"

#define STROM_GROUP compare
#define STROM_GROUP_ROWS "registry/functions/compare.def"
#include "engine/op/call/define_group.hpp"
