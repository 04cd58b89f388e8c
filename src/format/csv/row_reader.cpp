// See row_reader.hpp.
#include "format/csv/row_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace strom::format::csv {

namespace {

/// The character that a backslash and `c` stand for in COPY's text format.
char escaped(char c) {
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return c;
  }
}

int digit_of(char c, int base) {
  const int lower = c | 0x20;
  const int value = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : base;
  return value < base ? value : -1;
}

/// The byte of the digits after a backslash: up to three octal digits, or x and up to two hexadecimal ones.
char numbered(std::string_view raw, size_t& at, int base, int most) {
  int value = 0;
  for (int i = 0; i < most && at < raw.size() && digit_of(raw[at], base) >= 0; ++i)
    value = value * base + digit_of(raw[at++], base);
  return static_cast<char>(value);
}

void unescape(std::string_view raw, std::string& out) {
  for (size_t at = 0; at < raw.size();) {
    const char c = raw[at++];
    if (c != '\\' || at == raw.size()) {
      out += c;
    } else if (digit_of(raw[at], 8) >= 0) {
      out += numbered(raw, at, 8, 3);
    } else if (raw[at] == 'x' && at + 1 < raw.size() && digit_of(raw[at + 1], 16) >= 0) {
      out += numbered(raw, ++at, 16, 2);
    } else {
      out += escaped(raw[at++]);
    }
  }
}

constexpr int64_t kBlock = 64;

/// 0x80 in each byte that is `c`.
uint64_t found(uint64_t word, char c) {
  constexpr uint64_t kOnes = 0x0101010101010101, kLow = 0x7F7F7F7F7F7F7F7F;
  const uint64_t other = word ^ kOnes * static_cast<uint8_t>(c);
  return ~(((other & kLow) + kLow) | other | kLow);
}

/// The highest bit of each byte, the first byte's bit lowest.
uint64_t bits_of(uint64_t bytes) { return (bytes >> 7) * 0x0102040810204080 >> 56; }

}  // namespace

RowReader::RowReader(const Dialect& dialect, std::string_view text) : dialect_(dialect), text_(text) {
  for (const std::string& null : dialect.nulls) longest_null_ = std::max(longest_null_, null.size());
}

bool RowReader::is_null(std::string_view raw) const {
  return raw.size() <= longest_null_ &&
         std::any_of(dialect_.nulls.begin(), dialect_.nulls.end(), [&](const auto& null) { return null == raw; });
}

void RowReader::load_block(int64_t block) {
  const char special = dialect_.quote != 0 ? dialect_.quote : dialect_.backslashes ? '\\' : '\n';
  const auto left = static_cast<int64_t>(text_.size()) - block * kBlock;
  const char* bytes = text_.data() + block * kBlock;
  char tail[kBlock];
  if (left < kBlock) {
    std::memset(tail, 0, sizeof(tail));
    std::memcpy(tail, bytes, static_cast<size_t>(left));
    bytes = tail;
  }
  block_ = block;
  stops_ = 0;
  for (int i = 0; i < kBlock; i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof(word));
    stops_ |= bits_of(found(word, '\n') | found(word, dialect_.delimiter) | found(word, special)) << i;
  }
  if (left < kBlock) stops_ &= ~(~uint64_t{0} << left);
}

/// The first place from `from` on, which is inside of the text, that has a special character; or the end.
int64_t RowReader::find_stop(int64_t from) {
  const auto size = static_cast<int64_t>(text_.size());
  int64_t block = from / kBlock;
  if (block != block_) load_block(block);
  uint64_t stops = stops_ & ~uint64_t{0} << (from % kBlock);
  while (stops == 0) {
    if (++block * kBlock >= size) return size;
    load_block(block);
    stops = stops_;
  }
  return block * kBlock + std::countr_zero(stops);
}

void RowReader::add(std::string_view raw, std::string_view text, bool is_quoted) {
  fields_.push_back({text, !is_quoted && is_null(raw), is_quoted});
}

