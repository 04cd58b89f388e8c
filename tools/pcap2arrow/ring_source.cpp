// See ring_source.hpp.
#include "pcap2arrow/ring_source.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/os_error.hpp"
#include "format/packets/ring_block.hpp"
#include "pcap2arrow/capture_filter.hpp"

namespace strom::pcap2arrow {

namespace {

using format::packets::BlockSource;
using format::packets::is_block_ready;
using format::packets::Packet;

constexpr unsigned short kRawIp = 519;  // ARPHRD_RAWIP of the kernel's header

constexpr int64_t kBlock = 1 << 20;
constexpr unsigned kFrame = 2048;
/// Milliseconds until the kernel hands over a block that is not full.
constexpr unsigned kPatience = 20;

struct Target {
  std::string name;
  int index = 0;  // 0: all interfaces
  uint16_t link = format::packets::link::kCooked;
  bool is_loopback = false;
};

Status refused(int error_number, const std::string& name) {
  Status status = base::os_error(error_number, "could not capture from \"" + name + "\"");
  if (error_number != EPERM && error_number != EACCES) return status;
  return std::move(status).with_hint(
      "Captures need the capability CAP_NET_RAW: run this as root, or once: setcap cap_net_raw+ep $(which "
      "pcap2arrow)");
}

/// What packets of the interface begin with. What is not known is captured without the link layer.
Status look_at(int fd, Target& target) {
  if (target.name == "any") return Status::ok();
  target.index = static_cast<int>(if_nametoindex(target.name.c_str()));
  if (target.index == 0)
    return Status(ErrorCode::kInvalidParameter, "there is no interface \"" + target.name + "\"")
        .with_hint("\"ip link\" lists them; \"any\" stands for all.");
  ifreq request{};
  strncpy(request.ifr_name, target.name.c_str(), sizeof(request.ifr_name) - 1);
  if (ioctl(fd, SIOCGIFHWADDR, &request) != 0) return refused(errno, target.name);
  switch (request.ifr_hwaddr.sa_family) {
    case ARPHRD_LOOPBACK: target.is_loopback = true; [[fallthrough]];
    case ARPHRD_ETHER: target.link = format::packets::link::kEthernet; break;
    case ARPHRD_NONE:
    case kRawIp:
    case ARPHRD_PPP:
    case ARPHRD_TUNNEL:
    case ARPHRD_TUNNEL6: target.link = format::packets::link::kRaw; break;
    default: break;
  }
  return Status::ok();
}

class RingSource final : public PacketSource {
 public:
  RingSource(const Settings& settings, Target target) : settings_(settings), target_(std::move(target)) {}
  ~RingSource() override {
    if (memory_ != nullptr) munmap(memory_, static_cast<size_t>(block_count_ * kBlock));
    if (fd_ >= 0) close(fd_);
    if (event_ >= 0) close(event_);
  }

  /// No packet comes before start().
  Status open();
  /// Shares the packets with the other rings of `group`, which the first one makes (-1).
  Status join(int& group);
  Status start(const std::vector<sock_filter>& filter);

  Result<std::span<const Packet>> next(int milliseconds) override;
  void release() override {
    if (!is_held_) return;
    format::packets::release_block(block());
    next_block_ = (next_block_ + 1) % block_count_;
    is_held_ = false;
    if (wanted_blocks_ > 0) --wanted_blocks_;
  }
  void mark_end() override;
  bool is_at_end() const override {
    return wanted_blocks_ == 0 || (!is_block_ready(block()) && format::packets::is_block_empty(block()));
  }
  SourceCounts counts() override;
  void wake() override { (void)eventfd_write(event_, 1); }

 private:
  Status failed(const char* what) const {
    return base::os_error(errno, std::string(what) + " of \"" + target_.name + "\"");
  }
  template <class T>
  bool set(int option, const T& value) {
    return setsockopt(fd_, SOL_PACKET, option, &value, sizeof(value)) == 0;
  }
  uint8_t* block() const { return memory_ + next_block_ * kBlock; }
  Status open_ring();
  Status set_filter(std::vector<sock_filter> filter);
  Status set_hardware_time();
  Status look_at_error();
  Status look_at_interface();

