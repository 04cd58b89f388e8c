// What vcf2arrow was told on its command line.
#pragma once

#include <string>
#include <vector>

#include "dump/settings.hpp"
#include "format/vcf/layout.hpp"

namespace strom::vcf2arrow {

struct Settings : tool::DumpSettings {
  std::vector<std::string> files;  // "-": standard input
  std::vector<std::string> regions;
  format::vcf::ColumnChoice columns;
  tool::NamedValues metadata;
  std::string groups_file;  // --sample-groups
  std::string group;        // of samples, whose files are being written
  int64_t threads = 0;
  int64_t ploidy = 0;  // 0: not given

  bool is_by_chromosome() const { return !partition_by.empty() && partition_by.back() == "chrom"; }
  std::string schema_table;  // --schema: prints CREATE TABLE instead
};

}  // namespace strom::vcf2arrow
