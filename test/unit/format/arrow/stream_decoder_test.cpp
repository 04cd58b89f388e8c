// Streams of random columns of every kind: what is decoded, all at once or in parts, is what was written; damaged
// streams are refused or decoded, but nothing worse.
#include "format/arrow/read/stream_decoder.hpp"

#include <gtest/gtest.h>

#include "stream_samples.hpp"

namespace strom::format::arrow {
namespace {

void expect_equal(const ColumnBuilder& a, const ColumnBuilder& b) {
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
  fields[0].layout = columnar::Layout::kInt64;
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
