// Completions for bash, zsh and fish. See options.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "cli/options.hpp"

namespace strom::tool {

namespace {

bool takes_files(const OptionTable& table) {
  return std::any_of(table.positionals().begin(), table.positionals().end(),
                     [](const auto& positional) { return positional.is_file; });
}

std::string function_name(const OptionTable& table) {
  std::string name = "_" + table.program();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string bash(const OptionTable& table) {
  std::string words, cases;
  for (const Option& option : table.options()) {
    words += fmt::format(" --{}{}", option.name, option.value.empty() || option.bare ? "" : "=");
    if (option.value.empty() || (option.choices.empty() && !option.is_file)) continue;
    std::string patterns = "--" + option.name;
    for (const char letter : {option.letter, option.other_letter})
      if (letter != 0) patterns += fmt::format("|-{}", letter);
    const std::string what = option.is_file ? "-f" : fmt::format("-W '{}'", fmt::join(option.choices, " "));
    cases += fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$current\")); return ;;\n", patterns, what);
  }
  return fmt::format(R"({0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  if [[ $current == '=' ]]; then current=''; fi
  if [[ $previous == '=' ]]; then previous=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
  case $previous in
{1}  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W '{2}' -- "$current"))
    [[ ${{COMPREPLY[0]-}} != *= ]] || compopt -o nospace
    return
  fi
{3}}}
complete -F {0} {4}
)",
                     function_name(table), cases, words.substr(words.empty() ? 0 : 1),
                     takes_files(table) ? "  COMPREPLY=($(compgen -f -- \"$current\"))\n" : "  COMPREPLY=()\n",
                     table.program());
}

std::string zsh(const OptionTable& table) {
  const auto quoted = [](const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '\'') {
        out += "'\\''";
      } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
        out += std::string("\\") + c;
      } else {
        out += c;
      }
    }
    return out;
  };
  std::string out = fmt::format("#compdef {}\n_arguments -s", table.program());
  for (const Option& option : table.options()) {
    std::string value;
    if (!option.value.empty()) {
      value = fmt::format("{}{}:", option.bare ? "::" : ":", quoted(option.value));
      if (option.is_file) value += "_files";
      if (!option.choices.empty()) value += fmt::format("({})", fmt::join(option.choices, " "));
    }
    const auto spec = [&](const std::string& name, const char* join) {
      out += fmt::format(" \\\n  '*{}{}[{}]{}'", name, option.value.empty() ? "" : join, quoted(option.help), value);
    };
    spec("--" + option.name, option.bare ? "=-" : "=");
    for (const char letter : {option.letter, option.other_letter})
      if (letter != 0) spec(std::string("-") + letter, option.bare ? "-" : "+");
  }
  for (const auto& positional : table.positionals()) {
    out += fmt::format(" \\\n  '{}:{}:{}'", positional.repeated ? "*" : "", quoted(positional.name),
                       positional.is_file ? "_files" : "");
  }
  return out + "\n";
}

std::string fish(const OptionTable& table) {
  const auto quoted = [](const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
    return out + "'";
  };
  std::string out;
  if (!takes_files(table)) out += fmt::format("complete -c {} -f\n", table.program());
  for (const Option& option : table.options()) {
    out += fmt::format("complete -c {} -l {}", table.program(), option.name);
    for (const char letter : {option.letter, option.other_letter})
      if (letter != 0) out += fmt::format(" -s {}", letter);
    if (!option.value.empty() && !option.bare) out += option.is_file ? " -r -F" : " -x";
    if (!option.choices.empty()) out += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
    out += fmt::format(" -d {}\n", quoted(option.help));
  }
  return out;
}

}  // namespace

std::string completion_script(const OptionTable& table, std::string_view shell) {
  if (shell == "zsh") return zsh(table);
  if (shell == "fish") return fish(table);
  return bash(table);
}

}  // namespace strom::tool
