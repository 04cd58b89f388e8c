#include "format/forward/messages.hpp"

#include <zlib.h>

#include <cstring>
#include <utility>

namespace strom::format::forward {
namespace {

using Kind = Value::Kind;

constexpr int64_t kNano = 1000000000;
constexpr uint32_t kMostParts = 4;  // tag, time, record, options

Status invalid(const std::string& what) {
  return {ErrorCode::kProtocolViolation, "not a message of the Forward protocol: " + what};
}

struct Inflater : z_stream {
  Inflater() : z_stream{} {}
  ~Inflater() { inflateEnd(this); }
};

/// Seconds, or the extension EventTime: seconds and nanoseconds of 32 bits each.
bool time_of(const Value& value, int64_t* time_ns) {
  if (value.kind == Kind::kInt) {
    if (value.integer < 0 || value.integer >= INT64_MAX / kNano) return false;
    *time_ns = value.integer * kNano;
    return true;
  }
  if (value.kind == Kind::kFloat) {
    if (!(value.number >= 0 && value.number < static_cast<double>(INT64_MAX / kNano))) return false;
    *time_ns = static_cast<int64_t>(value.number * static_cast<double>(kNano));
    return true;
  }
  if (value.kind != Kind::kExtension || value.extension != 0 || value.bytes.size() != 8) return false;
  uint32_t parts[2] = {};
  for (size_t i = 0; i < 8; ++i) parts[i / 4] = parts[i / 4] << 8 | static_cast<uint8_t>(value.bytes[i]);
  *time_ns = int64_t{parts[0]} * kNano + parts[1];
  return parts[1] < kNano;
}

}  // namespace

Status inflate_gzip(std::string_view bytes, size_t most, std::string* text) {
  Inflater stream;
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) return {ErrorCode::kOutOfMemory, "out of memory"};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  constexpr size_t kStep = size_t{1} << 18;
  while (stream.avail_in > 0) {
    const size_t have = text->size();
    text->resize(have + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(text->data() + have);
    stream.avail_out = kStep;
    const int result = inflate(&stream, Z_NO_FLUSH);
    text->resize(have + kStep - stream.avail_out);
    if (text->size() > most)
      return {ErrorCode::kOverBudget, "a message has more than " + std::to_string(most) + " bytes"};
    if (result == Z_STREAM_END) {
      if (stream.avail_in > 0 && inflateReset(&stream) != Z_OK) return invalid("damaged compression");
      continue;
    }
    if (result != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0)) return invalid("damaged compression");
  }
  return Status::ok();
}

Result<size_t> MessageEnd::find(std::string_view bytes) {
  MessageReader reader(bytes.substr(taken_));
  while (left_ > 0) {
    Value value;
    const Step step = reader.next(&value);
    if (step == Step::kInvalid) return invalid("a byte that begins no value");
    if (step == Step::kIncomplete) return size_t{0};
    taken_ = bytes.size() - reader.rest().size();
    left_ += value.values_inside();
    --left_;
  }
  const size_t size = taken_;
  *this = {};
  return size;
}

Result<Message> Message::parse(std::string_view bytes, size_t most) {
  MessageReader reader(bytes);
  Value whole, tag, first;
  if (reader.next(&whole) != Step::kDone || whole.kind != Kind::kArray || whole.count < 2 || whole.count > kMostParts)
    return invalid("no array of two to four parts");
  if (reader.next(&tag) != Step::kDone || tag.kind != Kind::kText) return invalid("no tag");
  Message message;
  message.tag_ = tag.bytes;
  std::string_view rest = reader.rest();
  if (reader.next(&first) != Step::kDone) return invalid("it ends in the middle");
  uint32_t parts = 2;
  bool is_compressed = false, is_packed = false;
  if (first.kind == Kind::kArray) {
    rest = reader.rest();
    for (uint32_t i = 0; i < first.count; ++i)
      if (reader.skip() != Step::kDone) return invalid("it ends in the middle");
    message.events_ = rest.substr(0, rest.size() - reader.rest().size());
  } else if (first.kind == Kind::kText || first.kind == Kind::kBytes) {
    message.events_ = first.bytes;
    is_packed = true;
  } else {
    if (whole.count < 3 || reader.skip() != Step::kDone) return invalid("no record");
    message.is_single_ = true;
    message.events_ = rest.substr(0, rest.size() - reader.rest().size());
    parts = 3;
  }
  if (whole.count > parts) STROM_TRY(message.read_options(reader, &is_compressed));
  if (is_packed && is_compressed) {
    STROM_TRY(inflate_gzip(message.events_, most, &message.text_));
    message.is_packed_ = true;
  }
  return message;
}

Message Message::of_events(std::string_view tag, std::string events) {
  Message message;
  message.tag_ = tag;
  message.text_ = std::move(events);
  message.is_packed_ = true;
  return message;
}

Status Message::read_options(MessageReader& reader, bool* is_compressed) {
  Value options;
  if (reader.next(&options) != Step::kDone) return invalid("options that are none");
  if (options.kind == Kind::kNil) return Status::ok();
  if (options.kind != Kind::kMap) return invalid("options that are none");
  for (uint32_t i = 0; i < options.count; ++i) {
    Value key, value;
    if (reader.next(&key) != Step::kDone || key.kind != Kind::kText) return invalid("an option without a name");
    const std::string_view before = reader.rest();
    if (reader.next(&value) != Step::kDone) return invalid("an option without a value");
    if (key.bytes == "chunk" && (value.kind == Kind::kText || value.kind == Kind::kBytes)) {
      chunk_ = value.bytes;
      has_text_chunk_ = value.kind == Kind::kText;
    }
    if (key.bytes == "compressed" && value.kind == Kind::kText) {
      if (value.bytes != "gzip" && value.bytes != "text")
        return {ErrorCode::kUnsupported, "the compression \"" + std::string(value.bytes) + "\" of a message"};
      *is_compressed = value.bytes == "gzip";
    }
    if (value.kind == Kind::kArray || value.kind == Kind::kMap) {
      reader = MessageReader(before);
      if (reader.skip() != Step::kDone) return invalid("an option without a value");
    }
  }
  return Status::ok();
}

const char* Message::begin_event(MessageReader& reader, int64_t* time_ns) const {
  Value value;
  if (!is_single_ && (reader.next(&value) != Step::kDone || value.kind != Value::Kind::kArray || value.count != 2))
    return "an event that is no pair";
  if (reader.next(&value) != Step::kDone || !time_of(value, time_ns)) return "an event without a time";
  return nullptr;
}

}  // namespace strom::format::forward
