// See live.hpp.
#include "pcap2arrow/live.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include "arrow_files/time_window.hpp"
#include "arrow_files/workers.hpp"
#include "cli/program.hpp"
#include "format/packets/packet_columns.hpp"
#include "pcap2arrow/batch_writer.hpp"
#include "pcap2arrow/convert.hpp"
#include "pcap2arrow/path_pattern.hpp"
#include "pcap2arrow/privileges.hpp"
#include "pcap2arrow/ring_source.hpp"
#include "pcap2arrow/row_maker.hpp"
#include "pcap2arrow/xdp_source.hpp"

namespace strom::pcap2arrow {

namespace {

using format::packets::Packet;
using Clock = std::chrono::steady_clock;

constexpr int64_t kNano = 1000000000;
constexpr int kWaitMilliseconds = 100;
/// Packets that arrived before the end are in the ring by then.
constexpr auto kLastWait = std::chrono::milliseconds(60);
/// A source that gives nothing for so long has no more.
constexpr auto kLongestWait = std::chrono::seconds(2);

int64_t wall_time() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return int64_t{time.tv_sec} * kNano + time.tv_nsec;
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, "+")); }

class LiveCapture {
 public:
  LiveCapture(const Settings& settings, const format::packets::ColumnChoice& choice, Sources sources,
              tool::Progress& progress)
      : settings_(settings), choice_(choice), sources_(std::move(sources)), progress_(progress) {}

  Result<Captured> run();

 private:
  struct Counters {
    std::atomic<int64_t> packets{0}, bytes{0}, dropped{0};
  };
  class Worker;
  Status open_outputs();
  void stop();
  void fail(Status status);
  void watch();
  void show_statistics();
  int64_t share_of_count(int64_t packets);
  int64_t window_after(int64_t last, int64_t number);

  const Settings& settings_;
  const format::packets::ColumnChoice choice_;
  const Sources sources_;
  tool::Progress& progress_;
  TakenNames names_;
  std::vector<std::unique_ptr<CaptureOutput>> outputs_;
  Counters counters_;
  std::atomic<int64_t> taken_{0};  // of settings.count
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> shift_{0};  // of windows' numbers, see window_after()

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t running_ = 0;
  Status failure_;
};

/// One thread of the capture.
class LiveCapture::Worker {
 public:
  Worker(LiveCapture& capture, size_t index)
      : capture_(capture),
        source_(*capture.sources_[index]),
        output_(*capture.outputs_[index % capture.outputs_.size()]),
        rows_(RowMaker::create(capture.settings_, capture.choice_)),
        windows_(capture.settings_.limit_seconds),
        writer_(capture.settings_, output_, static_cast<int64_t>(index / capture.outputs_.size()), rows_->fields(),
                capture.progress_, [&capture] { capture.stop(); }) {}

  Status run();

 private:
  Status take(std::span<const Packet> packets);
  Status append(std::span<const Packet> packets);
  void hand_over(int64_t next_window);
  void take_rows();
  void look_at_clock();
  void look_at_losses();
  bool is_over(bool has_packets);

  LiveCapture& capture_;
  PacketSource& source_;
  CaptureOutput& output_;
  std::unique_ptr<RowMaker> rows_;
  tool::TimeWindows windows_;
  BatchWriter writer_;
  std::unique_ptr<Batch> batch_;
  int64_t window_ = INT64_MIN;
  Clock::time_point looked_ = Clock::now(), stopped_{}, last_packets_{};
  bool is_marked_ = false;  // the source's end
};

/// Rows that were appended without packets.
void LiveCapture::Worker::take_rows() {
  const int64_t rows = batch_->columns[0].length();
  if (batch_->facts.rows == 0 && rows > 0) {
    batch_->facts.first_time = wall_time();
    batch_->facts.window = window_;
  }
  batch_->facts.rows = rows;
}

void LiveCapture::Worker::hand_over(int64_t next_window) {
  batch_->next_window = next_window;
  writer_.give(std::move(batch_));
  batch_ = writer_.take();
}

