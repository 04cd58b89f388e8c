// pg2arrow: the result of a query, a table or a database, from PostgreSQL into Arrow files.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <unistd.h>

#include <charconv>

#include "common/program.hpp"
#include "format/arrow/describe.hpp"
#include "format/arrow/nested_writer.hpp"
#include "pg2arrow/all_tables.hpp"
#include "pg2arrow/connection.hpp"
#include "pg2arrow/dump.hpp"
#include "pg2arrow/settings.hpp"

namespace strom::pg2arrow {

namespace {

using tool::OptionTable;

Status usage(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

/// NAME:VALUE, or NAME=VALUE.
Status add_named(NamedValues& values, const std::string& text) {
  const size_t at = text.find_first_of(":=");
  if (at == std::string::npos || at == 0) return usage("\"" + text + "\" is not NAME:VALUE");
  values.emplace_back(text.substr(0, at), text.substr(at + 1));
  return Status::ok();
}

Status parse_numeric(const std::string& text, NumericChoice& choice) {
  if (text == "text") {
    choice.as = NumericChoice::As::kText;
    return Status::ok();
  }
  if (text == "float64") {
    choice.as = NumericChoice::As::kReal;
    return Status::ok();
  }
  int precision = 0, scale = 0, used = 0;
  constexpr int kMaxPrecision = 76;
  const int found = sscanf(text.c_str(), "decimal(%d,%d)%n", &precision, &scale, &used);
  if (found != 2 || static_cast<size_t>(used) != text.size() || precision < 1 || precision > kMaxPrecision ||
      scale < 0 || scale > precision) {
    return usage("\"" + text + "\" is none of decimal(P,S) with P up to 76 and S up to P, text, float64");
  }
  choice = {NumericChoice::As::kDecimal, precision, scale};
  return Status::ok();
}

void add_connection_options(OptionTable& table, Settings& settings) {
  table.group("Connection");
  table.text('d', "dbname", "DBNAME", &settings.database,
             "database, or a connection string or URI (default: PGDATABASE)");
  table.text('h', "host", "HOST", &settings.host, "server's host or socket folder (default: PGHOST)");
  table.text('p', "port", "PORT", &settings.port, "server's port (default: PGPORT)");
  table.text('u', "user", "USER", &settings.user, "role to connect as (default: PGUSER)").also("username");
  table.flag('w', "no-password", &settings.never_ask, "never ask for a password");
  table.flag('W', "password", &settings.always_ask,
             "ask for a password at once; PGPASSWORD, .pgpass and services need no option");
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
  table.group("Output");
  tool::add_output_options(table, &settings.output, "Arrow file to write");
  table
      .text(0, "append", "FILE", &settings.append,
            "Arrow file to go on with; it is the old one or the new one at any instant")
      .file();
  tool::add_compression_option(table, &settings.output);
  constexpr int64_t kLeast = 1024;
  table.size('s', "segment-size", &settings.segment_size, kLeast, "size of record batches (default 256m)");
  table
      .list('S', "stats", "COLUMNS", &settings.statistics,
            "keeps the lowest and highest value of each record batch, of these columns or of all that can have them")
      .also("stat")
      .alone_means("*");
  table.list(0, "partition-by", "COLUMNS", &settings.partition_by,
             "a folder for each value of these columns, COLUMN=VALUE, below the folder given by -o");
  table.number(0, "rows-per-file", &settings.rows_per_file, 1, INT64_MAX,
               "starts another file after so many rows: FILE-00001, FILE-00002, …");
  table.custom(
      0, "numeric", "TYPE", [&](const std::string& text) { return parse_numeric(text, settings.numeric); },
      "type of numeric columns without precision, or with more than 76 digits: decimal(P,S), text or float64; "
      "values that do not fit exactly are an error (default decimal(36,9))");
  table
      .custom(
          0, "infinity", "WHAT",
          [&](const std::string& text) {
            settings.infinity_is_null = text == "null";
            return Status::ok();
          },
          "what becomes of infinite dates and timestamps")
      .one_of({"error", "null"});
  table.flag(0, "verify", &settings.verify, "reads the file back and compares it with what was written");
  tool::add_progress_option(table, &settings.progress);
  table.flag('v', "verbose", &settings.verbose, "says at the end what was written");
}

void add_information_options(OptionTable& table, Settings& settings) {
  table.group("Instead of dumping");
  table.text(0, "dump", "FILE", &settings.dump, "shows the metadata of an Arrow file").also("meta").file();
  table.text(0, "schema", "FILE", &settings.schema_of, "shows an Arrow file as CREATE TABLE").file();
  table.text(0, "schema-name", "NAME", &settings.schema_name, "name of the table that --schema shows");
}

Status check(Settings& settings) {
  if (!settings.dump.empty() || !settings.schema_of.empty()) return Status::ok();
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
  const bool is_divided = !settings.partition_by.empty() || settings.rows_per_file > 0;
  if (is_stream && is_divided) return usage("--partition-by and --rows-per-file need files, not -o -");
  if (is_stream && !settings.statistics.empty())
    return usage("statistics need a file, since a stream has no footer for them");
  if (!settings.append.empty() && is_divided) return usage("--append goes on with one file, not with several");
  if (!settings.partition_by.empty() && (settings.workers > 1 || !settings.parallel_keys.empty())) {
    return usage("--partition-by sorts all rows and so has one worker");
  }
  if (!settings.partition_by.empty() && settings.output.path.empty())
    return usage("--partition-by needs a folder given by -o");
  return Status::ok();
}

/// Without -o: a new file in the folder for temporary files.
Status choose_output(Settings& settings) {
  if (!settings.output.path.empty() || !settings.append.empty()) return Status::ok();
  const char* folder = getenv("TMPDIR");
  std::string path = std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/XXXXXX.arrow";
  constexpr int kSuffix = 6;
  const int fd = mkstemps(path.data(), kSuffix);
  if (fd < 0)
    return Status(ErrorCode::kIoError, "could not create a file in the folder for temporary files; name one with -o");
  close(fd);
  settings.output.path = path;
  settings.output.force = true;
  return Status::ok();
}

Status show(const Settings& settings) {
  std::string text;
  if (!settings.dump.empty()) {
    STROM_ASSIGN(text, format::arrow::describe_file(settings.dump));
  } else {
    STROM_ASSIGN(const auto file, format::arrow::ExistingFile::open(settings.schema_of));
    std::string name = settings.schema_name;
    if (name.empty()) {
      name = settings.schema_of.substr(settings.schema_of.rfind('/') + 1);
      name = '"' + name.substr(0, name.rfind('.')) + '"';
    }
    text = create_table(file->schema, name) + ";\n";
  }
  const auto sink = format::descriptor_sink(STDOUT_FILENO, "standard output");
  return sink->append({{text.data(), text.size()}});
}

Status run(Settings& settings) {
  if (!settings.dump.empty() || !settings.schema_of.empty()) return show(settings);
  const bool is_named = !settings.output.path.empty() || !settings.append.empty();
  STROM_ASSIGN(const auto connection, Connection::open(settings));
  STROM_TRY(choose_output(settings));
  tool::Progress progress(settings.progress);
  Result<DumpResult> dumped =
      settings.all_tables ? dump_all_tables(*connection, settings, progress) : dump(*connection, settings, progress);
  STROM_ASSIGN(const DumpResult result, std::move(dumped));
  progress.finish();
  if (settings.output.is_stream() || (is_named && !settings.verbose)) return Status::ok();
  const std::string files = result.files == 1 ? "" : fmt::format(" and {} other files", result.files - 1);
  fmt::print("pg2arrow: wrote on '{}'{} total {} record-batches, {} items\n", result.path, files, result.batches,
             result.rows);
  return Status::ok();
}

}  // namespace

int main_of_tool(int argc, char** argv) {
  Settings settings;
  OptionTable table("pg2arrow", "dumps PostgreSQL tables and queries into Apache Arrow files",
                    "Runs a query on a PostgreSQL server and writes its result as an Apache Arrow file, with exact "
                    "values, in one consistent snapshot however many sessions share the work.\n\n"
                    "The file appears under its name when it is complete. An existing file is not overwritten without "
                    "-f.");
  add_connection_options(table, settings);
  add_source_options(table, settings);
  add_output_options(table, settings);
  add_information_options(table, settings);
  table.exclusive({"command", "table", "all-tables"});
  table.exclusive({"dump", "schema"});
  table.exclusive({"output", "append"});
  table.exclusive({"num-workers", "parallel-keys"});
  table.exclusive({"no-password", "password"});
  table.positional(
      "DBNAME", [&](const std::string& text) { return settings.database = text, Status::ok(); }, "like -d");
  table.positional("USER", [&](const std::string& text) { return settings.user = text, Status::ok(); }, "like -u");
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
