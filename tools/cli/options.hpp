// One table of options for each tool. From it come the parser, --help, the manual page and the shell completions, so
// that they cannot differ. Used by every tool in tools/.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace strom::tool {

/// One option, or one positional argument. Made by OptionTable; the functions refine what it made.
struct Option {
  char letter = 0;                     // -x; 0: none
  char other_letter = 0;               // another one, that is shown beside it; 0: none
  std::string name;                    // --name, without dashes
  std::vector<std::string> spellings;  // other names that are accepted and not shown
  std::string value;                   // what the value is called in the help; empty: a flag
  std::optional<std::string> bare;     // the value of `--name` alone: `--progress` is `--progress=text`
  std::vector<std::string> choices;    // the values there are, when there are few
  bool is_file = false;                // for completion
  std::string help;
  std::string group;
  std::function<Status(const std::string&)> set;

  Option& also(std::string spelling) {
    spellings.push_back(std::move(spelling));
    return *this;
  }
  Option& also(char other) {
    other_letter = other;
    return *this;
  }
  Option& alone_means(std::string text) {
    bare = std::move(text);
    return *this;
  }
  /// Other values are refused.
  Option& one_of(std::vector<std::string> values) {
    choices = std::move(values);
    return *this;
  }
  Option& file() {
    is_file = true;
    return *this;
  }
};

struct Example {
  std::string command, meaning;
};

/// What a tool can be told. Options write to variables of the caller, which outlive the table. An option that is given
/// twice has its last value, unless it is a list.
class OptionTable {
 public:
  /// `summary`: half a sentence for the title; `description`: paragraphs, separated by empty lines.
  OptionTable(std::string program, std::string summary, std::string description);

  /// Options that are added from now on stand under this heading.
  void group(std::string heading) { group_ = std::move(heading); }
  Option& flag(char letter, std::string name, bool* target, std::string help);
  Option& text(char letter, std::string name, std::string value, std::string* target, std::string help);
  /// Given several times, or once with commas between: `a,b`. With `split` false commas are part of the values.
  Option& list(char letter, std::string name, std::string value, std::vector<std::string>* target, std::string help,
               bool split = true);
  Option& number(char letter, std::string name, int64_t* target, int64_t least, int64_t most, std::string help);
  /// Bytes, with k, m, g or t (powers of 1024).
  Option& size(char letter, std::string name, int64_t* target, int64_t least, std::string help);
  /// Seconds, also as 30s, 5m, 1h or 1d; one at least.
  Option& seconds(char letter, std::string name, int64_t* target, std::string help);
  /// Anything else: `set` is called in the order of the command line; a failure is a usage error.
  Option& custom(char letter, std::string name, std::string value, std::function<Status(const std::string&)> set,
                 std::string help);
  /// Arguments without a dash, in order; one that is `repeated` takes all that are left.
  void positional(std::string name, std::function<Status(const std::string&)> set, std::string help,
                  bool repeated = false, bool is_file = false);
  /// FILE, as often as there are files.
  void files(std::vector<std::string>* files, std::string help);
  /// At most one of these may be given.
  void exclusive(std::vector<std::string> names) { exclusive_.push_back(std::move(names)); }
  void example(std::string command, std::string meaning) {
    examples_.push_back({std::move(command), std::move(meaning)});
  }
  /// A library whose version -V tells, e.g. "libpq 15.3".
  void library(std::string name_and_version) { libraries_.push_back(std::move(name_and_version)); }

  struct Positional {
    std::string name, help;
    bool repeated = false, is_file = false;
    std::function<Status(const std::string&)> set;
  };

  const std::string& program() const { return program_; }
  const std::string& summary() const { return summary_; }
  const std::string& description() const { return description_; }
  const std::deque<Option>& options() const { return options_; }
  const std::vector<Positional>& positionals() const { return positionals_; }
  const std::vector<std::vector<std::string>>& exclusive_names() const { return exclusive_; }
  const std::vector<Example>& examples() const { return examples_; }
  const std::vector<std::string>& libraries() const { return libraries_; }
  /// The headings, in the order in which options were added.
  std::vector<std::string> groups() const;

 private:
  Option& add(char letter, std::string name, std::string value, std::string help);

  std::string program_, summary_, description_, group_ = "General";
  std::deque<Option> options_;  // a deque: references stay
  std::vector<Positional> positionals_;
  std::vector<std::vector<std::string>> exclusive_;
  std::vector<Example> examples_;
  std::vector<std::string> libraries_;
};

/// Parses the command line (without the program's name) into the table's targets. kInvalidParameter: a usage error, in
/// one line.
Status parse(const OptionTable& table, const std::vector<std::string>& arguments);

std::string help_text(const OptionTable& table);
std::string version_text(const OptionTable& table);
/// The manual page, for man(1) (roff).
std::string manual_page(const OptionTable& table);
/// `shell`: bash, zsh or fish.
std::string completion_script(const OptionTable& table, std::string_view shell);

/// `12`, `64k`, `256MB`, `1g`: bytes, by powers of 1024.
Result<int64_t> parse_size(std::string_view text);
/// `90`, `30s`, `5m`, `1h`, `2d`: seconds.
Result<int64_t> parse_seconds(std::string_view text);
/// Parts between commas; a part in double quotes may hold commas, "" in it stands for one quote.
Result<std::vector<std::string>> split_list(std::string_view text);

}  // namespace strom::tool
