// See convert.hpp.
#include "tsv2arrow/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "arrow_files/turns.hpp"
#include "arrow_files/workers.hpp"
#include "dump/output_files.hpp"
#include "format/arrow/write/writer.hpp"
#include "format/csv/append_value.hpp"
#include "columnar/utf8.hpp"
#include "cli/program.hpp"
#include "format/value_errors.hpp"
#include "tsv2arrow/column_guess.hpp"
#include "tsv2arrow/input_kind.hpp"
#include "dump/schema_text.hpp"
#include "tsv2arrow/text_files.hpp"

namespace strom::tsv2arrow {

namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using format::csv::Appended;
using format::csv::RowReader;
using format::csv::TextField;

/// What is said of a value that does not fit.
std::string shortened(std::string_view text) {
  constexpr size_t kMost = 60;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
}

class Conversion {
 public:
  Conversion(const Settings& settings, tool::Progress& progress)
      : settings_(settings), progress_(progress), threads_(tool::thread_count(settings.threads)) {}

  Status open();
  Status choose_schema(bool all);
  Result<DumpResult> run();
  /// A value did not fit to a type that was guessed from some of the rows.
  bool guessed_wrong() const { return guessed_wrong_; }
  bool has_names_only() const {
    return has_header() && pieces_.empty() && settings_.limit > 0 && settings_.offset == 0 &&
           std::any_of(files_.begin(), files_.end(), [](const auto& file) { return !file->text().empty(); });
  }

 private:
  Status read_header(const TextFile& file, int64_t& begin);
  Status choose_rows(const TextFile& file, int64_t& begin, int64_t& end);
  Status check_returns(const Piece& piece, int64_t size) const;
  Status guess(int64_t number, int64_t size, std::vector<ColumnGuess>& guesses) const;
  void warn_of_word(const ColumnGuess& guess, const std::string& column);
  Result<bool> take_schema_of_file();
  Status parse(const Piece& piece, std::vector<ColumnBuilder>& columns, int64_t& rows);
  Status wrong_value(const Piece& piece, const RowReader& reader, size_t column, Appended problem);
  Status wrong_row(const Piece& piece, const RowReader& reader, size_t wanted) const;
  std::string place(const Piece& piece, int64_t position) const;
  int64_t piece_size(int64_t bytes) const;
  void count_columns(const TextFile& file, int64_t begin);
  /// A blank line is no row, unless it can be one: of a single column.
  bool is_left_out(const RowReader& reader) const {
    return reader.is_blank() && (settings_.skip_blank || columns_ != 1);
  }
  bool has_header() const { return !settings_.no_header && (settings_.schema.empty() || settings_.skip_header); }

