#include "service/column_store.hpp"

#include <algorithm>
#include <functional>

namespace strom::service {

using engine::device::OfferedColumn;

namespace {

/// Bytes that could be copied in the time that a copy takes besides that of its bytes.
constexpr double kCopyOverhead = 256 << 10;
/// Uses count half after so many for each column that is known.
constexpr uint64_t kUsesToAge = 16;
constexpr uint64_t kFewestUsesToAge = 4096;
constexpr size_t kMostMisses = 1 << 20;
/// Before it has no digits left for small numbers.
constexpr double kHeaviest = 1e200;

}  // namespace

// ---- What is worth its memory ----

/// Time that a byte of memory saves: that of the copies of its column, of which each costs something besides its bytes.
double ColumnStore::worth_of(double uses, uint64_t bytes) {
  return uses * (1 + kCopyOverhead / static_cast<double>(std::max<uint64_t>(bytes, 1)));
}

void ColumnStore::age() {
  if (uses_until_aging_-- > 0) return;
  uses_until_aging_ = std::max<uint64_t>(kFewestUsesToAge, kUsesToAge * (entries_.size() + misses_.size()));
  weight_ *= 2;
  std::erase_if(misses_, [this](const auto& miss) { return miss.second < weight_ / 4; });
  if (misses_.size() > kMostMisses) misses_.clear();
  if (weight_ < kHeaviest) return;
  by_worth_.clear();
  for (auto& [number, entry] : entries_) {
    entry->uses /= weight_;
    entry->worth /= weight_;
    if (entry->pins == 0) by_worth_.emplace(entry->worth, entry.get());
  }
  for (auto& [hash, uses] : misses_) uses /= weight_;
  weight_ = 1;
}

void ColumnStore::count_use(Entry* entry) {
  if (entry->pins == 0) by_worth_.erase({entry->worth, entry});
  entry->uses += weight_;
  entry->worth = worth_of(entry->uses, entry->bytes);
  if (entry->pins == 0) by_worth_.emplace(entry->worth, entry);
}

double ColumnStore::count_miss(const std::string& name) { return misses_[std::hash<std::string>()(name)] += weight_; }

// ---- Pins and room, under the lock ----

bool ColumnStore::pin(Entry* entry) {
  if (entry->pins == 0) {
    if (!lender_->pin(entry->bytes)) return false;
    by_worth_.erase({entry->worth, entry});
    pinned_ += entry->bytes;
  }
  ++entry->pins;
  return true;
}

void ColumnStore::unpin(Entry* entry, Gone* gone) {
  if (--entry->pins > 0) return;
  lender_->unpin(entry->bytes);
  pinned_ -= entry->bytes;
  if (entry->is_ready && entry->is_listed)
    by_worth_.emplace(entry->worth, entry);
  else
    drop(entry, gone);
}

void ColumnStore::count_bytes(uint64_t bytes, bool mirrored) {
  bytes_ += bytes;
  if (mirrored) mirrored_ += bytes;
}

void ColumnStore::uncount_bytes(uint64_t bytes, bool mirrored) {
  bytes_ -= bytes;
  if (mirrored) mirrored_ -= bytes;
}

/// Nobody uses it.
void ColumnStore::drop(Entry* entry, Gone* gone) {
  by_worth_.erase({entry->worth, entry});
  if (entry->is_listed) by_name_.erase(entry->name);
  gone->regions.push_back(std::move(entry->region));
  gone->bytes += entry->bytes;
  in_hand_ += entry->bytes;
  uncount_bytes(entry->bytes, entry->is_mirrored);
  entries_.erase(entry->number);
}

/// It may be worth its memory again.
void ColumnStore::evict(Entry* entry, Gone* gone) {
  misses_[std::hash<std::string>()(entry->name)] = entry->uses;
  drop(entry, gone);
}

/// So many bytes leave, of what is mirrored or of all, each of them worth less than `below`; or nothing does.
bool ColumnStore::evict(uint64_t bytes, bool mirrored, double below, Gone* gone) {
  std::vector<Entry*> leaving;
  uint64_t found = 0;
  for (auto next = by_worth_.begin(); found < bytes; ++next) {
    if (next == by_worth_.end()) return false;
    Entry* entry = next->second;
    if (mirrored && !entry->is_mirrored) continue;
    // One use more may be this query's, which has not come so far yet.
    if (worth_of(entry->uses + weight_, entry->bytes) >= below) return false;
    leaving.push_back(entry);
    found += entry->bytes;
  }
  for (Entry* entry : leaving) evict(entry, gone);
  return true;
}

void ColumnStore::release(Gone gone) {
  if (gone.bytes == 0) return;
  gone.regions.clear();
  lender_->take_back(gone.bytes);
  const std::lock_guard lock(mutex_);
  in_hand_ -= gone.bytes;
  less_in_hand_.notify_all();
}

// ---- Sessions ----

std::vector<ColumnRow> ColumnStore::find(uint32_t session, const FindColumns& request) {
  const std::vector<std::string>& names = request.names;
  std::vector<ColumnRow> rows(names.size());
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!request.only_older) age();
    ColumnRow& row = rows[i];
    const auto found = by_name_.find(names[i]);
    if (request.only_older && (found == by_name_.end() || found->second->generation >= request.generations[i]))
      continue;
    if (found == by_name_.end()) {
      ++missed_;
      const double uses = count_miss(names[i]);
      const bool is_free = bytes_ < limit_ && lender_->lendable() > 0;
      row.state = uses > weight_ || is_free ? kColumnIsWanted : kColumnIsUnknown;
      continue;
    }
    Entry* entry = found->second;
    if (!request.only_older) count_use(entry);
    const bool is_older = entry->is_ready && entry->generation < request.generations[i];
    const bool is_busy = entry->update != 0 || entry->writers > 0;
    if (!entry->is_ready || (is_older && is_busy) || !pin(entry)) {
      if (!request.only_older) ++missed_;
      continue;
    }
    if (!request.only_older) ++found_;
    ++pins_[session][entry->number];
    row = {kColumnIsCached, entry->number, reinterpret_cast<uint64_t>(entry->region->device()), entry->bytes,
           entry->shape};
    if (!is_older) continue;
    row.state = kColumnIsOlder;
    row.generation = entry->generation;
    row.update = entry->update = ++last_update_;
    entry->updater = session;
  }
  return rows;
}

