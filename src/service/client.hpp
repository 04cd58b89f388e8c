// A backend's session with the GPU service. Nothing waits but connect() and wait(): an executor node waits for
// descriptor() together with its latch, and takes answers by poll(). One thread at a time.
#pragma once

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "service/protocol.hpp"
#include "service/sockets.hpp"

namespace strom::service {

struct ClientOptions {
  std::string socket_path;
  std::string name;  // shown in the ledger
  int32_t priority = 0;
  int32_t device = -1;     // of the service; -1: the one with the least to do
  uid_t user = geteuid();  // whose service this must be
  int timeout_ms = 5000;   // to be welcomed
  int connect_timeout_ms = 1000;
};

/// An answer to a request: Finished, Failed, Ledger, Columns, Cache or Devices.
struct Reply {
  uint32_t tag = 0;
  Message message;
  Descriptor bulk;  // of Finished, if any
};

class Client {
 public:
  /// kDeviceLost when there is no service or it does not answer, kPermissionDenied when it is somebody else's,
  /// kProtocolViolation when it is of another version.
  static Result<std::unique_ptr<Client>> connect(const ClientOptions& options);

  const Welcome& welcome() const { return welcome_; }
  /// Readable when poll() has something.
  int descriptor() const { return socket_.get(); }

  /// The tag of the answer to come. The descriptors are copied. Errors of these and of poll() other than kOverBudget
  /// end the session; kDeviceLost: the service has gone.
  Result<uint32_t> submit(const Submit& request, const std::vector<int>& descriptors = {});
  /// For other messages that are answered.
  Result<uint32_t> request(const Message& message, const std::vector<int>& descriptors = {});
  /// For those that are not.
  Status tell(const Message& message) { return request(message).status(); }
  /// The answer still comes: kCancelled, or whatever the task has come to meanwhile.
  Status cancel(uint32_t tag);

  /// The next answer, if there is one.
  Result<std::optional<Reply>> poll();
  /// The same, waiting for it; nothing after so long (-1: never). For tests and tools.
  Result<std::optional<Reply>> wait(int timeout_ms);

 private:
  explicit Client(Descriptor socket) : socket_(std::move(socket)) {}
  Status send(uint32_t tag, const Message& message, const std::vector<int>& descriptors);

  Descriptor socket_;
  Welcome welcome_;
  uint32_t last_tag_ = 0;
};

}  // namespace strom::service
