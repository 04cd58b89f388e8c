#include "pg/table/store/store_rows.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <type_traits>

#include "base/stored_numeric.hpp"
#include "columnar/datum_form.hpp"
#include "columnar/changing_origin.hpp"
#include "engine/block/tile.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/explain/lines.hpp"
#include "pg/store/gpu_copies.hpp"
#include "pg/store/visibility.hpp"

namespace strom::pg::table {

using boundary::guard;
using registry::Phys;
using registry::StrView;
using registry::TypeId;
using store::Codec;

namespace {

constexpr uint32_t kBits = 64;

bool is_seen(const uint64_t* seen, uint32_t row) {
  return seen == nullptr || (seen[row / kBits] >> (row % kBits) & 1) != 0;
}

using Bits = std::vector<uint64_t>;

/// Bitmaps that this process keeps for its next scans. The memory allocator would give them back to the system, and
/// each scan would wait for hundreds of page faults before its threads can start.
class KeptBits {
 public:
  /// A bitmap of at least `words`, with any values.
  Bits take(size_t words) {
    Bits bits;
    const auto found = std::find_if(kept_.begin(), kept_.end(), [=](const Bits& kept) { return kept.size() >= words; });
    if (found != kept_.end())
      bits.swap(*found);
    else
      bits.resize(words);
    return bits;
  }
  void keep(Bits bits) noexcept {
    const auto is_smaller = [](const Bits& a, const Bits& b) { return a.size() < b.size(); };
    Bits& smallest = *std::min_element(kept_.begin(), kept_.end(), is_smaller);
    size_t words = bits.size() - smallest.size();
    for (const Bits& kept : kept_) words += kept.size();
    if (bits.size() > smallest.size() && words <= kMostWords) smallest.swap(bits);
  }

 private:
  static constexpr size_t kMostWords = size_t{2} << 20;  // for 128 million rows
  std::array<Bits, 16> kept_;                            // tables of a query
};

KeptBits kept_bits;

}  // namespace

bool stored_as(const store::StoreColumn& column, TypeId type, StoredAs* stored) {
  const Phys phys = registry::type_info(type).phys;
  *stored = StoredAs::kRegisters;
  switch (column.codec) {
    case Codec::kByte: return type == TypeId::kBool;
    case Codec::kSmall: return type == TypeId::kInt2;
    case Codec::kChar: return type == TypeId::kChar;
    case Codec::kWord: return phys == Phys::kI32 || phys == Phys::kF32;
    case Codec::kObject: return type == TypeId::kOid || type == TypeId::kEnum;
    case Codec::kLong:  // in cells the top bit is not inverted
      if (registry::type_info(type).form == registry::DatumForm::kUInt8) *stored = StoredAs::kDatums;
      return phys == Phys::kI64 || phys == Phys::kF64;
    case Codec::kBytes:
      if (phys == Phys::kI64) *stored = StoredAs::kDatums;
      return phys == Phys::kI128 || phys == Phys::kI64;
    case Codec::kVarlena: break;
  }
  const bool is_numeric = type == TypeId::kNumeric || type == TypeId::kDecimal;
  *stored = is_numeric ? StoredAs::kNumerics : StoredAs::kViews;
  return is_numeric || phys == Phys::kStr;
}

/// The columns that chunk() has made for a chunk.
struct StoreRows::Made {
  std::deque<std::vector<uint64_t>> not_null;
  std::deque<std::vector<StrView>> numerics;
  std::deque<std::vector<int64_t>> words;
};

/// Names a chunk's columns for devices, which cache columns of fixed width. What is written into the chunk makes a new
/// generation of them. Ending a row changes only the rows' bits. Made before the values are read.
class StoreRows::Origin final : public columnar::ChangingOrigin {
 public:
  Origin(const StoreRows* rows, const Chunk& chunk)
      : rows_(rows), number_(chunk.number), generation_(chunk.generation) {
    static_assert(kBlockRows == store::rows::kBlockRows);
    for (const Column& column : rows->columns_)
      has_nulls_.push_back(rows->table_->rows->has_nulls(number_, column.number));
  }

