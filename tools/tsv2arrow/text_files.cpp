// See text_files.hpp.
#include "tsv2arrow/text_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "arrow_files/workers.hpp"
#include "base/os_error.hpp"
#include "tsv2arrow/decompress.hpp"
#include "tsv2arrow/input_kind.hpp"

namespace strom::tsv2arrow {

TextFile::~TextFile() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_size_);
}

Result<std::unique_ptr<TextFile>> TextFile::open(const std::string& path) {
  auto file = std::unique_ptr<TextFile>(new TextFile());
  file->path_ = path;
  STROM_TRY(path == "-" ? file->read_input() : file->map());
  STROM_TRY(file->decompress_text());
  STROM_TRY(check_input_kind(path, file->text_));
  if (file->text_.substr(0, 3) == "\xEF\xBB\xBF") file->text_.remove_prefix(3);
  return file;
}

Status TextFile::map() {
  const auto failed = [&] { return base::os_error(errno, "could not read file \"" + path_ + "\""); };
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed();
  struct stat found;
  Status status = fstat(fd, &found) == 0 ? Status::ok() : failed();
  if (status.is_ok() && !S_ISREG(found.st_mode))
    status = Status(ErrorCode::kInvalidParameter, "\"" + path_ + "\" is not a regular file")
                 .with_hint("- reads from standard input.");
  if (status.is_ok() && found.st_size > 0) {
    mapped_size_ = static_cast<size_t>(found.st_size);
    void* address = mmap(nullptr, mapped_size_, PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
      status = failed();
    } else {
      mapped_ = address;
      madvise(mapped_, mapped_size_, MADV_WILLNEED);
      text_ = {static_cast<const char*>(mapped_), mapped_size_};
    }
  }
  close(fd);
  return status;
}

Status TextFile::read_input() {
  STROM_ASSIGN(spool_, tool::spool_input());
  return use_spool();
}

Status TextFile::use_spool() {
  STROM_ASSIGN(const auto bytes, spool_->bytes());
  text_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return Status::ok();
}

Status TextFile::decompress_text() {
  STROM_ASSIGN(auto text, decompress(path_, text_));
  if (text == nullptr) return Status::ok();
  spool_ = std::move(text);  // and what was read is let go of
  return use_spool();
}

namespace {

/// Where quotes cannot be counted, rows are looked for one by one.
std::vector<Piece> cut_by_rows(const TextFile& file, const format::csv::Dialect& dialect, int64_t begin, int64_t end,
                               int64_t size) {
  format::csv::RowReader reader(dialect,
                                file.text().substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  std::vector<Piece> pieces;
  int64_t from = 0;
  while (reader.next()) {
    if (reader.position() - from < size) continue;
    pieces.push_back({&file, begin + from, begin + reader.position()});
    from = reader.position();
  }
  if (from < end - begin) pieces.push_back({&file, begin + from, end});
  return pieces;
}

}  // namespace

Result<std::vector<Piece>> cut(const TextFile& file, const format::csv::Dialect& dialect, int64_t begin, int64_t end,
                               int64_t size, int threads) {
  if (!format::csv::has_simple_quotes(dialect)) return cut_by_rows(file, dialect, begin, end, size);
  const int64_t count = std::max<int64_t>(1, (end - begin + size - 1) / size);
  const std::string_view text = file.text().substr(0, static_cast<size_t>(end));
  // Whether a place is inside of quotes depends on the number of quotes before it.
  std::vector<int64_t> quotes(static_cast<size_t>(count));
  if (dialect.quote != 0 && count > 1) {
    STROM_TRY(tool::run_pieces(count, threads, [&](int64_t i, int) {
      const int64_t from = begin + i * size, to = std::min(from + size, end);
      quotes[static_cast<size_t>(i)] = std::count(text.begin() + from, text.begin() + to, dialect.quote);
      return Status::ok();
    }));
  }
  std::vector<Piece> pieces;
  int64_t at = begin, before = 0;
  for (int64_t i = 0; i < count; ++i) {
    before += quotes[static_cast<size_t>(i)];
    const int64_t target = begin + (i + 1) * size;
    const int64_t next = i + 1 == count ? end
                         : target <= at ? at
                                        : format::csv::next_row(dialect, text, target, before % 2 == 1);
    if (next > at) pieces.push_back({&file, at, next});
    at = std::max(at, next);
  }
  return pieces;
}

}  // namespace strom::tsv2arrow
