#include "pg/planner/lowering/regex_translate.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace strom::pg::planner {

namespace {

constexpr size_t kMostBytes = 1000, kMostDepth = 50;
constexpr int kMostRepeats = 255;  // RE_DUP_MAX
constexpr int kMostCopies = 1000;  // of a piece, through nested quantifiers

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_ascii(char c) { return static_cast<signed char>(c) >= 0; }
bool is_punctuation(char c) { return c > ' ' && c < 127 && !is_alnum(c); }
bool is_quantifier(char c) { return c == '*' || c == '+' || c == '?' || c == '{'; }

/// The bracket members for \d, \s and \w, and for [:name:]; nullptr for other names.
const char* class_of(char letter) {
  switch (letter) {
    case 'd': return "0-9";
    case 's': return "\\t-\\r ";
    case 'w': return "0-9A-Za-z_";
    default: return nullptr;
  }
}

const char* class_of(const std::string& name, bool any_case) {
  if (name == "digit") return "0-9";
  if (name == "space") return "\\t-\\r ";
  if (name == "alpha") return "A-Za-z";
  if (name == "alnum") return "0-9A-Za-z";
  if (name == "xdigit") return "0-9A-Fa-f";
  if (any_case) return nullptr;  // with it, upper and lower match both cases
  if (name == "upper") return "A-Z";
  if (name == "lower") return "a-z";
  return nullptr;
}

/// The character that an escape stands for; 0 for escapes that are no single character.
char escaped_character(char letter) {
  switch (letter) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'f': return '\f';
    case 'v': return '\v';
    default: return is_punctuation(letter) ? letter : '\0';
  }
}

/// Parses the expression from left to right. Each function parses what its name says and appends RE2's spelling.
/// Bounded quantifiers are expanded to copies; `copies` gets the largest number of copies of any part.
class Reader {
 public:
  Reader(const std::string& regex, bool any_case, TranslatedRegex* out) : in_(regex), any_case_(any_case), out_(*out) {}

  bool read() {
    int copies = 1;
    return alternatives(&copies) && at_ == in_.size();
  }

 private:
  bool sees(const char* text) const { return in_.compare(at_, std::strlen(text), text) == 0; }
  bool take(const char* text) {
    if (!sees(text)) return false;
    at_ += std::strlen(text);
    return true;
  }
  char peek() const { return at_ < in_.size() ? in_[at_] : '\0'; }
  bool put(const char* text) {
    out_.pattern += text;
    return true;
  }

