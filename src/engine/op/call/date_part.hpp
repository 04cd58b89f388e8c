// Fields of dates and times: calls of registry/functions/date_part.def.
#pragma once

#include "engine/expr/datetime.hpp"
#include "engine/expr/interval.hpp"
#include "engine/expr/interval_parts.hpp"

#define STROM_GROUP date_part
#define STROM_GROUP_ROWS "registry/functions/date_part.def"
#include "engine/op/call/define_group.hpp"
