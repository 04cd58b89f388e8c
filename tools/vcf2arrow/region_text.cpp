// See region_text.hpp.
#include "vcf2arrow/region_text.hpp"

#include <htslib/hts_log.h>
#include <htslib/tbx.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>

#include "format/vcf/dictionary.hpp"
#include "format/vcf/header.hpp"
#include "format/vcf/variant_end.hpp"
#include "vcf2arrow/binary_header.hpp"
#include "vcf2arrow/gzip_blocks.hpp"
#include "vcf2arrow/region_blocks.hpp"

namespace strom::vcf2arrow {

namespace {

using base::MappedFile;

constexpr size_t kBlockText = 65536;  // of a block at most

/// Lines of a stretch whose first byte lies in [begin, end); the stretch's first line begins with it.
struct Part {
  size_t stretch = 0;
  int64_t begin = 0, end = 0;
};

/// The first `count` fields of a line; fewer where it has fewer.
size_t first_fields(std::string_view line, std::string_view* fields, size_t count) {
  size_t found = 0;
  for (size_t at = 0; found < count && at <= line.size();) {
    const size_t tab = std::min(line.find('\t', at), line.size());
    fields[found++] = line.substr(at, tab - at);
    at = tab + 1;
  }
  return found;
}

/// Where a variant ends, by its first fields.
int64_t end_of(const std::string_view* fields, size_t count, int64_t begin) {
  constexpr size_t kRef = 3, kInfo = 7;
  if (count <= kRef) return begin + 1;
  const int64_t told = count <= kInfo ? 0 : format::vcf::end_in_info(fields[kInfo]);
  return format::vcf::last_position(begin + 1, fields[kRef].size(), told);
}

/// kReaches: it begins before the region and ends in it. kBehind: nothing of the region follows in a stretch.
enum class LinePosition { kOutside, kReaches, kInside, kBehind };

/// A line that cannot be read counts as inside, so that its error is told.
LinePosition position_of(std::string_view line, std::string_view chromosome, const Region& region) {
  constexpr size_t kFields = 8;
  std::string_view fields[kFields];
  const size_t count = first_fields(line, fields, 2);
  int64_t position = 0;
  if (count < 2 || std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), position).ec != std::errc())
    return LinePosition::kInside;
  const int64_t begin = position - 1;
  if (fields[0] != chromosome) return LinePosition::kOutside;
  if (begin >= region.end) return LinePosition::kBehind;
  if (begin >= region.begin) return LinePosition::kInside;
  if (begin < region.after) return LinePosition::kOutside;
  const int64_t end = end_of(fields, first_fields(line, fields, kFields), begin);
  return end > region.begin ? LinePosition::kReaches : LinePosition::kOutside;
}

