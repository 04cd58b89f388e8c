// See packet_mix.hpp.
#include "packet_mix.hpp"

#include <algorithm>
#include <random>

namespace strom::bench {

namespace {

class Frame {
 public:
  explicit Frame(std::mt19937& random) : random_(random) {}

  Frame& number(uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) text_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  Frame& any(int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(random_());
    return *this;
  }
  /// Up to `size` bytes in all.
  std::string filled(size_t size) {
    while (text_.size() < size) text_ += static_cast<char>(random_());
    return text_;
  }

 private:
  std::mt19937& random_;
  std::string text_;
};

size_t size_of(const std::string& kind, std::mt19937& random) {
  constexpr size_t kSmall = 64, kFull = 1400;
  constexpr size_t kMixed[] = {64, 64, 64, 64, 90, 128, 200, 350, 576, 1400, 1400, 64};
  if (kind == "small") return kSmall;
  if (kind == "full") return kFull;
  return kMixed[random() % std::size(kMixed)];
}

void add_ipv4(Frame& frame, std::mt19937& random, size_t size, uint8_t protocol) {
  constexpr size_t kEthernet = 14;
  frame.number(0x0800, 2).number(0x4500, 2).number(size - kEthernet, 2).any(2).number(0x4000, 2);
  frame.number(64, 1).number(protocol, 1).any(2);
  frame.number(0x0A000000 | random() % 4096, 4).number(0xC0A80000 | random() % 4096, 4);
}

std::string make_frame(const std::string& kind, std::mt19937& random) {
  constexpr uint8_t kTcp = 6, kUdp = 17, kIcmp = 1;
  constexpr unsigned kShares = 20, kTcpShare = 12, kUdpShare = 17, kIcmpShare = 18;
  constexpr size_t kSixHeaders = 54, kUdpHeader = 8, kIpv4Headers = 34;
  const size_t size = size_of(kind, random);
  Frame frame(random);
  frame.number(0x020000000001, 6).number(0x020000000002, 6);
  const unsigned share = random() % kShares;
  if (share < kTcpShare) {
    add_ipv4(frame, random, size, kTcp);
    // If there is room, adds the options that most connections have.
    const bool has_options = size >= 66;
    frame.any(2).number(443, 2).any(8).number(has_options ? 0x8010 : 0x5010, 2).any(6);
    if (has_options) frame.number(0x0101080A, 4).any(8);
  } else if (share < kUdpShare) {
    add_ipv4(frame, random, size, kUdp);
    frame.any(2).number(53, 2).number(size - kIpv4Headers, 2).any(2);
  } else if (share < kIcmpShare) {
    add_ipv4(frame, random, size, kIcmp);
    frame.number(0x0800, 2).any(6);
  } else {
    frame.number(0x86DD, 2).number(0x60000000, 4).number(size - kSixHeaders, 2).number(kUdp, 1).number(64, 1).any(32);
    frame.any(2).number(5353, 2).number(std::max(size - kSixHeaders, kUdpHeader), 2).any(2);
  }
  return frame.filled(size);
}

}  // namespace

std::vector<std::string> packet_mix(const std::string& kind, size_t count) {
  std::mt19937 random(20260501);
  std::vector<std::string> out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) out.push_back(make_frame(kind, random));
  return out;
}

}  // namespace strom::bench
