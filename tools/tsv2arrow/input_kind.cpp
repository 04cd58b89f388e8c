// See input_kind.hpp.
#include "tsv2arrow/input_kind.hpp"

#include <algorithm>
#include <cstdint>

#include "base/utf8.hpp"

namespace strom::tsv2arrow {

namespace {

using std::string_view_literals::operator""sv;

struct Kind {
  std::string_view magic;
  const char *what, *hint;
};

constexpr Kind kKinds[] = {
    {"BZh"sv, "compressed by bzip2", "bzip2 -dc FILE | tsv2arrow --csv - reads it."},
    {"\xFD"
     "7zXZ\x00"sv,
     "compressed by xz", "xz -dc FILE | tsv2arrow --csv - reads it."},
    {"\x5D\x00\x00"sv, "compressed by lzma", "xz -dc FILE | tsv2arrow --csv - reads it."},
    {"LZIP"sv, "compressed by lzip", "lzip -dc FILE | tsv2arrow --csv - reads it."},
    {"\x1F\x9D"sv, "compressed by compress", "gzip -dc FILE | tsv2arrow --csv - reads it."},
    {"\xFF\x06\x00\x00sNaPpY"sv, "compressed by snappy", "Give the text that is in it."},
    {"\x89LZO"sv, "compressed by lzop", "lzop -dc FILE | tsv2arrow --csv - reads it."},
    {"PK\x03\x04"sv, "a zip archive (or a spreadsheet)", "unzip -p FILE | tsv2arrow --csv - reads the text in it."},
    {"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", "7z x -so FILE | tsv2arrow --csv - reads the text in it."},
    {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "a spreadsheet or another compound document", "Save it as CSV in UTF-8."},
    {"ARROW1"sv, "an Arrow file already", "arrow-info shows what is in it."},
    {"PAR1"sv, "a Parquet file", "Arrow_Fdw reads it as it is."},
    {"PARE"sv, "an encrypted Parquet file", ""},
    {"ORC"sv, "an ORC file", ""},
    {"Obj\x01"sv, "an Avro file", ""},
    {"SQLite format 3\x00"sv, "an SQLite database", ""},
    {"PGCOPY\n\xFF\r\n\x00"sv, "of COPY's binary format", "COPY ... (FORMAT csv) writes text."},
    // The longer mark before the one that it begins with.
    {"\xFF\xFE\x00\x00"sv, "in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE | tsv2arrow --csv - reads it."},
    {"\x00\x00\xFE\xFF"sv, "in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE | tsv2arrow --csv - reads it."},
    {"\xFF\xFE"sv, "in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | tsv2arrow --csv - reads it."},
    {"\xFE\xFF"sv, "in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | tsv2arrow --csv - reads it."},
};

/// Letters like ORC begin many a text, too.
bool is_plain(std::string_view magic) {
  for (const char c : magic)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') return false;
  return true;
}

constexpr size_t kLooked = 4096;

bool has_zero_byte(std::string_view text) { return text.substr(0, kLooked).find('\0') != std::string_view::npos; }

/// The last character may be cut.
bool begins_as_text(std::string_view text) {
  const std::string_view begin = text.substr(0, kLooked);
  constexpr int64_t kCharacter = 4;
  const auto size = static_cast<int64_t>(begin.size());
  return base::valid_utf8_prefix(begin.data(), size) > size - kCharacter;
}

constexpr size_t kNone = std::string_view::npos;

// Whether an odd number of backslashes is before a character, in a dialect that has them.
bool is_escaped(const format::csv::Dialect& dialect, std::string_view text, size_t at) {
  if (dialect.quote != 0 || !dialect.backslashes) return false;
  size_t slashes = 0;
  while (slashes < at && text[at - slashes - 1] == '\\') ++slashes;
  return slashes % 2 == 1;
}

// Whether a carriage return is no part of CR LF. At the end of the text it is the rest of a line end if there are
// others.
bool is_bare_return(const format::csv::Dialect& dialect, std::string_view text, size_t at) {
  if (at + 1 < text.size()) return text[at + 1] != '\n' && !is_escaped(dialect, text, at);
  return text.find('\n') == kNone;
}

// The first bare return that is no part of a quoted value or of a comment.
size_t find_outside_of_quotes(const format::csv::Dialect& dialect, std::string_view text) {
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool begins_line = !quoted && (at == 0 || text[at - 1] == '\n');
    if (begins_line && dialect.comment != 0 && c == dialect.comment) {
      at = std::min(text.find('\n', at), text.size() - 1);
    } else if (quoted && dialect.escape != 0 && dialect.escape != dialect.quote && c == dialect.escape) {
      ++at;
    } else if (dialect.quote != 0 && c == dialect.quote) {
      quoted = !quoted;
    } else if (c == '\r' && !quoted && is_bare_return(dialect, text, at)) {
      return at;
    }
  }
  return kNone;
}

}  // namespace

Status check_input_kind(const std::string& name, std::string_view text) {
  const std::string shown = name == "-" ? "standard input" : "file \"" + name + "\"";
  for (const Kind& kind : kKinds) {
    if (!text.starts_with(kind.magic) || (is_plain(kind.magic) && begins_as_text(text))) continue;
    return Status(ErrorCode::kUnsupported, shown + " is no text in UTF-8: it is " + kind.what).with_hint(kind.hint);
  }
  if (has_zero_byte(text))
    return Status(ErrorCode::kUnsupported, shown + " is no text in UTF-8: it has zero bytes")
        .with_hint("iconv -f UTF-16LE -t UTF-8 FILE | tsv2arrow --csv - reads it if it is in UTF-16.");
  return Status::ok();
}

size_t find_bare_return(const format::csv::Dialect& dialect, std::string_view text) {
  size_t first = text.find('\r');
  while (first != kNone && !is_bare_return(dialect, text, first)) first = text.find('\r', first + 1);
  if (first == kNone || (dialect.quote == 0 && dialect.comment == 0)) return first;
  return find_outside_of_quotes(dialect, text);
}

Status bare_return(const std::string& place) {
  return Status(ErrorCode::kUnsupported, "a carriage return that is no part of a line end in " + place)
      .with_hint(
          "If lines end with carriage returns alone, tr '\\r' '\\n' makes lines of them; as part of a value it stands "
          "in quotes (CSV) or as \\r (TSV).");
}

}  // namespace strom::tsv2arrow
