// The known name that a misspelt one most likely meant, for error messages of option parsers (foreign tables, tools).
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace strom::base {

/// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein's distance), in bytes.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// The one of `known` nearest to `name`, or an empty view when none is near (more than half of it would change).
inline std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  size_t best_distance = name.size() / 2 + 1;
  for (std::string_view candidate : known) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace strom::base
