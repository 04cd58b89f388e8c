// Forged metadata: every rule that the reader enforces, and every type that it skips.
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "arrow_forge.hpp"
#include "arrow_print.hpp"
#include "columnar/layout.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::test {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using format::arrow::FileReader;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

using Fields = std::vector<Offset<fbs::Field>>;
using Type = std::pair<fbs::Type, Offset<void>>;

Offset<fbs::Field> make_field(FlatBufferBuilder& b, const char* name, Type type, const Fields& children = {}) {
  const auto name_offset = b.CreateString(name);
  const auto children_offset = b.CreateVector(children);
  return fbs::CreateField(b, name_offset, true, type.first, type.second, 0, children_offset);
}
Type int_type(FlatBufferBuilder& b, int bits = 32, bool is_signed = true) {
  return {fbs::Type::Int, fbs::CreateInt(b, bits, is_signed).Union()};
}
Offset<fbs::Schema> make_schema(FlatBufferBuilder& b, const Fields& fields,
                                fbs::Endianness endianness = fbs::Endianness::Little) {
  return fbs::CreateSchema(b, endianness, b.CreateVector(fields));
}
/// A schema of one column, `x`, of the type that `make` makes.
SchemaMaker one(std::function<Type(FlatBufferBuilder&)> make) {
  return [make = std::move(make)](FlatBufferBuilder& b) { return make_schema(b, {make_field(b, "x", make(b))}); };
}
SchemaMaker one_int() {
  return one([](FlatBufferBuilder& b) { return int_type(b); });
}
template <class F>
SchemaMaker one(fbs::Type type, F make) {
  return one([type, make](FlatBufferBuilder& b) { return Type{type, make(b).Union()}; });
}

/// Four rows of int32 in column x.
ForgedBatch int_batch() {
  ForgedBatch batch;
  batch.rows = 4;
  batch.nodes = {{4, 0}};
  batch.buffers = {{0, 0}, {0, 16}};
  batch.body = {0x0000000200000001, 0x0000000400000003};
  return batch;
}

/// Status of opening the file and reading column x of batch 0.
Status read_x(const ForgedFile& file) {
  size_t size = 0;
  const auto words = file.build(&size);
  const auto opened = FileReader::open_memory("f", {reinterpret_cast<const uint8_t*>(words.data()), size});
  if (!opened.is_ok()) return opened.status();
  const auto& fields = opened.value()->schema().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == "x") return opened.value()->column(0, static_cast<int>(i)).status();
  }
  return Status(ErrorCode::kInternal, "no column x");
}

Status read_batch(const ForgedBatch& batch) { return read_x({.schema = one_int(), .batches = {batch}}); }

#define EXPECT_CORRUPT(status, text)                                       \
  do {                                                                     \
    const Status got = (status);                                           \
    EXPECT_EQ(got.code(), ErrorCode::kCorruptFile) << got.message();       \
    EXPECT_NE(got.detail().find(text), std::string::npos) << got.detail(); \
  } while (false)

TEST(ArrowMetadata, HonestFileIsRead) {
  EXPECT_TRUE(read_batch(int_batch()).is_ok());
  EXPECT_TRUE(read_x({.schema = one_int(),
                      .version = fbs::MetadataVersion::V4,
                      .footer_version = fbs::MetadataVersion::V4,
                      .batches = {int_batch()}})
                  .is_ok());
}

TEST(ArrowMetadata, Nodes) {
  const auto with = [](std::vector<fbs::FieldNode> nodes) {
    ForgedBatch batch = int_batch();
    batch.nodes = std::move(nodes);
    return read_batch(batch);
  };
  EXPECT_CORRUPT(with({}), "0 field nodes where its schema has 1");
  EXPECT_CORRUPT(with({{4, 0}, {4, 0}}), "2 field nodes where its schema has 1");
  EXPECT_CORRUPT(with({{3, 0}}), "column 0 has 3 rows in a record batch of 4");
  EXPECT_CORRUPT(with({{-1, 0}}), "-1 rows");
  EXPECT_CORRUPT(with({{4, -1}}), "-1 nulls");
  EXPECT_CORRUPT(with({{4, 5}}), "5 nulls");
  EXPECT_CORRUPT(with({{4, 1}}), "a validity bitmap of 0 bytes");
  EXPECT_CORRUPT(with({{kMin, kMin}}), "field node 0");
}

