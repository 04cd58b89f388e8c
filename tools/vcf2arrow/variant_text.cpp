// See variant_text.hpp.
#include "vcf2arrow/variant_text.hpp"

#include <algorithm>
#include <atomic>

#include "base/mapped_file.hpp"
#include "format/vcf/header.hpp"
#include "vcf2arrow/block_text.hpp"
#include "vcf2arrow/library_text.hpp"
#include "vcf2arrow/region_blocks.hpp"
#include "vcf2arrow/region_records.hpp"
#include "vcf2arrow/region_text.hpp"

namespace strom::vcf2arrow {

namespace {

using base::MappedFile;

/// A file of plain text.
class PlainText final : public VariantText {
 public:
  PlainText(std::shared_ptr<const MappedFile> file, int64_t begin, int64_t piece)
      : file_(std::move(file)), begin_(begin), piece_(piece) {}

  std::string_view header() const override { return all(); }
  int64_t size() const override { return file_->size(); }

  Result<bool> next(Piece& piece) override {
    piece.number = next_.fetch_add(1);
    const int64_t from = begin_ + piece.number * piece_;
    if (from >= file_->size()) return false;
    const int64_t begin = line_from(from), end = line_from(std::min(from + piece_, file_->size()));
    piece.text = all().substr(static_cast<size_t>(begin), static_cast<size_t>(std::max<int64_t>(end - begin, 0)));
    piece.size = std::min(piece_, file_->size() - from);
    STROM_TRY(file_->check_unchanged());
    return true;
  }

 private:
  std::string_view all() const {
    return {reinterpret_cast<const char*>(file_->data()), static_cast<size_t>(file_->size())};
  }
  /// The first line that begins at a position or behind it.
  int64_t line_from(int64_t at) const {
    if (at <= begin_ || at >= file_->size()) return std::min(at, file_->size());
    const size_t end = all().find('\n', static_cast<size_t>(at - 1));
    return end == std::string_view::npos ? file_->size() : static_cast<int64_t>(end) + 1;
  }

  std::shared_ptr<const MappedFile> file_;
  const int64_t begin_, piece_;
  std::atomic<int64_t> next_{0};
};

bool is_text(const MappedFile& file) { return file.size() > 1 && file.data()[0] == '#' && file.data()[1] == '#'; }

/// What only htslib reads has no index.
Result<std::unique_ptr<VariantText>> open_piped(const std::string& path, const std::vector<std::string>& regions,
                                                int64_t piece, int threads) {
  auto text = open_by_library(path, piece, threads);
  if (!text.is_ok() || regions.empty()) return text;
  return no_index(path == "-" ? "standard input" : "file \"" + path + "\"", text.value()->is_binary());
}

}  // namespace

int64_t even_piece(int64_t total, int64_t most, int threads) {
  const int64_t rounds = std::max<int64_t>((total + most * threads - 1) / (most * threads), 1);
  constexpr int64_t kLeast = 1 << 20;
  return std::clamp((total + rounds * threads - 1) / (rounds * threads), std::min(kLeast, most), most);
}

Result<std::unique_ptr<VariantText>> VariantText::open(const std::string& path, const std::vector<std::string>& regions,
                                                       int64_t piece, int threads) {
  if (path == "-") return open_piped(path, regions, piece, threads);
  Result<std::shared_ptr<const MappedFile>> mapped = MappedFile::open(path);
  // Pipes and the like cannot be mapped.
  if (!mapped.is_ok() && mapped.status().code() == ErrorCode::kIoError)
    return open_piped(path, regions, piece, threads);
  STROM_ASSIGN(const auto file, std::move(mapped));
  if (!regions.empty()) {
    STROM_ASSIGN(auto text, open_regions(file, regions, piece, threads));
    if (text == nullptr) {
      STROM_ASSIGN(text, open_record_regions(file, regions, piece, threads));
    }
    return text != nullptr ? std::move(text) : open_piped(path, regions, piece, threads);
  }
  if (is_text(*file)) {
    const std::string_view text(reinterpret_cast<const char*>(file->data()), static_cast<size_t>(file->size()));
    size_t begin = 0;
    STROM_TRY(format::vcf::parse_header(text, &begin).status());
    const int64_t size = file->size() - static_cast<int64_t>(begin);
    return std::unique_ptr<VariantText>(
        new PlainText(file, static_cast<int64_t>(begin), even_piece(size, piece, threads)));
  }
  STROM_ASSIGN(auto blocks, open_blocks(file, piece, threads));
  if (blocks != nullptr) return blocks;
  return open_by_library(path, piece, threads);
}

}  // namespace strom::vcf2arrow
