// Group tables of the host by themselves, for each way in which groups are found: merging, growth, parts by hash, and
// groups by some of the keys.
#include "engine/op/hash_agg/group_table.hpp"

#include <gtest/gtest.h>

#include <map>

#include "engine/block/hash.hpp"

namespace strom::engine::op {
namespace {

using block::AccKind;
using block::Grouping;
using registry::Phys;

/// Of sums of int4 by `keys` columns of int8; direct groups without keys.
Assembly make_assembly(Grouping grouping, size_t keys, uint32_t direct_groups) {
  Assembly assembly;
  assembly.code.grouping = grouping;
  assembly.direct_groups = direct_groups;
  assembly.aggregates.push_back({AccKind::kSumI64, Phys::kI32, 0, block::kNoRegister});
  assembly.copied_aggregates.push_back(false);
  for (uint32_t k = 0; k < keys; ++k) {
    assembly.key_phys.push_back(Phys::kI64);
    assembly.copied_keys.push_back(false);
    assembly.group_keys.push_back({});
    assembly.group_keys.back().key_column = k;
  }
  return assembly;
}

void add_to_group(block::GroupTable* table, uint32_t group, int64_t value) {
  ++table->rows[group];
  static_cast<int64_t*>(table->values[0])[group] += value;
}

/// As tile code does it: a row with these keys. The group must be new and have room.
void add_new_group(block::GroupTable* table, std::vector<int64_t> keys, int64_t value) {
  uint64_t hash = block::hash_value(keys[0]);
  for (size_t k = 1; k < keys.size(); ++k) hash = block::combine(hash, block::hash_value(keys[k]));
  const uint32_t group = table->count++;
  uint64_t slot = hash & table->slot_mask;
  while (table->slots[slot] != block::kNoRow) slot = (slot + 1) & table->slot_mask;
  table->slots[slot] = group;
  table->hashes[group] = hash;
  for (size_t k = 0; k < keys.size(); ++k) {
    static_cast<int64_t*>(table->keys[k].data)[group] = keys[k];
    table->keys[k].flags[group] = 0;
  }
  add_to_group(table, group, value);
}

/// Sums by the first key.
std::map<int64_t, int64_t> sums_of(HostGroupTable& groups) {
  std::map<int64_t, int64_t> sums;
  const block::GroupTable& table = *groups.view();
  for (uint32_t group = 0; group < table.count; ++group)
    sums[static_cast<const int64_t*>(table.keys[0].data)[group]] += static_cast<const int64_t*>(table.values[0])[group];
  return sums;
}

TEST(GroupTable, OneGroup) {
  const Assembly assembly = make_assembly(Grouping::kNone, 0, 1);
  HostGroupTable a(assembly), b(assembly);
  EXPECT_FALSE(a.has_keys());
  EXPECT_EQ(a.count(), 1u);
  EXPECT_TRUE(a.empty());
  add_to_group(a.view(), 0, 3);
  add_to_group(b.view(), 0, 4);
  a.merge(b);
  EXPECT_FALSE(a.empty());
  EXPECT_EQ(a.view()->rows[0], 2);
  EXPECT_EQ(static_cast<const int64_t*>(a.view()->values[0])[0], 7);
}

TEST(GroupTable, DirectGroupsMeetByNumber) {
  const Assembly assembly = make_assembly(Grouping::kDirect, 0, 5);
  HostGroupTable a(assembly), b(assembly);
  a.grow_to(100);
  EXPECT_EQ(a.capacity(), 5u);
  EXPECT_EQ(a.growth_by(b), 0);
  for (uint32_t group = 0; group < 5; ++group) add_to_group(a.view(), group, group);
  for (uint32_t group = 1; group < 5; group += 2) add_to_group(b.view(), group, 100);
  a.merge(b);
  EXPECT_EQ(static_cast<const int64_t*>(a.view()->values[0])[3], 103);
  EXPECT_EQ(static_cast<const int64_t*>(a.view()->values[0])[4], 4);
  a.reset();
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.count(), 5u);
}

TEST(GroupTable, HashedGroupsMeetByKeyAndGrow) {
  const Assembly assembly = make_assembly(Grouping::kHashed, 1, 0);
  HostGroupTable target(assembly);
  const uint32_t first = target.capacity();
  EXPECT_TRUE(target.has_keys());
  std::map<int64_t, int64_t> expected;
  for (int64_t from = 0; from < 3; ++from) {
    HostGroupTable other(assembly);
    for (int64_t key = 0; key < first; ++key) {
      add_new_group(other.view(), {from * 2000 + key}, key);
      expected[from * 2000 + key] += key;
    }
    target.merge(other);
  }
  EXPECT_GT(target.capacity(), first);
  EXPECT_EQ(sums_of(target), expected);
}

TEST(GroupTable, PartsByHashAreAllGroups) {
  const Assembly assembly = make_assembly(Grouping::kHashed, 1, 0);
  HostGroupTable source(assembly);
  for (int64_t key = 0; key < 1000; ++key) add_new_group(source.view(), {key * 7}, key);
  std::map<int64_t, int64_t> found;
  for (uint64_t part = 0; part < HostGroupTable::kParts; ++part) {
    HostGroupTable groups(assembly);
    groups.absorb(source, part);
    EXPECT_LT(groups.count(), 200u);
    found.merge(sums_of(groups));
  }
  EXPECT_EQ(found, sums_of(source));
}

TEST(GroupTable, GroupsBySomeOfTheKeys) {
  const Assembly assembly = make_assembly(Grouping::kHashed, 2, 0);
  HostGroupTable source(assembly), by_first(assembly);
  for (int64_t i = 0; i < 100; ++i) add_new_group(source.view(), {i % 4, i}, i);
  by_first.merge_by(source, 1);
  EXPECT_EQ(by_first.count(), 4u);
  EXPECT_EQ(sums_of(by_first), sums_of(source));
}

}  // namespace
}  // namespace strom::engine::op
