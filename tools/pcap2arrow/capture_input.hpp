// Files of packets as pieces that threads work on: each is as much as a record batch holds.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "cli/progress.hpp"
#include "format/packets/capture_file.hpp"
#include "pcap2arrow/byte_source.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// Packets that follow one another in a file. Belongs to a thread, which gives it back to be filled anew.
struct Piece {
  format::packets::PacketRun run;
  HeldBytes held;  // what the run points to
  int64_t number = 0;
};

/// Thread-safe.
class CaptureInput {
 public:
  /// `row_bytes`: what a packet takes in a record batch besides its payload.
  CaptureInput(const Settings& settings, int64_t row_bytes, tool::Progress& progress);

  /// The next packets, in the order of the files. False: there are no more. Errors: files that cannot be read, damaged
  /// ones.
  Result<bool> next(Piece& piece);
  /// Ends the waiting for more, for ever: what was read so far are the files. Any thread.
  void stop() { stop_.set(); }
  /// The first file's name without folders and suffix, for names of output files.
  std::string name() const;
  int64_t dropped() const { return dropped_; }
  /// Files that ended in the middle of a packet, or were damaged, and were accepted.
  int64_t incomplete() const { return incomplete_; }

 private:
  Result<bool> open_next();
  Result<bool> fill(Piece& piece);
  Status end_of_file(int64_t left);
  Status accept_damage(const Status& damage);
  void count_done();

  const Settings& settings_;
  const format::packets::RunLimits limits_;
  tool::Progress& progress_;
  StopEvent stop_;
  std::mutex mutex_;
  size_t next_file_ = 0;
  int64_t counted_ = 0;  // of the file's bytes, as progress
  int64_t pieces_ = 0, dropped_ = 0, incomplete_ = 0;
  bool is_finished_ = false;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<format::packets::CaptureScanner> scanner_;
};

}  // namespace strom::pcap2arrow
