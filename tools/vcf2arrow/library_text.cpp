// See library_text.hpp.
#include "vcf2arrow/library_text.hpp"

#include <htslib/bgzf.h>
#include <htslib/hts.h>
#include <htslib/hts_log.h>
#include <htslib/kseq.h>
#include <htslib/kstring.h>
#include <htslib/vcf.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "base/os_error.hpp"
#include "vcf2arrow/gzip_blocks.hpp"

namespace strom::vcf2arrow {

namespace {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using File = std::unique_ptr<htsFile, Free<hts_close>>;
using BinaryHeader = std::unique_ptr<bcf_hdr_t, Free<bcf_hdr_destroy>>;
using Record = std::unique_ptr<bcf1_t, Free<bcf_destroy>>;

struct Line : kstring_t {
  Line() : kstring_t{0, 0, nullptr} {}
  ~Line() { free(s); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  std::string_view view() const { return {s, l}; }
};

template <class T>
void put(T value, kstring_t* to) {
  kputsn(reinterpret_cast<const char*>(&value), sizeof value, to);
}

/// A record as it stands in a file.
void put_record(const bcf1_t& record, kstring_t* to) {
  constexpr uint32_t kFixed = 24;  // bytes in front of what the library keeps as they are
  constexpr int kHigh16 = 16, kHigh8 = 24;
  to->l = 0;
  put(static_cast<uint32_t>(record.shared.l) + kFixed, to);
  put(static_cast<uint32_t>(record.indiv.l), to);
  put(record.rid, to);
  put(static_cast<int32_t>(record.pos), to);
  put(static_cast<int32_t>(record.rlen), to);
  put(record.qual, to);
  put(uint32_t{record.n_allele} << kHigh16 | record.n_info, to);
  put(uint32_t{record.n_fmt} << kHigh8 | record.n_sample, to);
  kputsn(record.shared.s, record.shared.l, to);
  kputsn(record.indiv.s, record.indiv.l, to);
}

class LibraryText final : public VariantText {
 public:
  LibraryText(std::string path, int64_t piece)
      : name_(path == "-" ? "standard input" : "file \"" + path + "\""),
        path_(std::move(path)),
        piece_(static_cast<size_t>(piece)) {}

  Status open(int threads);
  std::string_view header() const override { return header_; }
  bool is_binary() const override { return binary_header_ != nullptr; }
  Result<bool> next(Piece& piece) override;
  int64_t size() const override { return 0; }

 private:
  Status read_binary_header();
  Status read_text_header();
  Result<bool> read_line();
  Result<bool> read_binary();
  Status check_end() const;
  Status damaged() const { return {ErrorCode::kCorruptFile, name_ + " is damaged or cut off"}; }

  const std::string name_, path_;
  const size_t piece_;
  std::mutex mutex_;
  File file_;
  BinaryHeader binary_header_;
  Record record_;
  std::string header_;
  Line line_;
  bool has_line_ = false;  // read with the header
  int64_t pieces_ = 0;
  bool is_end_ = false;
};

Status LibraryText::open(int threads) {
  hts_set_log_level(HTS_LOG_OFF);  // errors are told once, by us
  errno = 0;
  file_.reset(hts_open(path_.c_str(), "r"));
  if (file_ == nullptr) {
    if (errno == ENOEXEC || errno == EPIPE || errno == 0)
      return {ErrorCode::kCorruptFile, name_ + " is no VCF or BCF file"};
    return base::os_error(errno, "could not open " + name_);
  }
  const htsFormat* format = hts_get_format(file_.get());
  if (format->format != vcf && format->format != bcf)
    return {ErrorCode::kCorruptFile, name_ + " is no VCF or BCF file"};
  if (threads > 1 && format->compression == bgzf) hts_set_threads(file_.get(), threads);
  return format->format == bcf ? read_binary_header() : read_text_header();
}

Status LibraryText::read_binary_header() {
  binary_header_.reset(bcf_hdr_read(file_.get()));
  record_.reset(bcf_init());
  if (binary_header_ == nullptr || record_ == nullptr) return damaged();
  Line text;
  if (bcf_hdr_format(binary_header_.get(), 1, &text) != 0) return damaged();
  header_ = text.view();
  return Status::ok();
}

Status LibraryText::read_text_header() {
  int size;
  while ((size = hts_getline(file_.get(), KS_SEP_LINE, &line_)) >= 0) {
    if (line_.l == 0 || line_.s[0] != '#') break;
    header_ += line_.view();
    header_ += '\n';
  }
  if (size < -1) return damaged();
  has_line_ = size >= 0;
  return Status::ok();
}

/// After the last line or record. Of pipes htslib knows no other sign of a file that was cut off between blocks.
Status LibraryText::check_end() const {
  if (hts_get_format(file_.get())->compression != bgzf) return Status::ok();
  return file_->fp.bgzf->no_eof_block == 0 ? Status::ok() : no_last_block(name_);
}

/// The next line or record is in line_; false at the end.
Result<bool> LibraryText::read_line() {
  if (has_line_) {
    has_line_ = false;
    return true;
  }
  line_.l = 0;
  if (binary_header_ != nullptr) return read_binary();
  const int size = hts_getline(file_.get(), KS_SEP_LINE, &line_);
  if (size < -1) return damaged();
  return size >= 0;
}

Result<bool> LibraryText::read_binary() {
  const int result = bcf_read(file_.get(), binary_header_.get(), record_.get());
  if (result < -1) return damaged();
  if (result < 0) return false;
  if (record_->errcode != 0) return damaged();
  put_record(*record_, &line_);
  return true;
}

Result<bool> LibraryText::next(Piece& piece) {
  std::lock_guard lock(mutex_);
  if (is_end_) return false;
  piece.buffer.clear();
  while (piece.buffer.size() < piece_) {
    STROM_ASSIGN(const bool more, read_line());
    if (!more) {
      STROM_TRY(check_end());
      is_end_ = true;
      break;
    }
    piece.buffer.insert(piece.buffer.end(), line_.s, line_.s + line_.l);
    if (!is_binary()) piece.buffer.push_back('\n');
  }
  if (piece.buffer.empty()) return false;
  piece.number = pieces_++;
  piece.size = static_cast<int64_t>(piece.buffer.size());
  piece.text = {piece.buffer.data(), piece.buffer.size()};
  return true;
}

}  // namespace

Result<std::unique_ptr<VariantText>> open_by_library(const std::string& path, int64_t piece, int threads) {
  if (path == "-" && isatty(STDIN_FILENO) == 1)
    return Status(ErrorCode::kInvalidParameter, "standard input is a terminal");
  auto text = std::make_unique<LibraryText>(path, piece);
  STROM_TRY(text->open(threads));
  return std::unique_ptr<VariantText>(std::move(text));
}

}  // namespace strom::vcf2arrow
