// strom-kv: rows of store tables by their key, from the command line.
#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>

#include "cli/program.hpp"
#include "strom-kv/commands.hpp"
#include "strom-kv/messages.hpp"
#include "strom-kv/settings.hpp"

namespace strom::kv_tool {

namespace {

Status usage(std::string message) { return {ErrorCode::kInvalidParameter, std::move(message)}; }

struct Command {
  const char* name;
  size_t least, most;  // arguments after the table
  const char* arguments;
};

constexpr size_t kAny = SIZE_MAX;
constexpr Command kCommands[] = {{"get", 1, 1, "a key"},    {"mget", 1, kAny, "keys"}, {"put", 1, 1, "a row as JSON"},
                                 {"del", 1, kAny, "keys"},  {"dump", 0, 0, "nothing"}, {"verify", 0, 0, "nothing"},
                                 {"stat", 0, 0, "nothing"}, {"bench", 0, 0, "nothing"}};

void add_options(tool::OptionTable& table, Settings& settings) {
  table.positional(
      "COMMAND",
      [&](const std::string& text) {
        settings.command = text;
        return Status::ok();
      },
      "get, mget, put, del, dump, verify, stat or bench");
  table.positional(
      "TABLE",
      [&](const std::string& text) {
        settings.table = text;
        return Status::ok();
      },
      "the store table");
  table.positional(
      "ARGUMENT",
      [&](const std::string& text) {
        settings.arguments.push_back(text);
        return Status::ok();
      },
      "keys, or for put a row as JSON; after -- also keys that begin with -", true);
  tool::add_server_options(table, &settings);
  table.text(0, "socket", "PATH", &settings.socket,
             "with --token: what pgstrom.kv_attach() or kv_session() has given to somebody else");
  table.text(0, "token", "TOKEN", &settings.token, "reads without a session of its own");
  table.flag(0, "messages", &settings.asks, "asks the server by messages, as programs do (get, mget, put, del, stat)");
  table.flag(0, "tcp", &settings.uses_tcp,
             "over TCP, from another machine, by messages; not encrypted (get, mget, dump, stat, bench; the rest with "
             "--messages)");
  table.flag(
      0, "rdma", &settings.uses_rdma,
      "by RDMA, from another machine, past the server's processes; not encrypted (get, mget, dump, stat, bench)");
  table.group("bench");
  constexpr int64_t kMost = 4096;
  table.number(0, "threads", &settings.threads, 1, kMost, "threads that read (default 1)");
  table.number(0, "seconds", &settings.seconds, 1, 86400, "how long (default 5)");
  table.number(0, "batch", &settings.batch, 1, kMost, "keys of one call (default 1)");
  table.group("General");
  table.example("strom-kv get positions 4711", "a row, as JSON");
  table.example("strom-kv get positions -- -5", "a negative key");
  table.example("strom-kv put positions '{\"dev_id\": 4711, \"x\": 3.5}'", "makes the row, or changes it");
  table.example("strom-kv bench positions --threads=2 --batch=8", "how many rows a second?");
  table.library(fmt::format("libpq {}.{}", PQlibVersion() / 10000, PQlibVersion() % 10000));
}

/// What goes over TCP and by RDMA.
Status check_transport(const Settings& settings, bool writes) {
  const bool changes_or_verifies = writes || settings.command == "verify";
  if (settings.uses_tcp && !settings.asks && changes_or_verifies)
    return usage(settings.command + " does not go over TCP" + (writes ? " without --messages" : ""));
  if (settings.uses_rdma && (settings.asks || settings.uses_tcp))
    return usage("--rdma goes with neither --tcp nor --messages");
  if (settings.uses_rdma && changes_or_verifies) return usage(settings.command + " does not go by RDMA");
  if ((settings.uses_tcp || settings.uses_rdma) && !settings.token.empty())
    return usage(std::string("--socket names the transport, so it takes no ") +
                 (settings.uses_tcp ? "--tcp" : "--rdma"));
  return Status::ok();
}

Status check(const Settings& settings) {
  if (settings.command.empty()) return usage("no command; see strom-kv --help");
  const auto* known = std::find_if(std::begin(kCommands), std::end(kCommands),
                                   [&](const Command& command) { return settings.command == command.name; });
  if (known == std::end(kCommands)) return usage("unknown command \"" + settings.command + "\"");
  if (settings.table.empty()) return usage("no table");
  const size_t count = settings.arguments.size();
  if (count < known->least || count > known->most)
    return usage(settings.command + " takes " + known->arguments + " after the table");
  if (settings.token.empty() != settings.socket.empty()) return usage("--socket and --token belong together");
  const bool writes = settings.command == "put" || settings.command == "del";
  const bool needs_region = settings.command == "dump" || settings.command == "verify" || settings.command == "bench";
  STROM_TRY(check_transport(settings, writes));
  if (settings.asks && needs_region) return usage(settings.command + " reads the region, without --messages");
  if (writes && !settings.token.empty() && (!settings.asks || settings.command == "put"))
    return usage(settings.command + " needs a session, not --token");
  return Status::ok();
}

Status finish(const Settings& settings, Status status, bool is_missing) {
  if (!status.is_ok() || !is_missing) return status;
  return {ErrorCode::kInvalidParameter, settings.arguments.size() == 1 ? "there is no such row" : "a row is missing"};
}

Status run(const Settings& settings) {
  bool is_missing = false;
  Status status = settings.asks ? run_by_messages(settings, &is_missing) : Status::ok();
  if (settings.asks) return finish(settings, status, is_missing);
  if (settings.command == "get" || settings.command == "mget") status = get_rows(settings, &is_missing);
  if (settings.command == "put") status = put_row(settings);
  if (settings.command == "del") status = delete_rows(settings, &is_missing);
  if (settings.command == "dump") status = dump_rows(settings);
  if (settings.command == "verify") status = verify_region(settings);
  if (settings.command == "stat") status = print_statistics(settings);
  if (settings.command == "bench") status = run_bench(settings);
  return finish(settings, status, is_missing);
}

}  // namespace

}  // namespace strom::kv_tool

int main(int argc, char** argv) {
  strom::kv_tool::Settings settings;
  strom::tool::OptionTable table(
      "strom-kv", "rows of store tables by their key",
      "Reads rows of a store table of PostgreSQL whose option kv_access is on, out of memory that the server shares: "
      "get, mget, dump, verify and bench cost the server nothing but the beginning. put and del are SQL.\n\n"
      "Rows are printed as JSON, one a line. Values of types that have no rule here are \\x and the hexadecimal digits "
      "of their bytes; so are keys of such types. A key without a row prints null, and the exit status is 1.");
  strom::kv_tool::add_options(table, settings);
  return strom::tool::run_program(
      table, argc, argv, [&] { return strom::kv_tool::check(settings); },
      [&] { return strom::kv_tool::run(settings); });
}
