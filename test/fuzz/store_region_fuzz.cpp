// Fuzzer of what a client of a published region takes from it: records that are torn or made up, and rows of any shape.
// A row that is understood is written back, and has to become the same bytes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "store/region/check.hpp"
#include "store/region/reader.hpp"
#include "store/region/writer.hpp"
#include "store/rows/row_payload.hpp"

namespace {

using namespace strom::store;

/// The first bytes say what columns there are, and the key.
rows::Shape take_shape(const uint8_t** bytes, size_t* size) {
  const auto take = [&] { return *size == 0 ? 0 : (--*size, *(*bytes)++); };
  rows::Shape shape;
  const int columns = 1 + take() % 20;
  for (int i = 0; i < columns; ++i) {
    const auto width = static_cast<uint32_t>(take());
    shape.columns.push_back({"", "", width % 2 == 0 ? rows::Form::kView : rows::Form::kFixed, 1 + width / 2});
  }
  shape.key = take() % columns;
  return shape;
}

void try_row(const rows::Shape& shape, std::string_view key, std::string_view payload, bool has_nulls) {
  std::vector<rows::Cell> cells(shape.columns.size());
  if (!rows::parse_payload(shape, key, payload, has_nulls, cells)) return;
  const rows::PayloadSize wanted = rows::payload_size(shape, cells);
  if (wanted.bytes != payload.size() || wanted.has_nulls != has_nulls) __builtin_trap();
  std::string again(wanted.bytes, '\0');
  rows::write_payload(shape, cells, has_nulls, reinterpret_cast<uint8_t*>(again.data()));
  if (again != payload) __builtin_trap();
}

/// A region with one record, which is the fuzzer's bytes and proves itself: what a server that lies could publish. Its
/// sizes may lead out of the record.
void try_region(const rows::Shape& shape, const uint8_t* bytes, size_t size) {
  constexpr size_t kRecord = 2304;  // more than any key
  region::Plan plan;
  plan.max_rows = 1;
  plan.extents_bytes = 1 << 12;
  const uint64_t whole = region::geometry_of(plan).file_bytes;
  const std::unique_ptr<uint8_t, decltype(&std::free)> memory(
      static_cast<uint8_t*>(std::aligned_alloc(region::kHeaderBytes, whole)), std::free);
  uint8_t* at = memory.get();
  std::memset(at, 0, whole);
  static region::WriterState state;
  state = {};
  auto writer = region::Writer::create(at, plan, &state);
  std::vector<uint64_t> record(kRecord / sizeof(uint64_t));
  std::memcpy(record.data(), bytes, std::min(size, kRecord));
  const auto header = *reinterpret_cast<const region::RecordHeader*>(record.data());
  writer.publish({reinterpret_cast<uint8_t*>(record.data()), kRecord}, writer.reserve(kRecord).value(), false);
  writer.set_state(region::State::kReady);
  (void)region::check(at, whole, [&](std::string_view key, std::string_view payload, bool has_nulls) {
    try_row(shape, key, payload, has_nulls);
    return strom::Status::ok();
  });
  // A reader of a record that is not whole gives the processor away a thousand times before it gives up.
  if (region::record_bytes(region::key_bytes(header), region::payload_bytes(header)) > kRecord) return;
  auto reader = region::Reader::attach(at, whole).value();
  const auto room = std::make_unique<uint64_t[]>(kRecord / sizeof(uint64_t));
  uint64_t found = 0;
  for (uint64_t bucket = 0; bucket < reader.header().bucket_count; ++bucket)
    for (uint32_t slot = 0; slot < region::kSlots; ++slot) {
      region::Key key{};
      region::Value value;
      value.buffer = room.get();
      value.capacity = kRecord;
      if (reader.read_entry(bucket, slot, value, &key) != region::GetResult::kFound) continue;
      ++found;
      try_row(shape, {static_cast<const char*>(key.data), key.bytes},
              {static_cast<const char*>(value.payload), value.bytes}, value.has_nulls);
    }
  if (found != 1) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const rows::Shape shape = take_shape(&bytes, &size);
  if (size < 2) return 0;
  const bool has_nulls = bytes[0] % 2 != 0;
  const size_t key = bytes[1] % (size - 1);
  bytes += 2;
  size -= 2;
  // Copies of exactly these sizes, so that reading past their ends is seen.
  const auto copy_of = [](const uint8_t* from, size_t count) {
    auto copy = std::make_unique<char[]>(count);
    if (count != 0) std::memcpy(copy.get(), from, count);
    return copy;
  };
  const auto key_bytes = copy_of(bytes, key), payload = copy_of(bytes + key, size - key);
  try_row(shape, {key_bytes.get(), key}, {payload.get(), size - key}, has_nulls);
  if (size > 0) try_region(shape, bytes, size);
  return 0;
}
