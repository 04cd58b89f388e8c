// See options.hpp.
#include "cli/options.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace strom::tool {

namespace {

Status usage(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

Result<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return usage("\"" + std::string(text) + "\" is not a whole number");
  }
  return value;
}

}  // namespace

Result<int64_t> parse_size(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  std::string unit(text.substr(digits));
  std::transform(unit.begin(), unit.end(), unit.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (unit.size() > 1 && unit.back() == 'b') unit.pop_back();
  int shift = 0;
  if (unit == "k") {
    shift = 10;
  } else if (unit == "m") {
    shift = 20;
  } else if (unit == "g") {
    shift = 30;
  } else if (unit == "t") {
    shift = 40;
  } else if (!unit.empty() && unit != "b") {
    return usage("\"" + std::string(text) + "\" is not a size such as 512k, 256m or 1g");
  }
  STROM_ASSIGN(const int64_t value, parse_integer(text.substr(0, digits)));
  if (value > (INT64_MAX >> shift)) return usage("\"" + std::string(text) + "\" is too large");
  return value << shift;
}

Result<int64_t> parse_seconds(std::string_view text) {
  constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400, kMost = 1000000000;
  size_t digits = 0;
  int64_t value = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && value < kMost)
    value = value * 10 + (text[digits++] - '0');
  const std::string_view unit = text.substr(digits);
  const int64_t factor = unit.empty() || unit == "s" ? 1
                         : unit == "m"               ? kMinute
                         : unit == "h"               ? kHour
                         : unit == "d"               ? kDay
                                                     : 0;
  if (digits == 0 || factor == 0 || value == 0 || value > kMost)
    return usage("\"" + std::string(text) + "\" is no time such as 30s, 5m, 1h or 1d");
  return value * factor;
}

Result<std::vector<std::string>> split_list(std::string_view text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        parts.back() += text[i++];
      } else {
        quoted = !quoted;
      }
    } else if (text[i] == ',' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  if (quoted) return usage("a quote in \"" + std::string(text) + "\" does not end");
  return parts;
}

OptionTable::OptionTable(std::string program, std::string summary, std::string description)
    : program_(std::move(program)), summary_(std::move(summary)), description_(std::move(description)) {}

Option& OptionTable::add(char letter, std::string name, std::string value, std::string help) {
  Option& option = options_.emplace_back();
  option.letter = letter;
  option.name = std::move(name);
  option.value = std::move(value);
  option.help = std::move(help);
  option.group = group_;
  return option;
}

Option& OptionTable::flag(char letter, std::string name, bool* target, std::string help) {
  Option& option = add(letter, std::move(name), {}, std::move(help));
  option.set = [target](const std::string&) {
    *target = true;
    return Status::ok();
  };
  return option;
}

Option& OptionTable::text(char letter, std::string name, std::string value, std::string* target, std::string help) {
  return custom(
      letter, std::move(name), std::move(value),
      [target](const std::string& text) {
        *target = text;
        return Status::ok();
      },
      std::move(help));
}

Option& OptionTable::list(char letter, std::string name, std::string value, std::vector<std::string>* target,
                          std::string help, bool split) {
  return custom(
      letter, std::move(name), std::move(value),
      [target, split](const std::string& text) -> Status {
        if (!split) {
          target->push_back(text);
          return Status::ok();
        }
        STROM_ASSIGN(const std::vector<std::string> parts, split_list(text));
        target->insert(target->end(), parts.begin(), parts.end());
        return Status::ok();
      },
      std::move(help));
}

Option& OptionTable::number(char letter, std::string name, int64_t* target, int64_t least, int64_t most,
                            std::string help) {
  return custom(
      letter, std::move(name), "N",
      [target, least, most](const std::string& text) -> Status {
        STROM_ASSIGN(*target, parse_integer(text));
        if (*target >= least && *target <= most) return Status::ok();
        return usage(text + " is not between " + std::to_string(least) + " and " + std::to_string(most));
      },
      std::move(help));
}

Option& OptionTable::size(char letter, std::string name, int64_t* target, int64_t least, std::string help) {
  return custom(
      letter, std::move(name), "SIZE",
      [target, least](const std::string& text) -> Status {
        STROM_ASSIGN(*target, parse_size(text));
        if (*target >= least) return Status::ok();
        return usage(text + " is less than " + std::to_string(least) + " bytes");
      },
      std::move(help));
}

Option& OptionTable::seconds(char letter, std::string name, int64_t* target, std::string help) {
  return custom(
      letter, std::move(name), "TIME",
      [target](const std::string& text) -> Status {
        STROM_ASSIGN(*target, parse_seconds(text));
        return Status::ok();
      },
      std::move(help));
}

Option& OptionTable::custom(char letter, std::string name, std::string value,
                            std::function<Status(const std::string&)> set, std::string help) {
  Option& option = add(letter, std::move(name), std::move(value), std::move(help));
  option.set = std::move(set);
  return option;
}

void OptionTable::positional(std::string name, std::function<Status(const std::string&)> set, std::string help,
                             bool repeated, bool is_file) {
  positionals_.push_back({std::move(name), std::move(help), repeated, is_file, std::move(set)});
}

void OptionTable::files(std::vector<std::string>* files, std::string help) {
  const auto add = [files](const std::string& path) {
    files->push_back(path);
    return Status::ok();
  };
  positional("FILE", add, std::move(help), true, true);
}

std::vector<std::string> OptionTable::groups() const {
  std::vector<std::string> found;
  for (const Option& option : options_) {
    if (std::find(found.begin(), found.end(), option.group) == found.end()) found.push_back(option.group);
  }
  return found;
}

}  // namespace strom::tool
