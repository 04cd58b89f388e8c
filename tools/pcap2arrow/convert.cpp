// See convert.hpp.
#include "pcap2arrow/convert.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "arrow_files/time_window.hpp"
#include "arrow_files/turns.hpp"
#include "arrow_files/workers.hpp"
#include "cli/program.hpp"
#include "pcap2arrow/capture_input.hpp"
#include "pcap2arrow/flow_conversion.hpp"
#include "pcap2arrow/path_pattern.hpp"
#include "pcap2arrow/row_maker.hpp"

namespace strom::pcap2arrow {

namespace {

using columnar::ColumnBuilder;
using format::packets::kTilePackets;
using format::packets::Packet;
using format::packets::PacketColumns;

class Conversion {
 public:
  Conversion(const Settings& settings, const format::packets::ColumnChoice& choice, tool::Progress& progress)
      : settings_(settings),
        choice_(choice),
        progress_(progress),
        threads_(tool::thread_count(settings.threads)),
        input_(settings, PacketColumns(choice).row_bytes(), progress) {}

  Result<Written> run();
  /// After a failure.
  void tell_complete_files();

 private:
  class Worker;
  bool reads_a_pipe() const;

  const Settings& settings_;
  const format::packets::ColumnChoice choice_;
  tool::Progress& progress_;
  const int threads_;
  CaptureInput input_;
  TakenNames names_;
  std::vector<std::unique_ptr<CaptureOutput>> outputs_;
  tool::Turns turns_;
  std::unique_ptr<FlowConversion> flows_;
  std::atomic<bool> failed_{false};
};

/// With one output file packets stay in order: threads write in turn.
class Conversion::Worker {
 public:
  Worker(Conversion& conversion, int thread)
      : conversion_(conversion),
        output_(*conversion.outputs_[static_cast<size_t>(thread) % conversion.outputs_.size()]),
        writer_(static_cast<int64_t>(static_cast<size_t>(thread) / conversion.outputs_.size())),
        in_order_(conversion.outputs_.size() == 1),
        packets_(conversion.choice_),
        windows_(conversion.settings_.limit_seconds),
        compressor_(conversion.settings_.output.compression),
        columns_(make_columns(packets_.fields())),
        flow_packets_(conversion.choice_.protocols) {}

  Status run();

 private:
  Status convert(const Piece& piece);
  Status append(std::span<const Packet> packets);
  Status write(bool is_last);
  void end_turn(bool ok);
  Status convert_flows(const Piece& piece);

