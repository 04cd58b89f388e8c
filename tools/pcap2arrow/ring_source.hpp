// Packets of an interface by AF_PACKET: the kernel writes them into memory that it shares with this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "pcap2arrow/packet_source.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// `count` rings that share the packets of an interface ("any": of all interfaces) by settings.fanout. Errors:
/// kPermissionDenied (says which capability is missing), kInvalidParameter (no such interface, an error in the filter),
/// kIoError.
Result<std::vector<std::unique_ptr<PacketSource>>> open_rings(const Settings& settings, const std::string& interface,
                                                              int count);

}  // namespace strom::pcap2arrow