/// Puts the entry among the others, with memory lent for it; it is pinned.
bool ColumnStore::reserve(const OfferedColumn& column, Entry* entry) {
  Gone gone;
  bool is_lent = false, has_room = false;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t mirror_limit = column.is_mirrored ? mirror_limit_ : UINT64_MAX;
    if (by_name_.contains(column.name) || column.bytes > std::min(limit_, mirror_limit)) return false;
    const auto missed = misses_.find(std::hash<std::string>()(column.name));
    entry->uses = missed == misses_.end() ? weight_ : missed->second;
    entry->worth = worth_of(entry->uses, column.bytes);
    const double below = entry->uses > weight_ ? entry->worth : 0;
    const uint64_t over = bytes_ + column.bytes > limit_ ? bytes_ + column.bytes - limit_ : 0;
    const uint64_t mirrors = column.is_mirrored ? mirrored_ + column.bytes : 0;
    const uint64_t over_mirrors = mirrors > mirror_limit_ ? mirrors - mirror_limit_ : 0;
    uint64_t missing = lender_->lend(column.bytes);
    is_lent = missing == 0;
    has_room = over_mirrors == 0 || evict(over_mirrors, true, below, &gone);
    const uint64_t wanted = std::max(over, missing);
    if (has_room && wanted > gone.bytes) has_room = evict(wanted - gone.bytes, false, below, &gone);
    if (has_room) {
      // Room that others see as taken while memory is given back without the lock.
      count_bytes(column.bytes, column.is_mirrored);
      in_hand_ += column.bytes;
    } else if (is_lent) {
      lender_->take_back(column.bytes);
    }
  }
  release(std::move(gone));
  if (!has_room) return false;
  if (!is_lent) is_lent = lender_->lend(column.bytes) == 0;
  const bool is_pinned = is_lent && lender_->pin(column.bytes);
  const std::lock_guard lock(mutex_);
  const bool is_taken = is_pinned && !by_name_.contains(column.name);
  if (is_pinned && !is_taken) lender_->unpin(column.bytes);
  if (is_lent && !is_taken) lender_->take_back(column.bytes);
  in_hand_ -= column.bytes;
  less_in_hand_.notify_all();
  if (!is_taken) {
    uncount_bytes(column.bytes, column.is_mirrored);
    return false;
  }
  misses_.erase(std::hash<std::string>()(column.name));
  pinned_ += column.bytes;
  return true;
}