/// Packets of one window.
Status LiveCapture::Worker::append(std::span<const Packet> packets) {
  const Settings& settings = capture_.settings_;
  while (!packets.empty()) {
    size_t step = std::min<size_t>(packets.size(), 16 * format::packets::kTilePackets);
    if (settings.limit_packets > 0)
      step = std::min(step, static_cast<size_t>(settings.limit_packets - batch_->facts.rows));
    if (batch_->facts.rows == 0) {
      batch_->facts.first_time = packets[0].time;
      batch_->facts.window = window_;
    }
    STROM_TRY(rows_->append(packets.first(step), batch_->columns, batch_->facts.counts));
    batch_->facts.rows = batch_->columns[0].length();
    packets = packets.subspan(step);
    if (batch_->facts.rows == settings.limit_packets || batch_->memory() >= settings.chunk_size) hand_over(window_);
  }
  return Status::ok();
}

Status LiveCapture::Worker::take(std::span<const Packet> packets) {
  packets = packets.first(static_cast<size_t>(capture_.share_of_count(static_cast<int64_t>(packets.size()))));
  int64_t bytes = 0;
  for (const Packet& packet : packets) bytes += packet.length;
  capture_.counters_.packets += static_cast<int64_t>(packets.size());
  capture_.counters_.bytes += bytes;
  while (!packets.empty()) {
    const int64_t window = capture_.window_after(window_, windows_.number_of(packets[0].time));
    if (window != window_) {
      if (batch_->facts.rows > 0 || window_ != INT64_MIN) hand_over(window);
      window_ = window;
    }
    size_t count = 1;
    while (count < packets.size() && packets[count].time >= windows_.begin() && packets[count].time < windows_.end())
      ++count;
    STROM_TRY(append(packets.first(count)));
    packets = packets.subspan(count);
  }
  return Status::ok();
}

/// Without packets the time of a flow, and of a file a second later, is over, too.
void LiveCapture::Worker::look_at_clock() {
  rows_->append_ended(wall_time(), batch_->columns);
  take_rows();
  if (capture_.settings_.limit_seconds == 0) return;
  const int64_t window = windows_.number_of(wall_time() - kNano) + capture_.shift_;
  if (window <= window_) return;
  window_ = window;
  hand_over(window);
}

void LiveCapture::Worker::look_at_losses() {
  const auto now = Clock::now();
  if (now - looked_ < std::chrono::seconds(1)) return;
  looked_ = now;
  const SourceCounts counts = source_.counts();
  if (counts.dropped == 0) return;
  capture_.counters_.dropped += counts.dropped;
  output_.add_dropped(counts.dropped);
  tool::report_warning("pcap2arrow", fmt::format("the kernel dropped {} packets of {}", counts.dropped,
                                                 joined(capture_.settings_.interfaces)));
}

/// After the end was asked for, what has arrived before is taken, but not what goes on arriving.
bool LiveCapture::Worker::is_over(bool has_packets) {
  if (!capture_.stop_) return false;
  const auto now = Clock::now();
  if (stopped_ == Clock::time_point{}) stopped_ = last_packets_ = now;
  if (has_packets) last_packets_ = now;
  if (now - stopped_ <= kLastWait) return false;
  if (!is_marked_) source_.mark_end();
  is_marked_ = true;
  return source_.is_at_end() || now - last_packets_ > kLongestWait;
}

Status LiveCapture::Worker::run() {
  batch_ = writer_.take();
  Status failure = Status::ok();
  for (;;) {
    const auto packets = source_.next(capture_.stop_ ? 10 : kWaitMilliseconds);
    if (!packets.is_ok()) {
      failure = packets.status();
      break;
    }
    const bool has_packets = !packets.value().empty();
    if (has_packets) failure = take(packets.value());
    source_.release();
    if (!failure.is_ok()) break;
    if (!has_packets) look_at_clock();
    look_at_losses();
    if (is_over(has_packets)) break;
  }
  looked_ = {};
  look_at_losses();
  rows_->finish(batch_->columns);
  take_rows();
  writer_.give(std::move(batch_));
  Status status = writer_.finish();
  return status.is_ok() ? failure : status;
}

/// How many of `packets` belong to the capture.
int64_t LiveCapture::share_of_count(int64_t packets) {
  if (settings_.count == 0) return packets;
  const int64_t before = taken_.fetch_add(packets);
  if (before + packets >= settings_.count) stop();
  return std::clamp<int64_t>(settings_.count - before, 0, packets);
}

void LiveCapture::stop() {
  stop_ = true;
  for (const auto& source : sources_) source->wake();
  changed_.notify_all();
}

void LiveCapture::fail(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (failure_.is_ok()) failure_ = std::move(status);
  }
  stop();
}

