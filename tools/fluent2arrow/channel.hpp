// Bytes from and to a client, in the clear or by TLS, without waiting. Used by the receiver.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "fluent2arrow/settings.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace strom::fluent2arrow {

/// The certificate and key of our side.
class TlsContext {
 public:
  TlsContext() = default;
  /// None where the settings name no certificate. Errors: files that OpenSSL does not take.
  static Result<TlsContext> load(const Settings& settings);
  ssl_ctx_st* get() const { return context_.get(); }

 private:
  std::shared_ptr<ssl_ctx_st> context_;
};

class Channel {
 public:
  Channel() = default;
  Channel(base::Descriptor socket, const TlsContext& tls);

  enum class State { kDone, kWaits, kEnded };
  struct Moved {
    State state;
    size_t bytes = 0;
  };
  Moved read(char* to, size_t room);
  Moved write(const char* from, size_t size);

  int socket() const { return socket_.get(); }
  /// A handshake of TLS waits for room to send, though there is nothing of ours.
  bool wants_to_write() const { return wants_to_write_; }
  /// write() waits for bytes of the client.
  bool write_waits_for_read() const { return write_waits_for_read_; }

 private:
  Moved result(int done);
  base::Descriptor socket_;
  std::shared_ptr<ssl_st> tls_;
  bool wants_to_write_ = false, write_waits_for_read_ = false;
};

}  // namespace strom::fluent2arrow
