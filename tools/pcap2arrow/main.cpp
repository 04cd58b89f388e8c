// pcap2arrow: network packets into Arrow files.
#include <fmt/format.h>

#include "arrow_files/workers.hpp"
#include "common/program.hpp"
#include "pcap2arrow/convert.hpp"
#include "pcap2arrow/path_pattern.hpp"

namespace strom::pcap2arrow {

namespace {

using tool::OptionTable;

Status usage_error(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

void add_column_options(OptionTable& table, Settings& settings) {
  table.group("Columns");
  table.list(
      'p', "protocol", "LIST", &settings.protocols,
      "headers that become columns: tcp4, udp4, icmp4, ipv4, tcp6, udp6, icmp6, ipv6 (default: tcp4,udp4,icmp4); "
      "what follows the last one is the payload");
  table.flag(0, "no-payload", &settings.no_payload, "leaves the payload out");
  table.flag(0, "interface-id", &settings.interface_id, "adds the column interface_id");
  table.flag(0, "nanoseconds", &settings.nanoseconds, "timestamps in nanoseconds instead of microseconds");
}

void add_output_options(OptionTable& table, Settings& settings) {
  table.group("Output");
  table
      .text('o', "output", "FILE", &settings.output.path,
            std::string("Arrow file to write; - is standard output. In it stand %i for the interface or the first "
                        "file's name, %Y, %y, %m, %d, %H, %M, %S for the local time of the file's first packet, %q for "
                        "the queue (default ") +
                kDefaultPattern + ")")
      .file();
  table.flag('f', "force", &settings.output.force, "replace files that exist");
  table.flag(0, "page-cache", &settings.output.page_cache,
             "keep what is written in memory, for who reads it next; else files of 32 MB and more go to the disk past "
             "the system's page cache");
  tool::add_compression_option(table, &settings.output);
  constexpr int64_t kLeastChunk = 64 << 10, kLeastLimit = 64 << 20;
  table.size(0, "chunk-size", &settings.chunk_size, kLeastChunk, "size of record batches (default 64m)")
      .also("segment-size");
  table.size('l', "limit", &settings.limit_bytes, kLeastLimit, "begins another file when one has this size");
  table.number(0, "limit-packets", &settings.limit_packets, 1, INT64_MAX,
               "begins another file when one has so many packets");
  table.number(0, "parallel-write", &settings.parallel_write, 1, 256,
               "writes so many files at once, each in the order of a share of the packets");
  table
      .list('S', "stats", "COLUMNS", &settings.statistics,
            "keeps the lowest and highest value of each record batch, of these columns or of all that can have them")
      .alone_means("*");
}

Status check(Settings& settings) {
  if (settings.files.empty()) return usage_error("no file to read; see pcap2arrow --help");
  if (settings.protocols.empty()) settings.protocols = {"tcp4", "udp4", "icmp4"};
  STROM_TRY(format::packets::parse_protocols(settings.protocols).status());
  if (settings.output.path.empty()) settings.output.path = kDefaultPattern;
  STROM_TRY(check_pattern(settings.output.path));
  if (settings.output.is_stream()) {
    if (!settings.statistics.empty())
      return usage_error("statistics need a file, since a stream has no footer for them");
    if (settings.limit_bytes > 0 || settings.limit_packets > 0 || settings.parallel_write > 1)
      return usage_error("--limit, --limit-packets and --parallel-write need files, not -o -");
  }
  return Status::ok();
}

void report(const Settings& settings, bool is_named, const Written& written) {
  using format::packets::Malformed;
  for (size_t i = 0; i < written.counts.malformed.size(); ++i) {
    const int64_t count = written.counts.malformed[i];
    if (count > 0 && settings.verbose)
      fmt::print(stderr, "pcap2arrow: malformed: {} {}\n", count, malformed_name(static_cast<Malformed>(i)));
  }
  if (settings.output.is_stream() || (is_named && !settings.verbose)) return;
  const std::string files = written.files == 1 ? "" : fmt::format(" and {} other files", written.files - 1);
  fmt::print("pcap2arrow: wrote on '{}'{} total {} record-batches, {} packets\n", written.path, files, written.batches,
             written.rows);
}

Status run(const Settings& settings, bool is_named) {
  tool::Progress progress(settings.progress, settings.output.is_stream());
  STROM_ASSIGN(const Written written, convert(settings, progress));
  progress.finish();
  report(settings, is_named, written);
  return Status::ok();
}

int main_of_tool(int argc, char** argv) {
  Settings settings;
  OptionTable table(
      "pcap2arrow", "turns network packets into Apache Arrow files",
      "Reads files of packets (pcap of both byte orders, in microseconds and nanoseconds, and pcapng) and "
      "writes them as an Apache Arrow file, with a column for each field of their headers.\n\n"
      "A file appears under its name when it is complete. An existing file is not overwritten without "
      "-f.");
  table.files(&settings.files,
              "pcap or pcapng files, as they are or compressed by gzip, zstd or lz4; - is standard input");
  table.group("Input");
  table
      .custom(
          0, "damaged", "WHAT",
          [&](const std::string& text) {
            settings.keep_damaged = text == "keep";
            return Status::ok();
          },
          "what becomes of a damaged file: fail (default), or keep, which takes the packets before the damage")
      .one_of({"fail", "keep"});
  add_column_options(table, settings);
  add_output_options(table, settings);
  table.group("General");
  table.number('t', "threads", &settings.threads, 1, 1024, "threads (default: one for each processor)")
      .also("pcap-threads")
      .also('n');
  tool::add_progress_option(table, &settings.progress);
  table.flag('v', "verbose", &settings.verbose, "says at the end what was written");
  table.example("pcap2arrow capture.pcapng -o capture.arrow --stats", "a file, with TCP, UDP and ICMP over IPv4");
  table.example("pcap2arrow -p tcp4,udp4,icmp4,tcp6,udp6,icmp6 --no-payload *.pcap.gz -o headers.arrow",
                "headers of both versions of IP, from compressed files");
  table.example("tcpdump -i eth0 -w - | pcap2arrow - -o /data/%Y%m%d_%H%M%S.arrow -l 1g",
                "packets of another program, in files of 1 GB");
  bool is_named = false;
  return tool::run_program(
      table, argc, argv,
      [&] {
        is_named = !settings.output.path.empty();
        return check(settings);
      },
      [&] { return run(settings, is_named); });
}

}  // namespace

}  // namespace strom::pcap2arrow

int main(int argc, char** argv) { return strom::pcap2arrow::main_of_tool(argc, argv); }
