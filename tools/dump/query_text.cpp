// See query_text.hpp.
#include "dump/query_text.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <sstream>

namespace strom::tool {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// `file://PATH` stands for what the file holds. A semicolon at the end is taken off, since the query becomes part of
/// another statement.
Result<std::string> command_text(const std::string& command) {
  constexpr std::string_view kFile = "file://";
  std::string text = command;
  if (command.rfind(kFile, 0) == 0) {
    const std::string path = command.substr(kFile.size());
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    if (!file) return Status(ErrorCode::kFileNotFound, "could not read file \"" + path + "\"");
    text = content.str();
  }
  while (!text.empty() && (isspace(static_cast<unsigned char>(text.back())) || text.back() == ';')) text.pop_back();
  if (text.empty()) return usage_error("the query is empty");
  return text;
}

namespace {

/// A name between @( and ) that no parameter has; empty: none.
std::string missing_parameter(const std::string& text, const NamedValues& parameters) {
  static const std::regex pattern(R"(@\(([A-Za-z_][A-Za-z_0-9]*)\))");
  for (std::sregex_iterator token(text.begin(), text.end(), pattern), end; token != end; ++token) {
    const std::string name = (*token)[1];
    const bool is_given = std::any_of(parameters.begin(), parameters.end(),
                                      [&](const auto& parameter) { return parameter.first == name; });
    if (!is_given) return name;
  }
  return {};
}

}  // namespace

Result<std::string> with_parameters(std::string text, const NamedValues& parameters) {
  const std::string missing = missing_parameter(text, parameters);
  if (!missing.empty())
    return Status(ErrorCode::kInvalidParameter, "parameter @(" + missing + ") of the query has no value")
        .with_hint("--param=" + missing + ":VALUE gives it one. What is no parameter has a space behind the @.");
  for (const auto& [name, value] : parameters) {
    const std::string token = "@(" + name + ")";
    if (!contains(text, token)) return usage_error("the query has no " + token + " for --param=" + name);
    text = replaced(std::move(text), token, value);
  }
  return text;
}

Status refuse_key_token(const std::string& text) {
  if (!contains(text, kKeyToken)) return Status::ok();
  return usage_error(std::string(kKeyToken) + " in the query has no value")
      .with_hint("-k gives the values, with commas between.");
}

Result<std::vector<std::string>> for_keys(const std::string& text, const std::vector<std::string>& keys) {
  if (!contains(text, kKeyToken)) return usage_error("-k needs " + std::string(kKeyToken) + " in the query");
  std::vector<std::string> queries;
  queries.reserve(keys.size());
  for (const std::string& key : keys) queries.push_back(replaced(text, kKeyToken, key));
  return queries;
}

std::string for_worker(std::string text, int64_t worker, int64_t workers) {
  text = replaced(std::move(text), kWorkerToken, std::to_string(worker));
  return replaced(std::move(text), kWorkersToken, std::to_string(workers));
}

std::optional<std::string> lost_rows_query(const std::string& text, int64_t workers) {
  const size_t token = text.find(kWorkerToken);
  if (workers < 2 || token == std::string::npos || text.find(kWorkerToken, token + 1) != std::string::npos)
    return std::nullopt;
  size_t sign = token;
  while (sign > 0 && isspace(static_cast<unsigned char>(text[sign - 1]))) --sign;
  if (sign < 2 || text[sign - 1] != '=' || std::string_view("<>!=:~").find(text[sign - 2]) != std::string_view::npos)
    return std::nullopt;
  static const std::regex takes_all(R"(abs\s*\(\s*coalesce\s*\([^;]*,\s*0\s*\)\s*%\s*\$\(N_WORKERS\)\s*\)\s*$)",
                                    std::regex::icase);
  const std::string before = text.substr(0, sign - 1);
  if (std::regex_search(before, takes_all)) return std::nullopt;
  std::string numbers;
  for (int64_t i = 0; i < workers; ++i) numbers += (i == 0 ? "" : ", ") + std::to_string(i);
  const std::string others =
      before + " NOT IN (" + numbers + ") IS NOT FALSE" + text.substr(token + kWorkerToken.size());
  return "SELECT 1 FROM (" + for_worker(others, 0, workers) + "\n) AS strom_lost LIMIT 1";
}

}  // namespace strom::tool
