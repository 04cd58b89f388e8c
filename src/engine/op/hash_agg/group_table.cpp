#include "engine/op/hash_agg/group_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/agg/accumulate.hpp"
#include "engine/op/hash_agg/accumulator.hpp"

namespace strom::engine::op {

using block::AggregateCode;
using registry::StrView;

namespace {

/// Bytes of unused text after which used text is copied to a new store.
constexpr int64_t kMostReplacedText = 1 << 20;

}  // namespace

HostGroupTable::HostGroupTable(const Assembly& assembly) : assembly_(assembly) {
  uint32_t capacity;
  index_ = make_group_index(assembly, &table_, &capacity);
  accumulators_.resize(assembly.aggregates.size());
  for (size_t a = 0; a < accumulators_.size(); ++a)
    accumulators_[a].size = agg::accumulator_size(assembly.aggregates[a]);
  allocate(capacity);
}

// ---- memory ----

void HostGroupTable::set_identity(Accumulator& acc, const AggregateCode& code, uint32_t from, uint32_t to) {
  const std::array<uint8_t, kLargestAccumulator> empty = empty_accumulator(code);
  const auto size = static_cast<size_t>(acc.size);
  uint8_t* values = acc.values.data();
  if (std::count(empty.begin(), empty.begin() + acc.size, empty[0]) == acc.size) {
    std::fill(values + from * size, values + to * size, empty[0]);
    return;
  }
  if (from >= to) return;
  std::memcpy(values + from * size, empty.data(), size);
  for (uint32_t made = 1; made < to - from; made += std::min(made, to - from - made))
    std::memcpy(values + (from + made) * size, values + from * size, std::min(made, to - from - made) * size);
}

void HostGroupTable::allocate(uint32_t capacity) {
  const uint32_t before = table_.capacity;
  index_->resize(capacity);
  resize_accumulators(before);
}

/// Grows the accumulators from capacity `from` to the index's capacity.
void HostGroupTable::resize_accumulators(uint32_t from) {
  const uint32_t capacity = table_.capacity;
  rows_.resize(capacity, 0);
  null_pointers_.clear();
  value_pointers_.clear();
  for (size_t a = 0; a < accumulators_.size(); ++a) {
    Accumulator& acc = accumulators_[a];
    acc.values.resize(static_cast<size_t>(capacity) * acc.size);
    acc.nulls.resize(capacity, 0);
    set_identity(acc, assembly_.aggregates[a], from, capacity);
    if (assembly_.copied_aggregates[a]) acc.owned.resize(capacity, agg::kNoText);
    null_pointers_.push_back(acc.nulls.data());
    value_pointers_.push_back(acc.values.data());
  }
  table_.rows = rows_.data();
  table_.nulls = null_pointers_.data();
  table_.values = value_pointers_.data();
}

void HostGroupTable::grow_to(uint32_t groups) {
  if (has_keys()) allocate(groups);
}

std::vector<GroupArray> HostGroupTable::arrays() {
  std::vector<GroupArray> arrays;
  const auto add = [&](void* data, size_t group_bytes) {
    arrays.push_back({data, group_bytes, group_bytes * table_.capacity});
  };
  index_->add_arrays(&arrays);
  add(rows_.data(), sizeof rows_[0]);
  for (Accumulator& acc : accumulators_) {
    add(acc.nulls.data(), sizeof acc.nulls[0]);
    add(acc.values.data(), static_cast<size_t>(acc.size));
  }
  return arrays;
}

HostGroupTable::PlacedView HostGroupTable::view_of(const std::vector<char*>& arrays) const {
  PlacedView view{table_, {}, {}, {}};
  char* const* next = arrays.data();
  view.table.slots = nullptr;
  view.table.hashes = nullptr;
  index_->point_to(&next, &view.table, &view.keys);
  view.table.rows = reinterpret_cast<int64_t*>(*next++);
  for (size_t a = 0; a < accumulators_.size(); ++a) {
    view.nulls.push_back(reinterpret_cast<int64_t*>(*next++));
    view.values.push_back(*next++);
  }
  view.table.keys = nullptr;
  view.table.nulls = nullptr;
  view.table.values = nullptr;
  return view;
}

void HostGroupTable::reset() {
  std::fill(rows_.begin(), rows_.end(), 0);
  for (size_t a = 0; a < accumulators_.size(); ++a) {
    std::fill(accumulators_[a].nulls.begin(), accumulators_[a].nulls.end(), 0);
    set_identity(accumulators_[a], assembly_.aggregates[a], 0, table_.capacity);
    std::fill(accumulators_[a].owned.begin(), accumulators_[a].owned.end(), agg::kNoText);
  }
  texts_.clear();
  replaced_text_ = 0;
  has_ties_ = false;
  index_->reset();
}

int64_t HostGroupTable::memory() const {
  int64_t bytes = texts_.memory() + index_->memory() + static_cast<int64_t>(rows_.capacity() * sizeof(int64_t));
  for (const Accumulator& acc : accumulators_)
    bytes +=
        static_cast<int64_t>(acc.values.capacity() + acc.nulls.capacity() * 8 + acc.owned.capacity() * sizeof(StrView));
  return bytes;
}

bool HostGroupTable::empty() const {
  return std::all_of(rows_.begin(), rows_.begin() + table_.count, [](int64_t rows) { return rows == 0; });
}

// ---- texts ----

void HostGroupTable::own_text() {
  index_->own_text(&texts_);
  for (size_t a = 0; a < assembly_.copied_aggregates.size(); ++a)
    if (assembly_.copied_aggregates[a]) own_best(accumulators_[a]);
  if (replaced_text_ > kMostReplacedText && replaced_text_ > texts_.memory() / 2) drop_replaced_text();
}

void HostGroupTable::own_best(Accumulator& acc) {
  auto* best = reinterpret_cast<StrView*>(acc.values.data());
  for (uint32_t group = 0; group < table_.count; ++group) {
    if (best[group].len < 0 || best[group].ptr == acc.owned[group].ptr) continue;
    replaced_text_ += std::max<int64_t>(0, acc.owned[group].len);
    texts_.own(best + group, nullptr, 1);
    acc.owned[group] = best[group];
  }
}

void HostGroupTable::drop_replaced_text() {
  TextStore left(kTextBlock);
  index_->own_all_text(&left);
  for (size_t a = 0; a < accumulators_.size(); ++a) {
    if (!assembly_.copied_aggregates[a]) continue;
    auto* best = reinterpret_cast<StrView*>(accumulators_[a].values.data());
    for (uint32_t group = 0; group < table_.count; ++group) {
      if (best[group].len >= 0) left.own(best + group, nullptr, 1);
      accumulators_[a].owned[group] = best[group];
    }
  }
  texts_ = std::move(left);
  replaced_text_ = 0;
}

void HostGroupTable::share_texts(const HostGroupTable& other) {
  texts_.share(other.texts_);
  index_->set_owned();
}

// ---- merging ----

void HostGroupTable::add_group(uint32_t into, const HostGroupTable& other, uint32_t group) {
  const int64_t rows_before = rows_[into];
  rows_[into] += other.rows_[group];
  has_ties_ |= other.has_ties_;
  for (size_t a = 0; a < accumulators_.size(); ++a) {
    Accumulator& acc = accumulators_[a];
    const Accumulator& from = other.accumulators_[a];
    const bool is_first = rows_before == acc.nulls[into];
    acc.nulls[into] += from.nulls[group];
    if (other.rows_[group] == from.nulls[group]) continue;
    uint8_t* value = acc.values.data() + static_cast<size_t>(into) * acc.size;
    const uint8_t* more = from.values.data() + static_cast<size_t>(group) * from.size;
    if (!is_first)
      has_ties_ |= combine_accumulators(assembly_.aggregates[a], value, more);
    else if (acc.size > 0)
      std::memcpy(value, more, static_cast<size_t>(acc.size));
  }
}

/// Adds each group of `other` that has rows to group find(group), unless that is kNoRow.
template <class Find>
void HostGroupTable::add_groups(const HostGroupTable& other, Find find) {
  for (uint32_t group = 0; group < other.table_.count; ++group) {
    if (other.rows_[group] == 0) continue;
    const uint32_t before = table_.capacity, mine = find(group);
    if (table_.capacity != before) resize_accumulators(before);
    if (mine != block::kNoRow) add_group(mine, other, group);
  }
}

void HostGroupTable::merge(const HostGroupTable& other) {
  add_groups(other, [&](uint32_t group) { return index_->find_or_add(*other.index_, group); });
  share_texts(other);
}

void HostGroupTable::absorb(const HostGroupTable& other) {
  add_groups(other, [&](uint32_t group) { return index_->find_or_add(*other.index_, group); });
  own_text();
}

void HostGroupTable::absorb(const HostGroupTable& other, uint64_t part) {
  add_groups(other, [&](uint32_t group) {
    return other.index_->part_of(group, kPartBits) == part ? index_->find_or_add(*other.index_, group) : block::kNoRow;
  });
  own_text();
}

void HostGroupTable::merge_by(const HostGroupTable& other, uint64_t kept) {
  GroupIndex::KeyMask kept_columns(assembly_.key_phys.size(), false);
  for (size_t k = 0; k < assembly_.group_keys.size(); ++k)
    if (kept >> k & 1) kept_columns[assembly_.group_keys[k].key_column] = true;
  add_groups(other, [&](uint32_t group) { return index_->find_or_add_by(*other.index_, group, kept_columns); });
  share_texts(other);
}

// ---- emission ----

namespace {

/// Memory of an emitted batch.
struct EmittedMemory {
  std::vector<std::vector<uint8_t>> values, flags;
  std::vector<std::vector<int64_t>> counts;
  std::vector<TextStore::Block> texts;
};

}  // namespace

std::shared_ptr<ResultBatch> HostGroupTable::emit(const plan::Program& program, const plan::Pipeline& pipeline) const {
  std::vector<uint32_t> groups;
  for (uint32_t group = 0; group < table_.count; ++group)
    if (rows_[group] > 0) groups.push_back(group);
  index_->sort(&groups);
  auto memory = std::make_shared<EmittedMemory>();
  memory->texts = texts_.blocks();
  auto batch = std::make_shared<ResultBatch>();
  batch->rows = static_cast<int64_t>(groups.size());
  for (size_t k = 0; k < assembly_.group_keys.size(); ++k) {
    std::vector<uint8_t> values, flags;
    index_->append_key(assembly_.group_keys[k], groups, &values, &flags);
    const bool has_flags = std::find(flags.begin(), flags.end(), block::kNullFlag) != flags.end();
    memory->values.push_back(std::move(values));
    memory->flags.push_back(std::move(flags));
    batch->columns.push_back({program.nodes[pipeline.group_keys[k]].type, memory->values.back().data(),
                              has_flags ? memory->flags.back().data() : nullptr});
  }
  for (const Accumulator& acc : accumulators_) {
    std::vector<uint8_t> values;
    append_items(acc.values.data(), static_cast<size_t>(acc.size), groups, &values);
    std::vector<int64_t> counts;
    counts.reserve(groups.size());
    for (uint32_t group : groups) counts.push_back(rows_[group] - acc.nulls[group]);
    memory->values.push_back(std::move(values));
    memory->counts.push_back(std::move(counts));
    batch->aggregates.push_back({memory->counts.back().data(), memory->values.back().data()});
  }
  for (const auto& values : memory->values) batch->memory_bytes += static_cast<int64_t>(values.size());
  for (const auto& flags : memory->flags) batch->memory_bytes += static_cast<int64_t>(flags.size());
  batch->memory_bytes += texts_.memory();
  batch->memory_bytes += static_cast<int64_t>(memory->counts.size() * groups.size() * sizeof(int64_t));
  batch->memory = std::move(memory);
  return batch;
}

}  // namespace strom::engine::op
