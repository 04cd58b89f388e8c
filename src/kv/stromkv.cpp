// The library of stromkv.h: one-sided reads of published regions, with a C interface. Used by strom-kv and by other
// programs.
#include "kv/stromkv.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "kv/attach.hpp"
#include "kv/fields.hpp"
#include "kv/message_transport.hpp"
#include "kv/rdma_transport.hpp"
#include "kv/tcp.hpp"
#include "store/checksum.hpp"
#include "store/huge_pages.hpp"
#include "store/region/check.hpp"
#include "store/region/far_reader.hpp"
#include "store/region/reader.hpp"
#include "store/rows/shape.hpp"

namespace region = strom::store::region;
namespace rows = strom::store::rows;
using strom::Status;

struct stromkv {
  void* memory = nullptr;
  size_t bytes = 0;
  rows::Shape shape;
  std::vector<stromkv_column> columns;
  unsigned patience_ms = 10000;
  // If the region is not mapped: its transport, and a reader from which the others are copied.
  std::unique_ptr<region::Transport> transport;
  std::optional<region::FarReader> far;

  const region::Header& header() const { return *static_cast<const region::Header*>(memory); }
  ~stromkv() {
    if (memory != nullptr) munmap(memory, bytes);
  }
};

namespace {

constexpr size_t kTogether = 16;         // rows that get_many() reads at once
constexpr size_t kFirstBuffer = 4096;    // bytes for a row
constexpr uint32_t kLooks = 64;          // gets between two looks at the clock
constexpr size_t kMostBuffer = 4 << 20;  // larger than any record

void tell(const std::string& what, char* error, size_t error_bytes) {
  if (error == nullptr || error_bytes == 0) return;
  const size_t length = std::min(what.size(), error_bytes - 1);
  std::memcpy(error, what.data(), length);
  error[length] = '\0';
}

stromkv_status status_of(const Status& status) {
  switch (status.code()) {
    case strom::ErrorCode::kOk: return STROMKV_OK;
    case strom::ErrorCode::kCorruptFile: return STROMKV_CORRUPT;
    case strom::ErrorCode::kUnsupported: return STROMKV_UNSUPPORTED;
    case strom::ErrorCode::kOutOfMemory: return STROMKV_NO_MEMORY;
    default: return STROMKV_IO;
  }
}

stromkv_status status_of_state(uint32_t state) {
  switch (static_cast<region::State>(state)) {
    case region::State::kReady: return STROMKV_OK;
    case region::State::kDropped: return STROMKV_DROPPED;
    default: return STROMKV_MOVED;
  }
}

stromkv_status state_of(const stromkv& table) {
  return status_of_state(region::load_word(&table.header().state, __ATOMIC_ACQUIRE));
}

/// Checks that the server still moves the region's clock.
stromkv_status look_at_clock(const stromkv& table) {
  if (table.patience_ms == 0) return STROMKV_OK;
  constexpr int64_t kThousand = 1000, kMillion = 1'000'000;
  struct timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const int64_t now_us = now.tv_sec * kMillion + now.tv_nsec / kThousand;
  const auto beat = static_cast<int64_t>(region::load_word(&table.header().heartbeat_us, __ATOMIC_ACQUIRE));
  return now_us - beat > table.patience_ms * kThousand ? STROMKV_SILENT : STROMKV_OK;
}

/// Parses the description of the region's rows.
Status take_description(const std::string& description, stromkv* table) {
  STROM_ASSIGN(table->shape, rows::decode_shape(description));
  if (table->shape.key < 0) return {strom::ErrorCode::kCorruptFile, "the region has no key"};
  for (const rows::Column& column : table->shape.columns)
    table->columns.push_back({column.name.c_str(), column.type.c_str(), column.type_id,
                              column.form == rows::Form::kFixed ? column.width : 0});
  return Status::ok();
}

/// Maps the region of a descriptor, and checks that it is one.
Status map_region(int descriptor, stromkv* table) {
  struct stat info{};
  if (fstat(descriptor, &info) != 0)
    return {strom::ErrorCode::kIoError, std::string("could not examine the region: ") + strerror(errno)};
  table->bytes = static_cast<size_t>(info.st_size);
  if (table->bytes < region::kHeaderBytes) return {strom::ErrorCode::kCorruptFile, "the region is too short"};
  void* memory = strom::store::map_shared(descriptor, table->bytes, PROT_READ);
  if (memory == nullptr)
    return {strom::ErrorCode::kIoError, std::string("could not map the region: ") + strerror(errno)};
  table->memory = memory;
  STROM_TRY(region::check_header(memory, table->bytes));
  // A retired region has lost its description and everything else.
  if (state_of(*table) != STROMKV_OK) return Status::ok();
  const region::Header& header = table->header();
  const std::string description(static_cast<const char*>(memory) + header.description_offset, header.description_bytes);
  if (strom::store::crc64(description.data(), description.size()) != header.schema_hash)
    return state_of(*table) != STROMKV_OK
               ? Status::ok()
               : Status(strom::ErrorCode::kCorruptFile, "the description of the region's rows is damaged");
  return take_description(description, table);
}

stromkv_status attach(int descriptor, stromkv** result, char* error, size_t error_bytes) {
  auto* table = new stromkv();
  const Status status = map_region(descriptor, table);
  stromkv_status code = status_of(status);
  if (code == STROMKV_OK) code = state_of(*table);
  if (code == STROMKV_OK) {
    *result = table;
    return STROMKV_OK;
  }
  tell(status.is_ok() ? stromkv_status_text(code) : status.message(), error, error_bytes);
  delete table;
  return code;
}

/// The same for a region behind a transport.
stromkv_status attach_far(std::unique_ptr<region::Transport> transport, stromkv** result, std::string* what) {
  auto table = std::make_unique<stromkv>();
  table->transport = std::move(transport);
  region::Reach reach = region::Reach::kDone;
  std::string description;
  auto far = region::FarReader::attach(table->transport.get(), &reach, &description);
  if (reach != region::Reach::kDone) {
    *what = stromkv_status_text(strom::kv::status_of(reach));
    return strom::kv::status_of(reach);
  }
  Status status = far.status();
  stromkv_status code = STROMKV_OK;
  if (status.is_ok()) {
    table->far.emplace(std::move(far).value());
    code = status_of_state(table->far->live().state);
    const bool is_sound =
        strom::store::crc64(description.data(), description.size()) == table->far->header().schema_hash;
    // If the region was retired meanwhile, it has lost its description.
    if (code == STROMKV_OK && !is_sound) code = STROMKV_MOVED;
    if (code == STROMKV_OK) status = take_description(description, table.get());
  }
  if (!status.is_ok()) code = status_of(status);
  *what = status.is_ok() ? stromkv_status_text(code) : status.message();
  if (code == STROMKV_OK) *result = table.release();
  return code;
}

/// Memory for a row. It consists of words, since records are aligned to words.
struct Buffer {
  std::vector<uint64_t> words = std::vector<uint64_t>(kFirstBuffer / sizeof(uint64_t));

