// See compression.hpp.
#include "format/arrow/batch/compression.hpp"

#include <lz4frame.h>
#include <zstd.h>

#include <charconv>
#include <cstring>
#include <string>

namespace strom::format::arrow {

namespace {

Status bad(std::string_view text) {
  return Status(ErrorCode::kInvalidParameter,
                "\"" + std::string(text) + "\" is no compression; there are none, lz4 and zstd[:level]");
}

}  // namespace

Result<Compression> parse_compression(std::string_view text) {
  if (text == "none") return Compression{};
  if (text == "lz4") return Compression{Codec::kLz4, 0};
  if (text == "zstd") return Compression{Codec::kZstd, 0};
  constexpr std::string_view kWithLevel = "zstd:";
  if (text.substr(0, kWithLevel.size()) != kWithLevel) return bad(text);
  const std::string_view digits = text.substr(kWithLevel.size());
  int level = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), level);
  if (error != std::errc() || end != digits.data() + digits.size()) return bad(text);
  if (level < 1 || level > ZSTD_maxCLevel()) {
    return Status(ErrorCode::kInvalidParameter,
                  "zstd has the levels 1 to " + std::to_string(ZSTD_maxCLevel()) + ", not " + std::to_string(level));
  }
  return Compression{Codec::kZstd, level};
}

Compressor::~Compressor() { ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_)); }

Status Compressor::append(const void* bytes, int64_t size, std::vector<char>& out) {
  const auto length = static_cast<size_t>(size);
  const size_t begin = out.size();
  const auto put_size = [&](int64_t value) { std::memcpy(out.data() + begin, &value, sizeof(value)); };
  const bool zstd = compression_.codec == Codec::kZstd;
  const size_t bound = zstd ? ZSTD_compressBound(length) : LZ4F_compressFrameBound(length, nullptr);
  out.resize(begin + sizeof(int64_t) + bound);
  char* target = out.data() + begin + sizeof(int64_t);
  size_t used = 0;
  bool failed = false;
  if (zstd) {
    if (context_ == nullptr) context_ = ZSTD_createCCtx();
    if (context_ == nullptr) return Status(ErrorCode::kOutOfMemory, "out of memory while compressing");
    used = ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_), target, bound, bytes, length,
                             compression_.level == 0 ? ZSTD_CLEVEL_DEFAULT : compression_.level);
    failed = ZSTD_isError(used);
  } else {
    used = LZ4F_compressFrame(target, bound, bytes, length, nullptr);
    failed = LZ4F_isError(used);
  }
  if (failed) return Status(ErrorCode::kInternal, "compression failed");
  if (used < length) {
    put_size(size);
    out.resize(begin + sizeof(int64_t) + used);
  } else {
    constexpr int64_t kNotCompressed = -1;
    put_size(kNotCompressed);
    std::memcpy(target, bytes, length);
    out.resize(begin + sizeof(int64_t) + length);
  }
  return Status::ok();
}

}  // namespace strom::format::arrow
