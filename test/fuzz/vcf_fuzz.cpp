// Any bytes as a VCF file: the header, lines in both forms, and bytes behind the header as records of BCF. The first
// byte chooses options.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/vcf/dictionary.hpp"
#include "format/vcf/records.hpp"
#include "format/vcf/variants.hpp"

using strom::columnar::ColumnBuilder;
using namespace strom::format::vcf;

namespace {

ColumnChoice choice_of(uint8_t bits) {
  ColumnChoice choice;
  choice.is_whole = (bits & 1) != 0;
  choice.wrong_is_null = (bits & 2) != 0;
  choice.undeclared_is_left_out = (bits & 4) != 0;
  choice.numbers_are_texts = (bits & 32) != 0;
  choice.has_end = (bits & 64) != 0;
  constexpr Genotypes kForms[] = {Genotypes::kText, Genotypes::kDosage, Genotypes::kLists, Genotypes::kDictionary};
  choice.genotypes = kForms[bits >> 3 & 3];
  return choice;
}

void append(const Layout& layout, const Dictionary* dictionary, std::string_view bytes) {
  std::vector<ColumnBuilder> columns;
  columns.reserve(layout.fields().size());
  for (const auto& field : layout.fields()) columns.emplace_back(field);
  const auto variants = Variants::create(layout, dictionary, columns);
  // Runs are the whole, and none is empty.
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto run = variants->first_run(rest);
    if (!run.is_ok()) break;
    if (run.value().bytes.empty()) __builtin_trap();
    rest.remove_prefix(run.value().bytes.size());
  }
  if (!variants->append(bytes).is_ok()) return;
  for (const ColumnBuilder& column : columns)
    if (column.length() != variants->counts.rows) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  size_t begin = 0;
  const auto header = parse_header(text, &begin);
  if (!header.is_ok()) return 0;
  constexpr size_t kMostSamples = 64;
  if (header.value().samples.size() > kMostSamples) return 0;
  const auto layout = Layout::create(header.value(), choice_of(data[0]));
  if (!layout.is_ok()) return 0;
  const std::string_view rest = text.substr(begin);
  append(layout.value(), nullptr, rest);
  const auto dictionary = parse_dictionary(text.substr(0, begin));
  if (!dictionary.is_ok()) return 0;
  const auto whole = whole_records(rest);
  if (whole.is_ok() && whole.value() > rest.size()) __builtin_trap();
  append(layout.value(), &dictionary.value(), whole.is_ok() ? rest.substr(0, whole.value()) : rest);
  return 0;
}
