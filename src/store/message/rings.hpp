// Shared memory that replaces the socket between the server and a client on the same machine: a ring of bytes for each
// direction. It carries the same bytes as the socket would (message.hpp). Either side may write anything there at any
// time. So each side trusts only its own counts, and copies bytes before it parses them. docs/format/store.md has the
// layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace strom::store::message {

inline constexpr uint64_t kRingBytes = 32 << 10;
inline constexpr uint64_t kRingsOffset = 4096;
inline constexpr uint64_t kRingsFileBytes = kRingsOffset + 2 * kRingBytes;

/// The counters of one direction. Each one has a cache line of its own.
struct RingWords {
  alignas(64) uint64_t sent;    // bytes, counted by the writer
  alignas(64) uint64_t taken;   // bytes, counted by the reader
  alignas(64) uint32_t sleeps;  // 1: the reader sleeps and has to be woken
};
static_assert(sizeof(RingWords) == 192);

/// The writing side of a ring.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(RingWords* words, uint8_t* bytes) : words_(words), bytes_(bytes) {}

  /// Writes as many bytes as there is room for, and returns their number; nullopt: the other side breaks the rules.
  std::optional<size_t> write(std::string_view bytes);
  /// True if the ring has room for a good part of its size.
  bool has_room() const;
  /// True if the caller has to wake the reader. True once for each time that the reader sleeps.
  bool has_to_wake();
  /// The argument for wake().
  uint32_t* bed() { return &words_->sleeps; }

 private:
  RingWords* words_ = nullptr;
  uint8_t* bytes_ = nullptr;
  uint64_t sent_ = 0;
};

/// The reading side of a ring.
class RingReader {
 public:
  RingReader() = default;
  RingReader(RingWords* words, const uint8_t* bytes) : words_(words), bytes_(bytes) {}

  /// Appends the received bytes to `to` and returns their number; nullopt: the other side breaks the rules.
  std::optional<size_t> read(std::string* to);
  bool has_more() const;
  /// From now on the other side wakes this one. Call read() once more before sleep().
  void begin_sleep();
  void end_sleep();
  /// Sleeps until wake(); returns at once if it was called after begin_sleep(). May also return early.
  void sleep(int milliseconds);

 private:
  RingWords* words_ = nullptr;
  const uint8_t* bytes_ = nullptr;
  uint64_t taken_ = 0;
};

/// Wakes the reader that sleeps there.
void wake(uint32_t* bed);

/// The shared memory, mapped.
class Rings {
 public:
  Rings() = default;
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;
  ~Rings();

  /// For the server: makes memory that the client cannot shrink. `descriptor` goes to the client.
  Status make(base::Descriptor* descriptor);
  /// For the client: maps the memory.
  Status map(const base::Descriptor& descriptor);

  bool is_there() const { return memory_ != nullptr; }
  RingWriter writer_of(int direction) { return {words(direction), bytes(direction)}; }
  RingReader reader_of(int direction) { return {words(direction), bytes(direction)}; }

 private:
  RingWords* words(int direction) { return reinterpret_cast<RingWords*>(memory_) + direction; }
  uint8_t* bytes(int direction) { return memory_ + kRingsOffset + static_cast<uint64_t>(direction) * kRingBytes; }

  uint8_t* memory_ = nullptr;
};

inline constexpr int kRequests = 0, kAnswers = 1;  // directions

}  // namespace strom::store::message
