// See flow_conversion.hpp.
#include "pcap2arrow/flow_conversion.hpp"

#include <algorithm>
#include <utility>

#include "pcap2arrow/row_maker.hpp"

namespace strom::pcap2arrow {

FlowConversion::FlowConversion(const Settings& settings, CaptureOutput& output, tool::Progress& progress)
    : settings_(settings),
      output_(output),
      progress_(progress),
      compressor_(settings.output.compression),
      table_(flow_limits(settings)),
      columns_(make_columns(format::packets::flow_fields(settings.nanoseconds))) {}

Status FlowConversion::write() {
  if (facts_.rows == 0) return Status::ok();
  STROM_ASSIGN(const auto batch, format::arrow::encode_batch(columns_, facts_.rows, compressor_));
  facts_.bounds = output_.bounds_of(columns_);
  const int64_t rows = facts_.rows;
  STROM_TRY(output_.write(batch, std::exchange(facts_, {})));
  progress_.add(rows, batch.bytes());
  for (auto& column : columns_) column.clear();
  return Status::ok();
}

Status FlowConversion::put_ended() {
  constexpr size_t kStep = 4096;
  const std::span<const format::packets::Flow> ended(ended_);
  for (size_t i = 0; i < ended.size(); i += kStep) {
    const auto part = ended.subspan(i, std::min(kStep, ended.size() - i));
    if (facts_.rows == 0) facts_.first_time = part[0].first;
    format::packets::append_flows(part, settings_.nanoseconds, columns_);
    facts_.rows += static_cast<int64_t>(part.size());
    int64_t bytes = 0;
    for (const auto& column : columns_) bytes += column.memory_bytes();
    if (bytes >= settings_.chunk_size) STROM_TRY(write());
  }
  ended_.clear();
  return Status::ok();
}

Status FlowConversion::add(std::span<const format::packets::FlowPacket> packets,
                           const format::packets::PacketCounts& counts) {
  facts_.counts.add(counts);
  table_.add(packets, ended_);
  return put_ended();
}

Status FlowConversion::finish() {
  table_.finish(ended_);
  STROM_TRY(put_ended());
  output_.add_counts(facts_.rows == 0 ? facts_.counts : format::packets::PacketCounts{});
  return write();
}

}  // namespace strom::pcap2arrow
