// Who may send events: those who know the shared key, and a password where users are asked for. Used by the receiver.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "fluent2arrow/settings.hpp"

namespace strom::fluent2arrow {

class Access {
 public:
  /// Reads the files of the settings. Errors: files that cannot be read, are empty, or can be read by everybody.
  static Result<Access> read(const Settings& settings);

  /// Whether clients are greeted at all.
  bool is_asked_for() const { return !key_.empty(); }

 private:
  friend class Handshake;
  std::string key_, host_;
  std::map<std::string, std::string, std::less<>> users_;  // passwords
};

/// The greeting of one client.
class Handshake {
 public:
  explicit Handshake(const Access& access);

  std::string helo() const;
  /// The answer to a client's message, and whether it is welcome. Errors: kProtocolViolation.
  Result<std::string> answer(std::string_view message, bool* is_welcome) const;

 private:
  const Access& access_;
  std::string nonce_, salt_;  // salt_ is empty where users are not asked for
};

}  // namespace strom::fluent2arrow
