#include "engine/exec/group_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "engine/agg/accumulate.hpp"
#include "engine/block/hash.hpp"
#include "engine/expr/interval.hpp"

namespace strom::engine::exec {

using block::AccKind;
using block::AggregateCode;
using block::kNoRow;
using registry::DecimalSum;
using registry::Moments;
using registry::PairMoments;
using registry::Phys;
using registry::SquareSums;
using registry::StrView;

namespace {

constexpr uint32_t kFirstCapacity = 4096;
/// Bytes of text that nothing refers to before they are looked at.
constexpr int64_t kMostReplacedText = 1 << 20;

/// The value that any other replaces: NaN is the largest float, hence min's identity; of texts see text_replaces().
template <class T>
T identity(AccKind acc) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_quiet_NaN) return acc == AccKind::kMin ? Limits::quiet_NaN() : -Limits::infinity();
  return acc == AccKind::kMin ? Limits::max() : Limits::lowest();
}
template <>
__int128 identity(AccKind acc) {
  const __int128 highest = ~(static_cast<__int128>(1) << 127);
  return acc == AccKind::kMin ? highest : -highest - 1;
}
template <>
StrView identity(AccKind) {
  return {nullptr, -1};
}

template <class F>
void with_min_max_type(Phys phys, F&& f) {
  switch (phys) {
    case Phys::kI32: f(int32_t{}); break;
    case Phys::kI64: f(int64_t{}); break;
    case Phys::kI128: f(__int128{}); break;
    case Phys::kF32: f(float{}); break;
    case Phys::kF64: f(double{}); break;
    case Phys::kStr: f(StrView{}); break;
    default: break;
  }
}

template <class T>
bool replaces(AccKind acc, T value, T best) {
  return acc == AccKind::kMin ? expr::value_less(value, best) : expr::value_less(best, value);
}
template <>
bool replaces(AccKind acc, StrView value, StrView best) {
  return value.len >= 0 && agg::text_replaces(value, best, acc == AccKind::kMin);
}

/// What min and max compare of values that print more than that.
__int128 compared_part(const AggregateCode& code, __int128 value) {
  return agg::is_of_decimals(code) ? base::decimal_unscaled(value) : expr::span_of(value);
}

__int128 span_identity(AccKind acc) {
  if (acc == AccKind::kMinSpan) return expr::pack({INT64_MAX, INT32_MAX, INT32_MAX});
  return expr::pack({INT64_MIN, INT32_MIN, INT32_MIN});
}

constexpr size_t kLargestAccumulator = std::max({sizeof(SquareSums), sizeof(DecimalSum), sizeof(PairMoments)});

/// An accumulator that has seen nothing, and zeros behind it.
std::array<uint8_t, kLargestAccumulator> empty_accumulator(const AggregateCode& code) {
  std::array<uint8_t, kLargestAccumulator> bytes{};
  const auto write = [&](const auto& value) { std::memcpy(bytes.data(), &value, sizeof value); };
  switch (code.acc) {
    case AccKind::kMinSpan:
    case AccKind::kMaxSpan: write(span_identity(code.acc)); break;
    // Which no sum changes by, not even that of -0 alone; an average begins with 0.
    case AccKind::kSumF32: write(-0.0f); break;
    case AccKind::kSumF64: write(-0.0); break;
    case AccKind::kMin:
    case AccKind::kMax:
      with_min_max_type(code.phys, [&](auto zero) { write(identity<decltype(zero)>(code.acc)); });
      break;
    case AccKind::kBitAnd: std::fill_n(bytes.begin(), agg::accumulator_size(code), 0xff); break;
    default: break;
  }
  return bytes;
}

template <class T>
void add_value(void* into, const void* from) {
  T a, b;
  std::memcpy(&a, into, sizeof a);
  std::memcpy(&b, from, sizeof b);
  a += b;
  std::memcpy(into, &a, sizeof a);
}

void combine_bytes(AccKind acc, uint8_t* into, const uint8_t* from, int size) {
  for (int i = 0; i < size; ++i)
    into[i] = static_cast<uint8_t>(acc == AccKind::kBitAnd  ? into[i] & from[i]
                                   : acc == AccKind::kBitOr ? into[i] | from[i]
                                                            : into[i] ^ from[i]);
}

