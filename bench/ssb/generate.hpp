// Makes a whole table on several threads and hands its record batches, in order, to one consumer: the Arrow writer or
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
  const std::atomic<bool>* stop = nullptr;  // looked at before each batch; a stopped run is kCancelled
};

/// Receives the batches of a table in their order, one call at a time, from changing threads.
using Consume = std::function<Status(const columnar::BatchView& batch)>;

/// Runs until every batch is consumed or one consumer call fails, whose Status is returned.
/// Holds one batch per thread in memory.
Status generate_table(const Plan& plan, Table table, const GenerateOptions& options, const Consume& consume);

}  // namespace strom::ssb
