// Messages of DNS, TLS and HTTP, whole and cut.
#include "format/packets/application.hpp"

#include <gtest/gtest.h>

#include "packet_samples.hpp"

namespace strom::format::packets {
namespace {

using namespace strom::test;

std::span<const uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string label(const std::string& text) { return PacketBytes().big(text.size(), 1).add(text).text; }

std::string dns_header(uint16_t flags, int questions, int answers) {
  return PacketBytes()
      .big(0x1234, 2)
      .big(flags, 2)
      .big(static_cast<uint64_t>(questions), 2)
      .big(static_cast<uint64_t>(answers), 2)
      .big(0, 4)
      .text;
}

std::string question() { return label("www") + label("example") + PacketBytes().big(0, 1).big(1, 2).big(1, 2).text; }

std::string answer(uint16_t type, const std::string& data) {
  return PacketBytes().big(0xC00C, 2).big(type, 2).big(1, 2).big(60, 4).big(data.size(), 2).add(data).text;
}

TEST(Dns, QuestionsAndAnswers) {
  const auto asked = parse_dns(bytes(dns_header(0x0100, 1, 0) + question()));
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->name, "www.example");
  EXPECT_EQ(asked->type, 1);
  EXPECT_FALSE(asked->is_response());
  const std::string full = dns_header(0x8183, 1, 3) + question() + answer(5, std::string("\xC0\x0C", 2)) +
                           answer(1, "\x0A\x01\x02\x03") + answer(28, std::string(15, '\0') + "\1");
  const auto answered = parse_dns(bytes(full));
  ASSERT_TRUE(answered.has_value());
  EXPECT_TRUE(answered->is_response());
  EXPECT_EQ(answered->code(), 3);
  EXPECT_EQ(answered->addresses, (std::vector<std::string>{"10.1.2.3", "::1"}));
  for (size_t size = 0; size < full.size(); ++size) {
    std::string cut = full.substr(0, size);
    cut.shrink_to_fit();
    const auto found = parse_dns(bytes(cut));
    EXPECT_EQ(found.has_value(), size >= dns_header(0, 1, 1).size() + question().size()) << size;
  }
}

TEST(Dns, NamesAreText) {
  const std::string odd = label(std::string("a.b\\\x01\xFF", 6)) + PacketBytes().big(0, 1).big(16, 2).big(1, 2).text;
  const auto found = parse_dns(bytes(dns_header(0, 1, 0) + odd));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->name, "a\\046b\\092\\001\\255");
}

TEST(Dns, PointersEnd) {
  const std::string loop = dns_header(0, 1, 0) + std::string("\xC0\x0C\0\1\0\1", 6);
  EXPECT_FALSE(parse_dns(bytes(loop)).has_value());
  std::string ladder = dns_header(0x8000, 0, 1);
  for (int i = 0; i < 200; ++i) ladder += label(std::string(60, 'x'));
  EXPECT_FALSE(parse_dns(bytes(ladder)).has_value());
  EXPECT_FALSE(parse_dns(bytes(std::string(12, '\0'))).has_value());
}

std::string tls_hello(const std::string& extensions) {
  const std::string body = PacketBytes()
                               .big(0x0303, 2)
                               .add(std::string(32, 'r'))
                               .big(0, 1)
                               .big(2, 2)
                               .big(0x1301, 2)
                               .big(0x0100, 2)
                               .big(extensions.size(), 2)
                               .add(extensions)
                               .text;
  const std::string message = PacketBytes().big(1, 1).big(body.size(), 3).add(body).text;
  return PacketBytes().big(0x160301, 3).big(message.size(), 2).add(message).text;
}

TEST(Tls, ServerNameAndVersion) {
  const std::string name = "secure.example";
  const std::string list = PacketBytes().big(0, 1).big(name.size(), 2).add(name).text;
  const std::string extensions = PacketBytes()
                                     .big(43, 2)
                                     .big(7, 2)
                                     .big(6, 1)
                                     .big(0x3A3A, 2)
                                     .big(0x0304, 2)
                                     .big(0x0303, 2)
                                     .big(0, 2)
                                     .big(list.size() + 2, 2)
                                     .big(list.size(), 2)
                                     .add(list)
                                     .text;
  const std::string whole = tls_hello(extensions);
  const auto hello = parse_tls_hello(bytes(whole));
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->server_name, name);
  EXPECT_EQ(hello->version, 0x0304);
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string cut = whole.substr(0, size);
    cut.shrink_to_fit();
    const auto found = parse_tls_hello(bytes(cut));
    if (found.has_value()) {
      EXPECT_TRUE(found->server_name.empty());
    }
  }
  EXPECT_EQ(parse_tls_hello(bytes(tls_hello("")))->version, 0x0303);
  EXPECT_FALSE(parse_tls_hello(bytes(std::string(100, '\x16'))).has_value());
}

TEST(Http, LinesAndHosts) {
  const std::string get = "GET /a?b=c HTTP/1.1\r\nAccept: */*\r\nHOST:  example.com:80 \r\n\r\nbody";
  const auto request = parse_http(bytes(get));
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->line, "GET /a?b=c HTTP/1.1");
  EXPECT_EQ(request->host, "example.com:80");
  const std::string missing = "HTTP/1.1 404 Not Found\r\nServer: x\r\n\r\nHost: no";
  const auto response = parse_http(bytes(missing));
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->line, "HTTP/1.1 404 Not Found");
  EXPECT_TRUE(response->host.empty());
  EXPECT_FALSE(parse_http(bytes("GET lost")).has_value());
  EXPECT_FALSE(parse_http(bytes("GET /\xFF HTTP/1.1\r\n")).has_value());
  EXPECT_TRUE(parse_http(bytes("POST / HTTP/1.0\nhost: cut"))->host.empty());
}

}  // namespace
}  // namespace strom::format::packets
