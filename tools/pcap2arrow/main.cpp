// pcap2arrow: network packets into Arrow files.
#include <fmt/format.h>

#include "arrow_files/workers.hpp"
#include "cli/program.hpp"
#include "pcap2arrow/capture_filter.hpp"
#include "pcap2arrow/convert.hpp"
#include "pcap2arrow/live.hpp"
#include "pcap2arrow/path_pattern.hpp"

namespace strom::pcap2arrow {

namespace {

using tool::OptionTable;

Status usage_error(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

/// The option, which is put among settings.given when it is.
tool::Option& noted(tool::Option& option, Settings& settings) {
  option.set = [&settings, name = "--" + option.name, set = option.set](const std::string& value) {
    settings.given.insert(name);
    return set(value);
  };
  return option;
}

/// The first of `names` that was given; nullptr: none.
const char* given_of(const Settings& settings, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (settings.given.contains(name)) return name;
  return nullptr;
}

void add_capture_options(OptionTable& table, Settings& settings) {
  table.group("Capture");
  table.list('i', "input", "DEV", &settings.interfaces,
             "captures from these network interfaces instead of reading files; any: from all");
  table
      .text('r', "rule", "BPF", &settings.filter, "takes packets that match a filter as of tcpdump, see pcap-filter(7)")
      .also("filter");
  table.size(0, "snap", &settings.snap, 1, "takes so many bytes of each packet at most (default: all)");
  table.flag(0, "promiscuous", &settings.promiscuous, "takes packets for other hosts, too");
  noted(table.text(0, "direction", "WHICH", &settings.direction,
                   "packets that come in, that go out, or both (default); of the loopback interface, once"),
        settings)
      .one_of({"in", "out", "both"});
  noted(table.text(0, "fanout", "MODE", &settings.fanout,
                   "how threads share packets: hash of the flow (default), cpu, lb (in turn), queue of the network "
                   "card, rollover (the next when one is full)"),
        settings)
      .one_of({"hash", "cpu", "lb", "queue", "rollover"});
  table
      .text(0, "xdp", "MODE", &settings.xdp,
            "takes the packets that come in by AF_XDP, before and instead of the network stack: for an interface that "
            "has nothing else to do; generic (for any driver), or driver")
      .one_of({"generic", "driver"})
      .alone_means("generic");
  constexpr int64_t kLeastRing = 2 << 20;
  noted(table.size(0, "ring-size", &settings.ring_size, kLeastRing,
                   "memory in which the kernel keeps packets until they are taken, for each thread (default 64m)"),
        settings);
  table.flag(0, "hardware-time", &settings.hardware_time, "timestamps of the network card");
  table.number('c', "count", &settings.count, 1, INT64_MAX, "ends after so many packets");
  table.seconds(0, "duration", &settings.duration, "ends after this time, such as 30s, 5m or 1h");
  table.seconds('s', "stat", &settings.stat_interval, "tells what was captured and dropped, every so often");
  table.text(0, "user", "NAME", &settings.user, "becomes this user when the capture has been set up");
}

void add_file_options(OptionTable& table, Settings& settings) {
  table.group("Files");
  table.flag('F', "follow", &settings.follow,
             "waits for more at the end of the file, which another program is still writing, until a signal comes");
  table
      .custom(
          0, "damaged", "WHAT",
          [&](const std::string& text) {
            settings.keep_damaged = text == "keep";
            return Status::ok();
          },
          "what becomes of a damaged file: fail (default), or keep, which takes the packets before the damage")
      .one_of({"fail", "keep"});
}

void add_column_options(OptionTable& table, Settings& settings) {
  table.group("Columns");
  table.list('p', "protocol", "LIST", &settings.protocols,
             "what becomes columns: tcp4, udp4, icmp4, sctp4, ipv4, tcp6, udp6, icmp6, sctp6, ipv6, vlan, mpls, arp, "
             "tunnels (GRE, IP in IP, VXLAN, Geneve, and the packets in them), dns, tls, http, all, default (default: "
             "default, which is tcp4,udp4,icmp4); what follows the last header that is taken apart is the payload");
  table.flag(0, "composite-options", &settings.composite_options,
             "options of IP and TCP as lists of (opt_code, opt_data) instead of bytes");
  table.flag(0, "no-payload", &settings.no_payload, "leaves the payload out");
  table.flag(0, "interface-id", &settings.interface_id, "adds the column interface_id");
  table.flag(0, "nanoseconds", &settings.nanoseconds, "timestamps in nanoseconds instead of microseconds");
}

void add_flow_options(OptionTable& table, Settings& settings) {
  table.group("Flows");
  table.flag(0, "flows", &settings.flows,
             "a row for each flow instead of each packet: packets of IP with the same addresses, ports and protocol");
  noted(table.seconds(0, "flow-idle", &settings.flow_idle, "a flow ends so long after its last packet (default 60s)"),
        settings);
  noted(table.seconds(0, "flow-active", &settings.flow_active, "and so long after its first one (default 30m)"),
        settings);
  constexpr int64_t kMostFlows = int64_t{1} << 30;
  noted(
      table.number(0, "flow-table", &settings.flow_table, 1, kMostFlows,
                   "so many flows at most are followed at once; then the quarter that is idle ends (default 1048576)"),
      settings);
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
  table.flag(0, "direct-io", &settings.direct_io, "writes past the page cache, which is the default");
  table.exclusive({"page-cache", "direct-io"});
  tool::add_compression_option(table, &settings.output);
  constexpr int64_t kLeastChunk = 64 << 10, kLeastLimit = 64 << 20;
  table.size(0, "chunk-size", &settings.chunk_size, kLeastChunk, "size of record batches (default 64m)")
      .also("segment-size");
  table.size('l', "limit", &settings.limit_bytes, kLeastLimit, "begins another file when one has this size");
  table.seconds(0, "limit-time", &settings.limit_seconds,
                "begins another file when this time is over, at whole multiples of it: 5m, 1h, 1d");
  table.number(0, "limit-packets", &settings.limit_packets, 1, INT64_MAX,
               "begins another file when one has so many packets");
  table.number(0, "parallel-write", &settings.parallel_write, 1, 256,
               "writes so many files at once, each in the order of a share of the packets");
  table
      .list('S', "stats", "COLUMNS", &settings.statistics,
            "keeps the lowest and highest value of each record batch, of these columns or of all that can have them")
      .alone_means("*");
}

Status check_xdp(const Settings& settings) {
  if (settings.hardware_time) return usage_error("--hardware-time does not go with --xdp");
  if (settings.direction == "out") return usage_error("--xdp takes packets that come in, not --direction=out");
  if (settings.given.contains("--fanout"))
    return usage_error("--fanout does not go with --xdp, which has a thread for each queue");
  for (const std::string& name : settings.interfaces)
    if (name == "any") return usage_error("--xdp needs the name of an interface, not any");
  return Status::ok();
}

Status check_capture(const Settings& settings) {
  constexpr int64_t kMostRing = int64_t{4} << 30;
  if (!settings.files.empty()) return usage_error("-i captures, so there is no file to read");
  if (settings.keep_damaged || settings.follow) return usage_error("--damaged and --follow are for files");
  STROM_TRY(check_filter(settings.filter));
  if (settings.ring_size > kMostRing) return usage_error("--ring-size can be 4g at most");
  for (const std::string& name : settings.interfaces)
    if (name == "any" && (settings.promiscuous || settings.hardware_time))
      return usage_error("--promiscuous and --hardware-time need the name of an interface, not any");
  return settings.xdp.empty() ? Status::ok() : check_xdp(settings);
}

Status check_files(const Settings& settings) {
  if (settings.files.empty()) return usage_error("no file to read and no interface; see pcap2arrow --help");
  const std::pair<bool, const char*> needs_capture[] = {
      {!settings.filter.empty(), "-r"},        {settings.snap > 0, "--snap"},
      {settings.promiscuous, "--promiscuous"}, {settings.hardware_time, "--hardware-time"},
      {!settings.xdp.empty(), "--xdp"},        {settings.count > 0, "-c"},
      {settings.duration > 0, "--duration"},   {settings.stat_interval > 0, "-s"},
      {!settings.user.empty(), "--user"}};
  if (settings.follow && settings.files.size() > 1) return usage_error("--follow goes with one file");
  for (const auto& [is_given, name] : needs_capture)
    if (is_given) return usage_error(fmt::format("{} is for captures, see -i", name));
  if (const char* name = given_of(settings, {"--direction", "--fanout", "--ring-size"}); name != nullptr)
    return usage_error(fmt::format("{} is for captures, see -i", name));
  return Status::ok();
}

Status check_flows(const Settings& settings) {
  const char* flow_option = given_of(settings, {"--flow-idle", "--flow-active", "--flow-table"});
  if (!settings.flows && flow_option != nullptr) return usage_error(fmt::format("{} needs --flows", flow_option));
  if (!settings.flows) return Status::ok();
  if (settings.no_payload || settings.interface_id || settings.composite_options)
    return usage_error("--no-payload, --interface-id and --composite-options are for packets, not for --flows");
  if (settings.limit_packets > 0) return usage_error("--limit-packets is for packets, not for --flows");
  const bool is_divided = settings.limit_seconds > 0 || settings.parallel_write > 1 || has_queue(settings.output.path);
  if (is_divided && !settings.is_live())
    return usage_error("--flows of files go to one file, or to several by --limit");
  return Status::ok();
}

Status check(Settings& settings) {
  constexpr int64_t kMostChunk = int64_t{1} << 30;
  STROM_TRY(settings.is_live() ? check_capture(settings) : check_files(settings));
  STROM_TRY(check_flows(settings));
  const std::string usual = settings.flows ? "all" : "default";
  if (settings.protocols.empty()) settings.protocols = {usual};
  STROM_TRY(format::packets::parse_columns(settings.protocols).status());
  if (settings.chunk_size > kMostChunk) return usage_error("--chunk-size can be 1g at most");
  if (settings.output.path.empty()) settings.output.path = kDefaultPattern;
  STROM_TRY(check_pattern(settings.output.path));
  if (settings.parallel_write > 1 && has_queue(settings.output.path))
    return usage_error("--parallel-write and %q exclude each other: with %q each thread writes a file of its own");
  if (settings.output.is_stream()) {
    if (!settings.statistics.empty())
      return usage_error("statistics need a file, since a stream has no footer for them");
    const bool has_limit = settings.limit_bytes > 0 || settings.limit_packets > 0 || settings.limit_seconds > 0;
    if (has_limit || settings.parallel_write > 1)
      return usage_error("--limit, --limit-packets, --limit-time and --parallel-write need files, not -o -");
  }
  return Status::ok();
}

void report_malformed(const Settings& settings, const Written& written) {
  if (!settings.verbose) return;
  for (size_t i = 0; i < written.counts.malformed.size(); ++i) {
    const int64_t count = written.counts.malformed[i];
    if (count > 0)
      fmt::print(stderr, "pcap2arrow: malformed: {} {}\n", count,
                 malformed_name(static_cast<format::packets::Malformed>(i)));
  }
}

void warn_of_links(const Settings& settings, const Written& written) {
  for (const auto& [type, count] : written.counts.unknown_links) {
    const std::string name = link_type_name(type);
    tool::report_warning("pcap2arrow", fmt::format("{} packets of link type {}{} are not taken apart: {}", count, type,
                                                   name.empty() ? "" : " (" + name + ")",
                                                   settings.flows        ? "they are in no flow"
                                                   : settings.no_payload ? "only their times are written"
                                                                         : "all of their bytes are payload"));
  }
}

void report(const Settings& settings, bool is_named, const Written& written) {
  report_malformed(settings, written);
  warn_of_links(settings, written);
  if (settings.output.is_stream() || (is_named && !settings.verbose)) return;
  const std::string files = written.files == 1 ? "" : fmt::format(" and {} other files", written.files - 1);
  fmt::print("pcap2arrow: wrote on '{}'{} total {} record-batches, {} {}\n", written.path, files, written.batches,
             written.rows, settings.flows ? "flows" : "packets");
}

Status run_capture(const Settings& settings, bool is_named, Sources sources) {
  tool::Progress progress(settings.progress, settings.output.is_stream());
  STROM_ASSIGN(const Captured captured, capture_from(settings, std::move(sources), progress));
  progress.finish();
  report(settings, is_named, captured.written);
  if (settings.verbose || captured.dropped > 0)
    fmt::print(stderr, "pcap2arrow: {} packets captured, {} dropped by the kernel\n", captured.received,
               captured.dropped);
  if (captured.written.lost > 0)
    tool::report_warning("pcap2arrow", fmt::format("{} captured {} could not be written", captured.written.lost,
                                                   settings.flows ? "flows" : "packets"));
  return captured.failure;
}

Status run_files(const Settings& settings, bool is_named) {
  tool::Progress progress(settings.progress, settings.output.is_stream());
  STROM_ASSIGN(const Written written, convert(settings, progress));
  progress.finish();
  report(settings, is_named, written);
  return Status::ok();
}

void add_examples(OptionTable& table) {
  table.example("pcap2arrow capture.pcapng -o capture.arrow --stats", "a file, with TCP, UDP and ICMP over IPv4");
  table.example("pcap2arrow -p tcp4,udp4,icmp4,tcp6,udp6,icmp6 --no-payload *.pcap.gz -o headers.arrow",
                "headers of both versions of IP, from compressed files");
  table.example("pcap2arrow -i eth0 -o /data/%i_%Y%m%d_%H%M%S.arrow -l 1g --limit-time=1h -s 10",
                "captures until it is interrupted, in files of at most 1 GB and an hour; tells every ten seconds");
  table.example("pcap2arrow -i eth0 -r 'tcp port 443' -t 4 -o tls.arrow", "with a filter, by four threads");
}

int main_of_tool(int argc, char** argv) {
  Settings settings;
  OptionTable table("pcap2arrow", "turns network packets into Apache Arrow files",
                    "Captures packets of network interfaces, or reads files of packets (pcap of both byte orders, in "
                    "microseconds and nanoseconds, and pcapng). Writes them as Apache Arrow files, with a column for "
                    "each field of their headers.\n\n"
                    "A file appears under its name when it is complete. An existing file is not overwritten without "
                    "-f. Captures, --follow and what is read from a pipe end at SIGINT or SIGTERM, when all "
                    "files are complete; the exit status is 0 then. A second signal ends it at once.");
  table.files(&settings.files,
              "pcap or pcapng files, as they are or compressed by gzip, zstd or lz4; - is standard input");
  add_capture_options(table, settings);
  add_file_options(table, settings);
  add_column_options(table, settings);
  add_flow_options(table, settings);
  add_output_options(table, settings);
  table.group("General");
  table
      .number('t', "threads", &settings.threads, 1, 1024,
              "threads: for each interface (default 1), or for files (default: one for each processor)")
      .also("pcap-threads")
      .also("num-queues")
      .also('n');
  tool::add_progress_option(table, &settings.progress);
  table.flag('v', "verbose", &settings.verbose, "says at the end what was written");
  add_examples(table);
  table.library(filter_library());
  bool is_named = false;
  Sources sources;
  return tool::run_program(
      table, argc, argv,
      [&] {
        is_named = !settings.output.path.empty();
        return check(settings);
      },
      [&] {
        return settings.is_live() ? run_capture(settings, is_named, std::move(sources)) : run_files(settings, is_named);
      },
      [&] {
        if (!settings.is_live()) return Status::ok();
        STROM_ASSIGN(sources, open_sources(settings));
        return Status::ok();
      });
}

}  // namespace

}  // namespace strom::pcap2arrow

int main(int argc, char** argv) { return strom::pcap2arrow::main_of_tool(argc, argv); }
