// See decompress.hpp.
#include "format/arrow/batch/decompress.hpp"

#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <new>

namespace strom::format::arrow {

namespace {

/// Buffers up to this size are allocated all at once.
constexpr int64_t kTrustedSize = 64 << 20;
/// The most bytes that one compressed byte can become: LZ4 extends a length by 255 for each byte, ZSTD has blocks of 4
/// bytes for 128 kB.
constexpr int64_t kMostByLz4 = 255, kMostByZstd = 32 << 10;
constexpr int64_t kHeaderBytes = 128 << 10;  // a few bytes can become this much whatever the ratio

Status damaged(const char* what) { return Status(ErrorCode::kCorruptFile, what); }

/// Memory that grows up to a declared size, which may be wrong.
class Growing {
 public:
  Growing(int64_t most, BufferPool* pool) : most_(most), pool_(pool) {}

  Status grow() {
    limit_ = limit_ == 0 ? std::min(most_, kTrustedSize) : std::min(most_, 2 * limit_);
    Memory& memory = out_.memory;
    if (pool_ != nullptr && memory.bytes == nullptr) memory = pool_->take(limit_);
    if (memory.capacity >= limit_ && memory.bytes != nullptr) return Status::ok();
    auto* bytes =
        static_cast<char*>(std::realloc(memory.bytes.get(), static_cast<size_t>(std::max<int64_t>(limit_, 1))));
    if (bytes == nullptr)
      return Status(ErrorCode::kOutOfMemory, "out of memory for " + std::to_string(limit_) + " decompressed bytes");
    [[maybe_unused]] char* freed = memory.bytes.release();  // by realloc()
    memory.bytes.reset(bytes);
    memory.capacity = limit_;
    return Status::ok();
  }
  char* end() { return out_.memory.bytes.get() + out_.size; }
  size_t room() const { return static_cast<size_t>(limit_ - out_.size); }
  void add(size_t bytes) { out_.size += static_cast<int64_t>(bytes); }
  /// True when the memory is never moved.
  bool stays() const { return most_ <= kTrustedSize; }
  bool is_complete() const { return out_.size == most_; }
  Decompressed take() { return std::move(out_); }

 private:
  const int64_t most_;
  BufferPool* const pool_;
  int64_t limit_ = 0;
  Decompressed out_;
};

struct Lz4Context {
  LZ4F_dctx* context = nullptr;
  Lz4Context() {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) context = nullptr;
  }
  ~Lz4Context() { LZ4F_freeDecompressionContext(context); }
};

struct ZstdContext {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~ZstdContext() { ZSTD_freeDCtx(context); }
};

Status no_memory() { return Status(ErrorCode::kOutOfMemory, "out of memory for decompression"); }

Status decompress_lz4(const uint8_t* from, size_t size, bool whole, Growing* out) {
  thread_local Lz4Context lz4;
  if (lz4.context == nullptr) return no_memory();
  STROM_TRY(out->grow());
  LZ4F_resetDecompressionContext(lz4.context);
  LZ4F_decompressOptions_t options{};
  options.stableDst = out->stays() ? 1 : 0;
  for (size_t hint = 1; hint != 0;) {
    if (out->room() == 0 && !out->is_complete()) {
      STROM_TRY(out->grow());
    } else if (out->room() == 0 && !whole) {
      return Status::ok();
    }
    size_t made = out->room(), taken = size;
    hint = LZ4F_decompress(lz4.context, out->end(), &made, from, &taken, &options);
    if (LZ4F_isError(hint)) return damaged(LZ4F_getErrorName(hint));
    out->add(made);
    from += taken;
    size -= taken;
    if (hint != 0 && made == 0 && taken == 0)
      return damaged(out->is_complete() ? "there are more bytes than declared" : "the data ends too early");
  }
  return Status::ok();
}

Status decompress_zstd(const uint8_t* from, size_t size, bool whole, Growing* out) {
  thread_local ZstdContext zstd;
  if (zstd.context == nullptr) return no_memory();
  ZSTD_DCtx_reset(zstd.context, ZSTD_reset_session_only);
  ZSTD_inBuffer in{from, size, 0};
  for (size_t hint = 1; hint != 0;) {
    if (out->room() == 0 && !out->is_complete()) {
      STROM_TRY(out->grow());
    } else if (out->room() == 0 && !whole) {
      return Status::ok();
    }
    ZSTD_outBuffer to{out->end(), out->room(), 0};
    const size_t before = in.pos;
    hint = ZSTD_decompressStream(zstd.context, &to, &in);
    if (ZSTD_isError(hint)) return damaged(ZSTD_getErrorName(hint));
    out->add(to.pos);
    if (hint != 0 && to.pos == 0 && in.pos == before)
      return damaged(out->is_complete() ? "there are more bytes than declared" : "the data ends too early");
  }
  return Status::ok();
}

/// Decompresses everything at once, without a window besides the result.
Status decompress_zstd_at_once(const uint8_t* from, size_t size, Growing* out) {
  thread_local ZstdContext zstd;
  if (zstd.context == nullptr) return no_memory();
  STROM_TRY(out->grow());
  const size_t made = ZSTD_decompressDCtx(zstd.context, out->end(), out->room(), from, size);
  if (ZSTD_isError(made)) return damaged(ZSTD_getErrorName(made));
  out->add(made);
  return Status::ok();
}

constexpr int64_t kMostPooled = 512 << 20;

}  // namespace

Memory BufferPool::take(int64_t capacity) {
  std::lock_guard lock(mutex_);
  for (size_t i = free_.size(); i-- > 0;) {  // the last one is the most likely to be in a cache
    if (free_[i].capacity < capacity || free_[i].capacity / 4 > capacity) continue;
    Memory found = std::move(free_[i]);
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    bytes_ -= found.capacity;
    return found;
  }
  return {};
}

void BufferPool::give(Memory memory) {
  std::lock_guard lock(mutex_);
  if (memory.bytes == nullptr || bytes_ + memory.capacity > kMostPooled) return;
  bytes_ += memory.capacity;
  free_.push_back(std::move(memory));
}

const char* codec_name(Codec codec) {
  switch (codec) {
    case Codec::kNone: return "none";
    case Codec::kLz4Frame: return "LZ4";
    case Codec::kZstd: return "ZSTD";
  }
  return "?";
}

Result<Decompressed> decompress(Codec codec, const uint8_t* from, int64_t size, int64_t declared, int64_t wanted,
                                BufferPool* pool) {
  const int64_t ratio = codec == Codec::kLz4Frame ? kMostByLz4 : kMostByZstd;
  if (declared < wanted || declared < 0) return damaged("the declared size is too small");
  if (declared > kHeaderBytes && (declared - kHeaderBytes) / ratio > size)
    return damaged("the declared size is impossible for so few compressed bytes");
  Growing out(wanted, pool);
  const bool whole = wanted == declared;
  const auto bytes = static_cast<size_t>(size);
  if (codec == Codec::kLz4Frame)
    STROM_TRY(decompress_lz4(from, bytes, whole, &out));
  else if (whole && wanted <= kTrustedSize)
    STROM_TRY(decompress_zstd_at_once(from, bytes, &out));
  else
    STROM_TRY(decompress_zstd(from, bytes, whole, &out));
  if (!out.is_complete()) return damaged("there are fewer bytes than declared");
  return out.take();
}

}  // namespace strom::format::arrow
