// pg2arrow: the result of a query, a table or a database, from PostgreSQL into Arrow files.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <malloc.h>

#include "cli/program.hpp"
#include "pg2arrow/all_tables.hpp"
#include "pg2arrow/connection.hpp"
#include "pg2arrow/dump.hpp"
#include "pg2arrow/settings.hpp"

namespace strom::pg2arrow {

namespace {

using tool::OptionTable;

using tool::add_named;

Status usage(std::string message) { return tool::usage_error(std::move(message)); }

/// decimal(P,S), text or float64.
Status parse_numeric(const std::string& text, NumericChoice& choice) {
  if (text == "text") {
    choice.as = NumericChoice::As::kText;
    return Status::ok();
  }
  if (text == "float64" || text == "float64-nearest") {
    choice.as = NumericChoice::As::kReal;
    choice.may_round = text != "float64";
    return Status::ok();
  }
  int precision = 0, scale = 0, used = 0;
  constexpr int kMaxPrecision = 76;
  const int found = sscanf(text.c_str(), "decimal(%d,%d)%n", &precision, &scale, &used);
  if (found != 2 || static_cast<size_t>(used) != text.size() || precision < 1 || precision > kMaxPrecision ||
      scale < 0 || scale > precision) {
    return usage("\"" + text +
                 "\" is none of decimal(P,S) with P up to 76 and S up to P, text, float64, float64-nearest");
  }
  choice = {NumericChoice::As::kDecimal, precision, scale};
  return Status::ok();
}

void add_connection_options(OptionTable& table, Settings& settings) {
  tool::add_server_options(table, &settings);
  table.custom(
      0, "set", "NAME:VALUE", [&](const std::string& text) { return add_named(settings.server_settings, text); },
      "a setting of the server for the sessions; may be repeated");
}

void add_source_options(OptionTable& table, Settings& settings) {
  table.group("What is dumped");
  table.text('c', "command", "SQL", &settings.command, "a query; file://PATH reads it from a file");
  table.text('t', "table", "TABLE", &settings.table, "a table, as SELECT * FROM TABLE");
  table.flag(0, "all-tables", &settings.all_tables,
             "every table of the database, into the folder given by -o, with a script of CREATE FOREIGN TABLE");
  table.custom(
      0, "inner-join", "SQL",
      [&](const std::string& sql) {
        settings.joins.push_back({false, sql});
        return Status::ok();
      },
      "joins a query in which $(COLUMN) is a column of the first one; rows without a match are left out");
  table.custom(
      0, "outer-join", "SQL",
      [&](const std::string& sql) {
        settings.joins.push_back({true, sql});
        return Status::ok();
      },
      "likewise; rows without a match have NULLs");
  table.custom(
      0, "param", "NAME:VALUE", [&](const std::string& text) { return add_named(settings.parameters, text); },
      "replaces @(NAME) in the query; may be repeated");
  table.number('n', "num-workers", &settings.workers, 1, 9999,
               "sessions that share the work; a query given by -c divides it by $(CTID_RANGE), or by $(WORKER_ID) and "
               "$(N_WORKERS)");
  table.text(0, "ctid-target", "TABLE", &settings.ctid_target, "the table that $(CTID_RANGE) is about");
  table.list('k', "parallel-keys", "KEYS", &settings.parallel_keys,
             "a session for each of these, separated by commas, with $(PARALLEL_KEY) in the query standing for it");
}

void add_output_options(OptionTable& table, Settings& settings) {
  tool::add_dump_options(table, settings);
  table.list(0, "partition-by", "COLUMNS", &settings.partition_by,
             "a folder for each value of these columns, COLUMN=VALUE, below the folder given by -o");
  tool::add_division_option(table, settings);
  table.list(0, "sort-by", "COLUMNS", &settings.sort_by,
             "rows in the order of these columns, NAME or NAME:desc; with several workers within each one's share");
  table
      .list(0, "dictionary", "COLUMNS", &settings.dictionary,
            "dictionaries for these columns of text, or for all that have few values by the server's statistics")
      .alone_means("*");
  table.flag(0, "resume", &settings.resume,
             "goes on with an interrupted --all-tables or, with --sort-by, --rows-per-file: files that are there are "
             "left as they are");
  table.custom(
      0, "numeric", "TYPE", [&](const std::string& text) { return parse_numeric(text, settings.numeric); },
      "type of numeric columns without precision, or with more than 76 digits: decimal(P,S), text or float64; "
      "values that do not fit exactly are an error, but float64-nearest rounds (default decimal(36,9))");
  table
      .custom(
          0, "infinity", "WHAT",
          [&](const std::string& text) {
            settings.infinity_is_null = text == "null";
            return Status::ok();
          },
          "what becomes of infinite dates, timestamps and intervals")
      .one_of({"error", "null"});
  table
      .custom(
          0, "out-of-range", "WHAT",
          [&](const std::string& text) {
            settings.out_of_range_is_null = text == "null";
            return Status::ok();
          },
          "what becomes of values that the Arrow type does not have: infinite ones, the time 24:00:00, NaN of numeric, "
          "numbers with too many digits, timestamps after the year 294246: error (default) or null")
      .one_of({"error", "null"});
  table.flag(0, "no-server-side", &settings.no_server_side,
             "takes rows one by one also from a server whose extension pg_strom would make record batches of them");
  tool::add_report_options(table, settings);
}

Status check(Settings& settings) {
  if (settings.shows_a_file()) return Status::ok();
  const bool is_stream = settings.output.is_stream();
  if (settings.command.empty() + settings.table.empty() + !settings.all_tables != 2) {
    return usage("one of -c, -t and --all-tables is needed; see pg2arrow --help");
  }
  if (settings.all_tables && (is_stream || settings.output.path.empty() || !settings.append.empty())) {
    return usage("--all-tables needs a folder given by -o");
  }
  if (settings.all_tables &&
      (!settings.joins.empty() || !settings.partition_by.empty() || settings.rows_per_file > 0)) {
    return usage("--all-tables writes one file for each table, without joins");
  }
  if (!settings.partition_by.empty() && (settings.workers > 1 || !settings.parallel_keys.empty())) {
    return usage("--partition-by sorts all rows and so has one worker");
  }
  if (settings.resume && !settings.all_tables &&
      (settings.rows_per_file == 0 || settings.sort_by.empty() || settings.workers > 1 ||
       !settings.parallel_keys.empty()))
    return usage("--resume goes with --all-tables, or with --rows-per-file, --sort-by and one worker");
  if (!settings.sort_by.empty() && settings.all_tables) return usage("--all-tables has no order for all tables");
  if (!settings.dictionary.empty() && settings.all_tables && settings.dictionary != std::vector<std::string>{"*"})
    return usage("--all-tables takes --dictionary without names");
  return tool::check_dump(settings);
}

Status run(Settings& settings) {
  if (settings.shows_a_file()) return tool::show_file(settings);
  const bool is_named = !settings.output.path.empty() || !settings.append.empty();
  STROM_ASSIGN(const auto connection, Connection::open(settings));
  STROM_TRY(tool::choose_output(settings));
  tool::Progress progress(settings.progress, settings.output.is_stream());
  Result<DumpResult> dumped =
      settings.all_tables ? dump_all_tables(*connection, settings, progress) : dump(*connection, settings, progress);
  STROM_ASSIGN(const DumpResult result, std::move(dumped));
  progress.finish();
  tool::report_result("pg2arrow", settings, is_named, result);
  return Status::ok();
}

}  // namespace

/// Rows and pieces of record batches come in memory that libpq takes and gives back for each: up to this size it is
/// reused, where glibc would fetch it anew from the system. Columns are larger, and grow in place.
void keep_message_memory() {
  constexpr int kLargestMessage = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestMessage);
  mallopt(M_TRIM_THRESHOLD, 4 * kLargestMessage);
}

