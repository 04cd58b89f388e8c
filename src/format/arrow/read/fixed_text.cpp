#include "format/arrow/read/fixed_text.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "columnar/text.hpp"
#include "columnar/utf8.hpp"

namespace strom::format::arrow {

namespace {

constexpr int64_t kMostRows = 1000;       // of a view
constexpr int32_t kMostChars = 10485760;  // n of char(n)

bool is_control(char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }

bool is_plain_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_control) && columnar::is_utf8(text);
}

}  // namespace

void FixedTextSample::add(const columnar::ColumnView& column) {
  const int64_t step = std::max<int64_t>(1, column.length / kMostRows);
  for (int64_t row = 0; row < column.length && !has_other_; row += step) {
    const char* bytes = nullptr;
    int64_t size = 0;
    if (!columnar::is_valid(column, row) || !columnar::text_at(column, row, &bytes, &size)) continue;
    has_values_ = true;
    has_other_ = !is_plain_text({bytes, static_cast<size_t>(size)});
  }
}

bool may_be_fixed_text(const columnar::Field& field) {
  if (field.layout != columnar::Layout::kFixedBinary || field.byte_width < 1 || field.byte_width > kMostChars)
    return false;
  return std::none_of(field.metadata.begin(), field.metadata.end(), [](const auto& entry) {
    return entry.first == "pg_type" || entry.first == "ARROW:extension:name";
  });
}

Status sample_fixed_text(const FileReader& file, int field, FixedTextSample* sample) {
  const int count = file.batch_count();
  if (count == 0) return Status::ok();
  for (const int batch : std::set<int>{0, count / 2, count - 1}) {
    STROM_ASSIGN(const LoadedColumn column, file.column(batch, field));
    sample->add(column);
  }
  return Status::ok();
}

}  // namespace strom::format::arrow
