#include "pg/store/attach_server.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>

#include "base/descriptor_limit.hpp"
#include "base/descriptor_message.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/store/control.hpp"
#include "pg/store/published.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/tokens.hpp"

namespace strom::pg::store {

namespace {

constexpr int64_t kPatience = 5 * USECS_PER_SEC;

/// A client whose request is not complete yet.
struct Client {
  region::AttachRequest request;
  size_t received = 0;
  TimestampTz since = 0;
};

struct Server {
  int listener = -1, poll = -1;
  std::string path;
  std::map<int, Client> clients;
};

Server& server() {
  static auto* the_server = new Server();
  return *the_server;
}

bool fail(const char* what) {
  const int error = errno;
  close_attach_socket();
  boundary::guard([=] {
    errno = error;
    ereport(LOG, (errcode_for_socket_access(), errmsg("could not %s the socket of published regions: %m", what)));
  });
  return false;
}

bool watch(int descriptor) {
  struct epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  return epoll_ctl(server().poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void forget(int client) {
  close(client);
  server().clients.erase(client);
}

/// The region's descriptor for a reader, or -1.
int open_region(const Grant& grant) {
  const std::string path = region_path(memory_path(grant.database, grant.relation), grant.region);
  return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

void send_answer(int client, region::AttachStatus status, int descriptor) {
  const region::AttachAnswer answer{region::kAttachMagic, status, region::kAttachVersion};
  const std::string_view bytes(reinterpret_cast<const char*>(&answer), sizeof(answer));
  // The answer fits into the socket's buffer. If the client has gone, it does not need the answer.
  [[maybe_unused]] const ssize_t sent =
      base::send_with_descriptor(client, bytes, descriptor, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void answer(int client, const region::AttachRequest& request) {
  if (request.magic != region::kAttachMagic || request.version != region::kAttachVersion)
    return send_answer(client, region::AttachStatus::kUnsupported, -1);
  Grant grant{};
  const uint8_t* token = request.token;
  if (!boundary::guard([token, &grant] { return use_token(token, false, &grant); }))
    return send_answer(client, region::AttachStatus::kRefused, -1);
  const base::Descriptor descriptor(open_region(grant));
  send_answer(client, descriptor.is_open() ? region::AttachStatus::kGranted : region::AttachStatus::kMoved,
              descriptor.get());
}

/// How many may be connected at the same time; each leaves after its answer. Silent ones must not take the descriptors
/// that the worker needs for its other work.
size_t most_clients() {
  constexpr size_t kMost = 2000, kPart = 4;
  return std::min(kMost, base::descriptor_limit() / kPart);
}

void accept_clients() {
  const size_t most = most_clients();
  for (;;) {
    const int client = accept4(server().listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    if (server().clients.size() >= most || !watch(client)) {
      close(client);
      continue;
    }
    server().clients[client].since = boundary::guard([] { return GetCurrentTimestamp(); });
  }
}

void receive(int descriptor) {
  const auto found = server().clients.find(descriptor);
  if (found == server().clients.end()) return;
  Client& client = found->second;
  const ssize_t got = recv(descriptor, reinterpret_cast<uint8_t*>(&client.request) + client.received,
                           sizeof(client.request) - client.received, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return forget(descriptor);
  client.received += static_cast<size_t>(got);
  if (client.received < sizeof(client.request)) return;
  answer(descriptor, client.request);
  forget(descriptor);
}

void drop_slow_clients() {
  const TimestampTz now = boundary::guard([] { return GetCurrentTimestamp(); });
  auto& clients = server().clients;
  for (auto at = clients.begin(); at != clients.end();) {
    const bool is_slow = now - at->second.since > kPatience;
    if (is_slow) close(at->first);
    at = is_slow ? clients.erase(at) : std::next(at);
  }
}

}  // namespace

std::string socket_path(const std::string& suffix) {
  const char* folder = boundary::guard([]() -> const char* {
    List* folders = NIL;
    char* all = pstrdup(Unix_socket_directories == nullptr ? "" : Unix_socket_directories);
    if (!SplitDirectoriesString(all, ',', &folders) || folders == NIL) return "";
    return static_cast<const char*>(linitial(folders));
  });
  const std::string name = "/.s.pg_strom_kv." + std::to_string(PostPortNumber) + suffix;
  const bool is_usable = folder[0] == '/' && strlen(folder) + name.size() < sizeof(sockaddr_un::sun_path);
  return (is_usable ? std::string(folder) : std::string(DataDir)) + name;
}

bool open_attach_socket() {
  Server& own = server();
  own.path = socket_path("");
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (own.path.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return fail("name");
  }
  own.path.copy(address.sun_path, own.path.size());
  unlink(own.path.c_str());
  own.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (own.listener < 0) return fail("make");
  constexpr int kBacklog = 1024;
  if (bind(own.listener, reinterpret_cast<const struct sockaddr*>(&address), sizeof(address)) != 0) return fail("bind");
  // The token authenticates clients. So the socket is open to everybody who may use the server's own socket.
  if (chmod(own.path.c_str(), static_cast<mode_t>(Unix_socket_permissions)) != 0) return fail("open");
  if (listen(own.listener, kBacklog) != 0) return fail("listen on");
  own.poll = epoll_create1(EPOLL_CLOEXEC);
  if (own.poll < 0 || !watch(own.listener)) return fail("watch");
  strlcpy(control()->socket, own.path.c_str(), sizeof(Control::socket));
  return true;
}

int attach_descriptor() { return server().poll; }

void serve_attach() {
  if (server().poll < 0) return;
  constexpr int kMost = 64;
  struct epoll_event events[kMost];
  const int count = epoll_wait(server().poll, events, kMost, 0);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == server().listener)
      accept_clients();
    else
      receive(events[i].data.fd);
  }
  drop_slow_clients();
}

void close_attach_socket() {
  Server& own = server();
  for (const auto& [descriptor, client] : own.clients) close(descriptor);
  own.clients.clear();
  for (int* descriptor : {&own.listener, &own.poll}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
  if (!own.path.empty()) unlink(own.path.c_str());
  own.path.clear();
}

}  // namespace strom::pg::store
