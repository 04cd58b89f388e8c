// Columns that few captures have: lists, tunnels, options taken apart, what applications say. Their values are made row
// by row. Private to src/format/packets.
#pragma once

#include <optional>
#include <vector>

#include "columnar/builder.hpp"
#include "format/packets/application.hpp"
#include "format/packets/column_table.hpp"

namespace strom::format::packets {

class ExtraColumns {
 public:
  /// Reads what the columns of `choice` need of the tile's payloads.
  void look_at(const HeaderTile& tile, const ColumnChoice& choice);
  /// Appends a value of each packet. False when the column could not address them.
  bool append(How how, const HeaderTile& tile, columnar::ColumnBuilder& column) const;

  /// A list of options, which are (kind, length, bytes) but for the kinds 0 and 1; or of headers of IPv6.
  static bool append_options(How how, const HeaderTile& tile, columnar::ColumnBuilder& column);

 private:
  bool append_value(How how, const HeaderTile& tile, int row, columnar::ColumnBuilder& column) const;
  bool append_dns(How how, int row, columnar::ColumnBuilder& column) const;
  bool append_application(How how, int row, columnar::ColumnBuilder& column) const;

  std::vector<std::optional<DnsMessage>> dns_;
  std::vector<std::optional<TlsHello>> tls_;
  std::vector<std::optional<HttpMessage>> http_;
};

}  // namespace strom::format::packets
