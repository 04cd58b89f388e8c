// Fuzzer of the memory store's messages: any bytes may come from a socket, of a client or of what a client takes for
// the server. Requests that are understood are written back as they were.
#include <cstdint>
#include <cstring>
#include <memory>

#include "store/message/message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace strom::store::message;
  // A copy of exactly this size, so that reading past its end is seen.
  const auto copy = std::make_unique<char[]>(size);
  if (size != 0) std::memcpy(copy.get(), bytes, size);
  std::string_view rest(copy.get(), size);
  const auto try_frame = [](const Frame& frame) {
    if (const auto answer = parse_answer(frame); answer.is_ok()) {
      std::string again;
      append_answer(answer.value(), &again);
      if (again.size() != sizeof(Header) + frame.body.size()) __builtin_trap();
      (void)parse_statistics(answer.value().body);
      if (const auto memory = parse_far_memory(answer.value().body); memory.is_ok())
        if (far_memory_body(memory.value()) != answer.value().body) __builtin_trap();
    }
    const auto request = parse_request(frame);
    if (!request.is_ok()) return;
    std::string again;
    append_request(request.value(), &again);
    if (std::memcmp(again.data(), &frame.header, sizeof(Header)) != 0) __builtin_trap();
    if (std::string_view(again).substr(sizeof(Header)) != frame.body) __builtin_trap();
  };
  // As the body of each kind of message, which random bytes would seldom be.
  for (uint16_t kind = 1; kind <= static_cast<uint16_t>(Kind::kRings); ++kind)
    if (size <= kMostBody) try_frame({{static_cast<uint32_t>(size), kind, 0, 0, 0}, rest});
  // And as what comes from a socket.
  for (;;) {
    auto found = find_frame(rest);
    if (!found.is_ok() || !found.value().has_value()) return 0;
    try_frame(*found.value());
    rest.remove_prefix(sizeof(Header) + found.value()->header.bytes);
  }
}