  bool put_character(char c) {
    if (c > 0 && c < ' ') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(c));
      return put(escape);
    }
    if (is_punctuation(c) && c != '_') out_.pattern += '\\';
    out_.pattern += c;
    return true;
  }

  /// Non-empty branches, up to `)` or the end.
  bool alternatives(int* copies) {
    if (++depth_ > kMostDepth) return false;
    if (!branch(copies)) return false;
    while (take("|")) {
      put("|");
      if (!branch(copies)) return false;
    }
    --depth_;
    return true;
  }

  bool branch(int* copies) {
    const size_t begin = at_;
    while (at_ < in_.size() && peek() != '|' && peek() != ')')
      if (!piece(copies)) return false;
    return at_ > begin;
  }

  bool piece(int* copies) {
    if (constraint()) return !is_quantifier(peek());
    int inside = 1, most = 1;
    if (!atom(&inside) || !quantifier(&most)) return false;
    inside *= most;
    if (inside > *copies) *copies = inside;
    return inside <= kMostCopies;
  }

  /// A zero-width match, such as an anchor.
  bool constraint() {
    if (take("^") || take("\\A")) return put("\\A");
    if (take("$") || take("\\Z")) return put("\\z");
    if (take("\\y")) return out_.ascii_only = put("\\b");
    if (take("\\Y")) return out_.ascii_only = put("\\B");
    return false;
  }

  bool atom(int* copies) {
    const char c = in_[at_];
    if (is_quantifier(c)) return false;
    if (c == '(') return group(copies);
    if (c == '[') return bracket();
    if (c == '\\') return escape();
    return take(".") ? put(".") : character();
  }

  bool group(int* copies) {
    ++at_;
    if (peek() == '?' && !take("?:")) return false;
    put("(?:");
    return alternatives(copies) && take(")") && put(")");
  }

  bool escape() {
    if (at_ + 1 >= in_.size()) return false;
    const char letter = in_[at_ + 1];
    at_ += 2;
    const char* members = is_alnum(letter) ? class_of(static_cast<char>(letter | 0x20)) : nullptr;
    if (members != nullptr) return out_.ascii_only = put(letter >= 'a' ? "[" : "[^") && put(members) && put("]");
    const char meant = escaped_character(letter);
    return meant != '\0' && put_character(meant);
  }

  /// One literal character of one or more bytes.
  bool character() {
    if (is_ascii(in_[at_])) return put_character(in_[at_++]);
    if (any_case_) return false;
    do out_.pattern += in_[at_++];
    while (at_ < in_.size() && (static_cast<uint8_t>(in_[at_]) & 0xC0) == 0x80);
    return true;
  }

  /// Optional. *most: the upper bound; 1 for quantifiers without bounds, which need no copies.
  bool quantifier(int* most) {
    *most = 1;
    if (!is_quantifier(peek())) return true;
    if (peek() == '{') {
      int least = 0, limit = 0;
      ++at_;
      if (!number(&least)) return false;
      limit = least;
      const bool open = take(",") && !is_digit(peek());
      if (!open && in_[at_ - 1] == ',' && !number(&limit)) return false;
      if (!take("}") || limit < least) return false;
      put(("{" + std::to_string(least) + (open ? "," : "," + std::to_string(limit)) + "}").c_str());
      *most = limit > 1 ? limit : 1;
    } else {
      out_.pattern += in_[at_++];
    }
    return !is_quantifier(peek());  // lazy ones are unsupported
  }

  bool number(int* value) {
    *value = 0;
    if (!is_digit(peek())) return false;
    for (; is_digit(peek()); ++at_)
      if ((*value = *value * 10 + (in_[at_] - '0')) > kMostRepeats) return false;
    return true;
  }

  bool bracket() {
    ++at_;
    put(take("^") ? "[^" : "[");
    for (bool first = true; first || peek() != ']'; first = false) {
      if (at_ >= in_.size() || !member(first)) return false;
    }
    ++at_;
    return put("]");
  }

  /// A member of a bracket: a class, a character or a range.
  bool member(bool first) {
    if (take("[:")) return named_class();
    if (sees("[.") || sees("[=")) return false;
    if (peek() == '\\') return escaped_member();
    if (peek() != '-') return range();
    // A literal hyphen is allowed only at either end of the bracket.
    if (!first && !sees("-]")) return false;
    if (in_.compare(at_ + 1, 1, "-") == 0) return false;
    return character();
  }

  /// True if the character before is not the lower end of a range.
  bool begins_no_range() const { return peek() != '-' || sees("-]"); }

  /// The rest of a class after "[:".
  bool named_class() {
    const size_t end = in_.find(":]", at_);
    const char* members = end == std::string::npos ? nullptr : class_of(in_.substr(at_, end - at_), any_case_);
    if (members == nullptr) return false;
    at_ = end + 2;
    out_.ascii_only = put(members);
    return begins_no_range();
  }

  bool escaped_member() {
    const char letter = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
    at_ += 2;
    const char* members = class_of(letter);
    const char meant = escaped_character(letter);
    if (members == nullptr && meant == '\0') return false;
    if (members != nullptr)
      out_.ascii_only = put(members);
    else
      put_character(meant);
    return begins_no_range();
  }

  /// A character, or a range between two.
  bool range() {
    const uint32_t low = code_point();
    if (!character()) return false;
    if (begins_no_range()) return true;
    ++at_;
    if (at_ >= in_.size() || peek() == '\\' || peek() == '[' || peek() == '-') return false;
    put("-");
    const uint32_t high = code_point();
    return low <= high && character() && begins_no_range();
  }

  /// A number for the current character, to compare characters.
  uint32_t code_point() const {
    uint32_t code = 0;  // the byte order of UTF-8 is the order of its characters
    for (size_t i = at_; i < in_.size() && (i == at_ || (static_cast<uint8_t>(in_[i]) & 0xC0) == 0x80); ++i)
      code = code << 8 | static_cast<uint8_t>(in_[i]);
    return code;
  }

  const std::string& in_;
  const bool any_case_;
  TranslatedRegex& out_;
  size_t at_ = 0, depth_ = 0;
};

}  // namespace

bool translate_regex(const std::string& regex, bool any_case, TranslatedRegex* translated) {
  *translated = {};
  if (regex.empty() || regex.size() > kMostBytes || regex.find('\0') != std::string::npos) return false;
  if (regex.compare(0, 3, "***") == 0) return false;  // a prefix that selects another syntax
  translated->ascii_only = any_case;
  return Reader(regex, any_case, translated).read();
}

}  // namespace strom::pg::planner
