// See settings.hpp.
#include "dump/settings.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <random>

#include "dump/sql_table.hpp"
#include "format/arrow/read/describe.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::tool {

Status usage_error(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

Status add_named(NamedValues& values, const std::string& text) {
  const size_t at = text.find_first_of(":=");
  if (at == std::string::npos || at == 0) return usage_error("\"" + text + "\" is not NAME:VALUE");
  values.emplace_back(text.substr(0, at), text.substr(at + 1));
  return Status::ok();
}

void add_dump_options(OptionTable& table, DumpSettings& settings) {
  table.group("Output");
  add_output_options(table, &settings.output, "Arrow file to write");
  table
      .text(0, "append", "FILE", &settings.append,
            "Arrow file to go on with; it is the old one or the new one at any instant")
      .file();
  add_compression_option(table, &settings.output);
  constexpr int64_t kLeast = 1024;
  table.size('s', "segment-size", &settings.segment_size, kLeast, "size of record batches (default 64m)");
  table
      .list('S', "stats", "COLUMNS", &settings.statistics,
            "keeps the lowest and highest value of each record batch, of these columns or of all that can have them")
      .also("stat")
      .alone_means("*");
}

void add_division_option(OptionTable& table, DumpSettings& settings) {
  table.number(0, "rows-per-file", &settings.rows_per_file, 1, INT64_MAX,
               "starts another file after so many rows: FILE-00001, FILE-00002, …");
}

void add_report_options(OptionTable& table, DumpSettings& settings) {
  table.flag(0, "verify", &settings.verify, "reads the file back and compares it with what was written");
  add_progress_option(table, &settings.progress);
  table.flag('v', "verbose", &settings.verbose, "says at the end what was written");
}

void add_information_options(OptionTable& table, DumpSettings& settings) {
  table.group("Instead of dumping");
  table.text(0, "dump", "FILE", &settings.dump, "shows the metadata of an Arrow file").also("meta").file();
  table.text(0, "schema", "FILE", &settings.schema_of, "shows an Arrow file as CREATE TABLE").file();
  table.text(0, "schema-name", "NAME", &settings.schema_name, "name of the table that --schema shows");
}

void add_database_arguments(OptionTable& table, std::string& database, std::string& user) {
  table.exclusive({"command", "table", "all-tables"});
  table.exclusive({"dump", "schema"});
  table.exclusive({"output", "append"});
  table.exclusive({"num-workers", "parallel-keys"});
  table.positional("DBNAME", [&](const std::string& text) { return database = text, Status::ok(); }, "like -d");
  table.positional("USER", [&](const std::string& text) { return user = text, Status::ok(); }, "like -u");
}

Status check_dump(const DumpSettings& settings) {
  const bool is_stream = settings.output.is_stream();
  const bool is_divided = !settings.partition_by.empty() || settings.rows_per_file > 0;
  if (is_stream && is_divided) return usage_error("--partition-by and --rows-per-file need files, not -o -");
  if (is_stream && !settings.statistics.empty())
    return usage_error("statistics need a file, since a stream has no footer for them");
  if (!settings.append.empty() && is_divided) return usage_error("--append goes on with one file, not with several");
  if (!settings.partition_by.empty() && settings.output.path.empty())
    return usage_error("--partition-by needs a folder given by -o");
  return Status::ok();
}

Status choose_output(DumpSettings& settings) {
  if (!settings.output.path.empty() || !settings.append.empty()) return Status::ok();
  const char* folder = getenv("TMPDIR");
  std::random_device random;
  std::string& path = settings.output.path;
  do {  // the file itself is made when it is whole, and never in place of another
    path = fmt::format("{}/{:08x}.arrow", folder == nullptr || *folder == '\0' ? "/tmp" : folder, random());
  } while (access(path.c_str(), F_OK) == 0);
  return Status::ok();
}

Status show_file(const DumpSettings& settings) {
  std::string text;
  if (!settings.dump.empty()) {
    STROM_ASSIGN(text, format::arrow::describe_file(settings.dump));
  } else {
    STROM_ASSIGN(const auto file, format::arrow::ExistingFile::open(settings.schema_of));
    std::string name = settings.schema_name;
    if (name.empty()) {
      name = settings.schema_of.substr(settings.schema_of.rfind('/') + 1);
      name = quote_identifier(name.substr(0, name.rfind('.')));
    }
    text = create_dumped_table(file->schema, name);
  }
  const auto sink = format::descriptor_sink(STDOUT_FILENO, "standard output");
  return sink->append({{text.data(), text.size()}});
}

void report_result(const std::string& program, const DumpSettings& settings, bool is_named, const DumpResult& result) {
  if (settings.output.is_stream() || (is_named && !settings.verbose)) return;
  const std::string files = result.files == 1 ? "" : fmt::format(" and {} other files", result.files - 1);
  fmt::print("{}: wrote on '{}'{} total {} record-batches, {} items\n", program, result.path, files, result.batches,
             result.rows);
}

}  // namespace strom::tool
