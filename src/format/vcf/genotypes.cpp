#include "format/vcf/genotypes.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "format/vcf/values.hpp"

namespace strom::format::vcf {

namespace {

bool is_phase(char c) { return c == '|' || c == '/'; }

/// The next allele of a genotype, which is not empty; VCF 4.4 may say the phase of the first one before it.
std::string_view next_allele(std::string_view* genotype) {
  if (is_phase(genotype->front())) genotype->remove_prefix(1);
  const size_t end = std::min(genotype->find_first_of("|/"), genotype->size());
  const std::string_view allele = genotype->substr(0, end);
  genotype->remove_prefix(end);
  return allele;
}

constexpr uint64_t kLow = 0x0101010101010101;
constexpr size_t kWord = sizeof(uint64_t);

uint64_t load_word(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// 0x80 in each byte that is not zero; bytes are below 0x80.
constexpr uint64_t not_zero(uint64_t bytes) { return (bytes + 0x7F * kLow) & (0x80 * kLow); }

/// 0x80 in each byte of two cells that is not what it has to be there. Bytes of `cells` are below 0x80.
uint64_t wrong_bytes(uint64_t cells) {
  constexpr uint64_t kAlleles = 0x00FF00FF00FF00FF, kPhases = 0x0000FF000000FF00, kTabs = 0xFF000000FF000000;
  const uint64_t not_dot = not_zero(cells ^ ('.' * kLow));
  // Digits are those between 0x30 and 0x39: adding leads over 0x80 at both ends.
  const uint64_t not_digit = ((cells + (0x7F - '9') * kLow) | ~(cells + (0x80 - '0') * kLow)) & (0x80 * kLow);
  const uint64_t not_phase = not_zero(cells ^ ('|' * kLow)) & not_zero(cells ^ ('/' * kLow));
  const uint64_t not_tab = not_zero(cells ^ ('\t' * kLow));
  return (not_dot & not_digit & kAlleles) | (not_phase & kPhases) | (not_tab & kTabs);
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
  uint64_t wrong = 0;
  for (; at + kWord < cells.size(); at += kWord) {
    const uint64_t word = load_word(cells.data() + at);
    wrong |= (word & (0x80 * kLow)) | wrong_bytes(word & (0x7F * kLow));
  }
  if (wrong != 0) return false;
  for (; at + kPairBytes - 1 <= cells.size(); at += kPairBytes) {
    if (!is_pair(cells.data() + at)) return false;
    if (at + kPairBytes <= cells.size() && cells[at + kPairBytes - 1] != '\t') return false;
  }
  return true;
}

bool put_pairs(std::string_view cells, size_t count, int8_t* alleles, uint8_t* flags) {
  uint64_t unknown = 0;
  size_t i = 0;
  // Two cells are one word, whose even bytes are alleles.
  for (; (i + 2) * kPairBytes <= cells.size() && i + 2 <= count; i += 2) {
    uint64_t four = (load_word(cells.data() + i * kPairBytes) ^ (kLow * '0')) & 0x00FF00FF00FF00FF;
    four = (four | four >> 8) & 0x0000FFFF0000FFFF;
    const auto found = static_cast<uint32_t>(four | four >> 16);
    const uint32_t flag = found >> 4 & static_cast<uint32_t>(kLow);  // of a dot, and of no digit
    const uint32_t known = found & ~(flag * 0xFF);
    unknown |= flag;
    std::memcpy(alleles + 2 * i, &known, sizeof known);
    std::memcpy(flags + 2 * i, &flag, sizeof flag);
  }
  for (; i < count; ++i) {
    for (size_t k = 0; k < 2; ++k) {
      const char allele = cells[i * kPairBytes + k * 2];
      const bool is_unknown = allele == '.';
      unknown |= is_unknown ? 1 : 0;
      flags[2 * i + k] = is_unknown ? 1 : 0;
      alleles[2 * i + k] = static_cast<int8_t>(is_unknown ? 0 : allele - '0');
    }
  }
  return unknown != 0;
}

}  // namespace strom::format::vcf
