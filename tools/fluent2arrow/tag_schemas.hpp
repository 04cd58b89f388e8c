// The columns of each tag's events where none are given: those that were found in its records so far, or that its last
// file has. Used by EventBuffer. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "fluent2arrow/settings.hpp"
#include "format/forward/found_columns.hpp"

namespace strom::fluent2arrow {

struct TagSchema {
  TagSchema(const Settings& settings)
      : found(settings.records.time_column, settings.records.tag_column), choice(settings.records) {}
  TagSchema(const TagSchema&) = delete;
  TagSchema& operator=(const TagSchema&) = delete;

  format::forward::FoundColumns found;
  format::forward::RecordChoice choice;
  std::unique_ptr<format::forward::RecordColumns> records;
  // Numbers of no other schema: this one has further columns, or others, than those with another number.
  int64_t version = 0, types_version = 0;
};

class TagSchemas {
 public:
  explicit TagSchemas(const Settings& settings) : settings_(settings) {}

  TagSchema& of(std::string_view tag);
  /// Has columns for all that the message has, as far as there can be some.
  void widen(TagSchema& schema, const format::forward::Message& message);

 private:
  void start(TagSchema& schema, std::string_view tag);
  void apply(TagSchema& schema, bool has_other_types);

  const Settings& settings_;
  std::map<std::string, TagSchema, std::less<>> tags_;
  int64_t last_version_ = 0;
};

}  // namespace strom::fluent2arrow
