// Any bytes as messages of the Forward protocol: found, taken apart, and put into columns with a schema and as JSON;
// and as the greeting of a client.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/forward/found_columns.hpp"
#include "format/forward/handshake.hpp"
#include "format/forward/messages.hpp"
#include "format/forward/record_columns.hpp"

using strom::columnar::ColumnBuilder;
using strom::columnar::Field;
using strom::columnar::Layout;
using namespace strom::format::forward;

namespace {

RecordChoice choice_of(bool has_schema) {
  RecordChoice choice;
  choice.time_column = "time";
  choice.tag_column = "tag";
  if (!has_schema) return choice;
  for (const Layout layout : {Layout::kInt8, Layout::kInt64, Layout::kFloat64, Layout::kBool, Layout::kUtf8,
                              Layout::kDate32, Layout::kTimestamp}) {
    Field& field = choice.fields.emplace_back();
    field.name = std::string(1, static_cast<char>('a' + choice.fields.size() - 1));
    field.layout = layout;
  }
  return choice;
}

void put(std::string_view bytes, const RecordChoice& choice) {
  constexpr size_t kMost = 1 << 20;
  auto message = Message::parse(bytes, kMost);
  if (!message.is_ok()) return;
  RecordColumns records(choice);
  std::vector<ColumnBuilder> columns;
  const auto fields = record_fields(choice);
  columns.reserve(fields.size());
  for (const auto& field : fields) columns.emplace_back(field);
  RecordCounts counts;
  (void)records.append(message.value(), columns, &counts, [](const std::string&) {});
  for (const ColumnBuilder& column : columns)
    if (column.length() != counts.rows) __builtin_trap();
}

/// Columns that were found hold all that comes: no value is NULL for its type but those that no column can have.
void find_columns(std::string_view bytes) {
  constexpr size_t kMost = 1 << 20;
  auto message = Message::parse(bytes, kMost);
  if (!message.is_ok()) return;
  RecordChoice choice;
  choice.time_column = "time";
  choice.tag_column = "tag";
  choice.is_inferred = true;
  FoundColumns found(choice.time_column, choice.tag_column);
  (void)found.observe(message.value());
  if (found.observe(message.value()) != FoundColumns::Change::kNone) __builtin_trap();
  choice.fields = found.fields();
  choice.keys = found.keys();
  RecordColumns records(choice);
  std::vector<ColumnBuilder> columns;
  const auto fields = record_fields(choice);
  columns.reserve(fields.size());
  for (const auto& field : fields) columns.emplace_back(field);
  FoundColumns again(choice.time_column, choice.tag_column);
  if (!again.start(fields) || again.keys() != choice.keys) __builtin_trap();
  RecordCounts counts;
  (void)records.append(message.value(), columns, &counts, [](const std::string&) {}, true);
  for (const ColumnBuilder& column : columns)
    if (column.length() != counts.rows) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // In parts and at once the end is the same one.
  MessageEnd at_once, in_parts;
  const auto end = at_once.find(bytes);
  for (size_t part = 0; part <= size; ++part) {
    const auto found = in_parts.find(bytes.substr(0, part));
    if (!found.is_ok()) break;
    if (found.value() == 0) continue;
    if (!end.is_ok() || found.value() != end.value()) __builtin_trap();
    break;
  }
  (void)parse_ping(bytes);
  static const RecordChoice with_schema = choice_of(true), without = choice_of(false);
  put(bytes, with_schema);
  put(bytes, without);
  find_columns(bytes);
  return 0;
}
