#include "format/vcf/genotypes.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "format/vcf/pair_block.hpp"
#include "format/vcf/values.hpp"

namespace strom::format::vcf {

namespace {

bool is_phase(char c) { return c == '|' || c == '/'; }

/// The next allele of a genotype, which is not empty. In VCF 4.4 the first allele may have its phase before it.
std::string_view next_allele(std::string_view* genotype) {
  if (is_phase(genotype->front())) genotype->remove_prefix(1);
  const size_t end = std::min(genotype->find_first_of("|/"), genotype->size());
  const std::string_view allele = genotype->substr(0, end);
  genotype->remove_prefix(end);
  return allele;
}

bool is_pair(const char* cell) {
  const auto is_allele = [](char c) { return c == '.' || (c >= '0' && c <= '9'); };
  return is_allele(cell[0]) && is_phase(cell[1]) && is_allele(cell[2]);
}

}  // namespace

int dosage_of(std::string_view genotype, int32_t allele) {
  int dosage = 0;
  while (!genotype.empty()) {
    int32_t number = 0;
    if (!parse_integer(next_allele(&genotype), &number)) return -1;
    dosage += (allele == kAnyAllele ? number > 0 : number == allele) ? 1 : 0;
  }
  return std::min<int>(dosage, INT8_MAX);
}

Status put_alleles(std::string_view genotype, int64_t ploidy, int8_t* alleles, uint8_t* flags) {
  const std::string_view whole = genotype;
  const bool is_nothing = is_missing(genotype);
  for (int64_t i = 0; i < ploidy; ++i) {
    flags[i] = is_nothing ? 1 : 0;
    alleles[i] = is_nothing ? 0 : kNoAllele;
  }
  if (is_nothing) return Status::ok();
  const auto wrong = [&](const char* what) {
    return Status(ErrorCode::kTypeMismatch, "genotype \"" + shortened(whole) + "\" has " + what);
  };
  for (int64_t i = 0; !genotype.empty(); ++i) {
    const std::string_view allele = next_allele(&genotype);
    if (i == ploidy) return wrong("more alleles than lists").with_hint("--ploidy says how many there are.");
    if (is_missing(allele)) {
      alleles[i] = 0;
      flags[i] = 1;
      continue;
    }
    int32_t number = 0;
    if (!parse_integer(allele, &number) || number < 0 || number > INT8_MAX)
      return wrong("an allele that is no number up to 127");
    alleles[i] = static_cast<int8_t>(number);
  }
  return Status::ok();
}

bool are_pairs(std::string_view cells, size_t count) {
  if (count == 0 || cells.size() != count * kPairBytes - 1) return false;
  size_t at = 0;
  for (; at + kPairBlock < cells.size(); at += kPairBlock)
    if (!is_pair_block(cells.data() + at)) return false;
  for (; at + kPairBytes - 1 <= cells.size(); at += kPairBytes) {
    if (!is_pair(cells.data() + at)) return false;
    if (at + kPairBytes <= cells.size() && cells[at + kPairBytes - 1] != '\t') return false;
  }
  return true;
}

bool put_pairs(std::string_view cells, size_t count, int8_t* alleles, uint8_t* validity) {
  constexpr size_t kCells = kPairBlock / kPairBytes;
  static_assert(kCells == kPairRoom);
  unsigned known = 0xFFFF;
  for (size_t i = 0; i < count; i += kCells) {
    const char* from = cells.data() + i * kPairBytes;
    char tail[kPairBlock];
    if (i * kPairBytes + kPairBlock > cells.size()) {  // bytes beyond the last cell count as known
      std::memset(tail, '0', sizeof tail);
      std::memcpy(tail, from, std::min((count - i) * kPairBytes, cells.size() - i * kPairBytes));
      from = tail;
    }
    const uint16_t bits = pair_block_alleles(from, alleles + 2 * i);
    known &= bits;
    std::memcpy(validity + i / 4, &bits, sizeof bits);
  }
  return known != 0xFFFF;
}

}  // namespace strom::format::vcf
