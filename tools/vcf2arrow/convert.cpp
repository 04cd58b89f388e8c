// See convert.hpp.
#include "vcf2arrow/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <semaphore>

#include "arrow_files/turns.hpp"
#include "arrow_files/workers.hpp"
#include "dump/output_files.hpp"
#include "format/arrow/write/writer.hpp"
#include "format/vcf/dictionary.hpp"
#include "format/vcf/variants.hpp"
#include "vcf2arrow/variant_text.hpp"

namespace strom::vcf2arrow {

namespace {

using columnar::ColumnBuilder;
using format::vcf::Dictionary;
using format::vcf::Header;
using format::vcf::Layout;
using format::vcf::Variants;

constexpr int64_t kLeastPiece = 1 << 20, kMostPiece = 16 << 20;

/// A file and what its header says.
struct Input {
  std::string path;
  std::unique_ptr<VariantText> text;
  Header header;
  std::optional<Dictionary> dictionary;  // of BCF
};

Result<Input> open_input(const std::string& path, const Settings& settings, int threads) {
  Input input{path, nullptr, {}, {}};
  // Memory that is used for the first time costs more than what goes through it.
  const int64_t piece = std::clamp(settings.segment_size / 16, kLeastPiece, kMostPiece);
  STROM_ASSIGN(input.text, VariantText::open(path, settings.regions, piece, threads));
  size_t begin = 0;
  const std::string_view text = input.text->header();
  const auto of_file = [&](const Status& status) {
    return Status(status.code(),
                  status.message() + " of " + (path == "-" ? "standard input" : "file \"" + path + "\""));
  };
  auto header = format::vcf::parse_header(text, &begin);
  if (!header.is_ok()) return of_file(header.status());
  input.header = std::move(header).value();
  if (!input.text->is_binary()) return input;
  auto dictionary = format::vcf::parse_dictionary(text);
  if (!dictionary.is_ok()) return of_file(dictionary.status());
  input.dictionary = std::move(dictionary).value();
  input.header.lines = 0;  // records are counted, not lines
  return input;
}

/// Whether a further file has the first one's columns.
Status check_fit(const Layout& own, const Layout& first, const std::string& path) {
  const bool fits = std::equal(own.fields().begin(), own.fields().end(), first.fields().begin(), first.fields().end(),
                               [](const auto& a, const auto& b) { return a.name == b.name && same_type(a, b); }) &&
                    own.metadata() == first.metadata();
  if (fits) return Status::ok();
  return Status(ErrorCode::kTypeMismatch, "file \"" + path + "\" has other fields or samples than the first one")
      .with_hint("--info, --format and --samples choose those that all files have.");
}

/// One of those who may compute at once. Nobody has one while it waits for another or for the disk.
class Permit {
 public:
  explicit Permit(std::counting_semaphore<>& permits) : permits_(permits) {}
  ~Permit() { release(); }
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;
  void acquire() {
    if (!is_held_) permits_.acquire();
    is_held_ = true;
  }
  void release() {
    if (is_held_) permits_.release();
    is_held_ = false;
  }

 private:
  std::counting_semaphore<>& permits_;
  bool is_held_ = false;
};

class Conversion {
 public:
  Conversion(const Settings& settings, tool::Progress& progress)
      : settings_(settings), progress_(progress), threads_(tool::thread_count(settings.threads)), permits_(threads_) {}

  Result<Converted> run();

 private:
  Status convert_file(Input& input, const Layout& layout, tool::OutputFiles& files);
  /// What a thread works with.
  struct Worker {
    Input& input;
    tool::OutputFiles& files;
    tool::Turns& turns;
    std::vector<ColumnBuilder>& columns;
    std::unique_ptr<Variants> variants;
    format::arrow::Compressor compressor;
    size_t number;
    Permit permit;
  };
  Status convert_piece(Worker& worker, const Piece& piece);
  Status begin_chromosome(std::string_view name, tool::OutputFiles& files);
  Status work(Input& input, const Layout& layout, tool::OutputFiles& files, tool::Turns& turns, size_t number);
  std::string place(const Worker& worker, std::string_view bytes) const;

