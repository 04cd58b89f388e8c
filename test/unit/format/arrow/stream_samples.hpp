// Streams of random columns of every kind, for the tests of their decoder.
#pragma once

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "format/arrow/write/writer.hpp"

namespace strom::format::arrow {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using columnar::Schema;

class Memory final : public ByteSink {
 public:
  explicit Memory(std::string& bytes) : bytes_(bytes) {}
  Status append(std::vector<struct iovec> pieces) override {
    for (const auto& piece : pieces) bytes_.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    return Status::ok();
  }
  int64_t position() const override { return static_cast<int64_t>(bytes_.size()); }
  const std::string& path() const override { return name_; }
  Status commit() override { return Status::ok(); }

 private:
  std::string& bytes_;
  std::string name_ = "memory";
};

inline const std::vector<std::string> kLabels = {"a", "bb", "", "dddd"};

inline Field field_of(Layout layout, std::vector<Field> children = {}) {
  Field field;
  field.name = "f";
  field.layout = layout;
  field.precision = columnar::is_decimal(layout) ? 30 : 0;
  field.byte_width = layout == Layout::kFixedBinary ? 6 : 0;
  field.children = std::move(children);
  return field;
}

inline std::vector<Field> all_fields() {
  Field label = field_of(Layout::kUtf8);
  label.dictionary = true;
  label.dictionary_id = 5;
  const Field number = field_of(Layout::kInt32), text = field_of(Layout::kUtf8), boolean = field_of(Layout::kBool);
  return {number,
          boolean,
          text,
          label,
          field_of(Layout::kDecimal128),
          field_of(Layout::kFixedBinary),
          field_of(Layout::kIntervalMonthDayNano),
          field_of(Layout::kList, {text}),
          field_of(Layout::kList, {field_of(Layout::kList, {boolean})}),
          field_of(Layout::kStruct, {number, label, field_of(Layout::kList, {label})})};
}

class Samples {
 public:
  explicit Samples(unsigned seed) : random_(seed) {}
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

  void append(ColumnBuilder& to, int64_t null_share) {
    if (null_share > 0 && below(null_share) == 0) return to.append_null();
    const Field& field = to.field();
    if (field.dictionary) return to.append(static_cast<int32_t>(below(static_cast<int64_t>(kLabels.size()))));
    switch (field.layout) {
      case Layout::kBool: return to.append_bool(below(2) == 1);
      case Layout::kUtf8: {
        const std::string text(static_cast<size_t>(below(20)), static_cast<char>('a' + below(26)));
        to.append_bytes(text.data(), static_cast<int64_t>(text.size()));
        return;
      }
      case Layout::kList:
        for (int64_t i = below(5); i > 0; --i) append(to.child(0), null_share);
        (void)to.append_list();
        return;
      case Layout::kStruct:
        for (size_t i = 0; i < to.children().size(); ++i) append(to.child(i), null_share);
        return to.append_struct();
      default: {
        uint8_t* place = to.append_fixed();
        for (int64_t i = 0; i < columnar::stored_width(field); ++i) place[i] = static_cast<uint8_t>(random_());
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

inline std::vector<ColumnBuilder> builders(const std::vector<Field>& fields) {
  return std::vector<ColumnBuilder>(fields.begin(), fields.end());
}

/// A stream of `batches` batches, and what all of its rows are.
inline std::string stream_of(unsigned seed, int batches, std::vector<ColumnBuilder>& all) {
  Samples samples(seed), again(seed);
  const int64_t null_share = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 2 : 50;
  const auto must = [](bool holds) {
    if (!holds) abort();
  };
  std::string bytes;
  Schema schema;
  schema.fields = all_fields();
  auto writer = std::move(FileWriter::create(std::make_unique<Memory>(bytes), schema, true)).value();
  Field text = field_of(Layout::kUtf8);
  ColumnBuilder labels(text);
  for (const auto& label : kLabels) labels.append_bytes(label.data(), static_cast<int64_t>(label.size()));
  must(writer->write_dictionary(5, labels, false).is_ok());
  Compressor compressor({seed % 2 == 0 ? Codec::kNone : Codec::kLz4, 0});
  for (int i = 0; i < batches; ++i) {
    const int64_t rows = samples.below(300);
    must(again.below(300) == rows);
    auto columns = builders(schema.fields);
    for (size_t column = 0; column < columns.size(); ++column) {
      for (int64_t row = 0; row < rows; ++row) {
        samples.append(columns[column], null_share);
        again.append(all[column], null_share);
      }
    }
    const auto batch = encode_batch(columns, rows, compressor);
    must(batch.is_ok());
    must(writer->write(batch.value()).is_ok());
  }
  must(writer->finish().is_ok());
  return bytes;
}

}  // namespace strom::format::arrow
