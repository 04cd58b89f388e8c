// Live captures: threads that take packets from sources and fill record batches with them.
#pragma once

#include <memory>
#include <vector>

#include "base/status.hpp"
#include "cli/progress.hpp"
#include "pcap2arrow/output.hpp"
#include "pcap2arrow/packet_source.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// What a capture has come to.
struct Captured {
  Written written;
  int64_t received = 0;  // from the kernel
  int64_t dropped = 0;   // by the kernel, for want of room
  Status failure;        // why it ended early; what was written before is whole
};

using Sources = std::vector<std::unique_ptr<PacketSource>>;

/// Opens settings.interfaces, then gives up the privileges that it took. Called while the process has one thread: each
/// has its own capabilities.
Result<Sources> open_sources(const Settings& settings);

/// Captures from `sources`, a thread for each, until a signal, or as long as was asked for.
Result<Captured> capture_from(const Settings& settings, Sources sources, tool::Progress& progress);

}  // namespace strom::pcap2arrow
