// Typed values of BCF: https://samtools.github.io/hts-specs/BCFv2_qref.pdf. The bytes are untrusted. Private to
// src/format/vcf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace strom::format::vcf {

/// A vector of values of one type.
struct BinaryValues {
  enum Type : uint8_t { kNothing = 0, kInt8 = 1, kInt16 = 2, kInt32 = 3, kFloat = 5, kChar = 7 };
  uint8_t type = kNothing;
  uint32_t count = 0;
  const char* bytes = nullptr;

  static size_t width(uint8_t type) {
    return type == kInt8 || type == kChar ? 1 : type == kInt16 ? 2 : type == kNothing ? 0 : 4;
  }
  bool is_integer() const { return type >= kInt8 && type <= kInt32; }
  /// The number of values before the vector's end.
  uint32_t length() const;
  /// For integers; false: the value is missing. Values of 8 and 16 bits are converted to 32 bits.
  bool integer(uint32_t index, int32_t* value) const;
  /// For floats.
  bool real(uint32_t index, float* value) const;
  bool is_missing(uint32_t index) const;
};

/// Takes values one after another. False: the bytes end too early, or a type is invalid.
class BinaryReader : private base::ByteReader {
 public:
  explicit BinaryReader(std::string_view bytes) : ByteReader(bytes) {}

  using ByteReader::take;
  bool take(BinaryValues* values) { return take_type(values) && take_values(values, 1); }
  /// Takes the values of all samples: `values` is the first sample's, and `samples` vectors of that size follow each
  /// other.
  bool take_of_samples(BinaryValues* values, uint32_t samples) {
    return take_type(values) && take_values(values, samples);
  }
  /// Takes one integer of any type: a key.
  bool take_key(int32_t* key);

 private:
  bool take_type(BinaryValues* values);
  bool take_values(BinaryValues* values, uint64_t times);
};

/// Appends values in VCF's form: separated by commas, dots for missing values, floats as the shortest text that reads
/// back as the same float.
void append_text(const BinaryValues& values, std::string* text);
/// Appends a genotype.
void append_genotype(const BinaryValues& values, std::string* text);

}  // namespace strom::format::vcf