void RowReader::skip_comments() {
  while (at_ < static_cast<int64_t>(text_.size()) && text_[static_cast<size_t>(at_)] == dialect_.comment) {
    const size_t end = text_.find('\n', static_cast<size_t>(at_));
    at_ = static_cast<int64_t>(end == std::string_view::npos ? text_.size() : end + 1);
  }
}

bool RowReader::next() {
  fields_.clear();
  made_count_ = 0;
  if (dialect_.comment != 0) skip_comments();
  row_begin_ = at_;
  if (at_ >= static_cast<int64_t>(text_.size())) return false;
  while (plain_field()) {
  }
  // Views are taken when the texts no longer move.
  for (size_t i = 0, made = 0; made < made_count_; ++i) {
    if (fields_[i].text.data() == nullptr) fields_[i].text = made_[made++];
  }
  return true;
}

/// A field without special characters; true when another field follows in the row.
bool RowReader::plain_field() {
  const auto size = static_cast<int64_t>(text_.size());
  const int64_t begin = at_;
  const char* const data = text_.data();
  const int64_t at = begin < size ? find_stop(begin) : size;
  const bool more = at < size && data[at] == dialect_.delimiter;
  if (at < size && !more && data[at] != '\n') return special_field(begin);
  int64_t end = at;
  if (!more && end > begin && data[end - 1] == '\r') --end;
  const std::string_view raw = text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  add(raw, raw, false);
  at_ = std::min(at + 1, size);
  return more;
}

/// A field with quotes or backslashes.
bool RowReader::special_field(int64_t begin) {
  const auto size = static_cast<int64_t>(text_.size());
  if (made_count_ == made_.size()) made_.emplace_back();
  std::string& text = made_[made_count_++];
  text.clear();
  int64_t at = begin;
  bool quoted = false;
  const bool has_quotes = dialect_.quote != 0, has_escape = has_quotes && dialect_.escape != 0;
  const auto follows = [&](char wanted) { return at + 1 < size && text_[static_cast<size_t>(at + 1)] == wanted; };
  for (; at < size; ++at) {
    const char c = text_[static_cast<size_t>(at)];
    if (has_escape && quoted && c == dialect_.escape && (follows(dialect_.quote) || follows(dialect_.escape))) {
      text += text_[static_cast<size_t>(++at)];
    } else if (has_quotes && c == dialect_.quote) {
      const bool doubled = quoted && !has_escape && follows(c);
      if (doubled) {
        text += c;
        ++at;
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && (c == dialect_.delimiter || c == '\n')) {
      break;
    } else if (has_quotes) {
      text += c;
    } else if (c == '\\' && at + 1 < size) {
      ++at;
    }
  }
  unfinished_ = quoted;
  const bool more = at < size && text_[static_cast<size_t>(at)] == dialect_.delimiter;
  std::string_view raw = text_.substr(static_cast<size_t>(begin), static_cast<size_t>(at - begin));
  if (!more && !raw.empty() && raw.back() == '\r') {
    raw.remove_suffix(1);
    if (has_quotes && !text.empty()) text.pop_back();
  }
  if (!has_quotes) unescape(raw, text);
  fields_.push_back({{}, !has_quotes && is_null(raw), has_quotes});
  at_ = std::min(at + 1, size);
  return more;
}

bool has_simple_quotes(const Dialect& dialect) {
  return (dialect.quote == 0 || dialect.escape == 0) && dialect.comment == 0;
}

int64_t next_row(const Dialect& dialect, std::string_view text, int64_t from, bool quotes) {
  const auto size = static_cast<int64_t>(text.size());
  if (from <= 0) return 0;
  // A line end just before `from` counts.
  for (int64_t at = from - 1; at < size; ++at) {
    const char c = text[static_cast<size_t>(at)];
    if (dialect.quote != 0 && c == dialect.quote && at >= from) quotes = !quotes;
    if (c != '\n' || quotes) continue;
    if (dialect.quote == 0 && dialect.backslashes) {
      int64_t slashes = 0;
      while (at - slashes > 0 && text[static_cast<size_t>(at - slashes - 1)] == '\\') ++slashes;
      if (slashes % 2 == 1) continue;
    }
    return at + 1;
  }
  return size;
}

}  // namespace strom::format::csv
