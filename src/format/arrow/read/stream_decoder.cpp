// See stream_decoder.hpp.
#include "format/arrow/read/stream_decoder.hpp"

#include <utility>

#include "columnar/schema.hpp"
#include "format/arrow/batch/append_reading.hpp"
#include "format/arrow/metadata/message.hpp"
#include "format/arrow/metadata/schema_decode.hpp"

namespace strom::format::arrow {

using columnar::ColumnBuilder;
using columnar::Field;

namespace {

std::vector<std::string> texts_of(const ColumnBuilder& column) {
  std::vector<std::string> out;
  out.reserve(static_cast<size_t>(column.length()));
  const auto* offsets = column.values().as<int32_t>();
  for (int64_t row = 0; row < column.length(); ++row) {
    out.emplace_back(reinterpret_cast<const char*>(column.data().data()) + offsets[row],
                     static_cast<size_t>(offsets[row + 1] - offsets[row]));
  }
  return out;
}

}  // namespace

int64_t StreamRows::count() const { return batch_.rows(); }

Status StreamRows::append_to(std::vector<ColumnBuilder>& columns, int64_t first, int64_t count) const {
  return batch_.append_to(columns, first, count);
}

/// The new indexes, by the stream's dictionary and by ours: two of ours can come from one of the stream's.
struct StreamDecoder::Maps {
  std::map<std::pair<int64_t, int64_t>, IndexMap> all;
  std::vector<const IndexMap*> by_column;  // with a dictionary, depth first
};

StreamDecoder::StreamDecoder(std::string name, const std::vector<ColumnBuilder>& columns, LabelsById labels)
    : name_(std::move(name)), columns_(columns), labels_(std::move(labels)), maps_(std::make_unique<Maps>()) {}

StreamDecoder::~StreamDecoder() = default;

Status StreamDecoder::corrupt(const std::string& what) const {
  return Status(ErrorCode::kCorruptFile, "corrupt Arrow stream of " + name_).with_detail("It has " + what + ".");
}

void StreamDecoder::find_maps(const Field& theirs, const Field& ours) {
  if (ours.dictionary) {
    maps_->by_column.push_back(&maps_->all[{theirs.dictionary_id, ours.dictionary_id}]);
    return;
  }
  for (size_t i = 0; i < ours.children.size(); ++i) find_maps(theirs.children[i], ours.children[i]);
}

Status StreamDecoder::take_schema(const columnar::Schema& schema) {
  if (has_schema_) return corrupt("two schemas");
  const auto differs = [&](const std::string& what) {
    return Status(ErrorCode::kTypeMismatch, name_ + " gives other columns than expected").with_detail(what);
  };
  if (schema.fields.size() != columns_.size()) return differs("Their number is another.");
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Field& ours = columns_[i].field();
    if (!same_type(schema.fields[i], ours)) {
      return differs("Column " + std::to_string(i + 1) + " is " + columnar::type_text(schema.fields[i]) + ", not " +
                     columnar::type_text(ours) + ".");
    }
    find_maps(schema.fields[i], ours);
  }
  has_schema_ = true;
  return Status::ok();
}

Status StreamDecoder::add_labels(int64_t id, const std::vector<std::string>& labels, bool is_delta) {
  for (auto& [key, map] : maps_->all) {
    if (key.first != id) continue;
    if (!is_delta) map.clear();
    const auto ours = labels_.find(key.second);
    if (ours == labels_.end()) return corrupt("a dictionary that is not known");
    for (const std::string& label : labels) map.push_back(ours->second->find(label));
  }
  return Status::ok();
}

Status StreamDecoder::feed(const uint8_t* bytes, int64_t size, const TakeRows& take) {
  const FileBytes all{name_, bytes, size};
  constexpr int64_t kWord = 4;
  for (int64_t at = 0; at < size;) {
    if (is_done_) return corrupt("something behind its end");
    if (size - at >= 2 * kWord && all.load<uint32_t>(at) == kContinuation && all.load<uint32_t>(at + kWord) == 0) {
      is_done_ = true;
      at += 2 * kWord;
      continue;
    }
    STROM_ASSIGN(const Message message, load_message(all, at, size, "a message"));
    const int64_t body = message.metadata_offset + message.metadata.size(), room = size - body;
    const int64_t body_size = message.root().body_length();
    if (body_size < 0 || body_size > room) return corrupt("a message that is cut off");
    const FileBytes whole{name_, bytes, body + body_size};
    if (const fbs::Schema* schema = message.root().header_as_Schema(); schema != nullptr) {
      STROM_ASSIGN(const DecodedSchema decoded, decode_schema(whole, at, body - at, *schema));
      STROM_TRY(take_schema(decoded.schema));
    } else if (!has_schema_) {
      return corrupt("no schema at its beginning");
    } else if (const auto* dictionary = message.root().header_as_DictionaryBatch(); dictionary != nullptr) {
      if (dictionary->data() == nullptr) return corrupt("an empty dictionary");
      Field text;
      text.layout = columnar::Layout::kUtf8;
      std::vector<ColumnBuilder> values;
      values.emplace_back(text);
      STROM_ASSIGN(const auto batch, BatchColumns::load(whole, *dictionary->data(), body, values, {}));
      STROM_TRY(batch.append_to(values, 0, batch.rows()));
      STROM_TRY(add_labels(dictionary->id(), texts_of(values[0]), dictionary->is_delta()));
    } else if (const auto* rows = message.root().header_as_RecordBatch(); rows != nullptr) {
      STROM_ASSIGN(const auto batch, BatchColumns::load(whole, *rows, body, columns_, maps_->by_column));
      STROM_TRY(take(StreamRows(batch, body_size)));
    } else {
      return corrupt("a message of an unknown kind");
    }
    at = body + body_size;
  }
  return Status::ok();
}

Status StreamDecoder::finish() const { return is_done_ ? Status::ok() : corrupt("no end"); }

}  // namespace strom::format::arrow
