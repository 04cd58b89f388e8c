// How many files and sockets this process may have open.
#pragma once

#include <cstddef>

namespace strom::base {

/// Raises the number to `wanted` where it is lower, as far as the system allows. What it is then.
size_t raise_descriptor_limit(size_t wanted);

/// The number as it is.
inline size_t descriptor_limit() { return raise_descriptor_limit(0); }

}  // namespace strom::base
