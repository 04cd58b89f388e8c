// Packets of an interface by AF_XDP: a program in the kernel hands them over before its network stack sees them, and
// instead of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "pcap2arrow/packet_source.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// A source for each receive queue of the interface, of which `count` are expected; 0: any number. Errors:
/// kPermissionDenied (says which capabilities are needed), kInvalidParameter (no such interface, another number of
/// queues, no Ethernet, an error in the filter), kIoError (another program has the interface; a kernel without AF_XDP).
Result<std::vector<std::unique_ptr<PacketSource>>> open_xdp(const Settings& settings, const std::string& interface,
                                                            int count);

}  // namespace strom::pcap2arrow
