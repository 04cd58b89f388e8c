// See network.hpp.
#include "format/pgwire/network.hpp"

#include <arpa/inet.h>

namespace strom::format::pgwire {

bool network_to_text(const uint8_t* bytes, int64_t size, std::string& out) {
  constexpr uint8_t kVersion4 = 2, kVersion6 = 3;
  constexpr int64_t kHeader = 4;  // family, bits of the mask, is cidr, bytes of the address
  if (size < kHeader || (bytes[0] != kVersion4 && bytes[0] != kVersion6)) return false;
  const bool is_version4 = bytes[0] == kVersion4;
  const int64_t width = is_version4 ? 4 : 16;
  if (size != kHeader + width || bytes[3] != width || bytes[1] > width * 8) return false;
  char text[INET6_ADDRSTRLEN];
  if (inet_ntop(is_version4 ? AF_INET : AF_INET6, bytes + kHeader, text, sizeof(text)) == nullptr) return false;
  out = text;
  if (bytes[2] != 0 || bytes[1] != width * 8) out += "/" + std::to_string(bytes[1]);
  return true;
}

}  // namespace strom::format::pgwire
