#include "format/forward/http_events.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "format/forward/json_events.hpp"
#include "format/forward/messages.hpp"
#include "format/forward/msgpack.hpp"
#include "format/forward/msgpack_writer.hpp"

namespace strom::format::forward {
namespace {

constexpr int kOk = 200, kBadRequest = 400, kOtherMethod = 405, kTooLarge = 413, kOtherType = 415;

/// Appends the events of MessagePack values: maps, and arrays of maps. False: there are other values.
bool append_records(std::string_view values, int64_t time_ns, std::string* events) {
  MessageReader reader(values);
  while (!reader.rest().empty()) {
    Value value;
    const MessageReader begin = reader;
    if (reader.next(&value) != Step::kDone) return false;
    uint32_t records = 1;
    if (value.kind == Value::Kind::kArray)
      records = value.count;
    else
      reader = begin;
    for (uint32_t i = 0; i < records; ++i) {
      const std::string_view record = reader.rest();
      MessageReader look = reader;
      if (look.next(&value) != Step::kDone || value.kind != Value::Kind::kMap || reader.skip() != Step::kDone)
        return false;
      put_event(time_ns, events);
      *events += record.substr(0, record.size() - reader.rest().size());
    }
  }
  return true;
}

/// Reads one value, or with `are_lines` several.
bool read_json(std::string_view json, bool are_lines, std::string* values) {
  skip_blanks(&json);
  do {
    if (!take_json(&json, values)) return false;
    skip_blanks(&json);
  } while (are_lines && !json.empty());
  return json.empty();
}

bool read_time(const std::string& query, int64_t* time_ns) {
  std::string text;
  if (!parameter(query, "time", &text) || text.empty()) return true;
  double seconds = 0;
  constexpr int64_t kNano = 1000000000;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0 && seconds <= UINT32_MAX))
    return false;
  if (seconds == 0) return true;  // it is now, as for Fluentd
  const auto whole = static_cast<int64_t>(seconds);
  *time_ns = whole * kNano + std::llround((seconds - static_cast<double>(whole)) * static_cast<double>(kNano));
  return true;
}

}  // namespace

HttpEvents events_of(const HttpRequest& request, int64_t now_ns, size_t most) {
  HttpEvents result;
  const auto failed = [&](int status) {
    result.events.clear();
    result.status = status;
    return result;
  };
  if (request.method != "POST" && request.method != "PUT") return failed(kOtherMethod);
  result.tag =
      unescaped(request.path.substr(std::min(request.path.find_first_not_of('/'), request.path.size())), false);
  std::replace(result.tag.begin(), result.tag.end(), '/', '.');
  if (result.tag.empty()) return failed(kBadRequest);
  int64_t time_ns = now_ns;
  if (!read_time(request.query, &time_ns)) return failed(kBadRequest);
  std::string body, values;
  std::string_view text = request.body;
  if (request.encoding == "gzip") {
    const Status status = inflate_gzip(request.body, most, &body);
    if (!status.is_ok()) return failed(status.code() == ErrorCode::kOverBudget ? kTooLarge : kBadRequest);
    text = body;
  } else if (!request.encoding.empty()) {
    return failed(kOtherType);
  }
  std::string field;
  bool is_msgpack = request.type == "application/msgpack" || request.type == "application/x-msgpack";
  if (request.type == "application/x-www-form-urlencoded") {
    is_msgpack = parameter(text, "msgpack", &field);
    if (!is_msgpack && !parameter(text, "json", &field)) return failed(kBadRequest);
    text = field;
  } else if (!is_msgpack && request.type != "application/json" && request.type != "application/x-ndjson") {
    return failed(kOtherType);
  }
  if (!is_msgpack) {
    if (!read_json(text, request.type == "application/x-ndjson", &values)) return failed(kBadRequest);
    text = values;
  }
  if (!append_records(text, time_ns, &result.events)) return failed(kBadRequest);
  result.status = kOk;
  return result;
}

}  // namespace strom::format::forward