class RegionText final : public VariantText {
 public:
  explicit RegionText(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  /// False: the file has no such header.
  Result<bool> read_header();
  Status find_regions(const std::vector<std::string>& regions);
  void cut_parts(int64_t piece, int threads);

  std::string_view header() const override { return header_; }
  int64_t size() const override { return bytes_; }
  Result<bool> next(Piece& piece) override;

 private:
  Status inflate_part(const Part& part, Piece& piece) const;
  void keep_region(const Region& region, Piece& piece) const;

  std::shared_ptr<const MappedFile> file_;
  std::string header_;
  std::vector<std::string> chromosomes_;
  std::vector<Region> regions_;
  std::vector<Stretch> stretches_;
  std::vector<Part> parts_;
  int64_t bytes_ = 0;  // of the file that are read
  std::atomic<size_t> next_{0};
};

Result<bool> RegionText::read_header() {
  const auto fits = [](std::string_view text) { return !vcf2arrow::is_binary(text) && text.starts_with("##"); };
  STROM_ASSIGN(const bool is_known, read_first_blocks(*file_, fits, format::vcf::has_whole_header, &header_));
  return is_known && format::vcf::has_whole_header(header_);
}

Status RegionText::find_regions(const std::vector<std::string>& regions) {
  hts_set_log_level(HTS_LOG_OFF);  // errors are told once, by us
  const std::string name = "file \"" + file_->path() + "\"";
  const std::unique_ptr<tbx_t, decltype(&tbx_destroy)> index(tbx_index_load(file_->path().c_str()), tbx_destroy);
  if (index == nullptr) return no_index(name, false);
  int count = 0;
  const std::unique_ptr<const char*, decltype(&free)> names(tbx_seqnames(index.get(), &count), free);
  chromosomes_.assign(names.get(), names.get() + count);
  // The index has only chromosomes of variants. What else the header has is there, without variants.
  if (const auto dictionary = format::vcf::parse_dictionary(header_); dictionary.is_ok())
    chromosomes_.insert(chromosomes_.end(), dictionary.value().chromosomes.begin(),
                        dictionary.value().chromosomes.end());
  STROM_ASSIGN(regions_, parse_regions(regions, chromosomes_, name));
  for (size_t i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    if (region.chromosome >= count) continue;
    const std::unique_ptr<hts_itr_t, decltype(&hts_itr_destroy)> found(
        tbx_itr_queryi(index.get(), region.chromosome, region.begin, region.end), hts_itr_destroy);
    if (found == nullptr) return Status(ErrorCode::kCorruptFile, "the index of " + name + " is damaged");
    STROM_TRY(add_stretches(*file_, *found, i, &stretches_));
  }
  return Status::ok();
}

void RegionText::cut_parts(int64_t piece, int threads) {
  piece = piece_of(stretches_, piece, threads);
  bytes_ = bytes_of(stretches_);
  for (size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    for (int64_t at = stretch.begin; at < stretch.end; at += piece)
      parts_.push_back({i, at, std::min(at + piece, stretch.end)});
  }
}

/// A line begins behind a line end. So the part's text is what is between the first line end at the byte in front of
/// it or later, and the first one at its last byte or later, which may be in a later block.
Status RegionText::inflate_part(const Part& part, Piece& piece) const {
  const Stretch& stretch = stretches_[part.stretch];
  const bool is_first = part.begin == stretch.begin, is_last = part.end == stretch.end;
  const int64_t from = is_first ? part.begin : part.begin - 1;
  const std::vector<Block>& blocks = stretch.blocks;
  const auto is_before = [](int64_t at, const Block& block) { return at < block.text_begin; };
  const auto first = std::upper_bound(blocks.begin(), blocks.end(), from, is_before) - 1;
  const int64_t origin = first->text_begin;
  Inflater inflater;
  piece.buffer.clear();
  piece.buffer.reserve(static_cast<size_t>(part.end - origin) + 2 * kBlockText);
  std::string_view text;
  size_t end = std::string_view::npos;
  auto block = first;
  for (; block != blocks.end() && end == std::string_view::npos; ++block) {
    const size_t before = piece.buffer.size();
    piece.buffer.resize(before + block->text_size);
    STROM_TRY(inflater.inflate(*file_, *block, piece.buffer.data() + before));
    text = {piece.buffer.data(), std::min(piece.buffer.size(), static_cast<size_t>(stretch.end - origin))};
    if (!is_last && block->text_begin + block->text_size >= part.end)
      end = text.find('\n', static_cast<size_t>(part.end - 1 - origin));
  }
  piece.size = (block - 1)->begin + (block - 1)->size - first->begin;
  if (end != std::string_view::npos) text = text.substr(0, end + 1);
  auto begin = static_cast<size_t>(from - origin);
  if (!is_first) begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  piece.text = text.substr(begin);
  return Status::ok();
}

/// Only the lines that lie in the region. Lines are in order: when one begins inside and the last one does, all between
/// them do.
void RegionText::keep_region(const Region& region, Piece& piece) const {
  const std::string_view text = piece.text;
  if (text.empty()) return;
  const std::string_view chromosome = chromosomes_[static_cast<size_t>(region.chromosome)];
  const auto line_at = [&](size_t at) { return text.substr(at, text.find('\n', at) - at); };
  const size_t last = text.rfind('\n', text.size() - (text.ends_with('\n') ? 2 : 1)) + 1;
  const bool ends_inside = position_of(line_at(last), chromosome, region) == LinePosition::kInside;
  char* const kept = piece.buffer.data() + (text.data() - piece.buffer.data());
  size_t to = 0;
  for (size_t at = 0, size = 0; at < text.size(); at += size) {
    const std::string_view line = line_at(at);
    const LinePosition position = position_of(line, chromosome, region);
    if (position == LinePosition::kBehind) break;
    size = std::min(line.size() + 1, text.size() - at);
    if (position == LinePosition::kOutside) continue;
    if (position == LinePosition::kInside && ends_inside) size = text.size() - at;
    std::copy_n(text.data() + at, size, kept + to);
    to += size;
  }
  piece.text = text.substr(0, to);
}

Result<bool> RegionText::next(Piece& piece) {
  const size_t number = next_.fetch_add(1);
  if (number >= parts_.size()) return false;
  piece.number = static_cast<int64_t>(number);
  STROM_TRY(inflate_part(parts_[number], piece));
  keep_region(regions_[stretches_[parts_[number].stretch].region], piece);
  return true;
}

}  // namespace

Result<std::unique_ptr<VariantText>> open_regions(const std::shared_ptr<const MappedFile>& file,
                                                  const std::vector<std::string>& regions, int64_t piece, int threads) {
  auto text = std::make_unique<RegionText>(file);
  STROM_ASSIGN(const bool is_known, text->read_header());
  if (!is_known) return std::unique_ptr<VariantText>();
  STROM_TRY(text->find_regions(regions));
  text->cut_parts(piece, threads);
  return std::unique_ptr<VariantText>(std::move(text));
}

}  // namespace strom::vcf2arrow
