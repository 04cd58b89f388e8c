// When flows end.
#include "format/packets/flows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace strom::format::packets {
namespace {

FlowPacket packet_at(int64_t time) {
  FlowPacket packet;
  packet.time = time;
  packet.length = 10;
  return packet;
}

TEST(Flows, EndAlsoBetweenTheFirstAndTheLastTimeThatThereIs) {
  for (const bool goes_back : {false, true}) {
    FlowTable table({60, 1800, 100});
    std::vector<Flow> ended;
    std::vector<FlowPacket> packets = {packet_at(INT64_MIN + 1), packet_at(INT64_MAX)};
    if (goes_back) std::swap(packets[0], packets[1]);
    table.add(packets, ended);
    table.sweep(INT64_MIN, ended);
    table.finish(ended);
    int64_t count = 0, bytes = 0;
    for (const Flow& flow : ended) {
      EXPECT_LE(flow.first, flow.last);
      count += flow.packets;
      bytes += flow.bytes;
    }
    EXPECT_EQ(count, 2);
    EXPECT_EQ(bytes, 20);
    EXPECT_EQ(ended.size(), goes_back ? 1U : 2U);  // late packets belong to the flow that there is
  }
}

}  // namespace
}  // namespace strom::format::packets
