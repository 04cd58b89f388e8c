// The messages between clients of store tables and the server, for reading and changing rows: frames on a UNIX socket.
// docs/format/store.md describes them for other languages. A socket may deliver any bytes. Everything that is parsed
// here has been checked, and points into the given bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace strom::store::message {

inline constexpr uint64_t kMagic = 0x47534D4D4F5253;  // "SROMMSG"
inline constexpr uint32_t kVersion = 2;
inline constexpr uint32_t kTokenBytes = 16;
inline constexpr uint32_t kMostBody = 4 << 20;  // of a frame, without its header
inline constexpr uint32_t kMostKeyBytes = 2000;
inline constexpr uint32_t kMostKeys = 256;  // in one request
inline constexpr uint32_t kMostFields = 1600;
inline constexpr uint32_t kMostRanges = 256;  // in one request
inline constexpr uint32_t kTicketBytes = 16;
inline constexpr uint32_t kHasNulls = 1U << 31;  // see Answer

/// The first bytes of a connection, sent by the client. The answer is a frame of Kind::kHello.
struct Hello {
  uint64_t magic;
  uint32_t version;
  uint32_t reserved;  // 0
  uint8_t token[kTokenBytes];
};
static_assert(sizeof(Hello) == 32);

enum class Kind : uint16_t {
  kHello = 1,
  kGet = 2,
  kGetMany = 3,
  kPut = 4,
  kDelete = 5,
  kCompareAndSet = 6,
  kStatistics = 7,
  kRead = 8,       // reads bytes of the published region
  kFarMemory = 9,  // asks for the published region's addresses for RDMA
  kRings = 10,     // asks for memory that replaces the socket
};

/// The result of a request.
enum class Outcome : uint16_t {
  kDone = 0,
  kNotFound = 1,      // there is no row with this key
  kConflict = 2,      // of kCompareAndSet: the row has another generation
  kDenied = 3,        // the role lacks the right
  kBusy = 4,          // another transaction has locked the row or the table
  kFull = 5,          // the table, its memory or its log has no room
  kConstraint = 6,    // the row violates a constraint of the table
  kBadValue = 7,      // a value is invalid for its column's type
  kBadRequest = 8,    // the frame is not understood
  kGone = 9,          // the table is gone, or has no published region any more
  kUnsupported = 10,  // requests do not support the table, or the version is unknown
  kRefused = 11,      // of kHello: the token is not valid
  kFailed = 12,       // another error
  kTooLarge = 13,     // of kGetMany: the rows do not fit in one answer
};
inline constexpr uint16_t kLastOutcome = 13;

/// Precedes each request and answer. Little-endian.
struct Header {
  uint32_t bytes;    // of the body
  uint16_t kind;     // Kind
  uint16_t outcome;  // in answers; 0 in requests
  uint32_t tag;      // an answer repeats the tag of its request
  uint32_t number;   // see Request and Answer
};
static_assert(sizeof(Header) == 16);

/// The form of a row's value.
enum class Form : uint8_t {
  kNull = 0,
  kStored = 1,  // as in the published region
  kText = 2,    // as input of the type's input function
};

struct Field {
  Form form = Form::kNull;
  std::string_view bytes = {};

  bool operator==(const Field&) const = default;
};

/// A range of bytes of the published region.
struct Range {
  uint64_t offset = 0;
  uint32_t bytes = 0;

  bool operator==(const Range&) const = default;
};

struct Request {
  Kind kind = Kind::kGet;
  uint32_t tag = 0;
  uint32_t generation = 0;             // of kCompareAndSet: the expected generation; 0: no row
  std::vector<std::string_view> keys;  // exactly one for kGet and kDelete
  std::vector<Field> fields;           // of kPut, kCompareAndSet: one for each column
  std::vector<Range> ranges = {};      // of kRead; at most kMostBody bytes in all

  bool operator==(const Request&) const = default;
};

/// The answer to a request. kGetMany has one answer for each key, in their order.
struct Answer {
  Kind kind = Kind::kGet;
  Outcome outcome = Outcome::kDone;
  uint32_t tag = 0;
  /// For reads: the row's generation, which is below kHasNulls, and kHasNulls. For kPut: 1 = the row is new, 0 = it
  /// existed. For kHello: the server's version. For kRead and kFarMemory: the region's number, which changes with each
  /// rotation.
  uint32_t number = 0;
  /// For reads: the row's payload as in the published region. With kHasNulls it begins with a bitmap. For kRead: the
  /// bytes of all ranges, with zeros where the region has none. For kHello: the description of rows. For kStatistics:
  /// numbers of 8 bytes, in Statistics' order. For errors: the SQLSTATE (5 bytes) and the message.
  std::string_view body = {};

  bool operator==(const Answer&) const = default;
};

struct Statistics {
  uint64_t rows = 0;
  uint64_t clients = 0;     // of all tables of the database
  uint64_t operations = 0;  // answered requests
  uint64_t groups = 0;      // transactions that executed them together
  uint64_t failures = 0;    // requests with an error as answer

  bool operator==(const Statistics&) const = default;
};

/// A part of the published region that a client's network card can read.
struct FarSegment {
  uint64_t offset = 0;  // in the region
  uint64_t bytes = 0;
  uint64_t address = 0;  // for the network card, like the key
  uint32_t key = 0;

  bool operator==(const FarSegment&) const = default;
};

/// How a client reaches the published region by RDMA. It connects and shows the ticket. Then it asks again and gets the
/// segments, in order. The region grows, so the client may ask for further segments later.
struct FarMemory {
  uint8_t ticket[kTicketBytes] = {};
  uint32_t port = 0;  // at the same address
  std::vector<FarSegment> segments;

  bool operator==(const FarMemory&) const = default;
};

/// A frame at the front of received bytes. The body points into them.
struct Frame {
  Header header;
  std::string_view body;
};

/// The frame at the front of `bytes`; nullopt: it is incomplete. Errors: kProtocolViolation if the header is invalid.
/// The rest of the connection is unusable then.
Result<std::optional<Frame>> find_frame(std::string_view bytes);

/// Parses a request. Errors: kProtocolViolation; later frames can still be parsed.
Result<Request> parse_request(const Frame& frame);
Result<Answer> parse_answer(const Frame& frame);
/// Parses an answer's body. Errors: kProtocolViolation.
Result<Statistics> parse_statistics(std::string_view body);
Result<FarMemory> parse_far_memory(std::string_view body);

void append_request(const Request& request, std::string* bytes);
void append_answer(const Answer& answer, std::string* bytes);
std::string statistics_body(const Statistics& statistics);
std::string far_memory_body(const FarMemory& memory);

}  // namespace strom::store::message
