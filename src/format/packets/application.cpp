// See application.hpp.
#include "format/packets/application.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>

#include "format/packets/byte_order.hpp"

namespace strom::format::packets {

namespace {

using Message = std::span<const uint8_t>;

constexpr size_t kDnsHeader = 12, kMostName = 255;
constexpr uint8_t kPointerBits = 0xC0;

void add_character(uint8_t byte, std::string& out) {
  if (byte > ' ' && byte < 0x7F && byte != '.' && byte != '\\') {
    out += static_cast<char>(byte);
    return;
  }
  char text[8];
  snprintf(text, sizeof(text), "\\%03u", byte);
  out += text;
}

/// Reads the name at `at`, and moves `at` behind it. A name may end with a pointer to an earlier place.
bool read_name(Message message, size_t& at, std::string& out) {
  size_t place = at, length = 0;
  bool has_jumped = false;
  out.clear();
  for (;;) {
    if (place >= message.size()) return false;
    const uint8_t size = message[place];
    if ((size & kPointerBits) == kPointerBits) {
      if (place + 2 > message.size()) return false;
      const size_t target = size_t{big16(&message[place])} & 0x3FFF;
      if (!has_jumped) at = place + 2;
      if (target >= place) return false;  // pointers lead backwards, so they end
      has_jumped = true;
      place = target;
      continue;
    }
    if ((size & kPointerBits) != 0) return false;
    ++place;
    if (size == 0) break;
    length += size + 1u;
    if (place + size > message.size() || length > kMostName) return false;
    if (!out.empty()) out += '.';
    for (size_t i = 0; i < size; ++i) add_character(message[place + i], out);
    place += size;
  }
  if (!has_jumped) at = place;
  return true;
}

void add_address(uint16_t type, Message data, std::vector<std::string>& out) {
  constexpr uint16_t kA = 1, kAaaa = 28;
  char text[INET6_ADDRSTRLEN];
  if (type == kA && data.size() == 4) out.emplace_back(inet_ntop(AF_INET, data.data(), text, sizeof(text)));
  if (type == kAaaa && data.size() == 16) out.emplace_back(inet_ntop(AF_INET6, data.data(), text, sizeof(text)));
}

}  // namespace

std::optional<DnsMessage> parse_dns(Message message) {
  constexpr size_t kQuestion = 4, kRecord = 10;
  if (message.size() < kDnsHeader) return std::nullopt;
  DnsMessage out;
  out.id = big16(&message[0]);
  out.flags = big16(&message[2]);
  const int questions = big16(&message[4]), answers = big16(&message[6]);
  size_t at = kDnsHeader;
  std::string name;
  if (questions + answers == 0) return std::nullopt;
  for (int i = 0; i < questions; ++i) {
    if (!read_name(message, at, name) || message.size() - at < kQuestion) return std::nullopt;
    if (i == 0) {
      out.name = name;
      out.type = big16(&message[at]);
    }
    at += kQuestion;
  }
  for (int i = 0; i < answers; ++i) {
    if (!read_name(message, at, name) || message.size() - at < kRecord) break;
    const uint16_t type = big16(&message[at]);
    const size_t size = big16(&message[at + 8]);
    at += kRecord;
    if (message.size() - at < size) break;
    if (questions == 0 && i == 0) {
      out.name = name;
      out.type = type;
    }
    add_address(type, message.subspan(at, size), out.addresses);
    at += size;
  }
  if (questions == 0 && out.type == 0) return std::nullopt;
  return out;
}

namespace {

/// Takes numbers and bytes from the beginning. Once something is missing, everything fails.
class Cursor {
 public:
  explicit Cursor(Message bytes) : bytes_(bytes) {}

  uint32_t number(size_t size) {
    uint32_t value = 0;
    for (const uint8_t byte : take(size)) value = value << 8 | byte;
    return value;
  }
  /// Takes bytes after their size, a number of `width` bytes. With `may_be_cut`, cut bytes are taken as far as they go.
  Message sized(size_t width, bool may_be_cut = false) {
    const size_t size = number(width);
    return take(may_be_cut ? std::min(size, bytes_.size()) : size);
  }
  Message take(size_t size) {
    if (size > bytes_.size()) {
      is_cut_ = true;
      bytes_ = {};
      return {};
    }
    const Message out = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return out;
  }
  bool is_cut() const { return is_cut_; }
  bool is_empty() const { return bytes_.empty(); }

