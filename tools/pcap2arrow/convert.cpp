// See convert.hpp.
#include "pcap2arrow/convert.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "arrow_files/turns.hpp"
#include "arrow_files/workers.hpp"
#include "pcap2arrow/capture_input.hpp"
#include "pcap2arrow/path_pattern.hpp"

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

 private:
  Status work(int thread);
  Status take(const Piece& piece, PacketColumns& packets, std::vector<ColumnBuilder>& columns, BatchFacts& facts);

  const Settings& settings_;
  const format::packets::ColumnChoice choice_;
  tool::Progress& progress_;
  const int threads_;
  CaptureInput input_;
  std::vector<std::unique_ptr<CaptureOutput>> outputs_;
  tool::Turns turns_;
  std::atomic<bool> failed_{false};
};

Status Conversion::take(const Piece& piece, PacketColumns& packets, std::vector<ColumnBuilder>& columns,
                        BatchFacts& facts) {
  Packet tile[kTilePackets];
  const size_t count = piece.run.offsets.size();
  for (size_t first = 0; first < count; first += kTilePackets) {
    const size_t step = std::min<size_t>(kTilePackets, count - first);
    piece.run.read(first, step, tile);
    if (first == 0) facts.first_time = tile[0].time;
    STROM_TRY(packets.append({tile, step}, columns, facts.counts));
  }
  facts.rows = static_cast<int64_t>(count);
  return Status::ok();
}

/// With one output file packets stay in order: threads write in turn.
Status Conversion::work(int thread) {
  PacketColumns packets(choice_);
  std::vector<ColumnBuilder> columns;
  columns.reserve(packets.fields().size());
  for (const auto& field : packets.fields()) columns.emplace_back(field);
  format::arrow::Compressor compressor(settings_.output.compression);
  CaptureOutput& output = *outputs_[static_cast<size_t>(thread) % outputs_.size()];
  const bool in_order = outputs_.size() == 1;
  Piece piece;
  while (!failed_) {
    STROM_ASSIGN(const bool more, input_.next(piece));
    if (!more) break;
    const auto convert_piece = [&]() -> Status {
      for (ColumnBuilder& column : columns) column.clear();
      BatchFacts facts;
      STROM_TRY(take(piece, packets, columns, facts));
      STROM_ASSIGN(const auto batch, format::arrow::encode_batch(columns, facts.rows, compressor));
      facts.bounds = output.bounds_of(columns);
      if (in_order && !turns_.wait(piece.number)) return Status::ok();
      const int64_t rows = facts.rows;
      STROM_TRY(output.write(batch, std::move(facts)));
      progress_.add(rows, batch.bytes());
      return Status::ok();
    };
    const Status status = convert_piece();
    turns_.done(status.is_ok());
    STROM_TRY(status);
  }
  return Status::ok();
}

Result<Written> Conversion::run() {
  const auto fields = PacketColumns(choice_).fields();
  const bool by_queue = has_queue(settings_.output.path);
  const int64_t count = by_queue ? threads_ : std::min<int64_t>(threads_, settings_.parallel_write);
  for (int64_t i = 0; i < count; ++i) {
    outputs_.push_back(std::make_unique<CaptureOutput>(settings_, fields, input_.name(), i));
    STROM_TRY(outputs_.back()->open());
  }
  STROM_TRY(tool::run_pieces(threads_, threads_, [&](int64_t, int thread) {
    const Status status = work(thread);
    if (!status.is_ok()) {
      failed_ = true;
      turns_.done(false);
    }
    return status;
  }));
  if (input_.dropped() > 0) outputs_[0]->set_metadata("pcap.dropped", input_.dropped());
  if (input_.incomplete() > 0) outputs_[0]->set_metadata("pcap.incomplete_files", input_.incomplete());
  Written written;
  for (const auto& output : outputs_) {
    STROM_TRY(output->finish());
    written.add(output->written());
  }
  return written;
}

}  // namespace

Result<format::packets::ColumnChoice> column_choice(const Settings& settings) {
  format::packets::ColumnChoice choice;
  STROM_ASSIGN(choice.protocols, format::packets::parse_protocols(settings.protocols));
  choice.payload = !settings.no_payload;
  choice.interface_id = settings.interface_id;
  choice.nanoseconds = settings.nanoseconds;
  return choice;
}

Result<Written> convert(const Settings& settings, tool::Progress& progress) {
  STROM_ASSIGN(const auto choice, column_choice(settings));
  return Conversion(settings, choice, progress).run();
}

}  // namespace strom::pcap2arrow
