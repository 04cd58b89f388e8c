// The header of a VCF file: the fields of INFO and of the samples, and the samples' names. VCF 4.0 to 4.4,
// https://samtools.github.io/hts-specs/VCFv4.4.pdf. Used by layout.cpp and vcf2arrow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/schema.hpp"

namespace strom::format::vcf {

enum class ValueType : uint8_t { kInteger, kFloat, kFlag, kCharacter, kString };

/// How many values a field has: a fixed number, one for each alternative allele (A), each allele (R) or each genotype
/// (G), or any number.
enum class Count : uint8_t { kFixed, kAlternatives, kAlleles, kGenotypes, kAny };

struct FieldDefinition {
  std::string id, description;
  ValueType type = ValueType::kString;
  Count count = Count::kAny;
  int32_t number = 0;  // of kFixed
};

struct Header {
  std::string version;  // "VCFv4.2"
  std::vector<FieldDefinition> info, format;
  std::vector<std::string> samples;
  columnar::KeyValues facts;  // of the file: reference, filters' descriptions
  int64_t lines = 0;
};

/// Parses the beginning of a file up to the line that begins with #CHROM, which must be in `text` completely. `bytes`:
/// where the first variant begins. Errors: kCorruptFile with the line.
Result<Header> parse_header(std::string_view text, size_t* bytes);

/// False when the header goes on beyond `text`.
bool has_whole_header(std::string_view text);

}  // namespace strom::format::vcf