  const Settings& settings_;
  tool::Progress& progress_;
  const int threads_;
  std::vector<std::unique_ptr<TextFile>> files_;
  std::vector<Piece> pieces_;
  std::vector<std::string> names_;  // from the header
  size_t columns_ = 0;              // of the text; 0: not known
  tool::Contents contents_;
  bool is_guess_ = false;  // types were inferred from some of the rows
  bool guessed_wrong_ = false;
  std::set<std::string> warned_;  // columns
  int64_t skip_ = 0, left_ = 0;   // rows to leave out, rows to take
};

std::string Conversion::place(const Piece& piece, int64_t position) const {
  const std::string_view before = piece.file->text().substr(0, static_cast<size_t>(piece.begin + position));
  const int64_t line = 1 + std::count(before.begin(), before.end(), '\n');
  return fmt::format("line {} of \"{}\"", line, piece.file->path() == "-" ? "standard input" : piece.file->path());
}

/// Record batches are as large as -s says, but there is work for all threads.
int64_t Conversion::piece_size(int64_t bytes) const {
  constexpr int64_t kLeast = 1 << 20;
  const int64_t batches = (bytes + settings_.segment_size - 1) / settings_.segment_size;
  const int64_t rounded = std::max<int64_t>(1, (batches + threads_ - 1) / threads_) * threads_;
  return std::min(settings_.segment_size, std::max(kLeast, (bytes + rounded - 1) / rounded));
}

Status Conversion::read_header(const TextFile& file, int64_t& begin) {
  if (!has_header()) return Status::ok();
  RowReader reader(settings_.dialect, file.text());
  do {
    if (!reader.next()) return Status::ok();
  } while (reader.is_blank());
  begin = reader.position();
  const std::string shown = file.path() == "-" ? "standard input" : "\"" + file.path() + "\"";
  const std::string_view row = file.text().substr(0, static_cast<size_t>(begin));
  if (find_bare_return(settings_.dialect, row) != std::string_view::npos) return bare_return("line 1 of " + shown);
  std::vector<std::string> names;
  for (const TextField& field : reader.fields()) {
    if (!columnar::is_utf8(field.text))
      return Status(ErrorCode::kInvalidParameter, "a column's name that is not valid UTF-8 in line 1 of " + shown)
          .with_hint("Convert the file, for example with iconv.");
    names.emplace_back(field.text);
  }
  if (names_.empty()) {
    names_ = names;
  } else if (settings_.schema.empty() && names != names_) {
    return Status(ErrorCode::kTypeMismatch, "file \"" + file.path() + "\" has other columns than the first one");
  }
  return Status::ok();
}

/// Of the first row, or of the names, when nothing is known yet: blank lines are no rows then.
void Conversion::count_columns(const TextFile& file, int64_t begin) {
  if (columns_ == 0) columns_ = names_.size();
  if (columns_ == 0 && !settings_.schema.empty()) columns_ = tool::parse_schema(settings_.schema).value().size();
  if (columns_ > 0) return;
  RowReader reader(settings_.dialect, file.text().substr(static_cast<size_t>(begin)));
  while (reader.next()) {
    columns_ = reader.fields().size();
    if (!reader.is_blank()) return;
  }
}

/// --offset and --limit.
Status Conversion::choose_rows(const TextFile& file, int64_t& begin, int64_t& end) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  if (skip_ == 0 && left_ == kAll) return Status::ok();
  const std::string_view text = file.text().substr(static_cast<size_t>(begin));
  RowReader reader(settings_.dialect, text);
  for (; skip_ > 0 && reader.next(); skip_ -= is_left_out(reader) ? 0 : 1) {
  }
  const int64_t first = reader.position();
  if (left_ != kAll) {
    for (; left_ > 0 && reader.next(); left_ -= is_left_out(reader) ? 0 : 1) {
    }
    end = begin + reader.position();
  }
  begin += first;
  return Status::ok();
}

Status Conversion::open() {
  skip_ = settings_.offset;
  left_ = settings_.limit;
  struct Range {
    int64_t begin, end;
  };
  std::vector<Range> ranges;
  int64_t bytes = 0;
  for (const std::string& path : settings_.files) {
    STROM_ASSIGN(auto file, TextFile::open(path));
    Range range{0, static_cast<int64_t>(file->text().size())};
    STROM_TRY(read_header(*file, range.begin));
    count_columns(*file, range.begin);
    STROM_TRY(choose_rows(*file, range.begin, range.end));
    bytes += range.end - range.begin;
    ranges.push_back(range);
    files_.push_back(std::move(file));
  }
  progress_.add_total(bytes);
  const int64_t size = piece_size(bytes);
  for (size_t i = 0; i < files_.size(); ++i) {
    STROM_ASSIGN(const auto pieces, cut(*files_[i], settings_.dialect, ranges[i].begin, ranges[i].end, size, threads_));
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  }
  return Status::ok();
}

Status Conversion::wrong_row(const Piece& piece, const RowReader& reader, size_t wanted) const {
  const std::string where = place(piece, reader.row_begin());
  if (reader.is_unfinished())
    return Status(ErrorCode::kCorruptFile, "quotes that begin in the row of " + where + " do not end");
  return Status(ErrorCode::kCorruptFile,
                fmt::format("{} has {} values instead of {}", where, reader.fields().size(), wanted))
      .with_hint("--delimiter says what stands between values, --csv that quotes are used.");
}

Status Conversion::check_returns(const Piece& piece, int64_t size) const {
  const size_t at = find_bare_return(settings_.dialect, piece.text().substr(0, static_cast<size_t>(size)));
  return at == std::string_view::npos ? Status::ok() : bare_return(place(piece, static_cast<int64_t>(at)));
}

