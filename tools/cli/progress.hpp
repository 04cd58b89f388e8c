// Progress on standard error: one line that is redrawn for people, or one JSON object a second for programs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "cli/options.hpp"

namespace strom::tool {

/// `--progress[=text|json|none]`; without it there is progress when standard error is a terminal, unless the data go to
/// standard output: a terminal, or a program that writes to one.
struct ProgressOptions {
  std::string mode;
};
void add_progress_option(OptionTable& table, ProgressOptions* options);

/// Counts and shows them from a thread of its own. Counting is thread-safe and cheap. Lives until the work is done.
class Progress {
 public:
  /// `is_stream`: the data go to standard output.
  explicit Progress(const ProgressOptions& options, bool is_stream = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(int64_t rows, int64_t bytes) {
    rows_.fetch_add(rows, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// What percentage and ETA are computed from, in units of the caller's choice; 0: not known.
  void add_total(int64_t units) { total_ += units; }
  void add_done(int64_t units) { done_.fetch_add(units, std::memory_order_relaxed); }
  /// A line above the progress, when it was asked for by the option. Thread-safe.
  void note(const std::string& text);
  /// The last line; nothing is shown afterwards.
  void finish();
  int64_t rows() const { return rows_; }
  int64_t bytes() const { return bytes_; }

 private:
  enum class Mode { kNone, kText, kJson };
  void run();
  void show(bool last);
  std::string line(bool last) const;
  std::string json(bool last) const;
  double elapsed() const;
  void put(const std::string& text);

  Mode mode_ = Mode::kNone;
  bool asked_ = false, terminal_ = false;
  std::atomic<int64_t> rows_{0}, bytes_{0}, total_{0}, done_{0};
  double begin_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

/// `1.5 GB`, by powers of 1000.
std::string bytes_text(double bytes);
/// `1.5 M`.
std::string count_text(double count);
/// The time of day here, `2026-11-26 17:42:18`.
std::string local_time();
/// Text as a JSON string, with its quotes.
std::string json_text(const std::string& text);

}  // namespace strom::tool
