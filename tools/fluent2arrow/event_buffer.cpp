// See event_buffer.hpp.
#include "fluent2arrow/event_buffer.hpp"

#include <iterator>
#include <utility>

namespace strom::fluent2arrow {

namespace {

void make_columns(const std::vector<columnar::Field>& fields, std::vector<columnar::ColumnBuilder>* columns) {
  columns->clear();
  columns->reserve(fields.size());
  for (const auto& field : fields) columns->emplace_back(field);
}

}  // namespace

EventBuffer::EventBuffer(const Settings& settings, TagSchemas& schemas)
    : settings_(settings), schemas_(schemas), records_(settings.records) {}

Status EventBuffer::add(const format::forward::Message& message, const format::forward::LeftOut& left_out,
                        format::forward::RecordCounts* counts) {
  auto found = tags_.find(message.tag());
  if (found == tags_.end()) found = tags_.emplace(std::string(message.tag()), TagEvents()).first;
  TagEvents& events = found->second;
  if (settings_.records.is_inferred) {
    STROM_TRY(add_found(message, events, left_out, counts));
  } else {
    Waiting& waiting = events.newest;
    if (waiting.columns.empty()) make_columns(format::forward::record_fields(settings_.records), &waiting.columns);
    STROM_TRY(records_.append(message, waiting.columns, counts, left_out));
  }
  if (!message.chunk().empty()) events.newest.chunks.emplace_back(message.chunk());
  return Status::ok();
}

/// Columns are looked for only in messages that do not fit those that there are.
Status EventBuffer::add_found(const format::forward::Message& message, TagEvents& events,
                              const format::forward::LeftOut& left_out, format::forward::RecordCounts* counts) {
  TagSchema& schema = schemas_.of(message.tag());
  adapt(events, schema);
  Status status = schema.records->append(message, events.newest.columns, counts, left_out, true);
  if (status.code() != format::forward::RecordColumns::kOutgrown) return status;
  schemas_.widen(schema, message);
  adapt(events, schema);
  return schema.records->append(message, events.newest.columns, counts, left_out);
}

/// Gives the newest events the columns of a schema.
void EventBuffer::adapt(TagEvents& events, const TagSchema& schema) {
  Waiting& newest = events.newest;
  if (newest.version == schema.version) return;
  const auto fields = format::forward::record_fields(schema.choice);
  if (newest.rows() == 0) {
    make_columns(fields, &newest.columns);
  } else if (newest.types_version != schema.types_version) {
    events.older.push_back(std::move(newest));
    newest = {};
    make_columns(fields, &newest.columns);
  } else {
    const int64_t rows = newest.rows();
    for (size_t i = newest.columns.size(); i < fields.size(); ++i) {
      newest.columns.emplace_back(fields[i]);
      for (int64_t row = 0; row < rows; ++row) newest.columns.back().append_null();
    }
  }
  newest.version = schema.version;
  newest.types_version = schema.types_version;
}

void EventBuffer::clear(Waiting& waiting) {
  for (columnar::ColumnBuilder& column : waiting.columns) column.clear();
  waiting.chunks.clear();
}

std::set<std::string, std::less<>> EventBuffer::waiting_tags() const {
  std::set<std::string, std::less<>> waiting;
  for (const auto& [tag, events] : tags_)
    if (!events.is_empty()) waiting.insert(tag);
  return waiting;
}

int64_t EventBuffer::waiting_bytes() const {
  int64_t bytes = 0;
  const auto add = [&](const Waiting& waiting) {
    for (const columnar::ColumnBuilder& column : waiting.columns) bytes += column.memory_bytes();
  };
  for (const auto& [tag, events] : tags_) {
    if (events.is_empty()) continue;
    for (const Waiting& older : events.older) add(older);
    add(events.newest);
  }
  return bytes;
}

void EventBuffer::forget_idle_tags() {
  constexpr size_t kMost = 1000;  // whose columns are kept for what comes next
  for (auto at = tags_.begin(); at != tags_.end() && tags_.size() > kMost;)
    at = at->second.is_empty() ? tags_.erase(at) : std::next(at);
}

}  // namespace strom::fluent2arrow
