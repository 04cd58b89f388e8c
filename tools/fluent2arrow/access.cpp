// See access.hpp.
#include "fluent2arrow/access.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <fstream>

#include "base/hex.hpp"
#include "base/os_error.hpp"
#include "format/forward/handshake.hpp"

namespace strom::fluent2arrow {

namespace {

std::string random_bytes() {
  constexpr size_t kBytes = 16;
  std::string bytes(kBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1) return {};
  return bytes;
}

/// SHA-512 in hexadecimal digits.
std::string digest(const std::string& text) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), bytes, &size, EVP_sha512(), nullptr) != 1) return {};
  std::string hex;
  base::append_hex(&hex, bytes, size);
  return hex;
}

/// In a time that says nothing of where they differ.
bool same(std::string_view a, const std::string& b) {
  return !b.empty() && a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), b.size()) == 0;
}

/// The lines of a file with secrets.
Result<std::vector<std::string>> secret_lines(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return base::os_error(errno, "could not read \"" + path + "\"");
  if ((found.st_mode & S_IRWXO) != 0)
    return Status(ErrorCode::kPermissionDenied, "everybody may use file \"" + path + "\", which has secrets")
        .with_hint("chmod o= keeps others away.");
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  if (lines.empty()) return Status(ErrorCode::kInvalidParameter, "there is nothing in file \"" + path + "\"");
  return lines;
}

}  // namespace

Result<Access> Access::read(const Settings& settings) {
  Access access;
  if (settings.key_file.empty()) return access;
  STROM_ASSIGN(const auto key, secret_lines(settings.key_file));
  access.key_ = key[0];
  char host[HOST_NAME_MAX + 1] = {};
  access.host_ = gethostname(host, HOST_NAME_MAX) == 0 ? host : "localhost";
  if (settings.users_file.empty()) return access;
  STROM_ASSIGN(const auto users, secret_lines(settings.users_file));
  for (const std::string& line : users) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0)
      return Status(ErrorCode::kInvalidParameter,
                    "a line of file \"" + settings.users_file + "\" is not USER:PASSWORD");
    access.users_[line.substr(0, colon)] = line.substr(colon + 1);
  }
  return access;
}

Handshake::Handshake(const Access& access)
    : access_(access), nonce_(random_bytes()), salt_(access.users_.empty() ? "" : random_bytes()) {}

std::string Handshake::helo() const { return format::forward::helo_message(nonce_, salt_); }

Result<std::string> Handshake::answer(std::string_view message, bool* is_welcome) const {
  STROM_ASSIGN(const format::forward::Ping ping, format::forward::parse_ping(message));
  const std::string salt(ping.salt), host(ping.host), user(ping.user);
  const auto refused = [&](const char* reason) {
    return format::forward::pong_message(false, reason, access_.host_, "");
  };
  *is_welcome = false;
  if (!same(ping.key_digest, digest(salt + host + nonce_ + access_.key_))) return refused("shared_key mismatch");
  if (!access_.users_.empty()) {
    const auto known = access_.users_.find(user);
    // Users that there are not take as long as those with a wrong password.
    const std::string password = known == access_.users_.end() ? random_bytes() : known->second;
    if (!same(ping.password_digest, digest(salt_ + user + password))) return refused("username/password mismatch");
  }
  *is_welcome = true;
  return format::forward::pong_message(true, "", access_.host_, digest(salt + access_.host_ + nonce_ + access_.key_));
}

}  // namespace strom::fluent2arrow
