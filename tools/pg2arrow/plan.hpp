// What the workers of a dump run and what they get.
#pragma once

#include <string>
#include <vector>

#include "dump/append.hpp"
#include "pg2arrow/catalog.hpp"

namespace strom::pg2arrow {

struct Plan {
  std::vector<std::string> queries;
  std::vector<Column> columns;
  std::vector<size_t> records;  // not empty: the columns come as records of so many columns each
  bool is_parallel = false;     // the server has a parallel plan for them
};

/// Fields, and dictionaries with the labels of enums.
tool::Contents contents_of(const std::vector<Column>& columns);

}  // namespace strom::pg2arrow
