// What applications say at the beginning of a message: names in DNS questions, the server that a TLS client names,
// requests of HTTP/1. Only one packet's payload is read, so a longer message is known in part only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strom::format::packets {

/// A message of DNS (RFC 1035), or of multicast DNS.
struct DnsMessage {
  uint16_t id = 0, flags = 0;
  std::string name;  // of the first question, or else of the first answer; without the final dot
  uint16_t type = 0;
  /// Addresses of A and AAAA records in the answers, as text.
  std::vector<std::string> addresses;

  bool is_response() const { return (flags & 0x8000) != 0; }
  uint8_t code() const { return flags & 0x0F; }
};

/// nullopt for bytes that are not a DNS message with a question or an answer. Answers that are cut are left out. Bytes
/// of names that are not printable ASCII, dots inside of labels, and backslashes become \DDD, as in zone files.
std::optional<DnsMessage> parse_dns(std::span<const uint8_t> message);

/// The first message of a TLS client.
struct TlsHello {
  std::string server_name;  // empty: the client names none
  uint16_t version = 0;     // the highest version offered, 0x0304 for TLS 1.3
};
std::optional<TlsHello> parse_tls_hello(std::span<const uint8_t> payload);

/// The first line of a request or response, and the host.
struct HttpMessage {
  std::string_view line, host;  // host: empty when there is none
};
std::optional<HttpMessage> parse_http(std::span<const uint8_t> payload);

}  // namespace strom::format::packets
