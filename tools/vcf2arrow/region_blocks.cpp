// See region_blocks.hpp.
#include "vcf2arrow/region_blocks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "vcf2arrow/variant_text.hpp"

namespace strom::vcf2arrow {

namespace {

/// From one virtual position of the index to another: a block's position in the file, and 16 bits within its text.
Result<Stretch> stretch_of(const base::MappedFile& file, uint64_t begin, uint64_t end) {
  constexpr int kInBlock = 16;
  constexpr uint64_t kMask = 0xFFFF;
  const auto last = static_cast<int64_t>(end >> kInBlock);
  const auto last_text = static_cast<int64_t>(end & kMask);
  Stretch stretch;
  stretch.begin = static_cast<int64_t>(begin & kMask);
  int64_t text = 0;
  for (auto at = static_cast<int64_t>(begin >> kInBlock); at < last || (at == last && last_text > 0);) {
    if (at >= file.size())
      return Status(ErrorCode::kCorruptFile, "the index of file \"" + file.path() + "\" is that of another file");
    STROM_ASSIGN(Block block, block_at(file, at));
    block.text_begin = text;
    stretch.end = at == last ? text + std::min<int64_t>(last_text, block.text_size) : text + block.text_size;
    text += block.text_size;
    at += block.size;
    stretch.blocks.push_back(block);
  }
  stretch.begin = std::min(stretch.begin, stretch.end);
  return stretch;
}

int number_of(void* chromosomes, const char* name) {
  const auto& names = *static_cast<const std::vector<std::string>*>(chromosomes);
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

Status no_region(const std::string& region, const std::string& name) {
  return Status(ErrorCode::kInvalidParameter, "region \"" + region + "\" is none of " + name)
      .with_hint("Regions are CHROM, CHROM:POS, CHROM:FROM-TO or CHROM:FROM-, with a CHROM that the file has.");
}

}  // namespace

Result<std::vector<Region>> parse_regions(const std::vector<std::string>& texts,
                                          const std::vector<std::string>& chromosomes, const std::string& name) {
  std::vector<Region> found;
  std::vector<int> order;  // of chromosomes
  for (const std::string& text : texts) {
    Region region;
    // The library takes the names as they are, and does not change them.
    void* const names = const_cast<std::vector<std::string>*>(&chromosomes);
    const char* const rest = hts_parse_region(text.c_str(), &region.chromosome, &region.begin, &region.end, number_of,
                                              names, HTS_PARSE_THOUSANDS_SEP | HTS_PARSE_ONE_COORD);
    if (rest == nullptr || *rest != '\0' || region.chromosome < 0) return no_region(text, name);
    found.push_back(region);
    if (std::find(order.begin(), order.end(), region.chromosome) == order.end()) order.push_back(region.chromosome);
  }
  std::vector<Region> regions;
  for (const int chromosome : order) {
    std::vector<Region> own;
    std::copy_if(found.begin(), found.end(), std::back_inserter(own),
                 [&](const Region& region) { return region.chromosome == chromosome; });
    std::sort(own.begin(), own.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
    regions.push_back(own.front());
    for (size_t i = 1; i < own.size(); ++i) {
      Region& last = regions.back();
      if (own[i].begin <= last.end) {
        last.end = std::max(last.end, own[i].end);
      } else {
        own[i].after = last.end;
        regions.push_back(own[i]);
      }
    }
  }
  return regions;
}

Result<bool> read_first_blocks(const base::MappedFile& file, bool (*fits)(std::string_view),
                               bool (*is_whole)(std::string_view), std::string* text) {
  Inflater inflater;
  for (int64_t at = 0; at < file.size() && !is_whole(*text);) {
    if (at == 0 && !begins_block(file, 0)) return false;
    STROM_ASSIGN(const Block block, block_at(file, at));
    const size_t before = text->size();
    text->resize(before + block.text_size);
    STROM_TRY(inflater.inflate(file, block, text->data() + before));
    if (!fits(*text)) return false;
    at += block.size;
  }
  STROM_TRY(check_last_block(file));
  return true;
}

Status add_stretches(const base::MappedFile& file, const hts_itr_t& found, size_t region,
                     std::vector<Stretch>* stretches) {
  for (int i = 0; i < found.n_off; ++i) {
    STROM_ASSIGN(Stretch stretch, stretch_of(file, found.off[i].u, found.off[i].v));
    if (stretch.begin == stretch.end) continue;
    stretch.region = region;
    stretches->push_back(std::move(stretch));
  }
  return Status::ok();
}

int64_t piece_of(const std::vector<Stretch>& stretches, int64_t piece, int threads) {
  constexpr int64_t kLeast = 1 << 18;
  int64_t text = 0;
  for (const Stretch& stretch : stretches) text += stretch.end - stretch.begin;
  return std::min(even_piece(text, piece, threads), std::max(text / threads + 1, std::min(kLeast, piece)));
}

int64_t bytes_of(const std::vector<Stretch>& stretches) {
  int64_t bytes = 0;
  for (const Stretch& stretch : stretches)
    bytes += stretch.blocks.back().begin + stretch.blocks.back().size - stretch.blocks.front().begin;
  return bytes;
}

Status no_index(const std::string& name, bool is_binary) {
  return Status(ErrorCode::kFileNotFound, name + " has no index, which regions need")
      .with_hint(is_binary ? "bcftools index makes one." : "bgzip and tabix -p vcf make one.");
}

}  // namespace strom::vcf2arrow
