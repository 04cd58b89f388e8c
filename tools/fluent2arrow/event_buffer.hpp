// Events that wait to be written, by their tags. One thread at a time: the receiver fills one while the writer empties
// another one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/builder.hpp"
#include "fluent2arrow/settings.hpp"

namespace strom::fluent2arrow {

class EventBuffer {
 public:
  struct Waiting {
    std::vector<columnar::ColumnBuilder> columns;
    std::vector<std::string> chunks;  // ids
    int64_t rows() const { return columns[0].length(); }
  };
  using Tags = std::map<std::string, Waiting, std::less<>>;

  explicit EventBuffer(const Settings& settings);

  /// The events of a message, all or none. Errors: those of RecordColumns::append().
  Status add(const format::forward::Message& message, const format::forward::LeftOut& left_out,
             format::forward::RecordCounts* counts);
  /// What waits. Whoever has written a tag's events clears it.
  Tags& tags() { return tags_; }
  static void clear(Waiting& waiting);
  /// Thousands of tags that came once must not keep their columns for ever.
  void forget_idle_tags();

 private:
  const std::vector<columnar::Field> fields_;
  format::forward::RecordColumns records_;
  Tags tags_;
};

}  // namespace strom::fluent2arrow
