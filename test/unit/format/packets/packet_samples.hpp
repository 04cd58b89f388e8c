// Packets and capture files for tests, byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strom::test {

/// Bytes that are appended to, numbers in either order.
struct PacketBytes {
  std::string text;

  PacketBytes& big(uint64_t value, int size) {
    for (int i = size - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
    return *this;
  }
  PacketBytes& little(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i));
    return *this;
  }
  PacketBytes& number(uint64_t value, int size, bool is_big) { return is_big ? big(value, size) : little(value, size); }
  PacketBytes& add(const std::string& bytes) {
    text += bytes;
    return *this;
  }
};

inline std::string ethernet(uint16_t type, const std::string& body) {
  return PacketBytes().add("\x02\x11\x22\x33\x44\x55\x06\x07\x08\x09\x0A\x0B").big(type, 2).add(body).text;
}

inline std::string ipv4(uint8_t protocol, const std::string& body, const std::string& options = "") {
  const auto words = 5 + options.size() / 4;
  return PacketBytes()
      .big(0x40 | words, 1)
      .big(0x12, 1)
      .big(20 + options.size() + body.size(), 2)
      .big(0x34564000, 4)
      .big(64, 1)
      .big(protocol, 1)
      .big(0xBCDE, 2)
      .big(0x0A000001, 4)
      .big(0xC0A80002, 4)
      .add(options)
      .add(body)
      .text;
}

inline std::string ipv6(uint8_t next, const std::string& body) {
  return PacketBytes()
      .big(0x60012345, 4)
      .big(body.size(), 2)
      .big(next, 1)
      .big(63, 1)
      .add(std::string(15, 'a') + "1" + std::string(15, 'a') + "2")
      .add(body)
      .text;
}

inline std::string tcp(const std::string& payload, const std::string& options = "") {
  return PacketBytes()
      .big(1234, 2)
      .big(443, 2)
      .big(0x01020304, 4)
      .big(0x05060708, 4)
      .big((5 + options.size() / 4) << 12 | 0x118, 2)
      .big(512, 2)
      .big(0xAABB, 2)
      .big(7, 2)
      .add(options)
      .add(payload)
      .text;
}

inline std::string udp(const std::string& payload) {
  return PacketBytes().big(53, 2).big(5353, 2).big(8 + payload.size(), 2).big(0xCCDD, 2).add(payload).text;
}

/// A pcap file; packet i has the time i + 0.5 s.
inline std::string pcap_file(const std::vector<std::string>& packets, bool is_big = false, bool is_nano = false,
                             uint32_t link = 1) {
  PacketBytes out;
  out.number(is_nano ? 0xA1B23C4D : 0xA1B2C3D4, 4, is_big).number(2, 2, is_big).number(4, 2, is_big);
  out.number(0, 8, is_big).number(65535, 4, is_big).number(link, 4, is_big);
  for (size_t i = 0; i < packets.size(); ++i) {
    out.number(i, 4, is_big).number(is_nano ? 500000000 : 500000, 4, is_big);
    out.number(packets[i].size(), 4, is_big).number(packets[i].size(), 4, is_big).add(packets[i]);
  }
  return out.text;
}

inline std::string pcapng_block(uint32_t type, std::string body, bool is_big = false) {
  body.resize((body.size() + 3) / 4 * 4);
  return PacketBytes()
      .number(type, 4, is_big)
      .number(body.size() + 12, 4, is_big)
      .add(body)
      .number(body.size() + 12, 4, is_big)
      .text;
}

inline std::string pcapng_section(bool is_big = false) {
  return pcapng_block(
      0x0A0D0D0A,
      PacketBytes().number(0x1A2B3C4D, 4, is_big).number(1, 2, is_big).number(0, 2, is_big).big(~0ull, 8).text, is_big);
}

inline std::string pcapng_interface(bool is_big = false, const std::string& options = "") {
  return pcapng_block(1, PacketBytes().number(1, 2, is_big).number(0, 6, is_big).add(options).text, is_big);
}

inline std::string pcapng_packet(const std::string& packet, uint64_t ticks, bool is_big = false,
                                 uint32_t interface = 0) {
  return pcapng_block(6,
                      PacketBytes()
                          .number(interface, 4, is_big)
                          .number(ticks >> 32, 4, is_big)
                          .number(ticks & 0xFFFFFFFF, 4, is_big)
                          .number(packet.size(), 4, is_big)
                          .number(packet.size(), 4, is_big)
                          .add(packet)
                          .text,
                      is_big);
}

/// One packet of each kind.
inline std::vector<std::string> sample_packets() {
  const std::string fragment = PacketBytes().big(17, 1).big(0, 1).big(1, 2).big(9, 4).text;
  return {ethernet(0x0800, ipv4(6, tcp("hello", std::string(12, '\1')))),
          ethernet(0x0800, ipv4(17, udp("datagram"), std::string(8, '\1'))),
          ethernet(0x0800, ipv4(1, PacketBytes().big(8, 1).big(0, 1).big(0x1122, 2).add("ping").text)),
          ethernet(0x86DD, ipv6(6, tcp("six"))),
          ethernet(0x86DD, ipv6(44, fragment + udp("fragment"))),
          ethernet(0x86DD, ipv6(58, PacketBytes().big(128, 1).big(0, 1).big(0x3344, 2).text)),
          ethernet(0x8100, PacketBytes().big(5, 2).big(0x0800, 2).add(ipv4(17, udp("tagged"))).text),
          ethernet(0x0806, std::string(28, '\0'))};
}

}  // namespace strom::test
