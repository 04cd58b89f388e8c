#include "format/vcf/columns.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "columnar/utf8.hpp"

namespace strom::format::vcf {

using columnar::ColumnBuilder;
using columnar::Field;

namespace {

enum FixedColumn : size_t { kChrom, kPos, kId, kRef, kAlt, kQual, kFilter, kInfo };
constexpr size_t kOwnColumns = kInfo;  // INFO is many

Status damaged(const std::string& what) { return {ErrorCode::kCorruptFile, what}; }

bool is_missing(std::string_view value) { return value.empty() || value == "."; }

std::string shortened(std::string_view text) {
  constexpr size_t kMost = 60;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
}

/// The part of a list with commas that has an index; nothing where the list is shorter.
std::string_view part_of(std::string_view list, size_t index) {
  for (; index > 0; --index) {
    const size_t comma = list.find(',');
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
  return list.substr(0, std::min(list.find(','), list.size()));
}

bool parse_integer(std::string_view text, int32_t* value) {
  const char* begin = text.data();
  if (text.size() > 1 && text[0] == '+') ++begin;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Numbers with few digits, which most are, without rounding twice: both parts are exact as doubles.
bool parse_short_float(std::string_view text, float* value) {
  constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
  constexpr size_t kMostDigits = 8;
  if (text.empty() || text.size() > kMostDigits) return false;
  uint64_t digits = 0;
  size_t point = text.size(), count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      digits = digits * 10 + static_cast<uint64_t>(c - '0');
      ++count;
    } else if (c == '.' && point == text.size()) {
      point = i;
    } else {
      return false;
    }
  }
  // At most seven digits are exact in a float, and so are powers up to 10^7: one rounding.
  if (count == 0 || digits > 16777216) return false;
  const size_t places = point == text.size() ? 0 : text.size() - point - 1;
  *value = static_cast<float>(digits) / static_cast<float>(kPowers[places]);
  return true;
}

bool parse_float(std::string_view text, float* value) {
  if (parse_short_float(text, value)) return true;
  const char* begin = text.data();
  if (text.size() > 1 && text[0] == '+') ++begin;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), *value);
  if (end != text.data() + text.size()) return false;
  if (error == std::errc()) return true;
  // Beyond a float's range: what the nearest float is.
  double wide = 0;
  if (std::from_chars(begin, text.data() + text.size(), wide).ec != std::errc()) return false;
  *value = static_cast<float>(wide);
  return true;
}

void append_nulls(ColumnBuilder& column, int64_t count) {
  struct Text {
    const char* ptr;
    int64_t len;
  };
  constexpr int64_t kBlock = 4096;
  static const std::vector<uint8_t> all_null(kBlock, 1);
  const columnar::Layout layout = column.field().layout;
  for (; count > 0; count -= kBlock) {
    const int64_t rows = std::min(count, kBlock);
    if (layout == columnar::Layout::kUtf8) {
      (void)column.append_texts<Text>(nullptr, all_null.data(), rows);  // no bytes, so there is room for them
    } else if (layout == columnar::Layout::kList) {
      for (int64_t i = 0; i < rows; ++i) column.append_null();
    } else {
      const int64_t width = layout == columnar::Layout::kInt8 ? 1 : sizeof(int32_t);
      std::memset(column.append_fixed(all_null.data(), rows), 0, static_cast<size_t>(rows * width));
    }
  }
}

bool is_chosen(const std::vector<std::string>& chosen, const std::string& name) {
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end();
}

Status check_names(const std::vector<std::string>& chosen, const std::vector<FieldDefinition>& fields,
                   const char* where) {
  for (const std::string& name : chosen) {
    if (std::none_of(fields.begin(), fields.end(), [&](const auto& field) { return field.id == name; }))
      return {ErrorCode::kInvalidParameter, std::string(where) + " has no field \"" + name + "\""};
  }
  return Status::ok();
}

Field make_field(const char* name, columnar::Layout layout, bool nullable) {
  Field field;
  field.name = name;
  field.layout = layout;
  field.nullable = nullable;
  return field;
}

}  // namespace

// ---- Layout ----

