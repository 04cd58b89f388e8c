// See xdp_program.hpp.
#include "pcap2arrow/xdp_program.hpp"

#include <linux/bpf.h>
#include <linux/if_link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/os_error.hpp"

namespace strom::pcap2arrow {

namespace {

int call(bpf_cmd command, bpf_attr& attributes) {
  return static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof(attributes)));
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Status xdp_refused(int error_number, const std::string& interface) {
  Status status = base::os_error(error_number, "could not capture from \"" + interface + "\" by AF_XDP");
  switch (error_number) {
    case EPERM:
    case EACCES:
      return std::move(status).with_hint(
          "This needs the capabilities CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF: run this as root, or once: setcap "
          "cap_net_raw,cap_net_admin,cap_bpf+ep $(which pcap2arrow)");
    case EAFNOSUPPORT: return std::move(status).with_hint("The kernel was built without CONFIG_XDP_SOCKETS.");
    case EBUSY:
      return std::move(status).with_hint("Another program captures from it by AF_XDP, or filters its packets.");
    case EOPNOTSUPP: return std::move(status).with_hint("Its driver cannot do that; --xdp=generic works with any.");
    default: return status;
  }
}

Result<XdpProgram> XdpProgram::load(int queues, const std::string& interface) {
  XdpProgram out(interface);
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_XSKMAP;
  map.key_size = map.value_size = sizeof(uint32_t);
  map.max_entries = static_cast<uint32_t>(queues);
  out.sockets_ = Descriptor(call(BPF_MAP_CREATE, map));
  if (out.sockets_.get() < 0) return xdp_refused(errno, interface);
  // return bpf_redirect_map(&sockets, context->rx_queue_index, XDP_PASS);
  constexpr auto kQueue = static_cast<int16_t>(offsetof(xdp_md, rx_queue_index));
  const bpf_insn instructions[] = {
      {BPF_LDX | BPF_W | BPF_MEM, BPF_REG_2, BPF_REG_1, kQueue, 0},
      {BPF_LD | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, out.sockets_.get()},  // BPF_IMM is 0
      {0, 0, 0, 0, 0},                                                         // the second half of the one before
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, XDP_PASS},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  static const char license[] = "PostgreSQL";
  bpf_attr program{};
  program.prog_type = BPF_PROG_TYPE_XDP;
  program.insns = reinterpret_cast<uint64_t>(instructions);
  program.insn_cnt = sizeof(instructions) / sizeof(instructions[0]);
  program.license = reinterpret_cast<uint64_t>(license);
  program.expected_attach_type = BPF_XDP;
  out.program_ = Descriptor(call(BPF_PROG_LOAD, program));
  if (out.program_.get() < 0) return xdp_refused(errno, interface);
  return out;
}

Status XdpProgram::set_socket(int queue, int fd) {
  bpf_attr element{};
  element.map_fd = static_cast<uint32_t>(sockets_.get());
  element.key = reinterpret_cast<uint64_t>(&queue);
  element.value = reinterpret_cast<uint64_t>(&fd);
  return call(BPF_MAP_UPDATE_ELEM, element) == 0 ? Status::ok() : xdp_refused(errno, interface_);
}

Status XdpProgram::attach(int interface, bool is_generic) {
  bpf_attr link{};
  link.link_create.prog_fd = static_cast<uint32_t>(program_.get());
  link.link_create.target_ifindex = static_cast<uint32_t>(interface);
  link.link_create.attach_type = BPF_XDP;
  link.link_create.flags = is_generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
  link_ = Descriptor(call(BPF_LINK_CREATE, link));
  return link_.get() >= 0 ? Status::ok() : xdp_refused(errno, interface_);
}

}  // namespace strom::pcap2arrow
