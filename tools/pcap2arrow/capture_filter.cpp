// See capture_filter.hpp.
#include "pcap2arrow/capture_filter.hpp"

#include <pcap/pcap.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "format/packets/packet.hpp"

namespace strom::pcap2arrow {

namespace {

constexpr int kAllBytes = 262144;

struct Close {
  void operator()(pcap_t* handle) const { pcap_close(handle); }
};
using Handle = std::unique_ptr<pcap_t, Close>;

int data_link(uint16_t link) {
  if (link == format::packets::link::kEthernet) return DLT_EN10MB;
  return DLT_RAW;  // without a link layer, too
}

/// Of an interface that is open libpcap knows that the kernel takes VLAN tags out of packets.
Handle open_handle(const std::string& interface, uint16_t link, int snap) {
  if (link == format::packets::link::kEthernet) {
    char problem[PCAP_ERRBUF_SIZE];
    Handle handle(pcap_create(interface.c_str(), problem));
    if (handle != nullptr && pcap_set_snaplen(handle.get(), snap) == 0 &&
        pcap_set_buffer_size(handle.get(), 1 << 16) == 0 && pcap_activate(handle.get()) >= 0)
      return handle;
  }
  return Handle(pcap_open_dead(data_link(link), snap));
}

Status out_of_memory() { return Status(ErrorCode::kOutOfMemory, "out of memory"); }

Result<std::vector<sock_filter>> compile(pcap_t* handle, const std::string& filter) {
  static_assert(sizeof(bpf_insn) == sizeof(sock_filter));
  bpf_program program{};
  if (pcap_compile(handle, &program, filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
    return Status(ErrorCode::kInvalidParameter, "filter \"" + filter + "\" has an error")
        .with_detail(std::string("libpcap says: ") + pcap_geterr(handle) + ".");
  std::vector<sock_filter> out(program.bf_len);
  std::memcpy(out.data(), program.bf_insns, out.size() * sizeof(sock_filter));
  pcap_freecode(&program);
  return out;
}

}  // namespace

Status check_filter(const std::string& filter) {
  const Handle handle(pcap_open_dead(DLT_EN10MB, kAllBytes));
  return handle == nullptr ? out_of_memory() : compile(handle.get(), filter).status();
}

Result<std::vector<sock_filter>> compile_filter(const std::string& filter, const std::string& interface, uint16_t link,
                                                int64_t snap) {
  const Handle handle = open_handle(interface, link, snap == 0 ? kAllBytes : static_cast<int>(snap));
  return handle == nullptr ? out_of_memory() : compile(handle.get(), filter);
}

Result<std::shared_ptr<const PacketFilter>> PacketFilter::create(const std::string& filter, int64_t snap) {
  const Handle handle(pcap_open_dead(DLT_EN10MB, snap == 0 ? kAllBytes : static_cast<int>(snap)));
  if (handle == nullptr) return out_of_memory();
  STROM_ASSIGN(auto program, compile(handle.get(), filter));
  return std::shared_ptr<const PacketFilter>(new PacketFilter(std::move(program)));
}

uint32_t PacketFilter::bytes_of(const uint8_t* packet, uint32_t length) const {
  return bpf_filter(reinterpret_cast<const bpf_insn*>(program_.data()), packet, length, length);
}

/// libpcap's own numbers differ from those of files, and only reading a file turns one into the other.
std::string link_type_name(uint16_t link) {
  constexpr uint32_t kMagic = 0xA1B2C3D4, kVersion = 4 << 16 | 2;
  uint32_t header[] = {kMagic, kVersion, 0, 0, kAllBytes, link};
  FILE* file = fmemopen(header, sizeof(header), "rb");
  if (file == nullptr) return {};
  char problem[PCAP_ERRBUF_SIZE];
  const Handle handle(pcap_fopen_offline(file, problem));  // closes the file with itself
  if (handle == nullptr) {
    (void)fclose(file);
    return {};
  }
  const char* name = pcap_datalink_val_to_name(pcap_datalink(handle.get()));
  return name == nullptr ? std::string() : name;
}

std::string filter_library() {
  std::string version = pcap_lib_version();
  version = version.substr(0, version.find(" ("));
  const size_t word = version.find("version ");
  return word == std::string::npos ? version : version.substr(0, word) + version.substr(word + 8);
}

}  // namespace strom::pcap2arrow
