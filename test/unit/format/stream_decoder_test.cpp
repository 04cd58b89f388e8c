// Streams of random columns of every kind: what is decoded, all at once or in parts, is what was written; damaged
// streams are refused or decoded, but nothing worse.
#include "format/arrow/stream_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "format/arrow/nested_writer.hpp"

namespace strom::format::arrow {
namespace {

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

const std::vector<std::string> kLabels = {"a", "bb", "", "dddd"};

NestedField field_of(Kind kind, int32_t bits, std::vector<NestedField> children = {}) {
  NestedField field;
  field.name = "f";
  field.kind = kind;
  field.bits = bits;
  field.precision = bits == 128 ? 30 : 0;
  field.byte_width = kind == Kind::kFixedBinary ? 6 : 0;
  field.children = std::move(children);
  return field;
}

std::vector<NestedField> all_fields() {
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

std::vector<NestedBuilder> builders(const std::vector<NestedField>& fields) {
  return std::vector<NestedBuilder>(fields.begin(), fields.end());
}

void expect_equal(const NestedBuilder& a, const NestedBuilder& b) {
  const auto same = [](const columnar::ByteBuffer& x, const columnar::ByteBuffer& y) {
    return x.size() == y.size() &&
           (x.size() == 0 || std::memcmp(x.data(), y.data(), static_cast<size_t>(x.size())) == 0);
  };
  EXPECT_EQ(a.length(), b.length());
  EXPECT_EQ(a.null_count(), b.null_count());
  EXPECT_TRUE(same(a.validity(), b.validity()));
  EXPECT_TRUE(same(a.values(), b.values()));
  EXPECT_TRUE(same(a.data(), b.data()));
  for (size_t i = 0; i < a.children().size(); ++i) expect_equal(a.children()[i], b.children()[i]);
}

/// A stream of `batches` batches, and what all of its rows are.
std::string stream_of(unsigned seed, int batches, std::vector<NestedBuilder>& all) {
  Samples samples(seed), again(seed);
  const int64_t null_share = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 2 : 50;
  std::string bytes;
  NestedSchema schema;
  schema.fields = all_fields();
  auto writer = std::move(NestedWriter::create(std::make_unique<Memory>(bytes), schema, true)).value();
  NestedField text = field_of(Kind::kUtf8, 0);
  NestedBuilder labels(text);
  for (const auto& label : kLabels) labels.append_bytes(label.data(), static_cast<int64_t>(label.size()));
  EXPECT_TRUE(writer->write_dictionary(5, labels, false).is_ok());
  Compressor compressor({seed % 2 == 0 ? Codec::kNone : Codec::kLz4, 0});
  for (int i = 0; i < batches; ++i) {
    const int64_t rows = samples.below(300);
    EXPECT_EQ(again.below(300), rows);
    auto columns = builders(schema.fields);
    for (size_t column = 0; column < columns.size(); ++column) {
      for (int64_t row = 0; row < rows; ++row) {
        samples.append(columns[column], null_share);
        again.append(all[column], null_share);
      }
    }
    const auto batch = encode_batch(columns, rows, compressor);
    EXPECT_TRUE(batch.is_ok());
    EXPECT_TRUE(writer->write(batch.value()).is_ok());
  }
  EXPECT_TRUE(writer->finish().is_ok());
  return bytes;
}

LabelsById same_labels() { return {{5, std::make_shared<columnar::Labels>(kLabels)}}; }

const uint8_t* bytes_of(const std::string& text) { return reinterpret_cast<const uint8_t*>(text.data()); }

TEST(StreamDecoder, GivesWhatWasWritten) {
  const auto fields = all_fields();
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto wanted = builders(fields), found = builders(fields);
    const std::string stream = stream_of(seed, 5, wanted);
    StreamDecoder decoder("a test", found, same_labels());
    Samples cuts(seed);
    const auto take = [&](const StreamRows& rows) -> Status {
      for (int64_t at = 0; at < rows.count();) {
        const int64_t count = seed % 4 == 0 ? rows.count() : std::min(rows.count() - at, cuts.below(40));
        STROM_TRY(rows.append_to(found, at, count));
        at += count;
      }
      return Status::ok();
    };
    const Status status = decoder.feed(bytes_of(stream), static_cast<int64_t>(stream.size()), take);
    ASSERT_TRUE(status.is_ok()) << status.message() << status.detail();
    EXPECT_TRUE(decoder.finish().is_ok());
    for (size_t i = 0; i < fields.size(); ++i) expect_equal(found[i], wanted[i]);
  }
}

TEST(StreamDecoder, TranslatesDictionaries) {
  const auto fields = all_fields();
  auto wanted = builders(fields), found = builders(fields);
  const std::string stream = stream_of(1, 2, wanted);
  const std::vector<std::string> other = {"dddd", "new", "", "bb", "a"};
  const auto decode = [&](const std::vector<std::string>& labels) {
    for (auto& column : found) column.clear();
    StreamDecoder decoder("a test", found, {{5, std::make_shared<columnar::Labels>(labels)}});
    return decoder.feed(bytes_of(stream), static_cast<int64_t>(stream.size()),
                        [&](const StreamRows& rows) { return rows.append_to(found, 0, rows.count()); });
  };
  ASSERT_TRUE(decode(other).is_ok());
  for (int64_t row = 0; row < wanted[3].length(); ++row) {
    ASSERT_EQ(found[3].is_valid(row), wanted[3].is_valid(row));
    if (!wanted[3].is_valid(row)) continue;
    EXPECT_EQ(other[static_cast<size_t>(found[3].values().as<int32_t>()[row])],
              kLabels[static_cast<size_t>(wanted[3].values().as<int32_t>()[row])]);
  }
  EXPECT_EQ(decode({"a"}).code(), ErrorCode::kUnsupported);
}

TEST(StreamDecoder, OtherColumnsAreRefused) {
  auto fields = all_fields();
  auto unused = builders(fields);
  const std::string stream = stream_of(2, 1, unused);
  const auto none = [](const StreamRows&) { return Status::ok(); };
  fields[0].bits = 64;
  const auto other = builders(fields);
  StreamDecoder decoder("a test", other, same_labels());
  EXPECT_EQ(decoder.feed(bytes_of(stream), static_cast<int64_t>(stream.size()), none).code(), ErrorCode::kTypeMismatch);
  fields = all_fields();
  fields.pop_back();
  const auto fewer = builders(fields);
  StreamDecoder shorter("a test", fewer, same_labels());
  EXPECT_EQ(shorter.feed(bytes_of(stream), static_cast<int64_t>(stream.size()), none).code(), ErrorCode::kTypeMismatch);
}

TEST(StreamDecoder, DamagedStreams) {
  const auto fields = all_fields();
  for (unsigned seed = 0; seed < 4; ++seed) {
    auto unused = builders(fields);
    const std::string good = stream_of(seed, 2, unused);
    std::mt19937 random(seed);
    for (int round = 0; round < 3000; ++round) {
      std::string bytes = good;
      // Most of the metadata is at the beginning.
      const size_t range = round % 2 == 0 ? bytes.size() : std::min<size_t>(bytes.size(), 4000);
      for (int i = 0; i <= round % 3; ++i) bytes[random() % range] ^= static_cast<char>(1 << random() % 8);
      if (round % 5 == 0) bytes.resize(random() % bytes.size());
      std::vector<uint8_t> exact(bytes.begin(), bytes.end());
      auto found = builders(fields);
      StreamDecoder decoder("a test", found, same_labels());
      (void)decoder.feed(exact.data(), static_cast<int64_t>(exact.size()),
                         [&](const StreamRows& rows) { return rows.append_to(found, 0, rows.count()); });
    }
    for (size_t size = 0; size < good.size(); size += 97) {
      auto found = builders(fields);
      StreamDecoder decoder("a test", found, same_labels());
      const Status status =
          decoder.feed(bytes_of(good), static_cast<int64_t>(size), [](const StreamRows&) { return Status::ok(); });
      EXPECT_FALSE(status.is_ok() && decoder.finish().is_ok()) << size;
    }
  }
}

}  // namespace
}  // namespace strom::format::arrow
