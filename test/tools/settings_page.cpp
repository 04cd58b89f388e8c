// Writes docs/user/settings.md from the tables of the settings, or with --check FILE tells whether FILE is that page.
//   settings_page > docs/user/settings.md
#include <cctype>
#include <climits>
#include <sstream>
#include <string>

#include "generated_page.hpp"

namespace {

const char kHead[] = R"(# Settings

Set them with `SET`, `ALTER ROLE … SET`, `ALTER DATABASE … SET`, `ALTER SYSTEM` or in `postgresql.conf`. `EXPLAIN
(SETTINGS)` shows those that differ from their defaults. The prefixes `pg_strom` and `arrow_fdw` are reserved: a
misspelt name is an error as soon as the module is loaded.

*Who may set*: `anyone`, at any time; `superuser`; `configuration` means `postgresql.conf` or `ALTER SYSTEM`, and takes
effect with a reload. `test/tools/settings_page.cpp` makes this page from `src/registry/gucs.def`.
)";

// Words of the tables' columns.
const char* const kUserset = "anyone";
[[maybe_unused]] const char* const kSuset = "superuser";
const char* const kSighup = "configuration";
const char* const kNone = "";
const char* const kKilobytes = "kB";
const char* const kMilliseconds = "ms";

#define STROM_GUC_CHOICE(type, enumerator, word) word " "
#define STROM_GUC_CHOICES(type, rows) constexpr char k##type##Words[] = rows;
#include "registry/guc_enums.def"
#undef STROM_GUC_CHOICE
#undef STROM_GUC_CHOICES

// The word of a choice from its enumerator kWord.
std::string word_of(const char* enumerator) {
  std::string word = enumerator + 1;
  word[0] = static_cast<char>(std::tolower(word[0]));
  return word;
}

std::string alternatives(const char* words) {
  std::istringstream in(words);
  std::string word, all;
  while (in >> word) all += (all.empty() ? "`" : ", `") + word + "`";
  return all;
}

std::string number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string limits(const std::string& low, const std::string& high) { return low + " to " + high; }

// Lines of at most 120 columns. The tables' texts are ASCII, so bytes are columns.
std::string wrapped(const std::string& text) {
  constexpr size_t kColumns = 120;
  std::istringstream words(text);
  std::string word, line, all;
  while (words >> word) {
    if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
      all += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return all + line;
}

class Page {
 public:
  void add(const std::string& name, const std::string& initial, const std::string& values, const std::string& who,
           const std::string& brief, const std::string& extra) {
    text_ += "\n## " + name + "\n" + wrapped(brief + " " + extra) +
             "\n\n| default | values | who may set |\n|---|---|---|\n| `" + initial + "` | " + values + " | " + who +
             " |\n";
  }
  std::string text() const { return kHead + text_; }

 private:
  std::string text_;
};

std::string with_unit(long value, const std::string& unit) {
  return std::to_string(value) + (unit.empty() ? "" : " " + unit);
}

std::string settings_page() {
  Page page;
#define STROM_GUC_BOOL(prefix, name, initial, who, brief, extra) \
  page.add(#prefix "." #name, initial ? "on" : "off", "`on`, `off`", who, brief, extra);
#define STROM_GUC_INT(prefix, name, initial, low, high, unit, who, brief, extra)                                  \
  page.add(#prefix "." #name, with_unit(initial, unit), limits(with_unit(low, unit), with_unit(high, unit)), who, \
           brief, extra);
#define STROM_GUC_REAL(prefix, name, initial, low, high, who, brief, extra) \
  page.add(#prefix "." #name, number(initial), limits(number(low), number(high)), who, brief, extra);
#define STROM_GUC_STRING(prefix, name, who, check, brief, extra) \
  page.add(#prefix "." #name, "", "any text", who, brief, extra);
#define STROM_GUC_ENUM(prefix, name, initial, choices, who, brief, extra) \
  page.add(#prefix "." #name, word_of(#initial), alternatives(k##choices##Words), who, brief, extra);
#define STROM_GUC_UNUSED_BOOL(prefix, name, initial, brief, extra) \
  page.add(#prefix "." #name, initial ? "on" : "off", "`on`, `off`", kUserset, brief, extra);
#define STROM_GUC_UNUSED(prefix, name, brief, extra) page.add(#prefix "." #name, "", "any", kUserset, brief, extra);
#include "registry/gucs.def"
  return page.text();
}

}  // namespace

int main(int argc, char** argv) { return generated_page(argc, argv, "settings_page", settings_page()); }
