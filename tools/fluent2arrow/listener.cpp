// See listener.hpp.
#include "fluent2arrow/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/os_error.hpp"

namespace strom::fluent2arrow {

using base::Descriptor;

namespace {

constexpr int kBacklog = 256;

}  // namespace

Status Listener::open_unix() {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (given_.size() >= sizeof address.sun_path)
    return {ErrorCode::kInvalidParameter, "the path of a socket is too long: \"" + given_ + "\""};
  std::memcpy(address.sun_path, given_.data(), given_.size());
  socket_ = Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_.get() < 0) return base::os_error(errno, "could not make a socket");
  // A socket that nobody listens at is one of a program that was killed.
  if (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
    return {ErrorCode::kIoError, "another program listens at \"" + given_ + "\""};
  struct stat found = {};
  if (errno == ECONNREFUSED && stat(given_.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) unlink(given_.c_str());
  if (bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return base::os_error(errno, "could not listen at \"" + given_ + "\"");
  is_unix_ = true;
  return Status::ok();
}

Status Listener::open_internet(int type) {
  const size_t colon = given_.rfind(':');
  if (colon == std::string::npos)
    return {ErrorCode::kInvalidParameter,
            "\"" + given_ + "\" is no address: HOST:PORT" + (type == SOCK_STREAM ? ", or the path of a socket" : "")};
  std::string host = given_.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo wanted = {};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = type;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), given_.c_str() + colon + 1, &wanted, &found);
      error != 0)
    return {ErrorCode::kInvalidParameter, "\"" + given_ + "\" is no address to listen at: " + gai_strerror(error)};
  socket_ = Descriptor(socket(found->ai_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_.get() < 0) {
    freeaddrinfo(found);
    return base::os_error(errno, "could not make a socket");
  }
  const int yes = 1;
  if (type == SOCK_STREAM) setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const int result = bind(socket_.get(), found->ai_addr, found->ai_addrlen);
  const int error = errno;
  freeaddrinfo(found);
  return result == 0 ? Status::ok() : base::os_error(error, "could not listen at \"" + given_ + "\"");
}

Result<Listener> Listener::open(const std::string& address) {
  Listener listener;
  listener.given_ = address;
  STROM_TRY(address.find('/') != std::string::npos ? listener.open_unix() : listener.open_internet(SOCK_STREAM));
  const int socket = listener.get();
  if (socket < 0 || ::listen(socket, kBacklog) != 0)
    return base::os_error(errno, "could not listen at \"" + address + "\"");
  return listener;
}

Result<Listener> Listener::open_datagrams(const std::string& address) {
  Listener listener;
  listener.given_ = address;
  STROM_TRY(listener.open_internet(SOCK_DGRAM));
  return listener;
}

void Listener::close() {
  if (!socket_.is_open()) return;
  socket_.reset();
  if (is_unix_) unlink(given_.c_str());
}

std::string Listener::address() const {
  if (is_unix_) return given_;
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&bound), size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return given_;
  return std::string(host) + ":" + port;
}

}  // namespace strom::fluent2arrow
