#include "kv/tcp.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace strom::kv {

namespace {

constexpr std::string_view kPrefix = "tcp:", kRdmaPrefix = "rdma:";
constexpr int kPatienceMs = 10000;

/// Splits "tcp:HOST:PORT" into host and port; false: it has another form.
bool split(const char* address, std::string* host, std::string* port) {
  const std::string text = address + kPrefix.size();
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return false;
  *host = text.substr(0, colon);
  *port = text.substr(colon + 1);
  if (host->front() == '[' && host->back() == ']') *host = host->substr(1, host->size() - 2);
  return port->find_first_not_of("0123456789") == std::string::npos;
}

/// Returns 0, or the error number of a failed connection.
int finish_connect(int descriptor, const struct addrinfo& address) {
  if (connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  struct pollfd ready{descriptor, POLLOUT, 0};
  int polled;
  do polled = poll(&ready, 1, kPatienceMs);
  while (polled < 0 && errno == EINTR);
  if (polled == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t length = sizeof(error);
  return polled < 0 || getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0 ? errno : error;
}

/// Sets the socket up like that of a UNIX socket's client: calls block, unless they say otherwise.
void prepare(int descriptor) {
  constexpr int kOn = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof(kOn));
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof(kOn));
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
}

}  // namespace

bool is_by_tcp(const char* address) { return std::string_view(address).starts_with(kPrefix); }

bool is_by_rdma(const char* address) { return std::string_view(address).starts_with(kRdmaPrefix); }

std::string by_tcp(const char* rdma_address) { return std::string(kPrefix) + (rdma_address + kRdmaPrefix.size()); }

int connect_by_tcp(const char* address, std::string* what) {
  const auto fail = [&](const std::string& why) {
    *what = std::string("could not connect to \"") + address + "\": " + why;
    return -1;
  };
  std::string host, port;
  if (!split(address, &host, &port)) return fail("not of the form tcp:HOST:PORT");
  struct addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  struct addrinfo* list = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list); error != 0)
    return fail(gai_strerror(error));
  const std::unique_ptr<struct addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  int error = EADDRNOTAVAIL;
  for (const struct addrinfo* at = list; at != nullptr; at = at->ai_next) {
    const int descriptor = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    error = descriptor >= 0 ? finish_connect(descriptor, *at) : errno;
    if (error == 0) {
      prepare(descriptor);
      return descriptor;
    }
    if (descriptor >= 0) close(descriptor);
  }
  return fail(strerror(error));
}

}  // namespace strom::kv
