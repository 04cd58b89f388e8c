// Bytes of a capture file, wherever they come from: a mapped file, a pipe, a compressed file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.hpp"
#include "columnar/builder.hpp"

namespace strom::pcap2arrow {

/// What holds bytes as long as somebody works on them.
struct HeldBytes {
  std::shared_ptr<const void> mapped;  // a file,
  columnar::ByteBuffer buffer;         // or what was read
};

/// Ends the waiting for bytes, for ever: to readers it is the end of the file. Thread-safe.
class StopEvent {
 public:
  StopEvent();
  ~StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;

  void set();
  /// Waits until `fd` can be read (-1: nothing but the event), or the event is set: then false. `milliseconds` < 0: for
  /// ever; else true when the time is over, too.
  bool wait(int fd, int milliseconds) const;

 private:
  const int event_;
};

/// How bytes are read.
struct ReadOptions {
  int64_t step = 0;     // bytes at once
  bool follow = false;  // at the end of a file, more may come
  int patience = -1;    // milliseconds after which less than a step will do; -1: never
  const StopEvent* stop = nullptr;
};

/// Used by one thread at a time.
class ByteSource {
 public:
  /// "-": standard input. Errors: kFileNotFound and the like, kInvalidParameter (standard input is a terminal, or was
  /// read before).
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path, const ReadOptions& options);
  virtual ~ByteSource() = default;

  /// The bytes that follow those that were taken, at least `wanted` unless the file ends before. They are good as long
  /// as `held` is not filled again.
  virtual Result<std::span<const uint8_t>> bytes(HeldBytes& held, int64_t wanted) = 0;
  /// `size` bytes of the last bytes() are done with.
  virtual void take(int64_t size) = 0;
  /// Bytes of the file itself that were taken, which may be compressed.
  virtual int64_t position() const = 0;
  /// Of the file itself; 0: not known.
  virtual int64_t size() const = 0;
  /// Whether the file has stayed as it was.
  virtual Status check() const { return Status::ok(); }
};

}  // namespace strom::pcap2arrow
