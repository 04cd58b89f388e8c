#include "pg/kv_server/clients.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptor_limit.hpp"
#include "base/descriptor_message.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/kv_server/tcp.hpp"
#include "pg/store/server_headers.hpp"
#include "store/message/giving_way.hpp"
#include "store/message/message.hpp"

namespace strom::pg::kv_server {

namespace {

namespace message = ::strom::store::message;

constexpr size_t kMostClients = 4000;
constexpr size_t kEnough = 256 << 10;    // bytes of input; more is read only to complete a message
constexpr size_t kMostOutput = 1 << 20;  // bytes; above this, input is not read until output is sent
constexpr int64_t kPatience = 30 * USECS_PER_SEC;

bool needs_input(const Client& client) {
  if (client.has_hung_up || client.is_ending || client.output.size() >= kMostOutput) return false;
  // A client that has not shown a valid token gets no memory beyond its first message.
  if (!client.is_admitted) return client.input.size() < sizeof(message::Hello);
  if (client.input.size() < kEnough) return true;
  const auto found = message::find_frame(client.input);
  return found.is_ok() && !found.value().has_value();
}

/// How many clients there can be so that half of the descriptors are left for files.
size_t most_clients() {
  constexpr size_t kHalf = 2;
  return std::min(kMostClients, base::raise_descriptor_limit(kHalf * kMostClients) / kHalf);
}

TimestampTz now() {
  return boundary::guard([] { return GetCurrentTimestamp(); });
}

}  // namespace

void Clients::end() {
  for (const auto& [descriptor, client] : clients_) close(descriptor);
  ring_clients_.clear();
  clients_.clear();
  for (const int listener : tcp_listeners_) close(listener);
  tcp_listeners_.clear();
  if (listener_ >= 0) close(listener_);
  if (poll_ >= 0) close(poll_);
  if (!path_.empty()) unlink(path_.c_str());
  listener_ = poll_ = -1;
  path_.clear();
}

bool Clients::watch(int descriptor, uint32_t events, int operation) const {
  struct epoll_event event{};
  event.events = events;
  event.data.fd = descriptor;
  return epoll_ctl(poll_, operation, descriptor, &event) == 0;
}

bool Clients::listen(const std::string& path) {
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return false;
  }
  path.copy(address.sun_path, path.size());
  unlink(path.c_str());
  path_ = path;
  most_ = most_clients();
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  constexpr int kBacklog = 1024;
  // The token authenticates clients. So the socket is open to everybody who may use the server's own socket.
  if (listener_ < 0 || bind(listener_, reinterpret_cast<const struct sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), static_cast<mode_t>(Unix_socket_permissions)) != 0 || ::listen(listener_, kBacklog) != 0)
    return false;
  poll_ = epoll_create1(EPOLL_CLOEXEC);
  return poll_ >= 0 && watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
}

void Clients::add_listener(int descriptor) {
  tcp_listeners_.push_back(descriptor);
  watch(descriptor, EPOLLIN, EPOLL_CTL_ADD);
}

void Clients::wake_for(int descriptor) { watch(descriptor, EPOLLIN, EPOLL_CTL_ADD); }

/// Makes room for a client. Those without a valid token have a part of the places: the one that has been silent for the
/// longest time goes, so that they cannot keep others out.
bool Clients::make_place() {
  constexpr size_t kPart = 4;
  if (clients_.size() < most_ / kPart) return true;
  size_t strangers = 0;
  auto oldest = clients_.end();
  for (auto at = clients_.begin(); at != clients_.end(); ++at) {
    if (at->second.is_admitted) continue;
    ++strangers;
    if (oldest == clients_.end() || at->second.since < oldest->second.since) oldest = at;
  }
  if (strangers >= std::max<size_t>(1, most_ / kPart)) {
    forget(&oldest->second);
    clients_.erase(oldest);
  }
  return clients_.size() < most_;
}

