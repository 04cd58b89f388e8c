#include "pg/explain/lines.hpp"

#include <cstdio>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/explain.hpp"

namespace strom::pg::explain {

using boundary::guard;

std::string format_bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1000 && unit < 5; ++unit) value /= 1024;
  const int decimals = unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f%s", decimals, value, kUnits[unit]);
  return text;
}

void explain_statistics(const std::vector<std::string>& conditions, int64_t loaded, int64_t skipped, ExplainState* es) {
  if (conditions.empty()) return;
  std::string text;
  for (const std::string& condition : conditions) text += (text.empty() ? "" : ", ") + condition;
  const bool plain = es->format == EXPLAIN_FORMAT_TEXT;
  if (plain && loaded >= 0)
    text += "  [loaded: " + std::to_string(loaded) + ", skipped: " + std::to_string(skipped) + "]";
  guard([&] { ExplainPropertyText("Stats-Hint", text.c_str(), es); });
  if (plain || loaded < 0) return;
  guard([&] {
    ExplainPropertyInteger("Stats-Hint Loaded", nullptr, loaded, es);
    ExplainPropertyInteger("Stats-Hint Skipped", nullptr, skipped, es);
  });
}

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
             (unit == nullptr ? std::to_string(count) : format_bytes(count));
  }
  if (shown.empty()) return;
  shown += "]";
  guard([&] { ExplainPropertyText(label.c_str(), shown.c_str(), es); });
}

void explain_cached(ExplainState* es, const std::string& what, int64_t cached, const std::string& otherwise,
                    int64_t others, int64_t filled) {
  const std::string property = "Column Cache " + what;
  if (filled > 0)
    explain_counts(es, "Column Cache", property, nullptr, {{"Kept", cached}, {otherwise, others}, {"Filled", filled}});
  else if (cached > 0)
    explain_counts(es, "Column Cache", property, nullptr, {{"Kept", cached}, {otherwise, others}});
}

}  // namespace strom::pg::explain
