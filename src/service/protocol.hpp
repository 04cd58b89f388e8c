// Messages between backends and the GPU service, as bytes of one packet of a SOCK_SEQPACKET socket. Bulk data travels
// in file descriptors beside a message. The format and its versions: docs/format/gpu-service-protocol.md. Both ends are
// on one machine, so numbers are in its byte order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.hpp"

namespace strom::service {

inline constexpr uint32_t kMagic = 0x53475453;  // "STGS"
inline constexpr uint16_t kProtocolVersion = 7;
inline constexpr size_t kMaxMessageBytes = 32768;  // with the header
inline constexpr size_t kMaxDescriptors = 16;
inline constexpr size_t kMaxNameBytes = 64;
inline constexpr size_t kLedgerRowsPerMessage = 128;
inline constexpr size_t kColumnsPerMessage = 32, kCacheRowsPerMessage = 64;
inline constexpr int kLowestPriority = -4, kHighestPriority = 4;

/// In front of every message of every version.
struct Header {
  uint32_t magic = kMagic;
  uint16_t version = kProtocolVersion;
  uint16_t kind = 0;
  uint32_t tag = 0;    // chosen by the client for each request, and repeated in the answer
  uint32_t bytes = 0;  // behind the header
};
static_assert(sizeof(Header) == 16);

/// engine::block::fingerprint() of this program.
uint64_t own_fingerprint();

/// Client: opens the session, before anything else.
struct Hello {
  int32_t priority = 0;                  // kLowestPriority to kHighestPriority
  std::string name;                      // shown in the ledger, at most kMaxNameBytes
  int32_t device = -1;                   // that the session is to use; -1: the one with the least to do
  uint64_t program = own_fingerprint();  // of the client
};

/// Service: the session is open.
struct Welcome {
  uint32_t session = 0;
  int32_t process = 0;
  uint64_t device_memory = 0;  // bytes that tasks may have together
  uint32_t processors = 0;     // tile states that the device runs at a time
  std::string device;
  uint32_t number = 0, devices = 1;  // of the session's device, and how many there are
};

/// Client: runs a task. Its descriptors are those of the packet.
struct Submit {
  uint16_t task = 0;      // TaskKind
  uint64_t memory = 0;    // device memory that it takes at most; it waits until there is so much
  std::string arguments;  // as the kind of task wants them
};

/// Service: a task is done. Its output may be in a descriptor, too.
struct Finished {
  std::string values;
};

/// Service: a request has failed. Without a session (tag 0) the service closes the connection.
struct Failed {
  uint8_t code = 0;  // base::ErrorCode
  std::string message, detail, hint;
};

/// Client: ends the task that was submitted with this tag, if it is still there. Not answered itself.
struct Cancel {};

/// Client: asks for the sessions behind session `after`.
struct AskLedger {
  uint32_t after = 0;
};

struct LedgerRow {
  uint32_t session = 0;
  int32_t process = 0;
  int32_t priority = 0;
  uint32_t queued = 0, running = 0;        // tasks
  uint64_t memory = 0, memory_wanted = 0;  // bytes that the session holds, and that its queued tasks wait for
  uint64_t tasks_done = 0, busy_us = 0;
  std::string name;
  uint32_t device = 0;
  bool operator==(const LedgerRow&) const = default;
};

/// Service: sessions by number, at most kLedgerRowsPerMessage; none: there are no more.
struct Ledger {
  uint64_t device_memory = 0, memory_used = 0;
  std::vector<LedgerRow> rows;
};

/// Client: asks for the devices.
struct AskDevices {};

struct DeviceRow {
  uint32_t number = 0, processors = 0;
  uint32_t sessions = 0, queued = 0, running = 0;  // tasks
  uint64_t memory = 0, memory_used = 0;            // bytes
  uint64_t tasks_done = 0, busy_us = 0;
  std::string name, address;  // on the PCI bus
  bool operator==(const DeviceRow&) const = default;
};

/// Service: its devices by number.
struct Devices {
  std::vector<DeviceRow> rows;
};

/// Client: which of these columns and join tables stay on the device? Each is named by what its source says that it is
/// (columnar::BatchOrigin, columnar::RowsOrigin). At most kColumnsPerMessage.
struct FindColumns {
  std::vector<std::string> names;
  std::vector<uint64_t> generations;  // that are asked for, one for each name
  // Only for copies of an earlier generation, to be brought up to date before a query asks for them. It is no use of
  // the columns. All others are unknown then.
  bool only_older = false;
};

inline constexpr uint8_t kColumnIsUnknown = 0, kColumnIsCached = 1, kColumnIsWanted = 2, kColumnIsOlder = 3;

struct ColumnRow {
  uint8_t state = kColumnIsUnknown;  // kColumnIsWanted: it may be asked room for
  uint64_t number = 0;               // kColumnIsCached, kColumnIsOlder: the session has it until it settles that
  uint64_t address = 0, bytes = 0;   // on the device
  std::string shape;                 // as whoever filled it has said
  // kColumnIsOlder: its generation, and the number by which this session alone may write to it until it publishes it or
  // gives that up.
  uint64_t generation = 0, update = 0;
  bool operator==(const ColumnRow&) const = default;
};

/// Service: one row for each name, in their order.
struct Columns {
  std::vector<ColumnRow> rows;
};

inline constexpr uint8_t kColumnIsLetGo = 0, kColumnIsPublished = 1, kUpdateIsGivenUp = 2;

struct SettledColumn {
  uint64_t number = 0;
  uint8_t what = kColumnIsLetGo;  // kColumnIsPublished: the session has filled it, or brought it up to date
  std::string shape;              // of one that was filled
  uint64_t generation = 0;        // of a published one
};

/// Client: what has become of columns that the session has. Not answered.
struct SettleColumns {
  std::vector<SettledColumn> columns;
};

/// Client: asks for what stays on the device, behind the label `after`.
struct AskCache {
  std::string after;
};

/// All columns, or all join tables, of a file or table.
struct CacheRow {
  std::string label;
  uint32_t columns = 0;
  uint64_t pieces = 0, bytes = 0, uses = 0;
  uint64_t pinned = 0;  // bytes that somebody uses now
  bool operator==(const CacheRow&) const = default;
};

/// Service: by label, at most kCacheRowsPerMessage; none: there are no more.
struct Cache {
  uint64_t limit = 0, bytes = 0, pinned = 0;  // of all of it
  uint64_t found = 0, missed = 0;             // columns that were looked for, since the service has started
  std::vector<CacheRow> rows;
};

using Message = std::variant<Hello, Welcome, Submit, Finished, Failed, Cancel, AskLedger, Ledger, FindColumns, Columns,
                             SettleColumns, AskCache, Cache, AskDevices, Devices>;

struct TaggedMessage {
  uint32_t tag = 0;
  Message message;
};

/// Bytes of a packet; kOverBudget when they would be more than kMaxMessageBytes.
Result<std::string> encode(uint32_t tag, const Message& message);

/// kProtocolViolation for bytes that are no message of this version. Sizes are checked before anything is allocated.
Result<TaggedMessage> decode(std::string_view bytes);

Failed describe(const Status& status);
/// The Status that a Failed was made of; unknown codes are kInternal.
Status status_of(const Failed& failed);

}  // namespace strom::service
