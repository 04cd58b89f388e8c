// See xdp_source.hpp.
#include "pcap2arrow/xdp_source.hpp"

#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/os_error.hpp"
#include "pcap2arrow/capture_filter.hpp"
#include "pcap2arrow/xdp_program.hpp"

namespace strom::pcap2arrow {

namespace {

using format::packets::Packet;

constexpr int64_t kFrame = 4096;         // bytes for a packet; the kernel takes no more than a page
constexpr uint32_t kMostPackets = 4096;  // of one next()

int64_t now() {
  constexpr int64_t kNano = 1000000000;
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return int64_t{time.tv_sec} * kNano + time.tv_nsec;
}

/// Memory that is unmapped.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != nullptr) munmap(data_, size_);
  }
  bool map(size_t size, int flags, int fd, off_t offset) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, offset);
    if (memory == MAP_FAILED) return false;
    data_ = static_cast<uint8_t*>(memory);
    size_ = size;
    return true;
  }
  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

/// A ring that is shared with the kernel: one side moves `producer`, the other one `consumer`.
template <class Entry>
class Ring {
 public:
  bool map(int fd, off_t where, const xdp_ring_offset& offsets, uint32_t entries) {
    if (!memory_.map(offsets.desc + entries * sizeof(Entry), MAP_SHARED | MAP_POPULATE, fd, where)) return false;
    producer_ = reinterpret_cast<uint32_t*>(memory_.data() + offsets.producer);
    consumer_ = reinterpret_cast<uint32_t*>(memory_.data() + offsets.consumer);
    entries_ = reinterpret_cast<Entry*>(memory_.data() + offsets.desc);
    mask_ = entries - 1;
    return true;
  }
  Entry& at(uint32_t number) { return entries_[number & mask_]; }
  uint32_t producer() const { return __atomic_load_n(producer_, __ATOMIC_ACQUIRE); }
  uint32_t consumer() const { return __atomic_load_n(consumer_, __ATOMIC_ACQUIRE); }
  void set_producer(uint32_t number) { __atomic_store_n(producer_, number, __ATOMIC_RELEASE); }
  void set_consumer(uint32_t number) { __atomic_store_n(consumer_, number, __ATOMIC_RELEASE); }

 private:
  Mapping memory_;
  uint32_t *producer_ = nullptr, *consumer_ = nullptr;
  Entry* entries_ = nullptr;
  uint32_t mask_ = 0;
};

struct Target {
  std::string name;
  int index = 0, queues = 1;
};

Result<Target> look_at(const std::string& name) {
  Target target{name};
  target.index = static_cast<int>(if_nametoindex(name.c_str()));
  if (target.index == 0)
    return Status(ErrorCode::kInvalidParameter, "there is no interface \"" + name + "\"")
        .with_hint("\"ip link\" lists them.");
  const Descriptor probe(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  strncpy(request.ifr_name, name.c_str(), sizeof(request.ifr_name) - 1);
  if (probe.get() < 0 || ioctl(probe.get(), SIOCGIFHWADDR, &request) != 0) return xdp_refused(errno, name);
  if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER && request.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK)
    return Status(ErrorCode::kInvalidParameter, "interface \"" + name + "\" is none of Ethernet, which --xdp needs");
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  request.ifr_data = reinterpret_cast<char*>(&channels);
  if (ioctl(probe.get(), SIOCETHTOOL, &request) == 0)  // else it has one
    target.queues = static_cast<int>(std::max<uint32_t>(1, channels.rx_count + channels.combined_count));
  return target;
}

class XdpSource final : public PacketSource {
 public:
  XdpSource(Target target, std::shared_ptr<XdpProgram> program, std::shared_ptr<const PacketFilter> filter, int queue)
      : target_(std::move(target)), program_(std::move(program)), filter_(std::move(filter)), queue_(queue) {}

  Status open(const Settings& settings);

