#include "store/message/message.hpp"

#include <cstring>

#include "base/byte_reader.hpp"

namespace strom::store::message {

namespace {

Status violation(const char* what) { return {ErrorCode::kProtocolViolation, std::string("a message ") + what}; }

template <class T>
void append(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

bool is_kind(uint16_t kind) {
  return kind >= static_cast<uint16_t>(Kind::kHello) && kind <= static_cast<uint16_t>(Kind::kRings);
}

Status parse_keys(std::string_view body, std::vector<std::string_view>* keys) {
  base::ByteReader cursor(body);
  uint32_t count = 0, size = 0;
  if (!cursor.take(&count)) return violation("ends before the number of its keys");
  if (count > kMostKeys) return violation("has too many keys");
  keys->resize(count);
  for (std::string_view& key : *keys) {
    if (!cursor.take(&size) || !cursor.take_bytes(size, &key)) return violation("ends within its keys");
    if (size > kMostKeyBytes) return violation("has a key that is too long");
  }
  return cursor.is_at_end() ? Status::ok() : violation("has bytes behind its keys");
}

Status parse_fields(std::string_view body, std::vector<Field>* fields) {
  base::ByteReader cursor(body);
  uint32_t count = 0, size = 0;
  if (!cursor.take(&count)) return violation("ends before the number of its values");
  if (count > kMostFields) return violation("has too many values");
  fields->resize(count);
  for (Field& field : *fields) {
    uint8_t form = 0;
    if (!cursor.take(&form)) return violation("ends within its values");
    if (form > static_cast<uint8_t>(Form::kText)) return violation("has a value of an unknown form");
    field.form = static_cast<Form>(form);
    if (field.form == Form::kNull) continue;
    if (!cursor.take(&size) || !cursor.take_bytes(size, &field.bytes)) return violation("ends within its values");
  }
  return cursor.is_at_end() ? Status::ok() : violation("has bytes behind its values");
}

Status parse_ranges(std::string_view body, std::vector<Range>* ranges) {
  base::ByteReader cursor(body);
  uint32_t count = 0;
  uint64_t bytes = 0;
  if (!cursor.take(&count)) return violation("ends before the number of its ranges");
  if (count > kMostRanges) return violation("has too many ranges");
  ranges->resize(count);
  for (Range& range : *ranges) {
    if (!cursor.take(&range.offset) || !cursor.take(&range.bytes)) return violation("ends within its ranges");
    bytes += range.bytes;
  }
  if (bytes > kMostBody) return violation("asks for too many bytes");
  return cursor.is_at_end() ? Status::ok() : violation("has bytes behind its ranges");
}

void append_header(const Header& header, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&header), sizeof(header));
}

void append_body(const Request& request, std::string* bytes) {
  switch (request.kind) {
    case Kind::kGet:
    case Kind::kDelete: bytes->append(request.keys.at(0)); return;
    case Kind::kGetMany:
      append(static_cast<uint32_t>(request.keys.size()), bytes);
      for (const std::string_view key : request.keys) {
        append(static_cast<uint32_t>(key.size()), bytes);
        bytes->append(key);
      }
      return;
    case Kind::kPut:
    case Kind::kCompareAndSet:
      append(static_cast<uint32_t>(request.fields.size()), bytes);
      for (const Field& field : request.fields) {
        append(static_cast<uint8_t>(field.form), bytes);
        if (field.form == Form::kNull) continue;
        append(static_cast<uint32_t>(field.bytes.size()), bytes);
        bytes->append(field.bytes);
      }
      return;
    case Kind::kRead:
      append(static_cast<uint32_t>(request.ranges.size()), bytes);
      for (const Range& range : request.ranges) {
        append(range.offset, bytes);
        append(range.bytes, bytes);
      }
      return;
    case Kind::kHello:
    case Kind::kStatistics:
    case Kind::kFarMemory:
    case Kind::kRings: return;
  }
}

}  // namespace

Result<std::optional<Frame>> find_frame(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof(header)) return std::optional<Frame>();
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (!is_kind(header.kind)) return violation("is of an unknown kind");
  if (header.outcome > kLastOutcome) return violation("has an unknown outcome");
  if (header.bytes > kMostBody) return violation("is too long");
  if (bytes.size() - sizeof(header) < header.bytes) return std::optional<Frame>();
  return std::optional<Frame>({header, bytes.substr(sizeof(header), header.bytes)});
}

