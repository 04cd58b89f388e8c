#include "format/vcf/genotype_labels.hpp"

#include "format/vcf/bcf_values.hpp"
#include "format/vcf/sample_columns.hpp"

namespace strom::format::vcf {

Status GenotypeLabels::find(std::string_view genotype, int16_t* index) {
  const int32_t found = labels_.find(genotype);
  if (found < 0 || found > INT16_MAX)
    return Status(ErrorCode::kOverBudget, "there are more than 32768 different genotypes")
        .with_hint("--genotypes=text has room for all.");
  *index = static_cast<int16_t>(found);
  return Status::ok();
}

template <>
Status GenotypeLabels::learn<PairForm::kText>(const char* pair) {
  return find({pair, kPairBytes - 1}, &texts_[place_of_text(pair)]);
}

template <>
Status GenotypeLabels::learn<PairForm::kCodes>(const char* pair) {
  std::string text;
  append_genotype({BinaryValues::kInt8, 2, pair}, &text);
  return find(text, &codes_[place_of_codes(pair)]);
}

}  // namespace strom::format::vcf
