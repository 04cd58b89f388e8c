// Genotypes as indexes into a dictionary of their texts, which the file has. Private to src/format/vcf.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/status.hpp"
#include "columnar/labels.hpp"

namespace strom::format::vcf {

/// The form of a pair of alleles before its lookup: three characters, or two codes of BCF.
enum class PairForm : uint8_t { kText, kCodes };

/// For one thread.
class GenotypeLabels {
 public:
  /// The largest BCF code of an allele with one digit, including its phase.
  static constexpr uint8_t kMostCode = 19;

  explicit GenotypeLabels(std::shared_ptr<columnar::Labels> labels) : labels_(std::move(labels)) {
    texts_.fill(-1);
    codes_.fill(-1);
  }

  /// The index of a genotype. Errors: kOverBudget when there are more than indexes can count.
  Status find(std::string_view genotype, int16_t* index);
  /// For pairs as are_pairs() requires them, or for codes up to kMostCode. -1: the pair has to be learned.
  template <PairForm kForm>
  int16_t of_pair(const char* pair) const {
    return kForm == PairForm::kText ? texts_[place_of_text(pair)] : codes_[place_of_codes(pair)];
  }
  /// Makes of_pair() know the pair.
  template <PairForm kForm>
  Status learn(const char* pair);

 private:
  static constexpr size_t kTexts = 512, kCodes = 1024;
  // A dot is 0, a digit 2 to 11; '|' has a bit that '/' does not have.
  static size_t place_of_text(const char* pair) {
    uint16_t begin;  // the text may end right after the pair
    std::memcpy(&begin, pair, sizeof begin);
    const uint32_t word = begin | uint32_t{static_cast<uint8_t>(pair[2])} << 16;
    const uint32_t from_dot = word - 0x002E002E;
    return (from_dot & 0xF) | (from_dot >> 12 & 0xF0) | (word >> 6 & 0x100);
  }
  static size_t place_of_codes(const char* pair) {
    return static_cast<size_t>(static_cast<uint8_t>(pair[0]) | static_cast<uint8_t>(pair[1]) << 5);
  }

  columnar::LabelLookup labels_;
  std::array<int16_t, kTexts> texts_;
  std::array<int16_t, kCodes> codes_;
};

}  // namespace strom::format::vcf
