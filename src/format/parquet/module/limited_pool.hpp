// Memory of one reader: malloc() with a limit, because sizes in a file are untrusted.
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

namespace strom::parquet_module {

class LimitedPool final : public ::arrow::MemoryPool {
 public:
  explicit LimitedPool(int64_t limit) : limit_(limit) {}

  using MemoryPool::Allocate;
  using MemoryPool::Free;
  using MemoryPool::Reallocate;

  ::arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    ARROW_RETURN_NOT_OK(reserve(size));
    void* bytes = nullptr;
    // Some users need a pointer that is not null even for 0 bytes.
    if (posix_memalign(&bytes, static_cast<size_t>(alignment), static_cast<size_t>(size > 0 ? size : 1)) != 0) {
      used_ -= size;
      return ::arrow::Status::OutOfMemory("out of memory for ", size, " bytes");
    }
    *out = static_cast<uint8_t*>(bytes);
    return ::arrow::Status::OK();
  }

  ::arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** bytes) override {
    if (new_size <= old_size) {  // stays in place, so that a buffer that was too large is not copied
      used_ -= old_size - new_size;
      return ::arrow::Status::OK();
    }
    uint8_t* moved = nullptr;
    ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
    std::memcpy(moved, *bytes, static_cast<size_t>(old_size));
    Free(*bytes, old_size, alignment);
    *bytes = moved;
    return ::arrow::Status::OK();
  }

  void Free(uint8_t* bytes, int64_t size, int64_t) override {
    std::free(bytes);
    used_ -= size;
  }

  int64_t bytes_allocated() const override { return used_; }
  int64_t total_bytes_allocated() const override { return total_; }
  int64_t num_allocations() const override { return count_; }
  std::string backend_name() const override { return "system"; }
  /// True when the limit was reached since the last call.
  bool take_exceeded() { return exceeded_.exchange(false); }

 private:
  ::arrow::Status reserve(int64_t size) {
    if (size < 0 || size > limit_ || used_.fetch_add(size) > limit_ - size) {
      if (size >= 0 && size <= limit_) used_ -= size;
      exceeded_ = true;
      return ::arrow::Status::OutOfMemory("more than ", limit_, " bytes of memory are needed");
    }
    total_ += size;
    ++count_;
    return ::arrow::Status::OK();
  }

  const int64_t limit_;
  std::atomic<int64_t> used_ = 0, total_ = 0, count_ = 0;
  std::atomic<bool> exceeded_ = false;
};

}  // namespace strom::parquet_module
