#include "format/vcf/header.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace strom::format::vcf {
namespace {

constexpr std::string_view kColumns[] = {"#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"};
constexpr size_t kFixedColumns = 8;

Status damaged(int64_t line, const std::string& what) {
  return {ErrorCode::kCorruptFile, what + " in line " + std::to_string(line)};
}

/// Keys and values of the text between < and >. Values may be in quotes, with backslashes.
class Attributes {
 public:
  explicit Attributes(std::string_view text) : rest_(text) {}

  /// False at the end, or when what follows is not an attribute (is_wrong()).
  bool next(std::string_view* key, std::string* value) {
    if (rest_.empty()) return false;
    const size_t sign = rest_.find('=');
    if (sign == std::string_view::npos) return fail();
    *key = rest_.substr(0, sign);
    rest_.remove_prefix(sign + 1);
    value->clear();
    return rest_.starts_with('"') ? quoted(value) : bare(value);
  }
  bool is_wrong() const { return wrong_; }

 private:
  bool fail() {
    wrong_ = true;
    return false;
  }
  bool bare(std::string* value) {
    const size_t comma = std::min(rest_.find(','), rest_.size());
    value->assign(rest_.substr(0, comma));
    rest_.remove_prefix(std::min(comma + 1, rest_.size()));
    return true;
  }
  bool quoted(std::string* value) {
    size_t at = 1;
    for (; at < rest_.size() && rest_[at] != '"'; ++at) {
      if (rest_[at] == '\\' && at + 1 < rest_.size()) ++at;
      value->push_back(rest_[at]);
    }
    if (at >= rest_.size()) return fail();
    rest_.remove_prefix(at + 1);
    if (rest_.empty()) return true;
    if (rest_[0] != ',') return fail();
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  bool wrong_ = false;
};

bool set_number(const std::string& text, FieldDefinition* field) {
  if (text == "A") return field->count = Count::kAlternatives, true;
  if (text == "R") return field->count = Count::kAlleles, true;
  if (text == "G") return field->count = Count::kGenotypes, true;
  // LA, LR, LG, P and M of VCF 4.4 and 4.5 depend on other fields, so their number is open. Early files of VCF 4.0 have
  // -1 for an open one.
  if (text == "." || text == "-1" || text == "LA" || text == "LR" || text == "LG" || text == "P" || text == "M")
    return field->count = Count::kAny, true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field->number);
  field->count = Count::kFixed;
  return error == std::errc() && end == text.data() + text.size() && field->number >= 0;
}

bool set_type(const std::string& text, FieldDefinition* field) {
  constexpr std::pair<std::string_view, ValueType> kTypes[] = {{"Integer", ValueType::kInteger},
                                                               {"Float", ValueType::kFloat},
                                                               {"Flag", ValueType::kFlag},
                                                               {"Character", ValueType::kCharacter},
                                                               {"String", ValueType::kString}};
  for (const auto& [name, type] : kTypes) {
    if (name != text) continue;
    field->type = type;
    return true;
  }
  return false;
}

/// Sees through what programs have declared wrongly.
void correct(bool is_info, FieldDefinition* field) {
  // A key of INFO without a value is a flag, whatever its type. Samples have a value for each key.
  if (is_info && field->count == Count::kFixed && field->number == 0) field->type = ValueType::kFlag;
  if (field->type == ValueType::kFlag) {
    field->count = Count::kFixed;
    field->number = 0;
  }
  if (!is_info && field->id == "GT") {
    field->type = ValueType::kString;
    field->count = Count::kFixed;
    field->number = 1;
  }
}

/// Parses the text after ##INFO= or ##FORMAT=.
Status parse_field(std::string_view text, int64_t line, bool is_info, std::vector<FieldDefinition>* fields) {
  if (!text.starts_with('<') || !text.ends_with('>')) return damaged(line, "a definition without < and >");
  FieldDefinition field;
  Attributes attributes(text.substr(1, text.size() - 2));
  std::string_view key;
  std::string value;
  bool has_number = false, has_type = false;
  while (attributes.next(&key, &value)) {
    if (key == "ID") {
      field.id = value;
    } else if (key == "Description") {
      field.description = value;
    } else if (key == "Number") {
      if (!set_number(value, &field)) return damaged(line, "Number=" + value + ", which is no number of values,");
      has_number = true;
    } else if (key == "Type") {
      if (!set_type(value, &field)) return damaged(line, "Type=" + value + ", which is no type of VCF,");
      has_type = true;
    }
  }
  if (attributes.is_wrong()) return damaged(line, "a definition whose attributes cannot be told apart");
  if (field.id.empty() || !has_number || !has_type) return damaged(line, "a definition without ID, Number or Type");
  correct(is_info, &field);
  const auto known =
      std::find_if(fields->begin(), fields->end(), [&](const auto& other) { return other.id == field.id; });
  if (known == fields->end()) fields->push_back(std::move(field));  // the first definition counts, as in htslib
  return Status::ok();
}

Status parse_columns(std::string_view text, int64_t line, Header* header) {
  std::unordered_set<std::string_view> known;
  size_t column = 0;
  for (size_t begin = 0; begin <= text.size(); ++column) {
    const size_t end = std::min(text.find('\t', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    begin = end + 1;
    if (column < std::size(kColumns)) {
      if (name != kColumns[column])
        return damaged(line,
                       "column \"" + std::string(name) + "\" instead of \"" + std::string(kColumns[column]) + "\"");
      continue;
    }
    if (name.empty()) return damaged(line, "a sample without a name");
    if (!known.insert(name).second) return damaged(line, "sample \"" + std::string(name) + "\" for the second time");
    header->samples.emplace_back(name);
  }
  if (column < kFixedColumns) return damaged(line, "fewer than eight columns");
  return Status::ok();
}

void add_fact(std::string_view key, std::string_view value, Header* header) {
  if (key == "reference") return header->facts.emplace_back("reference", value), void();
  if (key != "FILTER" || !value.starts_with('<') || !value.ends_with('>')) return;
  Attributes attributes(value.substr(1, value.size() - 2));
  std::string_view name;
  std::string text, id, description;
  while (attributes.next(&name, &text)) {
    if (name == "ID") id = text;
    if (name == "Description") description = text;
  }
  if (!id.empty()) header->facts.emplace_back("filter." + id, description);
}

}  // namespace

bool has_whole_header(std::string_view text) {
  size_t at = text.starts_with("#CHROM") ? 0 : text.find("\n#CHROM");
  return at != std::string_view::npos && text.find('\n', at + 1) != std::string_view::npos;
}

Result<Header> parse_header(std::string_view text, size_t* bytes) {
  Header header;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at = end + 1;
    ++header.lines;
    if (header.lines == 1) {
      constexpr std::string_view kFormat = "##fileformat=";
      if (!line.starts_with(kFormat) || !line.substr(kFormat.size()).starts_with("VCFv4."))
        return Status(ErrorCode::kCorruptFile, "not a VCF file of version 4: line 1 is not ##fileformat=VCFv4.…");
      header.version = line.substr(kFormat.size());
      header.facts.emplace_back("fileformat", header.version);
      continue;
    }
    if (!line.starts_with("##")) {
      STROM_TRY(parse_columns(line, header.lines, &header));
      *bytes = std::min(at, text.size());
      return header;
    }
    const size_t sign = line.find('=');
    if (sign == std::string_view::npos) continue;  // ##text, which old programs have written
    const std::string_view key = line.substr(2, sign - 2), value = line.substr(sign + 1);
    if (key == "INFO")
      STROM_TRY(parse_field(value, header.lines, true, &header.info));
    else if (key == "FORMAT")
      STROM_TRY(parse_field(value, header.lines, false, &header.format));
    else
      add_fact(key, value, &header);
  }
  return Status(ErrorCode::kCorruptFile, "the header has no line that begins with #CHROM");
}

}  // namespace strom::format::vcf
