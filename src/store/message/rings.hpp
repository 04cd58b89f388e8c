// Memory that a client on the server's machine and the server share, in place of a socket: a ring of bytes for each
// direction. What goes over it is what would go over the socket (message.hpp). Either side may write anything there at
// any time; so each trusts its own counts alone, and takes bytes apart after it has copied them.
// docs/format/store.md has the layout.
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

/// Of one direction. Each word has a cache line of its own.
struct RingWords {
  alignas(64) uint64_t sent;    // bytes, counted by who writes
  alignas(64) uint64_t taken;   // bytes, counted by who reads
  alignas(64) uint32_t sleeps;  // 1: who reads waits to be woken
};
static_assert(sizeof(RingWords) == 192);

/// Who writes.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(RingWords* words, uint8_t* bytes) : words_(words), bytes_(bytes) {}

  /// Takes as many bytes as there is room for; nothing: the other side does not keep to the rules.
  std::optional<size_t> write(std::string_view bytes);
  /// Whether write() would take a good part of the ring.
  bool has_room() const;
  /// Whether who reads has to be woken, by the caller. Once for each time that it sleeps.
  bool has_to_wake();
  /// For wake().
  uint32_t* bed() { return &words_->sleeps; }

 private:
  RingWords* words_ = nullptr;
  uint8_t* bytes_ = nullptr;
  uint64_t sent_ = 0;
};

/// Who reads.
class RingReader {
 public:
  RingReader() = default;
  RingReader(RingWords* words, const uint8_t* bytes) : words_(words), bytes_(bytes) {}

  /// Appends what has come, and returns how much; nothing: the other side does not keep to the rules.
  std::optional<size_t> read(std::string* to);
  bool has_more() const;
  /// From then on the other side wakes this one. Look once more after it before you sleep.
  void begin_sleep();
  void end_sleep();
  /// Sleeps until wake(), or not at all if it has come since begin_sleep(). May return for no reason.
  void sleep(int milliseconds);

 private:
  RingWords* words_ = nullptr;
  const uint8_t* bytes_ = nullptr;
  uint64_t taken_ = 0;
};

/// Whoever sleeps there.
void wake(uint32_t* bed);

/// The memory, as it is mapped.
class Rings {
 public:
  Rings() = default;
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;
  ~Rings();

  /// By the server: memory that nobody can take away from it again. `descriptor` goes to the client.
  Status make(base::Descriptor* descriptor);
  /// By the client.
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
