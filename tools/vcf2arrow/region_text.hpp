// Regions of VCF that bgzip has compressed and that has an index: only the blocks that the index names are read, and
// each thread decompresses its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mapped_file.hpp"
#include "vcf2arrow/variant_text.hpp"

namespace strom::vcf2arrow {

/// As VariantText::open(). nullptr: the file is no such one, which htslib may know.
Result<std::unique_ptr<VariantText>> open_regions(const std::shared_ptr<const base::MappedFile>& file,
                                                  const std::vector<std::string>& regions, int64_t piece, int threads);

}  // namespace strom::vcf2arrow
