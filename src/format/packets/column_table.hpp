// The rows of packet_columns.def. Private to src/format/packets.
#pragma once

#include <cstdint>

#include "columnar/layout.hpp"
#include "format/packets/headers.hpp"
#include "format/packets/packet_columns.hpp"

namespace strom::format::packets {

/// How a value is found.
enum class How : uint8_t {
  kByte,
  kBig16,
  kBig32,
  kBytes,
  kTime,
  kEtherType,
  kInterface,
  kTrafficClass,
  kFlowLabel,
  kProtocol,
  kTcpFlags,
  kIpOptions,
  kIp6Options,
  kTcpOptions,
  kPayload,
  // The columns of extra_columns.hpp.
  kVlanIds,
  kVlanPriorities,
  kMplsLabels,
  kSctpChunks,
  kTunnelType,
  kTunnelId,
  kDnsId,
  kDnsResponse,
  kDnsName,
  kDnsType,
  kDnsCode,
  kDnsAddresses,
  kTlsServer,
  kTlsVersion,
  kHttpLine,
  kHttpHost,
};

struct Column {
  const char* name;
  columnar::Layout layout;
  int32_t width;
  Header header;
  How how;
  int offset;
};

inline constexpr Column kColumns[] = {
#define STROM_PACKET_COLUMN(id, name, layout, width, header, how, offset) \
  {name, columnar::Layout::layout, width, Header::header, How::how, offset},
#include "format/packets/packet_columns.def"
#undef STROM_PACKET_COLUMN
};

constexpr const Column& column_of(ColumnId id) { return kColumns[static_cast<size_t>(id)]; }

constexpr bool is_options(How how) {
  return how == How::kIpOptions || how == How::kIp6Options || how == How::kTcpOptions;
}

}  // namespace strom::format::packets
