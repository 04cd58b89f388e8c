#include "format/vcf/columns.hpp"

#include <algorithm>
#include <cstring>

#include "columnar/utf8.hpp"
#include "format/vcf/genotypes.hpp"
#include "format/vcf/records.hpp"

namespace strom::format::vcf {

using columnar::ColumnBuilder;

namespace {

bool is_all_ascii(std::string_view text) {
  uint8_t all = 0;
  for (const char c : text) all |= static_cast<uint8_t>(c);
  return all < 0x80;
}

std::string_view chromosome_of(std::string_view line) { return line.substr(0, line.find('\t')); }

}  // namespace

std::unique_ptr<Variants> Variants::create(const Layout& layout, const Dictionary* dictionary,
                                           std::vector<ColumnBuilder>& columns) {
  if (dictionary == nullptr) return std::make_unique<Lines>(layout, columns);
  return std::make_unique<Records>(layout, *dictionary, columns);
}

Lines::Lines(const Layout& layout, std::vector<ColumnBuilder>& columns)
    : layout_(layout),
      columns_(columns),
      values_(layout, counts),
      sample_columns_(layout, columns),
      info_(layout.info().size()),
      is_present_(layout.format().size()),
      cell_(layout.format().size()) {}

Status Lines::append(std::string_view text) {
  read_ = 0;
  sample_columns_.clear();
  // What the builders take has to be UTF-8; nearly all texts are ASCII.
  is_ascii_ = is_all_ascii(text);
  while (!text.empty()) {
    const auto* end = static_cast<const char*>(std::memchr(text.data(), '\n', text.size()));
    const size_t length = end == nullptr ? text.size() : static_cast<size_t>(end - text.data());
    failed_ = ++read_;
    std::string_view line = text.substr(0, length);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) STROM_TRY(append_line(line));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return sample_columns_.finish();
}

Result<Variants::Run> Lines::first_run(std::string_view text) const {
  const std::string_view chromosome = chromosome_of(text);
  size_t end = 0;
  while (end < text.size()) {
    const std::string_view line = text.substr(end);
    if (line[0] != '\n' && line[0] != '\r' && (!line.starts_with(chromosome) || chromosome_of(line) != chromosome))
      break;
    end += std::min(line.find('\n'), line.size() - 1) + 1;
  }
  return Run{text.substr(0, end), chromosome};
}

Status Lines::append_line(std::string_view line) {
  std::string_view rest = line;
  for (size_t i = 0; i < kColumns; ++i) {
    const auto* tab = rest.empty() ? nullptr : static_cast<const char*>(std::memchr(rest.data(), '\t', rest.size()));
    if (tab == nullptr && i + 1 < kColumns) return damaged("fewer than eight columns");
    const size_t length = tab == nullptr ? rest.size() : static_cast<size_t>(tab - rest.data());
    fixed_[i] = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  if (!is_ascii_ && !columnar::is_utf8(line)) return damaged("text that is not valid UTF-8");
  STROM_TRY(find_info(fixed_[kFirstInfo]));
  samples_ = {};
  are_pairs_ = false;
  if (!layout_.samples().empty()) {
    const size_t tab = rest.find('\t');
    if (tab == std::string_view::npos)
      return damaged("no columns of samples, of which the header has " + std::to_string(layout_.line_samples()));
    STROM_TRY(find_format(rest.substr(0, tab)));
    samples_ = rest.substr(tab + 1);
    const bool is_genotype = format_order_.size() == 1 &&
                             (format_order_[0] == Layout::kAlleles
                                  ? layout_.choice().ploidy == 2
                                  : format_order_[0] >= 0 && format_order_[0] == sample_columns_.genotype_target());
    are_pairs_ = is_genotype && are_pairs(samples_, layout_.line_samples());
  }
  ++counts.variants;
  if (layout_.choice().is_whole) return append_row({});
  alleles_.clear();
  for (std::string_view list = fixed_[kAlt];;) {
    const size_t comma = std::min(list.find(','), list.size());
    alleles_.push_back(list.substr(0, comma));
    if (comma == list.size()) break;
    list.remove_prefix(comma + 1);
  }
  for (size_t i = 0; i < alleles_.size(); ++i) STROM_TRY(append_row({i, alleles_.size()}));
  return Status::ok();
}

/// The target of a key. Lines have their keys in the same order mostly: `expected` is the place in that order.
int Lines::find_key(std::string_view key, size_t expected) const {
  if (expected < order_.size()) {
    const int guess = order_[expected];
    if (guess >= 0 && layout_.info()[static_cast<size_t>(guess)].id == key) return guess;
  }
  return layout_.find_info(key);
}

Status Lines::find_info(std::string_view text) {
  std::fill(info_.begin(), info_.end(), std::string_view());
  if (is_missing(text)) return Status::ok();
  for (size_t place = 0; !text.empty(); ++place) {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (item.empty()) continue;  // ;; and a ; at the end, which programs write
    const size_t sign = std::min(item.find('='), item.size());
    const int target = find_key(item.substr(0, sign), place);
    if (place < order_.size())
      order_[place] = target;
    else
      order_.push_back(target);
    if (target == Layout::kUnknown) {
      if (!layout_.choice().undeclared_is_left_out)
        return damaged("INFO has the field \"" + shortened(item.substr(0, sign)) +
                       "\", which the header does not have");
      ++counts.undeclared;
    }
    // A flag has no value, but it is there.
    if (target >= 0)
      info_[static_cast<size_t>(target)] = sign == item.size() ? item.substr(sign) : item.substr(sign + 1);
    if (target >= 0 && info_[static_cast<size_t>(target)].data() == nullptr)
      info_[static_cast<size_t>(target)] = std::string_view("");
  }
  return Status::ok();
}

Status Lines::find_format(std::string_view text) {
  if (text == format_text_ && !format_order_.empty()) return Status::ok();
  format_text_ = text;
  format_order_.clear();
  has_alleles_ = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find(':'), text.size());
    const int found = layout_.find_format(text.substr(0, end));
    if (found == Layout::kUnknown) {
      if (!layout_.choice().undeclared_is_left_out)
        return damaged("FORMAT has the field \"" + shortened(text.substr(0, end)) +
                       "\", which the header does not have");
      ++counts.undeclared;
    }
    has_alleles_ |= found == Layout::kAlleles;
    format_order_.push_back(found);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (size_t i = 0; i < is_present_.size(); ++i)
    is_present_[i] = layout_.format()[i].form == Layout::Form::kFlag ? 1 : 0;
  for (const int target : format_order_)
    if (target >= 0) is_present_[static_cast<size_t>(target)] = 1;
  present_.clear();
  for (size_t i = 0; i < is_present_.size(); ++i)
    if (is_present_[i] != 0) present_.push_back(i);
  return Status::ok();
}

Status Lines::append_row(const RowAllele& allele) {
  for (const FixedColumn i : {kChrom, kId, kRef, kAlt, kFilter}) {
    const std::string_view value = i == kAlt && !layout_.choice().is_whole ? alleles_[allele.index] : fixed_[i];
    ColumnBuilder& column = columns_[i];
    if (column.field().nullable && is_missing(value))
      column.append_null();
    else
      STROM_TRY(append_text(value, column));
  }
  int32_t position = 0;
  if (!parse_integer(fixed_[kPos], &position)) return damaged("POS \"" + shortened(fixed_[kPos]) + "\" is no number");
  columns_[kPos].append(position);
  float quality = 0;
  if (is_missing(fixed_[kQual]))
    columns_[kQual].append_null();
  else if (parse_float(fixed_[kQual], &quality))
    columns_[kQual].append(quality);
  else
    return damaged("QUAL \"" + shortened(fixed_[kQual]) + "\" is no number");
  for (size_t i = 0; i < info_.size(); ++i)
    STROM_TRY(values_.append(layout_.info()[i], info_[i], allele, columns_[kFirstInfo + i]));
  ++counts.rows;
  return layout_.samples().empty() ? Status::ok() : append_samples(allele);
}

Status Lines::append_samples(const RowAllele& allele) {
  STROM_TRY(sample_columns_.begin_row(is_present_, has_alleles_));
  if (are_pairs_) {
    if (!has_alleles_) return sample_columns_.add_pairs(samples_.data(), allele);
    sample_columns_.append_pair_alleles(samples_);
    return Status::ok();
  }
  STROM_TRY(sample_columns_.flush_pairs());
  const auto ploidy = static_cast<size_t>(layout_.choice().ploidy);
  if (has_alleles_) {
    list_.resize(layout_.samples().size() * ploidy);
    list_flags_.resize(list_.size());
  }
  std::string_view rest = samples_;
  size_t chosen = 0;
  for (size_t sample = 0; sample < layout_.line_samples(); ++sample) {
    if (rest.data() == nullptr) return damaged("fewer samples than the header has");
    const auto* tab = static_cast<const char*>(std::memchr(rest.data(), '\t', rest.size()));
    std::string_view cell = tab == nullptr ? rest : rest.substr(0, static_cast<size_t>(tab - rest.data()));
    rest = tab == nullptr ? std::string_view() : rest.substr(static_cast<size_t>(tab - rest.data()) + 1);
    if (chosen == layout_.samples().size() || layout_.samples()[chosen] != sample) continue;
    for (const size_t target : present_) cell_[target] = {};
    std::string_view genotype;
    // Fields at the end may be left out.
    for (const int target : format_order_) {
      const size_t end = std::min(cell.find(':'), cell.size());
      if (target >= 0) cell_[static_cast<size_t>(target)] = cell.substr(0, end);
      if (target == Layout::kAlleles) genotype = cell.substr(0, end);
      if (end == cell.size()) break;
      cell.remove_prefix(end + 1);
    }
    for (const size_t target : present_)
      STROM_TRY(
          values_.append(layout_.format()[target], cell_[target], allele, sample_columns_.column(chosen, target)));
    if (has_alleles_)
      STROM_TRY(put_alleles(genotype, layout_.choice().ploidy, list_.data() + chosen * ploidy,
                            list_flags_.data() + chosen * ploidy));
    ++chosen;
  }
  if (has_alleles_) sample_columns_.append_alleles(list_.data(), list_flags_.data());
  return rest.data() == nullptr ? Status::ok() : damaged("more samples than the header has");
}

}  // namespace strom::format::vcf
