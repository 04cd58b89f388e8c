// See extra_columns.hpp.
#include "format/packets/extra_columns.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "format/packets/byte_order.hpp"

namespace strom::format::packets {

namespace {

using columnar::ColumnBuilder;

std::span<const uint8_t> bytes_of(const Bytes& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.ptr), static_cast<size_t>(bytes.len)};
}

bool has(const HeaderTile& tile, Header header, int row) {
  return (tile.valid[static_cast<size_t>(header)][row / 8] >> (row % 8) & 1) != 0;
}

/// The headers directly before the payload.
const HeaderTile& innermost(const HeaderTile& tile, int row) {
  return tile.inner != nullptr && tile.tunnel[row] != Tunnel::kNone ? *tile.inner : tile;
}

bool uses_port(const HeaderTile& tile, int row, uint16_t port) {
  const uint8_t* ports = tile.at[static_cast<size_t>(Header::kPorts)][row];
  return big16(ports) == port || big16(ports + 2) == port;
}

std::optional<DnsMessage> dns_of(const HeaderTile& tile, int row) {
  constexpr uint16_t kDns = 53, kMulticast = 5353, kLocal = 5355;
  const HeaderTile& headers = innermost(tile, row);
  const auto payload = bytes_of(tile.payload[row]);
  if (has(headers, Header::kUdp, row) &&
      (uses_port(headers, row, kDns) || uses_port(headers, row, kMulticast) || uses_port(headers, row, kLocal)))
    return parse_dns(payload);
  // over TCP, the message's length precedes it
  if (has(headers, Header::kTcp, row) && uses_port(headers, row, kDns) && payload.size() > 2)
    return parse_dns(payload.subspan(2));
  return std::nullopt;
}

template <class T>
bool append_optional(bool has_value, T value, ColumnBuilder& column) {
  if (has_value)
    column.append(value);
  else
    column.append_null();
  return true;
}

bool append_text(bool has_value, std::string_view text, ColumnBuilder& column) {
  if (has_value) return column.append_bytes(text.data(), static_cast<int64_t>(text.size()));
  column.append_null();
  return true;
}

/// Calls add(TCI) for each tag, the outermost first.
template <class Add>
bool append_tags(const HeaderTile& tile, int row, ColumnBuilder& column, const Add& add) {
  constexpr int64_t kFirst = 14, kTag = 4;
  const Packet& packet = tile.packet[row];
  const int count = tile.tag_count[row];
  if (count == 0 && packet.tag_type == 0) {
    column.append_null();
    return true;
  }
  if (packet.tag_type != 0) add(packet.tag);
  const uint8_t* ethernet = tile.at[static_cast<size_t>(Header::kEthernet)][row];
  for (int i = 0; i < count; ++i) add(big16(ethernet + kFirst + i * kTag));
  return column.append_list();
}

bool append_labels(const HeaderTile& tile, int row, ColumnBuilder& column) {
  constexpr int64_t kLabel = 4;
  constexpr int kBits = 12;
  const auto labels = bytes_of(tile.labels[row]);
  if (labels.empty()) {
    column.append_null();
    return true;
  }
  for (size_t i = 0; i < labels.size(); i += kLabel) column.child(0).append(big32(&labels[i]) >> kBits);
  return column.append_list();
}

/// Appends the types of a message's chunks.
bool append_chunks(const HeaderTile& tile, int row, ColumnBuilder& column) {
  constexpr size_t kHeader = 4;
  if (!has(innermost(tile, row), Header::kSctp, row)) {
    column.append_null();
    return true;
  }
  auto rest = bytes_of(tile.payload[row]);
  while (rest.size() >= kHeader) {
    column.child(0).append(rest[0]);
    const size_t size = std::max<size_t>(kHeader, (size_t{big16(&rest[2])} + 3) / 4 * 4);
    rest = rest.subspan(std::min(rest.size(), size));
  }
  return column.append_list();
}

bool append_option(uint8_t code, std::span<const uint8_t> data, ColumnBuilder& column) {
  ColumnBuilder& option = column.child(0);
  if (!option.child(1).append_bytes(data.data(), static_cast<int64_t>(data.size()))) return false;
  option.child(0).append(code);
  option.append_struct();
  return true;
}

bool append_list_of_options(std::span<const uint8_t> bytes, ColumnBuilder& column) {
  constexpr uint8_t kEnd = 0, kNothing = 1;
  while (!bytes.empty() && bytes[0] != kEnd) {
    if (bytes[0] == kNothing) {
      bytes = bytes.subspan(1);
      continue;
    }
    if (bytes.size() < 2 || bytes[1] < 2 || bytes[1] > bytes.size()) break;
    if (!append_option(bytes[0], bytes.subspan(2, bytes[1] - size_t{2}), column)) return false;
    bytes = bytes.subspan(bytes[1]);
  }
  return column.append_list();
}

