// Arithmetic of floating-point numbers: calls of registry/functions/real.def.
#pragma once

#include "engine/expr/arith.hpp"
#include "engine/expr/cast.hpp"
#include "engine/expr/math.hpp"

#define STROM_GROUP real
#define STROM_GROUP_ROWS "registry/functions/real.def"
#include "engine/op/call/define_group.hpp"
