// Genotypes as numbers: how many alleles of a kind, and lists of the numbers of alleles. Private to src/format/vcf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.hpp"

namespace strom::format::vcf {

/// Any allele that is not the reference.
inline constexpr int32_t kAnyAllele = -1;
/// In lists: the sample has fewer alleles.
inline constexpr int8_t kNoAllele = -2;

/// How many alleles have a number; -1: one of them is not known.
int dosage_of(std::string_view genotype, int32_t allele);

/// The alleles of a genotype, `ploidy` of them; flags[i] is 1 where it is not known. Errors: kTypeMismatch when it has
/// more alleles, or one that is no number up to 127.
Status put_alleles(std::string_view genotype, int64_t ploidy, int8_t* alleles, uint8_t* flags);

/// Bytes from one genotype to the next where all are of two alleles with one digit, or a dot.
inline constexpr size_t kPairBytes = 4;

/// Whether cells are nothing but such genotypes, with tabs between them.
bool are_pairs(std::string_view cells, size_t count);
/// What put_alleles() makes of each, of `count`, but with a bitmap of the alleles that are known, whose last bits may
/// be anything. Whether one is not known. All of `alleles` and of the bitmap up to a multiple of kPairRoom cells may be
/// written.
bool put_pairs(std::string_view cells, size_t count, int8_t* alleles, uint8_t* validity);
inline constexpr size_t kPairRoom = 8;

}  // namespace strom::format::vcf
