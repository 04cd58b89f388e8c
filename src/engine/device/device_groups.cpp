#include "engine/device/device_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "engine/agg/accumulate.hpp"

namespace strom::engine::device {

using registry::StrView;

namespace {

bool is_shareable(const op::Assembly& assembly) {
  return std::all_of(assembly.aggregates.begin(), assembly.aggregates.end(), agg::is_shareable);
}

bool has_any(const std::vector<bool>& flags) { return std::find(flags.begin(), flags.end(), true) != flags.end(); }

/// Groups that each of `tables` tables can hold within its share of the budget.
uint32_t groups_per_table(const op::HostGroupTable& first, int64_t budget, size_t tables) {
  uint32_t groups = first.capacity();
  const int64_t each = budget / static_cast<int64_t>(tables);
  const uint32_t most = tables == 1 ? 256u << 10 : 64u << 10;
  while (first.memory() * 2 * (groups / first.capacity()) <= each && groups < most) groups *= 2;
  return groups;
}

}  // namespace

DeviceGroups::DeviceGroups(const op::Assembly& assembly, int64_t budget, size_t states)
    : assembly_(assembly),
      count_(is_shareable(assembly) ? 1 : states),
      host_(assembly),
      has_text_(has_any(assembly.copied_keys) || has_any(assembly.copied_aggregates)) {
  const uint32_t groups = groups_per_table(host_, budget, count_);
  if (groups > host_.capacity()) host_.grow_to(groups);
  op::DeviceOffsets offsets;
  for (const op::GroupArray& array : host_.arrays()) arrays_.push_back({offsets.take(array.bytes), array.group_bytes});
  table_bytes_ = offsets.used();
}

Status DeviceGroups::allocate(Device* device, const Device::KeepGoing& keep_going) {
  STROM_ASSIGN(region_, device->allocate(count_ * table_bytes_, true, keep_going));
  return {};
}

void DeviceGroups::write(size_t offset, op::DeviceImage* image) const {
  for (size_t i = 0; i < count_; ++i) {
    std::vector<char*> arrays;
    arrays.reserve(arrays_.size());
    for (const ArrayOffset& array : arrays_) arrays.push_back(region_->device() + i * table_bytes_ + array.offset);
    const op::HostGroupTable::PlacedView view = host_.view_of(arrays);
    const size_t at = offset + i * sizeof view.table;
    std::memcpy(image->at(at), &view.table, sizeof view.table);
    image->point(at + offsetof(block::GroupTable, keys), image->put(std::span<const block::TableColumn>(view.keys)));
    image->point(at + offsetof(block::GroupTable, nulls), image->put(std::span<int64_t* const>(view.nulls)));
    image->point(at + offsetof(block::GroupTable, values), image->put(std::span<void* const>(view.values)));
  }
}

void DeviceGroups::reset(size_t table, size_t used, std::vector<DeviceRange>* pending) {
  host_.reset();
  const std::vector<op::GroupArray> arrays = host_.arrays();
  for (size_t k = 0; k < arrays.size(); ++k) {
    const size_t bytes = arrays[k].group_bytes == 0 ? arrays[k].bytes : used * arrays[k].group_bytes;
    if (bytes == 0) continue;
    const size_t offset = table * table_bytes_ + arrays_[k].offset;
    std::memcpy(region_->host() + offset, arrays[k].data, bytes);
    pending->push_back({region_.get(), offset, bytes});
  }
  tables_[table].count = host_.count();
}

void DeviceGroups::want(size_t table, std::vector<DeviceRange>* wanted) const {
  const size_t groups = group_count(table);
  for (const ArrayOffset& array : arrays_)
    if (array.group_bytes > 0)
      wanted->push_back({region_.get(), table * table_bytes_ + array.offset, groups * array.group_bytes});
}

void DeviceGroups::take(size_t table, const HostText& host_text, op::HostGroupTable* groups,
                        std::vector<DeviceRange>* pending) {
  const uint32_t count = group_count(table);
  const std::vector<op::GroupArray> arrays = host_.arrays();
  for (size_t k = 0; k < arrays.size(); ++k) {
    const size_t bytes = count * arrays[k].group_bytes;
    // Without bytes there may be no array.
    if (bytes > 0) std::memcpy(arrays[k].data, region_->host() + table * table_bytes_ + arrays_[k].offset, bytes);
  }
  host_.view()->count = count;
  if (has_text_) find_texts(count, host_text);
  groups->absorb(host_);
  reset(table, count, pending);
}

void DeviceGroups::find_texts(uint32_t groups, const HostText& host_text) {
  const block::GroupTable& table = *host_.view();
  for (size_t k = 0; k < assembly_.copied_keys.size(); ++k) {
    auto* texts = static_cast<StrView*>(assembly_.copied_keys[k] ? table.keys[k].data : nullptr);
    for (uint32_t g = 0; texts != nullptr && g < groups; ++g)
      texts[g] = table.keys[k].flags[g] != 0 ? StrView{nullptr, 0} : host_text(texts[g]);
  }
  for (size_t a = 0; a < assembly_.copied_aggregates.size(); ++a) {
    auto* texts = static_cast<StrView*>(assembly_.copied_aggregates[a] ? table.values[a] : nullptr);
    for (uint32_t g = 0; texts != nullptr && g < groups; ++g) texts[g] = host_text(texts[g]);
  }
}

}  // namespace strom::engine::device
