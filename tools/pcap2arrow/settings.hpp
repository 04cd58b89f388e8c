// What pcap2arrow was told on its command line.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "format/packets/packet_columns.hpp"

namespace strom::pcap2arrow {

struct Settings {
  std::vector<std::string> files;  // "-": standard input
  bool follow = false;             // a file that is still being written
  bool keep_damaged = false;       // what is before the damage of a file is enough

  std::vector<std::string> interfaces;  // instead of files; "any": all
  std::string filter;                   // a capture filter, see pcap-filter(7)
  int64_t snap = 0;                     // bytes of a packet at most; 0: all
  bool promiscuous = false, hardware_time = false;
  std::string fanout = "hash", direction = "both";
  std::string xdp;                                     // AF_XDP: generic, driver; empty: AF_PACKET
  int64_t ring_size = int64_t{64} << 20;               // of each thread
  int64_t count = 0, duration = 0, stat_interval = 0;  // packets, seconds, seconds; 0: none
  std::string user;                                    // whom to become

  bool is_live() const { return !interfaces.empty(); }

  tool::OutputOptions output;  // its path is a pattern, see path_pattern.hpp
  bool direct_io = false;      // says that output.page_cache is false, which it is anyway
  int64_t chunk_size = int64_t{64} << 20;
  int64_t limit_bytes = 0, limit_packets = 0, limit_seconds = 0;  // of an output file; 0: none
  int64_t parallel_write = 1;
  std::vector<std::string> statistics;  // names; "*": all that can have them

  std::vector<std::string> protocols;  // none: tcp4, udp4, icmp4
  bool no_payload = false, interface_id = false, nanoseconds = false, composite_options = false;

  bool flows = false;                          // rows are flows
  int64_t flow_idle = 60, flow_active = 1800;  // seconds
  int64_t flow_table = int64_t{1} << 20;       // flows at most that have not ended

  std::set<std::string> given;  // options that were, of those whose defaults do not show it

  int64_t threads = 0;
  tool::ProgressOptions progress;
  bool verbose = false;
};

}  // namespace strom::pcap2arrow