/// The chain is complete, since the walk through the headers has checked it.
bool append_extensions(uint8_t type, std::span<const uint8_t> bytes, ColumnBuilder& column) {
  constexpr uint8_t kFragment = 44, kAuthentication = 51;
  while (bytes.size() >= 8) {
    const size_t words = bytes[1];
    const size_t size = type == kFragment ? 8 : type == kAuthentication ? (words + 2) * 4 : (words + 1) * 8;
    const auto header = bytes.first(std::min(size, bytes.size()));
    if (!append_option(type, header.subspan(2), column)) return false;
    type = header[0];
    bytes = bytes.subspan(header.size());
  }
  return column.append_list();
}

}  // namespace

bool ExtraColumns::append_options(How how, const HeaderTile& tile, ColumnBuilder& column) {
  const bool is_tcp = how == How::kTcpOptions, is_six = how == How::kIp6Options;
  const Bytes* options = is_tcp ? tile.tcp_options : is_six ? tile.ip6_options : tile.ip_options;
  const uint8_t* missing = is_tcp ? tile.no_tcp_options : is_six ? tile.no_ip6_options : tile.no_ip_options;
  for (int row = 0; row < tile.packets; ++row) {
    if (missing[row] != 0) {
      column.append_null();
      continue;
    }
    const auto bytes = bytes_of(options[row]);
    const bool fits = is_six ? append_extensions(tile.at[static_cast<size_t>(Header::kIpv6)][row][6], bytes, column)
                             : append_list_of_options(bytes, column);
    if (!fits) return false;
  }
  return true;
}

void ExtraColumns::look_at(const HeaderTile& tile, const ColumnChoice& choice) {
  const auto rows = static_cast<size_t>(tile.packets);
  if (choice.dns) dns_.assign(rows, {});
  if (choice.tls) tls_.assign(rows, {});
  if (choice.http) http_.assign(rows, {});
  if (!choice.dns && !choice.tls && !choice.http) return;
  for (int row = 0; row < tile.packets; ++row) {
    if (tile.payload[row].len == 0) continue;
    const auto at = static_cast<size_t>(row);
    if (choice.dns) dns_[at] = dns_of(tile, row);
    if (!has(innermost(tile, row), Header::kTcp, row)) continue;
    const auto payload = bytes_of(tile.payload[row]);
    if (choice.tls) tls_[at] = parse_tls_hello(payload);
    if (choice.http) http_[at] = parse_http(payload);
  }
}

bool ExtraColumns::append_dns(How how, int row, ColumnBuilder& column) const {
  const auto& dns = dns_[static_cast<size_t>(row)];
  if (!dns.has_value()) {
    column.append_null();
    return true;
  }
  switch (how) {
    case How::kDnsId: column.append(dns->id); return true;
    case How::kDnsResponse: column.append_bool(dns->is_response()); return true;
    case How::kDnsName: return append_text(true, dns->name, column);
    case How::kDnsType: column.append(dns->type); return true;
    case How::kDnsCode: return append_optional(dns->is_response(), dns->code(), column);
    default: break;
  }
  if (!dns->is_response()) {
    column.append_null();
    return true;
  }
  for (const std::string& address : dns->addresses)
    if (!append_text(true, address, column.child(0))) return false;
  return column.append_list();
}

bool ExtraColumns::append_application(How how, int row, ColumnBuilder& column) const {
  const auto at = static_cast<size_t>(row);
  if (how == How::kTlsServer || how == How::kTlsVersion) {
    const auto& tls = tls_[at];
    if (how == How::kTlsVersion) return append_optional(tls.has_value(), tls ? tls->version : uint16_t{0}, column);
    return append_text(tls && !tls->server_name.empty(), tls ? std::string_view(tls->server_name) : "", column);
  }
  const auto& http = http_[at];
  if (how == How::kHttpLine) return append_text(http.has_value(), http ? http->line : "", column);
  return append_text(http && !http->host.empty(), http ? http->host : "", column);
}

bool ExtraColumns::append_value(How how, const HeaderTile& tile, int row, ColumnBuilder& column) const {
  constexpr uint16_t kId = 0x0FFF;
  constexpr int kPriority = 13;
  switch (how) {
    case How::kVlanIds:
      return append_tags(tile, row, column,
                         [&](uint16_t tag) { column.child(0).append(static_cast<uint16_t>(tag & kId)); });
    case How::kVlanPriorities:
      return append_tags(tile, row, column,
                         [&](uint16_t tag) { column.child(0).append(static_cast<uint8_t>(tag >> kPriority)); });
    case How::kMplsLabels: return append_labels(tile, row, column);
    case How::kSctpChunks: return append_chunks(tile, row, column);
    case How::kTunnelType: {
      const char* name = tunnel_name(tile.tunnel[row]);
      return append_text(name != nullptr, name == nullptr ? "" : name, column);
    }
    case How::kTunnelId: return append_optional(tile.has_tunnel_id[row] != 0, tile.tunnel_id[row], column);
    case How::kDnsId:
    case How::kDnsResponse:
    case How::kDnsName:
    case How::kDnsType:
    case How::kDnsCode:
    case How::kDnsAddresses: return append_dns(how, row, column);
    default: return append_application(how, row, column);
  }
}

bool ExtraColumns::append(How how, const HeaderTile& tile, ColumnBuilder& column) const {
  for (int row = 0; row < tile.packets; ++row)
    if (!append_value(how, tile, row, column)) return false;
  return true;
}

}  // namespace strom::format::packets
