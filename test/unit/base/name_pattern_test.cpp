#include "base/name_pattern.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <random>
#include <regex>

namespace strom::base {
namespace {

std::string matched(std::string_view pattern, std::string_view name) {
  auto parsed = NamePattern::parse(pattern);
  if (!parsed.is_ok()) return parsed.status().message();
  std::vector<std::string_view> values;
  if (!parsed.value().match(name, &values)) return "no";
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += parsed.value().keys()[i].name + "=" + std::string(values[i]) + ";";
  return text;
}

TEST(NamePattern, TakesKeysOut) {
  EXPECT_EQ(matched("f_lineorder_@{year_month}_${shipmode}.arrow", "f_lineorder_199301_AIR.arrow"),
            "year_month=199301;shipmode=AIR;");
  EXPECT_EQ(matched("f_lineorder_@{year_month}_${shipmode}.arrow", "f_lineorder_x_AIR.arrow"), "no");
  EXPECT_EQ(matched("${a}_${b}", "x_y_z"), "a=x;b=y_z;");
  EXPECT_EQ(matched("*_${b}", "x_y_z"), "b=y_z;");
  EXPECT_EQ(matched("${a}@{n}", "abc123"), "a=abc;n=123;");
  EXPECT_EQ(matched("@{n}1*", "1111"), "n=111;");
  EXPECT_EQ(matched("@{a}@{b}", "123"), "a=12;b=3;");
  EXPECT_EQ(matched("@{a}@{b}", "1"), "no");
  EXPECT_EQ(matched("@{n}", ""), "no");
  EXPECT_EQ(matched("${t}", ""), "t=;");
  EXPECT_EQ(matched("", ""), "");
  EXPECT_EQ(matched("", "x"), "no");
  EXPECT_EQ(matched("\\*\\${a}$@", "*${a}$@"), "");
  EXPECT_EQ(matched("größe_${g}", "größe_日本"), "g=日本;");
}

TEST(NamePattern, RefusesWhatIsMeaningless) {
  EXPECT_EQ(matched("a\\", "a"), "pattern \"a\\\" ends with a backslash");
  EXPECT_EQ(matched("a${b", "a"), "pattern \"a${b\" has a key without its closing brace");
  EXPECT_EQ(matched("a@{}", "a"), "pattern \"a@{}\" has a key without a name");
  EXPECT_EQ(matched("${a${b}", "a"), "pattern \"${a${b}\" has a brace in the name of a key");
  EXPECT_EQ(matched("${a}@{a}", "a"), "pattern \"${a}@{a}\" has the key \"a\" twice");
  EXPECT_EQ(matched(std::string(5000, '*'), "a"), "pattern \"" + std::string(64, '*') + "\" is too long");
}

TEST(NamePattern, IsNotSlowOnHardNames) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_EQ(matched(pattern + "b", std::string(255, 'a')), "no");
  for (int i = 0; i < 1900; ++i) pattern += "*a";
  EXPECT_EQ(matched(pattern + "b", std::string(4096, 'a')), "no");
  std::string numbers;
  for (int i = 0; i < 500; ++i) numbers += "@{" + std::to_string(i) + "}";
  EXPECT_EQ(matched(numbers + "b", std::string(4096, '1')), "no");
  std::string turns;
  for (int i = 0; i < 450; ++i) turns += "*@{" + std::to_string(i) + "}";
  EXPECT_EQ(matched(turns + "b", std::string(4096, '1')), "no");
}

/// On a stack that is small, as a backend's may be.
TEST(NamePattern, ManyPartsNeedNoStack) {
  std::string pattern;
  for (int i = 0; i < 2048; ++i) pattern += "*a";
  std::string outcome;
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{128} << 10), 0);
  std::function<void()> match = [&] { outcome = matched(pattern, std::string(2048, 'a')); };
  const auto run = [](void* job) -> void* { return (*static_cast<std::function<void()>*>(job))(), nullptr; };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &match), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(outcome, "");
}

TEST(NamePattern, SaysTheSameAsRegularExpressions) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string pattern, expression, name;
    int keys = 0;
    for (auto n = random() % 6; n > 0; --n) {
      switch (random() % 4) {
        case 0: pattern += "*", expression += "[^]*?"; break;
        case 1: pattern += "${k" + std::to_string(keys++) + "}", expression += "([^]*?)"; break;
        case 2: pattern += "@{k" + std::to_string(keys++) + "}", expression += "([0-9]+)"; break;
        default: pattern += "a", expression += "a"; break;
      }
    }
    for (auto n = random() % 8; n > 0; --n) name += "a1b"[random() % 3];
    std::smatch found;
    std::string expected = "no";
    if (std::regex_match(name, found, std::regex(expression))) {
      expected.clear();
      for (int k = 0; k < keys; ++k)
        expected += "k" + std::to_string(k) + "=" + found[static_cast<size_t>(k) + 1].str() + ";";
    }
    EXPECT_EQ(matched(pattern, name), expected) << pattern << " " << name;
  }
}

}  // namespace
}  // namespace strom::base