  std::string name(size_t column) const override {
    const Column& named = rows_->columns_[column];
    if (named.stored != StoredAs::kRegisters && named.stored != StoredAs::kDatums) return {};
    // Only devices ask.
    if (!rows_->uses_copies_.exchange(true, std::memory_order_relaxed)) store::note_gpu_use(rows_->table_);
    std::string name = "S";
    // The seed is random for each memory, and each memory belongs to one table with these columns. A copy made before
    // the chunk had a NULL has no flags, and is laid out in another way.
    columnar::append_name(&name, rows_->table_->shared->rows.seed, number_, named.number, has_nulls_[column]);
    return name;
  }
  int32_t number(size_t column) const override { return rows_->table_->columns[rows_->columns_[column].number].attnum; }
  std::string label() const override { return columnar::relation_label(MyDatabaseId, rows_->table_->relid); }
  uint64_t generation() const override { return generation_; }
  std::vector<uint32_t> changed_blocks(uint64_t since, int64_t begin, int64_t rows) const override {
    std::vector<uint32_t> blocks;
    const std::vector<uint64_t> written = rows_->table_->rows->written_blocks(number_);
    const size_t first = static_cast<size_t>(begin / kBlockRows);
    for (size_t i = first; i < written.size() && static_cast<int64_t>(i - first) * kBlockRows < rows; ++i)
      if (written[i] >= since) blocks.push_back(static_cast<uint32_t>(i - first));
    return blocks;
  }
  bool has_nulls(size_t column) const { return has_nulls_[column] != 0; }

