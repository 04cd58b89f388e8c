#include "format/vcf/layout.hpp"

#include <algorithm>
#include <utility>

namespace strom::format::vcf {

using columnar::Field;

namespace {

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

Field make_field(const std::string& name, columnar::Layout layout, bool nullable) {
  Field field;
  field.name = name;
  field.layout = layout;
  field.nullable = nullable;
  return field;
}

}  // namespace

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
    if (is_format && !is_number && definition.id == "GT" && choice_.genotypes == Genotypes::kDictionary) {
      target.form = Form::kLabel;
      field->dictionary = true;
      field->index = columnar::Layout::kInt16;
      field->dictionary_id = kLabelsId;
    }
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
  line_samples_ = header.samples.size();
  std::vector<uint8_t> chosen(line_samples_, choice_.no_samples ? 0 : choice_.samples.empty() ? 1 : 0);
  for (const std::string& name : choice_.samples) {
    const auto found = std::find(header.samples.begin(), header.samples.end(), name);
    if (found == header.samples.end()) return {ErrorCode::kInvalidParameter, "there is no sample \"" + name + "\""};
    chosen[static_cast<size_t>(found - header.samples.begin())] = 1;
  }
  for (size_t i = 0; i < line_samples_; ++i)
    if (chosen[i] != 0) samples_.push_back(i);
  return Status::ok();
}

Status Layout::add_alleles(const FieldDefinition& definition) {
  const int64_t elements = static_cast<int64_t>(samples_.size()) * choice_.ploidy;
  if (elements > INT32_MAX) return {ErrorCode::kInvalidParameter, "a list cannot have the alleles of so many samples"};
  Field field = make_field("samples__GT", columnar::Layout::kFixedList, true);
  field.byte_width = static_cast<int32_t>(elements);
  field.children = {make_field("item", columnar::Layout::kInt8, true)};
  field.metadata.emplace_back("description", definition.description);
  field.metadata.emplace_back("ploidy", std::to_string(choice_.ploidy));
  fields_.push_back(std::move(field));
  has_alleles_ = true;
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
    layout.known_info_[definition.id] = chosen ? static_cast<int>(layout.info_.size()) : kNotChosen;
    if (!chosen) continue;
    Field field = make_field("info__" + definition.id, L::kUtf8, true);
    layout.info_.push_back(layout.target_of(definition, false, &field));
    layout.fields_.push_back(std::move(field));
  }
  std::vector<Field> of_sample;
  for (const FieldDefinition& definition : header.format) {
    const bool chosen = !layout.samples_.empty() && is_chosen(choice.format, definition.id);
    int& known = layout.known_format_[definition.id];
    known = kNotChosen;
    if (!chosen) continue;
    if (definition.id == "GT" && choice.genotypes == Genotypes::kLists) {
      known = kAlleles;
      STROM_TRY(layout.add_alleles(definition));
      continue;
    }
    known = static_cast<int>(layout.format_.size());
    Field field = make_field("__" + definition.id, L::kUtf8, true);
    layout.format_.push_back(layout.target_of(definition, true, &field));
    if (field.dictionary) layout.labels_ = std::make_shared<columnar::Labels>(std::vector<std::string>(), true);
    of_sample.push_back(std::move(field));
  }
  for (size_t i = 0; i < layout.samples_.size(); ++i) {
    const std::string name = "sample" + std::to_string(i + 1);
    layout.metadata_.emplace_back(name + "_key", header.samples[layout.samples_[i]]);
    for (Field field : of_sample) {
      field.name = name + field.name;
      layout.fields_.push_back(std::move(field));
    }
  }
  if (choice.has_end) layout.fields_.push_back(make_field("end_pos", L::kInt32, false));
  return layout;
}

}  // namespace strom::format::vcf
