#include "service/sockets.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor_message.hpp"
#include "base/os_error.hpp"
#include "service/protocol.hpp"

namespace strom::service {
namespace {

constexpr int kBacklog = 256;
static_assert(kMaxDescriptors <= base::kMaxDescriptors);

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return Status(ErrorCode::kInvalidParameter, "path of the GPU service's socket is too long: \"" + path + "\"")
        .with_detail("At most " + std::to_string(sizeof address.sun_path - 1) + " bytes are possible.");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<Descriptor> new_socket(int flags = 0) {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket.is_open()) return base::os_error(errno, "could not create a socket");
  return socket;
}

}  // namespace

Result<Transfer> send_packet(int socket, std::string_view bytes, const std::vector<int>& descriptors, bool wait) {
  if (descriptors.size() > kMaxDescriptors)
    return Status(ErrorCode::kOverBudget, "too many descriptors in one message of the GPU service");
  const int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
  for (;;) {
    if (base::send_with_descriptors(socket, bytes, descriptors, flags) >= 0) return Transfer::kDone;
    switch (errno) {
      case EINTR: continue;
      case EAGAIN: return Transfer::kWouldBlock;
      case EPIPE:
      case ECONNRESET:
      case ENOTCONN: return Transfer::kClosed;
      default: return base::os_error(errno, "could not send to the GPU service's socket");
    }
  }
}

Result<Transfer> receive_packet(int socket, bool wait, Packet* packet) {
  packet->descriptors.clear();
  packet->bytes.resize(kMaxMessageBytes);
  base::Received got;
  bool was_reset = false;  // told once, before packets that were sent earlier
  for (;;) {
    got = base::receive_with_descriptors(socket, packet->bytes.data(), packet->bytes.size(), wait ? 0 : MSG_DONTWAIT,
                                         &packet->descriptors);
    if (got.size >= 0 || (errno != EINTR && (errno != ECONNRESET || was_reset))) break;
    was_reset = was_reset || errno == ECONNRESET;
  }
  if (got.size < 0) {
    if (errno == EAGAIN) return Transfer::kWouldBlock;
    if (errno == ECONNRESET) return Transfer::kClosed;
    return base::os_error(errno, "could not receive from the GPU service's socket");
  }
  if (got.size == 0) return Transfer::kClosed;
  packet->bytes.resize(static_cast<size_t>(got.size));
  if (!got.is_complete)
    return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: it is too large");
  return Transfer::kDone;
}

Result<Peer> peer_of(int socket) {
  ucred credentials = {};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return base::os_error(errno, "could not tell who is at the other end of a socket");
  return Peer{credentials.pid, credentials.uid};
}

Result<Listener> listen_at(const std::string& path) {
  STROM_ASSIGN(const sockaddr_un address, address_of(path));
  const std::string lock_path = path + ".lock";
  Listener listener;
  listener.lock = Descriptor(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!listener.lock.is_open()) return base::os_error(errno, "could not open file \"" + lock_path + "\"");
  if (flock(listener.lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return base::os_error(errno, "could not lock file \"" + lock_path + "\"");
    return Status(ErrorCode::kIoError, "another GPU service listens at \"" + path + "\"");
  }
  STROM_ASSIGN(listener.socket, new_socket(SOCK_NONBLOCK));  // who connected may be gone when accepted
  // We have the lock, so a socket that is there belongs to no process any more. Other files are not ours to remove.
  struct stat found;
  if (lstat(path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode)) return Status(ErrorCode::kIoError, "\"" + path + "\" is not a socket");
    if (unlink(path.c_str()) != 0) return base::os_error(errno, "could not remove socket \"" + path + "\"");
  }
  // Before anybody can connect, so that there is no moment at which others may.
  if (fchmod(listener.socket.get(), S_IRUSR | S_IWUSR) != 0)
    return base::os_error(errno, "could not set permissions of socket \"" + path + "\"");
  if (bind(listener.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return base::os_error(errno, "could not bind socket \"" + path + "\"");
  if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0)
    return base::os_error(errno, "could not set permissions of socket \"" + path + "\"");
  if (listen(listener.socket.get(), kBacklog) != 0)
    return base::os_error(errno, "could not listen at socket \"" + path + "\"");
  return listener;
}

Result<Descriptor> listen_abstract(const std::string& name) {
  STROM_ASSIGN(const sockaddr_un address, address_of(name));
  STROM_ASSIGN(Descriptor socket, new_socket(SOCK_NONBLOCK));
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return base::os_error(errno, "could not bind a socket");
  if (listen(socket.get(), kBacklog) != 0) return base::os_error(errno, "could not listen at a socket");
  return socket;
}

Result<Descriptor> connect_to(const std::string& path, int timeout_ms) {
  STROM_ASSIGN(const sockaddr_un address, address_of(path));
  STROM_ASSIGN(Descriptor socket, new_socket());
  // Bounds connecting while the backlog is full, and sending to a service that hangs.
  const timeval patience = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  int outcome;
  do {
    outcome = connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (outcome != 0 && errno == EINTR);
  if (outcome == 0) return socket;
  if (errno == ECONNREFUSED || errno == ENOENT || errno == EAGAIN)
    return Status(ErrorCode::kDeviceLost, "the GPU service does not answer")
        .with_detail(base::os_error(errno, "Could not connect to \"" + path + "\"").message() + ".");
  return base::os_error(errno, "could not connect to the GPU service at \"" + path + "\"");
}

}  // namespace strom::service
