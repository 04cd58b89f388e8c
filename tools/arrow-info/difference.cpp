// See difference.hpp.
#include "arrow-info/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "arrow_files/workers.hpp"
#include "columnar/layout.hpp"
#include "columnar/text.hpp"
#include "format/csv/row_text.hpp"

namespace strom::tool {

using columnar::ColumnView;
using columnar::Field;
using columnar::KeyValues;
using columnar::Layout;
using format::arrow::FileReader;

namespace {

/// Rows of one column, record batch after record batch.
class ColumnCursor {
 public:
  ColumnCursor(const FileReader& file, int column) : file_(file), column_(column) {}

  /// Moves to the next batch that has rows; false at the end.
  Result<bool> fill() {
    while (left() == 0) {
      if (batch_ + 1 >= file_.batch_count()) return false;
      STROM_ASSIGN(view_, file_.column(++batch_, column_));
      row_ = 0;
    }
    return true;
  }
  int64_t left() const { return batch_ < 0 ? 0 : view_.length - row_; }
  void advance(int64_t rows) { row_ += rows; }
  const ColumnView& view() const { return view_; }
  int64_t row() const { return row_; }

 private:
  const FileReader& file_;
  int column_, batch_ = -1;
  int64_t row_ = 0;
  FileColumn view_;
};

bool same_bytes(const ColumnView& a, int64_t i, const ColumnView& b, int64_t j, int64_t width) {
  return std::memcmp(static_cast<const char*>(a.values) + i * width, static_cast<const char*>(b.values) + j * width,
                     static_cast<size_t>(width)) == 0;
}

bool bit_at(const ColumnView& view, int64_t row) {
  return (static_cast<const uint8_t*>(view.values)[row >> 3] >> (row & 7)) & 1;
}

std::string whole_text(const Field& field, const ColumnView& view, int64_t row) {
  format::csv::TextOptions options;
  options.null_text = "null";
  options.binary_hex = true;
  const auto text = format::csv::RowText::create({field}, options);
  format::csv::TextBuffer out;
  columnar::BatchView batch{view.length, {view}};
  if (!text.is_ok() || !text.value()->append_rows(batch, row, row + 1, out).is_ok()) return "?";
  return std::string(out.view().substr(0, out.view().size() - 1));
}

std::string value_text(const Field& field, const ColumnView& view, int64_t row) {
  constexpr size_t kMostShown = 80;
  std::string shown = whole_text(field, view, row);
  if (shown.size() > kMostShown) shown = shown.substr(0, kMostShown) + "…";
  return shown;
}

/// Values that stand in other columns, or nowhere: they are compared as text.
bool has_parts(const ColumnView& view) {
  return columnar::is_nested(view.layout) || view.layout == columnar::Layout::kNull || view.child_count > 0;
}

bool same_value(const Field& field, const ColumnView& a, int64_t i, const ColumnView& b, int64_t j) {
  const bool valid = columnar::is_valid(a, i);
  if (has_parts(a) || has_parts(b)) return whole_text(field, a, i) == whole_text(field, b, j);
  if (valid != columnar::is_valid(b, j)) return false;
  if (!valid) return true;
  if (a.layout == Layout::kBool) return bit_at(a, i) == bit_at(b, j);
  const char *left = nullptr, *right = nullptr;
  int64_t left_size = 0, right_size = 0;
  const bool is_text = columnar::text_at(a, i, &left, &left_size);
  if (is_text != columnar::text_at(b, j, &right, &right_size)) return false;
  if (is_text) return left_size == right_size && std::memcmp(left, right, static_cast<size_t>(left_size)) == 0;
  if (columnar::refers_to_texts(a.layout)) return true;  // both cannot be read
  return same_bytes(a, i, b, j, columnar::value_width(a.layout, a.byte_width));
}

struct Pair {
  int left, right;
};

class Comparison {
 public:
  Comparison(const FileReader& left, const FileReader& right) : left_(left), right_(right) {}