/// True if somebody came.
bool Clients::accept_all(int listener) {
  for (bool any = false;; any = true) {
    const int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    // The system has no descriptors left, and the listener stays readable.
    constexpr long kPauseUs = 10'000;
    if (descriptor < 0 && (errno == EMFILE || errno == ENFILE)) pg_usleep(kPauseUs);
    if (descriptor < 0) return any;
    if (!make_place() || !watch(descriptor, EPOLLIN, EPOLL_CTL_ADD)) {
      close(descriptor);
      continue;
    }
    if (listener != listener_) prepare_tcp_client(descriptor);
    Client& client = clients_[descriptor];
    client.descriptor = descriptor;
    client.is_local = listener == listener_;
    client.since = now();
  }
}

/// Reads input. False: the client has gone.
bool Clients::receive_from(Client* client) {
  // Shared by all clients: growing a client's own buffer would zero that memory for each message.
  static char buffer[64 << 10];
  const size_t part = client->is_admitted ? sizeof(buffer) : sizeof(message::Hello);
  while (needs_input(*client)) {
    const ssize_t got = recv(client->descriptor, buffer, part, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got < 0) return false;
    client->input.append(buffer, static_cast<size_t>(got));
    client->has_hung_up = got == 0;
    // Its first message has to be whole in time.
    if (client->is_admitted) client->since = now();
    if (static_cast<size_t>(got) < part) return true;
  }
  return true;
}

/// A client that uses rings sends only wake-up bytes by its socket. Reads them, and notices the end of the connection.
/// False: the client has gone.
bool Clients::receive_bell(Client* client) {
  char bells[64];
  ssize_t got;
  do got = recv(client->descriptor, bells, sizeof(bells), 0);
  while (got < 0 && errno == EINTR);
  if (got == 0 && !client->has_hung_up) {
    client->is_ending = client->is_ending || !client->rings->requests.read(&client->input).has_value();
    client->has_hung_up = true;
  }
  return got >= 0 || errno == EAGAIN;
}

/// Reads input from a client's ring.
void Clients::take_input(Client* client) const {
  const auto got = client->rings->requests.read(&client->input);
  client->is_ending = client->is_ending || !got.has_value();
  client->since = time_;
}

/// Reads input from all rings. True if there was input, or if output can be sent.
bool Clients::receive_by_rings() {
  bool any = false;
  for (Client* client : ring_clients_) {
    any = any || (!client->output.empty() && client->rings->answers.has_room());
    if (!client->rings->requests.has_more() || !needs_input(*client)) continue;
    take_input(client);
    any = true;
  }
  return any;
}

std::vector<Client*> Clients::receive_from_idle() {
  std::vector<Client*> found;
  for (Client* client : ring_clients_) {
    if (!client->input.empty() || !client->rings->requests.has_more() || !needs_input(*client)) continue;
    take_input(client);
    found.push_back(client);
  }
  return found;
}

/// Waits actively for input for a short time. It yields the processor to other processes meanwhile, because waking this
/// process later would cost more.
bool Clients::spin() {
  constexpr int kYields = 100, kOften = 8;
  for (int i = 1; i <= kYields && !ring_clients_.empty() && message::may_give_way(); ++i) {
    message::give_way();
    if (receive_by_rings() || (i % kOften == 0 && receive_events(0))) return true;
  }
  return false;
}

bool Clients::begin_sleep() {
  for (Client* client : ring_clients_) client->rings->requests.begin_sleep();
  for (const Client* client : ring_clients_)
    if (client->rings->requests.has_more() && needs_input(*client)) return false;
  return true;
}

bool Clients::has_unsent() const {
  return std::any_of(ring_clients_.begin(), ring_clients_.end(),
                     [](const Client* client) { return !client->output.empty(); });
}

void Clients::end_sleep() {
  for (Client* client : ring_clients_) client->rings->requests.end_sleep();
}

bool Clients::receive(int timeout_ms) {
  time_ = now();
  const bool has_bytes = receive_by_rings();
  if (receive_events(0) || has_bytes) return true;
  if (timeout_ms == 0) return false;
  if (spin()) return true;
  const bool has_events = begin_sleep() && receive_events(timeout_ms);
  end_sleep();
  return receive_by_rings() || has_events;
}

