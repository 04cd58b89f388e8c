// See capture_input.hpp.
#include "pcap2arrow/capture_input.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "cli/program.hpp"

namespace strom::pcap2arrow {

namespace {

format::packets::RunLimits run_limits(const Settings& settings, int64_t row_bytes) {
  format::packets::RunLimits limits;
  limits.bytes = settings.chunk_size;
  limits.packet_cost = row_bytes;
  if (settings.limit_packets > 0) limits.packets = settings.limit_packets;
  return limits;
}

}  // namespace

CaptureInput::CaptureInput(const Settings& settings, int64_t row_bytes, tool::Progress& progress)
    : settings_(settings), limits_(run_limits(settings, row_bytes)), progress_(progress) {
  bool is_known = true;
  int64_t total = 0;
  for (const std::string& path : settings.files) {
    struct stat found;
    is_known = is_known && !settings.follow && stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
    if (is_known) total += found.st_size;
  }
  if (is_known) progress.add_total(total);
}

std::string CaptureInput::name() const {
  const std::string& path = settings_.files[0];
  if (path == "-") return "stdin";
  const std::string name = path.substr(path.rfind('/') + 1);
  const size_t dot = name.find('.', 1);
  return name.substr(0, dot);
}

Result<bool> CaptureInput::open_next() {
  if (next_file_ == settings_.files.size()) return false;
  const std::string& path = settings_.files[next_file_++];
  constexpr int64_t kMostPatience = 60000, kLeastPatience = 250, kShare = 250;  // a quarter of the time of a file
  ReadOptions options;
  options.step = settings_.chunk_size;
  options.follow = settings_.follow;
  options.stop = &stop_;
  if (settings_.limit_seconds > 0)
    options.patience = static_cast<int>(std::clamp(settings_.limit_seconds * kShare, kLeastPatience, kMostPatience));
  STROM_ASSIGN(source_, ByteSource::open(path, options));
  scanner_ = std::make_unique<format::packets::CaptureScanner>(path == "-" ? "standard input" : path);
  counted_ = 0;
  return true;
}

/// The damage is told, and what came before it is enough.
Status CaptureInput::accept_damage(const Status& damage) {
  if (!settings_.keep_damaged || damage.code() != ErrorCode::kCorruptFile || !scanner_->is_open()) return damage;
  tool::report_warning("pcap2arrow", damage.message() + ": " + damage.detail());
  ++incomplete_;
  return Status::ok();
}

/// `left`: bytes of a record that is not whole.
Status CaptureInput::end_of_file(int64_t left) {
  const std::string& path = settings_.files[next_file_ - 1];
  const std::string name = path == "-" ? "standard input" : "file \"" + path + "\"";
  STROM_TRY(source_->check());
  dropped_ += scanner_->dropped();
  if (!scanner_->is_open())
    return Status(ErrorCode::kUnsupported, "magic of \"" + path + "\" is neither PCAP nor PCAPNG")
        .with_detail("The file has " + std::to_string(left) + " bytes.");
  if (left == 0 || settings_.follow) return Status::ok();  // the rest would have come
  tool::report_warning("pcap2arrow", name + " ends in the middle of a packet, behind " +
                                         std::to_string(scanner_->packets()) + " whole ones");
  ++incomplete_;
  return Status::ok();
}

void CaptureInput::count_done() {
  progress_.add_done(source_->position() - counted_);
  counted_ = source_->position();
}

/// False: the file has no more.
Result<bool> CaptureInput::fill(Piece& piece) {
  int64_t wanted = 1;
  for (;;) {
    auto bytes = source_->bytes(piece.held, wanted);
    if (!bytes.is_ok()) {
      STROM_TRY(accept_damage(bytes.status()));
      return false;
    }
    if (static_cast<int64_t>(bytes.value().size()) < wanted) {
      STROM_TRY(end_of_file(static_cast<int64_t>(bytes.value().size())));
      return false;
    }
    const auto taken = scanner_->scan(bytes.value(), limits_, piece.run);
    if (!taken.is_ok()) {
      STROM_TRY(accept_damage(taken.status()));
      return false;
    }
    source_->take(taken.value().bytes);
    count_done();
    if (!piece.run.offsets.empty()) return true;
    wanted = std::max<int64_t>(1, taken.value().wanted);
  }
}

Result<bool> CaptureInput::next(Piece& piece) {
  std::lock_guard lock(mutex_);
  while (!is_finished_) {
    if (source_ == nullptr) {
      auto opened = open_next();
      if (!opened.is_ok() || !opened.value()) {
        is_finished_ = true;
        return opened;
      }
    }
    auto filled = fill(piece);
    if (!filled.is_ok()) {
      is_finished_ = true;
      return filled.status();
    }
    if (filled.value()) {
      piece.number = pieces_++;
      return true;
    }
    source_.reset();
  }
  return false;
}

}  // namespace strom::pcap2arrow