/// From the first `size` bytes of the piece with this number.
Status Conversion::guess(int64_t number, int64_t size, std::vector<ColumnGuess>& guesses) const {
  const Piece& piece = pieces_[static_cast<size_t>(number)];
  STROM_TRY(check_returns(piece, size));
  RowReader reader(settings_.dialect, piece.text());
  while (reader.position() < size && reader.next()) {
    if (is_left_out(reader)) continue;
    if (reader.fields().size() != guesses.size() || reader.is_unfinished())
      return wrong_row(piece, reader, guesses.size());
    for (size_t i = 0; i < guesses.size(); ++i) {
      if (!reader.fields()[i].is_null) guesses[i].observe(reader.fields()[i], {number, reader.row_begin()});
    }
  }
  return Status::ok();
}

/// Once for each column.
void Conversion::warn_of_word(const ColumnGuess& guess, const std::string& column) {
  if (guess.word().empty()) return;
  Field without;
  guess.choose_without_word(without, settings_.reals);
  if (without.layout == columnar::Layout::kUtf8 || !warned_.insert(column).second) return;
  const auto [piece, position] = guess.word_place();
  std::string options;
  for (const std::string& text : settings_.dialect.nulls) options += "--null='" + text + "' ";
  tool::report_warning(
      "tsv2arrow", fmt::format("column \"{0}\" is text because of \"{1}\" in {2}; {3}--null='{1}' makes it {4}", column,
                               guess.word(), place(pieces_[static_cast<size_t>(piece)], position), options,
                               columnar::type_text(without)));
}

/// Of the file that is appended to.
Result<bool> Conversion::take_schema_of_file() {
  if (settings_.append.empty()) return false;
  STROM_ASSIGN(const auto file, format::arrow::ExistingFile::open(settings_.append));
  const auto& fields = file->schema.fields;
  if (!std::all_of(fields.begin(), fields.end(),
                   [](const auto& field) { return !field.dictionary && field.children.empty(); }))
    return Status(ErrorCode::kUnsupported,
                  "file \"" + settings_.append + "\" has columns of types that text cannot be appended to");
  if (!names_.empty() && !std::equal(fields.begin(), fields.end(), names_.begin(), names_.end(),
                                     [](const auto& field, const auto& name) { return field.name == name; }))
    return Status(ErrorCode::kTypeMismatch, "file \"" + settings_.append + "\" has other columns than the text");
  contents_.fields = fields;
  return true;
}

/// Of --schema, or from the texts: of all rows, or of the beginnings of all pieces.
Status Conversion::choose_schema(bool all) {
  constexpr int64_t kSample = 1 << 18, kSamples = 16;
  contents_.fields.clear();
  guessed_wrong_ = false;
  if (!settings_.schema.empty()) {
    STROM_ASSIGN(contents_.fields, tool::parse_schema(settings_.schema));
    return Status::ok();
  }
  STROM_ASSIGN(const bool is_known, take_schema_of_file());
  if (is_known) return Status::ok();
  const int64_t share = std::max<int64_t>(1, kSamples / std::max<int64_t>(1, static_cast<int64_t>(pieces_.size())));
  const int64_t size = all ? std::numeric_limits<int64_t>::max() : kSample * share;
  is_guess_ =
      std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return piece.end - piece.begin > size; });
  if (names_.empty() && !pieces_.empty()) {
    for (size_t i = 0; i < columns_; ++i) names_.push_back("c" + std::to_string(i + 1));
  }
  std::vector<ColumnGuess> guesses(names_.size(), ColumnGuess(settings_.words_are_bool));
  std::mutex mutex;
  STROM_TRY(tool::run_pieces(static_cast<int64_t>(pieces_.size()), threads_, [&](int64_t i, int) -> Status {
    std::vector<ColumnGuess> own(names_.size(), ColumnGuess(settings_.words_are_bool));
    STROM_TRY(guess(i, size, own));
    std::lock_guard lock(mutex);
    for (size_t column = 0; column < own.size(); ++column) guesses[column].merge(own[column]);
    return Status::ok();
  }));
  for (size_t i = 0; i < names_.size(); ++i) {
    Field& field = contents_.fields.emplace_back();
    field.name = names_[i];
    guesses[i].choose(field, settings_.reals, is_guess_ && !all);
    warn_of_word(guesses[i], names_[i]);
  }
  return Status::ok();
}

