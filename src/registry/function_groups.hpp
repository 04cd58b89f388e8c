// The groups of functions.def. Of the functions themselves this header knows nothing, so that what is compiled for one
// group does not depend on the rows of others.
#pragma once

#include <cstdint>

namespace strom::registry {

enum class FunctionGroup : uint16_t {
#define STROM_FUNCTION_GROUP(name) name,
#include "registry/function_groups.def"
#undef STROM_FUNCTION_GROUP
};

}  // namespace strom::registry
