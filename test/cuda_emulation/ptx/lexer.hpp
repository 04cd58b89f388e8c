// Splits PTX text into tokens; used by the parser only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strom::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    kWord,     // op-code with its modifiers, directive, name or register: letters, digits and _ $ % . and ::
    kInteger,  // `value`; a sign is a token of its own
    kFloat32,  // 0f…, bits in `value`
    kFloat64,  // 0d…
    kString,
    kSymbol,  // one character
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  std::uint64_t value = 0;
  int line = 1;

  bool is(char symbol) const { return kind == Kind::kSymbol && text[0] == symbol; }
  bool is(std::string_view word) const { return kind == Kind::kWord && text == word; }
};

class Lexer {
 public:
  /// `source` must outlive the lexer and its tokens.
  explicit Lexer(std::string_view source) : source_(source) { advance(); }

  const Token& peek() const { return token_; }
  Token next();
  /// Passes over the rest of the line, for directives that have no terminator (.version, .loc, …).
  void skip_line();
  std::size_t offset() const { return token_.text.data() - source_.data(); }
  std::string_view source() const { return source_; }

 private:
  void advance();
  void skip_blanks();
  void lex_number();
  void lex_float(Token::Kind kind, std::size_t digits);
  [[noreturn]] void fail(const std::string& message) const;

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  Token token_;
};

}  // namespace strom::ptx