void combine_sums(DecimalSum* into, const DecimalSum& from) {
  into->high += from.high;
  into->low += from.low;
  into->scale = std::max(into->scale, from.scale);
}

/// T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances", 1979.
void combine_moments(Moments* into, const Moments& from) {
  if (from.count == 0) return;
  if (into->count == 0) {
    *into = from;
    return;
  }
  const double count = into->count + from.count;
  const double difference = into->sum / into->count - from.sum / from.count;
  into->squares += from.squares + into->count * from.count * difference * difference / count;
  into->sum += from.sum;
  into->count = count;
}

void combine_pairs(PairMoments* into, const PairMoments& from) {
  if (from.count == 0) return;
  if (into->count == 0) {
    *into = from;
    return;
  }
  const double count = into->count + from.count, weight = into->count * from.count / count;
  const double x = into->sum_x / into->count - from.sum_x / from.count;
  const double y = into->sum_y / into->count - from.sum_y / from.count;
  into->squares_x += from.squares_x + weight * x * x;
  into->squares_y += from.squares_y + weight * y * y;
  into->products += from.products + weight * x * y;
  into->sum_x += from.sum_x;
  into->sum_y += from.sum_y;
  into->count = count;
}

/// Of all but minima and maxima.
void add_up(const AggregateCode& code, void* into, const void* from) {
  switch (code.acc) {
    case AccKind::kCountRows:
    case AccKind::kCount: return;
    case AccKind::kSumI64:
    case AccKind::kCountTrue: return add_value<int64_t>(into, from);
    case AccKind::kSumI128: return add_value<__int128>(into, from);
    case AccKind::kSumF32: return add_value<float>(into, from);
    case AccKind::kSumF64:
    case AccKind::kAvgF64: return add_value<double>(into, from);
    case AccKind::kBitAnd:
    case AccKind::kBitOr:
    case AccKind::kBitXor:
      return combine_bytes(code.acc, static_cast<uint8_t*>(into), static_cast<const uint8_t*>(from),
                           registry::phys_size(code.phys));
    case AccKind::kSumSquares: {
      add_value<__int128>(into, from);
      for (const size_t part : {offsetof(SquareSums, low), offsetof(SquareSums, high)})
        add_value<__int128>(static_cast<uint8_t*>(into) + part, static_cast<const uint8_t*>(from) + part);
      return;
    }
    case AccKind::kSumDecimal:
      return combine_sums(static_cast<DecimalSum*>(into), *static_cast<const DecimalSum*>(from));
    case AccKind::kMoments: return combine_moments(static_cast<Moments*>(into), *static_cast<const Moments*>(from));
    case AccKind::kPairMoments:
      return combine_pairs(static_cast<PairMoments*>(into), *static_cast<const PairMoments*>(from));
    default: return;
  }
}

/// The better one of two values, of equal ones the second. True when these are not the same bits.
template <class T>
bool combine_best(AccKind acc, void* into, const void* from) {
  T a, b;
  std::memcpy(&a, into, sizeof a);
  std::memcpy(&b, from, sizeof b);
  if constexpr (std::is_floating_point_v<T>) {
    if (replaces(acc, a, b)) return false;
    const bool tie = !replaces(acc, b, a) && b == b && std::memcmp(&a, &b, sizeof a) != 0;
    std::memcpy(into, &b, sizeof b);
    return tie;
  } else {
    if (replaces(acc, b, a)) std::memcpy(into, &b, sizeof b);
    return false;
  }
}

/// The same where only a part is compared.
bool combine_best_parts(const AggregateCode& code, void* into, const void* from) {
  __int128 a, b;
  std::memcpy(&a, into, sizeof a);
  std::memcpy(&b, from, sizeof b);
  const __int128 one = compared_part(code, a), other = compared_part(code, b);
  if (code.acc == AccKind::kMinSpan || code.acc == AccKind::kMin ? one < other : other < one) return false;
  std::memcpy(into, &b, sizeof b);
  return one == other && a != b;
}

