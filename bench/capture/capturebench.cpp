// The programs of ./strom bench capture, besides rivals:
//   capturebench generate KIND BYTES FILE            makes a pcap file of packet_mix.hpp
//   capturebench libpcap FILE                        a floor: reads with libpcap and looks only at headers
//   capturebench send INTERFACE KIND COUNT           sends packets as fast as it can
//   capturebench replay KIND COUNT FILE              pcap2arrow's capture of packets in memory, as from the kernel
// The result is one line of JSON on standard output.
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "format/packets/ring_block.hpp"
#include "packet_mix.hpp"
#include "pcap2arrow/live.hpp"
#include "ring_samples.hpp"

namespace {

using namespace strom;

constexpr size_t kPool = 4096;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_seconds() {
  constexpr double kMicro = 1e-6;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [&](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * kMicro;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int fail(const char* what) {
  perror(what);
  return 1;
}

/// Timestamps increase by a microsecond; addresses and payloads come from the pool.
int generate(const std::string& kind, int64_t bytes, const char* path) {
  struct Record {
    uint32_t seconds, micros, captured, length;
  };
  constexpr uint32_t kHeader[] = {0xA1B2C3D4, 0x00040002, 0, 0, 262144, 1};
  constexpr uint32_t kBegin = 1777000000, kMicros = 1000000;
  const auto pool = bench::packet_mix(kind, kPool);
  FILE* file = fopen(path, "wb");
  if (file == nullptr) return fail(path);
  bool is_good = fwrite(kHeader, sizeof(kHeader), 1, file) == 1;
  int64_t written = sizeof(kHeader), packets = 0;
  for (uint64_t random = 1; written < bytes && is_good; ++packets) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const std::string& packet = pool[random >> 52];
    const auto size = static_cast<uint32_t>(packet.size());
    const Record record{kBegin + static_cast<uint32_t>(packets / kMicros), static_cast<uint32_t>(packets % kMicros),
                        size, size};
    is_good = fwrite(&record, sizeof(record), 1, file) == 1 && fwrite(packet.data(), size, 1, file) == 1;
    written += static_cast<int64_t>(sizeof(record)) + size;
  }
  if (fclose(file) != 0 || !is_good) return fail(path);
  printf("{\"packets\": %ld, \"bytes\": %ld}\n", packets, written);
  return 0;
}

int read_by_libpcap(const char* path) {
  char problem[PCAP_ERRBUF_SIZE];
  const double begin = seconds_now();
  pcap_t* file = pcap_open_offline(path, problem);
  if (file == nullptr) return fprintf(stderr, "%s\n", problem), 1;
  int64_t packets = 0, sum = 0;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  while (pcap_next_ex(file, &header, &data) == 1) {
    ++packets;
    if (header->caplen >= 34) sum += data[12] + data[23] + data[30];
  }
  pcap_close(file);
  printf("{\"packets\": %ld, \"seconds\": %.6f, \"cpu_s\": %.6f, \"sum\": %ld}\n", packets, seconds_now() - begin,
         processor_seconds(), sum);
  return 0;
}

int send_packets(const char* interface, const std::string& kind, int64_t count) {
  constexpr unsigned kBatch = 64;
  const auto pool = bench::packet_mix(kind, kPool);
  const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail("socket");
  const int yes = 1;
  setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof(yes));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface));
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return fail(interface);
  int64_t sent = 0;
  const double begin = seconds_now();
  while (sent < count) {
    mmsghdr messages[kBatch] = {};
    iovec pieces[kBatch];
    const auto size = static_cast<unsigned>(std::min<int64_t>(kBatch, count - sent));
    for (unsigned i = 0; i < size; ++i) {
      const std::string& packet = pool[static_cast<size_t>(sent + i) % pool.size()];
      pieces[i] = {const_cast<char*>(packet.data()), packet.size()};
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    const int done = sendmmsg(fd, messages, size, 0);
    if (done > 0) sent += done;
  }
  printf("{\"packets\": %ld, \"seconds\": %.6f}\n", sent, seconds_now() - begin);
  close(fd);
  return 0;
}

/// Returns blocks in the form in which the kernel fills them, again and again.
class MemorySource final : public pcap2arrow::PacketSource {
 public:
  MemorySource(const std::string& kind, int64_t count) : left_(count) {
    constexpr size_t kBlocks = 64;
    const auto pool = bench::packet_mix(kind, kPool);
    std::vector<std::string> many;
    while (many.size() < 20000) many.insert(many.end(), pool.begin(), pool.end());
    for (size_t i = 0; i < kBlocks; ++i) {
      blocks_.emplace_back(test::kRingBlock);
      test::fill_ring_block(blocks_.back().data(), many, (i * 997) % kPool, 1777000000 + static_cast<uint32_t>(i));
    }
  }
  Result<std::span<const format::packets::Packet>> next(int) override {
    packets_.clear();
    if (left_ <= 0) return std::span<const format::packets::Packet>();
    auto& block = blocks_[next_++ % blocks_.size()];
    if (!format::packets::is_block_ready(block.data())) return std::span<const format::packets::Packet>();
    format::packets::read_block(block.data(), test::kRingBlock, {}, packets_);
    left_ -= static_cast<int64_t>(packets_.size());
    return std::span<const format::packets::Packet>(packets_);
  }
  void release() override {}
  pcap2arrow::SourceCounts counts() override { return {}; }
  void mark_end() override {}
  bool is_at_end() const override { return left_ <= 0; }
  void wake() override {}

 private:
  std::vector<std::vector<uint8_t>> blocks_;
  std::vector<format::packets::Packet> packets_;
  size_t next_ = 0;
  int64_t left_;
};

int replay(const std::string& kind, int64_t count, const char* path) {
  pcap2arrow::Settings settings;
  settings.interfaces = {"memory"};
  settings.output.path = path;
  settings.output.force = true;
  settings.protocols = {"tcp4", "udp4", "icmp4", "tcp6", "udp6", "icmp6"};
  settings.count = count;
  tool::Progress progress({"none"});
  std::vector<std::unique_ptr<pcap2arrow::PacketSource>> sources;
  sources.push_back(std::make_unique<MemorySource>(kind, count));
  const double begin = seconds_now(), before = processor_seconds();
  const auto captured = pcap2arrow::capture_from(settings, std::move(sources), progress);
  if (!captured.is_ok() || !captured.value().failure.is_ok()) {
    const Status status = captured.is_ok() ? captured.value().failure : captured.status();
    return fprintf(stderr, "%s\n", status.message().c_str()), 1;
  }
  FILE* report = settings.output.is_stream() ? stderr : stdout;
  fprintf(report, "{\"packets\": %ld, \"bytes\": %ld, \"seconds\": %.6f, \"cpu_s\": %.6f}\n",
          captured.value().written.rows, captured.value().written.counts.bytes, seconds_now() - begin,
          processor_seconds() - before);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](size_t i) { return int64_t{strtoll(words[i].c_str(), nullptr, 10)}; };
  if (words.size() == 4 && words[0] == "generate") return generate(words[1], number(2), words[3].c_str());
  if (words.size() == 2 && words[0] == "libpcap") return read_by_libpcap(words[1].c_str());
  if (words.size() == 4 && words[0] == "send") return send_packets(words[1].c_str(), words[2], number(3));
  if (words.size() == 4 && words[0] == "replay") return replay(words[1], number(2), words[3].c_str());
  fprintf(stderr, "see bench/capture/capturebench.cpp\n");
  return 2;
}
