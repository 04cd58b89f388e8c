// The blocks of gzip that bgzip makes: https://samtools.github.io/hts-specs/SAMv1.pdf, section 4.1. Used by block_text,
// region_text and region_records.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/large_allocator.hpp"
#include "base/mapped_file.hpp"
#include "base/status.hpp"

struct libdeflate_decompressor;

namespace strom::vcf2arrow {

struct Block {
  int64_t begin = 0;       // in the file
  int64_t text_begin = 0;  // of its text, as the caller counts
  uint32_t size = 0, text_size = 0;
};

/// Whether a block begins at a position <= the file's size.
bool begins_block(const base::MappedFile& file, int64_t at);
/// The block at a position < the file's size. Errors: kCorruptFile.
Result<Block> block_at(const base::MappedFile& file, int64_t at);

/// bgzip ends files with an empty block, so that one that was cut off between blocks is told from a whole one. Errors:
/// kCorruptFile.
Status check_last_block(const base::MappedFile& file);
/// The error of a file or pipe that ends without that block.
Status no_last_block(const std::string& name);

/// Of one thread.
class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// The block's text_size bytes go to `to`. Errors: kCorruptFile (another checksum or size), kOutOfMemory.
  Status inflate(const base::MappedFile& file, const Block& block, char* to);

 private:
  libdeflate_decompressor* const decompressor_;
};

/// The text of blocks that follow one another. Errors as of inflate().
Status inflate_all(const base::MappedFile& file, std::span<const Block> blocks, base::LargeVector<char>* to);

}  // namespace strom::vcf2arrow