 private:
  const StoreRows* const rows_;
  const uint64_t number_, generation_;
  std::vector<uint8_t> has_nulls_;  // of each column
};

StoreRows::StoreRows(const store::Table* table, Snapshot snapshot, const std::vector<AttrNumber>& attributes,
                     const std::vector<engine::plan::ValueType>& types, Reader reader)
    : table_(table), uses_copies_(reader == Reader::kRenewal) {
  for (size_t i = 0; i < attributes.size(); ++i) {
    Column column{0, StoredAs::kRegisters, types[i].type == TypeId::kDecimal ? base::kOwnScale : types[i].scale,
                  columnar::storage_of(registry::type_info(types[i].type).form)};
    while (column.number < table->columns.size() && table->columns[column.number].attnum != attributes[i])
      ++column.number;
    if (column.number == table->columns.size() ||
        !stored_as(table->columns[column.number], types[i].type, &column.stored))
      throw boundary::StatusError(
          Status(ErrorCode::kInternal, std::string("column of store table \"") + table->name + "\" cannot be read"));
    has_numerics_ = has_numerics_ || column.stored == StoredAs::kNumerics;
    columns_.push_back(column);
  }
  find_rows(snapshot);
  // Read after the snapshot was taken, so that it covers every version that the snapshot sees.
  const uint64_t used = table->rows->heap_used();
  for (uint64_t begin = 0; begin < used; begin += store::rows::kHeapSegment) {
    const auto segment = static_cast<uint32_t>(begin / store::rows::kHeapSegment);
    segments_.push_back(reinterpret_cast<const char*>(table->rows->heap_segment(segment)));
    segment_bytes_.push_back(static_cast<int64_t>(std::min(used - begin, store::rows::kHeapSegment)));
  }
}

StoreRows::~StoreRows() { kept_bits.keep(std::move(bits_)); }

void StoreRows::find_rows(Snapshot snapshot) {
  const store::rows::Rows& rows = *table_->rows;
  const uint32_t used = rows.used_slots();
  for (uint64_t number = 0; rows.used_in(number, used) != 0; ++number) {
    const uint32_t count = rows.used_in(number, used);
    boundary::check_for_interrupts();
    Chunk chunk{number, count, nullptr, rows.generation(number)};
    uint32_t seen = count;
    // Versions that everybody sees live as long as the snapshot, even if somebody ends them now.
    if (__atomic_load_n(&rows.info(number).settled, __ATOMIC_ACQUIRE) < count) {
      if (bits_.empty()) bits_ = kept_bits.take((used + kBits - 1) / kBits);
      uint64_t* const bits = bits_.data() + number * table_->layout.chunk_rows / kBits;
      seen = guard([=, this] { return store::visible_bits(table_, number, count, snapshot, bits); });
      if (seen != count) chunk.seen = bits;
    }
    rows_ += seen;
    whole_ += seen == count ? 1 : 0;
    without_rows_ += seen == 0 ? 1 : 0;
    if (seen != 0) chunks_.push_back(chunk);
  }
}

/// Makes registers for all rows, including invisible ones, because a device may cache them for snapshots that see other
/// rows. Some rows may be changing.
const int64_t* StoreRows::make_words(const Chunk& chunk, const Column& column, Made* made) const {
  const uint64_t width = table_->columns[column.number].width;
  const auto* const bytes = static_cast<const uint8_t*>(table_->rows->values(chunk.number, column.number));
  std::vector<int64_t>& words = made->words.emplace_back(chunk.rows + engine::block::kTilePadding);
  columnar::heap::with_fixed(column.storage, [&](auto convert) {
    if constexpr (std::is_convertible_v<decltype(convert(bytes)), int64_t>)
      for (uint32_t row = 0; row < chunk.rows; ++row) words[row] = static_cast<int64_t>(convert(bytes + row * width));
  });
  return words.data();
}

columnar::ColumnView StoreRows::view(const Chunk& chunk, const Column& column, bool has_nulls, Made* made) const {
  const store::rows::Rows& rows = *table_->rows;
  // The chunk may get its first NULL at any moment, in a row that is not seen.
  const uint8_t* const nulls = has_nulls ? rows.nulls(chunk.number, column.number) : nullptr;
  columnar::ColumnView view;
  view.length = chunk.rows;
  view.values = rows.values(chunk.number, column.number);
  view.is_register = column.stored != StoredAs::kViews;
  if (view.is_register) {
    view.flags = nulls;
    if (column.stored == StoredAs::kDatums) view.values = make_words(chunk, column, made);
    if (column.stored != StoredAs::kNumerics) return view;
    std::vector<StrView>& numerics = made->numerics.emplace_back(chunk.rows, StrView{nullptr, 0});
    for (uint32_t row = 0; row < chunk.rows; ++row) {
      if (!is_seen(chunk.seen, row)) continue;
      const auto slot = static_cast<store::Slot>(chunk.number * table_->layout.chunk_rows + row);
      const store::rows::Cell cell = rows.read(slot, column.number);
      if (!cell.is_null) numerics[row] = {static_cast<const char*>(cell.data), cell.bytes};
    }
    view.values = numerics.data();
    view.is_stored_numeric = true;
    view.scale = column.scale;
    return view;
  }
  view.layout = columnar::Layout::kBinaryView;
  view.variadic = segments_.data();
  view.variadic_sizes = segment_bytes_.data();
  view.variadic_count = static_cast<int32_t>(segments_.size());
  if (nulls == nullptr) return view;
  std::vector<uint64_t>& not_null = made->not_null.emplace_back((chunk.rows + kBits - 1) / kBits, 0);
  for (uint32_t row = 0; row < chunk.rows; ++row) not_null[row / kBits] |= uint64_t{nulls[row] == 0} << (row % kBits);
  view.validity = reinterpret_cast<const uint8_t*>(not_null.data());
  view.null_count = -1;  // unknown
  return view;
}

// Any thread.
Result<columnar::BatchView> StoreRows::chunk(int64_t index) const {
  const Chunk& chunk = chunks_[static_cast<size_t>(index)];
  const auto made = std::make_shared<Made>();
  columnar::BatchView batch;
  batch.rows = chunk.rows;
  const auto origin = std::make_shared<const Origin>(this, chunk);
  for (size_t i = 0; i < columns_.size(); ++i)
    batch.columns.push_back(view(chunk, columns_[i], origin->has_nulls(i), made.get()));
  if (chunk.seen != nullptr) batch.selection = reinterpret_cast<const uint8_t*>(chunk.seen);
  batch.memory = made;
  batch.origin = origin;
  return batch;
}

std::string StoreRows::describe(int64_t index) const {
  return "chunk " + std::to_string(chunks_[static_cast<size_t>(index)].number) + " of store table \"" + table_->name +
         "\"";
}

void StoreRows::read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) {
  const auto slot = static_cast<store::Slot>(chunks_[static_cast<size_t>(chunk)].number * table_->layout.chunk_rows +
                                             static_cast<uint64_t>(row));
  guard([=, this] {
    MemoryContext before = MemoryContextSwitchTo(memory);
    for (size_t i = 0; i < columns_.size(); ++i) {
      const uint32_t number = columns_[i].number;
      values[i] = store::from_cell(table_->columns[number], table_->rows->read(slot, number), &nulls[i]);
    }
    MemoryContextSwitchTo(before);
  });
}

int64_t StoreRows::stored_bytes() const {
  const uint64_t chunks = static_cast<uint64_t>(chunks_.size()) * table_->layout.chunk_bytes;
  return static_cast<int64_t>(chunks + table_->rows->heap_used());
}

void StoreRows::explain_runs(ExplainState* es) const {
  explain::explain_counts(es, "Store Chunks", "Store Chunks", nullptr,
                          {{"Whole", whole_}, {"Partial", chunk_count() - whole_}, {"Skipped", without_rows_}});
}

}  // namespace strom::pg::table
