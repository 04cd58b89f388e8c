// Casts: calls of registry/functions/cast.def.
#pragma once

#include "engine/expr/cast.hpp"
#include "engine/expr/decimal.hpp"
#include "engine/expr/parse.hpp"

#define STROM_GROUP cast
#define STROM_GROUP_ROWS "registry/functions/cast.def"
#include "engine/op/call/define_group.hpp"
