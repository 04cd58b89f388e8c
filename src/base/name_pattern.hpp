// Patterns of file names with parts that are taken out of the name: `*` is any text, `${key}` any text that is called
// `key`, `@{key}` the same of digits, at least one; a backslash makes the next character an ordinary one. Used by Arrow
// tables for virtual columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace strom::base {

class NamePattern {
 public:
  struct Key {
    std::string name;
    bool is_number;
  };

  /// Errors: kBadOption, with a message that goes on behind "pattern ...".
  static Result<NamePattern> parse(std::string_view text);

  const std::vector<Key>& keys() const { return keys_; }

  /// Whether the whole of `name` fits. Then `values` gets the value of each key, a part of `name`. Of several ways it
  /// takes the one with the shortest first part, then the shortest second part, and so on. Numbers are as long as they
  /// can be.
  bool match(std::string_view name, std::vector<std::string_view>* values) const;

 private:
  enum class Kind : char { kText, kAny, kNumber };
  struct Part {
    Kind kind;
    std::string text;  // of kText
    int key = -1;      // index into keys_, -1: the value is not asked for
  };
  class Matcher;

  void add_literal(char c);

  std::vector<Part> parts_;
  std::vector<Key> keys_;
};

}  // namespace strom::base
