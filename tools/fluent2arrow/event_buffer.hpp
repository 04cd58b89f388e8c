// Events that wait to be written, by their tags. One thread at a time: the receiver fills one while the writer empties
// another one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/builder.hpp"
#include "fluent2arrow/settings.hpp"
#include "fluent2arrow/tag_schemas.hpp"

namespace strom::fluent2arrow {

class EventBuffer {
 public:
  struct Waiting {
    std::vector<columnar::ColumnBuilder> columns;
    std::vector<std::string> chunks;         // ids
    int64_t version = 0, types_version = 0;  // of the TagSchema that has the columns
    int64_t rows() const { return columns.empty() ? 0 : columns[0].length(); }
  };
  /// Of one tag: events whose columns were of other types, and then those with the columns of now.
  struct TagEvents {
    std::vector<Waiting> older;
    Waiting newest;
    bool is_empty() const { return newest.rows() == 0 && older.empty(); }
  };
  using Tags = std::map<std::string, TagEvents, std::less<>>;

  /// `schemas`: where the settings give none.
  EventBuffer(const Settings& settings, TagSchemas& schemas);

  /// The events of a message, all or none. Errors: those of RecordColumns::append().
  Status add(const format::forward::Message& message, const format::forward::LeftOut& left_out,
             format::forward::RecordCounts* counts);
  /// What waits. Whoever has written events clears them.
  Tags& tags() { return tags_; }
  static void clear(Waiting& waiting);
  /// Those that have events.
  std::set<std::string, std::less<>> waiting_tags() const;
  int64_t waiting_bytes() const;
  /// Thousands of tags that came once must not keep their columns for ever.
  void forget_idle_tags();

 private:
  static void adapt(TagEvents& events, const TagSchema& schema);
  Status add_found(const format::forward::Message& message, TagEvents& events, const format::forward::LeftOut& left_out,
                   format::forward::RecordCounts* counts);

  const Settings& settings_;
  TagSchemas& schemas_;
  format::forward::RecordColumns records_;  // where columns are given
  Tags tags_;
};

}  // namespace strom::fluent2arrow