Result<std::vector<ColumnStore::Room>> ColumnStore::make_room(uint32_t session,
                                                              const std::vector<OfferedColumn>& columns) {
  std::vector<Room> rooms(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const OfferedColumn& column = columns[i];
    auto entry = std::make_unique<Entry>();
    if (column.bytes == 0 || !reserve(column, entry.get())) continue;
    Result<Region> region = allocate_(column.bytes, column.is_mirrored);
    std::unique_lock lock(mutex_);
    // Whoever was faster has it under this name.
    if (!region.is_ok() || by_name_.contains(column.name)) {
      uncount_bytes(column.bytes, column.is_mirrored);
      pinned_ -= column.bytes;
      lock.unlock();
      const Status status = region.status();
      if (region.is_ok()) region.value().reset();  // before others are lent its memory
      lender_->unpin(column.bytes);
      lender_->take_back(column.bytes);
      if (!status.is_ok() && status.code() != ErrorCode::kOverBudget) return status;
      continue;
    }
    entry->name = column.name;
    entry->label = column.label;
    entry->column = column.number;
    entry->number = ++last_number_;
    entry->bytes = column.bytes;
    entry->is_mirrored = column.is_mirrored;
    entry->region = std::move(region).value();
    entry->pins = 1;
    entry->filler = session;
    rooms[i] = {entry->number, reinterpret_cast<uint64_t>(entry->region->device())};
    by_name_[entry->name] = entry.get();
    pins_[session][entry->number] = 1;
    entries_[entry->number] = std::move(entry);
  }
  return rooms;
}

Status ColumnStore::settle(uint32_t session, const SettledColumn& column) {
  Gone gone;
  {
    const std::lock_guard lock(mutex_);
    const auto pins = pins_.find(session);
    const auto pin = pins == pins_.end() ? decltype(pins->second.end())() : pins->second.find(column.number);
    if (pins == pins_.end() || pin == pins->second.end())
      return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: no such column");
    Entry* entry = entries_.at(column.number).get();
    const bool is_updated = entry->update != 0 && entry->updater == session;
    if (column.what == kUpdateIsGivenUp && is_updated) entry->update = 0;
    if (column.what == kUpdateIsGivenUp) return {};
    if (column.what == kColumnIsPublished) {
      const bool is_filled = entry->filler == session && !entry->is_ready;
      if (!is_filled && (!is_updated || entry->writers > 0 || column.generation < entry->generation))
        return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: column of another session");
      if (is_filled) entry->shape = column.shape;
      entry->is_ready = true;
      entry->generation = column.generation;
      entry->update = 0;
      return {};
    }
    if (--pin->second == 0) pins->second.erase(pin);
    if (pins->second.empty()) pins_.erase(pins);
    unpin(entry, &gone);
  }
  release(std::move(gone));
  return {};
}

ColumnStore::Region ColumnStore::use(uint32_t session, uint64_t number, bool is_written) {
  const std::lock_guard lock(mutex_);
  const auto pins = pins_.find(session);
  if (pins == pins_.end() || !pins->second.contains(number)) return nullptr;
  Entry* entry = entries_.at(number).get();
  if (is_written ? entry->filler != session || entry->is_ready : !entry->is_ready && entry->filler != session)
    return nullptr;
  ++entry->pins;
  return Region(entry->region.get(), [this, number](const void*) { end_use(number, false); });
}