Layout::Target Layout::target_of(const FieldDefinition& definition, bool is_format, Field* field) const {
  Target target{definition.id, Form::kText, definition.count};
  field->layout = columnar::Layout::kUtf8;
  field->metadata.emplace_back("description", definition.description);
  const bool is_single = (definition.count == Count::kFixed && definition.number <= 1) ||
                         (definition.count == Count::kAlternatives && !choice_.is_whole);
  if (is_format && definition.id == "GT" && choice_.genotypes == Genotypes::kDosage) {
    target.form = Form::kDosage;
    field->layout = columnar::Layout::kInt8;
    return target;
  }
  if (definition.type == ValueType::kFlag) {
    target.form = Form::kFlag;
    field->layout = columnar::Layout::kBool;
    field->nullable = false;
    return target;
  }
  const bool is_number =
      !choice_.numbers_are_texts && (definition.type == ValueType::kInteger || definition.type == ValueType::kFloat);
  const bool is_integer = definition.type == ValueType::kInteger;
  const auto number = is_integer ? columnar::Layout::kInt32 : columnar::Layout::kFloat32;
  if (is_single) {
    if (!is_number) return target;
    target.form = is_integer ? Form::kInteger : Form::kFloat;
    field->layout = number;
  } else if (choice_.is_whole) {
    target.form = !is_number ? Form::kTexts : is_integer ? Form::kIntegers : Form::kFloats;
    field->layout = columnar::Layout::kList;
    field->children = {make_field("item", is_number ? number : columnar::Layout::kUtf8, true)};
  }
  return target;
}

Status Layout::choose_samples(const Header& header) {
  is_sample_chosen_.assign(header.samples.size(), choice_.no_samples ? 0 : choice_.samples.empty() ? 1 : 0);
  for (const std::string& name : choice_.samples) {
    const auto found = std::find(header.samples.begin(), header.samples.end(), name);
    if (found == header.samples.end()) return {ErrorCode::kInvalidParameter, "there is no sample \"" + name + "\""};
    is_sample_chosen_[static_cast<size_t>(found - header.samples.begin())] = 1;
  }
  sample_count_ = std::count(is_sample_chosen_.begin(), is_sample_chosen_.end(), 1);
  return Status::ok();
}

Result<Layout> Layout::create(const Header& header, const ColumnChoice& choice) {
  Layout layout;
  layout.choice_ = choice;
  STROM_TRY(check_names(choice.info, header.info, "INFO"));
  STROM_TRY(check_names(choice.format, header.format, "FORMAT"));
  STROM_TRY(layout.choose_samples(header));
  using L = columnar::Layout;
  layout.fields_ = {make_field("chrom", L::kUtf8, false), make_field("pos", L::kInt32, false),
                    make_field("id", L::kUtf8, true),     make_field("ref", L::kUtf8, false),
                    make_field("alt", L::kUtf8, true),    make_field("qual", L::kFloat32, true),
                    make_field("filter", L::kUtf8, true)};
  for (const FieldDefinition& definition : header.info) {
    const bool chosen = !choice.no_info && is_chosen(choice.info, definition.id);
    layout.known_info_[definition.id] = chosen ? static_cast<int>(layout.info_.size()) : -1;
    if (!chosen) continue;
    Field field = make_field(("info__" + definition.id).c_str(), L::kUtf8, true);
    layout.info_.push_back(layout.target_of(definition, false, &field));
    layout.fields_.push_back(std::move(field));
  }
  std::vector<Field> of_sample;
  for (const FieldDefinition& definition : header.format) {
    const bool chosen = layout.sample_count_ > 0 && is_chosen(choice.format, definition.id);
    layout.known_format_[definition.id] = chosen ? static_cast<int>(layout.format_.size()) : -1;
    if (!chosen) continue;
    Field field = make_field(("__" + definition.id).c_str(), L::kUtf8, true);
    layout.format_.push_back(layout.target_of(definition, true, &field));
    of_sample.push_back(std::move(field));
  }
  int64_t number = 0;
  for (size_t i = 0; i < header.samples.size(); ++i) {
    if (layout.is_sample_chosen_[i] == 0) continue;
    const std::string name = "sample" + std::to_string(++number);
    layout.metadata_.emplace_back(name + "_key", header.samples[i]);
    for (Field field : of_sample) {
      field.name = name + field.name;
      layout.fields_.push_back(std::move(field));
    }
  }
  return layout;
}

// ---- Variants ----

Variants::Variants(const Layout& layout, std::vector<ColumnBuilder>& columns)
    : layout_(layout),
      columns_(columns),
      info_(layout.info_.size()),
      is_present_(layout.format_.size()),
      absent_(layout.format_.size()),
      cell_(layout.format_.size()) {}

Status Variants::append(std::string_view text) {
  line_ = 0;
  while (!text.empty()) {
    const auto* end = static_cast<const char*>(std::memchr(text.data(), '\n', text.size()));
    const size_t length = end == nullptr ? text.size() : static_cast<size_t>(end - text.data());
    ++line_;
    std::string_view line = text.substr(0, length);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) STROM_TRY(append_line(line));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  for (size_t i = 0; i < absent_.size(); ++i) append_absent(i);
  return Status::ok();
}

