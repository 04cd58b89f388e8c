#include "service/export_server.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/descriptor_limit.hpp"
#include "base/os_error.hpp"

namespace strom::service {
namespace {

constexpr int64_t kPatienceMs = 10000;     // of a client that is not a session of the server
constexpr size_t kMostConnections = 4096;  // of all kinds
constexpr size_t kMostDescriptors = 1 << 20;
constexpr size_t kOwnDescriptors = 256;  // of the process besides connections and exports
constexpr int kMessagesAtATime = 64;     // of one connection

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// False when the GPU service whose memory a lease is of has ended. No lease: the memory is in the file.
bool has_reader(const Descriptor& lease) {
  if (!lease.is_open()) return true;
  pollfd looked = {lease.get(), 0, 0};
  return poll(&looked, 1, 0) == 0;
}

/// Empty: it has none.
std::string key_of(const PutExport& request) {
  const std::string_view key(request.key, sizeof request.key);
  return key.find_first_not_of('\0') == std::string_view::npos ? std::string() : std::string(key);
}

Status unexpected() { return {ErrorCode::kProtocolViolation, "invalid message to the exports' keeper"}; }

}  // namespace

Result<std::unique_ptr<ExportServer>> ExportServer::open() {
  std::unique_ptr<ExportServer> server(new ExportServer());
  const size_t descriptors = base::raise_descriptor_limit(kMostDescriptors);
  server->most_exports_ = descriptors > kOwnDescriptors + kMostConnections
                              ? descriptors - kOwnDescriptors - kMostConnections
                              : kOwnDescriptors;
  STROM_ASSIGN(server->keeper_, random_digits(kKeeperDigits));
  STROM_ASSIGN(server->listener_, listen_abstract(keeper_address(server->keeper_)));
  return server;
}

bool ExportServer::is_idle() const {
  return exports_.empty() && std::none_of(connections_.begin(), connections_.end(),
                                          [](const auto& entry) { return entry.second.is_trusted; });
}

Status ExportServer::serve(int timeout_ms) {
  std::vector<pollfd> waited{{listener_.get(), POLLIN, 0}};
  std::vector<uint64_t> numbers{0};
  for (const auto& [number, connection] : connections_) {
    waited.push_back({connection.socket.get(), POLLIN, 0});
    numbers.push_back(number);
  }
  if (poll(waited.data(), waited.size(), timeout_ms) < 0) {
    if (errno == EINTR) return Status::ok();
    return base::os_error(errno, "could not wait for clients of exports");
  }
  for (size_t i = 1; i < waited.size(); ++i) {
    const auto found = connections_.find(numbers[i]);
    if (waited[i].revents != 0 && !answer(found->first, found->second)) close(found);
  }
  if (waited[0].revents != 0) accept_some();
  const int64_t now = now_ms();
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    if (!at->second.is_trusted && at->second.until_ms < now) close(at);
    at = next;
  }
  return Status::ok();
}

void ExportServer::accept_some() {
  for (int i = 0; i < kMessagesAtATime; ++i) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) return;
    if (connections_.size() >= kMostConnections) {
      // Who has waited longest without being a session makes room. Sessions are as many as the server has.
      const auto oldest = std::find_if(connections_.begin(), connections_.end(),
                                       [](const auto& entry) { return !entry.second.is_trusted; });
      if (oldest == connections_.end()) return;
      close(oldest);
    }
    const auto peer = peer_of(socket.get());
    const bool is_trusted = peer.is_ok() && peer.value().user == geteuid();
    connections_.emplace(++last_connection_, Connection{std::move(socket), is_trusted, now_ms() + kPatienceMs});
  }
}

/// Whether the connection goes on.
bool ExportServer::answer(uint64_t number, Connection& connection) {
  for (int i = 0; i < kMessagesAtATime; ++i) {
    Packet packet;
    const auto received = receive_packet(connection.socket.get(), false, &packet);
    if (!received.is_ok() || received.value() == Transfer::kClosed) return false;
    if (received.value() == Transfer::kWouldBlock) return true;
    if (packet.bytes.empty()) return false;
    std::vector<int> files;
    const std::string reply = answer_to(number, connection, packet, &files);
    // Who does not take replies is not waited for.
    const auto sent = send_packet(connection.socket.get(), reply, files, false);
    if (!sent.is_ok() || sent.value() != Transfer::kDone) return false;
  }
  return true;
}

std::string ExportServer::answer_to(uint64_t number, const Connection& connection, Packet& packet,
                                    std::vector<int>* files) {
  const auto message = static_cast<ExportMessage>(packet.bytes[0]);
  if (message == ExportMessage::kGet) {
    const auto found = exports_.find(packet.bytes.substr(1));
    if (found == exports_.end()) return encode_text(ExportMessage::kNothing);
    ++found->second.facts.uses;
    const Memory& memory = *found->second.memory;
    files->push_back(memory.file.get());
    if (memory.lease.is_open()) files->push_back(memory.lease.get());
    return encode_text(ExportMessage::kDone);
  }
  if (!connection.is_trusted) return encode_failure(unexpected());
  if (message == ExportMessage::kPut) {
    const Result<std::string> secret = put(number, packet);
    return secret.is_ok() ? encode_text(ExportMessage::kDone, secret.value()) : encode_failure(secret.status());
  }
  if (message == ExportMessage::kSame) {
    const Result<std::string> secret = put_same(number, packet.bytes);
    if (!secret.is_ok()) return encode_failure(secret.status());
    return secret.value().empty() ? encode_text(ExportMessage::kNothing)
                                  : encode_text(ExportMessage::kDone, secret.value());
  }
  if (message == ExportMessage::kList) return list(packet.bytes);
  if (message == ExportMessage::kDrop) {
    bool found = false;
    const Status status = drop(packet.bytes, &found);
    if (!status.is_ok()) return encode_failure(status);
    return encode_text(found ? ExportMessage::kDone : ExportMessage::kNothing);
  }
  return encode_failure(unexpected());
}