  Result<std::span<const Packet>> next(int milliseconds) override;
  void release() override;
  SourceCounts counts() override;
  void mark_end() override { end_ = received_.producer(); }
  bool is_at_end() const override { return static_cast<int32_t>(received_.consumer() - end_) >= 0; }
  void wake() override { (void)eventfd_write(event_.get(), 1); }

 private:
  Status refused() const { return xdp_refused(errno, target_.name); }
  template <class T>
  bool set(int option, const T& value) {
    return setsockopt(socket_.get(), SOL_XDP, option, &value, sizeof(value)) == 0;
  }
  Status open_memory(int64_t size);
  Status set_promiscuous();
  Status look_at_error();
  void take(uint32_t count);

  const Target target_;
  const std::shared_ptr<XdpProgram> program_;
  const std::shared_ptr<const PacketFilter> filter_;
  const int queue_;
  Mapping memory_;
  Descriptor socket_, event_, promiscuous_;
  Ring<xdp_desc> received_;
  Ring<uint64_t> free_;
  uint32_t taken_ = 0;  // of received_, by the last next()
  uint32_t end_ = 0;    // of received_, since mark_end()
  int64_t received_count_ = 0;
  uint64_t dropped_before_ = 0;
  std::vector<Packet> packets_;
};

/// A packet's place is in one of three: free, with the kernel, or received.
Status XdpSource::open_memory(int64_t size) {
  const auto frames = static_cast<uint32_t>(std::bit_floor(static_cast<uint64_t>(size / kFrame)));
  const size_t bytes = frames * static_cast<size_t>(kFrame);
  if (!memory_.map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) return refused();
  xdp_umem_reg area{};
  area.addr = reinterpret_cast<uint64_t>(memory_.data());
  area.len = bytes;
  area.chunk_size = kFrame;
  constexpr uint32_t kUnused = 2;  // of what was sent
  xdp_mmap_offsets offsets{};
  socklen_t length = sizeof(offsets);
  const int fd = socket_.get();
  if (!set(XDP_UMEM_REG, area) || !set(XDP_UMEM_FILL_RING, frames) || !set(XDP_UMEM_COMPLETION_RING, kUnused) ||
      !set(XDP_RX_RING, frames) || getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0 ||
      !received_.map(fd, XDP_PGOFF_RX_RING, offsets.rx, frames) ||
      !free_.map(fd, static_cast<off_t>(XDP_UMEM_PGOFF_FILL_RING), offsets.fr, frames))
    return refused();
  for (uint32_t i = 0; i < frames; ++i) free_.at(i) = uint64_t{i} * kFrame;
  free_.set_producer(frames);
  return Status::ok();
}

Status XdpSource::set_promiscuous() {
  promiscuous_ = Descriptor(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));  // takes nothing
  packet_mreq request{};
  request.mr_ifindex = target_.index;
  request.mr_type = PACKET_MR_PROMISC;
  if (promiscuous_.get() >= 0 &&
      setsockopt(promiscuous_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) == 0)
    return Status::ok();
  return refused();
}

Status XdpSource::open(const Settings& settings) {
  socket_ = Descriptor(socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (socket_.get() < 0) return refused();
  event_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (event_.get() < 0) return refused();
  STROM_TRY(open_memory(settings.ring_size));
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_flags = settings.xdp == "generic" ? XDP_COPY : 0;
  address.sxdp_ifindex = static_cast<uint32_t>(target_.index);
  address.sxdp_queue_id = static_cast<uint32_t>(queue_);
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return refused();
  if (settings.promiscuous) STROM_TRY(set_promiscuous());
  return program_->set_socket(queue_, socket_.get());
}

/// The kernel tells the socket when its interface has gone.
Status XdpSource::look_at_error() {
  int error_number = 0;
  socklen_t size = sizeof(error_number);
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error_number, &size) != 0 || error_number == 0)
    return Status::ok();
  if (error_number == ENETDOWN) return Status(ErrorCode::kIoError, "interface \"" + target_.name + "\" has vanished");
  return base::os_error(error_number, "could not capture packets of \"" + target_.name + "\"");
}

