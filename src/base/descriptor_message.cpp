#include "base/descriptor_message.hpp"

#include <sys/socket.h>

#include <cstring>

namespace strom::base {

namespace {

struct alignas(cmsghdr) ControlSpace {
  char bytes[CMSG_SPACE(sizeof(int))] = {};
};

void take_descriptors(msghdr* message, Descriptor* descriptor) {
  bool is_first = true;
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    // The space for one has room for two, because it is aligned.
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(number), sizeof(number));
      Descriptor taken(number);
      if (is_first) *descriptor = std::move(taken);
      is_first = false;
    }
  }
}

}  // namespace

ssize_t send_with_descriptor(int socket, std::string_view bytes, int descriptor, int flags) {
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  ControlSpace space;
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = space.bytes;
    message.msg_controllen = sizeof(space.bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(descriptor));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof(descriptor));
  }
  return sendmsg(socket, &message, flags);
}

ssize_t receive_with_descriptor(int socket, char* bytes, size_t size, int flags, Descriptor* descriptor) {
  iovec part = {bytes, size};
  ControlSpace space;
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof(space.bytes);
  const ssize_t got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  if (got >= 0) take_descriptors(&message, descriptor);
  return got;
}

}  // namespace strom::base
