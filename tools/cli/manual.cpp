// --help, -V and the manual page. See options.hpp.
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <sstream>

#include "cli/options.hpp"

namespace strom::tool {

namespace {

constexpr size_t kWidth = 100;      // of the help
constexpr size_t kHelpColumn = 30;  // where the explanations start

/// `-n, --num-workers=N`, `-u, -U, --user=USER`.
std::string shown(const Option& option) {
  std::string text = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "    ";
  if (option.other_letter != 0) text += fmt::format("-{}, ", option.other_letter);
  text += "--" + option.name;
  if (!option.value.empty()) text += option.bare ? "[=" + option.value + "]" : "=" + option.value;
  return text;
}

/// The explanation, with the values there are.
std::string explained(const Option& option) {
  if (option.choices.empty()) return option.help;
  return fmt::format("{} ({})", option.help, fmt::join(option.choices, ", "));
}

/// Words of `text` in lines, each line but the first indented.
std::string wrapped(const std::string& text, size_t indent) {
  std::istringstream words(text);
  std::string out, word;
  size_t column = indent;
  while (words >> word) {
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string synopsis(const OptionTable& table) {
  std::string text = table.program() + " [OPTION]…";
  for (const auto& positional : table.positionals()) {
    text += fmt::format(" [{}]{}", positional.name, positional.repeated ? "…" : "");
  }
  return text;
}

std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("\n\n", begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return out;
}

/// Text as roff wants it: backslashes, dashes that can be copied, and no dot or quote at the start of a line.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.empty() || (out[0] != '.' && out[0] != '\'') ? out : "\\&" + out;
}

}  // namespace

std::string help_text(const OptionTable& table) {
  std::string out = fmt::format("{} - {}\n\nusage: {}\n", table.program(), table.summary(), synopsis(table));
  for (const std::string& paragraph : paragraphs(table.description())) out += "\n" + wrapped(paragraph, 0) + "\n";
  if (!table.positionals().empty()) out += "\nArguments:\n";
  const auto line = [&](const std::string& left, const std::string& right) {
    const bool fits = left.size() + 4 <= kHelpColumn;
    out +=
        "  " + left + (fits ? std::string(kHelpColumn - 2 - left.size(), ' ') : "\n" + std::string(kHelpColumn, ' '));
    out += wrapped(right, kHelpColumn) + "\n";
  };
  for (const auto& positional : table.positionals()) line(positional.name, positional.help);
  for (const std::string& group : table.groups()) {
    out += "\n" + group + ":\n";
    for (const Option& option : table.options()) {
      if (option.group == group) line(shown(option), explained(option));
    }
  }
  if (!table.examples().empty()) out += "\nExamples:\n";
  for (const Example& example : table.examples()) {
    out += fmt::format("  {}\n      {}\n", example.command, wrapped(example.meaning, 6));
  }
  return out;
}

std::string version_text(const OptionTable& table) {
  std::string libraries = fmt::format("zstd {}, lz4 {}, fmt {}.{}.{}", ZSTD_versionString(), LZ4_versionString(),
                                      FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  for (const std::string& library : table.libraries()) libraries += ", " + library;
  return fmt::format("{} (PG-Strom) {}\n{}\n", table.program(), STROM_VERSION, libraries);
}

std::string manual_page(const OptionTable& table) {
  std::string out = fmt::format(
      ".TH {} 1 \"\" \"PG-Strom {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n.SH DESCRIPTION\n", roff(table.program()),
      STROM_VERSION, roff(table.program()), roff(table.summary()), roff(synopsis(table)));
  for (const std::string& paragraph : paragraphs(table.description())) out += ".PP\n" + roff(paragraph) + "\n";
  if (!table.positionals().empty()) out += ".SH ARGUMENTS\n";
  const auto item = [&](const std::string& left, const std::string& right) {
    out += ".TP\n.B " + roff(left) + "\n" + roff(right) + "\n";
  };
  for (const auto& positional : table.positionals()) item(positional.name, positional.help);
  out += ".SH OPTIONS\n";
  for (const std::string& group : table.groups()) {
    out += ".SS " + roff(group) + "\n";
    for (const Option& option : table.options()) {
      if (option.group != group) continue;
      const std::string left = shown(option);
      item(left.substr(left.find('-')), explained(option));
    }
  }
  out +=
      ".SH \"EXIT STATUS\"\n0: done; 1: an error of the data or while running; 2: an error on the command line; "
      "130 and 143: ended by SIGINT and SIGTERM.\n";
  if (!table.examples().empty()) out += ".SH EXAMPLES\n";
  for (const Example& example : table.examples()) item(example.command, example.meaning);
  return out;
}

}  // namespace strom::tool