TEST(ArrowMetadata, Rows) {
  for (const int64_t rows : {int64_t{5}, int64_t{1} << 32, int64_t{1} << 62, kMax}) {
    ForgedBatch batch = int_batch();
    batch.rows = rows;
    batch.nodes = {{rows, 0}};
    EXPECT_CORRUPT(read_batch(batch), "too small");
  }
  ForgedBatch negative = int_batch();
  negative.rows = -4;
  EXPECT_CORRUPT(read_batch(negative), "negative number of rows");
}

TEST(ArrowMetadata, Buffers) {
  const auto with = [](std::vector<fbs::Buffer> buffers) {
    ForgedBatch batch = int_batch();
    batch.buffers = std::move(buffers);
    return read_batch(batch);
  };
  EXPECT_CORRUPT(with({}), "0 buffers where its schema has 2");
  EXPECT_CORRUPT(with({{0, 0}, {0, 16}, {0, 0}}), "3 buffers where its schema has 2");
  EXPECT_CORRUPT(with({{0, 0}, {0, 15}}), "too small");
  EXPECT_CORRUPT(with({{0, 0}, {0, 17}}), "outside of the record batch's body");
  EXPECT_CORRUPT(with({{0, 0}, {8, 16}}), "outside of the record batch's body");
  EXPECT_CORRUPT(with({{0, 0}, {-8, 16}}), "outside of the record batch's body");
  EXPECT_CORRUPT(with({{0, 0}, {0, -16}}), "outside of the record batch's body");
  EXPECT_CORRUPT(with({{0, 0}, {kMax, 1}}), "outside of the record batch's body");
  EXPECT_CORRUPT(with({{0, 0}, {1, kMax}}), "outside of the record batch's body");
  EXPECT_CORRUPT(with({{kMin, kMin}, {0, 16}}), "outside of the record batch's body");
}

TEST(ArrowMetadata, Alignment) {
  ForgedBatch batch = int_batch();
  batch.body.push_back(0);
  batch.buffers[1] = {4, 16};
  EXPECT_CORRUPT(read_batch(batch), "column \"x\" has a buffer that is not aligned to 8 bytes");
  batch.buffers[1] = {8, 16};
  EXPECT_TRUE(read_batch(batch).is_ok());
}

TEST(ArrowMetadata, OverlappingBuffersAreHarmless) {
  ForgedBatch batch = int_batch();
  batch.nodes = {{4, 1}};
  batch.buffers = {{0, 16}, {0, 16}};
  EXPECT_TRUE(read_batch(batch).is_ok());
}

TEST(ArrowMetadata, Blocks) {
  const auto with = [](auto change) {
    ForgedBatch batch = int_batch();
    change(batch);
    return read_batch(batch);
  };
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_offset = kMax; }), "the footer places record batch 0");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_offset = 0; }), "the footer places record batch 0");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_metadata_length = 0x7FFFFFFF; }),
                 "the footer places record batch 0");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_metadata_length = 0; }), "the footer places record batch 0");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_metadata_length = 4; }), "no room for the size");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_metadata_length = 16; }), "bytes of metadata where 8 fit");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_body_length = kMax; }), "the footer places record batch 0");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_body_length = 8; }), "differ in the size of the batch's body");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.body_length = kMax; }), "differ in the size of the batch's body");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.block_offset = 8; }), "another kind");  // the schema message
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.kind = fbs::MessageHeader::DictionaryBatch; }), "");
  EXPECT_CORRUPT(with([](ForgedBatch& b) { b.kind = static_cast<fbs::MessageHeader>(77); }), "another kind");
}

