// Messages of the Forward protocol, version 1:
// https://github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1. Used by fluent2arrow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/forward/msgpack.hpp"

namespace strom::format::forward {

/// gzip, also several parts one after another. Errors: kProtocolViolation; kOverBudget for more than `most` bytes.
Status inflate_gzip(std::string_view bytes, size_t most, std::string* text);

/// Finds where a message ends that comes in parts. Each byte is looked at once.
class MessageEnd {
 public:
  /// The size of the message that `bytes` begin with; 0: more have to come, and then `bytes` are those again with more
  /// behind them. Errors: kProtocolViolation.
  Result<size_t> find(std::string_view bytes);

 private:
  size_t taken_ = 0;   // bytes of whole values
  uint64_t left_ = 1;  // values that are still to come
};

/// A message of any of its forms: Message, Forward, PackedForward, CompressedPackedForward.
class Message {
 public:
  /// `bytes` have it whole, and stay. Errors: kProtocolViolation; kOverBudget where it would be larger than `most`
  /// bytes without compression.
  static Result<Message> parse(std::string_view bytes, size_t most);
  /// Of pairs of time and record that are made here. The tag stays.
  static Message of_events(std::string_view tag, std::string events);

  std::string_view tag() const { return tag_; }
  /// What the sender wants back when the events are safe; empty: nothing.
  std::string_view chunk() const { return chunk_; }
  /// Its events, one behind the other, which nobody has looked at yet.
  std::string_view events() const { return is_packed_ ? std::string_view(text_) : events_; }
  /// The event that `reader` of events() is at: its time since 1970 and, still to be read, its record, a map. nullptr,
  /// or what is wrong with it.
  const char* begin_event(MessageReader& reader, int64_t* time_ns) const;

 private:
  Status read_options(MessageReader& reader, bool* is_compressed);

  std::string_view tag_, chunk_;
  std::string text_;         // what was compressed
  std::string_view events_;  // pairs of time and record
  bool is_single_ = false;   // time and record without an array around them
  bool is_packed_ = false;   // in text_, whose address changes with the object's
};

}  // namespace strom::format::forward
