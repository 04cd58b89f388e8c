// mysql2arrow: the result of a query, a table or a database, from MariaDB or MySQL into Arrow files.
#include <fmt/format.h>
#include <mysql.h>

#include "cli/program.hpp"
#include "mysql2arrow/dump.hpp"
#include "mysql2arrow/settings.hpp"

namespace strom::mysql2arrow {

namespace {

using tool::add_named;
using tool::OptionTable;
using tool::usage_error;

/// An option whose values are those of an enumeration, in order.
template <class T>
void choice(OptionTable& table, const std::string& name, const std::string& value, T& target,
            const std::vector<std::string>& names, const std::string& help) {
  table
      .custom(
          0, name, value,
          [&target, names](const std::string& text) {
            for (size_t i = 0; i < names.size(); ++i) {
              if (names[i] == text) target = static_cast<T>(i);
            }
            return Status::ok();
          },
          help)
      .one_of(names);
}

void add_connection_options(OptionTable& table, Settings& settings) {
  constexpr int64_t kMostPort = 65535;
  table.group("Connection");
  table.text('d', "dbname", "DBNAME", &settings.database, "database").also("database");
  table.text('h', "host", "HOST", &settings.host, "server's host (default: the local one, through its socket)");
  table.number('p', "port", &settings.port, 1, kMostPort, "server's port");
  table.text(0, "socket", "PATH", &settings.socket, "server's socket").file();
  table.text('u', "user", "USER", &settings.user, "user to connect as");
  table.custom(
      'P', "password", "PASS", [&](const std::string& text) { return settings.password = text, Status::ok(); },
      "password; other users of this machine can see it here, but not in MYSQL_PWD or an option file");
  table.flag('w', "no-password", &settings.never_ask, "never ask for a password");
  table.flag('W', "ask-password", &settings.always_ask, "ask for a password at once");
  table
      .text(0, "defaults-file", "FILE", &settings.defaults_file,
            "option file to read instead of my.cnf and ~/.my.cnf; groups client and mysql2arrow")
      .file();
  choice(table, "ssl-mode", "MODE", settings.tls, {"disabled", "preferred", "required", "verify-ca", "verify-identity"},
         "encryption of the connection (default preferred: over TCP where the server can)");
  table.text(0, "ssl-ca", "FILE", &settings.tls_ca, "certificates to trust").file();
  table.text(0, "ssl-cert", "FILE", &settings.tls_certificate, "the user's certificate").file();
  table.text(0, "ssl-key", "FILE", &settings.tls_key, "its key").file();
  table.custom(
      0, "set", "NAME:VALUE", [&](const std::string& text) { return add_named(settings.server_settings, text); },
      "a variable of the server for the sessions; may be repeated");
}

void add_source_options(OptionTable& table, Settings& settings) {
  table.group("What is dumped");
  table.text('c', "command", "SQL", &settings.command, "a query; file://PATH reads it from a file");
  table.text('t', "table", "TABLE", &settings.table, "a table, as SELECT * FROM TABLE");
  table.flag(0, "all-tables", &settings.all_tables,
             "every table of the database, into the folder given by -o, with a script of CREATE FOREIGN TABLE");
  table.custom(
      0, "param", "NAME:VALUE", [&](const std::string& text) { return add_named(settings.parameters, text); },
      "replaces @(NAME) in the query; may be repeated");
  constexpr int64_t kMostWorkers = 9999;
  table.number('n', "num-workers", &settings.workers, 1, kMostWorkers,
               "sessions that share the work: ranges of a table's primary key; a query given by -c divides it by "
               "$(WORKER_ID) and $(N_WORKERS)");
  table.list('k', "parallel-keys", "KEYS", &settings.parallel_keys,
             "a session for each of these, separated by commas, with $(PARALLEL_KEY) in the query standing for it");
  table.flag(0, "no-snapshot", &settings.no_snapshot,
             "workers need not see the same state of the database, and nothing is locked for that");
}

void add_output_options(OptionTable& table, Settings& settings) {
  tool::add_dump_options(table, settings);
  tool::add_division_option(table, settings);
  table.flag(0, "resume", &settings.resume, "with --all-tables: leaves out tables whose file is there");
  choice(table, "zero-dates", "WHAT", settings.zero_dates, {"error", "null", "text"},
         "what becomes of dates that are in no calendar, such as 0000-00-00: an error (default), NULL, or all dates "
         "are written as text");
  choice(table, "time", "TYPE", settings.time_as, {"time", "interval", "text"},
         "type of TIME columns: time, where negative ones and those from 24 hours on are an error (default), interval "
         "or text");
  table
      .custom(
          0, "tinyint1", "TYPE",
          [&](const std::string& text) { return settings.tinyint1_is_bool = text == "bool", Status::ok(); },
          "type of TINYINT(1) columns (default int)")
      .one_of({"int", "bool"});
  tool::add_report_options(table, settings);
}

Status check(const Settings& settings) {
  if (settings.shows_a_file()) return Status::ok();
  if (settings.command.empty() + settings.table.empty() + !settings.all_tables != 2)
    return usage_error("one of -c, -t and --all-tables is needed; see mysql2arrow --help");
  if (settings.all_tables && (settings.output.is_stream() || settings.output.path.empty() || !settings.append.empty()))
    return usage_error("--all-tables needs a folder given by -o");
  if (settings.all_tables && settings.rows_per_file > 0)
    return usage_error("--all-tables writes one file for each table");
  if (settings.resume && !settings.all_tables) return usage_error("--resume goes with --all-tables");
  return tool::check_dump(settings);
}

Status run(Settings& settings) {
  if (settings.shows_a_file()) return tool::show_file(settings);
  const bool is_named = !settings.output.path.empty() || !settings.append.empty();
  STROM_TRY(tool::choose_output(settings));
  tool::Progress progress(settings.progress, settings.output.is_stream());
  Result<DumpResult> dumped = settings.all_tables ? dump_all_tables(settings, progress) : dump(settings, progress);
  STROM_ASSIGN(const DumpResult result, std::move(dumped));
  progress.finish();
  tool::report_result("mysql2arrow", settings, is_named, result);
  return Status::ok();
}

int main_of_tool(int argc, char** argv) {
  Settings settings;
  OptionTable table("mysql2arrow", "dumps MySQL and MariaDB tables and queries into Apache Arrow files",
                    "Runs a query on a MySQL or MariaDB server and writes its result as an Apache Arrow file, with "
                    "exact values, in one consistent snapshot however many sessions share the work.\n\n"
                    "The file appears under its name when it is complete. An existing file is not overwritten without "
                    "-f. Options of the connection are also taken from option files, such as ~/.my.cnf.");
  add_connection_options(table, settings);
  add_source_options(table, settings);
  add_output_options(table, settings);
  tool::add_information_options(table, settings);
  tool::add_database_arguments(table, settings.database, settings.user);
  table.exclusive({"no-password", "ask-password"});
  table.exclusive({"password", "ask-password"});
  table.example("mysql2arrow -d shop -t orders -o orders.arrow --stats", "a table, with statistics for all columns");
  table.example("mysql2arrow -d shop -t orders -n 4 -o orders.arrow --progress", "the same by four sessions");
  table.example("mysql2arrow -d shop -c 'SELECT * FROM log WHERE day = CURRENT_DATE' --append log.arrow",
                "more rows for a file");
  table.example("mysql2arrow -d shop --all-tables -o dump", "the whole database, a file for each table");
  table.library(fmt::format("libmariadb {}", mysql_get_client_info()));
  return tool::run_program(table, argc, argv, [&] { return check(settings); }, [&] { return run(settings); });
}

}  // namespace

}  // namespace strom::mysql2arrow

int main(int argc, char** argv) { return strom::mysql2arrow::main_of_tool(argc, argv); }
