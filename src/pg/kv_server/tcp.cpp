#include "pg/kv_server/tcp.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "pg/boundary/boundary.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::kv_server {

namespace {

void complain(const std::string& address, int port, const std::string& reason) {
  const char *where = address.c_str(), *why = reason.c_str();
  boundary::guard([=] {
    ereport(LOG, (errcode(ERRCODE_CONNECTION_FAILURE),
                  errmsg("could not listen for messages on address \"%s\", port %d: %s", where, port, why)));
  });
}

int port_of(int descriptor) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
  } name{};
  socklen_t length = sizeof(name);
  if (getsockname(descriptor, &name.any, &length) != 0) return 0;
  return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

/// A listening socket, or -1 and errno.
int listen_on(const struct addrinfo& address) {
  const int descriptor = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  constexpr int kOn = 1, kBacklog = 1024;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof(kOn));
  // Lets both address families use the same port.
  if (address.ai_family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &kOn, sizeof(kOn));
  if (bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 && listen(descriptor, kBacklog) == 0)
    return descriptor;
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

}  // namespace

std::vector<std::string> split_addresses(const char* list) {
  std::string_view rest = list == nullptr ? "" : list;
  std::vector<std::string> addresses;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (const std::string_view address = trimmed(rest.substr(0, comma)); !address.empty())
      addresses.emplace_back(address);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return addresses;
}

int listen_by_tcp(Clients* clients, const std::vector<std::string>& addresses, int port) {
  int bound = 0;
  for (const std::string& address : addresses) {
    struct addrinfo hints{};
    hints.ai_flags = AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    struct addrinfo* list = nullptr;
    // All addresses use the port that the first one has got.
    const int wanted = bound != 0 ? bound : port;
    const int error =
        getaddrinfo(address == "*" ? nullptr : address.c_str(), std::to_string(wanted).c_str(), &hints, &list);
    if (error != 0) {
      complain(address, wanted, gai_strerror(error));
      continue;
    }
    const std::unique_ptr<struct addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
    for (struct addrinfo* at = list; at != nullptr; at = at->ai_next) {
      if (bound != 0 && at->ai_family == AF_INET)
        reinterpret_cast<struct sockaddr_in*>(at->ai_addr)->sin_port = htons(bound);
      if (bound != 0 && at->ai_family == AF_INET6)
        reinterpret_cast<struct sockaddr_in6*>(at->ai_addr)->sin6_port = htons(bound);
      const int descriptor = listen_on(*at);
      if (descriptor < 0) {
        complain(address, wanted, strerror(errno));
        continue;
      }
      bound = port_of(descriptor);
      clients->add_listener(descriptor);
    }
  }
  return bound;
}

void prepare_tcp_client(int descriptor) {
  constexpr int kOn = 1, kIdleSeconds = 60, kIntervalSeconds = 10, kProbes = 6, kUnansweredMs = 60000;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof(kOn));
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof(kOn));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof(kIdleSeconds));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &kIntervalSeconds, sizeof(kIntervalSeconds));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof(kProbes));
  setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnansweredMs, sizeof(kUnansweredMs));
}

}  // namespace strom::pg::kv_server
