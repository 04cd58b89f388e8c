// Messages of syslog, in the forms of RFC 5424 and RFC 3164, as events. Used by fluent2arrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::format::forward {

/// Appends a message as an event in MessagePack: its time and a map with facility, severity, host, ident, pid, msgid,
/// data (a map of maps, what RFC 5424 calls structured data) and message, of which those are left out that it has not.
/// Any text is a message: what cannot be taken apart is `message` as a whole. `now_ns`: the time of messages without
/// one, from which the year of those of RFC 3164 is guessed; their time is local.
void append_syslog_event(std::string_view text, int64_t now_ns, std::string* events);

/// A message in a stream.
struct SyslogFrame {
  std::string_view text;
  size_t size = 0;  // of it and what is around it in the stream; 0: it is not whole
};
/// The message that bytes begin with: behind its size and a blank (RFC 6587, octet counting), or up to a line's end or
/// a zero. Errors: kProtocolViolation for a size that is none; kOverBudget for more than `most` bytes.
Result<SyslogFrame> next_syslog_frame(std::string_view bytes, size_t most);

}  // namespace strom::format::forward
