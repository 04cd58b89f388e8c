#include "fake_rows.hpp"

#include "pg/pruning/chunk_filter.hpp"
#include "pg/source/collected_rows.hpp"

namespace strom::pg::node::test {
CollectedLog collected;
}

namespace strom::pg::pruning {
struct ChunkFilter::Condition {};
struct ChunkFilter::ColumnState {};
ChunkFilter::~ChunkFilter() = default;
}  // namespace strom::pg::pruning

namespace strom::pg::source {

using node::test::collected;

CollectedRows::CollectedRows(std::vector<engine::plan::ValueType> types, bool is_set)
    : types_(std::move(types)), is_set_(is_set) {
  collected.sets.push_back(is_set);
}

void CollectedRows::add(const Datum* values, const bool* nulls) {
  std::vector<std::optional<int64_t>> row;
  row.reserve(types_.size());
  for (size_t i = 0; i < types_.size(); ++i)
    row.push_back(nulls[i] ? std::nullopt : std::optional(DatumGetInt64(values[i])));
  collected.rows.push_back(std::move(row));
  ++rows_;
}

void CollectedRows::spill() {
  ++collected.spilled;
  collected.memory = 0;
}
void CollectedRows::finish() { ++collected.finished; }
int64_t CollectedRows::memory_bytes() const { return collected.memory; }
Result<columnar::BatchView> CollectedRows::chunk(int64_t) const { return columnar::BatchView{}; }
void CollectedRows::read(int64_t, int64_t, MemoryContext, Datum*, bool*) {}
std::span<const codec::Decoder> CollectedRows::decoders(int64_t) { return {}; }
void DecodedRows::read(int64_t, int64_t, MemoryContext, Datum*, bool*) {}

}  // namespace strom::pg::source