bool Clients::receive_events(int timeout_ms) {
  constexpr int kMost = 64;
  struct epoll_event events[kMost];
  const int count = epoll_wait(poll_, events, kMost, timeout_ms);
  bool any = false;
  for (int i = 0; i < count; ++i) {
    const int descriptor = events[i].data.fd;
    if (descriptor == listener_ ||
        std::find(tcp_listeners_.begin(), tcp_listeners_.end(), descriptor) != tcp_listeners_.end()) {
      any = accept_all(descriptor) || any;
      continue;
    }
    any = true;
    const auto found = clients_.find(descriptor);
    if (found == clients_.end() || (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) continue;
    Client* client = &found->second;
    if (client->uses_rings() ? receive_bell(client) : receive_from(client)) continue;
    forget(client);
    clients_.erase(found);
  }
  return any;
}

/// Closes the client's connection.
void Clients::forget(Client* client) {
  ring_clients_.erase(std::remove(ring_clients_.begin(), ring_clients_.end(), client), ring_clients_.end());
  close(client->descriptor);
}

bool Clients::offer_rings(Client* client) {
  if (!client->is_local || client->rings != nullptr) return false;
  auto rings = std::make_unique<ClientRings>();
  if (!rings->memory.make(&rings->descriptor).is_ok()) return false;
  rings->requests = rings->memory.reader_of(message::kRequests);
  rings->answers = rings->memory.writer_of(message::kAnswers);
  client->rings = std::move(rings);
  return true;
}

/// Like send(). The first byte carries the descriptor of the client's rings.
ssize_t Clients::send_part(Client* client) const {
  const std::string_view left = std::string_view(client->output).substr(client->sent);
  const int rings = client->rings == nullptr ? -1 : client->rings->descriptor.get();
  return base::send_with_descriptor(client->descriptor, left, rings, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// Writes output to the ring. False: the connection has to end.
bool Clients::send_by_rings(Client* client) {
  auto& answers = client->rings->answers;
  const auto sent = answers.write(std::string_view(client->output).substr(client->sent));
  if (!sent.has_value()) return false;
  if (*sent != 0) client->since = time_;
  if (answers.has_to_wake()) message::wake(answers.bed());
  client->sent += *sent;
  if (client->sent < client->output.size()) return true;
  client->output.clear();
  client->sent = 0;
  return !client->is_ending;
}

/// Sends output. False: the client has gone, or the connection has to end.
bool Clients::send_to(Client* client) {
  if (client->uses_rings()) return send_by_rings(client);
  while (client->sent < client->output.size()) {
    const ssize_t sent = send_part(client);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return true;
    if (sent <= 0) return false;
    client->sent += static_cast<size_t>(sent);
    client->since = now();
  }
  client->output.clear();
  client->sent = 0;
  if (client->rings != nullptr) {
    client->rings->descriptor.reset();
    ring_clients_.push_back(client);
  }
  return !client->is_ending;
}

/// Tells epoll which events to watch for.
void Clients::follow(Client* client) {
  const bool waits = !client->uses_rings() && client->sent < client->output.size();
  const bool is_heard = client->uses_rings() ? !client->has_hung_up : needs_input(*client);
  if (waits == client->waits_to_send && is_heard == client->is_heard) return;
  client->waits_to_send = waits;
  client->is_heard = is_heard;
  watch(client->descriptor, (waits ? EPOLLOUT : 0U) | (is_heard ? EPOLLIN : 0U), EPOLL_CTL_MOD);
}

void Clients::send() {
  time_ = now();
  for (auto at = clients_.begin(); at != clients_.end();) {
    Client& client = at->second;
    bool is_there = client.output.empty() && !client.is_ending ? true : send_to(&client);
    // A client times out if it has not completed its first message or a later one, or does not take its output.
    const bool is_due = !client.is_greeted || !client.input.empty() || !client.output.empty();
    is_there = is_there && !(is_due && time_ - client.since > kPatience);
    if (is_there) follow(&client);
    if (!is_there) forget(&client);
    at = is_there ? std::next(at) : clients_.erase(at);
  }
}

}  // namespace strom::pg::kv_server
