// Work that is split into numbered pieces for some threads.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.hpp"
#include "cli/options.hpp"

namespace strom::tool {

/// -n; 0, the default, is one thread for each processor that this process may use.
void add_threads_option(OptionTable& table, int64_t* threads);
int thread_count(int64_t option);

/// Calls work(piece, thread) for all pieces 0 <= piece < pieces from `threads` threads, in the order of their numbers.
/// The first failure keeps further pieces from being begun, and is returned; of several that of the lowest piece.
Status run_pieces(int64_t pieces, int threads, const std::function<Status(int64_t piece, int thread)>& work);

}  // namespace strom::tool
