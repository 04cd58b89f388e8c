// What tsv2arrow was told on its command line.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dump/settings.hpp"
#include "format/csv/row_reader.hpp"

namespace strom::tsv2arrow {

struct Settings : tool::DumpSettings {
  std::vector<std::string> files;
  format::csv::Dialect dialect;
  std::string schema;  // empty: inferred
  bool no_header = false, skip_header = false;
  bool infer_all = false;
  bool skip_blank = false;  // blank lines are never rows
  bool words_are_bool = false;
  bool reals = false;  // inferred numbers with a decimal point are Float64
  int64_t offset = 0, limit = std::numeric_limits<int64_t>::max();
  columnar::KeyValues metadata;
  int64_t threads = 0;
};

}  // namespace strom::tsv2arrow
