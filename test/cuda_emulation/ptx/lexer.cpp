#include "cuda_emulation/ptx/lexer.hpp"

#include <cctype>

#include "cuda_emulation/ptx/error.hpp"

namespace strom::ptx {

namespace {

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}
bool is_word_part(char c) { return is_word_start(c) || std::isdigit(static_cast<unsigned char>(c)); }

}  // namespace

void Lexer::fail(const std::string& message) const { throw Error("line " + std::to_string(line_) + ": " + message); }

Token Lexer::next() {
  const Token current = token_;
  advance();
  return current;
}

void Lexer::skip_line() {
  if (token_.kind == Token::Kind::kEnd || token_.line != line_) return;
  const std::size_t end = source_.find('\n', at_);
  at_ = end == std::string_view::npos ? source_.size() : end;
  advance();
}

void Lexer::skip_blanks() {
  while (at_ < source_.size()) {
    const std::string_view rest = source_.substr(at_);
    if (rest[0] == '\n') {
      line_++;
      at_++;
    } else if (std::isspace(static_cast<unsigned char>(rest[0]))) {
      at_++;
    } else if (rest.starts_with("//")) {
      const std::size_t end = source_.find('\n', at_);
      at_ = end == std::string_view::npos ? source_.size() : end;
    } else if (rest.starts_with("/*")) {
      const std::size_t end = source_.find("*/", at_ + 2);
      if (end == std::string_view::npos) fail("comment without an end");
      for (const char c : source_.substr(at_, end - at_)) line_ += c == '\n';
      at_ = end + 2;
    } else {
      return;
    }
  }
}

void Lexer::lex_float(Token::Kind kind, std::size_t digits) {
  const std::string text(source_.substr(at_ + 2, digits));
  if (text.size() != digits || text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    fail("malformed floating point literal");
  }
  token_.kind = kind;
  token_.value = std::stoull(text, nullptr, 16);
  at_ += 2 + digits;
}

void Lexer::lex_number() {
  const char second = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
  if (source_[at_] == '0' && (second == 'f' || second == 'F')) return lex_float(Token::Kind::kFloat32, 8);
  if (source_[at_] == '0' && (second == 'd' || second == 'D')) return lex_float(Token::Kind::kFloat64, 16);
  std::size_t end = at_;
  while (end < source_.size() && std::isalnum(static_cast<unsigned char>(source_[end]))) end++;
  std::string digits(source_.substr(at_, end - at_));
  if (digits.size() > 1 && (digits.back() == 'U' || digits.back() == 'u')) digits.pop_back();
  const bool is_hex = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (!is_hex && digits.size() > 1 && digits[0] == '0') fail("octal and binary literals are not emulated");
  const char* allowed = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
  if (digits.find_first_not_of(allowed, is_hex ? 2 : 0) != std::string::npos) fail("malformed number " + digits);
  try {
    token_.value = std::stoull(digits, nullptr, is_hex ? 16 : 10);
  } catch (const std::out_of_range&) {
    fail("number out of range " + digits);
  }
  token_.kind = Token::Kind::kInteger;
  at_ = end;
}

void Lexer::advance() {
  skip_blanks();
  token_ = Token{};
  token_.line = line_;
  const std::size_t start = at_;
  token_.text = source_.substr(start, 0);
  if (at_ >= source_.size()) return;
  const char first = source_[at_];
  if (std::isdigit(static_cast<unsigned char>(first))) {
    lex_number();
  } else if (is_word_start(first)) {
    token_.kind = Token::Kind::kWord;
    while (at_ < source_.size()) {
      if (is_word_part(source_[at_])) {
        at_++;
      } else if (source_.substr(at_, 2) == "::") {
        at_ += 2;
      } else {
        break;
      }
    }
  } else if (first == '"') {
    const std::size_t end = source_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || source_[end] == '\n') fail("string without an end");
    token_.kind = Token::Kind::kString;
    at_ = end + 1;
  } else if (std::string_view("@!{}[]()<>,;:|+-=").find(first) != std::string_view::npos) {
    token_.kind = Token::Kind::kSymbol;
    at_++;
  } else {
    fail(std::string("unexpected character '") + first + "'");
  }
  token_.text = source_.substr(start, at_ - start);
}

}  // namespace strom::ptx
