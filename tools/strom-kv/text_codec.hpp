// Text of a database that is not in UTF-8: clients of published rows and of messages get its bytes as they are.
#pragma once

#include <iconv.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::kv_tool {

/// Converts between a database's encoding and UTF-8. Not for several threads.
class TextCodec {
 public:
  /// Changes nothing.
  TextCodec() = default;
  /// `encoding`: PostgreSQL's name of it, as in the setting server_encoding. "UTF8" and "SQL_ASCII" change nothing.
  /// Errors: kUnsupported.
  static Result<TextCodec> of(const std::string& encoding);

  /// Errors: kInvalidParameter when the encoding lacks a character.
  Result<std::string> from_utf8(std::string_view text) const;
  /// Errors: kCorruptFile when the bytes are not in the encoding.
  Result<std::string> to_utf8(std::string_view bytes) const;

 private:
  struct Close {
    void operator()(void* descriptor) const { iconv_close(descriptor); }
  };
  using Descriptor = std::unique_ptr<void, Close>;

  std::string encoding_;
  Descriptor from_utf8_, to_utf8_;  // nullptr: changes nothing
};

}  // namespace strom::kv_tool
