// Sums over executions.
#include "pg/node/run_statistics.hpp"

#include <gtest/gtest.h>

namespace strom::pg::node {
namespace {

using engine::exec::Stats;

TEST(AddStatistics, adds_counts_and_takes_the_largest_of_memory_and_threads) {
  Stats sum, one;
  one.rows = 5;
  one.chunks = 2;
  one.peak_memory = 70;
  one.threads = 3;
  one.passes = 1;
  one.milliseconds = {1.5, 2};
  one.stages = {{{"filter", 10, 4}}};
  add_statistics(&sum, one);
  one.peak_memory = 50;
  one.threads = 4;
  one.milliseconds = {1};
  add_statistics(&sum, one);
  EXPECT_EQ(sum.rows, 10);
  EXPECT_EQ(sum.chunks, 4);
  EXPECT_EQ(sum.peak_memory, 70);
  EXPECT_EQ(sum.threads, 4);
  EXPECT_EQ(sum.passes, 1);
  EXPECT_EQ(sum.milliseconds, (std::vector<double>{2.5, 2}));
  ASSERT_EQ(sum.stages.size(), 1u);
  EXPECT_EQ(sum.stages[0][0].name, "filter");
  EXPECT_EQ(sum.stages[0][0].rows_in, 20);
  EXPECT_EQ(sum.stages[0][0].rows_out, 8);
}

}  // namespace
}  // namespace strom::pg::node
