// numeric: calls of registry/functions/numeric.def.
#pragma once

#include "engine/expr/arith.hpp"
#include "engine/expr/decimal.hpp"
#include "engine/expr/decimal_casts.hpp"
#include "engine/expr/parse.hpp"
#include "engine/expr/row_decimal.hpp"

#define STROM_GROUP numeric
#define STROM_GROUP_ROWS "registry/functions/numeric.def"
#include "engine/op/call/define_group.hpp"
