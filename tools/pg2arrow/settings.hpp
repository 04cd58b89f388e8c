// What pg2arrow was told on its command line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/output.hpp"
#include "common/progress.hpp"

namespace strom::pg2arrow {

/// How numeric columns without precision, or with more digits than decimals have, are written.
struct NumericChoice {
  enum class As : uint8_t { kDecimal, kText, kReal };
  As as = As::kDecimal;
  int32_t precision = 36, scale = 9;
};

struct Join {
  bool is_outer = false;
  std::string sql;
};

using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct Settings {
  // Connection
  std::string database, host, port, user;
  bool never_ask = false, always_ask = false;
  NamedValues server_settings;  // --set

  // What is dumped
  std::string command, table, ctid_target;
  bool all_tables = false;
  std::vector<Join> joins;
  NamedValues parameters;  // --param
  int64_t workers = 1;
  std::vector<std::string> parallel_keys;

  // How
  tool::OutputOptions output;
  std::string append;
  int64_t segment_size = int64_t{256} << 20;
  std::vector<std::string> statistics;  // names; "*": all that can have them
  std::vector<std::string> partition_by;
  int64_t rows_per_file = 0;
  NumericChoice numeric;
  bool infinity_is_null = false;
  bool verify = false;

  tool::ProgressOptions progress;
  bool verbose = false;

  // Instead of dumping
  std::string dump, schema_of, schema_name;
};

}  // namespace strom::pg2arrow
