// Rows of batches in order, and batches that are handed out again.
#include "pg/node/result_cursor.hpp"

#include <gtest/gtest.h>

namespace strom::pg::node {
namespace {

ResultCursor::Batch batch_of(int64_t rows, int64_t bytes) {
  auto batch = std::make_shared<engine::op::ResultBatch>();
  batch->rows = rows;
  batch->memory_bytes = bytes;
  return batch;
}

TEST(ResultCursor, has_no_row_before_the_first_batch) {
  ResultCursor cursor;
  EXPECT_FALSE(cursor.next_row());
  EXPECT_EQ(cursor.batch(), nullptr);
}

TEST(ResultCursor, moves_over_the_rows_of_a_batch) {
  ResultCursor cursor;
  const ResultCursor::Batch batch = batch_of(2, 1);
  cursor.take(batch, true, 100);
  EXPECT_EQ(cursor.row(), -1);
  EXPECT_TRUE(cursor.next_row());
  EXPECT_EQ(cursor.row(), 0);
  EXPECT_TRUE(cursor.next_row());
  EXPECT_EQ(cursor.batch(), batch.get());
  EXPECT_FALSE(cursor.next_row());
  EXPECT_EQ(cursor.batch(), nullptr);
  EXPECT_FALSE(cursor.next_cached());  // nothing is cached unless it is asked for
}

TEST(ResultCursor, hands_cached_batches_out_again) {
  ResultCursor cursor;
  cursor.start_caching();
  const ResultCursor::Batch first = batch_of(1, 40), second = batch_of(3, 40);
  cursor.take(first, true, 100);
  cursor.take(second, true, 100);
  EXPECT_FALSE(cursor.next_cached());
  EXPECT_TRUE(cursor.is_caching());
  for (int i = 0; i < 2; ++i) {
    cursor.rewind();
    EXPECT_EQ(cursor.batch(), nullptr);
    ASSERT_TRUE(cursor.next_cached());
    EXPECT_EQ(cursor.batch(), first.get());
    EXPECT_TRUE(cursor.next_row());
    ASSERT_TRUE(cursor.next_cached());
    EXPECT_EQ(cursor.batch(), second.get());
    EXPECT_FALSE(cursor.next_cached());
  }
}

TEST(ResultCursor, goes_on_with_new_batches_behind_the_cached_ones) {
  ResultCursor cursor;
  cursor.start_caching();
  cursor.take(batch_of(1, 10), true, 100);
  cursor.rewind();
  ASSERT_TRUE(cursor.next_cached());
  const ResultCursor::Batch second = batch_of(1, 10);
  cursor.take(second, true, 100);
  cursor.rewind();
  ASSERT_TRUE(cursor.next_cached());
  ASSERT_TRUE(cursor.next_cached());
  EXPECT_EQ(cursor.batch(), second.get());
}

TEST(ResultCursor, caches_no_more_than_the_limit) {
  ResultCursor cursor;
  cursor.start_caching();
  cursor.take(batch_of(1, 60), true, 100);
  EXPECT_TRUE(cursor.is_caching());
  cursor.take(batch_of(1, 60), true, 100);
  EXPECT_FALSE(cursor.is_caching());
  EXPECT_FALSE(cursor.next_cached());
  EXPECT_TRUE(cursor.next_row());  // the batch itself is there
}

TEST(ResultCursor, caches_nothing_once_it_may_not) {
  ResultCursor cursor;
  cursor.start_caching();
  cursor.take(batch_of(1, 1), true, 100);
  cursor.take(batch_of(1, 1), false, 100);
  EXPECT_FALSE(cursor.is_caching());
  cursor.take(batch_of(1, 1), true, 100);
  EXPECT_FALSE(cursor.is_caching());
}

TEST(ResultCursor, forgets_everything) {
  ResultCursor cursor;
  cursor.start_caching();
  cursor.take(batch_of(1, 60), true, 100);
  cursor.clear();
  EXPECT_FALSE(cursor.next_cached());
  EXPECT_FALSE(cursor.next_row());
  cursor.start_caching();
  cursor.take(batch_of(1, 60), true, 100);  // the bytes count anew
  EXPECT_TRUE(cursor.is_caching());
}

}  // namespace
}  // namespace strom::pg::node
