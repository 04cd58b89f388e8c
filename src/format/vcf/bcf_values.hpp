// Typed values of BCF: https://samtools.github.io/hts-specs/BCFv2_qref.pdf. From bytes that nobody vouches for. Private
// to src/format/vcf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

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
  /// The values before the vector's end.
  uint32_t length() const;
  /// Of integers; false: it is missing. Values of 8 and 16 bits are those of 32.
  bool integer(uint32_t index, int32_t* value) const;
  /// Of floats.
  bool real(uint32_t index, float* value) const;
  bool is_missing(uint32_t index) const;
};

/// Takes values one after another. False: the bytes end before, or a type is none.
class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  bool take(T* value) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return true;
  }
  bool take(BinaryValues* values) { return take_type(values) && take_bytes(values, 1); }
  /// The values of all samples: `values` is the first sample's, and `samples` of that size follow each other.
  bool take_of_samples(BinaryValues* values, uint32_t samples) {
    return take_type(values) && take_bytes(values, samples);
  }
  /// One integer of any type: a key.
  bool take_key(int32_t* key);

 private:
  bool take_type(BinaryValues* values);
  bool take_bytes(BinaryValues* values, uint64_t times);

  std::string_view rest_;
};

/// Appends values as VCF has them: with commas in between, dots for what is missing, floats as the shortest text that
/// reads back as the same one.
void append_text(const BinaryValues& values, std::string* text);
/// A genotype.
void append_genotype(const BinaryValues& values, std::string* text);

}  // namespace strom::format::vcf
