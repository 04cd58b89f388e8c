// How the groups of a table on the host are found: one interface, and an implementation for each block::Grouping. Made
// by make_group_index() alone. Used by group_table.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/block/tile.hpp"
#include "engine/op/output/text_store.hpp"
#include "engine/op/pipeline/assemble.hpp"

namespace strom::engine::op {

/// An array that a block::GroupTable points to.
struct GroupArray {
  void* data;
  size_t group_bytes;  // of each group; 0: the array does not have an item for each group
  size_t bytes;
};

/// Works on those members of a table's view that tell which groups there are: slots, hashes, keys, count and capacity.
class GroupIndex {
 public:
  virtual ~GroupIndex() = default;

  /// True when groups have keys: they are added as rows come, can be divided by hash, and merged by some of the keys.
  /// False: there is a group for each number below the capacity.
  virtual bool has_keys() const = 0;
  /// Makes room for `capacity` groups, more than before.
  virtual void resize(uint32_t capacity) = 0;
  /// Removes all groups.
  virtual void reset() = 0;
  virtual int64_t memory() const = 0;
  /// Adds the arrays that the view points to, in its order.
  virtual void add_arrays(std::vector<GroupArray>* arrays) = 0;
  /// Points `table`, a copy of the view, to copies of these arrays, whose addresses come from `next`. `keys` is the
  /// array for table->keys.
  virtual void point_to(char* const** next, block::GroupTable* table, std::vector<block::TableColumn>* keys) const = 0;

  /// Which of the keys are compared: an item for each key column.
  using KeyMask = std::vector<bool>;

  /// The number in this index of group `group` of `other`, an index of the same kind. A new group is added; there must
  /// be room for it.
  virtual uint32_t find_or_add(const GroupIndex& other, uint32_t group) = 0;
  /// The same by some of the keys. Only for groups with keys.
  virtual uint32_t find_or_add_by(const GroupIndex& other, uint32_t group, const KeyMask& kept) = 0;
  /// Part, of 2^bits, that the group's hash falls into. Only for groups with keys.
  virtual uint64_t part_of(uint32_t group, int bits) const = 0;

  /// Copies the text keys of groups that are new since the last call.
  virtual void own_text(TextStore* texts) = 0;
  /// Copies the text keys of all groups, to a store that replaces the former one.
  virtual void own_all_text(TextStore* texts) = 0;
  /// Tells that the text keys of all groups last as long as the store that they are shared with.
  virtual void set_owned() = 0;

  /// Groups that are new since the last call get positions from `position` on, in the order of the source's rows.
  /// Returns the next position. Only where Assembly::ordered_groups asks for it.
  virtual int64_t note_positions(int64_t position) = 0;
  /// Sorts groups by their positions, where positions are noted.
  virtual void sort(std::vector<uint32_t>* groups) const = 0;

  /// Appends a key's values and flags of `groups`.
  virtual void append_key(const GroupKeySource& source, const std::vector<uint32_t>& groups,
                          std::vector<uint8_t>* values, std::vector<uint8_t>* flags) const = 0;
};

/// Makes the index for a table of the pipeline, without room for any group. *first_capacity: the number of groups that
/// it begins with.
std::unique_ptr<GroupIndex> make_group_index(const Assembly& assembly, block::GroupTable* table,
                                             uint32_t* first_capacity);

/// Appends items `groups` of an array with `size` bytes for each.
void append_items(const uint8_t* from, size_t size, const std::vector<uint32_t>& groups, std::vector<uint8_t>* to);

}  // namespace strom::engine::op
