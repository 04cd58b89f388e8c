// Options of all tools that dump rows into Arrow files, and what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/schema.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"

namespace strom::tool {

struct DumpSettings {
  OutputOptions output;
  std::string append;
  int64_t segment_size = int64_t{64} << 20;
  std::vector<std::string> statistics;  // names; "*": all that can have them
  std::vector<std::string> partition_by;
  int64_t rows_per_file = 0;
  int64_t first_part = 0;  // files that are there already
  bool verify = false;
  bool resume = false;

  ProgressOptions progress;
  bool verbose = false;

  // Instead of dumping
  std::string dump, schema_of, schema_name;

  bool shows_a_file() const { return !dump.empty() || !schema_of.empty(); }
};

/// What was written; `path` is that of the last file.
struct DumpResult {
  std::string path;
  int64_t files = 0, batches = 0, rows = 0;
};

/// -o, --append, -s, --stats, --verify and the like, under headings of their own.
void add_dump_options(OptionTable& table, DumpSettings& settings);
/// --rows-per-file.
void add_division_option(OptionTable& table, DumpSettings& settings);
/// --progress, -v; and what shows a file.
void add_report_options(OptionTable& table, DumpSettings& settings);
void add_information_options(OptionTable& table, DumpSettings& settings);
/// DBNAME and USER without their options, and which of a database tool's options exclude each other.
void add_database_arguments(OptionTable& table, std::string& database, std::string& user);

/// Options that contradict each other.
Status check_dump(const DumpSettings& settings);
/// Without -o: a new file in the folder for temporary files.
Status choose_output(DumpSettings& settings);
/// --dump, --schema.
Status show_file(const DumpSettings& settings);
/// Says on standard output what was written, when that was asked for or the file's name was not the user's.
void report_result(const std::string& program, const DumpSettings& settings, bool is_named, const DumpResult& result);

/// NAME:VALUE, or NAME=VALUE.
using NamedValues = std::vector<std::pair<std::string, std::string>>;
Status add_named(NamedValues& values, const std::string& text);

Status usage_error(std::string message);

}  // namespace strom::tool
