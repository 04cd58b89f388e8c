// Regular expressions: calls of registry/functions/regex.def.
#pragma once

#include "engine/expr/regex.hpp"

#define STROM_GROUP regex
#define STROM_GROUP_ROWS "registry/functions/regex.def"
#include "engine/op/call/define_group.hpp"