  Status run(bool only_values, int threads) {
    STROM_ASSIGN(const int64_t left_rows, count_rows(left_));
    STROM_ASSIGN(const int64_t right_rows, count_rows(right_));
    if (left_rows != right_rows) lines_.push_back(fmt::format("rows: {} and {}", left_rows, right_rows));
    if (!only_values) compare_metadata("metadata of the file", left_.schema().metadata, right_.schema().metadata);
    const std::vector<Pair> pairs = compare_columns(only_values);
    std::vector<std::string> values(pairs.size());
    STROM_TRY(run_pieces(static_cast<int64_t>(pairs.size()), threads, [&](int64_t piece, int) {
      return compare_values(pairs[static_cast<size_t>(piece)], values[static_cast<size_t>(piece)]);
    }));
    for (std::string& line : values)
      if (!line.empty()) lines_.push_back(std::move(line));
    STROM_TRY(left_.check_unchanged());
    return right_.check_unchanged();
  }
  std::vector<std::string> lines() && { return std::move(lines_); }

 private:
  void compare_metadata(const std::string& where, KeyValues left, KeyValues right) {
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    KeyValues only;
    std::set_symmetric_difference(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(only));
    std::vector<std::string> keys;
    for (const auto& [key, value] : only) keys.push_back(key);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const std::string& key : keys) lines_.push_back(fmt::format("{}: key \"{}\"", where, key));
  }

  /// Columns of the same name, the first with the first. Those that can be compared value by value are returned.
  std::vector<Pair> compare_columns(bool only_values) {
    const auto &left = left_.schema().fields, &right = right_.schema().fields;
    std::vector<bool> taken(right.size());
    std::vector<Pair> pairs;
    for (size_t i = 0; i < left.size(); ++i) {
      size_t j = 0;
      while (j < right.size() && (taken[j] || right[j].name != left[i].name)) ++j;
      if (j == right.size()) {
        lines_.push_back(fmt::format("column \"{}\": only in the first file", left[i].name));
        continue;
      }
      taken[j] = true;
      if (i != j && !only_values)
        lines_.push_back(fmt::format("column \"{}\": number {} and {}", left[i].name, i + 1, j + 1));
      if (compare_fields(left[i], right[j], only_values)) pairs.push_back({static_cast<int>(i), static_cast<int>(j)});
    }
    for (size_t j = 0; j < right.size(); ++j)
      if (!taken[j]) lines_.push_back(fmt::format("column \"{}\": only in the second file", right[j].name));
    return pairs;
  }

  bool compare_fields(const Field& left, const Field& right, bool only_values) {
    if (left.nullable != right.nullable && !only_values)
      lines_.push_back(fmt::format("column \"{}\": {} and {}", left.name, left.nullable ? "nullable" : "not null",
                                   right.nullable ? "nullable" : "not null"));
    if (!only_values) compare_metadata(fmt::format("column \"{}\"", left.name), left.metadata, right.metadata);
    if (value_type_text(left) != value_type_text(right)) {
      lines_.push_back(fmt::format("column \"{}\": {} and {}", left.name, value_type_text(left), value_type_text(right)));
      return false;
    }
    if (left.unsupported.empty()) return true;
    lines_.push_back(fmt::format("column \"{}\": {} cannot be compared", left.name, value_type_text(left)));
    return false;
  }

  Status compare_values(Pair pair, std::string& line) const {
    ColumnCursor left(left_, pair.left), right(right_, pair.right);
    const Field& field = left_.schema().fields[static_cast<size_t>(pair.left)];
    int64_t row = 0, differing = 0;
    std::string first;
    for (;;) {
      STROM_ASSIGN(const bool more_left, left.fill());
      STROM_ASSIGN(const bool more_right, right.fill());
      if (!more_left || !more_right) break;
      const int64_t rows = std::min(left.left(), right.left());
      for (int64_t i = 0; i < rows; ++i) {
        if (same_value(field, left.view(), left.row() + i, right.view(), right.row() + i)) continue;
        if (differing++ > 0) continue;
        first = fmt::format("first in row {}: {} and {}", row + i + 1, value_text(field, left.view(), left.row() + i),
                            value_text(field, right.view(), right.row() + i));
      }
      row += rows;
      left.advance(rows);
      right.advance(rows);
    }
    if (differing > 0) line = fmt::format("column \"{}\": {} rows differ, {}", field.name, differing, first);
    return Status::ok();
  }

  const FileReader &left_, &right_;
  std::vector<std::string> lines_;
};

}  // namespace

Result<std::vector<std::string>> differences(const FileReader& left, const FileReader& right, bool only_values,
                                             int threads) {
  Comparison comparison(left, right);
  STROM_TRY(comparison.run(only_values, threads));
  return std::move(comparison).lines();
}

}  // namespace strom::tool
