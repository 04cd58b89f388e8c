// arrow-info: what is in Arrow files: columns, record batches, statistics, metadata; whether all is well with them;
// what two files differ in.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arrow-info/difference.hpp"
#include "arrow_files/open_file.hpp"
#include "arrow_files/report.hpp"
#include "arrow_files/sql_table.hpp"
#include "arrow_files/workers.hpp"
#include "cli/program.hpp"
#include "format/byte_sink.hpp"

namespace strom::tool {

namespace {

using format::arrow::FileReader;

struct Settings {
  std::vector<std::string> files;
  ReportParts parts;
  std::string table, foreign_table;
  int64_t threads = 0;
  bool json = false, validate = false, diff = false, only_values = false;
};

void add_options(OptionTable& table, Settings& settings) {
  table.files(&settings.files, "Arrow files; - is standard input");
  table.group("What to print");
  table.flag('b', "batches", &settings.parts.batches, "also the record batches: place, size, rows");
  table.flag('s', "stats", &settings.parts.statistics, "also the statistics of the columns").also("stat");
  table.flag('m', "metadata", &settings.parts.metadata, "also the metadata of the file and the columns").also("meta");
  table.flag(0, "json", &settings.json, "everything, as one JSON object for each file");
  table.text(0, "create-table", "NAME", &settings.table, "CREATE TABLE with columns for those of the file")
      .also("schema-name");
  table.text(0, "create-foreign-table", "NAME", &settings.foreign_table,
             "CREATE FOREIGN TABLE over the file, for Arrow_Fdw");
  table.flag(0, "validate", &settings.validate,
             "read everything; print what is wrong, and exit 1 if there is something");
  table.flag(0, "diff", &settings.diff, "print what two files differ in, and exit 1 if there is something");
  table.flag(0, "only-values", &settings.only_values, "--diff looks at rows and values, not at metadata");
  const std::vector<std::string> modes = {"json", "create-table", "create-foreign-table", "validate", "diff"};
  for (size_t i = 0; i < modes.size(); ++i)
    for (size_t j = i + 1; j < modes.size(); ++j) table.exclusive({modes[i], modes[j]});
  table.group("General");
  add_threads_option(table, &settings.threads);
  table.example("arrow-info -bsm flineorder.arrow", "all there is to know");
  table.example("arrow-info --create-foreign-table=public.lineorder lineorder.arrow | psql shop",
                "a table over a file");
  table.example("arrow-info --validate *.arrow", "is all well?");
  table.example("arrow-info --diff old.arrow new.arrow", "what changed?");
}

Status usage(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

Status check(const Settings& settings) {
  if (settings.files.empty()) return usage("no file to read; see arrow-info --help");
  if (settings.diff && settings.files.size() != 2) return usage("--diff needs two files");
  if (settings.only_values && !settings.diff) return usage("--only-values needs --diff");
  if ((!settings.table.empty() || !settings.foreign_table.empty()) && settings.files.size() != 1)
    return usage("--create-table and --create-foreign-table need one file");
  if (!settings.foreign_table.empty() && settings.files[0] == "-")
    return usage("--create-foreign-table needs a file that the server can read, not standard input");
  return Status::ok();
}

Status print(const std::string& text) {
  return format::descriptor_sink(STDOUT_FILENO, "standard output")
      ->append({{const_cast<char*>(text.data()), text.size()}});
}

/// The server needs the whole path.
std::string absolute_path(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string absolute = resolved;
  free(resolved);
  return absolute;
}

Result<std::string> create_statement(const FileReader& file, const Settings& settings) {
  SqlTable table;
  table.name = settings.table.empty() ? settings.foreign_table : settings.table;
  if (settings.table.empty()) table.foreign_file = absolute_path(file.path());
  STROM_ASSIGN(const auto fields, with_binary_types(file));
  return create_table(fields, table);
}

Status report_diff(const FileReader& left, const FileReader& right, const Settings& settings) {
  STROM_ASSIGN(const auto lines, differences(left, right, settings.only_values, thread_count(settings.threads)));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  STROM_TRY(print(text));
  if (lines.empty()) return Status::ok();
  return Status(ErrorCode::kTypeMismatch, "the files differ");
}

/// What is wrong with a file's values, a line each. A file that cannot even be opened is no reason to leave out others.
Status report_problems(const std::string& path, const Settings& settings, bool* sound) {
  const auto file = open_arrow_file(path);
  if (!file.is_ok()) {
    *sound = false;
    return print(path + ": " + file.status().message() +
                 (file.status().detail().empty() ? "" : ": " + file.status().detail()) + "\n");
  }
  STROM_ASSIGN(const auto lines, problems(*file.value(), thread_count(settings.threads)));
  std::string text;
  for (const std::string& line : lines) text += path + ": " + line + "\n";
  const auto& fields = file.value()->schema().fields;
  const auto unread = std::count_if(fields.begin(), fields.end(), [](const auto& f) { return !f.unsupported.empty(); });
  if (lines.empty()) text = path + ": sound";
  if (lines.empty() && unread > 0) text += fmt::format(", but for {} columns that cannot be read", unread);
  if (lines.empty()) text += "\n";
  *sound = *sound && lines.empty();
  return print(text);
}

Status run(const Settings& settings) {
  if (settings.diff) {
    STROM_ASSIGN(const ArrowFile left, open_arrow_file(settings.files[0]));
    STROM_ASSIGN(const ArrowFile right, open_arrow_file(settings.files[1]));
    return report_diff(*left, *right, settings);
  }
  bool sound = true;
  for (const std::string& path : settings.files) {
    if (settings.validate) {
      STROM_TRY(report_problems(path, settings, &sound));
      continue;
    }
    STROM_ASSIGN(const ArrowFile file, open_arrow_file(path));
    if (!settings.table.empty() || !settings.foreign_table.empty()) {
      STROM_ASSIGN(const std::string statement, create_statement(*file, settings));
      STROM_TRY(print(statement));
    } else {
      STROM_ASSIGN(const std::string text, settings.json ? json_report(*file) : text_report(*file, settings.parts));
      STROM_TRY(print(text));
    }
  }
  return sound ? Status::ok() : Status(ErrorCode::kCorruptFile, "a file is not sound");
}

}  // namespace

}  // namespace strom::tool

int main(int argc, char** argv) {
  using namespace strom::tool;
  Settings settings;
  OptionTable table("arrow-info", "what is in Arrow files",
                    "Shows the columns of Arrow files, their record batches, statistics and metadata; makes CREATE "
                    "TABLE statements of them; checks every value; compares two files.");
  add_options(table, settings);
  return run_program(table, argc, argv, [&] { return check(settings); }, [&] { return run(settings); });
}
