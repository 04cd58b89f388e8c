// Messages of syslog, in the forms of RFC 5424 and RFC 3164, as events. Used by fluent2arrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::format::forward {

/// Appends a message as an event in MessagePack: its time, and a map with facility, severity, host, ident, pid, msgid,
/// data (a map of maps, RFC 5424's structured data) and message, without the parts that it does not have. Any text is a
/// message: if it cannot be split, all of it is `message`. `now_ns`: the time of messages without one. The year of RFC
/// 3164's times is guessed from it; these times are local.
void append_syslog_event(std::string_view text, int64_t now_ns, std::string* events);

/// A message in a stream.
struct SyslogFrame {
  std::string_view text;
  size_t size = 0;  // bytes of the frame in the stream; 0: it is incomplete
};
/// The message at the beginning of `bytes`: after its size and a blank (RFC 6587, octet counting), or up to the end of
/// the line or a zero. Errors: kProtocolViolation for a malformed size; kOverBudget for more than `most` bytes.
Result<SyslogFrame> next_syslog_frame(std::string_view bytes, size_t most);

}  // namespace strom::format::forward
