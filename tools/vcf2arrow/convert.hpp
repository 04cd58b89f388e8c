// VCF and BCF files into Arrow files, by several threads.
#pragma once

#include "cli/progress.hpp"
#include "vcf2arrow/sample_groups.hpp"
#include "vcf2arrow/settings.hpp"

namespace strom::vcf2arrow {

struct Converted {
  tool::DumpResult output;
  format::vcf::Counts counts;
};

Result<Converted> convert(const Settings& settings, tool::Progress& progress);

/// Whether each file has the samples of each group, so that none is written when another one's would fail.
Status check_groups(const Settings& settings, const std::vector<SampleGroup>& groups);

/// The columns that convert() would write.
Result<std::vector<columnar::Field>> columns_of(const Settings& settings);

}  // namespace strom::vcf2arrow
