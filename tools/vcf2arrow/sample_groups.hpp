// Groups of samples, each with files of its own: --sample-groups.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"

namespace strom::vcf2arrow {

struct SampleGroup {
  std::string name;
  std::vector<std::string> samples;
};

/// Lines SAMPLE, a tab, GROUP; groups are in the order in which they first come. Errors: kInvalidParameter, which names
/// the line, and those of reading.
Result<std::vector<SampleGroup>> read_sample_groups(const std::string& path);

}  // namespace strom::vcf2arrow
