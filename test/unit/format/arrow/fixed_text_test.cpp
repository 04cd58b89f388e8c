#include "format/arrow/read/fixed_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "columnar/builder.hpp"

namespace strom::format::arrow {
namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

Field fixed(int width) {
  Field field;
  field.layout = Layout::kFixedBinary;
  field.byte_width = width;
  return field;
}

bool is_text(int width, const std::vector<std::string>& values) {
  ColumnBuilder column(fixed(width));
  for (const std::string& value : values) {
    if (value.empty())
      column.append_null();
    else
      EXPECT_TRUE(column.append_bytes(value));
  }
  FixedTextSample sample;
  sample.add(column.view());
  return sample.is_text();
}

TEST(FixedText, IsUtf8WithoutControlCharacters) {
  EXPECT_TRUE(is_text(15, {"2-HIGH", "4-NOT SPECI", ""}));
  EXPECT_TRUE(is_text(10, {"B\xC3\xA4r", "Z\xC3\xBCrich"}));
  EXPECT_FALSE(is_text(4, {std::string("ab\0\0", 4)}));
  EXPECT_FALSE(is_text(4, {"abc\x7f"}));
  EXPECT_FALSE(is_text(4, {"ab\n"}));
  EXPECT_FALSE(is_text(4, {"abcd", "ab\xC3"}));  // cut within a character
  EXPECT_FALSE(is_text(2, {"ok", "\xED\xA0"}));
}

TEST(FixedText, NothingIsKnownWithoutValues) {
  EXPECT_FALSE(is_text(4, {}));
  EXPECT_FALSE(is_text(4, {"", ""}));
}

TEST(FixedText, IsAskedOfFieldsWithoutATypeAlone) {
  EXPECT_TRUE(may_be_fixed_text(fixed(15)));
  EXPECT_FALSE(may_be_fixed_text(fixed(0)));
  EXPECT_FALSE(may_be_fixed_text(fixed(20000000)));
  Field named = fixed(16);
  named.metadata.emplace_back("pg_type", "pg_catalog.uuid");
  EXPECT_FALSE(may_be_fixed_text(named));
  Field extension = fixed(16);
  extension.metadata.emplace_back("ARROW:extension:name", "arrow.uuid");
  EXPECT_FALSE(may_be_fixed_text(extension));
  Field text = fixed(4);
  text.layout = Layout::kUtf8;
  EXPECT_FALSE(may_be_fixed_text(text));
}

}  // namespace
}  // namespace strom::format::arrow
