// Genotypes as numbers: counts of alleles of one kind, and lists of allele numbers. Private to src/format/vcf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.hpp"

namespace strom::format::vcf {

/// Any allele except the reference.
inline constexpr int32_t kAnyAllele = -1;
/// In lists: the sample has fewer alleles.
inline constexpr int8_t kNoAllele = -2;

/// How many alleles have the number `allele`; -1: some allele is unknown.
int dosage_of(std::string_view genotype, int32_t allele);

/// Writes the alleles of a genotype, `ploidy` of them; flags[i] is 1 where one is unknown. Errors: kTypeMismatch when
/// it has more alleles, or one that is not a number up to 127.
Status put_alleles(std::string_view genotype, int64_t ploidy, int8_t* alleles, uint8_t* flags);

/// Bytes from one genotype to the next if all have two alleles, each a digit or a dot.
inline constexpr size_t kPairBytes = 4;

/// True when cells are nothing but such genotypes, with tabs between them.
bool are_pairs(std::string_view cells, size_t count);
/// Writes the same as put_alleles() for each of `count` cells, but with a bitmap of known alleles, whose last bits are
/// undefined. Returns whether some allele is unknown. `alleles` and the bitmap may be written up to a multiple of
/// kPairRoom cells.
bool put_pairs(std::string_view cells, size_t count, int8_t* alleles, uint8_t* validity);
inline constexpr size_t kPairRoom = 8;

}  // namespace strom::format::vcf