void LiveCapture::show_statistics() {
  const auto now = fmt::localtime(std::time(nullptr));
  fmt::print(stderr, "{:%Y-%m-%d %H:%M:%S} {}: {} packets, {} bytes, {} dropped, {} written\n", now,
             joined(settings_.interfaces), counters_.packets.load(), counters_.bytes.load(), counters_.dropped.load(),
             progress_.rows());
}

/// Until all threads have ended: --stat and --duration.
void LiveCapture::watch() {
  const auto begin = Clock::now();
  auto shown = begin;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(kWaitMilliseconds), [&] { return running_ == 0; })) {
    const auto now = Clock::now();
    if (settings_.duration > 0 && now - begin >= std::chrono::seconds(settings_.duration) && !stop_) {
      lock.unlock();
      stop();
      lock.lock();
    }
    if (settings_.stat_interval > 0 && now - shown >= std::chrono::seconds(settings_.stat_interval)) {
      shown += std::chrono::seconds(settings_.stat_interval);
      show_statistics();
    }
  }
}

Status LiveCapture::open_outputs() {
  const auto fields = row_fields(settings_, choice_);
  const auto threads = static_cast<int64_t>(sources_.size());
  const bool by_queue = has_queue(settings_.output.path);
  const int64_t count = by_queue ? threads : std::min(threads, settings_.parallel_write);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t writers = threads / count + (i < threads % count ? 1 : 0);
    outputs_.push_back(std::make_unique<CaptureOutput>(settings_, fields,
                                                       OutputShare{joined(settings_.interfaces), i, writers}, names_));
    STROM_TRY(outputs_.back()->open());
    outputs_.back()->set_metadata("pcap.interface", joined(settings_.interfaces));
    if (!settings_.filter.empty()) outputs_.back()->set_metadata("pcap.filter", settings_.filter);
  }
  return Status::ok();
}

/// The window of a packet, by its number in time and the last window of its thread. Windows only go up, since files
/// that are complete are not opened again. A packet that is a little late belongs to the window that is open. When the
/// clock was set back by more, the numbers of all threads go up by so much that further files are begun.
int64_t LiveCapture::window_after(int64_t last, int64_t number) {
  int64_t window = number + shift_;
  if (last == INT64_MIN || window >= last - 1) return std::max(last, window);
  const std::lock_guard lock(mutex_);
  window = number + shift_;  // another thread may have seen it first
  if (window >= last - 1) return std::max(last, window);
  shift_ = last + 1 - number;
  return last + 1;
}

Result<Captured> LiveCapture::run() {
  STROM_TRY(open_outputs());
  const tool::StopAtSignal at_signal([this] { stop(); });
  std::vector<std::thread> threads;
  threads.reserve(sources_.size());
  running_ = sources_.size();
  for (size_t i = 0; i < sources_.size(); ++i) {
    threads.emplace_back([this, i] {
      Status status = Worker(*this, i).run();
      if (!status.is_ok()) fail(std::move(status));
      {
        std::lock_guard lock(mutex_);
        --running_;
      }
      changed_.notify_all();
    });
  }
  watch();
  for (std::thread& thread : threads) thread.join();
  if (settings_.stat_interval > 0) show_statistics();
  Captured captured;
  captured.failure = failure_;
  for (const auto& output : outputs_) {
    Status status = output->finish();
    if (captured.failure.is_ok()) captured.failure = std::move(status);
    captured.written.add(output->written());
  }
  captured.received = counters_.packets;
  captured.dropped = counters_.dropped;
  return captured;
}

}  // namespace

Result<Captured> capture_from(const Settings& settings, Sources sources, tool::Progress& progress) {
  STROM_ASSIGN(const auto choice, column_choice(settings));
  return LiveCapture(settings, choice, std::move(sources), progress).run();
}

Result<Sources> open_sources(const Settings& settings) {
  const int threads = static_cast<int>(std::max<int64_t>(1, settings.threads));
  Sources sources;
  for (const std::string& interface : settings.interfaces) {
    auto opened = settings.xdp.empty() ? open_rings(settings, interface, threads)
                                       : open_xdp(settings, interface, static_cast<int>(settings.threads));
    STROM_ASSIGN(auto found, std::move(opened));
    for (auto& source : found) sources.push_back(std::move(source));
  }
  STROM_TRY(drop_privileges(settings.user));
  return sources;
}

}  // namespace strom::pcap2arrow
