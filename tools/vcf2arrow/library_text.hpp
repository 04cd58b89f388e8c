// Variants from whatever htslib reads: gzip, pipes, BCF without blocks.
#pragma once

#include <memory>
#include <string>

#include "vcf2arrow/variant_text.hpp"

namespace strom::vcf2arrow {

/// As VariantText::open(), without regions. `threads` decompress.
Result<std::unique_ptr<VariantText>> open_by_library(const std::string& path, int64_t piece, int threads);

}  // namespace strom::vcf2arrow
