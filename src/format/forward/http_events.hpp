// Events of an HTTP request, as Fluentd's in_http takes them. Used by fluent2arrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "format/forward/http_request.hpp"

namespace strom::format::forward {

struct HttpEvents {
  int status = 200;         // of the answer; other ones: there are no events
  std::string tag, events;  // in MessagePack, for Message::of_events()
};

/// The path is the tag, with dots for slashes. The body is a record or an array of them: JSON, lines of JSON,
/// MessagePack, or a form whose field `json` or `msgpack` has it. `time` in the query are seconds. `most`: bytes
/// without compression.
HttpEvents events_of(const HttpRequest& request, int64_t now_ns, size_t most);

}  // namespace strom::format::forward
