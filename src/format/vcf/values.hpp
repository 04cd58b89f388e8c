// Appends texts of VCF to columns, in the form that the layout gives a field. Private to src/format/vcf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "format/vcf/genotype_labels.hpp"
#include "format/vcf/layout.hpp"

namespace strom::format::vcf {

inline bool is_missing(std::string_view value) { return value.empty() || (value.size() == 1 && value[0] == '.'); }

Status damaged(const std::string& what);
/// The text, cut off with dots if it is long.
std::string shortened(std::string_view text);
bool parse_integer(std::string_view text, int32_t* value);
/// The nearest float.
bool parse_float(std::string_view text, float* value);
Status append_text(std::string_view value, columnar::ColumnBuilder& column);
/// Appends NULLs, for any layout that columns of samples have.
void append_nulls(columnar::ColumnBuilder& column, int64_t count);

/// The line's allele that a row is for.
struct RowAllele {
  size_t index = 0;  // among the alternatives
  size_t count = 1;  // of alternatives that the line has
};

/// For one thread.
class ValueAppender {
 public:
  ValueAppender(const Layout& layout, GenotypeLabels& labels, Counts& counts)
      : layout_(layout), labels_(labels), counts_(counts) {}

  /// Appends a field's text, which has the values of all alleles; data() nullptr: it is missing. Errors: kTypeMismatch,
  /// kOverBudget when the batch is full.
  Status append(const Layout::Target& target, std::string_view value, const RowAllele& allele,
                columnar::ColumnBuilder& column);
  /// Called for a number that its column cannot hold. Ok, and counted, if it becomes NULL.
  Status wrong_number(const Layout::Target& target, std::string_view value);

 private:
  Status append_one(const Layout::Target& target, std::string_view value, columnar::ColumnBuilder& column);
  Status append_all(const Layout::Target& target, std::string_view value, columnar::ColumnBuilder& column);

  const Layout& layout_;
  GenotypeLabels& labels_;
  Counts& counts_;
  std::string pair_;
};

}  // namespace strom::format::vcf
