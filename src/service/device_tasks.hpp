// Tasks of the GPU service by which a backend uses a device, as bytes of Submit::arguments and Finished::values: memory
// on the device, and work on it. docs/format/gpu-service-protocol.md.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "device/module.hpp"

namespace strom::service {

enum class TaskKind : uint16_t {
  /// Takes the bytes of a file to the device and back through pinned memory and compares them. Descriptor 0 is the
  /// file; the values are those of SelfTest. Needs kSelfTestMemory.
  kSelfTest = 1,
  /// Memory on the device that is the session's until it is released: Allocate to Allocated. Submit::memory is its
  /// size. With a mirror the descriptor of the answer is the mirror's memory file.
  kAllocate = 2,
  /// Gives it back: Release.
  kRelease = 3,
  /// Copies from mirrors to the device, runs tiles, copies back: Run, with its ranges behind it, and its columns.
  kRun = 4,
  /// Room for columns and join tables that are to stay on the device: for each of them RoomRequest, its name and its
  /// label.
  /// The values are as many of RoomGrant.
  kMakeRoom = 5,
  /// Forgets all columns that nobody uses. The values are the bytes that are free then, u64.
  kForget = 6,
  /// A file that the session's runs can read from until it closes it: its name behind an OpenFile, to OpenedFile with a
  /// text behind it. Descriptor 0 is the file.
  kOpenFile = 7,
  /// CloseFile.
  kCloseFile = 8,
  /// AskMirror: the descriptor of the answer is the memory file of a join table that the session has; to be written by
  /// who fills it, until it is published.
  kMirror = 9,
  /// Copies a file to memory of the device that other processes open: Share, to Shared with the device's PCI address
  /// behind it. Descriptor 0 is the file, descriptor 1 the reading end of a pipe: the memory stays until no process has
  /// the writing end, also when the session ends.
  kShare = 10,
};

inline constexpr uint64_t kSelfTestMemory = 4 << 20;

struct SelfTest {
  uint64_t bytes = 0, in_us = 0, out_us = 0;  // copied, and how long that took each way
};

struct Allocate {
  uint64_t mirrored = 0;  // or 1
};
struct Allocated {
  uint64_t region = 0;  // its number in the session
  uint64_t address = 0;
};

struct Release {
  uint64_t region = 0;
};

struct Run {
  uint64_t states = 0, results = 0;  // addresses, of `count` items each
  uint32_t count = 0;                // 0: only copies
  uint32_t in = 0, out = 0;          // ranges
  uint32_t cached = 0;               // columns behind them
  uint32_t files = 0;                // ranges of files, behind those
  uint32_t page_count = 0;
  uint64_t stop = 0;                    // address of DeviceWork::stop, or 0
  uint64_t pages = 0;                   // address of a task over pages, or 0
  uint64_t copies = 0, copy_count = 0;  // address of copies within the device, and how many
};
struct RunRange {
  uint64_t region = 0, offset = 0, bytes = 0;
};
/// A column or join table that stays on the device and that tiles read; with bytes it is filled from the range first,
/// which is in its own mirror where the region is 0.
/// With an `update`, the number that ColumnRow has given, copies write to it.
struct RunColumn {
  uint64_t number = 0;
  RunRange from;
  uint64_t update = 0;
};

struct RoomRequest {
  uint64_t bytes = 0;
  int32_t column = 0;
  uint16_t name_bytes = 0, label_bytes = 0;
  uint64_t mirrored = 0;  // or 1
};
struct RoomGrant {
  uint64_t number = 0;  // 0: there is no room for it
  uint64_t address = 0;
};
struct AskMirror {
  uint64_t number = 0;
};
struct RunFileRange {
  uint64_t file = 0, file_offset = 0;
  RunRange to;
};

struct OpenFile {
  uint64_t only_asks = 0;  // 1: the answer's number is 0, and there is nothing to close
};
struct OpenedFile {
  uint64_t file = 0;       // its number in the session
  uint32_t way = 0;        // StorageWay
  uint32_t direct_io = 0;  // 1: it can be read with O_DIRECT
};

struct CloseFile {
  uint64_t file = 0;
};

struct Share {
  uint64_t bytes = 0;  // of the file, from its beginning on
};
struct Shared {
  uint64_t bytes = 0;  // of device memory
  unsigned char handle[device::kShareHandleBytes] = {};
};

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// kProtocolViolation when the bytes are fewer; they are taken off.
template <class T>
Status take(std::string_view* bytes, T* value) {
  if (bytes->size() < sizeof *value)
    return Status(ErrorCode::kProtocolViolation, "invalid task of the GPU service: too short");
  std::memcpy(value, bytes->data(), sizeof *value);
  bytes->remove_prefix(sizeof *value);
  return {};
}

/// The same for so many bytes.
inline Status take(std::string_view* bytes, size_t count, std::string* text) {
  if (bytes->size() < count) return Status(ErrorCode::kProtocolViolation, "invalid task of the GPU service: too short");
  text->assign(bytes->substr(0, count));
  bytes->remove_prefix(count);
  return {};
}

}  // namespace strom::service
