// See handshake.hpp.
#include "format/forward/handshake.hpp"

#include <array>
#include <cstddef>

#include "format/forward/msgpack.hpp"

namespace strom::format::forward {

namespace {

constexpr size_t kByte = 0x100, kTwoBytes = 0x10000;

void put_size(size_t size, char one, char two, std::string* out) {
  if (size < kByte) {
    *out += one;
  } else {
    *out += two;
    *out += static_cast<char>(size >> 8);
  }
  *out += static_cast<char>(size);
}

/// Texts over 65535 bytes are cut; none of ours is that long.
void put_text(std::string_view text, std::string* out) {
  constexpr size_t kShort = 32;
  text = text.substr(0, kTwoBytes - 1);
  if (text.size() < kShort)
    *out += static_cast<char>(0xa0 | text.size());
  else
    put_size(text.size(), '\xd9', '\xda', out);
  *out += text;
}

void put_bytes(std::string_view bytes, std::string* out) {
  put_size(bytes.size(), '\xc4', '\xc5', out);
  *out += bytes;
}

}  // namespace

std::string helo_message(std::string_view nonce, std::string_view password_salt) {
  std::string message = "\x92";
  put_text("HELO", &message);
  message += '\x83';
  put_text("nonce", &message);
  put_bytes(nonce, &message);
  put_text("auth", &message);
  put_bytes(password_salt, &message);
  put_text("keepalive", &message);
  message += '\xc3';
  return message;
}

Result<Ping> parse_ping(std::string_view bytes) {
  const Status other(ErrorCode::kProtocolViolation, "a client that does not answer HELO with PING");
  MessageReader reader(bytes);
  Value value;
  constexpr size_t kParts = 6;
  if (reader.next(&value) != Step::kDone || value.kind != Value::Kind::kArray || value.count != kParts) return other;
  std::array<std::string_view, kParts> parts;
  for (std::string_view& part : parts) {
    if (reader.next(&value) != Step::kDone) return other;
    if (value.kind != Value::Kind::kText && value.kind != Value::Kind::kBytes) return other;
    part = value.bytes;
  }
  if (parts[0] != "PING" || !reader.rest().empty()) return other;
  return Ping{parts[1], parts[2], parts[3], parts[4], parts[5]};
}

std::string pong_message(bool is_welcome, std::string_view reason, std::string_view host, std::string_view digest) {
  std::string message = "\x95";
  put_text("PONG", &message);
  message += is_welcome ? '\xc3' : '\xc2';
  put_text(reason, &message);
  put_text(host, &message);
  put_text(digest, &message);
  return message;
}

std::string ack_message(std::string_view chunk, bool is_text) {
  std::string message = "\x81";
  put_text("ack", &message);
  is_text ? put_text(chunk, &message) : put_bytes(chunk, &message);
  return message;
}

}  // namespace strom::format::forward
