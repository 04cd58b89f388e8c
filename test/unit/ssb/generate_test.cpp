// The parallel run of the generator: same batches in the same order whatever the threads, and clean stops.
#include "ssb/generate.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ssb_batches.hpp"

namespace strom::ssb {
namespace {

Plan small_plan() {
  Plan plan;
  plan.sizes = sizes_at(0.01).value();
  plan.seed = 3;
  plan.batch_rows = 500;
  return plan;
}

TEST(SsbGenerate, ThreadsDoNotChangeTheData) {
  const Plan plan = small_plan();
  for (Table table : kTables) {
    const std::string expected = fingerprint(plan, table);
    for (int threads : {1, 2, 7, 200}) {
      std::string bytes;
      const Status status = generate_table(plan, table, {threads, nullptr}, [&](const columnar::BatchView& batch) {
        append_copy_rows(batch, bytes);
        return Status::ok();
      });
      ASSERT_TRUE(status.is_ok());
      EXPECT_EQ(bytes, expected) << table_name(table) << " with " << threads << " threads";
    }
  }
}

TEST(SsbGenerate, ErrorOfTheConsumerEndsTheRun) {
  int calls = 0;
  const Status status = generate_table(small_plan(), Table::kLineorder, {4, nullptr}, [&](const columnar::BatchView&) {
    return ++calls == 3 ? Status(ErrorCode::kIoError, "disk full") : Status::ok();
  });
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(), "disk full");
  EXPECT_EQ(calls, 3);
}

TEST(SsbGenerate, StopsOnRequest) {
  std::atomic<bool> stop = false;
  int calls = 0;
  const Status status = generate_table(small_plan(), Table::kLineorder, {4, &stop}, [&](const columnar::BatchView&) {
    stop = ++calls == 2;
    return Status::ok();
  });
  EXPECT_EQ(status.code(), ErrorCode::kCancelled);
  EXPECT_EQ(calls, 2);
}

TEST(SsbCopyFormat, IsWhatPostgresqlDocuments) {
  const std::string header = copy_header();
  EXPECT_EQ(header, std::string("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19));
  EXPECT_EQ(copy_trailer(), "\377\377");

  columnar::Field number, big, text;
  number.layout = columnar::Layout::kInt32;
  big.layout = columnar::Layout::kInt64;
  text.layout = columnar::Layout::kUtf8;
  columnar::ColumnBuilder numbers(number), bigs(big), texts(text);
  numbers.append<int32_t>(-2);
  bigs.append<int64_t>(0x0102030405060708);
  texts.append_bytes("ab");
  std::string bytes;
  append_copy_rows({1, {numbers.view(), bigs.view(), texts.view()}}, bytes);
  EXPECT_EQ(bytes, std::string("\0\3"
                               "\0\0\0\4\377\377\377\376"
                               "\0\0\0\10\1\2\3\4\5\6\7\10"
                               "\0\0\0\2ab",
                               2 + 8 + 12 + 6));
}

}  // namespace
}  // namespace strom::ssb
