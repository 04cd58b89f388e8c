// See region_records.hpp.
#include "vcf2arrow/region_records.hpp"

#include <htslib/hts_log.h>
#include <htslib/vcf.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>

#include "format/vcf/dictionary.hpp"
#include "format/vcf/records.hpp"
#include "vcf2arrow/binary_header.hpp"
#include "vcf2arrow/region_blocks.hpp"
#include "vcf2arrow/tails.hpp"

namespace strom::vcf2arrow {

namespace {

using base::MappedFile;

/// Of a stretch's blocks.
struct Run {
  size_t stretch = 0, begin = 0, end = 0;
};

class RegionRecords final : public VariantText {
 public:
  explicit RegionRecords(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  /// False: the file has no such header.
  Result<bool> read_header();
  Status find_regions(const std::vector<std::string>& regions);
  void cut_runs(int64_t piece, int threads);

  std::string_view header() const override { return header_; }
  bool is_binary() const override { return true; }
  int64_t size() const override { return bytes_; }
  Result<bool> next(Piece& piece) override;
  void give_up() override { tails_.give_up(); }

 private:
  Result<bool> read_run(size_t number, Piece& piece);
  static void keep_region(const Region& region, Piece& piece);
  Status damaged() const {
    return {ErrorCode::kCorruptFile, "file \"" + file_->path() + "\" is damaged, or its index is that of another file"};
  }

  std::shared_ptr<const MappedFile> file_;
  std::string header_;
  std::vector<Region> regions_;
  std::vector<Stretch> stretches_;
  std::vector<Run> runs_;
  int64_t bytes_ = 0;  // of the file that are read
  std::atomic<size_t> next_{0};
  Tails tails_;
};

Result<bool> RegionRecords::read_header() {
  std::string bytes;
  const auto is_whole = [](std::string_view text) { return binary_header(text).has_value(); };
  STROM_ASSIGN(const bool is_known, read_first_blocks(*file_, vcf2arrow::is_binary, is_whole, &bytes));
  if (!is_known) return false;
  const auto found = binary_header(bytes);
  if (!found) return damaged();
  header_ = std::string(found->text);
  return true;
}

Status RegionRecords::find_regions(const std::vector<std::string>& regions) {
  hts_set_log_level(HTS_LOG_OFF);  // errors are told once, by us
  const std::string name = "file \"" + file_->path() + "\"";
  STROM_ASSIGN(const format::vcf::Dictionary dictionary, format::vcf::parse_dictionary(header_));
  const std::unique_ptr<hts_idx_t, decltype(&hts_idx_destroy)> index(bcf_index_load(file_->path().c_str()),
                                                                     hts_idx_destroy);
  if (index == nullptr) return no_index(name, true);
  STROM_ASSIGN(regions_, parse_regions(regions, dictionary.chromosomes, name));
  for (size_t i = 0; i < regions_.size(); ++i) {
    const std::unique_ptr<hts_itr_t, decltype(&hts_itr_destroy)> found(
        hts_itr_query(index.get(), regions_[i].chromosome, regions_[i].begin, regions_[i].end, nullptr),
        hts_itr_destroy);
    if (found == nullptr) return damaged();
    STROM_TRY(add_stretches(*file_, *found, i, &stretches_));
  }
  return Status::ok();
}

void RegionRecords::cut_runs(int64_t piece, int threads) {
  piece = piece_of(stretches_, piece, threads);
  bytes_ = bytes_of(stretches_);
  for (size_t i = 0; i < stretches_.size(); ++i) {
    const std::vector<Block>& blocks = stretches_[i].blocks;
    for (size_t k = 0; k < blocks.size(); ++k) {
      if (k == 0 || blocks[k].text_begin - blocks[runs_.back().begin].text_begin >= piece) runs_.push_back({i, k, k});
      runs_.back().end = k + 1;
    }
  }
  tails_.resize(runs_.size());
}

Result<bool> RegionRecords::next(Piece& piece) {
  const size_t number = next_.fetch_add(1);
  if (number >= runs_.size() || tails_.has_failed()) return false;
  piece.number = static_cast<int64_t>(number);
  Result<bool> done = read_run(number, piece);
  if (!done.is_ok()) give_up();
  return done;
}

/// Each record says where the next one begins, so the run before comes first.
Result<bool> RegionRecords::read_run(size_t number, Piece& piece) {
  const Run& run = runs_[number];
  const Stretch& stretch = stretches_[run.stretch];
  const std::span blocks = std::span(stretch.blocks).subspan(run.begin, run.end - run.begin);
  piece.size = blocks.back().begin + blocks.back().size - blocks.front().begin;
  STROM_TRY(inflate_all(*file_, blocks, &piece.buffer));
  std::string_view bytes(piece.buffer.data(), piece.buffer.size());
  const int64_t origin = blocks.front().text_begin;
  const bool is_first = run.begin == 0, is_last = run.end == stretch.blocks.size();
  if (is_last) bytes = bytes.substr(0, static_cast<size_t>(stretch.end - origin));
  std::string before;
  if (is_first)
    bytes.remove_prefix(static_cast<size_t>(stretch.begin));
  else if (!tails_.take(number - 1, &before))
    return false;
  join(before, bytes, piece);
  STROM_ASSIGN(const size_t end, format::vcf::whole_records(piece.text));
  if (!is_last)
    tails_.put(number, std::string(piece.text.substr(end)));
  else if (end < piece.text.size())
    return damaged();
  piece.text = piece.text.substr(0, end);
  keep_region(regions_[stretch.region], piece);
  return true;
}

/// Only the records that reach into the region. The sizes of all of them were looked at.
void RegionRecords::keep_region(const Region& region, Piece& piece) {
  struct Begin {
    uint32_t shared, individual;
    int32_t chromosome, position, length;
  };
  const std::string_view text = piece.text;
  char* const kept = piece.buffer.data() + (text.data() - piece.buffer.data());
  size_t to = 0;
  for (size_t at = 0, size = 0; at < text.size(); at += size) {
    Begin begin{};
    std::memcpy(&begin, text.data() + at, std::min(sizeof begin, text.size() - at));
    size = 2 * sizeof(uint32_t) + begin.shared + begin.individual;
    const int64_t position = begin.position;
    if (begin.chromosome != region.chromosome || position >= region.end || position + begin.length <= region.begin ||
        position < region.after)
      continue;
    if (to != at) std::memmove(kept + to, text.data() + at, size);
    to += size;
  }
  piece.text = text.substr(0, to);
}

}  // namespace

Result<std::unique_ptr<VariantText>> open_record_regions(const std::shared_ptr<const MappedFile>& file,
                                                         const std::vector<std::string>& regions, int64_t piece,
                                                         int threads) {
  auto text = std::make_unique<RegionRecords>(file);
  STROM_ASSIGN(const bool is_known, text->read_header());
  if (!is_known) return std::unique_ptr<VariantText>();
  STROM_TRY(text->find_regions(regions));
  text->cut_runs(piece, threads);
  return std::unique_ptr<VariantText>(std::move(text));
}

}  // namespace strom::vcf2arrow
