// Handles eight genotypes at once that have two alleles of one digit, each with the byte behind it. Private to
// src/format/vcf.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace strom::format::vcf {

/// Bytes of eight cells.
inline constexpr int kPairBlock = 32;

#if defined(__x86_64__)

namespace pair_block {

/// 0xFF in each byte that is in [low, low + count), count <= 16.
inline __m128i in_range(__m128i bytes, char low, char count) {
  const __m128i from_low = _mm_sub_epi8(bytes, _mm_set1_epi8(low));
  return _mm_cmpeq_epi8(_mm_min_epu8(from_low, _mm_set1_epi8(static_cast<char>(count - 1))), from_low);
}

/// 0xFF in each byte of four cells that is valid at its place.
inline __m128i right_bytes(const char* cells) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(cells));
  const __m128i is = _mm_set1_epi32(0x09000000);  // a tab behind each cell
  const __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('/'));
  // A dot, a slash and the digits follow one another.
  const __m128i allele = _mm_andnot_si128(slash, in_range(bytes, '.', 12));
  const __m128i phase = _mm_or_si128(slash, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('|')));
  return _mm_or_si128(
      _mm_or_si128(_mm_and_si128(allele, _mm_set1_epi32(0x00FF00FF)), _mm_and_si128(phase, _mm_set1_epi32(0x0000FF00))),
      _mm_and_si128(_mm_cmpeq_epi8(bytes, is), _mm_set1_epi32(static_cast<int>(0xFF000000))));
}

}  // namespace pair_block

/// True when each cell is such a genotype, with a tab behind it.
inline bool is_pair_block(const char* cells) {
  const __m128i right = _mm_and_si128(pair_block::right_bytes(cells), pair_block::right_bytes(cells + kPairBlock / 2));
  return _mm_movemask_epi8(right) == 0xFFFF;
}

/// Writes the 16 alleles' numbers, 0 for a dot. Returns the bits of the known ones.
inline uint16_t pair_block_alleles(const char* cells, int8_t* alleles) {
  const __m128i even = _mm_set1_epi16(0x00FF);
  const auto* from = reinterpret_cast<const __m128i*>(cells);
  const __m128i found =
      _mm_packus_epi16(_mm_and_si128(_mm_loadu_si128(from), even), _mm_and_si128(_mm_loadu_si128(from + 1), even));
  const __m128i dot = _mm_cmpeq_epi8(found, _mm_set1_epi8('.'));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(alleles), _mm_andnot_si128(dot, _mm_sub_epi8(found, _mm_set1_epi8('0'))));
  return static_cast<uint16_t>(~_mm_movemask_epi8(dot));
}

#else

inline bool is_pair_block(const char* cells) {
  unsigned wrong = 0;
  for (int i = 0; i < kPairBlock; i += 4) {
    for (int k = 0; k < 3; k += 2) {
      const char c = cells[i + k];
      wrong |= c != '.' && (c < '0' || c > '9') ? 1U : 0U;
    }
    wrong |= (cells[i + 1] != '|' && cells[i + 1] != '/') || cells[i + 3] != '\t' ? 1U : 0U;
  }
  return wrong == 0;
}

inline uint16_t pair_block_alleles(const char* cells, int8_t* alleles) {
  unsigned known = 0;
  for (int i = 0; i < kPairBlock / 2; ++i) {
    const char c = cells[2 * i];
    known |= (c != '.' ? 1U : 0U) << i;
    alleles[i] = static_cast<int8_t>(c == '.' ? 0 : c - '0');
  }
  return static_cast<uint16_t>(known);
}

#endif

}  // namespace strom::format::vcf
