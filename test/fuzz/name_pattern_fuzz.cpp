// Fuzzer of patterns of file names, from which virtual columns have their values: a pattern up to the first zero byte,
// then a name. What fits is put together again from its parts.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_pattern.hpp"

using strom::base::NamePattern;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  constexpr size_t kLongest = 1024;  // file names are no longer than 4096, and the time grows with the product
  if (size > kLongest) return 0;
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const size_t end = input.find('\0');
  if (end == std::string_view::npos) return 0;
  const auto pattern = NamePattern::parse(input.substr(0, end));
  if (!pattern.is_ok()) return 0;
  const std::string name(input.substr(end + 1));
  std::vector<std::string_view> values;
  if (!pattern.value().match(name, &values)) return 0;
  if (values.size() != pattern.value().keys().size()) __builtin_trap();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].data() < name.data() || values[i].data() + values[i].size() > name.data() + name.size())
      __builtin_trap();
    if (!pattern.value().keys()[i].is_number) continue;
    if (values[i].empty()) __builtin_trap();
    for (const char c : values[i])
      if (c < '0' || c > '9') __builtin_trap();
  }
  return 0;
}