/// True when the order of the two decides which of two equal values stays.
bool combine_value(const AggregateCode& code, void* into, const void* from) {
  bool tie = false;
  switch (code.acc) {
    case AccKind::kMin:
    case AccKind::kMax:
      if (agg::is_of_decimals(code)) return combine_best_parts(code, into, from);
      with_min_max_type(code.phys, [&](auto zero) { tie = combine_best<decltype(zero)>(code.acc, into, from); });
      break;
    case AccKind::kMinSpan:
    case AccKind::kMaxSpan: return combine_best_parts(code, into, from);
    default: add_up(code, into, from);
  }
  return tie;
}

}  // namespace

uint64_t accumulator_identity(const AggregateCode& code) {
  uint64_t first;
  std::memcpy(&first, empty_accumulator(code).data(), sizeof first);
  return first;
}

HostGroupTable::HostGroupTable(const Assembly& assembly) : assembly_(assembly), hashed_(assembly.code.hashed_groups) {
  const size_t keys = assembly.key_phys.size();
  key_values_.resize(keys);
  key_flags_.resize(keys);
  accumulators_.resize(assembly.aggregates.size());
  for (size_t a = 0; a < accumulators_.size(); ++a)
    accumulators_[a].size = agg::accumulator_size(assembly.aggregates[a]);
  allocate(hashed_ ? kFirstCapacity : std::max(1u, assembly.dense_groups));
  if (!hashed_) table_.count = table_.capacity;
}

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
  rows_.resize(capacity, 0);
  for (size_t a = 0; a < accumulators_.size(); ++a) {
    Accumulator& acc = accumulators_[a];
    acc.values.resize(static_cast<size_t>(capacity) * acc.size);
    acc.nulls.resize(capacity, 0);
    set_identity(acc, assembly_.aggregates[a], before, capacity);
    if (assembly_.copied_aggregates[a]) acc.owned.resize(capacity, identity<StrView>(AccKind::kMin));
  }
  if (hashed_) {
    hashes_.resize(capacity);
    if (assembly_.ordered_groups) places_.resize(capacity);
    for (size_t k = 0; k < key_values_.size(); ++k) {
      key_values_[k].resize(static_cast<size_t>(capacity) * registry::phys_size(assembly_.key_phys[k]));
      key_flags_[k].resize(capacity);
    }
  }
  table_.capacity = capacity;
  if (hashed_) rebuild_slots();
  refresh_view();
}

void HostGroupTable::rebuild_slots() {
  const uint64_t size = std::bit_ceil(static_cast<uint64_t>(table_.capacity) * 2);
  slots_.assign(size, kNoRow);
  for (uint32_t group = 0; group < table_.count; ++group) {
    uint64_t slot = hashes_[group] & (size - 1);
    while (slots_[slot] != kNoRow) slot = (slot + 1) & (size - 1);
    slots_[slot] = group;
  }
  table_.slot_mask = size - 1;
}

void HostGroupTable::refresh_view() {
  key_views_.clear();
  for (size_t k = 0; k < key_values_.size(); ++k)
    key_views_.push_back({key_values_[k].data(), key_flags_[k].data(), assembly_.key_phys[k]});
  null_pointers_.clear();
  value_pointers_.clear();
  for (Accumulator& acc : accumulators_) {
    null_pointers_.push_back(acc.nulls.data());
    value_pointers_.push_back(acc.values.data());
  }
  table_.slots = slots_.data();
  table_.hashes = hashes_.data();
  table_.keys = key_views_.data();
  table_.rows = rows_.data();
  table_.nulls = null_pointers_.data();
  table_.values = value_pointers_.data();
}

