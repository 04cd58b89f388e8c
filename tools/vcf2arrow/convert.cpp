// See convert.hpp.
#include "vcf2arrow/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "arrow_files/turns.hpp"
#include "arrow_files/workers.hpp"
#include "dump/output_files.hpp"
#include "format/arrow/writer.hpp"
#include "vcf2arrow/variant_text.hpp"

namespace strom::vcf2arrow {

namespace {

using columnar::ColumnBuilder;
using format::vcf::Header;
using format::vcf::Layout;
using format::vcf::Variants;

constexpr int64_t kLeastPiece = 1 << 20, kMostPiece = 16 << 20;

/// A file and what its header says.
struct Input {
  std::string path;
  std::unique_ptr<VariantText> text;
  Header header;
};

Result<Input> open_input(const std::string& path, const Settings& settings, int threads) {
  Input input{path, nullptr, {}};
  const int64_t piece = std::clamp(settings.segment_size / 4, kLeastPiece, kMostPiece);
  STROM_ASSIGN(input.text, VariantText::open(path, settings.regions, piece, threads));
  size_t begin = 0;
  const std::string_view text = input.text->header();
  auto header = format::vcf::parse_header(text, &begin);
  if (!header.is_ok())
    return Status(header.status().code(),
                  header.status().message() + " of " + (path == "-" ? "standard input" : "file \"" + path + "\""));
  input.header = std::move(header).value();
  return input;
}

class Conversion {
 public:
  Conversion(const Settings& settings, tool::Progress& progress)
      : settings_(settings), progress_(progress), threads_(tool::thread_count(settings.threads)) {}

  Result<Converted> run();

 private:
  Status convert_file(Input& input, const Layout& layout, tool::OutputFiles& files);
  Status work(Input& input, const Layout& layout, tool::OutputFiles& files, tool::Turns& turns);
  std::string place(const Input& input, int64_t line) const {
    return fmt::format("line {} of {}", line, input.path == "-" ? "standard input" : "\"" + input.path + "\"");
  }

  const Settings& settings_;
  tool::Progress& progress_;
  const int threads_;
  std::atomic<bool> failed_{false};
  int64_t lines_ = 0;  // of the file, as far as pieces are done; changed in turn
  std::mutex mutex_;
  format::vcf::Counts counts_;
};

/// What one thread does of a file.
Status Conversion::work(Input& input, const Layout& layout, tool::OutputFiles& files, tool::Turns& turns) {
  std::vector<ColumnBuilder> columns;
  columns.reserve(layout.fields().size());
  for (const auto& field : layout.fields()) columns.emplace_back(field);
  Variants variants(layout, columns);
  format::arrow::Compressor compressor(settings_.output.compression);
  Piece piece;
  while (!failed_) {
    STROM_ASSIGN(const bool more, input.text->next(piece));
    if (!more) break;
    for (ColumnBuilder& column : columns) column.clear();
    const int64_t before = variants.counts.rows;
    const Status parsed = variants.append(piece.text);
    const int64_t rows = variants.counts.rows - before;
    const auto finish = [&]() -> Status {
      // Which line of the file a line of the piece is depends on the pieces before it.
      if (!parsed.is_ok()) {
        if (!turns.wait(piece.number)) return Status::ok();
        return Status(parsed.code(), parsed.message() + " in " + place(input, lines_ + variants.failed_line()))
            .with_hint(parsed.hint());
      }
      STROM_ASSIGN(const auto batch, format::arrow::encode_batch(columns, rows, compressor));
      auto bounds = files.statistics().of(columns);
      if (!turns.wait(piece.number)) return Status::ok();
      lines_ += variants.lines();
      if (rows > 0) STROM_TRY(files.write(batch, rows, std::move(bounds)));
      progress_.add(rows, batch.bytes());
      progress_.add_done(piece.size);
      return Status::ok();
    };
    const Status status = finish();
    turns.done(status.is_ok());
    STROM_TRY(status);
  }
  std::lock_guard lock(mutex_);
  counts_.add(variants.counts);
  return Status::ok();
}

Status Conversion::convert_file(Input& input, const Layout& layout, tool::OutputFiles& files) {
  tool::Turns turns;
  lines_ = input.header.lines;
  return tool::run_pieces(threads_, threads_, [&](int64_t, int) {
    const Status status = work(input, layout, files, turns);
    if (!status.is_ok()) {
      failed_ = true;
      turns.done(false);
      input.text->give_up();
    }
    return status;
  });
}

Result<Converted> Conversion::run() {
  STROM_ASSIGN(Input first, open_input(settings_.files[0], settings_, threads_));
  STROM_ASSIGN(const Layout layout, Layout::create(first.header, settings_.columns));
  tool::Contents contents;
  contents.fields = layout.fields();
  columnar::KeyValues metadata = first.header.facts;
  metadata.insert(metadata.end(), layout.metadata().begin(), layout.metadata().end());
  metadata.insert(metadata.end(), settings_.metadata.begin(), settings_.metadata.end());
  STROM_ASSIGN(const auto files, tool::OutputFiles::open(settings_, contents, std::move(metadata), progress_));
  for (size_t i = 0; i < settings_.files.size(); ++i) {
    if (i > 0) {
      STROM_ASSIGN(first, open_input(settings_.files[i], settings_, threads_));
    }
    progress_.add_total(first.text->size());
    STROM_ASSIGN(const Layout own, Layout::create(first.header, settings_.columns));
    const bool fits =
        std::equal(own.fields().begin(), own.fields().end(), layout.fields().begin(), layout.fields().end(),
                   [](const auto& a, const auto& b) { return a.name == b.name && same_type(a, b); }) &&
        own.metadata() == layout.metadata();
    if (!fits)
      return Status(ErrorCode::kTypeMismatch,
                    "file \"" + settings_.files[i] + "\" has other fields or samples than the first one")
          .with_hint("--info, --format and --samples choose those that all files have.");
    STROM_TRY(convert_file(first, own, *files));
  }
  STROM_TRY(files->finish());
  return Converted{files->result(), counts_};
}

}  // namespace

Result<Converted> convert(const Settings& settings, tool::Progress& progress) {
  return Conversion(settings, progress).run();
}

Result<std::vector<columnar::Field>> columns_of(const Settings& settings) {
  STROM_ASSIGN(const Input input, open_input(settings.files[0], settings, 1));
  STROM_ASSIGN(const Layout layout, Layout::create(input.header, settings.columns));
  return layout.fields();
}

}  // namespace strom::vcf2arrow