int main_of_tool(int argc, char** argv) {
  keep_message_memory();
  Settings settings;
  OptionTable table("pg2arrow", "dumps PostgreSQL tables and queries into Apache Arrow files",
                    "Runs a query on a PostgreSQL server and writes its result as an Apache Arrow file, with exact "
                    "values, in one consistent snapshot however many sessions share the work.\n\n"
                    "The file appears under its name when it is complete. An existing file is not overwritten without "
                    "-f.");
  add_connection_options(table, settings);
  add_source_options(table, settings);
  add_output_options(table, settings);
  tool::add_information_options(table, settings);
  tool::add_database_arguments(table, settings.database, settings.user);
  table.exclusive({"no-password", "password"});
  table.example("pg2arrow -d mydb -t lineorder -o lineorder.arrow --stats", "a table, with statistics for all columns");
  table.example("pg2arrow -d mydb -t lineorder -n 4 -o lineorder.arrow --progress", "the same by four sessions");
  table.example("pg2arrow -d mydb -c 'SELECT * FROM log WHERE day = current_date' --append log.arrow",
                "more rows for a file");
  table.example("pg2arrow -d mydb --all-tables -o dump", "the whole database, a file for each table");
  table.example("pg2arrow --dump lineorder.arrow", "what is in a file");
  table.example("pg2arrow -d mydb -c 'SELECT * FROM t' -o - | consumer", "a stream of record batches");
  const int version = PQlibVersion();
  table.library(fmt::format("libpq {}.{}", version / 10000, version % 10000));
  return tool::run_program(table, argc, argv, [&] { return check(settings); }, [&] { return run(settings); });
}

}  // namespace strom::pg2arrow

int main(int argc, char** argv) { return strom::pg2arrow::main_of_tool(argc, argv); }
