// Any bytes as a VCF file: the header, and lines in both forms. The first byte chooses options.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/vcf/columns.hpp"

using strom::columnar::ColumnBuilder;
using namespace strom::format::vcf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  size_t begin = 0;
  const auto header = parse_header(text, &begin);
  if (!header.is_ok()) return 0;
  ColumnChoice choice;
  choice.is_whole = (data[0] & 1) != 0;
  choice.wrong_is_null = (data[0] & 2) != 0;
  choice.undeclared_is_left_out = (data[0] & 4) != 0;
  choice.genotypes = (data[0] & 8) != 0 ? Genotypes::kDosage : Genotypes::kText;
  constexpr size_t kMostSamples = 64;
  if (header.value().samples.size() > kMostSamples) return 0;
  const auto layout = Layout::create(header.value(), choice);
  if (!layout.is_ok()) return 0;
  std::vector<ColumnBuilder> columns;
  columns.reserve(layout.value().fields().size());
  for (const auto& field : layout.value().fields()) columns.emplace_back(field);
  Variants variants(layout.value(), columns);
  if (!variants.append(text.substr(begin)).is_ok()) return 0;
  for (const ColumnBuilder& column : columns)
    if (column.length() != variants.counts.rows) __builtin_trap();
  return 0;
}
