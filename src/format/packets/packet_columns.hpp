// Columns of packets: which there are, and their values from the headers of a tile. Used by pcap2arrow.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "columnar/schema.hpp"
#include "format/packets/headers.hpp"

namespace strom::format::packets {

enum class ColumnId : uint8_t {
#define STROM_PACKET_COLUMN(name, ...) k##name,
#include "format/packets/packet_columns.def"
#undef STROM_PACKET_COLUMN
};

/// What the columns are to be.
struct ColumnChoice {
  Protocols protocols;
  bool payload = true;
  bool interface_id = false;
  bool nanoseconds = false;  // of the timestamp; else microseconds
};

/// tcp4, udp4, icmp4, ipv4 and the same with 6: the headers that have columns. kInvalidParameter for another name, or
/// none.
Result<Protocols> parse_protocols(const std::vector<std::string>& names);

/// Takes packets apart and appends them to columns. One for each thread.
class PacketColumns {
 public:
  explicit PacketColumns(const ColumnChoice& choice);

  const std::vector<columnar::Field>& fields() const { return fields_; }
  /// Bytes that a packet takes besides those that are copied.
  int64_t row_bytes() const { return row_bytes_; }
  /// Appends packets, any number, to `columns` of these fields. kOverBudget when a column could not address them.
  Status append(std::span<const Packet> packets, std::vector<columnar::ColumnBuilder>& columns, PacketCounts& counts);

 private:
  Status append_tile(std::vector<columnar::ColumnBuilder>& columns);

  ColumnChoice choice_;
  std::vector<columnar::Field> fields_;
  std::vector<ColumnId> ids_;
  int64_t row_bytes_ = 0;
  HeaderTile tile_;
};

}  // namespace strom::format::packets
