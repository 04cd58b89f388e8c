#include "format/vcf/dictionary.hpp"

#include <algorithm>
#include <charconv>

#include "columnar/utf8.hpp"
#include "format/vcf/values.hpp"

namespace strom::format::vcf {

namespace {

/// The value of a key between < and >, unchanged but without the quotes around it.
std::string_view attribute(std::string_view definition, std::string_view key) {
  bool is_quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= definition.size(); ++i) {
    const char c = i < definition.size() ? definition[i] : ',';
    if (c == '"' && (i == 0 || definition[i - 1] != '\\')) is_quoted = !is_quoted;
    if (c != ',' || is_quoted) continue;
    const std::string_view item = definition.substr(begin, i - begin);
    begin = i + 1;
    if (item.size() > key.size() && item.starts_with(key) && item[key.size()] == '=')
      return item.substr(key.size() + 1);
  }
  return {};
}

/// Puts a name where the definition says, or after the last name. Existing names do not move.
Status add(std::string_view definition, std::vector<std::string>* names) {
  const std::string_view id = attribute(definition, "ID"), index = attribute(definition, "IDX");
  if (id.empty()) return damaged("a definition without ID in the header");
  if (!columnar::is_utf8(id)) return damaged("text that is not valid UTF-8 in the header");
  int32_t place = static_cast<int32_t>(names->size());
  constexpr int32_t kMost = 1 << 24;
  if (!index.empty()) {
    const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), place);
    if (error != std::errc() || end != index.data() + index.size() || place < 0 || place > kMost)
      return damaged("IDX=" + shortened(index) + ", which is no number, in the header");
  } else if (std::find(names->begin(), names->end(), id) != names->end()) {
    return Status::ok();
  }
  if (names->size() <= static_cast<size_t>(place)) names->resize(static_cast<size_t>(place) + 1);
  (*names)[static_cast<size_t>(place)] = id;
  return Status::ok();
}

}  // namespace

Result<Dictionary> parse_dictionary(std::string_view header) {
  Dictionary dictionary;
  dictionary.names.emplace_back("PASS");
  for (size_t at = 0; at < header.size();) {
    const size_t end = std::min(header.find('\n', at), header.size());
    std::string_view line = header.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t begin = line.find("=<");
    if (!line.starts_with("##") || begin == std::string_view::npos || !line.ends_with('>')) continue;
    const std::string_view kind = line.substr(2, begin - 2);
    const std::string_view definition = line.substr(begin + 2, line.size() - begin - 3);
    if (kind == "contig")
      STROM_TRY(add(definition, &dictionary.chromosomes));
    else if (kind == "FILTER" || kind == "INFO" || kind == "FORMAT")
      STROM_TRY(add(definition, &dictionary.names));
  }
  return dictionary;
}

}  // namespace strom::format::vcf
