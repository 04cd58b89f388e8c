// What libpcap does: capture filters as tcpdump has them (pcap-filter(7)), and names of link types.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace strom::pcap2arrow {

/// Instructions for the kernel, which take packets that `filter` matches, with at most `snap` bytes; 0: all bytes. For
/// packets of link type `link` from `interface`, or without a link layer from "any". kInvalidParameter: what libpcap
/// says of the filter.
Result<std::vector<sock_filter>> compile_filter(const std::string& filter, const std::string& interface, uint16_t link,
                                                int64_t snap);

/// A filter that runs in this process, for packets of Ethernet that no filter of the kernel has seen. Thread-safe.
class PacketFilter {
 public:
  /// `snap` as above. kInvalidParameter: what libpcap says of the filter.
  static Result<std::shared_ptr<const PacketFilter>> create(const std::string& filter, int64_t snap);
  /// How many bytes of a packet are taken, which may be more than it has; 0: it is not.
  uint32_t bytes_of(const uint8_t* packet, uint32_t length) const;

 private:
  explicit PacketFilter(std::vector<sock_filter> program) : program_(std::move(program)) {}
  std::vector<sock_filter> program_;
};

/// kInvalidParameter for what can be no filter of any interface.
Status check_filter(const std::string& filter);

/// "IEEE802_11" for 105, a number of https://www.tcpdump.org/linktypes.html; empty when libpcap has no name.
std::string link_type_name(uint16_t link);

/// The library's name and version.
std::string filter_library();

}  // namespace strom::pcap2arrow
