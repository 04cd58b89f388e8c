// arrowstat: statistics in Arrow files that exist: shown, added, made anew, removed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arrow_files/stored_value.hpp"
#include "arrow_files/workers.hpp"
#include "arrowstat/file_statistics.hpp"
#include "arrowstat/sorted_copy.hpp"
#include "cli/output.hpp"
#include "cli/program.hpp"
#include "format/arrow/write/file_storage.hpp"
#include "format/byte_sink.hpp"

namespace strom::tool {

namespace {

using columnar::Field;
using format::arrow::FileReader;
using format::arrow::ValueRange;

struct Settings {
  std::vector<std::string> files, columns, sort_columns;
  OutputOptions output;
  ProgressOptions progress;
  int64_t threads = 0, batch_rows = 0;
  bool add = false, refresh = false, remove = false, show = false, check = false, json = false;
};

void add_options(OptionTable& table, Settings& settings) {
  table.files(&settings.files, "Arrow files");
  table.group("What to do");
  table.flag(0, "show", &settings.show, "print the statistics (this is done when nothing else is asked for)");
  table.flag('a', "add", &settings.add, "compute statistics and put them into the files, in place of those there are");
  table.flag('r', "refresh", &settings.refresh, "compute statistics anew for the columns that have some");
  table.flag(0, "remove", &settings.remove, "take the statistics out");
  table.flag(0, "check", &settings.check,
             "read the columns that have statistics; exit 1 if a value lies outside of them");
  for (const char* other : {"add", "refresh", "remove", "check"}) {
    for (const char* name : {"add", "refresh", "remove", "check"})
      if (std::string(name) < other) table.exclusive({name, other});
  }
  table.list('S', "columns", "COLUMNS", &settings.columns, "only these columns (default: all that can have statistics)")
      .also("stat")
      .also("stats");
  table.flag(0, "json", &settings.json, "--show prints a JSON object for each column of each file");
  table.group("Sorted copies");
  table.list(0, "sort-by", "COLUMNS", &settings.sort_columns,
             "write a copy with its rows in the order of these columns, and with statistics; see -o");
  table.number(0, "batch-rows", &settings.batch_rows, 1, int64_t{1} << 31,
               "rows in a record batch of the copy (default: as in the file)");
  add_output_options(table, &settings.output, "the sorted copy");
  for (const char* name : {"show", "add", "refresh", "remove", "check"}) table.exclusive({"sort-by", name});
  table.group("General");
  add_threads_option(table, &settings.threads);
  add_progress_option(table, &settings.progress);
  table.example("arrowstat --add flineorder.arrow", "statistics of all columns that can have them");
  table.example("arrowstat --add --columns=lo_orderdate flineorder.arrow", "of one column");
  table.example("arrowstat flineorder.arrow", "what there is");
  table.example("arrowstat --sort-by=lo_orderdate lineorder.arrow -o sorted.arrow",
                "a copy that queries by date read little of");
}

Status usage(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

Status check_settings(const Settings& settings) {
  if (settings.files.empty()) return usage("no file to read; see arrowstat --help");
  if (settings.json && (settings.add || settings.refresh || settings.remove || settings.check) && !settings.show)
    return usage("--json needs --show");
  const bool sorts = !settings.sort_columns.empty();
  if (sorts && settings.files.size() != 1) return usage("--sort-by needs one file");
  if (sorts && (settings.output.path.empty() || settings.output.is_stream())) return usage("--sort-by needs -o FILE");
  if (!sorts &&
      (!settings.output.path.empty() || settings.output.force || settings.output.page_cache || settings.batch_rows > 0))
    return usage("-o, -f, --page-cache and --batch-rows need --sort-by");
  return Status::ok();
}

bool can_have_statistics(const Field& field) {
  return field.unsupported.empty() && format::arrow::has_value_range(field.layout);
}

/// The columns that were named, which must be able to have statistics, or all that can.
Result<std::vector<int>> chosen_columns(const FileReader& file, const Settings& settings) {
  STROM_ASSIGN(const std::vector<int> named, find_columns(file, settings.columns));
  std::vector<int> columns;
  for (const int column : named) {
    const Field& field = file.schema().fields[static_cast<size_t>(column)];
    if (can_have_statistics(field)) {
      columns.push_back(column);
    } else if (!settings.columns.empty()) {
      return Status(ErrorCode::kUnsupported, "column \"" + field.name + "\" of file \"" + file.path() +
                                                 "\" can have no statistics: it is " + value_type_text(field));
    }
  }
  return columns;
}

/// Statistics of another number of record batches than the file has were left behind by a tool that appended.
bool has_keys(const Field& field) {
  return format::arrow::find_value(field.metadata, format::arrow::kMinValuesKey) != nullptr ||
         format::arrow::find_value(field.metadata, format::arrow::kMaxValuesKey) != nullptr;
}

std::vector<int> with_keys(const FileReader& file, const std::vector<int>& columns) {
  std::vector<int> found;
  for (const int column : columns)
    if (has_keys(file.schema().fields[static_cast<size_t>(column)])) found.push_back(column);
  return found;
}

Status compute_and_store(const FileReader& file, const std::vector<int>& columns, const Settings& settings,
                         Progress& progress) {
  STROM_ASSIGN(const Ranges ranges, compute_ranges(file, columns, thread_count(settings.threads), progress));
  if (ranges.empty()) return Status::ok();
  return store_ranges(file, ranges);
}

Status remove_statistics(const FileReader& file, const std::vector<int>& columns) {
  Ranges none;
  for (const int column : with_keys(file, columns)) none[column];
  return none.empty() ? Status::ok() : store_ranges(file, none);
}

Status check_statistics(const FileReader& file, const std::vector<int>& columns, const Settings& settings,
                        Progress& progress) {
  const Ranges stated = read_ranges(file, columns);
  std::vector<int> read;
  for (const auto& [column, ranges] : stated) read.push_back(column);
  STROM_ASSIGN(const Ranges actual, compute_ranges(file, read, thread_count(settings.threads), progress));
  for (const auto& [column, ranges] : stated) {
    const Field& field = file.schema().fields[static_cast<size_t>(column)];
    for (size_t batch = 0; batch < ranges.size(); ++batch) {
      const ValueRange& found = actual.at(column)[batch];
      if (format::arrow::covers(field.layout, ranges[batch], found)) continue;
      return Status(ErrorCode::kCorruptFile, "statistics of file \"" + file.path() + "\" are wrong")
          .with_detail(fmt::format("Column \"{}\", record batch {}: they say {} to {}, the values are {} to {}.",
                                   field.name, batch, stored_value_text(field, ranges[batch].low),
                                   stored_value_text(field, ranges[batch].high), stored_value_text(field, found.low),
                                   stored_value_text(field, found.high)))
          .with_hint("arrowstat --refresh computes them anew.");
    }
  }
  return file.check_unchanged();
}

std::string shown_column(const FileReader& file, int column, const std::vector<ValueRange>& ranges) {
  const Field& field = file.schema().fields[static_cast<size_t>(column)];
  std::string text = fmt::format("  {} {}\n", field.name, value_type_text(field));
  for (size_t batch = 0; batch < ranges.size(); ++batch) {
    text += fmt::format("    [{}] ", batch);
    text += ranges[batch].low == format::arrow::kNoValue
                ? std::string("unknown")
                : stored_value_text(field, ranges[batch].low) + " .. " + stored_value_text(field, ranges[batch].high);
    text += "\n";
  }
  return text;
}

std::string json_column(const FileReader& file, int column, const std::vector<ValueRange>& ranges) {
  const Field& field = file.schema().fields[static_cast<size_t>(column)];
  std::string text = fmt::format("{{\"file\":{},\"column\":{},\"type\":{},\"batches\":[", json_text(file.path()),
                                 json_text(field.name), json_text(value_type_text(field)));
  for (size_t batch = 0; batch < ranges.size(); ++batch) {
    if (batch > 0) text += ",";
    if (ranges[batch].low == format::arrow::kNoValue) {
      text += "null";
    } else {
      text += fmt::format("{{\"min\":{},\"max\":{}}}", json_text(stored_value_text(field, ranges[batch].low)),
                          json_text(stored_value_text(field, ranges[batch].high)));
    }
  }
  return text + "]}\n";
}

Status print(const std::string& text) {
  return format::descriptor_sink(STDOUT_FILENO, "standard output")
      ->append({{const_cast<char*>(text.data()), text.size()}});
}

/// Statistics that stand in the metadata of record batches, which this program does not change.
Result<std::string> shown_batch_statistics(const FileReader& file, const std::vector<int>& columns) {
  STROM_ASSIGN(const auto storage, format::arrow::read_storage(file.path()));
  std::string text;
  for (const int column : columns) {
    const std::string& name = file.schema().fields[static_cast<size_t>(column)].name;
    for (size_t batch = 0; batch < storage.batches.size(); ++batch)
      for (const auto& [key, value] : storage.batches[batch].metadata)
        if (key == std::string(format::arrow::kBatchRangePrefix) + name)
          text += fmt::format("  {} [{}] {} (in the record batch)\n", name, batch, value);
  }
  return text;
}

Status show_statistics(const FileReader& file, const std::vector<int>& columns, const Settings& settings) {
  std::string text;
  if (!settings.json) {
    STROM_ASSIGN(const int64_t rows, count_rows(file));
    text = fmt::format("{}: {} record batches, {} rows\n", file.path(), file.batch_count(), rows);
  }
  const Ranges ranges = read_ranges(file, columns);
  for (const auto& [column, range] : ranges)
    text += settings.json ? json_column(file, column, range) : shown_column(file, column, range);
  if (!settings.json) {
    for (const int column : with_keys(file, columns))
      if (!ranges.contains(column))
        text += fmt::format("  {}: its statistics are of another number of record batches\n",
                            file.schema().fields[static_cast<size_t>(column)].name);
    STROM_ASSIGN(const std::string in_batches, shown_batch_statistics(file, columns));
    text += in_batches;
    if (ranges.empty() && in_batches.empty()) text += "  no statistics\n";
  }
  return print(text);
}

Status run_file(const std::string& path, const Settings& settings, Progress& progress) {
  STROM_ASSIGN(const ArrowFile file, FileReader::open(path));
  STROM_ASSIGN(const std::vector<int> columns, chosen_columns(*file, settings));
  const bool changes = settings.add || settings.refresh || settings.remove;
  if (settings.add) STROM_TRY(compute_and_store(*file, columns, settings, progress));
  if (settings.refresh) STROM_TRY(compute_and_store(*file, with_keys(*file, columns), settings, progress));
  if (settings.remove) STROM_TRY(remove_statistics(*file, columns));
  if (settings.check) STROM_TRY(check_statistics(*file, columns, settings, progress));
  if (!settings.show && (changes || settings.check)) return Status::ok();
  if (!changes) return show_statistics(*file, columns, settings);
  STROM_ASSIGN(const ArrowFile changed, FileReader::open(path));
  return show_statistics(*changed, columns, settings);
}

/// The number of rows in a batch of the copy, when it was not given.
Result<int64_t> usual_batch_rows(const FileReader& file) {
  constexpr int64_t kMostRows = 1 << 20;
  int64_t most = 0;
  for (int batch = 0; batch < file.batch_count(); ++batch) {
    STROM_ASSIGN(const int64_t rows, file.batch_rows(batch));
    most = std::max(most, rows);
  }
  return most > 0 ? most : kMostRows;
}

Status sort_file(const std::string& path, const Settings& settings, Progress& progress) {
  STROM_ASSIGN(const ArrowFile file, FileReader::open(path));
  SortedCopy copy;
  STROM_ASSIGN(copy.sort_columns, find_columns(*file, settings.sort_columns));
  STROM_ASSIGN(copy.batch_rows, usual_batch_rows(*file));
  if (settings.batch_rows > 0) copy.batch_rows = settings.batch_rows;
  copy.threads = thread_count(settings.threads);
  STROM_ASSIGN(copy.path, file_behind(settings.output.path));
  copy.force = settings.output.force;
  copy.cache = settings.output.cache();
  return write_sorted(*file, copy, progress);
}

Status run(const Settings& settings) {
  Progress progress(settings.progress);
  if (!settings.sort_columns.empty()) {
    STROM_TRY(sort_file(settings.files.front(), settings, progress));
    progress.finish();
    return Status::ok();
  }
  for (const std::string& path : settings.files) STROM_TRY(run_file(path, settings, progress));
  progress.finish();
  return Status::ok();
}

}  // namespace

}  // namespace strom::tool

int main(int argc, char** argv) {
  using namespace strom::tool;
  Settings settings;
  OptionTable table(
      "arrowstat", "statistics of Arrow files",
      "Shows, adds, refreshes and removes the lowest and highest value of columns in each record batch, by which "
      "Arrow_Fdw leaves out record batches that cannot have what a query looks for. Any Arrow file will do, whoever "
      "wrote it. The values stand in the footer, as metadata of the columns (min_values, max_values); record batches "
      "are not written.\n\n"
      "A file is changed in place. It is whole at every moment, also when this program is killed or the disk is full: "
      "it has the old statistics or the new ones.");
  add_options(table, settings);
  return run_program(table, argc, argv, [&] { return check_settings(settings); }, [&] { return run(settings); });
}
