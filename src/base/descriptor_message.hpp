// Bytes with which descriptors go to another process (SCM_RIGHTS), through a UNIX socket.
#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace strom::base {

/// Of one message.
inline constexpr size_t kMaxDescriptors = 16;

/// As send(2), with these flags. The receiver gets descriptors of its own. At most kMaxDescriptors.
ssize_t send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors, int flags);

struct Received {
  ssize_t size = 0;          // as of recv(2)
  bool is_complete = false;  // neither bytes nor descriptors of a packet are lost
};

/// As recv(2), with these flags. Descriptors that come with the bytes are appended to `descriptors`, and are closed by
/// exec.
Received receive_with_descriptors(int socket, char* bytes, size_t size, int flags,
                                  std::vector<Descriptor>* descriptors);

/// As send_with_descriptors() with one descriptor. -1: none.
ssize_t send_with_descriptor(int socket, std::string_view bytes, int descriptor, int flags);

/// As recv(2), with these flags. A descriptor that comes with the bytes is put into `descriptor`, which otherwise stays
/// as it is. Of several the first is taken, and the others are closed.
ssize_t receive_with_descriptor(int socket, char* bytes, size_t size, int flags, Descriptor* descriptor);

}  // namespace strom::base
