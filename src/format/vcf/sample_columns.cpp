#include "format/vcf/sample_columns.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "format/vcf/genotypes.hpp"

namespace strom::format::vcf {

using columnar::ColumnBuilder;
using Form = Layout::Form;

namespace {

constexpr size_t kPairText = kPairBytes - 1;
constexpr size_t kCodeBytes = 2;  // of a pair of codes

constexpr size_t kWord = 8;

/// Writes a bitmap of elements that are not NULL; flags of 1 are NULL.
void put_validity(const uint8_t* flags, size_t count, std::vector<uint8_t>* bits) {
  bits->resize((count + kWord - 1) / kWord);
  for (size_t i = 0; i < count; i += kWord) {
    uint64_t word = 0;
    std::memcpy(&word, flags + i, std::min(count - i, kWord));
    (*bits)[i / kWord] = static_cast<uint8_t>(~(word * 0x0102040810204080 >> 56));  // the first byte's bit lowest
  }
}

}  // namespace

SampleColumns::SampleColumns(const Layout& layout, PairForm form, GenotypeLabels& labels,
                             std::vector<ColumnBuilder>& columns)
    : layout_(layout), form_(form), labels_(labels), columns_(columns), absent_(layout.format().size()) {
  const int target = layout.find_format("GT");
  if (target < 0) return;
  const Layout::Target& genotype = layout.format()[static_cast<size_t>(target)];
  if (genotype.form == Form::kDosage || genotype.form == Form::kLabel ||
      (genotype.form == Form::kText && genotype.count == Count::kFixed))
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

/// The cells of some samples in all waiting rows.
struct SampleColumns::Block {
  size_t first, count;       // among the chosen samples
  size_t at[kBlockSamples];  // where their cells are in a row
};

Status SampleColumns::flush_pairs() {
  if (pairs_.empty()) return Status::ok();
  const Form form = layout_.format()[static_cast<size_t>(genotype_target_)].form;
  const bool are_codes = form == Form::kLabel && form_ == PairForm::kCodes;
  const std::vector<size_t>& samples = layout_.samples();
  for (size_t first = 0; first < samples.size(); first += kBlockSamples) {
    Block block{first, std::min(kBlockSamples, samples.size() - first), {}};
    for (size_t i = 0; i < block.count; ++i) block.at[i] = samples[first + i] * (are_codes ? kCodeBytes : kPairBytes);
    if (are_codes)
      STROM_TRY(flush_labels<PairForm::kCodes>(block));
    else if (form == Form::kLabel)
      STROM_TRY(flush_labels<PairForm::kText>(block));
    else if (form == Form::kText)
      STROM_TRY(flush_texts(block));
    else
      flush_dosages(block);
  }
  pairs_.clear();
  return Status::ok();
}

Status SampleColumns::flush_texts(const Block& block) {
  static const auto offsets = [] {
    std::array<int32_t, kMostPairs + 1> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i * kPairText);
    return all;
  }();
  char texts[kBlockSamples][kMostPairs * kPairText + 1];
  // A cell is copied with the byte behind it, which the next cell overwrites. The last cell of a line has no such byte.
  const size_t last = block.at[block.count - 1];
  const size_t whole = block.count - (last + kPairBytes == layout_.line_samples() * kPairBytes ? 1 : 0);
  for (size_t row = 0; row < pairs_.size(); ++row) {
    const char* cells = pairs_[row].cells;
    __builtin_prefetch(cells + last + kPairBytes);
    for (size_t i = 0; i < whole; ++i) std::memcpy(texts[i] + row * kPairText, cells + block.at[i], kPairBytes);
    if (whole < block.count) std::memcpy(texts[whole] + row * kPairText, cells + last, kPairText);
  }
  for (size_t i = 0; i < block.count; ++i) {
    ColumnBuilder& to = column(block.first + i, static_cast<size_t>(genotype_target_));
    const columnar::ColumnBuffers from{nullptr, reinterpret_cast<const uint8_t*>(offsets.data()),
                                       reinterpret_cast<const uint8_t*>(texts[i])};
    if (!to.append_rows(from, 0, static_cast<int64_t>(pairs_.size())))
      return {ErrorCode::kOverBudget, "a record batch has more text than a column can hold"};
  }
  return Status::ok();
}

template <PairForm kForm>
Status SampleColumns::flush_labels(const Block& block) {
  int16_t indexes[kBlockSamples][kMostPairs];
  for (size_t row = 0; row < pairs_.size(); ++row) {
    const char* cells = pairs_[row].cells;
    __builtin_prefetch(cells + block.at[block.count - 1] + kPairBytes);
    int all = 0;
    for (size_t i = 0; i < block.count; ++i) {
      const int16_t index = labels_.of_pair<kForm>(cells + block.at[i]);
      indexes[i][row] = index;
      all |= index;
    }
    if (all >= 0) continue;
    for (size_t i = 0; i < block.count; ++i) {
      if (indexes[i][row] >= 0) continue;
      STROM_TRY(labels_.learn<kForm>(cells + block.at[i]));
      indexes[i][row] = labels_.of_pair<kForm>(cells + block.at[i]);
    }
  }
  for (size_t i = 0; i < block.count; ++i)
    (void)column(block.first + i, static_cast<size_t>(genotype_target_))
        .append_rows({nullptr, reinterpret_cast<const uint8_t*>(indexes[i]), nullptr}, 0,
                     static_cast<int64_t>(pairs_.size()));  // no offsets
  return Status::ok();
}

void SampleColumns::flush_dosages(const Block& block) {
  uint8_t dosages[kBlockSamples][kMostPairs];
  uint8_t validity[kBlockSamples][kMostPairs / kWord] = {};
  for (size_t row = 0; row < pairs_.size(); ++row) {
    const char* cells = pairs_[row].cells;
    __builtin_prefetch(cells + block.at[block.count - 1] + kPairBytes);
    const auto put = [&](auto is_counted) {
      for (size_t i = 0; i < block.count; ++i) {
        const char first = cells[block.at[i]], second = cells[block.at[i] + 2];
        const unsigned is_known = (first != '.' ? 1U : 0U) & (second != '.' ? 1U : 0U);
        const unsigned dosage = (is_counted(first) ? 1U : 0U) + (is_counted(second) ? 1U : 0U);
        dosages[i][row] = static_cast<uint8_t>(dosage & -is_known);
        validity[i][row / kWord] |= static_cast<uint8_t>(is_known << (row % kWord));
      }
    };
    const int32_t allele = pairs_[row].allele;
    if (allele == kAnyAllele)
      put([](char c) { return c > '0'; });
    else
      put([wanted = '0' + allele](char c) { return c == wanted; });
  }
  for (size_t i = 0; i < block.count; ++i)
    (void)column(block.first + i, static_cast<size_t>(genotype_target_))
        .append_rows({validity[i], dosages[i], nullptr}, 0, static_cast<int64_t>(pairs_.size()));  // no offsets
}

void SampleColumns::append_alleles(const int8_t* alleles, const uint8_t* flags) {
  if (flags != nullptr)
    put_validity(flags, layout_.samples().size() * static_cast<size_t>(layout_.choice().ploidy), &validity_);
  append_list(alleles, flags == nullptr ? nullptr : validity_.data());
}

void SampleColumns::append_list(const int8_t* alleles, const uint8_t* validity) {
  ColumnBuilder& list = columns_[layout_.alleles_column()];
  const auto elements = static_cast<int64_t>(layout_.samples().size()) * layout_.choice().ploidy;
  (void)list.child(0).append_rows({validity, reinterpret_cast<const uint8_t*>(alleles), nullptr}, 0, elements);
  (void)list.append_list();  // no offsets, so there is always room
}

void SampleColumns::append_pair_alleles(std::string_view cells) {
  const std::vector<size_t>& samples = layout_.samples();
  const size_t count = samples.size(), whole = (count + kPairRoom - 1) / kPairRoom * kPairRoom;
  alleles_.resize(whole * 2);
  validity_.resize(whole / 4);
  if (count != layout_.line_samples()) {
    chosen_.resize(count * kPairBytes);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(chosen_.data() + i * kPairBytes, cells.data() + samples[i] * kPairBytes, kPairText);
    cells = {chosen_.data(), chosen_.size()};
  }
  const bool has_unknown = put_pairs(cells, count, alleles_.data(), validity_.data());
  append_list(alleles_.data(), has_unknown ? validity_.data() : nullptr);
}

Status SampleColumns::finish() {
  STROM_TRY(flush_pairs());
  for (size_t i = 0; i < absent_.size(); ++i) append_absent(i);
  return Status::ok();
}

}  // namespace strom::format::vcf