Result<Request> parse_request(const Frame& frame) {
  Request request;
  request.kind = static_cast<Kind>(frame.header.kind);
  request.tag = frame.header.tag;
  if (frame.header.outcome != 0) return violation("is an answer, not a request");
  if (request.kind != Kind::kCompareAndSet && frame.header.number != 0) return violation("has a number out of place");
  switch (request.kind) {
    case Kind::kGet:
    case Kind::kDelete:
      if (frame.body.size() > kMostKeyBytes) return violation("has a key that is too long");
      request.keys.push_back(frame.body);
      return request;
    case Kind::kGetMany: STROM_TRY(parse_keys(frame.body, &request.keys)); return request;
    case Kind::kCompareAndSet:
      request.generation = frame.header.number;
      STROM_TRY(parse_fields(frame.body, &request.fields));
      return request;
    case Kind::kPut: STROM_TRY(parse_fields(frame.body, &request.fields)); return request;
    case Kind::kStatistics:
    case Kind::kFarMemory:
    case Kind::kRings:
      if (!frame.body.empty()) return violation("has bytes out of place");
      return request;
    case Kind::kRead: STROM_TRY(parse_ranges(frame.body, &request.ranges)); return request;
    case Kind::kHello: break;
  }
  return violation("is no request");
}

Result<Answer> parse_answer(const Frame& frame) {
  Answer answer;
  answer.kind = static_cast<Kind>(frame.header.kind);
  answer.outcome = static_cast<Outcome>(frame.header.outcome);
  answer.tag = frame.header.tag;
  answer.number = frame.header.number;
  answer.body = frame.body;
  constexpr size_t kState = 5;
  const bool is_error = answer.outcome > Outcome::kConflict;
  if (is_error && answer.body.size() < kState) return violation("does not say what its error is");
  return answer;
}

Result<Statistics> parse_statistics(std::string_view body) {
  Statistics statistics;
  base::ByteReader cursor(body);
  // Later servers may send more numbers.
  for (uint64_t* number :
       {&statistics.rows, &statistics.clients, &statistics.operations, &statistics.groups, &statistics.failures})
    if (!cursor.take(number)) return violation("ends within its numbers");
  return statistics;
}

Result<FarMemory> parse_far_memory(std::string_view body) {
  FarMemory memory;
  base::ByteReader cursor(body);
  std::string_view ticket;
  uint32_t count = 0;
  if (!cursor.take_bytes(kTicketBytes, &ticket) || !cursor.take(&memory.port) || !cursor.take(&count))
    return violation("ends before its segments");
  std::memcpy(memory.ticket, ticket.data(), kTicketBytes);
  if (memory.port > UINT16_MAX) return violation("has a port that is none");
  if (count > kMostBody / sizeof(FarSegment)) return violation("has too many segments");
  memory.segments.resize(count);
  uint64_t end = 0;
  for (FarSegment& segment : memory.segments) {
    if (!cursor.take(&segment.offset) || !cursor.take(&segment.bytes) || !cursor.take(&segment.address) ||
        !cursor.take(&segment.key))
      return violation("ends within its segments");
    if (segment.offset < end || segment.bytes == 0 || segment.bytes > UINT64_MAX - segment.offset)
      return violation("has segments out of order");
    end = segment.offset + segment.bytes;
  }
  return cursor.is_at_end() ? Result<FarMemory>(memory) : violation("has bytes behind its segments");
}

void append_request(const Request& request, std::string* bytes) {
  const size_t begin = bytes->size();
  Header header{0, static_cast<uint16_t>(request.kind), 0, request.tag, request.generation};
  append_header(header, bytes);
  append_body(request, bytes);
  header.bytes = static_cast<uint32_t>(bytes->size() - begin - sizeof(header));
  std::memcpy(bytes->data() + begin, &header, sizeof(header));
}

void append_answer(const Answer& answer, std::string* bytes) {
  append_header({static_cast<uint32_t>(answer.body.size()), static_cast<uint16_t>(answer.kind),
                 static_cast<uint16_t>(answer.outcome), answer.tag, answer.number},
                bytes);
  bytes->append(answer.body);
}

std::string statistics_body(const Statistics& statistics) {
  std::string body;
  for (const uint64_t number :
       {statistics.rows, statistics.clients, statistics.operations, statistics.groups, statistics.failures})
    append(number, &body);
  return body;
}

std::string far_memory_body(const FarMemory& memory) {
  std::string body(reinterpret_cast<const char*>(memory.ticket), kTicketBytes);
  append(memory.port, &body);
  append(static_cast<uint32_t>(memory.segments.size()), &body);
  for (const FarSegment& segment : memory.segments) {
    append(segment.offset, &body);
    append(segment.bytes, &body);
    append(segment.address, &body);
    append(segment.key, &body);
  }
  return body;
}

}  // namespace strom::store::message
