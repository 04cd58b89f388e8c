// The meaning of numbers in records of BCF. Used by records.cpp and vcf2arrow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace strom::format::vcf {

/// Names by number, empty where there is none.
struct Dictionary {
  std::vector<std::string> names;        // of FILTER, INFO and FORMAT
  std::vector<std::string> chromosomes;  // of contig lines
};

/// Parses the text of a header. Errors: kCorruptFile.
Result<Dictionary> parse_dictionary(std::string_view header);

}  // namespace strom::format::vcf
