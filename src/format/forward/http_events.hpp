// Makes events of an HTTP request, as Fluentd's in_http does. Used by fluent2arrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "format/forward/http_request.hpp"

namespace strom::format::forward {

struct HttpEvents {
  int status = 200;         // of the answer; with other statuses there are no events
  std::string tag, events;  // in MessagePack, for Message::of_events()
};

/// The path is the tag, with dots instead of slashes. The body is a record or an array of records: JSON, lines of JSON,
/// MessagePack, or a form with these in its field `json` or `msgpack`. `time` in the query is in seconds. `most`: limit
/// of uncompressed bytes.
HttpEvents events_of(const HttpRequest& request, int64_t now_ns, size_t most);

}  // namespace strom::format::forward
