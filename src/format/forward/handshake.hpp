// The greeting of the Forward protocol: a server that asks for a key sends HELO, a client answers PING, and the server
// ends with PONG. Used by fluent2arrow.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::format::forward {

/// What a client says of itself.
struct Ping {
  std::string_view host, salt, key_digest, user, password_digest;
};

/// `password_salt` is empty where users are not asked for.
std::string helo_message(std::string_view nonce, std::string_view password_salt);
/// `bytes` are one message, and stay. Errors: kProtocolViolation.
Result<Ping> parse_ping(std::string_view bytes);
/// `digest` is that of our own side; a client that is refused gets none.
std::string pong_message(bool is_welcome, std::string_view reason, std::string_view host, std::string_view digest);
/// The answer to a chunk that is safe.
std::string ack_message(std::string_view chunk);

}  // namespace strom::format::forward
