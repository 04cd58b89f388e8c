// Decisions about a column before its rows are written as text. Private to src/format/csv.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/schema.hpp"
#include "format/csv/row_text.hpp"

namespace strom::format::csv {

/// The text before, after and instead of a column's values.
struct Frame {
  std::string before;  // padded to whole words of 16 bytes
  int64_t before_size = 0;
  uint64_t behind = 0;
  int64_t behind_size = 0;
  std::string null_text;
  int64_t room() const { return before_size + behind_size + static_cast<int64_t>(null_text.size()); }
};

enum class BinaryKind : uint8_t { kText, kHex, kUuid, kMac, kAddress, kTid };

struct Column {
  Frame frame;
  columnar::Field field;
  BinaryKind binary = BinaryKind::kText;
  bool is_text = false;      // written in the style's form
  bool is_rendered = false;  // is_text: value_text.hpp makes the texts
  bool is_array = false;     // is_rendered: as {…}
  int64_t room = 0;          // of a value that is not text
};

void set_before(Frame& frame, std::string text);
/// At most eight bytes.
void set_behind(Frame& frame, std::string_view text);

/// Plans the columns, without the text before and after their values. Errors: kUnsupported.
Result<std::vector<Column>> plan_columns(const std::vector<columnar::Field>& fields, const TextOptions& options);

/// Last part of the type's name in the metadata key pg_type: schema.name@extension. Empty: there is none.
std::string_view pg_type_name(const columnar::Field& field);

/// How values of kFixedBinary are written, by the field's metadata.
BinaryKind binary_kind(const columnar::Field& field, bool binary_hex);

/// Writes a value of a column whose kind is not kText.
char* put_binary(char* out, BinaryKind kind, const uint8_t* bytes, int64_t width);

}  // namespace strom::format::csv
