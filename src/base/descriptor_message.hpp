// Bytes with which a descriptor goes to another process (SCM_RIGHTS), through a UNIX socket of streams.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "base/descriptor.hpp"

namespace strom::base {

/// As send(2), with these flags. `descriptor`: -1 for none; the receiver gets one of its own.
ssize_t send_with_descriptor(int socket, std::string_view bytes, int descriptor, int flags);

/// As recv(2), with these flags. A descriptor that comes with the bytes is put into `descriptor`, which otherwise stays
/// as it is. It is closed by exec. Of several the first is taken, and the others are closed.
ssize_t receive_with_descriptor(int socket, char* bytes, size_t size, int flags, Descriptor* descriptor);

}  // namespace strom::base
