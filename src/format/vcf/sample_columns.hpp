// Columns of samples. There may be thousands, and visiting each of them for each row would take longer than all other
// work. So two kinds of rows wait, and are then appended column by column: rows in which no sample has a field, and
// genotypes of two alleles with one digit. Private to src/format/vcf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "format/vcf/genotype_labels.hpp"
#include "format/vcf/genotypes.hpp"
#include "format/vcf/layout.hpp"
#include "format/vcf/values.hpp"

namespace strom::format::vcf {

/// For one thread.
class SampleColumns {
 public:
  /// `form`: of pairs that become labels. All other pairs are text.
  SampleColumns(const Layout& layout, PairForm form, GenotypeLabels& labels,
                std::vector<columnar::ColumnBuilder>& columns);

  columnar::ColumnBuilder& column(size_t sample, size_t target) {
    return columns_[layout_.sample_column(sample, target)];
  }
  /// The target of GT if its genotypes can wait as pairs; -1: they cannot.
  int genotype_target() const { return genotype_target_; }

  /// Begins a row. It has a value of each sample for each target with is_present not 0. The values follow: all pairs at
  /// once or, after flush_pairs(), by column().
  Status begin_row(const std::vector<uint8_t>& is_present, bool has_alleles);
  /// Adds the genotypes of all samples of the line, as are_pairs() requires them, or pairs of codes up to kMostCode.
  /// They must stay until finish(), or be in pair_room().
  Status add_pairs(const char* cells, const RowAllele& allele);
  /// Room for the pairs of one line. They must be the next ones that are added.
  char* pair_room();
  /// Appends to the column of lists. Called for each row for which begin_row() was told so, in one of the two forms.
  void append_alleles(const int8_t* alleles, const uint8_t* flags);
  void append_pair_alleles(std::string_view cells);
  Status flush_pairs();
  /// Appends all waiting rows to the columns.
  Status finish();
  /// Drops the waiting rows.
  void clear();

 private:
  struct Block;
  void append_absent(size_t target);
  void append_list(const int8_t* alleles, const uint8_t* validity);
  Status flush_texts(const Block& block);
  template <PairForm kForm>
  Status flush_labels(const Block& block);
  void flush_dosages(const Block& block);

  struct Pairs {
    const char* cells;
    int32_t allele;
  };
  static constexpr size_t kMostPairs = 256;
  static constexpr size_t kBlockSamples = 16;  // their cells of a row lie in one or two cache lines
  const Layout& layout_;
  const PairForm form_;
  GenotypeLabels& labels_;
  std::vector<columnar::ColumnBuilder>& columns_;
  int genotype_target_ = -1;
  std::vector<int64_t> absent_;  // for each target: rows that no sample's column has yet, since all values are NULL
  std::vector<Pairs> pairs_;     // waiting rows
  std::vector<char> room_;
  std::vector<char> chosen_;  // cells of a line's chosen samples
  std::vector<int8_t> alleles_;
  std::vector<uint8_t> validity_;
};

}  // namespace strom::format::vcf
