#include "engine/op/hash_agg/group_index.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/block/hash.hpp"

namespace strom::engine::op {

using block::kNoRow;
using registry::Phys;
using registry::StrView;

namespace {

constexpr uint32_t kFirstHashedGroups = 4096;

/// Appends the values of the codes of a join table.
void append_coded(const HostColumn& column, const JoinBuild& build, const std::vector<uint32_t>& codes,
                  std::vector<uint8_t>* values, std::vector<uint8_t>* flags) {
  std::vector<uint32_t> rows;
  rows.reserve(codes.size());
  for (const uint32_t code : codes) rows.push_back(build.code_row(code));
  append_items(column.data(), static_cast<size_t>(registry::phys_size(column.phys)), rows, values);
  for (const uint32_t row : rows) flags->push_back(column.is_null(row) ? block::kNullFlag : 0);
}

/// For kNone and kDirect: a group's number is computed from the codes of its keys.
class DirectIndex final : public GroupIndex {
 public:
  DirectIndex(const Assembly& assembly, block::GroupTable* table) : assembly_(assembly), table_(*table) {}

  bool has_keys() const override { return false; }
  void resize(uint32_t capacity) override { table_.count = table_.capacity = capacity; }
  void reset() override {}
  int64_t memory() const override { return 0; }
  void add_arrays(std::vector<GroupArray>*) override {}
  void point_to(char* const**, block::GroupTable*, std::vector<block::TableColumn>*) const override {}
  uint32_t find_or_add(const GroupIndex&, uint32_t group) override { return group; }
  uint32_t find_or_add_by(const GroupIndex&, uint32_t group, const KeyMask&) override { return group; }
  uint64_t part_of(uint32_t, int) const override { return 0; }
  void own_text(TextStore*) override {}
  void own_all_text(TextStore*) override {}
  void set_owned() override {}
  int64_t note_positions(int64_t position) override { return position; }
  void sort(std::vector<uint32_t>*) const override {}

  void append_key(const GroupKeySource& source, const std::vector<uint32_t>& groups, std::vector<uint8_t>* values,
                  std::vector<uint8_t>* flags) const override {
    const JoinBuild& build = *assembly_.joins[source.join_position].build;
    std::vector<uint32_t> codes;
    codes.reserve(groups.size());
    for (const uint32_t group : groups) codes.push_back(group / source.stride % std::max(1u, build.code_count()));
    append_coded(build.payload(source.payload), build, codes, values, flags);
  }

 private:
  const Assembly& assembly_;
  block::GroupTable& table_;
};

/// For kHashed: open addressing over slots; groups are numbered as they come.
class HashIndex final : public GroupIndex {
 public:
  HashIndex(const Assembly& assembly, block::GroupTable* table)
      : assembly_(assembly),
        table_(*table),
        values_(assembly.key_phys.size()),
        flags_(assembly.key_phys.size()),
        all_(assembly.key_phys.size(), true) {}

  bool has_keys() const override { return true; }

  void resize(uint32_t capacity) override {
    hashes_.resize(capacity);
    if (assembly_.ordered_groups) positions_.resize(capacity);
    views_.clear();
    for (size_t k = 0; k < values_.size(); ++k) {
      values_[k].resize(capacity * key_size(k));
      flags_[k].resize(capacity);
      views_.push_back({values_[k].data(), flags_[k].data(), assembly_.key_phys[k]});
    }
    table_.capacity = capacity;
    const uint64_t size = std::bit_ceil(static_cast<uint64_t>(capacity) * 2);
    slots_.assign(size, kNoRow);
    for (uint32_t group = 0; group < table_.count; ++group) {
      uint64_t slot = hashes_[group] & (size - 1);
      while (slots_[slot] != kNoRow) slot = (slot + 1) & (size - 1);
      slots_[slot] = group;
    }
    table_.slot_mask = size - 1;
    table_.slots = slots_.data();
    table_.hashes = hashes_.data();
    table_.keys = views_.data();
  }

  void reset() override {
    table_.count = 0;
    owned_ = positioned_ = 0;
    std::fill(slots_.begin(), slots_.end(), kNoRow);
  }

  int64_t memory() const override {
    auto bytes = static_cast<int64_t>(slots_.capacity() * sizeof(uint32_t) + hashes_.capacity() * sizeof(uint64_t) +
                                      positions_.capacity() * sizeof(int64_t));
    for (const auto& values : values_) bytes += static_cast<int64_t>(values.capacity());
    for (const auto& flags : flags_) bytes += static_cast<int64_t>(flags.capacity());
    return bytes;
  }

