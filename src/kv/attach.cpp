#include "kv/attach.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/descriptor_message.hpp"
#include "kv/tcp.hpp"
#include "store/region/attach.hpp"

namespace strom::kv {

namespace {

namespace region = strom::store::region;

constexpr int kPatienceMs = 10000;

stromkv_status fail(std::string* what, const std::string& action, const char* path) {
  *what = "could not " + action + " socket \"" + path + "\": " + strerror(errno);
  return STROMKV_IO;
}

stromkv_status receive(int socket, const char* path, base::Descriptor* descriptor, std::string* what) {
  struct pollfd ready{socket, POLLIN, 0};
  int polled;
  do polled = poll(&ready, 1, kPatienceMs);
  while (polled < 0 && errno == EINTR);
  if (polled == 0) errno = ETIMEDOUT;
  if (polled <= 0) return fail(what, "wait for an answer on", path);
  region::AttachAnswer answer{};
  ssize_t got;
  base::Descriptor received;
  do
    got =
        base::receive_with_descriptor(socket, reinterpret_cast<char*>(&answer), sizeof(answer), MSG_WAITALL, &received);
  while (got < 0 && errno == EINTR);
  if (got < 0) return fail(what, "read from", path);
  const bool is_answer = got == static_cast<ssize_t>(sizeof(answer)) && answer.magic == region::kAttachMagic;
  stromkv_status status = STROMKV_IO;
  if (is_answer && answer.status == region::AttachStatus::kGranted && received.is_open()) {
    *descriptor = std::move(received);
    return STROMKV_OK;
  }
  if (is_answer && answer.status == region::AttachStatus::kRefused) status = STROMKV_REFUSED;
  if (is_answer && answer.status == region::AttachStatus::kMoved) status = STROMKV_MOVED;
  if (is_answer && answer.status == region::AttachStatus::kUnsupported) status = STROMKV_UNSUPPORTED;
  *what = status == STROMKV_IO ? std::string("there is no server of published regions behind socket \"") + path + "\""
                               : stromkv_status_text(status);
  return status;
}

}  // namespace

bool parse_token(const char* text, uint8_t* bytes) {
  if (strlen(text) != size_t{2} * region::kTokenBytes) return false;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  for (uint32_t i = 0; i < region::kTokenBytes; ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return true;
}

int connect_to(const char* path, std::string* what) {
  if (is_by_tcp(path)) return connect_by_tcp(path, what);
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = strlen(path);
  if (length >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    fail(what, "connect to", path);
    return -1;
  }
  std::memcpy(address.sun_path, path, length);
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0) {
    fail(what, "make", path);
    return -1;
  }
  if (connect(client, reinterpret_cast<const struct sockaddr*>(&address), sizeof(address)) == 0) return client;
  fail(what, "connect to", path);
  close(client);
  return -1;
}

stromkv_status receive_region(const char* path, const char* token, base::Descriptor* descriptor, std::string* what) {
  region::AttachRequest request{region::kAttachMagic, region::kAttachVersion, 0, {}};
  if (!parse_token(token, request.token)) {
    *what = "a token has 32 hexadecimal digits";
    return STROMKV_REFUSED;
  }
  const base::Descriptor client(connect_to(path, what));
  if (!client.is_open()) return STROMKV_IO;
  ssize_t sent;
  do sent = send(client.get(), &request, sizeof(request), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent != static_cast<ssize_t>(sizeof(request))) return fail(what, "write to", path);
  return receive(client.get(), path, descriptor, what);
}

}  // namespace strom::kv
