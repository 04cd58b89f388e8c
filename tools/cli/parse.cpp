// The command line, taken apart by CLI11 as the table says. See options.hpp.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "base/nearest_name.hpp"
#include "cli/options.hpp"

namespace strom::tool {

namespace {

Status usage(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

/// Stands for an empty value, which CLI11 would take for a missing one.
const std::string kEmpty(1, '\0');

bool has_name(const Option& option, std::string_view name) {
  return option.name == name ||
         std::find(option.spellings.begin(), option.spellings.end(), name) != option.spellings.end();
}

const Option* find_option(const OptionTable& table, std::string_view name) {
  for (const Option& option : table.options()) {
    if (has_name(option, name)) return &option;
  }
  return nullptr;
}

/// One argument as CLI11 is to see it: an option that may stand alone gets its value, so that the next argument is not
/// taken for it.
std::string completed(const OptionTable& table, const std::string& argument) {
  if (argument.size() == 2 && argument[0] == '-') {
    for (const Option& option : table.options()) {
      if ((option.letter == argument[1] || option.other_letter == argument[1]) && option.bare)
        return "--" + option.name + "=" + *option.bare;
    }
  }
  if (argument.rfind("--", 0) != 0) return argument;
  const size_t equals = argument.find('=');
  const Option* option = find_option(table, std::string_view(argument).substr(2, equals - 2));
  if (option == nullptr) return argument;
  if (equals == std::string::npos) return option->bare ? argument + "=" + *option->bare : argument;
  return equals + 1 == argument.size() && !option->value.empty() ? argument + kEmpty : argument;
}

/// Only the last argument can lack its value: any other takes the next one.
Status missing_value(const OptionTable& table, const std::string& last) {
  return usage("option " + last + " needs a value; see " + table.program() + " --help");
}

Status unknown_option(const OptionTable& table, const std::string& argument) {
  std::string message = "unknown option " + argument.substr(0, argument.find('='));
  std::vector<std::string_view> known;
  for (const Option& option : table.options()) known.push_back(option.name);
  std::string_view nearest;
  if (argument.rfind("--", 0) == 0) {
    nearest = base::nearest_name(std::string_view(argument).substr(2, argument.find('=') - 2), known);
  }
  if (!nearest.empty()) return usage(message + "; did you mean --" + std::string(nearest) + "?");
  return usage(message + "; see " + table.program() + " --help");
}

Status set_option(const Option& option, const std::string& value) {
  const auto& choices = option.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
    std::string all;
    for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
    return usage("--" + option.name + ": \"" + value + "\" is none of " + all);
  }
  Status status = option.set(value);
  if (status.is_ok()) return status;
  return usage("--" + option.name + ": " + status.message());
}

Status apply_positionals(const OptionTable& table, const std::vector<std::string>& values) {
  const auto& positionals = table.positionals();
  for (size_t i = 0; i < values.size(); ++i) {
    const bool beyond = i >= positionals.size();
    if (beyond && (positionals.empty() || !positionals.back().repeated)) {
      return usage("there is no place for the argument \"" + values[i] + "\"");
    }
    STROM_TRY(positionals[beyond ? positionals.size() - 1 : i].set(values[i]));
  }
  return Status::ok();
}

Status check_exclusive(const OptionTable& table, const CLI::App& app) {
  for (const auto& names : table.exclusive_names()) {
    std::string first;
    for (const std::string& name : names) {
      if (app.get_option("--" + name)->count() == 0) continue;
      if (!first.empty()) return usage("--" + first + " and --" + name + " exclude each other");
      first = name;
    }
  }
  return Status::ok();
}

Status check_flags(const OptionTable& table, const std::string& argument) {
  const size_t equals = argument.find('=');
  if (argument.rfind("--", 0) != 0 || equals == std::string::npos) return Status::ok();
  const Option* option = find_option(table, std::string_view(argument).substr(2, equals - 2));
  if (option == nullptr || !option->value.empty()) return Status::ok();
  return usage("--" + option->name + " takes no value");
}

}  // namespace

Status parse(const OptionTable& table, const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<const CLI::Option*, const Option*> known;
  for (const Option& option : table.options()) {
    std::string names = "--" + option.name;
    for (const std::string& spelling : option.spellings) names += ",--" + spelling;
    for (const char letter : {option.letter, option.other_letter})
      if (letter != 0) names += std::string(",-") + letter;
    CLI::Option* cli = option.value.empty() ? app.add_flag(names) : app.add_option(names);
    if (!option.value.empty()) cli->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    known.emplace(cli, &option);
  }
  // CLI11 reads backwards. What follows `--` is left to us.
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> reversed;
  for (auto at = separator; at != arguments.begin(); --at) {
    STROM_TRY(check_flags(table, at[-1]));
    reversed.push_back(completed(table, at[-1]));
  }
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch&) {
    return missing_value(table, arguments.empty() ? std::string() : separator[-1]);
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    return usage(message);
  }
  std::vector<std::string> values;
  Status unknown;  // returned at the end, so that --help beside it is heard
  for (const std::string& argument : app.remaining()) {
    const bool is_option = argument.size() > 1 && argument[0] == '-';
    if (is_option && unknown.is_ok()) unknown = unknown_option(table, argument);
    if (!is_option) values.push_back(argument);
  }
  if (separator != arguments.end()) values.insert(values.end(), separator + 1, arguments.end());
  std::map<const CLI::Option*, size_t> taken;
  for (const CLI::Option* cli : app.parse_order()) {
    const auto& results = cli->results();
    const size_t index = taken[cli]++;
    const std::string value = index < results.size() ? results[index] : std::string();
    STROM_TRY(set_option(*known.at(cli), value == kEmpty ? std::string() : value));
  }
  STROM_TRY(unknown);
  STROM_TRY(check_exclusive(table, app));
  return apply_positionals(table, values);
}

}  // namespace strom::tool