std::vector<HostGroupTable::Array> HostGroupTable::arrays() {
  std::vector<Array> arrays;
  const auto add = [&](void* data, size_t group_bytes) {
    arrays.push_back({data, group_bytes, group_bytes * table_.capacity});
  };
  if (hashed_) {
    arrays.push_back({slots_.data(), 0, slots_.size() * sizeof slots_[0]});
    add(hashes_.data(), sizeof hashes_[0]);
    for (size_t k = 0; k < key_values_.size(); ++k) {
      add(key_values_[k].data(), static_cast<size_t>(registry::phys_size(assembly_.key_phys[k])));
      add(key_flags_[k].data(), 1);
    }
  }
  add(rows_.data(), sizeof rows_[0]);
  for (Accumulator& acc : accumulators_) {
    add(acc.nulls.data(), sizeof acc.nulls[0]);
    add(acc.values.data(), static_cast<size_t>(acc.size));
  }
  return arrays;
}

void HostGroupTable::own_text() {
  for (size_t k = 0; k < assembly_.copied_keys.size(); ++k) {
    if (!assembly_.copied_keys[k]) continue;
    auto* values = reinterpret_cast<registry::StrView*>(key_values_[k].data());
    texts_.own(values + owned_groups_, key_flags_[k].data() + owned_groups_, table_.count - owned_groups_);
  }
  owned_groups_ = table_.count;
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
  for (size_t k = 0; k < assembly_.copied_keys.size(); ++k)
    if (assembly_.copied_keys[k])
      left.own(reinterpret_cast<StrView*>(key_values_[k].data()), key_flags_[k].data(), table_.count);
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

void HostGroupTable::reset() {
  std::fill(rows_.begin(), rows_.end(), 0);
  for (size_t a = 0; a < accumulators_.size(); ++a) {
    std::fill(accumulators_[a].nulls.begin(), accumulators_[a].nulls.end(), 0);
    set_identity(accumulators_[a], assembly_.aggregates[a], 0, table_.capacity);
    std::fill(accumulators_[a].owned.begin(), accumulators_[a].owned.end(), identity<StrView>(AccKind::kMin));
  }
  texts_.clear();
  replaced_text_ = 0;
  has_ties_ = false;
  if (!hashed_) return;
  table_.count = 0;
  owned_groups_ = placed_ = 0;
  std::fill(slots_.begin(), slots_.end(), kNoRow);
}

int64_t HostGroupTable::memory() const {
  int64_t bytes = texts_.memory() + static_cast<int64_t>(slots_.capacity() * 4 + hashes_.capacity() * 8 +
                                                         rows_.capacity() * 8 + places_.capacity() * 8);
  for (const auto& values : key_values_) bytes += static_cast<int64_t>(values.capacity());
  for (const auto& flags : key_flags_) bytes += static_cast<int64_t>(flags.capacity());
  for (const Accumulator& acc : accumulators_)
    bytes +=
        static_cast<int64_t>(acc.values.capacity() + acc.nulls.capacity() * 8 + acc.owned.capacity() * sizeof(StrView));
  return bytes;
}

bool HostGroupTable::empty() const {
  if (hashed_) return table_.count == 0;
  return std::all_of(rows_.begin(), rows_.end(), [](int64_t rows) { return rows == 0; });
}

bool HostGroupTable::same_keys(uint32_t mine, const HostGroupTable& other, uint32_t group,
                               const std::vector<bool>& kept) const {
  bool equal = true;
  for (size_t k = 0; k < key_views_.size() && equal; ++k) {
    if (!kept[k]) continue;
    const bool null_mine = key_flags_[k][mine] != 0, null_other = other.key_flags_[k][group] != 0;
    equal = null_mine == null_other;
    if (!equal || null_mine) continue;
    block::with_phys(assembly_.key_phys[k], [&](auto zero) {
      using T = decltype(zero);
      equal = block::keys_equal(static_cast<const T*>(key_views_[k].data)[mine],
                                static_cast<const T*>(other.key_views_[k].data)[group]);
    });
  }
  return equal;
}

uint64_t HostGroupTable::hash_of(uint32_t group, const std::vector<bool>& kept) const {
  uint64_t hash = 0;
  for (size_t k = 0; k < key_views_.size(); ++k) {
    if (!kept[k]) continue;
    block::with_phys(assembly_.key_phys[k], [&](auto zero) {
      using T = decltype(zero);
      const uint64_t one = key_flags_[k][group] != 0
                               ? block::kNullHash
                               : block::hash_value(static_cast<const T*>(key_views_[k].data)[group]);
      hash = block::combine(hash, one);
    });
  }
  return hash;
}

uint32_t HostGroupTable::find_or_add(const HostGroupTable& other, uint32_t group, uint64_t hash,
                                     const std::vector<bool>& kept) {
  uint64_t slot = hash & table_.slot_mask;
  for (; slots_[slot] != kNoRow; slot = (slot + 1) & table_.slot_mask) {
    const uint32_t mine = slots_[slot];
    if (hashes_[mine] != hash || !same_keys(mine, other, group, kept)) continue;
    if (assembly_.ordered_groups) keep_first_keys(mine, other, group);
    return mine;
  }
  if (table_.count == table_.capacity) {
    allocate(table_.capacity + table_.capacity / 2);
    slot = hash & table_.slot_mask;
    while (slots_[slot] != kNoRow) slot = (slot + 1) & table_.slot_mask;
  }
  const uint32_t made = table_.count++;
  slots_[slot] = made;
  hashes_[made] = hash;
  for (size_t k = 0; k < key_values_.size(); ++k) {
    const size_t size = static_cast<size_t>(registry::phys_size(assembly_.key_phys[k]));
    std::memcpy(key_values_[k].data() + made * size, other.key_values_[k].data() + group * size, size);
    key_flags_[k][made] = other.key_flags_[k][group];
  }
  if (assembly_.ordered_groups) places_[made] = other.places_[group];
  placed_ = table_.count;
  return made;
}

int64_t HostGroupTable::note_places(int64_t place) {
  if (!assembly_.ordered_groups) return place;
  for (; placed_ < table_.count; ++placed_) places_[placed_] = place++;
  return place;
}

/// 0 and -0 are one group, which has the key that was met first.
void HostGroupTable::keep_first_keys(uint32_t mine, const HostGroupTable& other, uint32_t group) {
  if (places_[mine] <= other.places_[group]) return;
  places_[mine] = other.places_[group];
  for (size_t k = 0; k < key_values_.size(); ++k) {
    const Phys phys = assembly_.key_phys[k];
    if (phys != Phys::kF32 && phys != Phys::kF64) continue;
    const auto size = static_cast<size_t>(registry::phys_size(phys));
    std::memcpy(key_values_[k].data() + mine * size, other.key_values_[k].data() + group * size, size);
  }
}

/// In the order in which they were met where that is asked for.
std::vector<uint32_t> HostGroupTable::emitted_groups() const {
  std::vector<uint32_t> groups;
  for (uint32_t g = 0; g < table_.count; ++g)
    if (rows_[g] > 0) groups.push_back(g);
  if (!places_.empty())
    std::sort(groups.begin(), groups.end(), [this](uint32_t a, uint32_t b) { return places_[a] < places_[b]; });
  return groups;
}

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
    if (is_first)
      std::memcpy(value, more, static_cast<size_t>(acc.size));
    else
      has_ties_ |= combine_value(assembly_.aggregates[a], value, more);
  }
}