Status Conversion::wrong_value(const Piece& piece, const RowReader& reader, size_t column, Appended problem) {
  const Field& field = contents_.fields[column];
  const std::string where = fmt::format("{}, column \"{}\"", place(piece, reader.row_begin()), field.name);
  const std::string value = "\"" + shortened(reader.fields()[column].text) + "\"";
  const std::string type = columnar::type_text(field);
  if (is_guess_ && problem != Appended::kNotUtf8 && problem != Appended::kFull) guessed_wrong_ = true;
  switch (problem) {
    case Appended::kTooLarge:
      return Status(ErrorCode::kNumericOutOfRange, value + " is outside of the range of " + type + " in " + where);
    case Appended::kTooPrecise:
      return Status(ErrorCode::kNumericOutOfRange, value + " has more decimal places than " + type + " in " + where);
    case Appended::kNotUtf8:
      return Status(ErrorCode::kInvalidParameter, "text that is not valid UTF-8 in " + where)
          .with_hint("Convert the file, for example with iconv.");
    case Appended::kFull: return format::batch_too_large(where);
    default: return Status(ErrorCode::kTypeMismatch, value + " is no " + type + " in " + where);
  }
}

Status Conversion::parse(const Piece& piece, std::vector<ColumnBuilder>& columns, int64_t& rows) {
  STROM_TRY(check_returns(piece, piece.end - piece.begin));
  RowReader reader(settings_.dialect, piece.text());
  const size_t count = columns.size();
  while (reader.next()) {
    const auto& fields = reader.fields();
    if (fields.size() == 1 && is_left_out(reader)) continue;
    ++rows;
    if (fields.size() != count || reader.is_unfinished()) return wrong_row(piece, reader, count);
    for (size_t i = 0; i < count; ++i) {
      ColumnBuilder& column = columns[i];
      if (fields[i].is_null) {
        if (!column.field().nullable)
          return Status(ErrorCode::kTypeMismatch, fmt::format("NULL in {}, column \"{}\", which is not_null",
                                                              place(piece, reader.row_begin()), column.field().name));
        column.append_null();
        continue;
      }
      const Appended appended = format::csv::append_value(fields[i].text, column);
      if (appended != Appended::kDone) return wrong_value(piece, reader, i, appended);
    }
  }
  return Status::ok();
}

Result<DumpResult> Conversion::run() {
  columnar::KeyValues metadata = settings_.metadata;
  tool::Contents contents = contents_;
  STROM_ASSIGN(const auto files, tool::OutputFiles::open(settings_, contents, std::move(metadata), progress_));
  tool::Turns turns;
  std::vector<std::vector<ColumnBuilder>> builders(static_cast<size_t>(threads_));
  const Status status =
      tool::run_pieces(static_cast<int64_t>(pieces_.size()), threads_, [&](int64_t i, int thread) -> Status {
        const Piece& piece = pieces_[static_cast<size_t>(i)];
        std::vector<ColumnBuilder>& columns = builders[static_cast<size_t>(thread)];
        if (columns.empty()) {
          columns.reserve(files->schema().fields.size());
          for (const Field& field : files->schema().fields) columns.emplace_back(field);
        }
        for (ColumnBuilder& column : columns) column.clear();
        format::arrow::Compressor compressor(settings_.output.compression);
        const auto work = [&]() -> Status {
          int64_t rows = 0;
          STROM_TRY(parse(piece, columns, rows));
          STROM_ASSIGN(const auto batch, format::arrow::encode_batch(columns, rows, compressor));
          auto bounds = files->statistics().of(columns);
          if (!turns.wait(i)) return Status::ok();
          if (rows > 0) STROM_TRY(files->write(batch, rows, std::move(bounds), static_cast<size_t>(thread)));
          progress_.add(rows, batch.bytes());
          progress_.add_done(piece.end - piece.begin);
          return Status::ok();
        };
        Status outcome = work();
        turns.done(outcome.is_ok());
        return outcome;
      });
  STROM_TRY(status);
  STROM_TRY(files->finish());
  return files->result();
}

}  // namespace

Result<DumpResult> convert(const Settings& settings, tool::Progress& progress) {
  Conversion conversion(settings, progress);
  STROM_TRY(conversion.open());
  if (conversion.has_names_only()) tool::report_warning("tsv2arrow", "there is a row of names and no other row");
  STROM_TRY(conversion.choose_schema(settings.infer_all));
  Result<DumpResult> result = conversion.run();
  if (result.is_ok() || !conversion.guessed_wrong() || settings.output.is_stream()) return result;
  progress.note(result.status().message() + "; looking at all rows");
  STROM_TRY(conversion.choose_schema(true));
  return conversion.run();
}

}  // namespace strom::tsv2arrow
