// Columns of an Arrow file for the fields of a VCF file, and variants into them. One row for each alternative allele,
// or, in the whole form, one for each line. Used by vcf2arrow.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "format/vcf/header.hpp"

namespace strom::format::vcf {

/// What becomes of the field GT.
enum class Genotypes : uint8_t {
  kText,    // as it stands: 0|1
  kDosage,  // Int8: how many alleles are the row's, in the whole form how many are not the reference
};

struct ColumnChoice {
  bool is_whole = false;  // lines are not split by allele
  bool numbers_are_texts = false;
  bool wrong_is_null = false;  // numbers that are none are NULL, and counted
  bool undeclared_is_left_out = false;
  Genotypes genotypes = Genotypes::kText;
  std::vector<std::string> info, format, samples;  // names; none: all
  bool no_info = false, no_samples = false;
};

/// What was seen besides what stands in the columns.
struct Counts {
  int64_t variants = 0, rows = 0, wrong_numbers = 0, undeclared = 0;
  void add(const Counts& other) {
    variants += other.variants;
    rows += other.rows;
    wrong_numbers += other.wrong_numbers;
    undeclared += other.undeclared;
  }
};

/// The layout that all threads share. Fields are those of chrom, pos, id, ref, alt, qual, filter, then info__ID of each
/// chosen field, then sampleN__ID of each chosen sample's, N from 1 on.
class Layout {
 public:
  /// Errors: kInvalidParameter for names that the header does not have.
  static Result<Layout> create(const Header& header, const ColumnChoice& choice);

  const std::vector<columnar::Field>& fields() const { return fields_; }
  /// The samples' names, as metadata of the file: sampleN_key.
  const columnar::KeyValues& metadata() const { return metadata_; }

 private:
  friend class Variants;
  enum class Form : uint8_t { kFlag, kInteger, kFloat, kText, kIntegers, kFloats, kTexts, kDosage };
  struct Target {
    std::string id;
    Form form = Form::kText;
    Count count = Count::kAny;
  };
  Target target_of(const FieldDefinition& definition, bool is_format, columnar::Field* field) const;
  Status choose_samples(const Header& header);

  ColumnChoice choice_;
  std::vector<columnar::Field> fields_;
  columnar::KeyValues metadata_;
  std::vector<Target> info_, format_;
  std::unordered_map<std::string, int> known_info_, known_format_;  // index of the target; -1: not chosen
  std::vector<uint8_t> is_sample_chosen_;
  int64_t sample_count_ = 0;
};

/// Appends lines to the builders of Layout::fields(). One thread.
class Variants {
 public:
  Variants(const Layout& layout, std::vector<columnar::ColumnBuilder>& columns);

  /// Whole lines. Errors name the line from 1 on within `text`: see failed_line().
  Status append(std::string_view text);
  int64_t failed_line() const { return line_; }
  /// Lines that append() has read since the beginning.
  int64_t lines() const { return line_; }
  Counts counts;

 private:
  using Target = Layout::Target;
  Status append_line(std::string_view line);
  Status find_info(std::string_view text);
  Status find_format(std::string_view text);
  int find_key(std::string_view key, size_t expected) const;
  Status append_row(size_t allele);
  Status append_samples(size_t allele);
  void append_absent(size_t target);
  Status append_value(const Target& target, std::string_view value, size_t allele, columnar::ColumnBuilder& column);
  Status append_one(const Target& target, std::string_view value, columnar::ColumnBuilder& column);
  Status append_all(const Target& target, std::string_view value, columnar::ColumnBuilder& column);
  Status append_text(std::string_view value, columnar::ColumnBuilder& column);
  Status wrong_number(const Target& target, std::string_view value, columnar::ColumnBuilder& column);
  void append_dosage(std::string_view genotype, size_t allele, columnar::ColumnBuilder& column) const;

  static constexpr size_t kFixed = 8;
  const Layout& layout_;
  std::vector<columnar::ColumnBuilder>& columns_;
  std::array<std::string_view, kFixed> fixed_;
  std::string_view samples_;               // of the line, from the first sample on
  std::vector<std::string_view> alleles_;  // alternatives
  std::vector<std::string_view> info_;     // of each target; data() nullptr: not there
  std::vector<int> order_;                 // targets of INFO as the line before had them
  std::string format_text_;                // FORMAT of the line before
  std::vector<int> format_order_;          // its targets
  std::vector<size_t> present_;            // the same, each once, and flags, which are never NULL
  std::vector<uint8_t> is_present_;        // of each target
  std::vector<int64_t> absent_;            // of each target: rows that no sample's column has yet, since all are NULL
  std::vector<std::string_view> cell_;     // of a sample
  std::string pair_;
  int64_t line_ = 0;
};

}  // namespace strom::format::vcf
