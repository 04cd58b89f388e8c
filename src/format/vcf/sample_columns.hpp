// Columns of samples, of which there may be thousands: to visit each for each row takes longer than all else. So rows
// in which no sample has a field, and genotypes of two alleles with one digit, wait, and go to one column after the
// other. Private to src/format/vcf.
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

/// One thread.
class SampleColumns {
 public:
  /// `form`: of pairs that become labels. All others are text.
  SampleColumns(const Layout& layout, PairForm form, GenotypeLabels& labels,
                std::vector<columnar::ColumnBuilder>& columns);

  columnar::ColumnBuilder& column(size_t sample, size_t target) {
    return columns_[layout_.sample_column(sample, target)];
  }
  /// The target of GT where its genotypes can wait as pairs; -1: there is none.
  int genotype_target() const { return genotype_target_; }

  /// The next row has, of each target for which is_present is not 0, a value of each sample. They follow: all pairs at
  /// once, or, after flush_pairs(), by column().
  Status begin_row(const std::vector<uint8_t>& is_present, bool has_alleles);
  /// Genotypes of all samples of the line, as are_pairs() wants them, or pairs of codes up to kMostCode; they stay
  /// until finish(), or are in pair_room().
  Status add_pairs(const char* cells, const RowAllele& allele);
  /// Room for the pairs of one line, if they are the next ones that are added.
  char* pair_room();
  /// Appends to the column of lists; is there for each row that begin_row() has said so of. One of the two forms.
  void append_alleles(const int8_t* alleles, const uint8_t* flags);
  void append_pair_alleles(std::string_view cells);
  Status flush_pairs();
  /// All columns have all rows then.
  Status finish();
  /// What waits is forgotten.
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
  static constexpr size_t kBlockSamples = 16;  // whose cells of a row lie in one or two lines of the caches
  const Layout& layout_;
  const PairForm form_;
  GenotypeLabels& labels_;
  std::vector<columnar::ColumnBuilder>& columns_;
  int genotype_target_ = -1;
  std::vector<int64_t> absent_;  // of each target: rows that no sample's column has yet, since all are NULL
  std::vector<Pairs> pairs_;     // rows that no sample's column has yet
  std::vector<char> room_;
  std::vector<char> chosen_;  // cells of a line's chosen samples
  std::vector<int8_t> alleles_;
  std::vector<uint8_t> validity_;
};

}  // namespace strom::format::vcf
