// Streams of random columns of every kind, for the tests of their decoder.
#pragma once

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "format/arrow/nested_writer.hpp"

namespace strom::format::arrow {

using columnar::Kind;
using columnar::NestedBuilder;
using columnar::NestedField;
using columnar::NestedSchema;

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

inline NestedField field_of(Kind kind, int32_t bits, std::vector<NestedField> children = {}) {
  NestedField field;
  field.name = "f";
  field.kind = kind;
  field.bits = bits;
  field.precision = bits == 128 ? 30 : 0;
  field.byte_width = kind == Kind::kFixedBinary ? 6 : 0;
  field.children = std::move(children);
  return field;
}

inline std::vector<NestedField> all_fields() {
  NestedField label = field_of(Kind::kUtf8, 0);
  label.dictionary = 5;
  const NestedField number = field_of(Kind::kInt, 32), text = field_of(Kind::kUtf8, 0),
                    boolean = field_of(Kind::kBool, 0);
  return {number,
          boolean,
          text,
          label,
          field_of(Kind::kDecimal, 128),
          field_of(Kind::kFixedBinary, 0),
          field_of(Kind::kInterval, 0),
          field_of(Kind::kList, 0, {text}),
          field_of(Kind::kList, 0, {field_of(Kind::kList, 0, {boolean})}),
          field_of(Kind::kStruct, 0, {number, label, field_of(Kind::kList, 0, {label})})};
}

class Samples {
 public:
  explicit Samples(unsigned seed) : random_(seed) {}
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

  void append(NestedBuilder& to, int64_t null_share) {
    if (null_share > 0 && below(null_share) == 0) return to.append_null();
    const NestedField& field = to.field();
    if (field.dictionary >= 0) return to.append(static_cast<int32_t>(below(static_cast<int64_t>(kLabels.size()))));
    switch (field.kind) {
      case Kind::kBool: return to.append_bool(below(2) == 1);
      case Kind::kUtf8: {
        const std::string text(static_cast<size_t>(below(20)), static_cast<char>('a' + below(26)));
        to.append_bytes(text.data(), static_cast<int64_t>(text.size()));
        return;
      }
      case Kind::kList:
        for (int64_t i = below(5); i > 0; --i) append(to.child(0), null_share);
        return to.append_list();
      case Kind::kStruct:
        for (size_t i = 0; i < to.children().size(); ++i) append(to.child(i), null_share);
        return to.append_struct();
      default: {
        uint8_t* place = to.append_fixed();
        for (int64_t i = 0; i < columnar::fixed_width(field); ++i) place[i] = static_cast<uint8_t>(random_());
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

inline std::vector<NestedBuilder> builders(const std::vector<NestedField>& fields) {
  return std::vector<NestedBuilder>(fields.begin(), fields.end());
}

/// A stream of `batches` batches, and what all of its rows are.
inline std::string stream_of(unsigned seed, int batches, std::vector<NestedBuilder>& all) {
  Samples samples(seed), again(seed);
  const int64_t null_share = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 2 : 50;
  const auto must = [](bool holds) {
    if (!holds) abort();
  };
  std::string bytes;
  NestedSchema schema;
  schema.fields = all_fields();
  auto writer = std::move(NestedWriter::create(std::make_unique<Memory>(bytes), schema, true)).value();
  NestedField text = field_of(Kind::kUtf8, 0);
  NestedBuilder labels(text);
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