void HostGroupTable::merge(const HostGroupTable& other) {
  if (!hashed_) {
    for (uint32_t slot = 0; slot < table_.capacity; ++slot)
      if (other.rows_[slot] > 0) add_group(slot, other, slot);
    texts_.share(other.texts_);
    return;
  }
  const std::vector<bool> all(key_values_.size(), true);
  for (uint32_t group = 0; group < other.table_.count; ++group)
    if (other.rows_[group] > 0) add_group(find_or_add(other, group, other.hashes_[group], all), other, group);
  texts_.share(other.texts_);
  owned_groups_ = table_.count;
}

void HostGroupTable::absorb(const HostGroupTable& other, uint64_t part) {
  constexpr int kPartShift = 64 - std::countr_zero(kParts);  // slots are the lower bits
  const std::vector<bool> all(key_values_.size(), true);
  for (uint32_t group = 0; group < other.table_.count; ++group) {
    const uint64_t hash = other.hashes_[group];
    if (other.rows_[group] > 0 && hash >> kPartShift == part)
      add_group(find_or_add(other, group, hash, all), other, group);
  }
  own_text();
}

void HostGroupTable::merge_by(const HostGroupTable& other, uint64_t kept) {
  std::vector<bool> kept_columns(key_values_.size(), false);
  for (size_t k = 0; k < assembly_.group_keys.size(); ++k)
    if (kept >> k & 1) kept_columns[assembly_.group_keys[k].key_column] = true;
  for (uint32_t group = 0; group < other.table_.count; ++group)
    if (other.rows_[group] > 0)
      add_group(find_or_add(other, group, other.hash_of(group, kept_columns), kept_columns), other, group);
  texts_.share(other.texts_);
  owned_groups_ = table_.count;
}

