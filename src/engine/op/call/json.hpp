// jsonb: calls of registry/functions/json.def.
#pragma once

#include "engine/expr/decimal_casts.hpp"
#include "engine/expr/json.hpp"

#define STROM_GROUP json
#define STROM_GROUP_ROWS "registry/functions/json.def"
#include "engine/op/call/define_group.hpp"
