// Networks, oid, "char" and money: calls of registry/functions/network.def.
#pragma once

#include "engine/expr/arith.hpp"
#include "engine/expr/cast.hpp"
#include "engine/expr/network.hpp"
#include "engine/expr/small_types.hpp"

#define STROM_GROUP network
#define STROM_GROUP_ROWS "registry/functions/network.def"
#include "engine/op/call/define_group.hpp"
