// What clients of store tables and the server tell each other when a client asks for rows or changes them: frames on a
// UNIX socket. docs/format/store.md describes them for other languages. Any bytes may come from a socket: whatever is
// taken apart here has been checked, and points into the bytes that were given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace strom::store::message {

inline constexpr uint64_t kMagic = 0x47534D4D4F5253;  // "SROMMSG"
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kTokenBytes = 16;
inline constexpr uint32_t kMostBody = 4 << 20;  // bytes of a frame behind its header
inline constexpr uint32_t kMostKeyBytes = 2000;
inline constexpr uint32_t kMostKeys = 256;  // of one request
inline constexpr uint32_t kMostFields = 1600;
inline constexpr uint32_t kMostRanges = 256;  // of one request
inline constexpr uint32_t kTicketBytes = 16;

/// The first bytes of a connection, from the client. The answer is a frame of Kind::kHello.
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
  kRead = 8,       // bytes of the published region
  kFarMemory = 9,  // where the published region is for RDMA
  kRings = 10,     // memory to be used in place of the socket
};

/// What became of a request.
enum class Outcome : uint16_t {
  kDone = 0,
  kNotFound = 1,      // there is no row with this key
  kConflict = 2,      // of kCompareAndSet: the row is another one
  kDenied = 3,        // the role lacks the right
  kBusy = 4,          // another transaction has the row or the table for itself
  kFull = 5,          // the table, its memory or its log has no room
  kConstraint = 6,    // the row violates a constraint of the table
  kBadValue = 7,      // a value is none of its column's type
  kBadRequest = 8,    // the frame is not understood
  kGone = 9,          // the table is gone, or has no published region any more
  kUnsupported = 10,  // the table has something that requests do not do, or the version is not known
  kRefused = 11,      // of kHello: the token is not good
  kFailed = 12,       // another error
};
inline constexpr uint16_t kLastOutcome = 12;

/// Before each request and answer. Little-endian.
struct Header {
  uint32_t bytes;    // of the body
  uint16_t kind;     // Kind
  uint16_t outcome;  // of an answer; 0 in requests
  uint32_t tag;      // an answer has its request's
  uint32_t number;   // see Request and Answer
};
static_assert(sizeof(Header) == 16);

/// How a value of a row is given.
enum class Form : uint8_t {
  kNull = 0,
  kStored = 1,  // as the published region has it
  kText = 2,    // as SQL's input functions read it
};

struct Field {
  Form form = Form::kNull;
  std::string_view bytes = {};

  bool operator==(const Field&) const = default;
};

/// Bytes of the published region.
struct Range {
  uint64_t offset = 0;
  uint32_t bytes = 0;

  bool operator==(const Range&) const = default;
};

struct Request {
  Kind kind = Kind::kGet;
  uint32_t tag = 0;
  uint32_t generation = 0;             // of kCompareAndSet: of the row that has to be there; 0: none
  std::vector<std::string_view> keys;  // one for kGet and kDelete
  std::vector<Field> fields;           // of kPut, kCompareAndSet: one for each column
  std::vector<Range> ranges = {};      // of kRead; kMostBody bytes together at most

  bool operator==(const Request&) const = default;
};

/// kGetMany has an answer for each key, in their order.
struct Answer {
  Kind kind = Kind::kGet;
  Outcome outcome = Outcome::kDone;
  uint32_t tag = 0;
  /// Generation of the row that was read; of kPut: 1 = it is new, 0 = it was there; of kHello: the server's version;
  /// of kRead and kFarMemory: the region's number, which is another one after each rotation.
  uint32_t number = 0;
  /// A row's image; of kRead the bytes of all ranges, zeros where the region has none; of kHello the description of
  /// rows; of kStatistics numbers of 8 bytes, in Statistics' order. Where the outcome is an error: its SQLSTATE (5
  /// bytes) and what it says.
  std::string_view body = {};

  bool operator==(const Answer&) const = default;
};

struct Statistics {
  uint64_t rows = 0;
  uint64_t clients = 0;     // of all tables of the database
  uint64_t operations = 0;  // requests that were answered
  uint64_t groups = 0;      // transactions that took them together
  uint64_t failures = 0;    // requests whose answer was an error

  bool operator==(const Statistics&) const = default;
};

/// A part of the published region that a client's network card can read.
struct FarSegment {
  uint64_t offset = 0;  // in the region
  uint64_t bytes = 0;
  uint64_t address = 0;  // for the network card, as the key
  uint32_t key = 0;

  bool operator==(const FarSegment&) const = default;
};

/// How a client comes by the published region with RDMA: it connects, and shows the ticket. Then it asks again, and is
/// told the segments, in order; the region grows, so that it may ask for more later.
struct FarMemory {
  uint8_t ticket[kTicketBytes] = {};
  uint32_t port = 0;  // of the same address
  std::vector<FarSegment> segments;

  bool operator==(const FarMemory&) const = default;
};

/// A frame in bytes that have come. The body points into them.
struct Frame {
  Header header;
  std::string_view body;
};

/// The frame at the front of `bytes`; none: more bytes are needed. Errors: kProtocolViolation, from the header alone,
/// after which nothing on the connection can be understood.
Result<std::optional<Frame>> find_frame(std::string_view bytes);

/// Errors: kProtocolViolation. The next frame can be understood all the same.
Result<Request> parse_request(const Frame& frame);
Result<Answer> parse_answer(const Frame& frame);
/// Of an answer's body. Errors: kProtocolViolation.
Result<Statistics> parse_statistics(std::string_view body);
Result<FarMemory> parse_far_memory(std::string_view body);

void append_request(const Request& request, std::string* bytes);
void append_answer(const Answer& answer, std::string* bytes);
std::string statistics_body(const Statistics& statistics);
std::string far_memory_body(const FarMemory& memory);

}  // namespace strom::store::message