/// The secret of what was put.
Result<std::string> ExportServer::put(uint64_t number, Packet& packet) {
  PutExport request;
  if (!decode(packet.bytes, &request)) return unexpected();
  const bool is_on_device = request.facts.device >= 0;
  if (packet.descriptors.size() != (is_on_device ? 2 : 1)) return unexpected();
  const int seals = fcntl(packet.descriptors[0].get(), F_GET_SEALS);
  struct stat found = {};
  if (seals < 0 || (seals & F_SEAL_WRITE) == 0 || fstat(packet.descriptors[0].get(), &found) != 0 ||
      found.st_size != request.file_bytes)
    return unexpected();
  Memory memory;
  memory.file = std::move(packet.descriptors[0]);
  if (is_on_device) memory.lease = std::move(packet.descriptors[1]);
  memory.key = key_of(request);
  return keep(number, request, std::make_shared<const Memory>(std::move(memory)));
}

/// Another secret of memory that is there already; empty where there is none with the key. Its session has shown that
/// it may read the same columns.
Result<std::string> ExportServer::put_same(uint64_t number, std::string_view packet) {
  PutExport request;
  if (!decode(packet, &request)) return unexpected();
  const std::string key = key_of(request);
  const auto found = std::find_if(exports_.begin(), exports_.end(), [&key](const auto& entry) {
    return !key.empty() && entry.second.memory->key == key && has_reader(entry.second.memory->lease);
  });
  if (found == exports_.end()) return std::string();
  const ExportFacts& same = found->second.facts;
  request.facts.bytes = same.bytes;
  request.facts.rows = same.rows;
  request.facts.columns = same.columns;
  request.facts.device = same.device;
  return keep(number, request, found->second.memory);
}

Result<std::string> ExportServer::keep(uint64_t number, const PutExport& request,
                                       std::shared_ptr<const Memory> memory) {
  if (exports_.size() >= most_exports_)
    return Status(ErrorCode::kOverBudget, "too many exports: there are " + std::to_string(exports_.size()))
        .with_hint("Drop some by pgstrom.arrow_fdw_put_gpu_buffer(), or raise the server's limit of open files.");
  int64_t before = 0;
  for (const auto& [secret, entry] : exports_)
    if (entry.facts.owner == request.facts.owner) before += entry.facts.bytes;
  if (before + request.facts.bytes > request.limit)
    return Status(ErrorCode::kOverBudget, "exports of this role would take more memory than they may")
        .with_detail("They take " + std::to_string(before) + " bytes now, " + std::to_string(request.facts.bytes) +
                     " are asked for, and the limit is " + std::to_string(request.limit) + ".")
        .with_hint("Drop some by pgstrom.arrow_fdw_put_gpu_buffer(), or raise pg_strom.export_memory.");
  STROM_ASSIGN(const std::string secret, random_digits(kSecretDigits));
  Export& made = exports_[secret];
  made.memory = std::move(memory);
  made.facts = request.facts;
  made.connection = request.facts.is_pinned != 0 ? 0 : number;
  return secret;
}

Status ExportServer::drop(std::string_view packet, bool* found) {
  DropExport request;
  if (!decode(packet, &request)) return unexpected();
  const auto entry = exports_.find(std::string(request.secret, sizeof request.secret));
  if (entry == exports_.end()) return Status::ok();
  if (request.may_drop_all == 0 && entry->second.facts.owner != request.role)
    return {ErrorCode::kPermissionDenied, "permission denied to drop an export of another role"};
  exports_.erase(entry);
  *found = true;
  return Status::ok();
}

/// The facts of some exports, from the one at an index on; fewer than kFactsPerPacket when these are the last.
std::string ExportServer::list(std::string_view packet) const {
  uint64_t first = 0;
  if (!decode(packet, &first)) return encode_failure(unexpected());
  std::string reply(1, static_cast<char>(ExportMessage::kRow));
  if (first >= exports_.size()) return reply;
  auto at = std::next(exports_.begin(), static_cast<std::ptrdiff_t>(first));
  for (size_t i = 0; i < kFactsPerPacket && at != exports_.end(); ++i, ++at)
    reply.append(reinterpret_cast<const char*>(&at->second.facts), sizeof at->second.facts);
  return reply;
}

void ExportServer::close(Connections::iterator connection) {
  for (auto at = exports_.begin(); at != exports_.end();)
    at = at->second.connection == connection->first ? exports_.erase(at) : std::next(at);
  connections_.erase(connection);
}

}  // namespace strom::service