ColumnStore::Region ColumnStore::update(uint32_t session, uint64_t number, uint64_t update) {
  const std::lock_guard lock(mutex_);
  const auto pins = pins_.find(session);
  if (pins == pins_.end() || !pins->second.contains(number)) return nullptr;
  Entry* entry = entries_.at(number).get();
  if (entry->update == 0 || entry->update != update || entry->updater != session) return nullptr;
  ++entry->pins;
  ++entry->writers;
  return Region(entry->region.get(), [this, number](const void*) { end_use(number, true); });
}

void ColumnStore::end_use(uint64_t number, bool is_update) {
  Gone gone;
  {
    const std::lock_guard lock(mutex_);
    Entry* entry = entries_.at(number).get();
    if (is_update) --entry->writers;
    unpin(entry, &gone);
  }
  release(std::move(gone));
}

void ColumnStore::end_session(uint32_t session) {
  Gone gone;
  {
    const std::lock_guard lock(mutex_);
    const auto pins = pins_.extract(session);
    if (pins.empty()) return;
    for (const auto& [number, count] : pins.mapped()) {
      Entry* entry = entries_.at(number).get();
      if (entry->updater == session) entry->update = 0;
      entry->pins -= count - 1;
      unpin(entry, &gone);
    }
  }
  release(std::move(gone));
}

// ---- Giving back ----

bool ColumnStore::give_back(uint64_t bytes) {
  Gone gone;
  {
    const std::lock_guard lock(mutex_);
    while (gone.bytes < bytes && !by_worth_.empty()) evict(by_worth_.begin()->second, &gone);
  }
  const bool some = gone.bytes > 0;
  release(std::move(gone));
  return some;
}

void ColumnStore::give_back() {
  for (;;) {
    const uint64_t wanted = lender_->overlent();
    if (wanted == 0) return;
    if (give_back(wanted)) continue;
    std::unique_lock lock(mutex_);
    if (in_hand_ == 0 && by_worth_.empty()) return;
    less_in_hand_.wait(lock, [&, in_hand = in_hand_] { return in_hand_ != in_hand || !by_worth_.empty(); });
  }
}

uint64_t ColumnStore::reset() {
  Gone gone;
  {
    const std::lock_guard lock(mutex_);
    while (!by_worth_.empty()) drop(by_worth_.begin()->second, &gone);
    // Those that are in use go with their last user; nobody finds them any more.
    for (auto& [number, entry] : entries_)
      if (std::exchange(entry->is_listed, false)) by_name_.erase(entry->name);
    misses_.clear();
  }
  const uint64_t bytes = gone.bytes;
  release(std::move(gone));
  return bytes;
}

Cache ColumnStore::contents(const std::string& after) const {
  struct Sum {
    CacheRow row;
    std::set<int32_t> columns;
    double uses = 0;
  };
  std::map<std::string, Sum> sums;
  Cache cache;
  const std::lock_guard lock(mutex_);
  cache.limit = limit_;
  cache.bytes = bytes_;
  cache.pinned = pinned_;
  cache.found = found_;
  cache.missed = missed_;
  for (const auto& [number, entry] : entries_) {
    if (entry->label <= after) continue;
    Sum& sum = sums[entry->label];
    sum.row.label = entry->label;
    sum.columns.insert(entry->column);
    ++sum.row.pieces;
    sum.row.bytes += entry->bytes;
    sum.row.pinned += entry->pins > 0 ? entry->bytes : 0;
    sum.uses += entry->uses / weight_;
  }
  for (auto& [label, sum] : sums) {
    if (cache.rows.size() == kCacheRowsPerMessage) break;
    sum.row.columns = static_cast<uint32_t>(sum.columns.size());
    sum.row.uses = static_cast<uint64_t>(sum.uses + 0.5);
    cache.rows.push_back(std::move(sum.row));
  }
  return cache;
}

}  // namespace strom::service
