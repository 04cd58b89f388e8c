// Rows of lines wait here until there are enough for a loop over them by column: so the work for a kind of value is a
// loop of its own, without a decision for each value. Samples have their own way (SampleColumns). Private to
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

/// The columns before FORMAT, as they stand.
using FixedFields = std::array<std::string_view, kFirstInfo + 1>;

/// One thread.
class RowTile {
 public:
  RowTile(const Layout& layout, std::vector<columnar::ColumnBuilder>& columns, ValueAppender& values);

  /// What is added lies in this text. What waits is forgotten.
  void begin(std::string_view text);
  /// A row of a line. `info` has the value of each target; of those with a value for each alternative it begins with
  /// the row's. Errors: of a row that waits, whose line is failed().
  Status add(int64_t line, const FixedFields& fixed, std::string_view alternative,
             const std::vector<std::string_view>& info, const RowAllele& allele);
  /// Everything is in the columns then. Errors: of the first row that has one.
  Status flush();
  int64_t failed() const { return failed_; }

 private:
  // As ColumnBuilder::append_texts() wants it. ptr nullptr: it is not there.
  struct Text {
    const char* ptr;
    int64_t len;
    std::string_view view() const { return {ptr, static_cast<size_t>(len)}; }
    bool is_missing() const { return len == 0 || (len == 1 && ptr[0] == '.'); }
  };
  static constexpr size_t kRows = 128;
  static constexpr size_t kStride = kRows + 5;  // columns do not lie at the same place of the caches

  Text* column_texts(size_t column) { return texts_.data() + column * kStride; }
  void put(size_t column, std::string_view text) {
    texts_[column * kStride + rows_] = {text.data(), static_cast<int64_t>(text.size())};
  }
  // Of the first `rows` rows. *row: the one that has the error.
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