/// The next packets that were received.
void XdpSource::take(uint32_t count) {
  const uint32_t begin = received_.consumer();
  const int64_t time = now();
  for (uint32_t i = 0; i < count; ++i) {
    const xdp_desc place = received_.at(begin + i);
    Packet packet;
    packet.data = memory_.data() + place.addr;
    packet.time = time;
    packet.captured = packet.length = place.len;
    packet.interface = static_cast<uint32_t>(target_.index);
    packet.link = format::packets::link::kEthernet;
    if (filter_ != nullptr) packet.captured = std::min(packet.captured, filter_->bytes_of(packet.data, packet.length));
    if (packet.captured > 0) packets_.push_back(packet);
  }
  received_count_ += count;
  taken_ = count;
}

Result<std::span<const Packet>> XdpSource::next(int milliseconds) {
  packets_.clear();
  if (received_.producer() == received_.consumer()) {
    pollfd wanted[] = {{socket_.get(), POLLIN, 0}, {event_.get(), POLLIN, 0}};
    if (poll(wanted, 2, milliseconds) < 0 && errno != EINTR) return refused();
    eventfd_t ignored = 0;
    if (wanted[1].revents != 0) (void)eventfd_read(event_.get(), &ignored);
    // The kernel ends no waiting for an error.
    if (received_.producer() == received_.consumer()) STROM_TRY(look_at_error());
  }
  take(std::min(received_.producer() - received_.consumer(), kMostPackets));
  return std::span<const Packet>(packets_);
}

void XdpSource::release() {
  const uint32_t begin = received_.consumer(), to = free_.producer();
  for (uint32_t i = 0; i < taken_; ++i)
    free_.at(to + i) = received_.at(begin + i).addr & ~static_cast<uint64_t>(kFrame - 1);
  free_.set_producer(to + taken_);
  received_.set_consumer(begin + taken_);
  taken_ = 0;
}

SourceCounts XdpSource::counts() {
  xdp_statistics found{};
  socklen_t size = sizeof(found);
  if (getsockopt(socket_.get(), SOL_XDP, XDP_STATISTICS, &found, &size) != 0) return {};
  const uint64_t dropped = found.rx_dropped + found.rx_ring_full;
  return {std::exchange(received_count_, 0), static_cast<int64_t>(dropped - std::exchange(dropped_before_, dropped))};
}

}  // namespace

Result<std::vector<std::unique_ptr<PacketSource>>> open_xdp(const Settings& settings, const std::string& interface,
                                                            int count) {
  STROM_ASSIGN(const Target target, look_at(interface));
  if (count > 0 && count != target.queues)
    return Status(ErrorCode::kInvalidParameter,
                  fmt::format("interface \"{}\" has {} receive queues, each of which needs a thread with --xdp",
                              interface, target.queues))
        .with_hint("Leave -t out, or set the number of queues by ethtool -L.");
  std::shared_ptr<const PacketFilter> filter;
  if (!settings.filter.empty() || settings.snap > 0) {
    STROM_ASSIGN(filter, PacketFilter::create(settings.filter, settings.snap));
  }
  STROM_ASSIGN(XdpProgram loaded, XdpProgram::load(target.queues, interface));
  const auto program = std::make_shared<XdpProgram>(std::move(loaded));
  std::vector<std::unique_ptr<PacketSource>> sources;
  for (int queue = 0; queue < target.queues; ++queue) {
    auto source = std::make_unique<XdpSource>(target, program, filter, queue);
    STROM_TRY(source->open(settings));
    sources.push_back(std::move(source));
  }
  STROM_TRY(program->attach(target.index, settings.xdp == "generic"));
  return sources;
}

}  // namespace strom::pcap2arrow
