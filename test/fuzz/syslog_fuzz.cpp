// Any bytes as messages of syslog: taken out of a stream, and each as an event that can be read.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "format/forward/messages.hpp"
#include "format/forward/syslog.hpp"

using namespace strom::format::forward;

namespace {

constexpr int64_t kNow = int64_t{1700000000} * 1000000000;

/// An event is a time and a map, and nothing is behind it.
void check(std::string_view text) {
  std::string events;
  append_syslog_event(text, kNow, &events);
  const Message message = Message::of_events("t", events);
  MessageReader reader(message.events());
  int64_t time_ns = 0;
  Value map;
  if (message.begin_event(reader, &time_ns) != nullptr || time_ns < 0) __builtin_trap();
  MessageReader look = reader;
  if (look.next(&map) != Step::kDone || map.kind != Value::Kind::kMap) __builtin_trap();
  std::string json;
  if (!append_json(reader, &json) || !reader.rest().empty()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  constexpr size_t kMost = 1000;
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto frame = next_syslog_frame(rest, kMost);
    if (!frame.is_ok() || frame.value().size == 0) break;
    if (frame.value().size > rest.size() || frame.value().text.size() > kMost) __builtin_trap();
    check(frame.value().text);
    rest.remove_prefix(frame.value().size);
  }
  return 0;
}
