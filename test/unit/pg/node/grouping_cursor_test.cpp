// Which grouping sets groups are handed over for.
#include "pg/node/grouping_cursor.hpp"

#include <gtest/gtest.h>

namespace strom::pg::node {
namespace {

TEST(GroupingCursor, hands_each_group_over_once_without_sets) {
  GroupingCursor cursor({});
  EXPECT_FALSE(cursor.next_empty());
  EXPECT_FALSE(cursor.next_of_row());
  cursor.begin_row(-1);
  EXPECT_EQ(cursor.set(), 0u);
  EXPECT_FALSE(cursor.next_of_row());
}

TEST(GroupingCursor, hands_each_group_over_for_each_set) {
  GroupingCursor cursor({false, false, false});
  EXPECT_FALSE(cursor.next_empty());
  for (int row = 0; row < 2; ++row) {
    cursor.begin_row(-1);
    EXPECT_EQ(cursor.set(), 0u);
    EXPECT_TRUE(cursor.next_of_row());
    EXPECT_TRUE(cursor.next_of_row());
    EXPECT_EQ(cursor.set(), 2u);
    EXPECT_FALSE(cursor.next_of_row());
  }
  cursor.end_rows();
  EXPECT_FALSE(cursor.next_of_row());
}

TEST(GroupingCursor, hands_groups_of_one_set_over_once) {
  GroupingCursor cursor({false, false, false});
  cursor.begin_row(1);
  EXPECT_EQ(cursor.set(), 1u);
  EXPECT_FALSE(cursor.next_of_row());
}

TEST(GroupingCursor, begins_with_the_groups_of_empty_sets) {
  GroupingCursor cursor({false, true, false, true});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(cursor.next_empty());
    EXPECT_EQ(cursor.set(), 1u);
    EXPECT_FALSE(cursor.next_of_row());
    EXPECT_TRUE(cursor.next_empty());
    EXPECT_EQ(cursor.set(), 3u);
    EXPECT_FALSE(cursor.next_empty());
    cursor.begin_row(-1);
    EXPECT_TRUE(cursor.next_of_row());
    EXPECT_FALSE(cursor.next_empty());
    cursor.restart();
  }
}

}  // namespace
}  // namespace strom::pg::node
