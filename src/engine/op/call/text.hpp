// Text: calls of registry/functions/text.def.
#pragma once

#include "engine/expr/arith.hpp"
#include "engine/expr/case_map.hpp"
#include "engine/expr/row_decimal.hpp"
#include "engine/expr/text.hpp"
#include "engine/expr/text_attributes.hpp"
#include "engine/expr/text_make.hpp"
#include "engine/expr/text_parts.hpp"
#include "engine/expr/to_char.hpp"

#define STROM_GROUP text
#define STROM_GROUP_ROWS "registry/functions/text.def"
#include "engine/op/call/define_group.hpp"
