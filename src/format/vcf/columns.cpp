#include "format/vcf/columns.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "columnar/utf8.hpp"
#include "format/vcf/genotypes.hpp"
#include "format/vcf/records.hpp"
#include "format/vcf/variant_end.hpp"

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
      labels_(layout.labels()),
      values_(layout, labels_, counts),
      tile_(layout, columns, values_),
      sample_columns_(layout, PairForm::kText, labels_, columns),
      info_(layout.info().size()),
      is_present_(layout.format().size()),
      cell_(layout.format().size()) {
  for (size_t i = 0; i < layout.info().size(); ++i)
    if (layout.info()[i].count == Count::kAlternatives && layout.info()[i].form != Layout::Form::kFlag)
      by_allele_.push_back(i);
}

Status Lines::append(std::string_view text) {
  read_ = 0;
  tile_.begin(text);
  sample_columns_.clear();
  Status status = append_lines(text);
  // Waiting rows belong to lines before the one that failed, or to that line.
  Status waiting = tile_.flush();
  if (!waiting.is_ok()) {
    failed_ = tile_.failed();
    return waiting;
  }
  STROM_TRY(std::move(status));
  return sample_columns_.finish();
}

Status Lines::append_lines(std::string_view text) {
  LineScanner scanner(text);
  for (size_t begin = 0; begin < text.size();) {
    failed_ = ++read_;
    size_t end = 0;
    STROM_TRY(append_line(text, scanner, begin, &end));
    begin = end + 1;
  }
  return Status::ok();
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

/// Appends the line that begins at `begin` of the text; *end: the line's end.
Status Lines::append_line(std::string_view text, LineScanner& scanner, size_t begin, size_t* end) {
  // An empty line, perhaps with a carriage return.
  const bool is_return = text[begin] == '\r' && (begin + 1 == text.size() || text[begin + 1] == '\n');
  if (is_return || text[begin] == '\n') {
    *end = scanner.next_end();
    return Status::ok();
  }
  size_t at = begin;
  for (size_t i = 0; i < kFirstInfo; ++i) {
    const size_t tab = scanner.next_end();
    if (tab == text.size() || text[tab] != '\t') return damaged("fewer than eight columns");
    fixed_[i] = text.substr(at, tab - at);
    at = tab + 1;
  }
  STROM_TRY(find_info(text, scanner, at, end));
  if (layout_.choice().has_end) end_ = end_of(text.substr(at, *end - at));
  std::string_view rest;
  are_pairs_ = false;
  if (*end < text.size() && text[*end] == '\t') {
    at = *end + 1;
    *end = end_of_pairs(text, at);
    if (!are_pairs_) {
      const auto* line_end = static_cast<const char*>(std::memchr(text.data() + at, '\n', text.size() - at));
      *end = line_end == nullptr ? text.size() : static_cast<size_t>(line_end - text.data());
    }
    rest = text.substr(at, *end - at);
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    scanner.jump(*end + 1);
  }
  // Builders need UTF-8; nearly all texts are ASCII, and pairs of alleles always are.
  const std::string_view samples = are_pairs_ ? rest.substr(0, rest.find('\t')) : rest;
  if ((scanner.has_high_bytes(begin) || !is_all_ascii(samples)) && !columnar::is_utf8(text.substr(begin, *end - begin)))
    return damaged("text that is not valid UTF-8");
  if (!layout_.samples().empty()) STROM_TRY(take_samples(rest));
  ++counts.variants;
  return append_rows();
}

/// The end of the line's variant. A malformed position is an error of the row.
int32_t Lines::end_of(std::string_view info) const {
  const std::string_view text = fixed_[kPos];
  int64_t position = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), position);
  return last_position_value(position, fixed_[kRef].size(), end_in_info(info));
}

/// FORMAT begins at `at`. In many files with many samples, the line's samples are nothing but pairs of alleles. Their
/// number then tells where the line ends: that is one look at the line instead of three.
size_t Lines::end_of_pairs(std::string_view text, size_t at) {
  const size_t count = layout_.line_samples(), tab = text.find('\t', at);
  if (layout_.samples().empty() || count == 0 || tab == std::string_view::npos) return text.size();
  const size_t cells = tab + 1, end = cells + count * kPairBytes - 1;
  if (end > text.size() || text.substr(at, tab - at).find('\n') != std::string_view::npos) return text.size();
  const std::string_view behind = text.substr(end, 2);
  if (!behind.empty() && behind[0] != '\n' && behind != "\r\n") return text.size();
  are_pairs_ = are_pairs(text.substr(cells, end - cells), count);
  return end + (behind.starts_with('\r') ? 1 : 0);
}

