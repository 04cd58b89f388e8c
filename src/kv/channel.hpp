// The byte stream of a session of messages, in both directions. It uses a socket, or memory shared with a server on the
// same machine (store/message/rings.hpp). Part of libstromkv.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "kv/stromkv.h"
#include "store/message/rings.hpp"

namespace strom::kv {

class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// False on failure; `what` gets the reason.
  bool connect(const char* path, std::string* what);
  /// Ends the connection.
  void close();
  bool is_open() const { return socket_.is_open(); }
  int socket() const { return socket_.get(); }
  /// True if shared memory may be used.
  bool is_local() const { return is_local_; }
  /// Sets how long send() and receive() wait; 0: for ever.
  void set_patience(int milliseconds);

  stromkv_status send(std::string_view bytes, std::string* what);
  /// Appends the next received bytes to `input`.
  stromkv_status receive(std::string* input, std::string* what);

  /// From now on, received bytes may carry a descriptor.
  void expect_rings() { expects_rings_ = true; }
  /// Uses the received descriptor from now on. If none was received, nothing changes.
  void use_rings();

 private:
  bool wait_to_send() const;
  stromkv_status send_by_rings(std::string_view bytes, std::string* what);
  stromkv_status receive_by_rings(std::string* input, std::string* what);
  void ring_bell();
  bool has_server_gone() const;

  base::Descriptor socket_, received_;
  bool is_local_ = false, expects_rings_ = false;
  int patience_ms_ = 10000;
  std::unique_ptr<char[]> part_;  // buffer for one read of the socket
  store::message::Rings rings_;
  store::message::RingWriter requests_;
  store::message::RingReader answers_;
  uint32_t yields_ = 0;  // how often it yields before it sleeps; adapted to recent waits
};

}  // namespace strom::kv
