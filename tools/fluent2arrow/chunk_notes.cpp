// See chunk_notes.hpp.
#include "fluent2arrow/chunk_notes.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "arrow_files/file_names.hpp"
#include "base/hex.hpp"
#include "fluent2arrow/event_files.hpp"

namespace strom::fluent2arrow {

namespace {

constexpr size_t kMostNote = size_t{16} << 10;  // bytes of ids that are older than the last write
constexpr std::string_view kDigits = base::kUpperHexDigits;
constexpr int kHexadecimal = 16;

/// An id without blanks and control characters.
void append_id(std::string_view id, std::string* note) {
  for (const char c : id) {
    if (c > ' ' && c <= '~' && c != '%')
      *note += c;
    else
      base::append_hex(&note->append(1, '%'), c, base::kUpperHexDigits);
  }
  *note += ' ';
}

std::string id_of(std::string_view text) {
  std::string id;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      id += text[i];
      continue;
    }
    const size_t high = kDigits.find(text[i + 1]), low = kDigits.find(text[i + 2]);
    id += static_cast<char>(high * kHexadecimal + low);
    i += 2;
  }
  return id;
}

/// What glob() finds the files of a pattern by.
std::string glob_of(const std::string& pattern) {
  std::string glob;
  for (size_t i = 0; i < pattern.size(); ++i) {
    constexpr std::string_view kSpecial = "*?[\\";
    if (pattern.compare(i, kTag.size(), kTag) == 0) {
      glob += '*';
      i += kTag.size() - 1;
    } else if (pattern[i] == '%' && i + 1 < pattern.size() && pattern[++i] != '%') {
      glob += pattern[i] == 'Y' ? "[0-9][0-9][0-9][0-9]" : "[0-9][0-9]";
    } else {
      if (kSpecial.find(pattern[i]) != std::string_view::npos) glob += '\\';
      glob += pattern[i];
    }
  }
  return glob;
}

}  // namespace

std::string note_with(std::string_view note, const std::vector<std::string>& chunks) {
  size_t begin = note.size() > kMostNote ? note.size() - kMostNote : 0;
  if (begin > 0) begin = std::min(note.find(' ', begin), note.size() - 1) + 1;
  std::string all(note.substr(begin));
  for (const std::string& chunk : chunks) append_id(chunk, &all);
  return all;
}

std::vector<std::string> chunks_of(std::string_view note) {
  std::vector<std::string> chunks;
  for (size_t end = note.find(' '); end != std::string_view::npos; end = note.find(' ')) {
    chunks.push_back(id_of(note.substr(0, end)));
    note.remove_prefix(end + 1);
  }
  return chunks;
}

std::vector<std::string> files_of_pattern(const std::string& pattern, size_t most) {
  const std::string base = glob_of(pattern);
  glob_t found = {};
  // Those with numbers have names like NAME-1.arrow.
  const std::string numbered = tool::with_number(base, "[0-9]*");
  int flags = 0;
  for (const std::string& names : {base, numbered}) {
    (void)glob(names.c_str(), GLOB_NOSORT | flags, nullptr, &found);
    flags = GLOB_APPEND;
  }
  std::vector<std::pair<int64_t, std::string>> files;
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    constexpr int64_t kNano = 1000000000;
    struct stat about = {};
    if (stat(found.gl_pathv[i], &about) == 0 && S_ISREG(about.st_mode))
      files.emplace_back(about.st_mtim.tv_sec * kNano + about.st_mtim.tv_nsec, found.gl_pathv[i]);
  }
  globfree(&found);
  std::sort(files.rbegin(), files.rend());
  std::vector<std::string> paths;
  for (auto& [time, path] : files) {
    if (paths.size() == most) break;
    if (paths.empty() || paths.back() != path) paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace strom::fluent2arrow
