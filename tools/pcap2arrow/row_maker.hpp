// What becomes of packets: a row for each, or a row for each flow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "format/packets/flows.hpp"
#include "format/packets/packet_columns.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// Used by one thread.
class RowMaker {
 public:
  static std::unique_ptr<RowMaker> create(const Settings& settings, const format::packets::ColumnChoice& choice);
  virtual ~RowMaker() = default;

  virtual const std::vector<columnar::Field>& fields() const = 0;
  /// Appends the rows that are known by these packets to columns of these fields.
  virtual Status append(std::span<const format::packets::Packet> packets, std::vector<columnar::ColumnBuilder>& columns,
                        format::packets::PacketCounts& counts) = 0;
  /// Appends the rows that are complete at `time`, in nanoseconds.
  virtual void append_ended(int64_t time, std::vector<columnar::ColumnBuilder>& columns) = 0;
  /// Appends what is left.
  virtual void finish(std::vector<columnar::ColumnBuilder>& columns) = 0;
};

/// The columns of rows.
std::vector<columnar::Field> row_fields(const Settings& settings, const format::packets::ColumnChoice& choice);
format::packets::FlowLimits flow_limits(const Settings& settings);
std::vector<columnar::ColumnBuilder> make_columns(const std::vector<columnar::Field>& fields);

}  // namespace strom::pcap2arrow
