// What pg2arrow was told on its command line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dump/settings.hpp"
#include "format/pgwire/builtin_types.hpp"
#include "postgres/connect.hpp"

namespace strom::pg2arrow {

struct Join {
  bool is_outer = false;
  std::string sql;
};

using format::pgwire::NumericChoice;
using tool::NamedValues;

struct Settings : tool::DumpSettings, tool::ServerSettings {
  NamedValues server_settings;  // --set

  // What is dumped
  std::string command, table, ctid_target;
  bool all_tables = false;
  std::vector<Join> joins;
  NamedValues parameters;  // --param
  int64_t workers = 1;
  std::vector<std::string> parallel_keys;

  // How
  std::vector<std::string> dictionary;  // names; "*": those of few values
  std::vector<std::string> sort_by;     // names, or NAME:desc
  int64_t skip_rows = 0;                // of an interrupted dump
  NumericChoice numeric;
  bool infinity_is_null = false, out_of_range_is_null = false;
  bool no_server_side = false;
};

}  // namespace strom::pg2arrow
