// See tag_schemas.hpp.
#include "fluent2arrow/tag_schemas.hpp"

#include <sys/stat.h>

#include <ctime>

#include "arrow_files/file_names.hpp"
#include "fluent2arrow/event_files.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::fluent2arrow {

using format::forward::FoundColumns;

namespace {

constexpr size_t kMostTags = 10000;  // whose columns are remembered

}  // namespace

TagSchema& TagSchemas::of(std::string_view tag) {
  const auto known = tags_.find(tag);
  if (known != tags_.end()) return known->second;
  if (tags_.size() >= kMostTags) tags_.clear();  // files have them
  TagSchema& schema = tags_.try_emplace(std::string(tag), settings_).first->second;
  start(schema, tag);
  return schema;
}

/// The columns of the last file that events of the tag would go to now, so that a restart begins no other file.
void TagSchemas::start(TagSchema& schema, std::string_view tag) {
  const std::string base = path_of(settings_.path, tag, time(nullptr));
  std::string last;
  struct stat about = {};
  for (int64_t number = 0;; ++number) {
    const std::string path = tool::numbered(base, number);
    if (stat(path.c_str(), &about) != 0) break;
    last = path;
  }
  if (!last.empty()) {
    const auto file = format::arrow::FileReader::open(last);
    const auto own = format::forward::record_fields(schema.choice);
    if (file.is_ok() && same_fields(own, file.value()->schema().fields, own.size()))
      (void)schema.found.start(file.value()->schema().fields);
  }
  apply(schema, true);
}

void TagSchemas::widen(TagSchema& schema, const format::forward::Message& message) {
  const FoundColumns::Change change = schema.found.observe(message);
  if (change != FoundColumns::Change::kNone) apply(schema, change == FoundColumns::Change::kOther);
}

void TagSchemas::apply(TagSchema& schema, bool has_other_types) {
  schema.version = ++last_version_;
  if (has_other_types) schema.types_version = schema.version;
  schema.choice.fields = schema.found.fields();
  schema.choice.keys = schema.found.keys();
  schema.records = std::make_unique<format::forward::RecordColumns>(schema.choice);
}

}  // namespace strom::fluent2arrow
