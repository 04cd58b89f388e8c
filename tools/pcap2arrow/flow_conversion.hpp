// Flows of capture files: threads find the packets' headers, and put them into one table in the order of the files.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "cli/progress.hpp"
#include "format/arrow/write/writer.hpp"
#include "format/packets/flows.hpp"
#include "pcap2arrow/output.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// Used by one thread at a time.
class FlowConversion {
 public:
  FlowConversion(const Settings& settings, CaptureOutput& output, tool::Progress& progress);

  Status add(std::span<const format::packets::FlowPacket> packets, const format::packets::PacketCounts& counts);
  /// The flows that have not ended.
  Status finish();

 private:
  Status put_ended();
  Status write();

  const Settings& settings_;
  CaptureOutput& output_;
  tool::Progress& progress_;
  format::arrow::Compressor compressor_;
  format::packets::FlowTable table_;
  std::vector<format::packets::Flow> ended_;
  std::vector<columnar::ColumnBuilder> columns_;
  BatchFacts facts_;
};

}  // namespace strom::pcap2arrow
