// Rows of lines wait here until there are enough of them for a loop by column. So the work for one kind of value is a
// loop of its own, without a decision for each value. Samples are handled elsewhere (SampleColumns). Private to
// src/format/vcf.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "format/vcf/layout.hpp"
#include "format/vcf/values.hpp"

namespace strom::format::vcf {

/// The texts of the columns before FORMAT, unchanged.
using FixedFields = std::array<std::string_view, kFirstInfo + 1>;

/// For one thread.
class RowTile {
 public:
  RowTile(const Layout& layout, std::vector<columnar::ColumnBuilder>& columns, ValueAppender& values);

  /// Later rows lie in this text. Waiting rows are dropped.
  void begin(std::string_view text);
  /// Adds a row of a line. `info` has the value of each target. A value for each alternative begins with the row's own.
  /// Errors: those of a waiting row, whose line is failed().
  Status add(int64_t line, const FixedFields& fixed, std::string_view alternative,
             const std::vector<std::string_view>& info, const RowAllele& allele);
  /// Appends all waiting rows to the columns. Errors: of the first row that has one.
  Status flush();
  int64_t failed() const { return failed_; }

 private:
  // In the form of ColumnBuilder::append_texts(). ptr nullptr: missing.
  struct Text {
    const char* ptr;
    int64_t len;
    std::string_view view() const { return {ptr, static_cast<size_t>(len)}; }
    bool is_missing() const { return len == 0 || (len == 1 && ptr[0] == '.'); }
  };
  static constexpr size_t kRows = 128;
  static constexpr size_t kStride = kRows + 5;  // so that columns do not share places in the caches

  Text* column_texts(size_t column) { return texts_.data() + column * kStride; }
  void put(size_t column, std::string_view text) {
    texts_[column * kStride + rows_] = {text.data(), static_cast<int64_t>(text.size())};
  }
  // Appends the first `rows` rows. *row: the one with the error.
  Status append_column(size_t column, size_t rows, size_t* row);
  Status append_texts(size_t column, size_t rows, bool is_list, size_t* row);
  template <class T>
  Status append_numbers(size_t column, size_t rows, const Layout::Target& target, size_t* row);
  template <class T>
  bool parse(const Text& text, bool is_list, T* value) const;
  Status append_others(size_t column, size_t rows, const Layout::Target& target, size_t* row);

  const Layout& layout_;
  std::vector<columnar::ColumnBuilder>& columns_;
  ValueAppender& values_;
  Layout::Target position_, quality_;
  const char* last_word_ = nullptr;  // the last place from which eight bytes can be read
  size_t rows_ = 0;
  std::array<int64_t, kRows> lines_{};
  std::array<RowAllele, kRows> alleles_{};
  std::vector<Text> texts_;  // column by column
  int64_t failed_ = 0;
};

}  // namespace strom::format::vcf
