// How an Arrow file or stream stores its contents, apart from its columns: dictionaries, compression, metadata of
// record batches. For people, and for copies in the same form: the tools.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "columnar/dictionary_builder.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/batch/compression.hpp"

namespace strom::format::arrow {

struct DictionaryStorage {
  int64_t id = 0;
  std::string index_type;  // "Int32", "UInt8"
  bool is_ordered = false;
};

/// Key in a record batch's metadata, followed by a column's name: that column's statistics.
inline constexpr std::string_view kBatchRangePrefix = "min_max_stats.";

struct BatchStorage {
  Codec codec = Codec::kNone;
  columnar::KeyValues metadata;
};

struct FileStorage {
  bool is_stream = false;
  /// For each column its own dictionary, or those of its parts.
  std::vector<std::vector<DictionaryStorage>> dictionaries;
  std::vector<BatchStorage> batches;
  /// Number of values by id, in all batches of the dictionary.
  std::vector<std::pair<int64_t, int64_t>> dictionary_values;
};

/// Errors: those of opening a file; kCorruptFile.
Result<FileStorage> read_storage(const std::string& path);
/// The same for a file's bytes in memory; `name` is for messages.
Result<FileStorage> read_storage(const std::string& name, std::span<const uint8_t> bytes);

/// The dictionaries of a file by id, as far as values can be added to them; none for streams. Errors: those of opening
/// a file; kCorruptFile.
Result<columnar::DictionaryBuilders> load_dictionaries(const std::string& path, const FileStorage& storage);

/// "none", "lz4", "zstd".
const char* codec_text(Codec codec);

}  // namespace strom::format::arrow
