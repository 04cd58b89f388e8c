// Arrays: calls of registry/functions/array.def.
#pragma once

#include "engine/expr/array.hpp"

#define STROM_GROUP array
#define STROM_GROUP_ROWS "registry/functions/array.def"
#include "engine/op/call/define_group.hpp"