TEST(ArrowMetadata, Versions) {
  const auto with = [](fbs::MetadataVersion message, fbs::MetadataVersion footer) {
    return read_x({.schema = one_int(), .version = message, .footer_version = footer, .batches = {int_batch()}});
  };
  using V = fbs::MetadataVersion;
  EXPECT_TRUE(with(V::V5, V::V3).is_ok());  // writers that leave it out of the footer: that of messages counts
  EXPECT_EQ(with(V::V5, static_cast<V>(5)).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(with(V::V3, V::V3).code(), ErrorCode::kUnsupported);
  EXPECT_CORRUPT(with(V::V3, V::V5), "metadata version");
  EXPECT_CORRUPT(with(static_cast<V>(99), V::V5), "metadata version");
  EXPECT_TRUE(with(V::V4, V::V5).is_ok());  // what pyarrow writes when asked for V4
}

TEST(ArrowMetadata, UnknownCompressionIsRefused) {
  ForgedBatch batch = int_batch();
  batch.compression = static_cast<fbs::CompressionType>(7);
  const Status status = read_batch(batch);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(status.message(), "file \"f\" uses a compression that is not known");
}

TEST(ArrowMetadata, SizesOfCompressedBuffersAreChecked) {
  // A batch of two int32 whose values buffer is `size` bytes of which the first eight declare `declared`.
  const auto with = [](int64_t declared, int64_t size) {
    ForgedBatch batch = int_batch();
    batch.compression = fbs::CompressionType::Lz4Frame;
    batch.rows = 2;
    batch.nodes = {{2, 0}};
    batch.buffers = {{0, 0}, {0, size}};
    batch.body = {static_cast<uint64_t>(declared), 0x0000000200000001, 0, 0};
    return read_batch(batch);
  };
  EXPECT_TRUE(with(-1, 16).is_ok());  // stored as it is
  EXPECT_TRUE(with(-1, 24).is_ok());
  EXPECT_CORRUPT(with(-1, 12), "its rows need 8");
  EXPECT_CORRUPT(with(-2, 16), "negative size");
  EXPECT_CORRUPT(with(8, 4), "without the size");
  EXPECT_CORRUPT(with(0, 16), "its rows need 8");
  EXPECT_CORRUPT(with(7, 16), "its rows need 8");
  EXPECT_CORRUPT(with(8, 16), "damaged LZ4 data");
  EXPECT_CORRUPT(with(8, 8), "damaged LZ4 data");
  EXPECT_CORRUPT(with(int64_t{1} << 62, 16), "impossible for so few compressed bytes");
  EXPECT_CORRUPT(with(1 << 20, 16), "impossible for so few compressed bytes");
}

TEST(ArrowMetadata, BigEndian) {
  const auto schema = [](FlatBufferBuilder& b) {
    return make_schema(b, {make_field(b, "x", int_type(b))}, fbs::Endianness::Big);
  };
  const Status status = read_x({.schema = schema, .batches = {int_batch()}});
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(status.message(), "file \"f\" is big-endian");
}

TEST(ArrowMetadata, SchemaMessageMustAgree) {
  const auto renamed = [](FlatBufferBuilder& b) { return make_schema(b, {make_field(b, "y", int_type(b))}); };
  const auto wider = one([](FlatBufferBuilder& b) { return int_type(b, 64); });
  const auto longer = [](FlatBufferBuilder& b) {
    return make_schema(b, {make_field(b, "x", int_type(b)), make_field(b, "y", int_type(b))});
  };
  for (const SchemaMaker& other : std::vector<SchemaMaker>{renamed, wider, longer}) {
    EXPECT_CORRUPT(read_x({.schema = one_int(), .message_schema = other, .batches = {int_batch()}}),
                   "different columns");
  }
}

TEST(ArrowMetadata, BadTypes) {
  const auto with = [](SchemaMaker schema) { return read_x({.schema = std::move(schema), .batches = {int_batch()}}); };
  EXPECT_CORRUPT(with(one([](FlatBufferBuilder& b) { return int_type(b, 7); })), "bad integer width");
  EXPECT_CORRUPT(with(one([](FlatBufferBuilder&) { return Type{fbs::Type::NONE, 0}; })), "no type");
  EXPECT_CORRUPT(with(one([](FlatBufferBuilder&) { return Type{fbs::Type::Int, 0}; })), "no type");
  EXPECT_CORRUPT(with(one(fbs::Type::Decimal, [](auto& b) { return fbs::CreateDecimal(b, 39, 0, 128); })), "precision");
  EXPECT_CORRUPT(with(one(fbs::Type::Decimal, [](auto& b) { return fbs::CreateDecimal(b, 0, 0, 128); })), "precision");
  EXPECT_CORRUPT(with(one(fbs::Type::Decimal, [](auto& b) { return fbs::CreateDecimal(b, 9, 999, 128); })), "scale");
  EXPECT_CORRUPT(with(one(fbs::Type::Decimal, [](auto& b) { return fbs::CreateDecimal(b, 9, 2, 100); })), "width");
  EXPECT_CORRUPT(with(one(fbs::Type::FixedSizeBinary, [](auto& b) { return fbs::CreateFixedSizeBinary(b, -1); })),
                 "negative byte width");
  EXPECT_CORRUPT(with(one(fbs::Type::FloatingPoint,
                          [](auto& b) { return fbs::CreateFloatingPoint(b, static_cast<fbs::Precision>(9)); })),
                 "precision");
  EXPECT_CORRUPT(with(one(fbs::Type::Date, [](auto& b) { return fbs::CreateDate(b, static_cast<fbs::DateUnit>(9)); })),
                 "date unit");
  EXPECT_CORRUPT(
      with(one(fbs::Type::Timestamp, [](auto& b) { return fbs::CreateTimestamp(b, static_cast<fbs::TimeUnit>(-3)); })),
      "time unit");
}

TEST(ArrowMetadata, WideFixedBinaryDoesNotOverflow) {
  ForgedBatch batch = int_batch();
  batch.rows = int64_t{1} << 33;
  batch.nodes = {{batch.rows, 0}};
  const auto schema =
      one(fbs::Type::FixedSizeBinary, [](auto& b) { return fbs::CreateFixedSizeBinary(b, 0x7FFFFFFF); });
  EXPECT_CORRUPT(read_x({.schema = schema, .batches = {batch}}), "too small");
}

TEST(ArrowMetadata, TextNeedsOneOffsetMoreThanRows) {
  const auto schema = one(fbs::Type::Utf8, [](auto& b) { return fbs::CreateUtf8(b); });
  ForgedBatch batch = int_batch();
  batch.buffers = {{0, 0}, {0, 16}, {0, 0}};
  EXPECT_CORRUPT(read_x({.schema = schema, .batches = {batch}}), "too small");
  batch.rows = 3;
  batch.nodes = {{3, 0}};
  EXPECT_TRUE(read_x({.schema = schema, .batches = {batch}}).is_ok());
  batch.rows = 0;  // then the buffer may be missing
  batch.nodes = {{0, 0}};
  batch.buffers[1] = {0, 0};
  EXPECT_TRUE(read_x({.schema = schema, .batches = {batch}}).is_ok());
}

TEST(ArrowMetadata, ViewBufferCounts) {
  const auto schema = one(fbs::Type::Utf8View, [](auto& b) { return fbs::CreateUtf8View(b); });
  const auto with = [&](std::vector<int64_t> counts, size_t buffers) {
    ForgedBatch batch = int_batch();
    batch.rows = 1;
    batch.nodes = {{1, 0}};
    batch.buffers.assign(buffers, {0, 16});
    batch.variadic_counts = std::move(counts);
    return read_x({.schema = schema, .batches = {batch}});
  };
  EXPECT_TRUE(with({0}, 2).is_ok());
  EXPECT_TRUE(with({3}, 5).is_ok());
  EXPECT_CORRUPT(with({3}, 4), "buffers where its schema has 5");
  EXPECT_CORRUPT(with({3}, 6), "buffers where its schema has 5");
  EXPECT_CORRUPT(with({}, 2), "counts of view buffers");
  EXPECT_CORRUPT(with({0, 0}, 2), "counts of view buffers");
  EXPECT_CORRUPT(with({-1}, 2), "out of range");
  EXPECT_CORRUPT(with({kMax}, 2), "out of range");
}

/// A column of `type` with given children stands before x, which must be found behind its entries.
struct Skipped {
  const char* name;
  std::function<Type(FlatBufferBuilder&)> type;
  int children;  // int32 columns
  int nodes, buffers_v4, buffers_v5, views;
};

TEST(ArrowMetadata, ColumnsStandBehindAllTypes) {
  using T = fbs::Type;
  const std::vector<Skipped> cases = {
      {"Null", [](auto& b) { return Type{T::Null, fbs::CreateNull(b).Union()}; }, 0, 1, 0, 0, 0},
      {"UInt64", [](auto& b) { return int_type(b, 64, false); }, 0, 1, 2, 2, 0},
      {"Int128", [](auto& b) { return int_type(b, 128, true); }, 0, 1, 2, 2, 0},
      {"UInt128", [](auto& b) { return int_type(b, 128, false); }, 0, 1, 2, 2, 0},
      {"Float16", [](auto& b) { return Type{T::FloatingPoint, fbs::CreateFloatingPoint(b).Union()}; }, 0, 1, 2, 2, 0},
      {"Decimal256", [](auto& b) { return Type{T::Decimal, fbs::CreateDecimal(b, 60, 1, 256).Union()}; }, 0, 1, 2, 2,
       0},
      {"Binary", [](auto& b) { return Type{T::Binary, fbs::CreateBinary(b).Union()}; }, 0, 1, 3, 3, 0},
      {"LargeBinary", [](auto& b) { return Type{T::LargeBinary, fbs::CreateLargeBinary(b).Union()}; }, 0, 1, 3, 3, 0},
      {"BinaryView", [](auto& b) { return Type{T::BinaryView, fbs::CreateBinaryView(b).Union()}; }, 0, 1, 2, 2, 1},
      {"Time32", [](auto& b) { return Type{T::Time, fbs::CreateTime(b).Union()}; }, 0, 1, 2, 2, 0},
      {"Interval(YearMonth)", [](auto& b) { return Type{T::Interval, fbs::CreateInterval(b).Union()}; }, 0, 1, 2, 2, 0},
      {"Duration", [](auto& b) { return Type{T::Duration, fbs::CreateDuration(b).Union()}; }, 0, 1, 2, 2, 0},
      {"FixedSizeBinary(0)", [](auto& b) { return Type{T::FixedSizeBinary, fbs::CreateFixedSizeBinary(b, 0).Union()}; },
       0, 1, 2, 2, 0},
      {"List", [](auto& b) { return Type{T::List, fbs::CreateList(b).Union()}; }, 1, 2, 4, 4, 0},
      {"LargeList", [](auto& b) { return Type{T::LargeList, fbs::CreateLargeList(b).Union()}; }, 1, 2, 4, 4, 0},
      {"ListView", [](auto& b) { return Type{T::ListView, fbs::CreateListView(b).Union()}; }, 1, 2, 5, 5, 0},
      {"LargeListView", [](auto& b) { return Type{T::LargeListView, fbs::CreateLargeListView(b).Union()}; }, 1, 2, 5, 5,
       0},
      {"FixedSizeList", [](auto& b) { return Type{T::FixedSizeList, fbs::CreateFixedSizeList(b, 2).Union()}; }, 1, 2, 3,
       3, 0},
      {"Struct", [](auto& b) { return Type{T::Struct_, fbs::CreateStruct_(b).Union()}; }, 3, 4, 7, 7, 0},
      {"Struct", [](auto& b) { return Type{T::Struct_, fbs::CreateStruct_(b).Union()}; }, 0, 1, 1, 1, 0},
      {"SparseUnion", [](auto& b) { return Type{T::Union, fbs::CreateUnion(b, fbs::UnionMode::Sparse).Union()}; }, 2, 3,
       6, 5, 0},
      {"DenseUnion", [](auto& b) { return Type{T::Union, fbs::CreateUnion(b, fbs::UnionMode::Dense).Union()}; }, 2, 3,
       7, 6, 0},
      {"RunEndEncoded", [](auto& b) { return Type{T::RunEndEncoded, fbs::CreateRunEndEncoded(b).Union()}; }, 2, 3, 5, 4,
       0},
  };
  for (const Skipped& skipped : cases) {
    for (const auto version : {fbs::MetadataVersion::V4, fbs::MetadataVersion::V5}) {
      const auto schema = [&](FlatBufferBuilder& b) {
        Fields children;
        for (int i = 0; i < skipped.children; ++i) children.push_back(make_field(b, "child", int_type(b)));
        const auto before = make_field(b, "before", skipped.type(b), children);
        return make_schema(b, {before, make_field(b, "x", int_type(b))});
      };
      ForgedBatch batch = int_batch();
      batch.nodes.assign(static_cast<size_t>(skipped.nodes) + 1, {4, 0});
      const int buffers = version == fbs::MetadataVersion::V4 ? skipped.buffers_v4 : skipped.buffers_v5;
      batch.buffers.assign(static_cast<size_t>(buffers) + 2 * static_cast<size_t>(skipped.views),
                           {0, 0});  // two data buffers for each view
      batch.variadic_counts.assign(static_cast<size_t>(skipped.views), 2);
      batch.buffers.emplace_back(0, 0);
      batch.buffers.emplace_back(0, 16);
      const ForgedFile file = {.schema = schema, .version = version, .batches = {batch}};
      size_t size = 0;
      const auto words = file.build(&size);
      const auto opened = FileReader::open_memory("f", {reinterpret_cast<const uint8_t*>(words.data()), size});
      ASSERT_TRUE(opened.is_ok()) << skipped.name << opened.status().detail();
      const columnar::Field& before = opened.value()->schema().fields[0];
      if (!before.unsupported.empty())
        EXPECT_EQ(before.unsupported, std::string("type ") + skipped.name);
      else
        EXPECT_EQ(std::string(columnar::layout_name(before.layout)), skipped.name);
      (void)opened.value()->column(0, 0);  // whose buffers are empty
      const auto x = opened.value()->column(0, 1);
      ASSERT_TRUE(x.is_ok()) << skipped.name;
      EXPECT_EQ(print_value(x.value(), 3), "4") << skipped.name;
    }
  }
}

TEST(ArrowMetadata, DictionaryEncoding) {
  const auto schema = [](FlatBufferBuilder& b) {
    const auto name = b.CreateString("before");
    const auto type = fbs::CreateUtf8(b).Union();
    const auto dictionary = fbs::CreateDictionaryEncoding(b, 1, fbs::CreateInt(b, 32, true));
    const auto before = fbs::CreateField(b, name, true, fbs::Type::Utf8, type, dictionary);
    return make_schema(b, {before, make_field(b, "x", int_type(b))});
  };
  ForgedBatch batch = int_batch();
  batch.nodes = {{4, 0}, {4, 0}};
  batch.buffers = {{0, 0}, {0, 16}, {0, 0}, {0, 16}};
  EXPECT_TRUE(read_x({.schema = schema, .batches = {batch}}).is_ok());
}

TEST(ArrowMetadata, UnknownTypeHidesWhatIsBehindIt) {
  const auto unknown = [](FlatBufferBuilder& b) {
    return make_field(b, "new", {static_cast<fbs::Type>(99), fbs::CreateNull(b).Union()});
  };
  ForgedBatch batch = int_batch();
  batch.nodes = {{4, 0}, {4, 0}};
  batch.buffers = {{0, 0}, {0, 16}, {0, 0}, {0, 16}};
  const auto first = [&](FlatBufferBuilder& b) {
    return make_schema(b, {unknown(b), make_field(b, "x", int_type(b))});
  };
  const auto last = [&](FlatBufferBuilder& b) { return make_schema(b, {make_field(b, "x", int_type(b)), unknown(b)}); };
  EXPECT_EQ(read_x({.schema = first, .batches = {batch}}).code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(read_x({.schema = last, .batches = {batch}}).is_ok());
}

TEST(ArrowMetadata, DeepNestingIsAnError) {
  const auto nested = [](int depth) {
    return [depth](FlatBufferBuilder& b) {
      auto field = make_field(b, "leaf", int_type(b));
      for (int i = 0; i < depth; ++i)
        field = make_field(b, "x", {fbs::Type::List, fbs::CreateList(b).Union()}, {field});
      return make_schema(b, {field});
    };
  };
  EXPECT_EQ(read_x({.schema = nested(40)}).code(), ErrorCode::kInternal);  // it opens, but there is no record batch
  EXPECT_CORRUPT(read_x({.schema = nested(100)}), "not a valid flatbuffer");
  EXPECT_CORRUPT(read_x({.schema = nested(100'000)}), "not a valid flatbuffer");
}

TEST(ArrowMetadata, SharedTablesDoNotExplode) {
  const auto schema = [](FlatBufferBuilder& b) {  // 2^40 fields in a few hundred bytes
    auto field = make_field(b, "leaf", int_type(b));
    for (int i = 0; i < 40; ++i)
      field = make_field(b, "x", {fbs::Type::Struct_, fbs::CreateStruct_(b).Union()}, {field, field});
    return make_schema(b, {field});
  };
  EXPECT_CORRUPT(read_x({.schema = schema}), "not a valid flatbuffer");
}

TEST(ArrowMetadata, SharedStringsDoNotExplode) {
  const auto schema = [](FlatBufferBuilder& b) {  // 100 000 references to 1 MB of text
    const auto text = b.CreateString(std::string(1 << 20, 't'));
    const auto item = fbs::CreateKeyValue(b, text, text);
    const auto metadata = b.CreateVector(std::vector<Offset<fbs::KeyValue>>(100'000, item));
    const auto fields = b.CreateVector(Fields{make_field(b, "x", int_type(b))});
    return fbs::CreateSchema(b, fbs::Endianness::Little, fields, metadata);
  };
  EXPECT_CORRUPT(read_x({.schema = schema}), "larger than the schema");
}

}  // namespace
}  // namespace strom::test
