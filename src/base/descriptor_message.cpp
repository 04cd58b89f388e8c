#include "base/descriptor_message.hpp"

#include <sys/socket.h>

#include <cstring>

namespace strom::base {

namespace {

struct alignas(cmsghdr) ControlSpace {
  char bytes[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
};

void take_descriptors(msghdr* message, std::vector<Descriptor>* descriptors) {
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(number), sizeof(number));
      descriptors->emplace_back(number);
    }
  }
}

}  // namespace

ssize_t send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors, int flags) {
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  ControlSpace space;
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = space.bytes;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(socket, &message, flags);
}

Received receive_with_descriptors(int socket, char* bytes, size_t size, int flags,
                                  std::vector<Descriptor>* descriptors) {
  iovec part = {bytes, size};
  ControlSpace space;
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof(space.bytes);
  const ssize_t got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  if (got >= 0) take_descriptors(&message, descriptors);
  return {got, (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0};
}

ssize_t send_with_descriptor(int socket, std::string_view bytes, int descriptor, int flags) {
  return send_with_descriptors(socket, bytes, {&descriptor, descriptor >= 0 ? size_t{1} : size_t{0}}, flags);
}

ssize_t receive_with_descriptor(int socket, char* bytes, size_t size, int flags, Descriptor* descriptor) {
  std::vector<Descriptor> descriptors;
  const ssize_t got = receive_with_descriptors(socket, bytes, size, flags, &descriptors).size;
  if (!descriptors.empty()) *descriptor = std::move(descriptors.front());
  return got;
}

}  // namespace strom::base
