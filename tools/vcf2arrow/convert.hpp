// VCF and BCF files into Arrow files, by several threads.
#pragma once

#include "cli/progress.hpp"
#include "vcf2arrow/settings.hpp"

namespace strom::vcf2arrow {

struct Converted {
  tool::DumpResult output;
  format::vcf::Counts counts;
};

Result<Converted> convert(const Settings& settings, tool::Progress& progress);

/// The columns that convert() would write.
Result<std::vector<columnar::Field>> columns_of(const Settings& settings);

}  // namespace strom::vcf2arrow