  const Settings& settings_;
  const Target target_;
  int fd_ = -1, event_ = -1;
  uint8_t* memory_ = nullptr;
  int64_t block_count_ = 0, next_block_ = 0;
  int64_t wanted_blocks_ = 0;  // since mark_end()
  bool is_held_ = false;
  bool is_down_ = false;  ///< went down, and may have come back
  BlockSource source_;
  std::vector<Packet> packets_;
};

/// As large as was asked for, or as the kernel has memory for.
Status RingSource::open_ring() {
  const int version = TPACKET_V3;
  if (!set(PACKET_VERSION, version)) return failed("could not set up a capture");
  for (block_count_ = std::max<int64_t>(2, settings_.ring_size / kBlock);; block_count_ /= 2) {
    tpacket_req3 request{};
    request.tp_block_size = kBlock;
    request.tp_block_nr = static_cast<unsigned>(block_count_);
    request.tp_frame_size = kFrame;
    request.tp_frame_nr = static_cast<unsigned>(block_count_ * kBlock / kFrame);
    request.tp_retire_blk_tov = kPatience;
    if (set(PACKET_RX_RING, request)) break;
    if (errno != ENOMEM || block_count_ < 4) return failed("could not get memory for a capture");
  }
  void* memory = mmap(nullptr, static_cast<size_t>(block_count_ * kBlock), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) return failed("could not map the memory of a capture");
  memory_ = static_cast<uint8_t*>(memory);
  return Status::ok();
}

/// Asks the network card for times; packets without one have the kernel's.
Status RingSource::set_hardware_time() {
  hwtstamp_config config{};
  config.rx_filter = HWTSTAMP_FILTER_ALL;
  ifreq request{};
  strncpy(request.ifr_name, target_.name.c_str(), sizeof(request.ifr_name) - 1);
  request.ifr_data = reinterpret_cast<char*>(&config);
  if (target_.index == 0 || ioctl(fd_, SIOCSHWTSTAMP, &request) != 0)
    return base::os_error(target_.index == 0 ? EOPNOTSUPP : errno,
                          "could not turn on hardware timestamps of \"" + target_.name + "\"")
        .with_hint("This needs a network card that has them, and CAP_NET_ADMIN.");
  const int wanted = SOF_TIMESTAMPING_RAW_HARDWARE;
  return set(PACKET_TIMESTAMP, wanted) ? Status::ok() : failed("could not turn on hardware timestamps");
}

Status RingSource::set_filter(std::vector<sock_filter> filter) {
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0) return Status::ok();
  return failed("could not set the filter");
}

Status RingSource::start(const std::vector<sock_filter>& filter) {
  if (!filter.empty()) return set_filter(filter);
  const int ignored = 0;
  if (setsockopt(fd_, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof(ignored)) == 0) return Status::ok();
  return failed("could not start the capture");
}

Status RingSource::open() {
  const bool is_cooked = target_.link == format::packets::link::kCooked;
  // Without a protocol nothing comes before all is set up.
  fd_ = socket(AF_PACKET, (is_cooked ? SOCK_DGRAM : SOCK_RAW) | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return refused(errno, target_.name);
  event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_ < 0) return failed("could not set up a capture");
  STROM_TRY(open_ring());
  STROM_TRY(set_filter({{BPF_RET | BPF_K, 0, 0, 0}}));  // takes nothing
  if (settings_.hardware_time) STROM_TRY(set_hardware_time());
  const int yes = 1;
  // The loopback interface has each packet twice: as it goes out and as it comes in.
  const bool wants_outgoing = settings_.direction == "out" || (settings_.direction == "both" && !target_.is_loopback);
  if (!wants_outgoing && !set(PACKET_IGNORE_OUTGOING, yes)) return failed("could not leave out outgoing packets");
  source_.link = target_.link;
  source_.skips_incoming = settings_.direction == "out";
  source_.skips_outgoing_loopback = settings_.direction == "both";
  if (settings_.promiscuous && target_.index != 0) {
    packet_mreq request{};
    request.mr_ifindex = target_.index;
    request.mr_type = PACKET_MR_PROMISC;
    if (!set(PACKET_ADD_MEMBERSHIP, request)) return failed("could not set the promiscuous mode");
  }
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = target_.index;
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return refused(errno, target_.name);
  return Status::ok();
}

Status RingSource::join(int& group) {
  constexpr std::pair<const char*, int> kModes[] = {{"hash", PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_ROLLOVER << 8},
                                                    {"cpu", PACKET_FANOUT_CPU},
                                                    {"lb", PACKET_FANOUT_LB},
                                                    {"queue", PACKET_FANOUT_QM},
                                                    {"rollover", PACKET_FANOUT_ROLLOVER}};
  int mode = PACKET_FANOUT_HASH;
  for (const auto& [name, value] : kModes)
    if (settings_.fanout == name) mode = value;
  const bool is_first = group < 0;
  if (is_first) mode |= PACKET_FANOUT_FLAG_UNIQUEID << 8;
  const auto request = static_cast<uint32_t>(mode) << 16 | static_cast<uint32_t>(is_first ? 0 : group);
  if (!set(PACKET_FANOUT, request)) return failed("could not share the packets");
  if (!is_first) return Status::ok();
  uint32_t found = 0;
  socklen_t size = sizeof(found);
  if (getsockopt(fd_, SOL_PACKET, PACKET_FANOUT, &found, &size) != 0) return failed("could not share the packets");
  group = static_cast<int>(found & 0xFFFF);
  return Status::ok();
}

/// An interface that is down may come back; one that is gone does not.
Status RingSource::look_at_error() {
  int error_number = 0;
  socklen_t size = sizeof(error_number);
  if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error_number, &size) != 0 || error_number == 0) return Status::ok();
  is_down_ = error_number == ENETDOWN;
  if (is_down_) return Status::ok();
  errno = error_number;
  return failed("could not capture packets");
}

