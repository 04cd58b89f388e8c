// The blocks of a compressed file that its index names for regions. Used by region_text and region_records.
#pragma once

#include <htslib/hts.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.hpp"
#include "vcf2arrow/gzip_blocks.hpp"

namespace strom::vcf2arrow {

/// Text that the index names: whole lines or records in blocks that follow one another. Positions in the text of all
/// blocks.
struct Stretch {
  size_t region = 0;
  std::vector<Block> blocks;
  int64_t begin = 0, end = 0;
};

/// Positions from 0, [begin, end). What begins before `after` reaches into a region before this one.
struct Region {
  int chromosome = 0;
  int64_t begin = 0, end = 0, after = -1;
};

/// Regions of the texts that overlap are one, so that no variant comes twice. They are in the order of their positions,
/// and chromosomes in that of the texts. `chromosomes`: their names. `name`: of the file. Errors: kInvalidParameter.
Result<std::vector<Region>> parse_regions(const std::vector<std::string>& texts,
                                          const std::vector<std::string>& chromosomes, const std::string& name);

/// The text of the file's first blocks, until `is_whole` is true of it or the file ends. False: the file has no blocks,
/// or `fits` is false of what they begin with. Errors: kCorruptFile.
Result<bool> read_first_blocks(const base::MappedFile& file, bool (*fits)(std::string_view),
                               bool (*is_whole)(std::string_view), std::string* text);
/// Appends the stretches of a region that the library found in the index. Errors: kCorruptFile (the index is that of
/// another file).
Status add_stretches(const base::MappedFile& file, const hts_itr_t& found, size_t region,
                     std::vector<Stretch>* stretches);
/// Bytes of text that one of `threads` takes at once, at most `piece`.
int64_t piece_of(const std::vector<Stretch>& stretches, int64_t piece, int threads);
/// Bytes of the file that are read.
int64_t bytes_of(const std::vector<Stretch>& stretches);

/// The error of all that read regions.
Status no_index(const std::string& name, bool is_binary);

}  // namespace strom::vcf2arrow
