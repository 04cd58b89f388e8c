// Fuzzer of the decoder of record batches that a server makes: the first byte chooses a stream that is whole, the rest
// are places in it and the bytes that stand there instead. What is not refused has columns of one length.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/arrow/read/stream_decoder.hpp"
#include "stream_samples.hpp"

using namespace strom::format::arrow;

namespace {

constexpr unsigned kStreams = 8;

/// Columns refer to them.
const std::vector<Field>& fields() {
  static const std::vector<Field> all = all_fields();
  return all;
}

const std::vector<std::string>& streams() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> made;
    for (unsigned seed = 0; seed < kStreams; ++seed) {
      auto unused = builders(fields());
      made.push_back(stream_of(seed, 2, unused));
    }
    return made;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  std::string stream = streams()[data[0] % kStreams];
  constexpr size_t kEdit = 4;  // three bytes of place, one to put there
  for (size_t at = 1; at + kEdit <= size; at += kEdit) {
    const size_t place = data[at] | size_t{data[at + 1]} << 8 | size_t{data[at + 2]} << 16;
    if (place < stream.size()) {
      stream[place] = static_cast<char>(data[at + 3]);
    } else {
      stream.resize(stream.size() - std::min<size_t>(stream.size(), data[at + 3]));
    }
  }
  auto columns = builders(fields());
  StreamDecoder decoder("a stream", columns, {{5, std::make_shared<strom::columnar::Labels>(kLabels)}});
  const auto take = [&](const StreamRows& rows) -> strom::Status {
    const int64_t half = rows.count() / 2;
    STROM_TRY(rows.append_to(columns, 0, half));
    return rows.append_to(columns, half, rows.count() - half);
  };
  // A copy of just its size, so that nothing behind it is read.
  const std::vector<uint8_t> bytes(stream.begin(), stream.end());
  if (!decoder.feed(bytes.data(), static_cast<int64_t>(bytes.size()), take).is_ok()) return 0;
  (void)decoder.finish();
  for (const ColumnBuilder& column : columns) {
    if (column.length() != columns[0].length()) __builtin_trap();
  }
  return 0;
}
