// Lines of VCF into columns. Private to src/format/vcf.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  Status append_line(std::string_view line);
  Status find_info(std::string_view text);
  Status find_format(std::string_view text);
  int find_key(std::string_view key, size_t expected) const;
  Status append_row(const RowAllele& allele);
  Status append_samples(const RowAllele& allele);

  static constexpr size_t kColumns = 8;  // before FORMAT
  const Layout& layout_;
  std::vector<columnar::ColumnBuilder>& columns_;
  ValueAppender values_;
  SampleColumns sample_columns_;
  bool is_ascii_ = false;  // all of the text
  std::array<std::string_view, kColumns> fixed_;
  std::string_view samples_;               // of the line, from the first sample on
  bool are_pairs_ = false;                 // samples_ are nothing but pairs of alleles
  std::vector<std::string_view> alleles_;  // alternatives
  std::vector<std::string_view> info_;     // of each target; data() nullptr: not there
  std::vector<int> order_;                 // targets of INFO as the line before had them
  std::string format_text_;                // FORMAT of the line before
  std::vector<int> format_order_;          // its targets
  std::vector<size_t> present_;            // the same, each once, and flags, which are never NULL
  std::vector<uint8_t> is_present_;        // of each target
  bool has_alleles_ = false;               // GT is there, which becomes a list
  std::vector<std::string_view> cell_;     // of a sample
  std::vector<int8_t> list_;
  std::vector<uint8_t> list_flags_;
};

}  // namespace strom::format::vcf