  Conversion& conversion_;
  CaptureOutput& output_;
  const int64_t writer_;
  const bool in_order_;
  PacketColumns packets_;
  tool::TimeWindows windows_;
  format::arrow::Compressor compressor_;
  std::vector<ColumnBuilder> columns_;
  BatchFacts facts_;
  format::packets::FlowPackets flow_packets_;
  std::vector<format::packets::FlowPacket> found_;
  int64_t piece_ = 0;
  bool has_turn_ = false, is_done_ = false;
};

void Conversion::Worker::end_turn(bool ok) {
  if (!is_done_) conversion_.turns_.done(ok);
  is_done_ = true;
}

/// What has been appended; nothing when another thread has failed. The last batch of a piece ends the turn as soon as
/// it has its place in the file.
Status Conversion::Worker::write(bool is_last) {
  STROM_ASSIGN(const auto batch, format::arrow::encode_batch(columns_, facts_.rows, compressor_));
  facts_.bounds = output_.bounds_of(columns_);
  if (in_order_ && !has_turn_ && !conversion_.turns_.wait(piece_)) return Status::ok();
  has_turn_ = true;
  const int64_t rows = facts_.rows, window = facts_.window;
  STROM_TRY(output_.write(batch, std::exchange(facts_, {}), [&] {
    if (is_last) end_turn(true);
  }));
  conversion_.progress_.add(rows, batch.bytes());
  for (ColumnBuilder& column : columns_) column.clear();
  return output_.begin_window(writer_, window);
}

/// A record batch has packets of one file.
Status Conversion::Worker::append(std::span<const Packet> packets) {
  while (!packets.empty()) {
    const int64_t window = windows_.number_of(packets[0].time);
    if (facts_.rows > 0 && window != facts_.window) STROM_TRY(write(false));
    size_t count = 1;
    while (count < packets.size() && packets[count].time >= windows_.begin() && packets[count].time < windows_.end())
      ++count;
    if (facts_.rows == 0) facts_.first_time = packets[0].time;
    facts_.window = window;
    facts_.rows += static_cast<int64_t>(count);
    STROM_TRY(packets_.append(packets.first(count), columns_, facts_.counts));
    packets = packets.subspan(count);
  }
  return Status::ok();
}

Status Conversion::Worker::convert(const Piece& piece) {
  Packet tile[kTilePackets];
  const size_t count = piece.run.offsets.size();
  for (size_t first = 0; first < count; first += kTilePackets) {
    const size_t step = std::min<size_t>(kTilePackets, count - first);
    piece.run.read(first, step, tile);
    STROM_TRY(append({tile, step}));
  }
  return write(true);
}

/// The headers are found by all threads; the table is one.
Status Conversion::Worker::convert_flows(const Piece& piece) {
  Packet tile[kTilePackets];
  format::packets::PacketCounts counts;
  found_.clear();
  const size_t count = piece.run.offsets.size();
  for (size_t first = 0; first < count; first += kTilePackets) {
    const size_t step = std::min<size_t>(kTilePackets, count - first);
    piece.run.read(first, step, tile);
    flow_packets_.append({tile, step}, found_, counts);
  }
  return conversion_.turns_.wait(piece_) ? conversion_.flows_->add(found_, counts) : Status::ok();
}

Status Conversion::Worker::run() {
  Piece piece;
  while (!conversion_.failed_) {
    STROM_ASSIGN(const bool more, conversion_.input_.next(piece));
    if (!more) break;
    piece_ = piece.number;
    has_turn_ = is_done_ = false;
    const Status status = conversion_.flows_ == nullptr ? convert(piece) : convert_flows(piece);
    end_turn(status.is_ok());
    STROM_TRY(status);
  }
  return output_.begin_window(writer_, INT64_MAX);
}

bool Conversion::reads_a_pipe() const {
  struct stat found;
  return std::any_of(settings_.files.begin(), settings_.files.end(), [&](const std::string& path) {
    return (path == "-" ? fstat(STDIN_FILENO, &found) : stat(path.c_str(), &found)) == 0 && !S_ISREG(found.st_mode);
  });
}

Result<Written> Conversion::run() {
  const auto fields = row_fields(settings_, choice_);
  const bool by_queue = has_queue(settings_.output.path) && !settings_.flows;
  const int64_t count = by_queue ? threads_ : std::min<int64_t>(threads_, settings_.parallel_write);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t writers = threads_ / count + (i < threads_ % count ? 1 : 0);
    outputs_.push_back(
        std::make_unique<CaptureOutput>(settings_, fields, OutputShare{input_.name(), i, writers}, names_));
    STROM_TRY(outputs_.back()->open());
  }
  // What is read as it comes ends at a signal with all that came. Of files only what is complete already stays.
  std::optional<tool::StopAtSignal> at_signal;
  if (settings_.follow || reads_a_pipe()) at_signal.emplace([this] { input_.stop(); });
  if (settings_.flows) flows_ = std::make_unique<FlowConversion>(settings_, *outputs_[0], progress_);
  STROM_TRY(tool::run_pieces(threads_, threads_, [&](int64_t, int thread) {
    const Status status = Worker(*this, thread).run();
    if (!status.is_ok()) {
      failed_ = true;
      turns_.done(false);
    }
    return status;
  }));
  if (flows_ != nullptr) STROM_TRY(flows_->finish());
  if (input_.dropped() > 0) outputs_[0]->add_dropped(input_.dropped());
  if (input_.incomplete() > 0) outputs_[0]->set_metadata("pcap.incomplete_files", std::to_string(input_.incomplete()));
  Written written;
  for (const auto& output : outputs_) {
    STROM_TRY(output->finish());
    written.add(output->written());
  }
  return written;
}

void Conversion::tell_complete_files() {
  if (settings_.output.is_stream()) return;
  int64_t count = 0;
  for (const auto& output : outputs_) count += output->complete_files();
  if (count == 0) return;
  tool::report_warning("pcap2arrow", count == 1
                                         ? "1 file was complete before the error, and remains"
                                         : std::to_string(count) + " files were complete before the error, and remain");
}

}  // namespace

Result<format::packets::ColumnChoice> column_choice(const Settings& settings) {
  STROM_ASSIGN(auto choice, format::packets::parse_columns(settings.protocols));
  choice.composite_options = settings.composite_options;
  choice.payload = !settings.no_payload;
  choice.interface_id = settings.interface_id;
  choice.nanoseconds = settings.nanoseconds;
  return choice;
}

Result<Written> convert(const Settings& settings, tool::Progress& progress) {
  STROM_ASSIGN(const auto choice, column_choice(settings));
  Conversion conversion(settings, choice, progress);
  auto written = conversion.run();
  if (!written.is_ok()) conversion.tell_complete_files();
  return written;
}

}  // namespace strom::pcap2arrow