Status Variants::append_line(std::string_view line) {
  std::string_view rest = line;
  for (size_t i = 0; i < kFixed; ++i) {
    const auto* tab = rest.empty() ? nullptr : static_cast<const char*>(std::memchr(rest.data(), '\t', rest.size()));
    if (tab == nullptr && i + 1 < kFixed) return damaged("fewer than eight columns");
    const size_t length = tab == nullptr ? rest.size() : static_cast<size_t>(tab - rest.data());
    fixed_[i] = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  // What the builders take has to be UTF-8; nearly all lines are ASCII, for which this is a pass of vector code.
  if (!columnar::is_utf8(line)) return damaged("text that is not valid UTF-8");
  STROM_TRY(find_info(fixed_[kInfo]));
  samples_ = {};
  if (layout_.sample_count_ > 0) {
    const size_t tab = rest.find('\t');
    if (tab == std::string_view::npos && !layout_.is_sample_chosen_.empty())
      return damaged("no columns of samples, of which the header has " +
                     std::to_string(layout_.is_sample_chosen_.size()));
    STROM_TRY(find_format(rest.substr(0, tab)));
    samples_ = rest.substr(tab + 1);
  }
  ++counts.variants;
  if (layout_.choice_.is_whole) return append_row(0);
  alleles_.clear();
  for (std::string_view list = fixed_[kAlt];;) {
    const size_t comma = std::min(list.find(','), list.size());
    alleles_.push_back(list.substr(0, comma));
    if (comma == list.size()) break;
    list.remove_prefix(comma + 1);
  }
  for (size_t allele = 0; allele < alleles_.size(); ++allele) STROM_TRY(append_row(allele));
  return Status::ok();
}

/// The target of a key, -1: it is not chosen, -2: it is not known. Lines have their keys in the same order mostly:
/// `expected` is the place in that order.
int Variants::find_key(std::string_view key, size_t expected) const {
  if (expected < order_.size()) {
    const int guess = order_[expected];
    if (guess >= 0 && layout_.info_[static_cast<size_t>(guess)].id == key) return guess;
  }
  const auto found = layout_.known_info_.find(std::string(key));
  return found == layout_.known_info_.end() ? -2 : found->second;
}

Status Variants::find_info(std::string_view text) {
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
    if (target == -2) {
      if (!layout_.choice_.undeclared_is_left_out)
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

Status Variants::find_format(std::string_view text) {
  if (text == format_text_ && !format_order_.empty()) return Status::ok();
  format_text_ = text;
  format_order_.clear();
  while (!text.empty()) {
    const size_t end = std::min(text.find(':'), text.size());
    const auto found = layout_.known_format_.find(std::string(text.substr(0, end)));
    if (found == layout_.known_format_.end()) {
      if (!layout_.choice_.undeclared_is_left_out)
        return damaged("FORMAT has the field \"" + shortened(text.substr(0, end)) +
                       "\", which the header does not have");
      ++counts.undeclared;
    }
    format_order_.push_back(found == layout_.known_format_.end() ? -1 : found->second);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (size_t i = 0; i < is_present_.size(); ++i)
    is_present_[i] = layout_.format_[i].form == Layout::Form::kFlag ? 1 : 0;
  for (const int target : format_order_)
    if (target >= 0) is_present_[static_cast<size_t>(target)] = 1;
  present_.clear();
  for (size_t i = 0; i < is_present_.size(); ++i)
    if (is_present_[i] != 0) present_.push_back(i);
  return Status::ok();
}

Status Variants::append_text(std::string_view value, ColumnBuilder& column) {
  if (column.append_bytes(value.data(), static_cast<int64_t>(value.size()))) return Status::ok();
  return {ErrorCode::kOverBudget, "a record batch has more text than a column can hold"};
}

Status Variants::append_row(size_t allele) {
  const bool is_whole = layout_.choice_.is_whole;
  for (const FixedColumn i : {kChrom, kId, kRef, kAlt, kFilter}) {
    const std::string_view value = i == kAlt && !is_whole ? alleles_[allele] : fixed_[i];
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
    STROM_TRY(append_value(layout_.info_[i], info_[i], allele, columns_[kOwnColumns + i]));
  ++counts.rows;
  return layout_.sample_count_ > 0 ? append_samples(allele) : Status::ok();
}

/// Rows in which no sample has a field become NULLs of all samples at once, column by column. With thousands of samples
/// there are so many columns that to visit each for each row takes longer than all else.
void Variants::append_absent(size_t target) {
  const int64_t rows = std::exchange(absent_[target], 0);
  if (rows == 0) return;
  for (size_t at = kOwnColumns + info_.size() + target; at < columns_.size(); at += cell_.size())
    append_nulls(columns_[at], rows);
}

Status Variants::append_samples(size_t allele) {
  std::string_view rest = samples_;
  size_t column = kOwnColumns + info_.size();
  for (size_t i = 0; i < absent_.size(); ++i) {
    if (is_present_[i] != 0)
      append_absent(i);
    else
      ++absent_[i];
  }
  for (size_t sample = 0; sample < layout_.is_sample_chosen_.size(); ++sample) {
    if (rest.data() == nullptr) return damaged("fewer samples than the header has");
    const auto* tab = static_cast<const char*>(std::memchr(rest.data(), '\t', rest.size()));
    std::string_view cell = tab == nullptr ? rest : rest.substr(0, static_cast<size_t>(tab - rest.data()));
    rest = tab == nullptr ? std::string_view() : rest.substr(static_cast<size_t>(tab - rest.data()) + 1);
    if (layout_.is_sample_chosen_[sample] == 0) continue;
    for (const size_t target : present_) cell_[target] = {};
    // Fields at the end may be left out.
    for (const int target : format_order_) {
      const size_t end = std::min(cell.find(':'), cell.size());
      if (target >= 0) cell_[static_cast<size_t>(target)] = cell.substr(0, end);
      if (end == cell.size()) break;
      cell.remove_prefix(end + 1);
    }
    for (const size_t target : present_)
      STROM_TRY(append_value(layout_.format_[target], cell_[target], allele, columns_[column + target]));
    column += cell_.size();
  }
  return rest.data() == nullptr ? Status::ok() : damaged("more samples than the header has");
}

Status Variants::append_value(const Target& target, std::string_view value, size_t allele, ColumnBuilder& column) {
  using Form = Layout::Form;
  if (target.form == Form::kFlag) {
    column.append_bool(value.data() != nullptr);
    return Status::ok();
  }
  if (is_missing(value)) {
    column.append_null();
    return Status::ok();
  }
  if (target.form == Form::kDosage) {
    append_dosage(value, allele, column);
    return Status::ok();
  }
  if (layout_.choice_.is_whole) return append_all(target, value, column);
  if (target.count == Count::kAlternatives) value = part_of(value, allele);
  if (target.count == Count::kAlleles) {  // the reference's and the row's
    const size_t comma = value.find(',');
    if (comma != std::string_view::npos && alleles_.size() > 1) {
      pair_.assign(value.substr(0, comma)).append(",").append(part_of(value, allele + 1));
      value = pair_;
    }
  }
  return append_one(target, value, column);
}

Status Variants::append_one(const Target& target, std::string_view value, ColumnBuilder& column) {
  if (is_missing(value)) {
    column.append_null();
    return Status::ok();
  }
  if (target.form == Layout::Form::kInteger || target.form == Layout::Form::kIntegers) {
    int32_t number = 0;
    if (!parse_integer(value, &number)) return wrong_number(target, value, column);
    column.append(number);
    return Status::ok();
  }
  if (target.form == Layout::Form::kFloat || target.form == Layout::Form::kFloats) {
    float number = 0;
    if (!parse_float(value, &number)) return wrong_number(target, value, column);
    column.append(number);
    return Status::ok();
  }
  return append_text(value, column);
}

Status Variants::append_all(const Target& target, std::string_view value, ColumnBuilder& column) {
  if (target.form < Layout::Form::kIntegers) return append_one(target, value, column);
  for (;;) {
    const size_t comma = std::min(value.find(','), value.size());
    STROM_TRY(append_one(target, value.substr(0, comma), column.child(0)));
    if (comma == value.size()) break;
    value.remove_prefix(comma + 1);
  }
  if (column.append_list()) return Status::ok();
  return {ErrorCode::kOverBudget, "a record batch has more values than a column can hold"};
}

Status Variants::wrong_number(const Target& target, std::string_view value, ColumnBuilder& column) {
  if (!layout_.choice_.wrong_is_null)
    return Status(ErrorCode::kTypeMismatch,
                  "\"" + shortened(value) + "\" is no number that field \"" + target.id + "\" can have")
        .with_hint("--unconvertible-numeric-as-null makes it NULL, --disable-numeric-conversion keeps all as text.");
  ++counts.wrong_numbers;
  column.append_null();
  return Status::ok();
}

/// NULL where an allele is not known.
void Variants::append_dosage(std::string_view genotype, size_t allele, ColumnBuilder& column) const {
  int8_t dosage = 0;
  const bool is_whole = layout_.choice_.is_whole;
  while (!genotype.empty()) {
    // VCF 4.4 may say the phase of the first allele before it.
    if (genotype[0] == '|' || genotype[0] == '/') {
      genotype.remove_prefix(1);
      continue;
    }
    const size_t end = std::min(genotype.find_first_of("|/"), genotype.size());
    int32_t number = 0;
    if (!parse_integer(genotype.substr(0, end), &number)) return column.append_null();
    dosage =
        static_cast<int8_t>(dosage + ((is_whole ? number > 0 : number == static_cast<int32_t>(allele) + 1) ? 1 : 0));
    genotype.remove_prefix(end);
  }
  column.append(dosage);
}

}  // namespace strom::format::vcf
