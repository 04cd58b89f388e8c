#include "pg/source/explain_counts.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/files/explain.hpp"

namespace strom::pg::source {

using boundary::guard;

void explain_counts(ExplainState* es, const std::string& label, const std::string& property, const char* unit,
                    std::initializer_list<std::pair<std::string, int64_t>> counts) {
  std::string shown;
  for (const auto& [name, count] : counts) {
    if (es->format != EXPLAIN_FORMAT_TEXT) {
      const std::string one = property + " " + name;
      const int64_t value = count;
      guard([&] { ExplainPropertyInteger(one.c_str(), unit, value, es); });
      continue;
    }
    const auto initial = static_cast<char>(name[0] - 'A' + 'a');
    shown += (shown.empty() ? "[" : ", ") + (initial + name.substr(1)) + ": " +
             (unit == nullptr ? std::to_string(count) : files::format_bytes(count));
  }
  if (shown.empty()) return;
  shown += "]";
  guard([&] { ExplainPropertyText(label.c_str(), shown.c_str(), es); });
}

void explain_cached(ExplainState* es, const std::string& what, int64_t cached, const std::string& otherwise,
                    int64_t others) {
  if (cached > 0)
    explain_counts(es, "Column Cache", "Column Cache " + what, nullptr, {{"Kept", cached}, {otherwise, others}});
}

}  // namespace strom::pg::source
