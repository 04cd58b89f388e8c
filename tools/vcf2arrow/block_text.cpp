// See block_text.hpp.
#include "vcf2arrow/block_text.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include "format/vcf/header.hpp"
#include "format/vcf/records.hpp"
#include "vcf2arrow/binary_header.hpp"
#include "vcf2arrow/gzip_blocks.hpp"
#include "vcf2arrow/tails.hpp"

namespace strom::vcf2arrow {

namespace {

using base::MappedFile;

class BlockText final : public VariantText {
 public:
  explicit BlockText(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  /// False: the file has no such blocks.
  Result<bool> find_blocks();
  void cut_runs(int64_t piece, int threads);
  Status read_header();

  std::string_view header() const override { return header_; }
  bool is_binary() const override { return is_binary_; }
  int64_t size() const override { return file_->size(); }
  Result<bool> next(Piece& piece) override;
  void give_up() override { tails_.give_up(); }

 private:
  struct Run {
    size_t begin = 0, end = 0;  // blocks
  };
  Status decompress_run(const Run& run, base::LargeVector<char>* to) const;
  Status read_binary_header();
  Result<bool> next_lines(size_t number, std::string_view text, Piece& piece);
  Result<bool> next_records(size_t number, std::string_view bytes, Piece& piece);

  std::shared_ptr<const MappedFile> file_;
  std::vector<Block> blocks_;
  std::vector<Run> runs_;
  std::string header_;
  bool is_binary_ = false;
  int64_t begin_ = 0;  // of the first variant in the whole text

  std::atomic<size_t> next_{0};
  Tails tails_;
};

Result<bool> BlockText::find_blocks() {
  int64_t text = 0;
  for (int64_t at = 0; at < file_->size();) {
    if (at == 0 && !begins_block(*file_, 0)) return false;
    STROM_ASSIGN(Block block, block_at(*file_, at));
    block.text_begin = text;
    if (block.text_size > 0) blocks_.push_back(block);
    at += block.size;
    text += block.text_size;
  }
  if (!blocks_.empty()) STROM_TRY(check_last_block(*file_));
  return !blocks_.empty();
}

/// After the header was read.
void BlockText::cut_runs(int64_t piece, int threads) {
  // Records of BCF become more columns' values than as many bytes of text.
  if (is_binary_) piece = std::max<int64_t>(piece / 2, 1);
  piece = even_piece(blocks_.back().text_begin + blocks_.back().text_size - begin_, piece, threads);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (runs_.empty() || blocks_[i].text_begin - blocks_[runs_.back().begin].text_begin >= piece)
      runs_.push_back({i, i});
    runs_.back().end = i + 1;
  }
  tails_.resize(runs_.size());
}

Status BlockText::decompress_run(const Run& run, base::LargeVector<char>* to) const {
  return inflate_all(*file_, std::span(blocks_).subspan(run.begin, run.end - run.begin), to);
}

Status BlockText::read_header() {
  base::LargeVector<char> text;
  const auto has_all = [&] {
    return vcf2arrow::is_binary(header_) ? binary_header(header_).has_value() : format::vcf::has_whole_header(header_);
  };
  for (size_t i = 0; i < blocks_.size() && !has_all(); ++i) {
    STROM_TRY(decompress_run({i, i + 1}, &text));
    header_.append(text.data(), text.size());
  }
  if (vcf2arrow::is_binary(header_)) return read_binary_header();
  size_t begin = 0;
  STROM_TRY(format::vcf::parse_header(header_, &begin).status());
  begin_ = static_cast<int64_t>(begin);
  return Status::ok();
}

Status BlockText::read_binary_header() {
  is_binary_ = true;
  const auto found = binary_header(header_);
  if (!found) return {ErrorCode::kCorruptFile, "file \"" + file_->path() + "\" is damaged or cut off"};
  begin_ = static_cast<int64_t>(found->end);
  header_ = std::string(found->text);
  return Status::ok();
}

Result<bool> BlockText::next(Piece& piece) {
  const size_t number = next_.fetch_add(1);
  if (number >= runs_.size() || tails_.has_failed()) return false;
  const Run& run = runs_[number];
  piece.number = static_cast<int64_t>(number);
  piece.size = blocks_[run.end - 1].begin + blocks_[run.end - 1].size - blocks_[run.begin].begin;
  piece.text = {};
  Status status = decompress_run(run, &piece.buffer);
  if (!status.is_ok()) {
    give_up();
    return status;
  }
  std::string_view text(piece.buffer.data(), piece.buffer.size());
  const int64_t header =
      std::clamp<int64_t>(begin_ - blocks_[run.begin].text_begin, 0, static_cast<int64_t>(text.size()));
  text.remove_prefix(static_cast<size_t>(header));
  Result<bool> done = is_binary_ ? next_records(number, text, piece) : next_lines(number, text, piece);
  if (!done.is_ok()) give_up();
  return done;
}

Result<bool> BlockText::next_lines(size_t number, std::string_view text, Piece& piece) {
  const bool is_last = number + 1 == runs_.size();
  const size_t end = is_last ? text.size() : text.rfind('\n') + 1;  // 0: no line ends here
  if (end > 0) tails_.put(number, std::string(text.substr(end)));
  std::string before;
  if (number > 0 && !tails_.take(number - 1, &before)) return false;
  if (end == 0)  // a line that goes on in the next run
    tails_.put(number, before.append(text));
  else
    join(before, text.substr(0, end), piece);
  return true;
}

/// Each record says where the next one begins, so the run before comes first.
Result<bool> BlockText::next_records(size_t number, std::string_view bytes, Piece& piece) {
  std::string before;
  if (number > 0 && !tails_.take(number - 1, &before)) return false;
  join(before, bytes, piece);
  STROM_ASSIGN(const size_t end, format::vcf::whole_records(piece.text));
  if (number + 1 < runs_.size())
    tails_.put(number, std::string(piece.text.substr(end)));
  else if (end < piece.text.size())
    return Status(ErrorCode::kCorruptFile, "file \"" + file_->path() + "\" ends in the middle of a record");
  piece.text = piece.text.substr(0, end);
  return true;
}

}  // namespace

Result<std::unique_ptr<VariantText>> open_blocks(const std::shared_ptr<const MappedFile>& file, int64_t piece,
                                                 int threads) {
  auto text = std::make_unique<BlockText>(file);
  STROM_ASSIGN(const bool is_compressed, text->find_blocks());
  if (!is_compressed) return std::unique_ptr<VariantText>();
  const Status header = text->read_header();
  if (!header.is_ok() && !text->is_binary() && !text->header().starts_with("##")) return std::unique_ptr<VariantText>();
  STROM_TRY(header);
  text->cut_runs(piece, threads);
  return std::unique_ptr<VariantText>(std::move(text));
}

}  // namespace strom::vcf2arrow
