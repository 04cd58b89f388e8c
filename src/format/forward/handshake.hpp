// The handshake of the Forward protocol. A server that requires a key sends HELO, the client answers PING, and the
// server ends with PONG. Used by fluent2arrow.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::format::forward {

/// The client's answer.
struct Ping {
  std::string_view host, salt, key_digest, user, password_digest;
};

/// `password_salt` is empty if no user is required.
std::string helo_message(std::string_view nonce, std::string_view password_salt);
/// `bytes` are one message, and must stay. Errors: kProtocolViolation.
Result<Ping> parse_ping(std::string_view bytes);
/// `digest` is the server's; a rejected client gets none.
std::string pong_message(bool is_welcome, std::string_view reason, std::string_view host, std::string_view digest);
/// The acknowledgement of a chunk that is safe.
std::string ack_message(std::string_view chunk, bool is_text);

}  // namespace strom::format::forward
