#include "service/export_protocol.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/hex.hpp"
#include "base/os_error.hpp"

namespace strom::service {
namespace {

constexpr size_t kStateLength = 5;

bool are_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

ErrorCode code_of(std::string_view state) {
  for (const ErrorCode code : {ErrorCode::kPermissionDenied, ErrorCode::kOverBudget, ErrorCode::kProtocolViolation,
                               ErrorCode::kInvalidParameter, ErrorCode::kOutOfMemory, ErrorCode::kIoError})
    if (state == base::sqlstate(code)) return code;
  return ErrorCode::kInternal;
}

}  // namespace

std::string encode_text(ExportMessage message, std::string_view text) {
  std::string packet(1, static_cast<char>(message));
  packet += text;
  return packet;
}

std::string encode_failure(const Status& status) {
  std::string packet(1, static_cast<char>(ExportMessage::kFailed));
  packet += base::sqlstate(status.code());
  for (const std::string& text : {status.message(), status.detail(), status.hint()}) {
    packet += text;
    packet += '\0';
  }
  return packet;
}

Status decode_failure(std::string_view packet) {
  if (packet.size() < 1 + kStateLength)
    return {ErrorCode::kProtocolViolation, "invalid message of the exports' keeper"};
  const ErrorCode code = code_of(packet.substr(1, kStateLength));
  packet.remove_prefix(1 + kStateLength);
  std::vector<std::string> texts;
  for (size_t end; (end = packet.find('\0')) != std::string_view::npos; packet.remove_prefix(end + 1))
    texts.emplace_back(packet.substr(0, end));
  texts.resize(3);
  return Status(code, texts[0]).with_detail(texts[1]).with_hint(texts[2]);
}

ExportName parse_identifier(std::string_view identifier) {
  const size_t dash = kExportPrefix.size() + kKeeperDigits;
  if (identifier.size() != dash + 1 + kSecretDigits || identifier.substr(0, kExportPrefix.size()) != kExportPrefix ||
      identifier[dash] != '-')
    return {};
  const std::string_view keeper = identifier.substr(kExportPrefix.size(), kKeeperDigits);
  const std::string_view secret = identifier.substr(dash + 1);
  if (!are_digits(keeper) || !are_digits(secret)) return {};
  return {std::string(keeper), std::string(secret)};
}

std::string make_identifier(std::string_view keeper, std::string_view secret) {
  return std::string(kExportPrefix).append(keeper).append("-").append(secret);
}

std::string keeper_address(std::string_view keeper) { return std::string("\0pg_strom-exports-", 18).append(keeper); }

Result<std::string> random_digits(size_t digits) {
  std::string text(digits, '\0');
  for (size_t have = 0; have < digits;) {
    const ssize_t taken = getrandom(text.data() + have, digits - have, 0);
    if (taken < 0 && errno != EINTR) return base::os_error(errno, "could not get random bytes");
    if (taken > 0) have += static_cast<size_t>(taken);
  }
  for (char& c : text) c = base::kHexDigits[static_cast<unsigned char>(c) & 15];
  return text;
}

}  // namespace strom::service
