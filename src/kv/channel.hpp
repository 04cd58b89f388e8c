// The bytes of a session of messages, both ways: by a socket, or by memory that is shared with the server where that is
// on this machine (store/message/rings.hpp). Part of libstromkv.
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

  /// False: `what` says why.
  bool connect(const char* path, std::string* what);
  /// Nothing more is sent or received.
  void close();
  bool is_open() const { return socket_.is_open(); }
  int socket() const { return socket_.get(); }
  /// Whether shared memory may be asked for.
  bool is_local() const { return is_local_; }
  /// How long send() and receive() wait; 0: for ever.
  void set_patience(int milliseconds);

  stromkv_status send(std::string_view bytes, std::string* what);
  /// Appends what comes next.
  stromkv_status receive(std::string* input, std::string* what);

  /// A descriptor may come with what is received from now on.
  void expect_rings() { expects_rings_ = true; }
  /// The descriptor that has come is used from now on. Without one, all stays as it is.
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
  std::unique_ptr<char[]> part_;  // what one call takes from the socket
  store::message::Rings rings_;
  store::message::RingWriter requests_;
  store::message::RingReader answers_;
  uint32_t yields_ = 0;  // before it sleeps, as often as has been worth while
};

}  // namespace strom::kv
