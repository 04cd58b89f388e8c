// See decompressor.hpp.
#include "cli/decompressor.hpp"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

namespace strom::tool {

namespace {

using std::string_view_literals::operator""sv;

class Gzip final : public Decompressor {
 public:
  Gzip() {
    constexpr int kWindow = 15, kWithHeader = 16;
    is_ready_ = inflateInit2(&stream_, kWindow + kWithHeader) == Z_OK;
  }
  ~Gzip() override { inflateEnd(&stream_); }

  Step step(std::string_view from, char* to, size_t room) override {
    if (!is_ready_) return {.problem = "out of memory"};
    const size_t size = std::min<size_t>(from.size(), std::numeric_limits<int>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream_.avail_in = static_cast<uInt>(size);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    Step step{size - stream_.avail_in, room - stream_.avail_out, outcome == Z_STREAM_END};
    if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR)
      step.problem = stream_.msg == nullptr ? "damaged" : stream_.msg;
    if (step.is_end) inflateReset(&stream_);
    return step;
  }

 private:
  z_stream stream_ = {};
  bool is_ready_ = false;
};

class Zstd final : public Decompressor {
 public:
  ~Zstd() override { ZSTD_freeDStream(stream_); }
  Step step(std::string_view from, char* to, size_t room) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to, room, 0};
    const size_t outcome = ZSTD_decompressStream(stream_, &out, &in);
    if (ZSTD_isError(outcome)) return {.problem = ZSTD_getErrorName(outcome)};
    return {in.pos, out.pos, outcome == 0};
  }

 private:
  ZSTD_DStream* stream_ = ZSTD_createDStream();
};

class Lz4 final : public Decompressor {
 public:
  Lz4() { (void)LZ4F_createDecompressionContext(&context_, LZ4F_VERSION); }
  ~Lz4() override { LZ4F_freeDecompressionContext(context_); }
  Step step(std::string_view from, char* to, size_t room) override {
    Step step{from.size(), room};
    const size_t outcome = LZ4F_decompress(context_, to, &step.made, from.data(), &step.taken, nullptr);
    step.is_end = outcome == 0;
    if (LZ4F_isError(outcome)) step.problem = LZ4F_getErrorName(outcome);
    return step;
  }

 private:
  LZ4F_dctx* context_ = nullptr;
};

}  // namespace

std::unique_ptr<Decompressor> decompressor_of(std::string_view bytes) {
  if (bytes.starts_with("\x1F\x8B"sv)) return std::make_unique<Gzip>();
  if (bytes.starts_with("\x28\xB5\x2F\xFD"sv)) return std::make_unique<Zstd>();
  if (bytes.starts_with("\x04\x22\x4D\x18"sv)) return std::make_unique<Lz4>();
  return nullptr;
}

}  // namespace strom::tool
