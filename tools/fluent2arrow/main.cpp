// fluent2arrow: logs that Fluentd and Fluent Bit forward into Arrow files.
#include <fmt/format.h>

#include "cli/program.hpp"
#include "dump/schema_text.hpp"
#include "dump/settings.hpp"
#include "fluent2arrow/event_files.hpp"
#include "fluent2arrow/receiver.hpp"

namespace strom::fluent2arrow {

namespace {

using tool::OptionTable;
using tool::usage_error;

struct Choices {
  std::string wrong;
};

void add_options(OptionTable& table, Settings& settings, Choices& choices) {
  table.group("Input");
  table.text('L', "listen", "ADDRESS", &settings.address,
             "HOST:PORT, or the path of a UNIX socket (default 127.0.0.1:24224)");
  constexpr int64_t kLeastBody = 1 << 10;
  table.text(
      0, "http", "ADDRESS", &settings.http,
      "also receives JSON and MessagePack by HTTP, as Fluentd's in_http: HOST:PORT, or the path of a UNIX socket");
  table.size(0, "http-limit", &settings.http_limit, kLeastBody, "size of a request's body at most (default 32m)");
  table.text(0, "syslog-tcp", "ADDRESS", &settings.syslog_stream,
             "also receives syslog (RFC 5424, RFC 3164) by connections: HOST:PORT, or the path of a UNIX socket");
  table.text(0, "syslog-udp", "ADDRESS", &settings.syslog_datagrams,
             "also receives syslog by datagrams, which get lost when they come too fast: HOST:PORT");
  table.text(0, "syslog-tag", "TAG", &settings.syslog_tag, "the tag of messages of syslog (default syslog)");
  table.group("Access");
  table
      .text(0, "shared-key-file", "FILE", &settings.key_file,
            "a file with the key that clients have to know, shared_key of Fluentd")
      .file();
  table
      .text(0, "users-file", "FILE", &settings.users_file,
            "a file with lines USER:PASSWORD, one of which clients have to know besides")
      .file();
  table.text(0, "tls-cert", "FILE", &settings.certificate_file, "takes clients by TLS, with this certificate (PEM)")
      .file();
  table.text(0, "tls-key", "FILE", &settings.private_key_file, "the certificate's private key (PEM)").file();
  table
      .text(0, "tls-ca", "FILE", &settings.authority_file,
            "asks clients for certificates, which one of these has signed (PEM)")
      .file();
  table.group("Columns");
  table.text(0, "schema", "COLUMNS", &settings.schema,
             "columns for the keys of records, as NAME:TYPE[:EXTRA;…], with commas between; without it one column, "
             "record, has them as JSON");
  table.flag(0, "infer-schema", &settings.records.is_inferred,
             "a column for each key that comes, by tag; where a key or a type is new, another file is begun");
  table.text(0, "ts-column", "NAME", &settings.records.time_column, "a column for the events' times (default: time)");
  table.text(0, "tag-column", "NAME", &settings.records.tag_column, "a column for the events' tags (default: tag)");
  table
      .text(0, "wrong", "WHAT", &choices.wrong,
            "what becomes of a value that its column cannot have: null (default), or skip, which leaves the event out "
            "with a warning")
      .one_of({"null", "skip"});
  table.group("Output");
  table
      .text('o', "output", "PATTERN", &settings.path,
            "names of Arrow files: {tag} stands for the tag, %Y, %y, %m, %d, %H, %M, %S for the local time; folders "
            "are made")
      .file();
  table.custom(
      'C', "compress", "CODEC",
      [&](const std::string& text) {
        STROM_ASSIGN(settings.compression, format::arrow::parse_compression(text));
        return Status::ok();
      },
      "compression of record batches: none (default), lz4, zstd, zstd:LEVEL");
  table
      .list('S', "stats", "COLUMNS", &settings.statistics,
            "keeps the lowest and highest value of each record batch, of these columns or of all that can have them")
      .alone_means("*");
  table.number(0, "flush-interval", &settings.flush_ms, 1, 3600000,
               "milliseconds after which events are in a file (default 1000)");
  constexpr int64_t kLeast = 1 << 16;
  table.size(0, "flush-size", &settings.flush_bytes, kLeast,
             "size of events at which they are written earlier (default 64m)");
  constexpr int64_t kLeastMemory = 1 << 20;
  table.size(0, "memory", &settings.memory_bytes, kLeastMemory,
             "size of events that wait and of messages that are not whole, above which nothing more is read (default "
             "512m)");
  table.size('l', "limit", &settings.limit_bytes, kLeast,
             "size of a file after which another one is begun (default 1g)");
  table.number(0, "limit-rows", &settings.limit_rows, 1, INT64_MAX, "rows of a file after which another one is begun");
  table.seconds(0, "limit-time", &settings.limit_seconds,
                "files are of so much time, and names tell its beginning: 5m, 1h, 1d (default: the time of writing)");
}

/// Options that mean nothing without another one. Their defaults are set here.
Status check_needed(Settings& settings, const Choices& choices) {
  constexpr int64_t kHttpLimit = int64_t{32} << 20;
  if (!choices.wrong.empty() && settings.schema.empty() && !settings.records.is_inferred)
    return usage_error("--wrong needs --schema or --infer-schema");
  if (settings.http_limit != 0 && settings.http.empty()) return usage_error("--http-limit needs --http");
  if (settings.http_limit == 0) settings.http_limit = kHttpLimit;
  if (!settings.syslog_tag.empty() && settings.syslog_stream.empty() && settings.syslog_datagrams.empty())
    return usage_error("--syslog-tag needs --syslog-tcp or --syslog-udp");
  if (settings.syslog_tag.empty()) settings.syslog_tag = "syslog";
  return Status::ok();
}

Status check(Settings& settings, const Choices& choices) {
  if (settings.path.empty()) return usage_error("no file to write; see fluent2arrow --help");
  if (settings.path.ends_with('/')) return usage_error("-o needs the name of a file, not of a folder");
  STROM_TRY(check_pattern(settings.path));
  if (settings.limit_seconds > 0) STROM_TRY(check_times(settings.path, settings.limit_seconds));
  if (!settings.users_file.empty() && settings.key_file.empty())
    return usage_error("--users-file needs --shared-key-file");
  if (settings.certificate_file.empty() != settings.private_key_file.empty())
    return usage_error("--tls-cert and --tls-key need each other");
  if (!settings.authority_file.empty() && settings.certificate_file.empty())
    return usage_error("--tls-ca needs --tls-cert");
  STROM_TRY(check_needed(settings, choices));
  if (settings.records.time_column.empty()) settings.records.time_column = "time";
  if (settings.records.tag_column.empty()) settings.records.tag_column = "tag";
  settings.records.wrong_is_error = choices.wrong == "skip";
  if (!settings.schema.empty()) {
    STROM_ASSIGN(settings.records.fields, tool::parse_schema(settings.schema));
  }
  const auto fields = format::forward::record_fields(settings.records);
  for (size_t i = 0; i < fields.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (fields[i].name == fields[k].name) return usage_error("there are two columns \"" + fields[i].name + "\"");
  return Status::ok();
}

Status run(Settings& settings) {
  EventFiles files(settings);
  Receiver receiver(settings, files);
  STROM_TRY(receiver.prepare());
  STROM_TRY(receiver.listen());
  STROM_TRY(receiver.run([&] {
    fmt::print("fluent2arrow: listening at {}\n", receiver.addresses());
    std::fflush(stdout);
  }));
  const Received& received = receiver.received();
  if (settings.verbose)
    fmt::print(
        "fluent2arrow: {} events of {} messages, {} values became NULL, {} keys without a column, {} messages came "
        "twice, {} refused\n",
        receiver.counts().rows, received.messages, receiver.counts().wrong, receiver.counts().extra,
        received.duplicates, received.refused + receiver.counts().left_out);
  return Status::ok();
}

int main_of_tool(int argc, char** argv) {
  Settings settings;
  Choices choices;
  OptionTable table(
      "fluent2arrow", "writes forwarded logs to Apache Arrow files",
      "Receives events by the Forward protocol of Fluentd and Fluent Bit, and by option those of HTTP and syslog, and "
      "writes "
      "them to Arrow files, which PostgreSQL can read at any time. An event is acknowledged when it is on the disk. "
      "Files that are there "
      "and have the same columns are gone on with.\n\n"
      "It ends on SIGTERM and SIGINT, after all that has come is written.");
  add_options(table, settings, choices);
  table.group("General");
  table.flag('v', "verbose", &settings.verbose, "says at the end what has come");
  table.example("fluent2arrow -o '/data/logs/{tag}/%Y%m%d.arrow' -C zstd",
                "a folder for each tag, a file for each day");
  table.example("fluent2arrow --schema=host:utf8,status:int16,bytes:int64,path:utf8 -o '/data/access_%Y%m%d%H.arrow'",
                "columns for the keys of records");
  table.example("fluent2arrow --infer-schema -o '/data/logs/{tag}/%Y%m%d.arrow'", "columns for whatever comes");
  table.example("fluent2arrow --syslog-udp=0.0.0.0:514 --syslog-tcp=0.0.0.0:514 --infer-schema -o '/data/%Y%m%d.arrow'",
                "the logs of other machines");
  table.exclusive({"schema", "infer-schema"});
  return tool::run_program(table, argc, argv, [&] { return check(settings, choices); }, [&] { return run(settings); });
}

}  // namespace

}  // namespace strom::fluent2arrow

int main(int argc, char** argv) { return strom::fluent2arrow::main_of_tool(argc, argv); }
