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
inline constexpr uint16_t kProtocolVersion = 2;
inline constexpr size_t kMaxMessageBytes = 32768;  // with the header
inline constexpr size_t kMaxDescriptors = 16;
inline constexpr size_t kMaxNameBytes = 64;
inline constexpr size_t kLedgerRowsPerMessage = 128;
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

/// Client: opens the session, before anything else.
struct Hello {
  int32_t priority = 0;  // kLowestPriority to kHighestPriority
  std::string name;      // shown in the ledger, at most kMaxNameBytes
  int32_t device = -1;   // that the session is to use; -1: the one with the least to do
};

/// Service: the session is open.
struct Welcome {
  uint32_t session = 0;
  int32_t process = 0;
  uint64_t device_memory = 0;  // bytes that tasks may have together
  uint32_t processors = 0;     // of the device
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

using Message = std::variant<Hello, Welcome, Submit, Finished, Failed, Cancel, AskLedger, Ledger, AskDevices, Devices>;

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
