#include "service/client.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/os_error.hpp"

namespace strom::service {
namespace {

Status lost() {
  return Status(ErrorCode::kDeviceLost, "the GPU service has gone")
      .with_hint("It is started again within seconds. Repeat the query.");
}

}  // namespace

Result<std::unique_ptr<Client>> Client::connect(const ClientOptions& options) {
  STROM_ASSIGN(Descriptor socket, connect_to(options.socket_path, options.connect_timeout_ms));
  STROM_ASSIGN(const Peer peer, peer_of(socket.get()));
  if (peer.user != options.user)
    return Status(ErrorCode::kPermissionDenied, "the GPU service at \"" + options.socket_path + "\" is another user's")
        .with_detail("It runs as user " + std::to_string(peer.user) + ", and " + std::to_string(options.user) +
                     " is expected.");
  std::unique_ptr<Client> client(new Client(std::move(socket)));
  STROM_TRY(client->send(0, Hello{options.priority, options.name.substr(0, kMaxNameBytes), options.device}, {}));
  STROM_ASSIGN(std::optional<Reply> reply, client->wait(options.timeout_ms));
  if (!reply) return Status(ErrorCode::kDeviceLost, "the GPU service does not answer");
  const auto* welcome = std::get_if<Welcome>(&reply->message);
  if (welcome == nullptr)
    return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: no welcome");
  client->welcome_ = *welcome;
  return client;
}

Status Client::send(uint32_t tag, const Message& message, const std::vector<int>& descriptors) {
  STROM_ASSIGN(const std::string bytes, encode(tag, message));
  STROM_ASSIGN(const Transfer sent, send_packet(socket_.get(), bytes, descriptors, true));
  if (sent == Transfer::kWouldBlock) return Status(ErrorCode::kDeviceLost, "the GPU service does not answer");
  // Why it closed the connection may still be there to be read.
  return {};
}

Result<uint32_t> Client::request(const Message& message, const std::vector<int>& descriptors) {
  if (++last_tag_ == 0) ++last_tag_;
  STROM_TRY(send(last_tag_, message, descriptors));
  return last_tag_;
}

Result<uint32_t> Client::submit(const Submit& submit, const std::vector<int>& descriptors) {
  return request(Message(submit), descriptors);
}

Status Client::cancel(uint32_t tag) { return send(tag, Cancel{}, {}); }

Result<std::optional<Reply>> Client::poll() {
  Packet packet;
  STROM_ASSIGN(const Transfer received, receive_packet(socket_.get(), false, &packet));
  if (received == Transfer::kWouldBlock) return std::optional<Reply>();
  if (received == Transfer::kClosed) return lost();
  STROM_ASSIGN(TaggedMessage tagged, decode(packet.bytes));
  // About the session as a whole, which ends.
  if (const auto* failed = std::get_if<Failed>(&tagged.message); failed != nullptr && tagged.tag == 0)
    return status_of(*failed);
  Reply reply{tagged.tag, std::move(tagged.message), {}};
  if (!packet.descriptors.empty()) reply.bulk = std::move(packet.descriptors.front());
  return std::optional<Reply>(std::move(reply));
}

Result<std::optional<Reply>> Client::wait(int timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    STROM_ASSIGN(std::optional<Reply> reply, poll());
    if (reply) return reply;
    int left = -1;
    if (timeout_ms >= 0) {
      using std::chrono::milliseconds;
      left = static_cast<int>(
          std::max<int64_t>(0, std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now()).count()));
      if (left == 0) return std::optional<Reply>();
    }
    pollfd waited = {socket_.get(), POLLIN, 0};
    if (::poll(&waited, 1, left) < 0 && errno != EINTR)
      return base::os_error(errno, "could not wait for the GPU service");
  }
}

}  // namespace strom::service
