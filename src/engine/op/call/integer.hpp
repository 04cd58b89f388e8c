// Arithmetic of integers: calls of registry/functions/integer.def.
#pragma once

#include "engine/expr/arith.hpp"
#include "engine/expr/cast.hpp"

#define STROM_GROUP integer
#define STROM_GROUP_ROWS "registry/functions/integer.def"
#include "engine/op/call/define_group.hpp"
