// Columns that are rarely chosen: lists, tunnels, single options, application data. Their values are made row by row.
// Private to src/format/packets.
#pragma once

#include <optional>
#include <vector>

#include "columnar/builder.hpp"
#include "format/packets/application.hpp"
#include "format/packets/column_table.hpp"

namespace strom::format::packets {

class ExtraColumns {
 public:
  /// Reads the tile's payloads for the columns of `choice`.
  void look_at(const HeaderTile& tile, const ColumnChoice& choice);
  /// Appends a value of each packet. False when the column could not address them.
  bool append(How how, const HeaderTile& tile, columnar::ColumnBuilder& column) const;

  /// Appends a list of options (kind, length, bytes; kinds 0 and 1 are one byte), or of IPv6 headers.
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