/// Takes FORMAT and the samples behind it.
Status Lines::take_samples(std::string_view rest) {
  const size_t tab = rest.find('\t');
  if (tab == std::string_view::npos)
    return damaged("no columns of samples, of which the header has " + std::to_string(layout_.line_samples()));
  STROM_TRY(find_format(rest.substr(0, tab)));
  samples_ = rest.substr(tab + 1);
  const bool is_genotype = format_order_.size() == 1 &&
                           (format_order_[0] == Layout::kAlleles
                                ? layout_.choice().ploidy == 2
                                : format_order_[0] >= 0 && format_order_[0] == sample_columns_.genotype_target());
  are_pairs_ = is_genotype && are_pairs_;
  return Status::ok();
}

Status Lines::append_rows() {
  std::string_view list = fixed_[kAlt];
  if (layout_.choice().is_whole || list.size() < 2) return append_row(list, {});
  const auto count = static_cast<size_t>(std::count(list.begin(), list.end(), ',')) + 1;
  for (size_t i = 0; i < count; ++i) {
    const size_t comma = std::min(list.find(','), list.size());
    STROM_TRY(append_row(list.substr(0, comma), {i, count}));
    if (i + 1 == count) break;
    list.remove_prefix(comma + 1);
    for (const size_t target : by_allele_) {
      std::string_view& value = info_[target];
      const size_t next = value.find(',');
      value = next == std::string_view::npos ? std::string_view() : value.substr(next + 1);
    }
  }
  return Status::ok();
}

/// Takes the value of an item if it is the same item that the previous line had in its place. `left`: bytes of text
/// from the item's begin on.
bool Lines::take_guess(std::string_view item, size_t left, size_t place) {
  if (place >= order_.size() || order_[place].mask == 0 || left < sizeof(uint64_t)) return false;
  const Guess& guess = order_[place];
  uint64_t word;
  std::memcpy(&word, item.data(), sizeof word);
  if ((word & guess.mask) != guess.word) return false;
  // Two separate stores, which are read as two: one copy of the whole would have to wait for them.
  std::string_view& value = info_[static_cast<size_t>(guess.target)];
  value = {item.data() + guess.value, item.size() - guess.value};
  return true;
}

Status Lines::put_info(std::string_view item, size_t place) {
  const size_t sign = std::min(item.find('='), item.size());
  const std::string_view key = item.substr(0, sign);
  const int before = place < order_.size() ? order_[place].target : Layout::kUnknown;
  const bool is_same = before >= 0 && layout_.info()[static_cast<size_t>(before)].id == key;
  const int target = is_same ? before : layout_.find_info(key);
  Guess guess{target, static_cast<uint32_t>(sign + 1), 0, 0};
  if (target >= 0 && key.size() < sizeof guess.word && sign < item.size()) {
    std::memcpy(&guess.word, item.data(), sign + 1);
    std::memset(&guess.mask, 0xFF, sign + 1);
  }
  if (place < order_.size())
    order_[place] = guess;
  else
    order_.push_back(guess);
  if (target == Layout::kUnknown) {
    if (!layout_.choice().undeclared_is_left_out)
      return damaged("INFO has the field \"" + shortened(key) + "\", which the header does not have");
    ++counts.undeclared;
  }
  // A flag has no value, but is present.
  if (target >= 0) info_[static_cast<size_t>(target)] = item.substr(std::min(sign + 1, item.size()));
  return Status::ok();
}

/// Finds the items of INFO from `begin` on; *end: the tab or line end behind it.
Status Lines::find_info(std::string_view text, LineScanner& scanner, size_t begin, size_t* end) {
  std::fill(info_.begin(), info_.end(), std::string_view());
  scanner.begin_items(begin);
  Status status = Status::ok();
  for (size_t place = 0;; ++place) {
    size_t stop = scanner.next_item_end();
    const bool is_last = stop == text.size() || text[stop] != ';';
    if (is_last) *end = stop;
    if (is_last && stop > begin && text[stop - 1] == '\r' && (stop == text.size() || text[stop] == '\n')) --stop;
    const std::string_view item = text.substr(begin, stop - begin);
    const bool is_taken = take_guess(item, text.size() - begin, place);
    begin = stop + 1;
    if (!is_taken && !item.empty() &&
        !(is_last && place == 0 && item == "."))  // ;; and a ; at the end, which programs write
      status = put_info(item, place);
    if (!status.is_ok() || is_last) return status;
  }
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

Status Lines::append_row(std::string_view alternative, const RowAllele& allele) {
  Status waiting = tile_.add(failed_, fixed_, alternative, info_, allele);
  if (!waiting.is_ok()) {
    failed_ = tile_.failed();
    return waiting;
  }
  if (layout_.choice().has_end) columns_[layout_.end_column()].append(end_);
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
    // Fields at the end may be missing.
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
