// Fuzzer of the GPU service's messages: any bytes may come from a socket. What is understood is written back as it was.
#include <cstdint>
#include <cstring>
#include <memory>

#include "service/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace strom::service;
  const auto try_bytes = [](const std::string& packet) {
    // A copy of exactly this size, so that reading past its end is seen.
    const auto copy = std::make_unique<char[]>(packet.size());
    std::memcpy(copy.get(), packet.data(), packet.size());
    const auto decoded = decode({copy.get(), packet.size()});
    if (!decoded.is_ok()) return;
    const auto encoded = encode(decoded.value().tag, decoded.value().message);
    if (packet.size() <= kMaxMessageBytes && (!encoded.is_ok() || encoded.value() != packet)) __builtin_trap();
  };
  const std::string packet(reinterpret_cast<const char*>(bytes), size);
  try_bytes(packet);
  // And as the body of each kind of message, which random bytes would seldom be.
  for (uint16_t kind = 0; kind <= std::variant_size_v<Message> + 1; ++kind) {
    Header header;
    header.kind = kind;
    header.bytes = static_cast<uint32_t>(size);
    std::string whole(reinterpret_cast<const char*>(&header), sizeof header);
    try_bytes(whole + packet);
  }
  return 0;
}
