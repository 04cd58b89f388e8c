// Any bytes as requests of HTTP: read at once and in parts, with the same requests found; their bodies as events in
// each form.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/forward/http_events.hpp"
#include "format/forward/json_events.hpp"
#include "format/forward/messages.hpp"

using namespace strom::format::forward;

namespace {

constexpr size_t kMost = 4000;
constexpr int64_t kNow = int64_t{1700000000} * 1000000000;

struct Found {
  std::vector<HttpRequest> requests;
  int status = 0;
};

Found find(std::string_view bytes, size_t part) {
  Found found;
  HttpReader reader(kMost);
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, part);
    bytes.remove_prefix(piece.size());
    while (!piece.empty()) {
      const HttpReader::State state = reader.read(&piece);
      if (state == HttpReader::State::kWrong) return found.status = reader.status(), found;
      if (state == HttpReader::State::kMore && !piece.empty()) __builtin_trap();
      if (state == HttpReader::State::kWhole) found.requests.push_back(reader.take_request());
    }
  }
  return found;
}

/// Events are times and maps.
void check(const std::string& events) {
  const Message message = Message::of_events("t", events);
  MessageReader reader(message.events());
  while (!reader.rest().empty()) {
    int64_t time_ns = 0;
    Value map;
    if (message.begin_event(reader, &time_ns) != nullptr) __builtin_trap();
    MessageReader look = reader;
    if (look.next(&map) != Step::kDone || map.kind != Value::Kind::kMap) __builtin_trap();
    if (reader.skip() != Step::kDone) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Found whole = find(bytes, size + 1), parts = find(bytes, 1 + size % 7);
  if (whole.requests.size() != parts.requests.size() || whole.status != parts.status) __builtin_trap();
  for (size_t i = 0; i < whole.requests.size(); ++i) {
    if (whole.requests[i].body != parts.requests[i].body || whole.requests[i].path != parts.requests[i].path)
      __builtin_trap();
    check(events_of(whole.requests[i], kNow, kMost).events);
  }
  HttpRequest request;
  request.method = "POST";
  request.path = "/t";
  request.body = bytes;
  for (const char* type :
       {"application/json", "application/x-ndjson", "application/msgpack", "application/x-www-form-urlencoded"}) {
    request.type = type;
    check(events_of(request, kNow, kMost).events);
  }
  return 0;
}
