#include "rdma/registration.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/os_error.hpp"

namespace strom::rdma {

namespace region = store::region;

Result<std::shared_ptr<MappedRegion>> MappedRegion::map(const RegionFile& file) {
  void* memory = mmap(nullptr, file.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.descriptor, 0);
  if (memory == MAP_FAILED) return base::os_error(errno, "could not map the published region for RDMA");
  return std::shared_ptr<MappedRegion>(new MappedRegion(file.id, static_cast<uint8_t*>(memory), file.bytes));
}

MappedRegion::~MappedRegion() { munmap(memory_, bytes_); }

bool MappedRegion::is_ready() const {
  return region::load_word(&header()->state, __ATOMIC_SEQ_CST) == static_cast<uint32_t>(region::State::kReady);
}

Result<std::shared_ptr<Registration>> Registration::begin(std::shared_ptr<MappedRegion> region, ibv_context* device) {
  std::shared_ptr<Registration> made(new Registration());
  made->region_ = std::move(region);
  made->device_ = device;
  made->domain_ = Domain(ibv_alloc_pd(device));
  if (made->domain_ == nullptr) return base::os_error(errno, "could not make a protection domain");
  made->queue_ = CompletionQueue(ibv_create_cq(device, 1, nullptr, nullptr, 0));
  if (made->queue_ == nullptr) return base::os_error(errno, "could not make a completion queue");
  return made;
}

Status Registration::extend() {
  // Registers also pages that have no rows yet, so that not every new row becomes another segment.
  constexpr uint64_t kStep = 16 << 20;
  region::Header* header = region_->header();
  const uint64_t used = std::max(region::load_word(&header->extents_end, __ATOMIC_ACQUIRE), header->extents_offset);
  const uint64_t end = std::min(region_->bytes(), region::padded(used, kStep));
  if (used <= end_) return Status::ok();
  // From here on, whoever retires the region has to write zeros, because punching a hole in the file does not free
  // pages that a card holds. Retiring sets the state first and then reads this word; here it is the other way round.
  __atomic_store_n(&header->pinned, uint64_t{1}, __ATOMIC_SEQ_CST);
  Memory memory(ibv_reg_mr(domain_.get(), region_->memory() + end_, end - end_, IBV_ACCESS_REMOTE_READ));
  if (memory == nullptr) {
    const int error = errno;
    return base::os_error(error == EAGAIN ? ENOMEM : error,
                          "could not register the published region with the RDMA device")
        .with_hint(
            "The limit of locked memory of the server's processes (LimitMEMLOCK of its systemd unit, ulimit -l) "
            "has to be larger than the region.");
  }
  if (!region_->is_ready()) return {ErrorCode::kIoError, "the published region is being made anew"};
  segments_.push_back({end_, end - end_, reinterpret_cast<uint64_t>(region_->memory() + end_), memory->rkey});
  memory_.push_back(std::move(memory));
  end_ = end;
  return Status::ok();
}

}  // namespace strom::rdma
