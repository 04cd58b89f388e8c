// Appends records of BCF to columns, without VCF text in between. Used by vcf2arrow, which finds where records end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/vcf/bcf_values.hpp"
#include "format/vcf/dictionary.hpp"
#include "format/vcf/sample_columns.hpp"
#include "format/vcf/values.hpp"
#include "format/vcf/variants.hpp"

namespace strom::format::vcf {

/// The number of leading bytes that are complete records. Errors: kCorruptFile.
Result<size_t> whole_records(std::string_view bytes);

class Records final : public Variants {
 public:
  Records(const Layout& layout, const Dictionary& dictionary, std::vector<columnar::ColumnBuilder>& columns);
  Status append(std::string_view bytes) override;
  Result<Run> first_run(std::string_view bytes) const override;

 private:
  struct Sampled {
    int target;
    BinaryValues values;  // the first sample's
  };
  Status append_record(std::string_view shared, std::string_view individual);
  Status read_shared(BinaryReader& reader, uint32_t infos, uint32_t alleles);
  Status read_infos(BinaryReader& reader, uint32_t count);
  Status read_formats(std::string_view bytes, uint32_t count, uint32_t samples);
  Status read_filters(const BinaryValues& values);
  Status check_key(int32_t key, const char* where, const std::vector<int>& targets, int* target);
  Status append_row(const RowAllele& allele);
  Status append_value(const Layout::Target& target, const BinaryValues& values, const RowAllele& allele,
                      columnar::ColumnBuilder& column);
  bool append_number(const Layout::Target& target, const BinaryValues& values, const RowAllele& allele,
                     columnar::ColumnBuilder& column) const;
  Status append_list(const Layout::Target& target, const BinaryValues& values, columnar::ColumnBuilder& column);
  Status append_samples(const RowAllele& allele);
  Status append_genotypes(const BinaryValues& values, const RowAllele& allele);
  bool are_pairs(const BinaryValues& values) const;
  bool put_pairs(const BinaryValues& values, char* cells) const;
  bool append_pair_alleles(const BinaryValues& values);
  Status append_alleles(const BinaryValues& values);
  static BinaryValues of_sample(const BinaryValues& first, size_t sample);

  const Layout& layout_;
  const Dictionary& dictionary_;
  std::vector<columnar::ColumnBuilder>& columns_;
  GenotypeLabels labels_;
  ValueAppender values_;
  SampleColumns sample_columns_;
  std::vector<int> info_targets_, format_targets_;  // by number in the dictionary
  std::string_view chromosome_, id_, reference_;
  std::string filters_;
  std::vector<std::string_view> alleles_;  // alternatives
  int32_t position_ = 0;
  int32_t end_key_ = -1;  // of END, if ends are needed
  int64_t end_ = 0;       // END's value; 0: none
  BinaryValues quality_;
  std::vector<BinaryValues> info_;   // of each target
  std::vector<uint8_t> is_info_;     // for each target: it is present
  std::vector<Sampled> formats_;     // of the record, each target once
  std::vector<uint8_t> is_present_;  // of each target of samples
  bool has_alleles_ = false;
  std::string text_;
  std::vector<int8_t> list_;
  std::vector<uint8_t> list_flags_;
};

}  // namespace strom::format::vcf
