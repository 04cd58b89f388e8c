// UNIX sockets of the GPU service: packets with file descriptors, who is at the other end, and a socket file that a
// dead service left behind. Used by the server and the client.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace strom::service {

using base::Descriptor;

struct Packet {
  std::string bytes;
  std::vector<Descriptor> descriptors;
};

enum class Transfer { kDone, kWouldBlock, kClosed };

/// Sends one packet. kClosed: the other end is gone. Errors: kIoError.
Result<Transfer> send_packet(int socket, std::string_view bytes, const std::vector<int>& descriptors, bool wait);

/// Receives one packet. kProtocolViolation when it is larger than a message may be or has lost descriptors.
Result<Transfer> receive_packet(int socket, bool wait, Packet* packet);

struct Peer {
  pid_t process = 0;
  uid_t user = 0;
};
Result<Peer> peer_of(int socket);

/// A socket file with the right to serve it: while this lives no other process can listen at the path.
struct Listener {
  Descriptor lock, socket;
};

/// Listens at `path`, whose file is readable by this user only. A socket file of a dead service is replaced; of a
/// living one kIoError. The lock is on PATH.lock, which stays.
Result<Listener> listen_at(const std::string& path);

/// Listens at a name of the abstract namespace, which begins with a zero byte. No file stands for it, and it is free
/// again when the socket is closed.
Result<Descriptor> listen_abstract(const std::string& name);

/// Waits for a place in the queue and for each message to be taken. kDeviceLost when no process listens there.
Result<Descriptor> connect_to(const std::string& path, int timeout_ms = 1000);

}  // namespace strom::service