  void add_arrays(std::vector<GroupArray>* arrays) override {
    const auto add = [&](void* data, size_t group_bytes) {
      arrays->push_back({data, group_bytes, group_bytes * table_.capacity});
    };
    arrays->push_back({slots_.data(), 0, slots_.size() * sizeof slots_[0]});
    add(hashes_.data(), sizeof hashes_[0]);
    for (size_t k = 0; k < values_.size(); ++k) {
      add(values_[k].data(), key_size(k));
      add(flags_[k].data(), 1);
    }
  }

  void point_to(char* const** next, block::GroupTable* table, std::vector<block::TableColumn>* keys) const override {
    const auto take = [next] { return *(*next)++; };
    table->slots = reinterpret_cast<uint32_t*>(take());
    table->hashes = reinterpret_cast<uint64_t*>(take());
    for (const Phys phys : assembly_.key_phys) {
      void* values = take();
      keys->push_back({values, reinterpret_cast<uint8_t*>(take()), phys});
    }
  }

  uint32_t find_or_add(const GroupIndex& other, uint32_t group) override {
    const auto& from = static_cast<const HashIndex&>(other);
    return find_or_add(from, group, from.hashes_[group], all_);
  }

  uint32_t find_or_add_by(const GroupIndex& other, uint32_t group, const KeyMask& kept) override {
    const auto& from = static_cast<const HashIndex&>(other);
    return find_or_add(from, group, from.hash_of(group, kept), kept);
  }

  // The upper bits, because slots are the lower bits of the hash.
  uint64_t part_of(uint32_t group, int bits) const override { return hashes_[group] >> (64 - bits); }

  void own_text(TextStore* texts) override {
    for (size_t k = 0; k < values_.size(); ++k)
      if (assembly_.copied_keys[k])
        texts->own(text_values(k) + owned_, flags_[k].data() + owned_, table_.count - owned_);
    owned_ = table_.count;
  }

  void own_all_text(TextStore* texts) override {
    for (size_t k = 0; k < values_.size(); ++k)
      if (assembly_.copied_keys[k]) texts->own(text_values(k), flags_[k].data(), table_.count);
  }

  void set_owned() override { owned_ = table_.count; }

  int64_t note_positions(int64_t position) override {
    if (!assembly_.ordered_groups) return position;
    for (; positioned_ < table_.count; ++positioned_) positions_[positioned_] = position++;
    return position;
  }

  void sort(std::vector<uint32_t>* groups) const override {
    if (!positions_.empty())
      std::sort(groups->begin(), groups->end(),
                [this](uint32_t a, uint32_t b) { return positions_[a] < positions_[b]; });
  }

  void append_key(const GroupKeySource& source, const std::vector<uint32_t>& groups, std::vector<uint8_t>* values,
                  std::vector<uint8_t>* flags) const override {
    const std::vector<uint8_t>& column = values_[source.key_column];
    if (!source.coded) {
      append_items(column.data(), key_size(source.key_column), groups, values);
      append_items(flags_[source.key_column].data(), 1, groups, flags);
      return;
    }
    const JoinBuild& build = *assembly_.joins[source.join_position].build;
    std::vector<uint32_t> codes;
    codes.reserve(groups.size());
    for (const uint32_t group : groups) codes.push_back(reinterpret_cast<const uint32_t*>(column.data())[group]);
    append_coded(build.payload(source.payload), build, codes, values, flags);
  }

 private:
  size_t key_size(size_t key) const { return static_cast<size_t>(registry::phys_size(assembly_.key_phys[key])); }
  StrView* text_values(size_t key) { return reinterpret_cast<StrView*>(values_[key].data()); }

  bool same_keys(uint32_t mine, const HashIndex& other, uint32_t group, const KeyMask& kept) const {
    bool equal = true;
    for (size_t k = 0; k < views_.size() && equal; ++k) {
      if (!kept[k]) continue;
      const bool null_mine = flags_[k][mine] != 0, null_other = other.flags_[k][group] != 0;
      equal = null_mine == null_other;
      if (!equal || null_mine) continue;
      block::with_phys(assembly_.key_phys[k], [&](auto zero) {
        using T = decltype(zero);
        equal = block::keys_equal(static_cast<const T*>(views_[k].data)[mine],
                                  static_cast<const T*>(other.views_[k].data)[group]);
      });
    }
    return equal;
  }

