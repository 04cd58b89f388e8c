// Digits of every byte, against the C library.
#include "base/hex.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace strom::base {
namespace {

TEST(Hex, DigitsOfEveryByte) {
  for (int byte = 0; byte < 256; ++byte) {
    char lower[3], upper[3], put[2];
    std::snprintf(lower, sizeof lower, "%02x", static_cast<unsigned>(byte));
    std::snprintf(upper, sizeof upper, "%02X", static_cast<unsigned>(byte));
    EXPECT_EQ(put_hex(put, static_cast<uint8_t>(byte)), put + 2);
    EXPECT_EQ(std::string(put, 2), lower);
    std::string text = "\\x";
    append_hex(&text, static_cast<char>(byte));
    append_hex(&text, static_cast<char>(byte), kUpperHexDigits);
    EXPECT_EQ(text, "\\x" + std::string(lower) + upper);
  }
}

TEST(Hex, DigitsOfBytesInTheirOrder) {
  const uint8_t bytes[] = {0, 0x7F, 0x80, 0xFF, 0x0A};
  std::string text;
  append_hex(&text, bytes, sizeof bytes);
  EXPECT_EQ(text, "007f80ff0a");
  append_hex(&text, bytes, 0);
  EXPECT_EQ(text, "007f80ff0a");
}

}  // namespace
}  // namespace strom::base
