// Columns of packets: their list, and their values from the headers of a tile. Used by pcap2arrow.
#pragma once

#include <cstdint>
#include <memory>
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

/// The chosen columns.
struct ColumnChoice {
  Protocols protocols;
  bool vlan = false, dns = false, tls = false, http = false;
  bool payload = true;
  bool interface_id = false;
  bool nanoseconds = false;        // of the timestamp; else microseconds
  bool composite_options = false;  // options as lists of (code, data); else as bytes
};

/// Chooses headers by name: tcp4, udp4, icmp4, ipv4, sctp4, the same with 6, vlan, mpls, arp, tunnels, dns, tls, http;
/// `default` for tcp4, udp4 and icmp4, `all` for all. The headers around them are included. kInvalidParameter for any
/// other name, or no name.
Result<ColumnChoice> parse_columns(const std::vector<std::string>& names);

class ExtraColumns;

/// Parses packets and appends them to columns. Each thread has its own.
class PacketColumns {
 public:
  explicit PacketColumns(const ColumnChoice& choice);
  ~PacketColumns();
  PacketColumns(const PacketColumns&) = delete;
  PacketColumns& operator=(const PacketColumns&) = delete;

  const std::vector<columnar::Field>& fields() const { return fields_; }
  /// Bytes of a packet's row, without the copied ones.
  int64_t row_bytes() const { return row_bytes_; }
  /// Appends any number of packets to `columns`, which have these fields. kOverBudget when a column could not address
  /// them.
  Status append(std::span<const Packet> packets, std::vector<columnar::ColumnBuilder>& columns, PacketCounts& counts);

 private:
  struct Chosen {
    ColumnId id;
    bool is_inner;  // of the packet inside of a tunnel
  };
  void add(ColumnId id, bool is_inner);
  bool append_column(const Chosen& chosen, columnar::ColumnBuilder& builder);
  Status append_tile(std::vector<columnar::ColumnBuilder>& columns);

  ColumnChoice choice_;
  std::vector<columnar::Field> fields_;
  std::vector<Chosen> chosen_;
  int64_t row_bytes_ = 0;
  std::unique_ptr<HeaderTile> tile_, inner_;
  std::unique_ptr<ExtraColumns> extra_;
};

}  // namespace strom::format::packets
