// VCF and BCF that bgzip has compressed: https://samtools.github.io/hts-specs/SAMv1.pdf, section 4.1. Blocks are
// independent, so that each thread decompresses its own.
#pragma once

#include <memory>

#include "base/mapped_file.hpp"
#include "vcf2arrow/variant_text.hpp"

namespace strom::vcf2arrow {

/// nullptr: the file is no VCF or BCF in such blocks. Errors: kCorruptFile.
Result<std::unique_ptr<VariantText>> open_blocks(const std::shared_ptr<const base::MappedFile>& file, int64_t piece,
                                                 int threads);

}  // namespace strom::vcf2arrow
