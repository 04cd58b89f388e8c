#include "format/vcf/records.hpp"

#include <algorithm>
#include <cstring>

#include "columnar/utf8.hpp"
#include "format/vcf/genotypes.hpp"
#include "format/vcf/variant_end.hpp"

namespace strom::format::vcf {

using columnar::ColumnBuilder;
using Form = Layout::Form;

namespace {

constexpr size_t kSizes = 8;   // of the two parts of a record; they precede the parts
constexpr size_t kFixed = 24;  // bytes at the beginning of the first part

struct Parts {
  std::string_view shared, individual;
  size_t size = 0;  // of the record; 0: it is incomplete
};

/// The record that bytes begin with.
Result<Parts> parts_of(std::string_view bytes) {
  Parts parts;
  BinaryReader reader(bytes);
  uint32_t shared = 0, individual = 0;
  if (!reader.take(&shared) || !reader.take(&individual)) return parts;
  if (shared < kFixed) return damaged("a record that is too short");
  const uint64_t size = kSizes + uint64_t{shared} + individual;
  if (size > bytes.size()) return parts;
  parts.shared = bytes.substr(kSizes, shared);
  parts.individual = bytes.substr(kSizes + shared, individual);
  parts.size = size;
  return parts;
}

Status cut_off() { return damaged("a record whose values end too early"); }

int32_t chromosome_of(std::string_view shared) {
  int32_t number = -1;
  BinaryReader(shared).take(&number);
  return number;
}

bool text_of(const BinaryValues& values, std::string_view* text) {
  if (values.type != BinaryValues::kChar && values.count != 0) return false;
  *text = {values.bytes, values.count == 0 ? 0 : values.length()};
  return columnar::is_utf8(*text);
}

}  // namespace

Result<size_t> whole_records(std::string_view bytes) {
  size_t at = 0;
  for (;;) {
    STROM_ASSIGN(const Parts parts, parts_of(bytes.substr(at)));
    if (parts.size == 0) return at;
    at += parts.size;
  }
}

Records::Records(const Layout& layout, const Dictionary& dictionary, std::vector<ColumnBuilder>& columns)
    : layout_(layout),
      dictionary_(dictionary),
      columns_(columns),
      labels_(layout.labels()),
      values_(layout, labels_, counts),
      sample_columns_(layout, PairForm::kCodes, labels_, columns),
      info_(layout.info().size()),
      is_info_(layout.info().size()),
      is_present_(layout.format().size()) {
  for (const std::string& name : dictionary.names) {
    info_targets_.push_back(name.empty() ? Layout::kUnknown : layout.find_info(name));
    format_targets_.push_back(name.empty() ? Layout::kUnknown : layout.find_format(name));
  }
  const auto end = std::find(dictionary.names.begin(), dictionary.names.end(), "END");
  if (layout.choice().has_end && end != dictionary.names.end())
    end_key_ = static_cast<int32_t>(end - dictionary.names.begin());
}

Status Records::append(std::string_view bytes) {
  read_ = 0;
  sample_columns_.clear();
  while (!bytes.empty()) {
    failed_ = ++read_;
    STROM_ASSIGN(const Parts parts, parts_of(bytes));
    if (parts.size == 0) return cut_off();
    STROM_TRY(append_record(parts.shared, parts.individual));
    bytes.remove_prefix(parts.size);
  }
  return sample_columns_.finish();
}

Result<Variants::Run> Records::first_run(std::string_view bytes) const {
  size_t at = 0;
  int32_t chromosome = -1;
  while (at < bytes.size()) {
    STROM_ASSIGN(const Parts parts, parts_of(bytes.substr(at)));
    if (parts.size == 0) break;
    const int32_t found = chromosome_of(parts.shared);
    if (at > 0 && found != chromosome) break;
    chromosome = found;
    at += parts.size;
  }
  const bool is_known = chromosome >= 0 && static_cast<size_t>(chromosome) < dictionary_.chromosomes.size();
  // append() reports a chromosome without a name, and an incomplete record.
  return Run{
      bytes.substr(0, at == 0 ? bytes.size() : at),
      is_known ? std::string_view(dictionary_.chromosomes[static_cast<size_t>(chromosome)]) : std::string_view()};
}

Status Records::append_record(std::string_view shared, std::string_view individual) {
  BinaryReader reader(shared);
  int32_t chromosome = 0, length = 0;
  uint32_t alleles = 0, samples = 0;
  quality_ = {BinaryValues::kFloat, 1, shared.data() + 3 * sizeof(int32_t)};
  float quality = 0;
  const bool is_whole = reader.take(&chromosome) && reader.take(&position_) && reader.take(&length) &&
                        reader.take(&quality) && reader.take(&alleles) && reader.take(&samples);
  if (!is_whole) return cut_off();
  if (chromosome < 0 || static_cast<size_t>(chromosome) >= dictionary_.chromosomes.size() ||
      dictionary_.chromosomes[static_cast<size_t>(chromosome)].empty())
    return damaged("a chromosome that the header does not have");
  if (position_ < -1 || position_ == INT32_MAX) return damaged("a position that is none");
  ++position_;
  chromosome_ = dictionary_.chromosomes[static_cast<size_t>(chromosome)];
  constexpr uint32_t kLow16 = 0xFFFF, kLow24 = 0xFFFFFF;
  STROM_TRY(read_shared(reader, alleles & kLow16, alleles >> 16));
  has_alleles_ = false;
  formats_.clear();
  if (!layout_.samples().empty()) STROM_TRY(read_formats(individual, samples >> 24, samples & kLow24));
  ++counts.variants;
  if (layout_.choice().is_whole) return append_row({});
  const size_t rows = std::max<size_t>(alleles_.size(), 1);
  for (size_t i = 0; i < rows; ++i) STROM_TRY(append_row({i, rows}));
  return Status::ok();
}

Status Records::read_shared(BinaryReader& reader, uint32_t infos, uint32_t alleles) {
  BinaryValues values;
  if (!reader.take(&values) || !text_of(values, &id_)) return damaged("an ID that is none");
  if (alleles == 0) return damaged("no reference");
  alleles_.clear();
  for (uint32_t i = 0; i < alleles; ++i) {
    std::string_view allele;
    if (!reader.take(&values) || !text_of(values, &allele)) return damaged("an allele that is none");
    if (i == 0)
      reference_ = allele;
    else
      alleles_.push_back(allele);
  }
  if (!reader.take(&values)) return cut_off();
  STROM_TRY(read_filters(values));
  return read_infos(reader, infos);
}

Status Records::read_filters(const BinaryValues& values) {
  filters_.clear();
  if (values.count > 0 && !values.is_integer()) return damaged("filters that are none");
  const uint32_t length = values.count == 0 ? 0 : values.length();
  for (uint32_t i = 0; i < length; ++i) {
    int32_t number = 0;
    if (!values.integer(i, &number) || number < 0 || static_cast<size_t>(number) >= dictionary_.names.size())
      return damaged("a filter that the header does not have");
    if (i > 0) filters_ += ';';
    filters_ += dictionary_.names[static_cast<size_t>(number)];
  }
  return Status::ok();
}

/// The target of a key of INFO or FORMAT.
Status Records::check_key(int32_t key, const char* where, const std::vector<int>& targets, int* target) {
  if (key < 0 || static_cast<size_t>(key) >= targets.size())
    return damaged(std::string(where) + " has a field that the header does not have");
  *target = targets[static_cast<size_t>(key)];
  if (*target != Layout::kUnknown) return Status::ok();
  if (!layout_.choice().undeclared_is_left_out)
    return damaged(std::string(where) + " has the field \"" + dictionary_.names[static_cast<size_t>(key)] +
                   "\", which the header does not have");
  ++counts.undeclared;
  return Status::ok();
}

Status Records::read_infos(BinaryReader& reader, uint32_t count) {
  std::fill(is_info_.begin(), is_info_.end(), uint8_t{0});
  end_ = 0;
  for (uint32_t i = 0; i < count; ++i) {
    int32_t key = 0;
    BinaryValues values;
    if (!reader.take_key(&key) || !reader.take(&values)) return cut_off();
    int32_t end = 0;
    if (key == end_key_ && values.is_integer() && values.count > 0 && values.integer(0, &end)) end_ = end;
    int target = 0;
    STROM_TRY(check_key(key, "INFO", info_targets_, &target));
    if (target < 0) continue;
    is_info_[static_cast<size_t>(target)] = 1;
    info_[static_cast<size_t>(target)] = values;
  }
  return Status::ok();
}

Status Records::read_formats(std::string_view bytes, uint32_t count, uint32_t samples) {
  if (samples != layout_.line_samples())
    return damaged((samples < layout_.line_samples() ? "fewer" : "more") + std::string(" samples than the header has"));
  for (size_t i = 0; i < is_present_.size(); ++i) is_present_[i] = layout_.format()[i].form == Form::kFlag ? 1 : 0;
  BinaryReader reader(bytes);
  for (uint32_t i = 0; i < count; ++i) {
    Sampled sampled{};
    int32_t key = 0;
    if (!reader.take_key(&key) || !reader.take_of_samples(&sampled.values, samples)) return cut_off();
    STROM_TRY(check_key(key, "FORMAT", format_targets_, &sampled.target));
    if (sampled.target == Layout::kNotChosen || sampled.target == Layout::kUnknown) continue;
    if (sampled.target == Layout::kAlleles)
      has_alleles_ = true;
    else
      is_present_[static_cast<size_t>(sampled.target)] = 1;
    const auto same = std::find_if(formats_.begin(), formats_.end(),
                                   [&](const Sampled& other) { return other.target == sampled.target; });
    if (same == formats_.end())
      formats_.push_back(sampled);
    else
      same->values = sampled.values;
  }
  return Status::ok();
}

Status Records::append_row(const RowAllele& allele) {
  STROM_TRY(append_text(chromosome_, columns_[kChrom]));
  columns_[kPos].append(position_);
  const auto append_or_null = [&](std::string_view text, FixedColumn column) {
    if (!is_missing(text)) return append_text(text, columns_[column]);
    columns_[column].append_null();
    return Status::ok();
  };
  STROM_TRY(append_or_null(id_, kId));
  STROM_TRY(append_text(reference_, columns_[kRef]));
  if (!layout_.choice().is_whole || alleles_.size() < 2) {
    STROM_TRY(append_or_null(alleles_.empty() ? std::string_view() : alleles_[allele.index], kAlt));
  } else {
    text_.clear();
    for (const std::string_view each : alleles_) text_.append(text_.empty() ? "" : ",").append(each);
    STROM_TRY(append_text(text_, columns_[kAlt]));
  }
  float quality = 0;
  if (quality_.real(0, &quality))
    columns_[kQual].append(quality);
  else
    columns_[kQual].append_null();
  STROM_TRY(append_or_null(filters_, kFilter));
  for (size_t i = 0; i < info_.size(); ++i) {
    ColumnBuilder& column = columns_[kFirstInfo + i];
    if (layout_.info()[i].form == Form::kFlag)
      column.append_bool(is_info_[i] != 0);
    else if (is_info_[i] == 0)
      column.append_null();
    else
      STROM_TRY(append_value(layout_.info()[i], info_[i], allele, column));
  }
  if (layout_.choice().has_end)
    columns_[layout_.end_column()].append(last_position_value(position_, reference_.size(), end_));
  ++counts.rows;
  return layout_.samples().empty() ? Status::ok() : append_samples(allele);
}

/// Appends numbers without a text in between. False: the text is needed.
bool Records::append_number(const Layout::Target& target, const BinaryValues& values, const RowAllele& allele,
                            ColumnBuilder& column) const {
  const bool is_integer = target.form == Form::kInteger && values.is_integer();
  if (!is_integer && !(target.form == Form::kFloat && values.type == BinaryValues::kFloat)) return false;
  const uint32_t length = values.length();
  const bool by_allele = target.count == Count::kAlternatives && !layout_.choice().is_whole;
  if (!by_allele && length > 1) return false;  // the count is wrong
  const auto index = static_cast<uint32_t>(by_allele ? allele.index : 0);
  int32_t integer = 0;
  float real = 0;
  if (index >= length)
    column.append_null();
  else if (is_integer && values.integer(index, &integer))
    column.append(integer);
  else if (!is_integer && values.real(index, &real))
    column.append(real);
  else
    column.append_null();
  return true;
}

Status Records::append_list(const Layout::Target& target, const BinaryValues& values, ColumnBuilder& column) {
  const uint32_t length = values.length();
  if (length == 0 || (length == 1 && values.is_missing(0))) {
    column.append_null();
    return Status::ok();
  }
  for (uint32_t i = 0; i < length; ++i) {
    int32_t integer = 0;
    float real = 0;
    if (values.is_missing(i))
      column.child(0).append_null();
    else if (target.form == Form::kIntegers)
      values.integer(i, &integer), column.child(0).append(integer);
    else
      values.real(i, &real), column.child(0).append(real);
  }
  if (column.append_list()) return Status::ok();
  return {ErrorCode::kOverBudget, "a record batch has more values than a column can hold"};
}

Status Records::append_value(const Layout::Target& target, const BinaryValues& values, const RowAllele& allele,
                             ColumnBuilder& column) {
  if (append_number(target, values, allele, column)) return Status::ok();
  if ((target.form == Form::kIntegers && values.is_integer()) ||
      (target.form == Form::kFloats && values.type == BinaryValues::kFloat))
    return append_list(target, values, column);
  text_.clear();
  append_text(values, &text_);
  if (values.type == BinaryValues::kChar && !columnar::is_utf8(text_)) return damaged("text that is not valid UTF-8");
  return values_.append(target, text_, allele, column);
}

BinaryValues Records::of_sample(const BinaryValues& first, size_t sample) {
  return {first.type, first.count, first.bytes + sample * first.count * BinaryValues::width(first.type)};
}

Status Records::append_samples(const RowAllele& allele) {
  STROM_TRY(sample_columns_.begin_row(is_present_, has_alleles_));
  for (size_t i = 0; i < is_present_.size(); ++i) {  // flags of samples, which are never NULL
    if (layout_.format()[i].form != Form::kFlag) continue;
    const bool is_there = std::any_of(formats_.begin(), formats_.end(),
                                      [&](const Sampled& sampled) { return sampled.target == static_cast<int>(i); });
    for (size_t k = 0; k < layout_.samples().size(); ++k) sample_columns_.column(k, i).append_bool(is_there);
  }
  for (const Sampled& sampled : formats_) {
    if (sampled.target == Layout::kAlleles) {
      STROM_TRY(append_alleles(sampled.values));
      continue;
    }
    const auto target = static_cast<size_t>(sampled.target);
    if (layout_.format()[target].form == Form::kFlag) continue;
    if (layout_.format()[target].id == "GT" && sampled.values.is_integer()) {
      STROM_TRY(append_genotypes(sampled.values, allele));
      continue;
    }
    for (size_t k = 0; k < layout_.samples().size(); ++k)
      STROM_TRY(append_value(layout_.format()[target], of_sample(sampled.values, layout_.samples()[k]), allele,
                             sample_columns_.column(k, target)));
  }
  return Status::ok();
}

/// True when all genotypes have two alleles, each one digit or a dot.
bool Records::are_pairs(const BinaryValues& values) const {
  if (values.type != BinaryValues::kInt8 || values.count != 2) return false;
  uint8_t most = 0;
  for (size_t i = 0; i < 2 * layout_.line_samples(); ++i) most = std::max(most, static_cast<uint8_t>(values.bytes[i]));
  return most <= GenotypeLabels::kMostCode;
}

/// Writes such genotypes in the form that are_pairs() requires. False: there are others.
bool Records::put_pairs(const BinaryValues& values, char* cells) const {
  if (values.type != BinaryValues::kInt8 || values.count != 2) return false;
  // By code: the allele's number plus one, with the phase in the lowest bit. 0 and 1 stand for a dot.
  constexpr uint32_t kMost = GenotypeLabels::kMostCode;
  const auto character_of = [](uint32_t code) { return code < 2 ? uint32_t{'.'} : (code >> 1) + ('0' - 1); };
  uint32_t is_other = 0;
  for (size_t i = 0; i < layout_.line_samples(); ++i) {
    uint16_t codes;
    std::memcpy(&codes, values.bytes + i * sizeof codes, sizeof codes);
    const uint32_t first = codes & 0xFFU, second = codes >> 8;
    is_other |= (first > kMost ? 1U : 0U) | (second > kMost ? 1U : 0U);
    const uint32_t phase = (second & 1) != 0 ? uint32_t{'|'} : uint32_t{'/'};
    const uint32_t cell = character_of(first) | phase << 8 | character_of(second) << 16 | uint32_t{'\t'} << 24;
    std::memcpy(cells + i * kPairBytes, &cell, sizeof cell);
  }
  return is_other == 0;
}

/// Appends the alleles of diploid genotypes with 8-bit codes. False: there are others.
bool Records::append_pair_alleles(const BinaryValues& values) {
  if (values.type != BinaryValues::kInt8 || values.count != 2 || layout_.choice().ploidy != 2) return false;
  if (layout_.samples().size() != layout_.line_samples()) return false;
  unsigned all = 0, unknown = 0;
  for (size_t i = 0; i < list_.size(); ++i) {
    const auto code = static_cast<uint8_t>(values.bytes[i]);
    const uint8_t is_unknown = code < 2 ? 1 : 0;
    all |= code;
    unknown |= is_unknown;
    list_flags_[i] = is_unknown;
    list_[i] = static_cast<int8_t>((code >> 1) - 1 + is_unknown);
  }
  constexpr unsigned kMark = 0x80;  // of vectors' ends, missing values, and malformed numbers
  if ((all & kMark) != 0) return false;
  sample_columns_.append_alleles(list_.data(), unknown != 0 ? list_flags_.data() : nullptr);
  return true;
}

Status Records::append_genotypes(const BinaryValues& values, const RowAllele& allele) {
  const int target = sample_columns_.genotype_target();
  if (target >= 0 && layout_.format()[static_cast<size_t>(target)].form == Form::kLabel) {
    if (are_pairs(values)) return sample_columns_.add_pairs(values.bytes, allele);
  } else if (target >= 0) {
    char* cells = sample_columns_.pair_room();
    if (put_pairs(values, cells)) return sample_columns_.add_pairs(cells, allele);
  }
  STROM_TRY(sample_columns_.flush_pairs());
  const auto index = static_cast<size_t>(layout_.find_format("GT"));
  for (size_t i = 0; i < layout_.samples().size(); ++i) {
    text_.clear();
    append_genotype(of_sample(values, layout_.samples()[i]), &text_);
    STROM_TRY(values_.append(layout_.format()[index], text_, allele, sample_columns_.column(i, index)));
  }
  return Status::ok();
}

Status Records::append_alleles(const BinaryValues& values) {
  const auto ploidy = static_cast<size_t>(layout_.choice().ploidy);
  list_.resize(layout_.samples().size() * ploidy);
  list_flags_.resize(list_.size());
  if (!values.is_integer() && values.count > 0) return damaged("genotypes that are none");
  if (append_pair_alleles(values)) return Status::ok();
  for (size_t i = 0; i < layout_.samples().size(); ++i) {
    const BinaryValues own = of_sample(values, layout_.samples()[i]);
    const uint32_t length = own.count == 0 ? 0 : own.length();
    int8_t* alleles = list_.data() + i * ploidy;
    uint8_t* flags = list_flags_.data() + i * ploidy;
    int32_t code = 0;
    bool has_known = false;
    for (uint32_t k = 0; k < std::min<size_t>(length, ploidy); ++k) {
      const bool is_known = own.integer(k, &code) && (code >> 1) > 0;
      if (is_known && (code >> 1) - 1 > INT8_MAX)
        return {ErrorCode::kTypeMismatch, "a genotype has an allele that is no number up to 127"};
      has_known |= is_known;
      flags[k] = is_known ? 0 : 1;
      alleles[k] = static_cast<int8_t>(is_known ? (code >> 1) - 1 : 0);
    }
    if (length > ploidy)
      return Status(ErrorCode::kTypeMismatch, "a genotype has more alleles than lists")
          .with_hint("--ploidy says how many there are.");
    // A lone dot, which samples without a genotype also have, counts as all alleles missing.
    const bool is_nothing = length == 0 || (length == 1 && !has_known);
    for (size_t k = is_nothing ? 0 : length; k < ploidy; ++k) {
      flags[k] = is_nothing ? 1 : 0;
      alleles[k] = is_nothing ? 0 : kNoAllele;
    }
  }
  sample_columns_.append_alleles(list_.data(), list_flags_.data());
  return Status::ok();
}

}  // namespace strom::format::vcf
