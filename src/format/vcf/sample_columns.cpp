#include "format/vcf/sample_columns.hpp"

#include <cstring>
#include <utility>

#include "format/vcf/genotypes.hpp"

namespace strom::format::vcf {

using columnar::ColumnBuilder;
using Form = Layout::Form;

namespace {

/// As ColumnBuilder::append_texts() wants it, of a size that the compiler knows.
struct PairText {
  const char* ptr;
  static constexpr int64_t len = kPairBytes - 1;
};

}  // namespace

SampleColumns::SampleColumns(const Layout& layout, std::vector<ColumnBuilder>& columns)
    : layout_(layout), columns_(columns), absent_(layout.format().size()) {
  const int target = layout.find_format("GT");
  if (target < 0) return;
  const Layout::Target& genotype = layout.format()[static_cast<size_t>(target)];
  if (genotype.form == Form::kDosage || (genotype.form == Form::kText && genotype.count == Count::kFixed))
    genotype_target_ = target;
}

void SampleColumns::clear() {
  pairs_.clear();
  absent_.assign(absent_.size(), 0);
}

void SampleColumns::append_absent(size_t target) {
  const int64_t rows = std::exchange(absent_[target], 0);
  if (rows == 0) return;
  for (size_t i = 0; i < layout_.samples().size(); ++i) append_nulls(column(i, target), rows);
}

Status SampleColumns::begin_row(const std::vector<uint8_t>& is_present, bool has_alleles) {
  for (size_t i = 0; i < absent_.size(); ++i) {
    if (is_present[i] != 0) {
      append_absent(i);
      continue;
    }
    if (static_cast<int>(i) == genotype_target_) STROM_TRY(flush_pairs());
    ++absent_[i];
  }
  if (layout_.has_alleles() && !has_alleles) columns_[layout_.alleles_column()].append_null();
  return Status::ok();
}

char* SampleColumns::pair_room() {
  const size_t bytes = layout_.line_samples() * kPairBytes;
  room_.resize(bytes * kMostPairs);
  return room_.data() + pairs_.size() * bytes;
}

Status SampleColumns::add_pairs(const char* cells, const RowAllele& allele) {
  pairs_.push_back({cells, layout_.choice().is_whole ? kAnyAllele : static_cast<int32_t>(allele.index) + 1});
  return pairs_.size() == kMostPairs ? flush_pairs() : Status::ok();
}

Status SampleColumns::flush_pairs() {
  if (pairs_.empty()) return Status::ok();
  const auto target = static_cast<size_t>(genotype_target_);
  const bool is_text = layout_.format()[target].form == Form::kText;
  const auto rows = static_cast<int64_t>(pairs_.size());
  for (size_t i = 0; i < layout_.samples().size(); ++i) {
    const size_t at = layout_.samples()[i] * kPairBytes;
    ColumnBuilder& to = column(i, target);
    if (is_text) {
      PairText cells[kMostPairs];
      for (size_t row = 0; row < pairs_.size(); ++row) cells[row].ptr = pairs_[row].cells + at;
      if (!to.append_texts(cells, nullptr, rows))
        return {ErrorCode::kOverBudget, "a record batch has more text than a column can hold"};
      continue;
    }
    int8_t dosages[kMostPairs];
    uint8_t flags[kMostPairs];
    uint8_t unknown = 0;
    for (size_t row = 0; row < pairs_.size(); ++row) {
      const int dosage = dosage_of_pair(pairs_[row].cells + at, pairs_[row].allele);
      flags[row] = dosage < 0 ? 1 : 0;
      unknown |= flags[row];
      dosages[row] = static_cast<int8_t>(dosage < 0 ? 0 : dosage);
    }
    std::memcpy(to.append_fixed(unknown != 0 ? flags : nullptr, rows), dosages, pairs_.size());
  }
  pairs_.clear();
  return Status::ok();
}

void SampleColumns::append_alleles(const int8_t* alleles, const uint8_t* flags) {
  ColumnBuilder& list = columns_[layout_.alleles_column()];
  const auto elements = static_cast<int64_t>(layout_.samples().size()) * layout_.choice().ploidy;
  std::memcpy(list.child(0).append_fixed(flags, elements), alleles, static_cast<size_t>(elements));
  (void)list.append_list();  // no offsets, so there is always room
}

void SampleColumns::append_pair_alleles(std::string_view cells) {
  const std::vector<size_t>& samples = layout_.samples();
  alleles_.resize(samples.size() * 2);
  flags_.resize(samples.size() * 2);
  bool has_unknown = false;
  if (samples.size() == layout_.line_samples()) {
    has_unknown = put_pairs(cells, samples.size(), alleles_.data(), flags_.data());
  } else {
    for (size_t i = 0; i < samples.size(); ++i)
      has_unknown |=
          put_pairs(cells.substr(samples[i] * kPairBytes), 1, alleles_.data() + 2 * i, flags_.data() + 2 * i);
  }
  append_alleles(alleles_.data(), has_unknown ? flags_.data() : nullptr);
}

Status SampleColumns::finish() {
  STROM_TRY(flush_pairs());
  for (size_t i = 0; i < absent_.size(); ++i) append_absent(i);
  return Status::ok();
}

}  // namespace strom::format::vcf
