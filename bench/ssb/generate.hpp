// Makes a whole table in several threads and passes its record batches, in order, to one consumer: the Arrow writer or
// the COPY stream of ssbgen.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/status.hpp"
#include "ssb/tables.hpp"

namespace strom::ssb {

struct GenerateOptions {
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;  // checked before each batch; a stopped run returns kCancelled
};

/// Gets the batches of a table in their order, one call at a time, from different threads.
using Consume = std::function<Status(const columnar::BatchView& batch)>;

/// Runs until all batches are consumed, or until `consume` fails; returns its Status. Holds one batch for each thread
/// in memory.
Status generate_table(const Plan& plan, Table table, const GenerateOptions& options, const Consume& consume);

}  // namespace strom::ssb
