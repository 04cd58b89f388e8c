// The option table and its parser.
#include "cli/options.hpp"

#include <gtest/gtest.h>

namespace strom::tool {
namespace {

struct Parsed {
  bool force = false, verbose = false;
  std::string output = "unset", progress, name;
  std::vector<std::string> columns, commands, rest;
  int64_t workers = 1, size = 0;
  Status status;
};

Parsed parsed(const std::vector<std::string>& arguments) {
  Parsed out;
  OptionTable table("probe", "tests options", "");
  table.flag('f', "force", &out.force, "");
  table.flag('v', "verbose", &out.verbose, "");
  table.text('o', "output", "FILE", &out.output, "");
  table.text('p', "progress", "MODE", &out.progress, "").alone_means("text").one_of({"text", "json"});
  table.list('S', "stats", "COLS", &out.columns, "").also("stat").alone_means("*");
  table.list('c', "command", "SQL", &out.commands, "", false);
  table.number('n', "workers", &out.workers, 1, 9999, "");
  table.size('s', "segment-size", &out.size, 1, "");
  table.text(0, "name", "NAME", &out.name, "");
  table.exclusive({"name", "workers"});
  table.positional(
      "DB",
      [&](const std::string& text) {
        out.rest.push_back(text);
        return Status::ok();
      },
      "");
  table.positional(
      "USER",
      [&](const std::string& text) {
        out.rest.push_back(text);
        return Status::ok();
      },
      "");
  out.status = parse(table, arguments);
  return out;
}

std::string error(const std::vector<std::string>& arguments) { return parsed(arguments).status.message(); }

TEST(Options, LongShortAndAttachedValues) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"-o", "x", "-n", "4", "-f"},
                                                                     {"-ox", "-n4", "-f"},
                                                                     {"--output=x", "--workers=4", "--force"},
                                                                     {"--output", "x", "--workers", "4", "-f"},
                                                                     {"-fox", "-n", "4"}}) {
    const Parsed out = parsed(arguments);
    ASSERT_TRUE(out.status.is_ok()) << out.status.message();
    EXPECT_EQ(out.output, "x");
    EXPECT_EQ(out.workers, 4);
    EXPECT_TRUE(out.force);
    EXPECT_FALSE(out.verbose);
  }
}

TEST(Options, ValuesOfEveryKind) {
  EXPECT_EQ(parsed({"-o", "-"}).output, "-");
  EXPECT_EQ(parsed({"--output="}).output, "");
  EXPECT_EQ(parsed({"-o", ""}).output, "");
  EXPECT_EQ(parsed({"-o", "a=b"}).output, "a=b");
  EXPECT_EQ(parsed({"--output=a=b c"}).output, "a=b c");
  EXPECT_EQ(parsed({"-o", "x", "-o", "y"}).output, "y");
  EXPECT_EQ(parsed({"-c", "SELECT -1, 2"}).commands, std::vector<std::string>{"SELECT -1, 2"});
  EXPECT_EQ(parsed({"-c", "-- comment\nSELECT"}).commands, std::vector<std::string>{"-- comment\nSELECT"});
  EXPECT_EQ(parsed({"-c", "a", "--command=b,c"}).commands, (std::vector<std::string>{"a", "b,c"}));
  EXPECT_EQ(parsed({"-s", "256MB"}).size, 256 << 20);
}

TEST(Options, ValueThatMayBeLeftOut) {
  EXPECT_EQ(parsed({"--progress", "db"}).progress, "text");
  EXPECT_EQ(parsed({"--progress", "db"}).rest, std::vector<std::string>{"db"});
  EXPECT_EQ(parsed({"-p", "db"}).progress, "text");
  EXPECT_EQ(parsed({"--progress=json"}).progress, "json");
  EXPECT_EQ(parsed({"--stat"}).columns, std::vector<std::string>{"*"});
  EXPECT_EQ(parsed({"-Sa,b"}).columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parsed({"--stat=a", "--stats=\"b,c\""}).columns, (std::vector<std::string>{"a", "b,c"}));
}

TEST(Options, Positionals) {
  EXPECT_EQ(parsed({"db", "-f", "me"}).rest, (std::vector<std::string>{"db", "me"}));
  EXPECT_EQ(parsed({"--", "-db"}).rest, std::vector<std::string>{"-db"});
  EXPECT_EQ(error({"a", "b", "c"}), "there is no place for the argument \"c\"");
}

TEST(Options, UsageErrors) {
  EXPECT_EQ(error({"--outptu=x"}), "unknown option --outptu; did you mean --output?");
  EXPECT_EQ(error({"--qqqqqqqqqq"}), "unknown option --qqqqqqqqqq; see probe --help");
  EXPECT_EQ(error({"-x"}), "unknown option -x; see probe --help");
  EXPECT_EQ(error({"-n", "none"}), "--workers: \"none\" is not a whole number");
  EXPECT_EQ(error({"-n", "0"}), "--workers: 0 is not between 1 and 9999");
  EXPECT_EQ(error({"-n", "99999999999999999999"}), "--workers: \"99999999999999999999\" is not a whole number");
  EXPECT_EQ(error({"--progress=xml"}), "--progress: \"xml\" is none of text, json");
  EXPECT_EQ(error({"--name=a", "-n", "2"}), "--name and --workers exclude each other");
  EXPECT_EQ(error({"-f", "-o"}), "option -o needs a value; see probe --help");
  EXPECT_EQ(error({"--output"}), "option --output needs a value; see probe --help");
  EXPECT_EQ(error({"--force=1"}), "--force takes no value");
}

TEST(Options, Sizes) {
  const auto size = [](const char* text) { return parse_size(text).is_ok() ? parse_size(text).value() : -1; };
  EXPECT_EQ(size("1"), 1);
  EXPECT_EQ(size("4k"), 4096);
  EXPECT_EQ(size("4KB"), 4096);
  EXPECT_EQ(size("1g"), 1 << 30);
  EXPECT_EQ(size("2T"), int64_t{2} << 40);
  for (const char* text : {"", "k", "-1", "1.5m", "1x", "9999999999g", "1kk"}) EXPECT_EQ(size(text), -1) << text;
}

TEST(Options, Seconds) {
  const auto time = [](const char* text) { return parse_seconds(text).is_ok() ? parse_seconds(text).value() : -1; };
  EXPECT_EQ(time("90"), 90);
  EXPECT_EQ(time("30s"), 30);
  EXPECT_EQ(time("5m"), 300);
  EXPECT_EQ(time("1h"), 3600);
  EXPECT_EQ(time("2d"), 172800);
  for (const char* text : {"", "0", "s", "-1", "1.5h", "1w", "1hh", "1000000001"}) EXPECT_EQ(time(text), -1) << text;
}

TEST(Options, Lists) {
  EXPECT_EQ(split_list("a,b").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split_list("").value(), std::vector<std::string>{""});
  EXPECT_EQ(split_list("\"a,\"\"b\"\"\",c").value(), (std::vector<std::string>{"a,\"b\"", "c"}));
  EXPECT_FALSE(split_list("\"a").is_ok());
}

}  // namespace
}  // namespace strom::tool
