// Columns of packets: the values of headers, where they are missing, and tiles of all sizes.
#include "format/packets/packet_columns.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "packet_samples.hpp"

namespace strom::format::packets {
namespace {

using namespace strom::test;
using columnar::ColumnBuilder;

class Table {
 public:
  explicit Table(const ColumnChoice& choice = {}) : packets_(choice) {
    for (const auto& field : packets_.fields()) columns_.emplace_back(field);
  }
  void append(const std::vector<std::string>& packets, uint16_t link = link::kEthernet) {
    std::vector<Packet> list;
    list.reserve(packets.size());
    for (const std::string& packet : packets)
      list.push_back({reinterpret_cast<const uint8_t*>(packet.data()),
                      int64_t{1500} * static_cast<int64_t>(list.size()), static_cast<uint32_t>(packet.size()),
                      static_cast<uint32_t>(packet.size()), 0, link});
    ASSERT_TRUE(packets_.append(list, columns_, counts_).is_ok());
  }
  const ColumnBuilder& column(const std::string& name) const {
    for (const ColumnBuilder& column : columns_)
      if (column.field().name == name) return column;
    ADD_FAILURE() << name;
    return columns_[0];
  }
  bool has(const std::string& name) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const auto& c) { return c.field().name == name; });
  }
  template <class T>
  T number(const std::string& name, int64_t row) const {
    EXPECT_TRUE(column(name).is_valid(row)) << name;
    T value;
    std::memcpy(&value, column(name).values().data() + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
  }
  std::string text(const std::string& name, int64_t row) const {
    const auto* offsets = column(name).values().as<int32_t>();
    return std::string(column(name).data().as<char>() + offsets[row],
                       static_cast<size_t>(offsets[row + 1] - offsets[row]));
  }
  bool is_null(const std::string& name, int64_t row) const { return !column(name).is_valid(row); }
  int64_t malformed(Malformed reason) const { return counts_.malformed[static_cast<size_t>(reason)]; }
  int64_t rows() const { return counts_.packets; }

 private:
  PacketColumns packets_;
  std::vector<ColumnBuilder> columns_;
  PacketCounts counts_;
};

TEST(PacketColumns, FieldsOfHeaders) {
  Table table;
  table.append(sample_packets());
  EXPECT_EQ(table.number<uint8_t>("tos", 0), 0x12);
  EXPECT_EQ(table.number<uint16_t>("fragment", 0), 0x4000);
  EXPECT_EQ(table.number<uint16_t>("src_port", 0), 1234);
  EXPECT_EQ(table.number<uint32_t>("ack_nr", 0), 0x05060708);
  EXPECT_EQ(table.number<uint16_t>("tcp_flags", 0), 0x118);
  EXPECT_EQ(table.text("payload", 1), "datagram");
  EXPECT_EQ(table.text("ip_options", 1), std::string(8, '\1'));
  EXPECT_TRUE(table.is_null("ip_options", 0));
  EXPECT_EQ(table.number<uint8_t>("icmp_type", 2), 8);
  EXPECT_EQ(table.number<uint32_t>("flow_label", 3), 0x12345);
  EXPECT_EQ(table.number<uint8_t>("protocol", 4), 17);
  EXPECT_EQ(table.text("ip6_options", 4).size(), 8);
  EXPECT_EQ(table.number<uint8_t>("icmp_type", 5), 128);
  EXPECT_EQ(table.number<uint16_t>("ether_type", 6), 0x0800);
  EXPECT_EQ(table.text("payload", 6), "tagged");
  EXPECT_TRUE(table.is_null("protocol", 7));
  EXPECT_EQ(table.text("payload", 7).size(), 28);
}

TEST(PacketColumns, TilesOfAllSizes) {
  const auto samples = sample_packets();
  for (const size_t size : {1, 7, 255, 256, 257, 511, 1000}) {
    Table table;
    std::vector<std::string> packets;
    packets.reserve(size);
    for (size_t i = 0; i < size; ++i) packets.push_back(samples[i % samples.size()]);
    table.append(packets);
    table.append(packets);
    ASSERT_EQ(table.rows(), static_cast<int64_t>(2 * size));
    for (size_t i = 0; i < 2 * size; ++i) {
      const size_t kind = i % size % samples.size();
      const auto row = static_cast<int64_t>(i);
      EXPECT_EQ(table.is_null("seq_nr", row), kind != 0 && kind != 3);
      EXPECT_EQ(table.is_null("udp_length", row), kind != 1 && kind != 4 && kind != 6);
      EXPECT_EQ(table.is_null("src_addr6", row), kind < 3 || kind > 5);
      EXPECT_EQ(table.is_null("ip_options", row), kind != 1);
      if (kind == 1) {
        EXPECT_EQ(table.text("payload", row), "datagram");
      }
    }
  }
}

TEST(PacketColumns, EveryLengthOfEveryPacket) {
  for (const std::string& packet : sample_packets()) {
    for (size_t size = 0; size <= packet.size(); ++size) {
      Table table;
      std::string cut = packet.substr(0, size);
      cut.shrink_to_fit();
      table.append({cut});
      ASSERT_EQ(table.rows(), 1);
    }
  }
}

TEST(PacketColumns, MalformedPacketsAreCounted) {
  std::string packet = sample_packets()[0];
  Table table;
  std::string wrong = packet;
  wrong[14] = 0x55;
  table.append({wrong});
  EXPECT_EQ(table.malformed(Malformed::kIpVersion), 1);
  wrong = packet;
  wrong[14 + 20 + 12] = 0x10;
  table.append({wrong});
  EXPECT_EQ(table.malformed(Malformed::kTcpHeaderLength), 1);
  EXPECT_EQ(table.number<uint16_t>("dst_port", 1), 443);
  EXPECT_TRUE(table.is_null("tcp_options", 1));
  table.append({packet}, 147);
  EXPECT_EQ(table.malformed(Malformed::kUnknownLink), 1);
  EXPECT_EQ(table.text("payload", 2), packet);
  table.append({ethernet(0x86DD, ipv6(0, std::string(4, '\0')))});
  EXPECT_EQ(table.malformed(Malformed::kIp6Extension), 1);
}

TEST(PacketColumns, OnlyWhatWasChosen) {
  ColumnChoice choice = parse_columns({"udp4"}).value();
  choice.payload = false;
  Table table(choice);
  table.append(sample_packets());
  EXPECT_FALSE(table.has("seq_nr"));
  EXPECT_FALSE(table.has("payload"));
  EXPECT_FALSE(table.has("flow_label"));
  EXPECT_TRUE(table.is_null("src_port", 0));
  EXPECT_EQ(table.number<uint16_t>("src_port", 1), 53);
  EXPECT_FALSE(parse_columns({"sctp9"}).is_ok());
}

}  // namespace
}  // namespace strom::format::packets
