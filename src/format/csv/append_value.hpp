// Appends fields of delimited text to Arrow columns, and guesses the type of a column from its fields. Used by
// tsv2arrow.
#pragma once

#include <cstdint>
#include <string_view>

#include "columnar/builder.hpp"
#include "format/csv/parse_value.hpp"
#include "format/csv/row_reader.hpp"

namespace strom::format::csv {

enum class Appended : uint8_t { kDone, kMalformed, kTooLarge, kTooPrecise, kNotUtf8, kFull };

/// Appends a field that is not NULL. The column's type has neither children nor a dictionary.
Appended append_value(std::string_view text, columnar::ColumnBuilder& column);

/// Learns from texts which types can hold all of them, exactly.
class TypeGuess {
 public:
  /// `words_are_bool`: yes and no, y and n, on and off are booleans, too, besides true and false, t and f, in any case.
  explicit TypeGuess(bool words_are_bool = false) : words_are_bool_(words_are_bool) {}
  void observe(std::string_view text);
  void merge(const TypeGuess& other);
  /// Sets the type of `field`. `reals`: numbers with a decimal point become Float64 instead of decimals. `is_sample`:
  /// not all texts were seen, so decimals get more digits than were seen.
  void choose(columnar::Field& field, bool reals, bool is_sample) const;

 private:
  enum Candidate : uint32_t {
    kBool = 1,
    kInt = 2,
    kDecimal = 4,
    kReal = 8,
    kDate = 16,
    kTime = 32,
    kStamp = 64,
    kStampZone = 128,
    kAll = 255
  };
  bool fits(Candidate candidate, std::string_view text);
  bool fits_bool(std::string_view text);
  bool observe_integer(std::string_view text);

  bool words_are_bool_, has_upper_t_ = false, has_upper_f_ = false;
  uint32_t open_ = kAll;
  int64_t seen_ = 0;
  int32_t whole_ = 0, scale_ = 0;  // digits of decimals, before and behind the point
  int32_t fraction_ = 0;           // digits of a second
  bool nanos_fit_ = true;          // timestamps fit in nanoseconds
};

}  // namespace strom::format::csv