namespace {

/// Memory of an emitted batch.
struct Emitted {
  std::vector<std::vector<uint8_t>> values, flags;
  std::vector<std::vector<int64_t>> counts;
  std::vector<TextStore::Block> texts;
};

void gather(std::vector<uint8_t>* out, const uint8_t* from, int size, int64_t index) {
  out->insert(out->end(), from + index * size, from + (index + 1) * size);
}

/// Of a hashed table, all of whose groups have rows: `ordered` when they leave in another order than they are in.
std::vector<uint8_t> values_of(const std::vector<uint8_t>& all, const std::vector<uint32_t>& groups, size_t size,
                               bool ordered) {
  std::vector<uint8_t> values(all.begin(), all.begin() + static_cast<int64_t>(groups.size() * size));
  if (ordered)
    for (size_t i = 0; i < groups.size(); ++i)
      std::memcpy(values.data() + i * size, all.data() + groups[i] * size, size);
  return values;
}

}  // namespace

/// Values that the join's codes stand for.
void HostGroupTable::gather_coded(const GroupKeySource& source, const std::vector<uint32_t>& groups,
                                  std::vector<uint8_t>* values, std::vector<uint8_t>* flags) const {
  const JoinBuild& build = *assembly_.joins[source.join_position].build;
  const HostColumn& column = build.payload(source.payload);
  for (uint32_t group : groups) {
    const uint32_t code = hashed_ ? reinterpret_cast<const uint32_t*>(key_values_[source.key_column].data())[group]
                                  : group / source.stride % std::max(1u, build.code_count());
    const uint32_t row = build.code_row(code);
    gather(values, column.data(), registry::phys_size(column.phys), row);
    flags->push_back(column.is_null(row) ? block::kNullFlag : 0);
  }
}

std::shared_ptr<ResultBatch> HostGroupTable::emit(const plan::Program& program, const plan::Pipeline& pipeline) const {
  const std::vector<uint32_t> groups = emitted_groups();
  const bool ordered = !places_.empty();
  auto memory = std::make_shared<Emitted>();
  memory->texts = texts_.blocks();
  auto batch = std::make_shared<ResultBatch>();
  batch->rows = static_cast<int64_t>(groups.size());
  for (size_t k = 0; k < assembly_.group_keys.size(); ++k) {
    const GroupKeySource& source = assembly_.group_keys[k];
    std::vector<uint8_t> values, flags;
    if (source.coded) {
      gather_coded(source, groups, &values, &flags);
    } else {  // such keys are those of hashed tables, whose groups are all there
      const auto size = static_cast<size_t>(registry::phys_size(assembly_.key_phys[source.key_column]));
      values = values_of(key_values_[source.key_column], groups, size, ordered);
      flags = values_of(key_flags_[source.key_column], groups, 1, ordered);
    }
    const bool has_flags = std::find(flags.begin(), flags.end(), block::kNullFlag) != flags.end();
    memory->values.push_back(std::move(values));
    memory->flags.push_back(std::move(flags));
    batch->columns.push_back({program.nodes[pipeline.group_keys[k]].type, memory->values.back().data(),
                              has_flags ? memory->flags.back().data() : nullptr});
  }
  for (const Accumulator& acc : accumulators_) {
    std::vector<uint8_t> values;
    if (hashed_) {
      values = values_of(acc.values, groups, static_cast<size_t>(acc.size), ordered);
    } else {
      for (uint32_t group : groups) gather(&values, acc.values.data(), acc.size, group);
    }
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

}  // namespace strom::engine::exec
