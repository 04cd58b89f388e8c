// What mysql2arrow was told on its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dump/settings.hpp"

namespace strom::mysql2arrow {

using tool::NamedValues;

enum class TlsMode : uint8_t { kDisabled, kPreferred, kRequired, kVerifyCa, kVerifyIdentity };
enum class ZeroDates : uint8_t { kError, kNull, kText };
enum class TimeAs : uint8_t { kTime, kInterval, kText };

struct Settings : tool::DumpSettings {
  // Connection
  std::string database, host, user, socket, defaults_file;
  std::optional<std::string> password;
  int64_t port = 0;
  bool never_ask = false, always_ask = false;
  TlsMode tls = TlsMode::kPreferred;
  std::string tls_ca, tls_certificate, tls_key;
  NamedValues server_settings;  // --set

  // What is dumped
  std::string command, table;
  bool all_tables = false;
  NamedValues parameters;  // --param
  int64_t workers = 1;
  std::vector<std::string> parallel_keys;
  bool no_snapshot = false;

  // How
  ZeroDates zero_dates = ZeroDates::kError;
  TimeAs time_as = TimeAs::kTime;
  bool tinyint1_is_bool = false;
};

}  // namespace strom::mysql2arrow
