// Dates and times: calls of registry/functions/datetime.def.
#pragma once

#include "engine/expr/datetime.hpp"
#include "engine/expr/interval.hpp"
#include "engine/expr/interval_parts.hpp"
#include "engine/expr/parse.hpp"
#include "engine/expr/zone.hpp"

#define STROM_GROUP datetime
#define STROM_GROUP_ROWS "registry/functions/datetime.def"
#include "engine/op/call/define_group.hpp"