  uint64_t hash_of(uint32_t group, const KeyMask& kept) const {
    uint64_t hash = 0;
    for (size_t k = 0; k < views_.size(); ++k) {
      if (!kept[k]) continue;
      block::with_phys(assembly_.key_phys[k], [&](auto zero) {
        using T = decltype(zero);
        const uint64_t one =
            flags_[k][group] != 0 ? block::kNullHash : block::hash_value(static_cast<const T*>(views_[k].data)[group]);
        hash = block::combine(hash, one);
      });
    }
    return hash;
  }

  uint32_t find_or_add(const HashIndex& other, uint32_t group, uint64_t hash, const KeyMask& kept) {
    uint64_t slot = hash & table_.slot_mask;
    for (; slots_[slot] != kNoRow; slot = (slot + 1) & table_.slot_mask) {
      const uint32_t mine = slots_[slot];
      if (hashes_[mine] != hash || !same_keys(mine, other, group, kept)) continue;
      if (assembly_.ordered_groups) keep_first_keys(mine, other, group);
      return mine;
    }
    if (table_.count == table_.capacity) {
      resize(table_.capacity + table_.capacity / 2);
      slot = hash & table_.slot_mask;
      while (slots_[slot] != kNoRow) slot = (slot + 1) & table_.slot_mask;
    }
    const uint32_t made = table_.count++;
    slots_[slot] = made;
    hashes_[made] = hash;
    for (size_t k = 0; k < values_.size(); ++k) {
      copy_key(k, made, other, group);
      flags_[k][made] = other.flags_[k][group];
    }
    if (assembly_.ordered_groups) positions_[made] = other.positions_[group];
    positioned_ = table_.count;
    return made;
  }

  void copy_key(size_t key, uint32_t mine, const HashIndex& other, uint32_t group) {
    const size_t size = key_size(key);
    std::memcpy(values_[key].data() + mine * size, other.values_[key].data() + group * size, size);
  }

  /// 0 and -0 are one group. Its key is the one that came first.
  void keep_first_keys(uint32_t mine, const HashIndex& other, uint32_t group) {
    if (positions_[mine] <= other.positions_[group]) return;
    positions_[mine] = other.positions_[group];
    for (size_t k = 0; k < values_.size(); ++k)
      if (assembly_.key_phys[k] == Phys::kF32 || assembly_.key_phys[k] == Phys::kF64) copy_key(k, mine, other, group);
  }

  const Assembly& assembly_;
  block::GroupTable& table_;
  std::vector<uint32_t> slots_;
  std::vector<uint64_t> hashes_;
  std::vector<std::vector<uint8_t>> values_, flags_;  // of each key
  std::vector<block::TableColumn> views_;
  std::vector<int64_t> positions_;  // where each group came first; empty unless asked for
  uint32_t positioned_ = 0;         // groups whose positions are known
  uint32_t owned_ = 0;              // groups whose text keys have been copied
  const KeyMask all_;
};

}  // namespace

std::unique_ptr<GroupIndex> make_group_index(const Assembly& assembly, block::GroupTable* table,
                                             uint32_t* first_capacity) {
  if (assembly.code.grouping == block::Grouping::kHashed) {
    *first_capacity = kFirstHashedGroups;
    return std::make_unique<HashIndex>(assembly, table);
  }
  *first_capacity = std::max(1u, assembly.direct_groups);
  return std::make_unique<DirectIndex>(assembly, table);
}

void append_items(const uint8_t* from, size_t size, const std::vector<uint32_t>& groups, std::vector<uint8_t>* to) {
  if (size == 0 || groups.empty()) return;
  const size_t begin = to->size();
  to->resize(begin + groups.size() * size);
  uint8_t* at = to->data() + begin;
  size_t in_line = 0;  // leading groups that are consecutive, as all groups of a hashed table are
  while (in_line < groups.size() && groups[in_line] == groups.front() + in_line) ++in_line;
  if (in_line > 0) std::memcpy(at, from + groups.front() * size, in_line * size);
  for (size_t i = in_line; i < groups.size(); ++i) std::memcpy(at + i * size, from + groups[i] * size, size);
}

}  // namespace strom::engine::op
