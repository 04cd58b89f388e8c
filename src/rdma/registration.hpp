// Memory of a published region that a network card may read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "rdma/server.hpp"
#include "rdma/verbs.hpp"
#include "store/region/format.hpp"

namespace strom::rdma {

/// The mapped file of a region.
class MappedRegion {
 public:
  /// Errors: kIoError.
  static Result<std::shared_ptr<MappedRegion>> map(const RegionFile& file);
  ~MappedRegion();
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;

  uint64_t id() const { return id_; }
  uint64_t bytes() const { return bytes_; }
  uint8_t* memory() const { return memory_; }
  store::region::Header* header() const { return reinterpret_cast<store::region::Header*>(memory_); }
  bool is_ready() const;

 private:
  MappedRegion(uint64_t id, uint8_t* memory, uint64_t bytes) : id_(id), memory_(memory), bytes_(bytes) {}

  uint64_t id_;
  uint8_t* memory_;
  uint64_t bytes_;
};

/// What one device may read of one region. Each region has a protection domain of its own, in which keys of other
/// regions are invalid.
class Registration {
 public:
  /// Errors: kIoError, kOutOfMemory.
  static Result<std::shared_ptr<Registration>> begin(std::shared_ptr<MappedRegion> region, ibv_context* device);

  /// Registers memory that came into use since the last call. Errors: kOutOfMemory; kIoError, also when the region was
  /// retired.
  Status extend();
  const std::vector<store::message::FarSegment>& segments() const { return segments_; }

  const MappedRegion& region() const { return *region_; }
  ibv_context* device() const { return device_; }
  ibv_pd* domain() const { return domain_.get(); }
  ibv_cq* queue() const { return queue_.get(); }

 private:
  Registration() = default;

  std::shared_ptr<MappedRegion> region_;
  ibv_context* device_ = nullptr;
  Domain domain_;
  CompletionQueue queue_;  // stays empty: the server neither sends nor receives
  std::vector<Memory> memory_;
  std::vector<store::message::FarSegment> segments_;
  uint64_t end_ = 0;
};

}  // namespace strom::rdma