 private:
  Message bytes_;
  bool is_cut_ = false;
};

/// Host names are ASCII.
std::string host_name(Message bytes) {
  std::string out;
  for (const uint8_t byte : bytes) {
    if (byte == '.')
      out += '.';
    else
      add_character(byte, out);
  }
  return out;
}

void take_extension(uint32_t type, Message body, TlsHello& out) {
  constexpr uint32_t kServerName = 0, kVersions = 43, kHostName = 0, kReserved = 0x0A0A;
  Cursor cursor(body);
  if (type == kServerName) {
    Cursor names(cursor.sized(2));
    while (!names.is_empty()) {
      const uint32_t kind = names.number(1);
      const Message name = names.sized(2);
      if (names.is_cut()) return;
      if (kind == kHostName && out.server_name.empty()) out.server_name = host_name(name);
    }
  }
  if (type == kVersions) {
    Cursor versions(cursor.sized(1));
    while (!versions.is_empty()) {
      const uint32_t version = versions.number(2);
      const bool is_reserved = (version & 0x0F0F) == kReserved;  // RFC 8701: to be ignored
      if (!versions.is_cut() && !is_reserved && version > out.version) out.version = static_cast<uint16_t>(version);
    }
  }
}

}  // namespace

std::optional<TlsHello> parse_tls_hello(Message payload) {
  constexpr uint8_t kHandshake = 0x16, kMajor = 3, kClientHello = 1;
  constexpr size_t kRandom = 32;
  if (payload.size() < 6 || payload[0] != kHandshake || payload[1] != kMajor || payload[5] != kClientHello)
    return std::nullopt;
  Cursor record(payload.subspan(3));
  Cursor message(record.sized(2, true));
  message.take(1);
  Cursor hello(message.sized(3, true));
  TlsHello out;
  out.version = static_cast<uint16_t>(hello.number(2));
  hello.take(kRandom);
  hello.sized(1);  // session
  hello.sized(2);  // ciphers
  hello.sized(1);  // compression
  if (hello.is_cut() || out.version >> 8 != kMajor) return std::nullopt;
  Cursor extensions(hello.sized(2, true));
  while (!extensions.is_empty()) {
    const uint32_t type = extensions.number(2);
    const Message body = extensions.sized(2);
    if (extensions.is_cut()) break;
    take_extension(type, body, out);
  }
  return out;
}

namespace {

constexpr std::string_view kMethods[] = {"GET ",     "POST ",  "PUT ",   "HEAD ",    "DELETE ",
                                         "OPTIONS ", "PATCH ", "TRACE ", "CONNECT ", "HTTP/1."};

bool is_text(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 0x7F; });
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_host(std::string_view line) {
  constexpr std::string_view kHost = "host:";
  return line.size() > kHost.size() && std::equal(kHost.begin(), kHost.end(), line.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + ('a' - 'A')) : b);
         });
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

}  // namespace

std::optional<HttpMessage> parse_http(Message payload) {
  constexpr size_t kLooked = 16384, kHostName = 5;
  std::string_view text(reinterpret_cast<const char*>(payload.data()), std::min(payload.size(), kLooked));
  const bool is_http = std::any_of(std::begin(kMethods), std::end(kMethods),
                                   [&](std::string_view method) { return text.starts_with(method); });
  if (!is_http) return std::nullopt;
  HttpMessage out;
  size_t end = text.find('\n');
  out.line = without_return(text.substr(0, end));
  const bool is_request = !text.starts_with("HTTP/1.");
  const bool has_version = out.line.find(" HTTP/1.") != std::string_view::npos;
  if (!is_text(out.line) || (is_request && !has_version)) return std::nullopt;
  while (end != std::string_view::npos) {
    text.remove_prefix(end + 1);
    end = text.find('\n');
    const std::string_view line = without_return(text.substr(0, end));
    if (line.empty()) break;
    if (!is_host(line) || !is_text(line) || end == std::string_view::npos) continue;
    out.host = trimmed(line.substr(kHostName));
    break;
  }
  return out;
}

}  // namespace strom::format::packets
