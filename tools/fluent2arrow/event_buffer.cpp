// See event_buffer.hpp.
#include "fluent2arrow/event_buffer.hpp"

#include <iterator>

namespace strom::fluent2arrow {

EventBuffer::EventBuffer(const Settings& settings)
    : fields_(format::forward::record_fields(settings.records)), records_(settings.records) {}

Status EventBuffer::add(const format::forward::Message& message, const format::forward::LeftOut& left_out,
                        format::forward::RecordCounts* counts) {
  auto found = tags_.find(message.tag());
  if (found == tags_.end()) {
    found = tags_.emplace(std::string(message.tag()), Waiting()).first;
    found->second.columns.reserve(fields_.size());
    for (const auto& field : fields_) found->second.columns.emplace_back(field);
  }
  Waiting& waiting = found->second;
  STROM_TRY(records_.append(message, waiting.columns, counts, left_out));
  if (!message.chunk().empty()) waiting.chunks.emplace_back(message.chunk());
  return Status::ok();
}

void EventBuffer::clear(Waiting& waiting) {
  for (columnar::ColumnBuilder& column : waiting.columns) column.clear();
  waiting.chunks.clear();
}

void EventBuffer::forget_idle_tags() {
  constexpr size_t kMost = 1000;  // whose columns are kept for what comes next
  for (auto at = tags_.begin(); at != tags_.end() && tags_.size() > kMost;)
    at = at->second.rows() == 0 ? tags_.erase(at) : std::next(at);
}

}  // namespace strom::fluent2arrow
