// Packets for a benchmark: TCP, UDP, ICMP and IPv6 between some thousand hosts. They are the same in each run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strom::bench {

/// `kind`: "small" (64 bytes), "full" (1400 bytes), "mixed" (64 to 1400 bytes, 430 on average). Frames of Ethernet.
std::vector<std::string> packet_mix(const std::string& kind, size_t count);

}  // namespace strom::bench
