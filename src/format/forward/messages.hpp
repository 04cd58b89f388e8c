// Messages of the Forward protocol, version 1:
// https://github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1. Used by fluent2arrow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/forward/msgpack.hpp"

namespace strom::format::forward {

/// Decompresses gzip, also several parts one after another. Errors: kProtocolViolation; kOverBudget for more than
/// `most` bytes.
Status inflate_gzip(std::string_view bytes, size_t most, std::string* text);

/// Finds the end of a message that comes in parts. Each byte is looked at once.
class MessageEnd {
 public:
  /// The size of the message at the beginning of `bytes`; 0: more bytes are needed. The next call then gets the same
  /// bytes with more behind them. Errors: kProtocolViolation.
  Result<size_t> find(std::string_view bytes);

 private:
  size_t taken_ = 0;   // bytes of whole values
  uint64_t left_ = 1;  // values that are still to come
};

/// A message in any of the protocol's forms: Message, Forward, PackedForward, CompressedPackedForward.
class Message {
 public:
  /// `bytes` have the whole message, and must stay. Errors: kProtocolViolation; kOverBudget when it has more than
  /// `most` uncompressed bytes.
  static Result<Message> parse(std::string_view bytes, size_t most);
  /// A message of events that are made here: pairs of time and record. The tag must stay.
  static Message of_events(std::string_view tag, std::string events);

  std::string_view tag() const { return tag_; }
  /// The sender wants this text back when the events are safe; empty: it wants no answer.
  std::string_view chunk() const { return chunk_; }
  /// It came as a text, not as bytes.
  bool has_text_chunk() const { return has_text_chunk_; }
  /// The message's events, one after another, not checked yet.
  std::string_view events() const { return is_packed_ ? std::string_view(text_) : events_; }
  /// Begins the event at `reader` of events(): reads its time since 1970; its record, a map, follows. nullptr, or the
  /// error.
  const char* begin_event(MessageReader& reader, int64_t* time_ns) const;

 private:
  Status read_options(MessageReader& reader, bool* is_compressed);

  std::string_view tag_, chunk_;
  std::string text_;         // decompressed bytes
  std::string_view events_;  // pairs of time and record
  bool has_text_chunk_ = true;
  bool is_single_ = false;  // time and record without an array around them
  bool is_packed_ = false;  // in text_, whose address changes with the object's
};

}  // namespace strom::format::forward