  const Settings& settings_;
  tool::Progress& progress_;
  const int threads_;
  std::counting_semaphore<> permits_;
  std::atomic<bool> failed_{false};
  int64_t lines_ = 0;       // or records of the file, as far as pieces are done; changed in turn
  std::string chromosome_;  // of the file that is being written, where each has its own; changed in turn
  std::mutex mutex_;
  format::vcf::Counts counts_;
};

/// What one thread does of a file.
Status Conversion::work(Input& input, const Layout& layout, tool::OutputFiles& files, tool::Turns& turns,
                        size_t number) {
  std::vector<ColumnBuilder> columns;
  columns.reserve(layout.fields().size());
  for (const auto& field : layout.fields()) columns.emplace_back(field);
  Worker worker{input,
                files,
                turns,
                columns,
                Variants::create(layout, input.dictionary ? &*input.dictionary : nullptr, columns),
                format::arrow::Compressor(settings_.output.compression),
                number,
                Permit(permits_)};
  Piece piece;
  while (!failed_) {
    worker.permit.acquire();
    STROM_ASSIGN(const bool more, input.text->next(piece));
    if (!more) break;
    const Status status = convert_piece(worker, piece);
    turns.done(status.is_ok());
    STROM_TRY(status);
  }
  std::lock_guard lock(mutex_);
  counts_.add(worker.variants->counts);
  return Status::ok();
}

Status Conversion::convert_piece(Worker& worker, const Piece& piece) {
  std::string_view rest = piece.text;
  bool has_turn = false;
  do {
    Variants::Run run{rest, {}};
    if (settings_.is_by_chromosome()) {
      STROM_ASSIGN(run, worker.variants->first_run(rest));
    }
    rest.remove_prefix(run.bytes.size());
    worker.permit.acquire();
    for (ColumnBuilder& column : worker.columns) column.clear();
    const int64_t before = worker.variants->counts.rows;
    const Status parsed = worker.variants->append(run.bytes);
    const int64_t rows = worker.variants->counts.rows - before;
    if (!parsed.is_ok()) worker.permit.release();
    if (!parsed.is_ok()) {
      if (!has_turn && !worker.turns.wait(piece.number)) return Status::ok();
      return Status(parsed.code(), parsed.message() + " in " + place(worker, run.bytes)).with_hint(parsed.hint());
    }
    STROM_ASSIGN(const auto batch, format::arrow::encode_batch(worker.columns, rows, worker.compressor));
    auto bounds = worker.files.statistics().of(worker.columns);
    worker.permit.release();
    if (!has_turn && !worker.turns.wait(piece.number)) return Status::ok();
    has_turn = true;
    lines_ += worker.variants->read();
    if (rows > 0) {
      if (settings_.is_by_chromosome()) STROM_TRY(begin_chromosome(run.chromosome, worker.files));
      STROM_TRY(worker.files.write(batch, rows, std::move(bounds), worker.number));
    }
    progress_.add(rows, batch.bytes());
  } while (!rest.empty());
  progress_.add_done(piece.size);
  return Status::ok();
}

/// In turn: which line of the file a line of the piece is depends on the pieces before it. `bytes`: what failed.
std::string Conversion::place(const Worker& worker, std::string_view bytes) const {
  const Input& input = worker.input;
  const int64_t line = worker.variants->failed();
  const std::string name = input.path == "-" ? "standard input" : "\"" + input.path + "\"";
  const char* const unit = input.dictionary ? "record" : "line";
  if (settings_.regions.empty()) return fmt::format("{} {} of {}", unit, lines_ + line, name);
  std::string text = fmt::format("{} {} of the regions of {}", unit, lines_ + line, name);
  if (input.dictionary) return text;
  for (int64_t i = 1; i < line; ++i) bytes.remove_prefix(std::min(bytes.find('\n'), bytes.size() - 1) + 1);
  const size_t tab = std::min(bytes.find('\t'), bytes.size());
  const std::string_view rest = bytes.substr(std::min(tab + 1, bytes.size()));
  return text + fmt::format(", {}:{}", bytes.substr(0, tab), rest.substr(0, rest.find_first_of("\t\n")));
}

/// In turn.
Status Conversion::begin_chromosome(std::string_view name, tool::OutputFiles& files) {
  if (chromosome_ == name) return Status::ok();
  chromosome_ = name;
  if (settings_.group.empty()) return files.new_partition({chromosome_});
  return files.new_partition({settings_.group, chromosome_});
}

Status Conversion::convert_file(Input& input, const Layout& layout, tool::OutputFiles& files) {
  tool::Turns turns;
  lines_ = settings_.regions.empty() ? input.header.lines : 0;
  // One more than may compute, since mostly one writes.
  return tool::run_pieces(threads_ + 1, threads_ + 1, [&](int64_t, int thread) {
    const Status status = work(input, layout, files, turns, static_cast<size_t>(thread));
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
  contents.meanings = layout.metadata();
  columnar::KeyValues metadata = first.header.facts;
  metadata.insert(metadata.end(), layout.metadata().begin(), layout.metadata().end());
  metadata.insert(metadata.end(), settings_.metadata.begin(), settings_.metadata.end());
  if (layout.labels() != nullptr) contents.dictionaries[Layout::kLabelsId].labels = layout.labels();
  auto opened = tool::OutputFiles::open(settings_, contents, std::move(metadata), progress_);
  // Before there was a dictionary, genotypes were written as texts.
  if (opened.status().code() == ErrorCode::kTypeMismatch && opened.status().hint().empty() &&
      layout.labels() != nullptr)
    return std::move(opened).status().with_hint("Genotypes that the file has as Utf8 need --genotypes=text.");
  STROM_ASSIGN(const auto files, std::move(opened));
  if (contents.dictionaries.size() > 1)
    return Status(ErrorCode::kUnsupported,
                  "the samples of file \"" + settings_.append + "\" do not share a dictionary");
  if (!settings_.group.empty() && !settings_.is_by_chromosome()) STROM_TRY(files->new_partition({settings_.group}));
  for (size_t i = 0; i < settings_.files.size(); ++i) {
    if (i > 0) {
      STROM_ASSIGN(first, open_input(settings_.files[i], settings_, threads_));
    }
    progress_.add_total(first.text->size());
    STROM_ASSIGN(Layout own, Layout::create(first.header, settings_.columns));
    STROM_TRY(check_fit(own, layout, settings_.files[i]));
    if (own.labels() != nullptr) own.set_labels(contents.dictionaries.begin()->second.labels);
    STROM_TRY(convert_file(first, own, *files));
  }
  STROM_TRY(files->finish());
  return Converted{files->result(), counts_};
}

}  // namespace

Result<Converted> convert(const Settings& settings, tool::Progress& progress) {
  return Conversion(settings, progress).run();
}

Status check_groups(const Settings& settings, const std::vector<SampleGroup>& groups) {
  std::vector<Layout> layouts;  // of the first file, by group
  for (const std::string& path : settings.files) {
    STROM_ASSIGN(const Input input, open_input(path, settings, 1));
    for (size_t i = 0; i < groups.size(); ++i) {
      format::vcf::ColumnChoice choice = settings.columns;
      choice.samples = groups[i].samples;
      auto layout = Layout::create(input.header, choice);
      if (!layout.is_ok()) {
        const Status& status = layout.status();
        return Status(status.code(),
                      status.message() + " in file \"" + path + "\", for group \"" + groups[i].name + "\"")
            .with_hint(status.hint());
      }
      if (layouts.size() == i) layouts.push_back(layout.value());
      STROM_TRY(check_fit(layout.value(), layouts[i], path));
    }
  }
  return Status::ok();
}

Result<std::vector<columnar::Field>> columns_of(const Settings& settings) {
  STROM_ASSIGN(const Input input, open_input(settings.files[0], settings, 1));
  STROM_ASSIGN(const Layout layout, Layout::create(input.header, settings.columns));
  return layout.fields();
}

}  // namespace strom::vcf2arrow
