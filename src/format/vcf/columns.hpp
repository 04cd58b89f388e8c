// Appends lines of VCF to columns. Private to src/format/vcf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/vcf/line_scanner.hpp"
#include "format/vcf/row_tile.hpp"
#include "format/vcf/sample_columns.hpp"
#include "format/vcf/values.hpp"
#include "format/vcf/variants.hpp"

namespace strom::format::vcf {

class Lines final : public Variants {
 public:
  Lines(const Layout& layout, std::vector<columnar::ColumnBuilder>& columns);
  Status append(std::string_view text) override;
  Result<Run> first_run(std::string_view text) const override;

 private:
  Status append_lines(std::string_view text);
  Status append_line(std::string_view text, LineScanner& scanner, size_t begin, size_t* end);
  Status find_info(std::string_view text, LineScanner& scanner, size_t begin, size_t* end);
  Status put_info(std::string_view item, size_t place);
  bool take_guess(std::string_view item, size_t left, size_t place);
  Status find_format(std::string_view text);
  size_t end_of_pairs(std::string_view text, size_t at);
  Status take_samples(std::string_view rest);
  Status append_row(std::string_view alternative, const RowAllele& allele);
  Status append_rows();
  Status append_samples(const RowAllele& allele);

  int32_t end_of(std::string_view info) const;

  const Layout& layout_;
  std::vector<columnar::ColumnBuilder>& columns_;
  GenotypeLabels labels_;
  ValueAppender values_;
  RowTile tile_;
  SampleColumns sample_columns_;
  FixedFields fixed_;
  int32_t end_ = 0;                     // of the line's variant, if it is needed
  std::string_view samples_;            // of the line, from the first sample on
  bool are_pairs_ = false;              // samples_ are nothing but pairs of alleles
  std::vector<std::string_view> info_;  // of each target; data() nullptr: missing
  // The previous line's targets of INFO, and the first bytes of their items, up to eight.
  struct Guess {
    int target;
    uint32_t value;  // where the item's value begins
    uint64_t word, mask;
  };
  std::vector<Guess> order_;
  std::vector<size_t> by_allele_;       // targets of INFO with a value for each alternative
  std::string format_text_;             // FORMAT of the previous line
  std::vector<int> format_order_;       // its targets
  std::vector<size_t> present_;         // the same without duplicates, and the flags, which are never NULL
  std::vector<uint8_t> is_present_;     // of each target
  bool has_alleles_ = false;            // GT is present and becomes a list
  std::vector<std::string_view> cell_;  // of a sample
  std::vector<int8_t> list_;
  std::vector<uint8_t> list_flags_;
};

}  // namespace strom::format::vcf