/// The kernel reports an interface that goes down, but not that one that is down has gone: it then takes the
/// interface's number out of the socket's address.
Status RingSource::look_at_interface() {
  sockaddr_ll address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return failed("could not capture packets");
  if (address.sll_ifindex == target_.index) return Status::ok();
  return Status(ErrorCode::kIoError, "interface \"" + target_.name + "\" has vanished");
}

Result<std::span<const Packet>> RingSource::next(int milliseconds) {
  packets_.clear();
  if (!is_block_ready(block())) {
    pollfd wanted[] = {{fd_, POLLIN | POLLERR, 0}, {event_, POLLIN, 0}};
    const int ready = poll(wanted, 2, milliseconds);
    if (ready < 0 && errno != EINTR) return failed("could not wait for packets");
    eventfd_t ignored = 0;
    if (wanted[1].revents != 0) (void)eventfd_read(event_, &ignored);
    if ((wanted[0].revents & (POLLERR | POLLHUP)) != 0) STROM_TRY(look_at_error());
    if (!is_block_ready(block())) {
      // Not at once: the last packets come when the kernel closes their block.
      if (is_down_ && ready == 0) STROM_TRY(look_at_interface());
      return std::span<const Packet>();
    }
  }
  is_held_ = true;
  format::packets::read_block(block(), kBlock, source_, packets_);
  return std::span<const Packet>(packets_);
}

/// The blocks that the kernel has handed over, and the one that it fills.
void RingSource::mark_end() {
  int64_t ready = 0;
  while (ready < block_count_ && is_block_ready(memory_ + (next_block_ + ready) % block_count_ * kBlock)) ++ready;
  wanted_blocks_ = std::min(ready + 1, block_count_);
}

SourceCounts RingSource::counts() {
  tpacket_stats_v3 found{};
  socklen_t size = sizeof(found);
  if (getsockopt(fd_, SOL_PACKET, PACKET_STATISTICS, &found, &size) != 0) return {};
  return {int64_t{found.tp_packets} - found.tp_drops, found.tp_drops};
}

}  // namespace

Result<std::vector<std::unique_ptr<PacketSource>>> open_rings(const Settings& settings, const std::string& interface,
                                                              int count) {
  Target target{interface};
  const int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return refused(errno, interface);
  const Status known = look_at(probe, target);
  close(probe);
  STROM_TRY(known);
  std::vector<sock_filter> filter;
  if (!settings.filter.empty() || settings.snap > 0) {
    STROM_ASSIGN(filter, compile_filter(settings.filter, interface, target.link, settings.snap));
  }
  std::vector<std::unique_ptr<RingSource>> rings;
  int group = -1;
  for (int i = 0; i < count; ++i) {
    auto ring = std::make_unique<RingSource>(settings, target);
    STROM_TRY(ring->open());
    if (count > 1) STROM_TRY(ring->join(group));
    rings.push_back(std::move(ring));
  }
  std::vector<std::unique_ptr<PacketSource>> out;
  for (auto& ring : rings) {
    STROM_TRY(ring->start(filter));
    out.push_back(std::move(ring));
  }
  return out;
}

}  // namespace strom::pcap2arrow
