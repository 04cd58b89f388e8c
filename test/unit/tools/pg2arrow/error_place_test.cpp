// Where in a statement an error is.
#include "pg2arrow/error_place.hpp"

#include <gtest/gtest.h>

namespace strom::pg2arrow {
namespace {

TEST(ErrorPlace, is_under_the_character) {
  EXPECT_EQ(error_place("SELEC 1", 1), "LINE 1: SELEC 1\n        ^");
  EXPECT_EQ(error_place("SELECT a,\n\tnope FROM t\nWHERE b", 12), "LINE 2:  nope FROM t\n         ^");
  EXPECT_EQ(error_place("SELECT", 7), "LINE 1: SELECT\n              ^");
}

TEST(ErrorPlace, counts_characters_rather_than_bytes) {
  EXPECT_EQ(error_place("SELECT 'äöü', x", 15), "LINE 1: SELECT 'äöü', x\n                      ^");
}

TEST(ErrorPlace, cuts_long_lines) {
  const std::string shown = error_place("SELECT " + std::string(500, 'a') + " x " + std::string(500, 'b'), 509);
  const size_t mark = shown.find('\n');
  EXPECT_LT(mark, 100u);
  EXPECT_EQ(shown[shown.size() - 1 - mark - 1], 'x');
  EXPECT_EQ(shown.find("LINE 1: ...aaa"), 0u);
  EXPECT_EQ(shown.substr(mark - 4, 4), "b...");
}

TEST(ErrorPlace, nothing_where_there_is_none) {
  EXPECT_EQ(error_place("SELECT 1", 0), "");
  EXPECT_EQ(error_place("", 1), "");
}

}  // namespace
}  // namespace strom::pg2arrow