  void lend_to(region::Value* value) {
    value->buffer = words.data();
    value->capacity = words.size() * sizeof(uint64_t);
  }
  region::Value value() {
    region::Value value;
    lend_to(&value);
    return value;
  }
  /// False: no valid record is so large.
  bool grow(size_t bytes) {
    if (bytes > kMostBuffer) return false;
    words.resize((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    return true;
  }
};

}  // namespace

struct stromkv_reader {
  const stromkv* table;
  std::optional<region::Reader> reader;
  std::unique_ptr<region::FarReader> far = {};  // instead of `reader`
  std::vector<region::FarRow> found = {};       // by a scan
  size_t next_found = 0;
  uint64_t beat = 0;  // the server's clock at the last read
  int64_t beat_since_ms = 0;
  Buffer buffers[kTogether] = {};
  std::vector<Buffer> more = {};  // for get_many()
  std::vector<rows::Cell> cells = {};
  uint64_t bucket = 0, moves = 0;
  uint32_t slot = 0, calls = 0;
  bool is_complete = false;
};

namespace {

stromkv_status status_of(const stromkv_reader& reader, region::GetResult result) {
  switch (result) {
    case region::GetResult::kFound: return STROMKV_OK;
    case region::GetResult::kNotFound: return STROMKV_NOT_FOUND;
    case region::GetResult::kMoved: return state_of(*reader.table) == STROMKV_DROPPED ? STROMKV_DROPPED : STROMKV_MOVED;
    default: return STROMKV_UNSTABLE;
  }
}

/// Sets a row as clients see it, one field after the other, since a copy of a row that was just made waits for its
/// parts. A found row's key is that of its record, since the caller's may go before the row does.
void set_row(stromkv_status status, stromkv_key key, const region::Value& value, stromkv_row* row) {
  const bool is_found = status == STROMKV_OK;
  row->status = status;
  row->key.data =
      is_found ? static_cast<const uint8_t*>(value.payload) - region::padded(key.bytes, sizeof(uint64_t)) : key.data;
  row->key.bytes = key.bytes;
  row->data = value.payload;
  row->bytes = value.bytes;
  row->generation = value.generation;
  row->form = value.has_nulls ? 1 : 0;
}

/// The status for the result of a transport's reader.
stromkv_status status_of_far(const stromkv_reader& reader, region::GetResult result) {
  switch (result) {
    case region::GetResult::kFound: return STROMKV_OK;
    case region::GetResult::kNotFound: return STROMKV_NOT_FOUND;
    case region::GetResult::kFailed: return strom::kv::status_of(reader.far->reach());
    case region::GetResult::kMoved:
      return status_of_state(reader.far->live().state) == STROMKV_DROPPED ? STROMKV_DROPPED : STROMKV_MOVED;
    default: return STROMKV_UNSTABLE;
  }
}

/// Checks that the server has moved the region's clock since the last read. The clock is another machine's.
stromkv_status look_at_far_clock(stromkv_reader* reader) {
  constexpr int64_t kThousand = 1000, kMillion = 1'000'000;
  struct timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const int64_t now_ms = now.tv_sec * kThousand + now.tv_nsec / kMillion;
  const uint64_t beat = reader->far->live().heartbeat_us;
  if (beat != reader->beat) {
    reader->beat = beat;
    reader->beat_since_ms = now_ms;
  }
  const unsigned patience = reader->table->patience_ms;
  return patience != 0 && now_ms - reader->beat_since_ms > patience ? STROMKV_SILENT : STROMKV_OK;
}

/// Gets several rows; each row's buffer grows as needed.
template <class BufferOf>
stromkv_status get_far(stromkv_reader* reader, const stromkv_key* keys, stromkv_row* rows, size_t count,
                       BufferOf buffer_of) {
  region::Key wanted[kTogether];
  region::Value values[kTogether];
  for (size_t i = 0; i < count; ++i) {
    wanted[i] = {keys[i].data, keys[i].bytes};
    buffer_of(i)->lend_to(&values[i]);
  }
  reader->far->get_many(wanted, values, count);
  for (size_t i = 0; i < count; ++i) {
    // A size that is reported has been verified, so only another version of the row can need more.
    while (values[i].result == region::GetResult::kSmallBuffer && buffer_of(i)->grow(values[i].bytes)) {
      values[i] = buffer_of(i)->value();
      reader->far->get(wanted[i], values[i]);
    }
    set_row(status_of_far(*reader, values[i].result), keys[i], values[i], &rows[i]);
  }
  return look_at_far_clock(reader);
}

stromkv_status scan_far(stromkv_reader* reader, stromkv_row* row) {
  region::FarReader& far = *reader->far;
  while (reader->next_found == reader->found.size()) {
    if (reader->bucket >= far.header().bucket_count + region::kStashBuckets) {
      reader->is_complete = far.live().moves == reader->moves && reader->moves % 2 == 0;
      return STROMKV_NOT_FOUND;
    }
    reader->next_found = 0;
    reader->found.clear();
    const region::GetResult result = far.read_block(reader->bucket, &reader->bucket, &reader->found);
    if (result != region::GetResult::kFound) return status_of_far(*reader, result);
    if (const stromkv_status look = look_at_far_clock(reader); look != STROMKV_OK) return look;
  }
  const region::FarRow& found = reader->found[reader->next_found++];
  set_row(STROMKV_OK, {found.key.data, found.key.bytes}, found.value, row);
  return STROMKV_OK;
}

stromkv_status look_sometimes(stromkv_reader* reader) {
  return reader->calls++ % kLooks == 0 ? look_at_clock(*reader->table) : STROMKV_OK;
}

bool has_bytes(stromkv_key key) { return key.data != nullptr || key.bytes == 0; }

/// Gets one row; the buffer grows as needed.
stromkv_status get(stromkv_reader* reader, stromkv_key key, Buffer* buffer, stromkv_row* row) {
  constexpr int kGrowths = 100;  // a torn size is a wrong guess
  region::Value value;
  region::GetResult result = region::GetResult::kSmallBuffer;
  for (int i = 0; i < kGrowths && result == region::GetResult::kSmallBuffer; ++i) {
    value = buffer->value();
    result = reader->reader->get({key.data, key.bytes}, value);
    if (result == region::GetResult::kSmallBuffer && !buffer->grow(value.bytes)) break;
  }
  set_row(status_of(*reader, result), key, value, row);
  return row->status;
}

}  // namespace

extern "C" {

const char* stromkv_status_text(stromkv_status status) {
  switch (status) {
    case STROMKV_OK: return "success";
    case STROMKV_NOT_FOUND: return "there is no such row";
    case STROMKV_MOVED: return "the published region has moved: attach again";
    case STROMKV_DROPPED: return "the table is gone, or has no published region any more";
    case STROMKV_SILENT: return "the server has not been heard of for a while";
    case STROMKV_UNSTABLE: return "the row changed during every attempt to read it";
    case STROMKV_REFUSED: return "the token is not known, has been used, or has expired";
    case STROMKV_CORRUPT: return "the published region is damaged";
    case STROMKV_UNSUPPORTED: return "the published region has a version that is not known";
    case STROMKV_IO: return "the server or the region cannot be reached";
    case STROMKV_NO_MEMORY: return "no memory is left";
    case STROMKV_INVALID: return "invalid argument";
    case STROMKV_CONFLICT: return "the row has another generation";
    case STROMKV_DENIED: return "permission denied";
    case STROMKV_BUSY: return "another transaction has the row or the table";
    case STROMKV_FULL: return "the table, its memory or its log has no room";
    case STROMKV_CONSTRAINT: return "the row violates a constraint of the table";
    case STROMKV_BAD_VALUE: return "a value is none of its column's type";
    case STROMKV_FAILED: return "the server could not do it";
    case STROMKV_TOO_LARGE: return "the rows do not fit in one answer: ask for fewer keys at a time";
  }
  return "unknown status";
}

stromkv_status stromkv_attach_descriptor(int descriptor, stromkv** table, char* error, size_t error_bytes) {
  if (table == nullptr) return STROMKV_INVALID;
  *table = nullptr;
  try {
    return attach(descriptor, table, error, error_bytes);
  } catch (const std::bad_alloc&) {
    return STROMKV_NO_MEMORY;
  }
}

stromkv_status stromkv_attach(const char* socket, const char* token, stromkv** table, char* error, size_t error_bytes) {
  if (table == nullptr) return STROMKV_INVALID;
  *table = nullptr;
  if (socket == nullptr || token == nullptr) return STROMKV_INVALID;
  try {
    strom::base::Descriptor descriptor;
    std::string what;
    const bool is_by_rdma = strom::kv::is_by_rdma(socket);
    if (is_by_rdma || strom::kv::is_by_tcp(socket)) {
      const auto open = is_by_rdma ? strom::kv::open_rdma_transport : strom::kv::open_message_transport;
      std::unique_ptr<region::Transport> transport;
      stromkv_status opened = open(socket, token, &transport, &what);
      if (opened == STROMKV_OK) opened = attach_far(std::move(transport), table, &what);
      if (opened != STROMKV_OK) tell(what, error, error_bytes);
      return opened;
    }
    const stromkv_status received = strom::kv::receive_region(socket, token, &descriptor, &what);
    if (received != STROMKV_OK) {
      tell(what, error, error_bytes);
      return received;
    }
    return attach(descriptor.get(), table, error, error_bytes);
  } catch (const std::bad_alloc&) {
    return STROMKV_NO_MEMORY;
  }
}

void stromkv_detach(stromkv* table) { delete table; }

void stromkv_set_patience(stromkv* table, unsigned milliseconds) {
  table->patience_ms = milliseconds;
  if (table->transport != nullptr) table->transport->set_patience(milliseconds);
}

size_t stromkv_column_count(const stromkv* table) { return table->columns.size(); }

size_t stromkv_key_column(const stromkv* table) { return static_cast<size_t>(table->shape.key); }

const stromkv_column* stromkv_column_at(const stromkv* table, size_t column) {
  return column < table->columns.size() ? &table->columns[column] : nullptr;
}

uint64_t stromkv_row_count(const stromkv* table) {
  if (!table->far.has_value()) return region::load_word(&table->header().rows);
  try {
    region::FarReader far = *table->far;
    far.look();
    return far.live().rows;
  } catch (const std::bad_alloc&) {
    return table->far->live().rows;
  }
}

stromkv_status stromkv_reader_open(const stromkv* table, stromkv_reader** reader) {
  if (table == nullptr || reader == nullptr) return STROMKV_INVALID;
  *reader = nullptr;
  try {
    if (table->far.has_value()) {
      auto opened = std::make_unique<stromkv_reader>();
      opened->table = table;
      opened->far = std::make_unique<region::FarReader>(*table->far);
      opened->cells.resize(table->columns.size());
      *reader = opened.release();
      return STROMKV_OK;
    }
    auto attached = region::Reader::attach(table->memory, table->bytes);
    if (!attached.is_ok()) return status_of(attached.status());
    *reader = new stromkv_reader{table, attached.value()};
    (*reader)->cells.resize(table->columns.size());
    return STROMKV_OK;
  } catch (const std::bad_alloc&) {
    return STROMKV_NO_MEMORY;
  }
}

void stromkv_reader_close(stromkv_reader* reader) { delete reader; }

stromkv_status stromkv_get(stromkv_reader* reader, stromkv_key key, stromkv_row* row) {
  if (reader == nullptr || row == nullptr || !has_bytes(key)) return STROMKV_INVALID;
  try {
    if (reader->far != nullptr) {
      const stromkv_status status = get_far(reader, &key, row, 1, [reader](size_t) { return &reader->buffers[0]; });
      return status != STROMKV_OK ? status : row->status;
    }
    if (const stromkv_status look = look_sometimes(reader); look != STROMKV_OK) return look;
    return get(reader, key, &reader->buffers[0], row);
  } catch (const std::bad_alloc&) {
    return STROMKV_NO_MEMORY;
  }
}

stromkv_status stromkv_get_many(stromkv_reader* reader, const stromkv_key* keys, stromkv_row* rows, size_t count) {
  if (reader == nullptr || ((keys == nullptr || rows == nullptr) && count != 0)) return STROMKV_INVALID;
  for (size_t i = 0; i < count; ++i)
    if (!has_bytes(keys[i])) return STROMKV_INVALID;
  if (reader->far == nullptr)
    if (const stromkv_status look = look_sometimes(reader); look != STROMKV_OK) return look;
  stromkv_status worst = STROMKV_OK;
  try {
    // Rows stay valid until the next call, so each one needs memory of its own.
    if (count > kTogether && reader->more.size() < count - kTogether) reader->more.resize(count - kTogether);
    for (size_t begin = 0; begin < count; begin += kTogether) {
      region::Key wanted[kTogether];
      region::Value values[kTogether];
      const size_t part = std::min(kTogether, count - begin);
      const auto buffer_of = [reader, begin](size_t i) {
        return begin == 0 ? &reader->buffers[i] : &reader->more[begin - kTogether + i];
      };
      if (reader->far != nullptr) {
        const stromkv_status status = get_far(reader, keys + begin, rows + begin, part, buffer_of);
        if (status != STROMKV_OK) return status;
        for (size_t i = begin; i < begin + part; ++i)
          if (rows[i].status > STROMKV_NOT_FOUND) worst = rows[i].status;
        continue;
      }
      for (size_t i = 0; i < part; ++i) {
        wanted[i] = {keys[begin + i].data, keys[begin + i].bytes};
        buffer_of(i)->lend_to(&values[i]);
      }
      reader->reader->get_many(wanted, values, part);
      for (size_t i = 0; i < part; ++i) {
        stromkv_row& row = rows[begin + i];
        if (values[i].result == region::GetResult::kSmallBuffer)
          get(reader, keys[begin + i], buffer_of(i), &row);
        else
          set_row(status_of(*reader, values[i].result), keys[begin + i], values[i], &row);
        if (row.status > STROMKV_NOT_FOUND) worst = row.status;
      }
    }
  } catch (const std::bad_alloc&) {
    return STROMKV_NO_MEMORY;
  }
  return worst;
}

stromkv_status stromkv_fields(const stromkv_reader* reader, const stromkv_row* row, stromkv_field* fields) {
  if (reader == nullptr || row == nullptr || fields == nullptr) return STROMKV_INVALID;
  return strom::kv::split_row(reader->table->shape, *row, const_cast<stromkv_reader*>(reader)->cells, fields);
}

void stromkv_scan_begin(stromkv_reader* reader) {
  reader->bucket = 0;
  reader->slot = 0;
  reader->is_complete = false;
  reader->found.clear();
  reader->next_found = 0;
  if (reader->far == nullptr) {
    reader->moves = region::load_word(&reader->reader->header().moves, __ATOMIC_ACQUIRE);
    return;
  }
  // If this fails, the first read of a row fails as well.
  reader->far->look();
  reader->moves = reader->far->live().moves;
}

stromkv_status stromkv_scan_next(stromkv_reader* reader, stromkv_row* row) {
  if (reader == nullptr || row == nullptr) return STROMKV_INVALID;
  if (reader->far != nullptr) {
    try {
      return scan_far(reader, row);
    } catch (const std::bad_alloc&) {
      return STROMKV_NO_MEMORY;
    }
  }
  if (const stromkv_status look = look_sometimes(reader); look != STROMKV_OK) return look;
  const region::Header& header = reader->reader->header();
  try {
    while (reader->bucket < header.bucket_count + region::kStashBuckets) {
      region::Key key{};
      region::Value value = reader->buffers[0].value();
      const region::GetResult result = reader->reader->read_entry(reader->bucket, reader->slot, value, &key);
      if (result == region::GetResult::kSmallBuffer && reader->buffers[0].grow(value.bytes)) continue;
      if (++reader->slot == header.bucket_slots) {
        reader->slot = 0;
        ++reader->bucket;
      }
      if (result == region::GetResult::kNotFound) continue;
      set_row(status_of(*reader, result), {key.data, key.bytes}, value, row);
      return row->status;
    }
  } catch (const std::bad_alloc&) {
    return STROMKV_NO_MEMORY;
  }
  if (const stromkv_status state = state_of(*reader->table); state != STROMKV_OK) return state;
  const uint64_t moves = region::load_word(&header.moves, __ATOMIC_ACQUIRE);
  reader->is_complete = moves == reader->moves && moves % 2 == 0;
  return STROMKV_NOT_FOUND;
}

int stromkv_scan_is_complete(const stromkv_reader* reader) { return reader->is_complete ? 1 : 0; }

void stromkv_reader_statistics(const stromkv_reader* reader, stromkv_statistics* statistics) {
  const region::ReaderCounts& counts = reader->far != nullptr ? reader->far->counts() : reader->reader->counts();
  *statistics = {counts.gets, counts.bucket_reads, counts.record_reads, counts.retries};
}

stromkv_status stromkv_verify(const stromkv* table, char* error, size_t error_bytes) {
  if (table == nullptr) return STROMKV_INVALID;
  if (table->far.has_value()) {
    tell("a published region is verified where it is mapped, on the server's machine", error, error_bytes);
    return STROMKV_UNSUPPORTED;
  }
  try {
    const auto checked = region::check(table->memory, table->bytes);
    if (const stromkv_status state = state_of(*table); state != STROMKV_OK) {
      tell(stromkv_status_text(state), error, error_bytes);
      return state;
    }
    if (!checked.is_ok()) tell(checked.status().message(), error, error_bytes);
    return checked.is_ok() ? STROMKV_OK : status_of(checked.status());
  } catch (const std::bad_alloc&) {
    return STROMKV_NO_MEMORY;
  }
}

}  // extern "C"
