// See decompress.hpp.
#include "tsv2arrow/decompress.hpp"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace strom::tsv2arrow {

namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kOutput = 1 << 20;

/// Takes compressed bytes and gives text, into a buffer.
class Decompressor {
 public:
  struct Step {
    size_t taken = 0, made = 0;
    bool is_end = false;       // of a part; another may follow
    std::string problem = {};  // empty: none
  };
  virtual ~Decompressor() = default;
  virtual Step step(std::string_view from, char* to, size_t room) = 0;
};

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

std::unique_ptr<Decompressor> decompressor_of(std::string_view bytes) {
  if (bytes.starts_with("\x1F\x8B"sv)) return std::make_unique<Gzip>();
  if (bytes.starts_with("\x28\xB5\x2F\xFD"sv)) return std::make_unique<Zstd>();
  if (bytes.starts_with("\x04\x22\x4D\x18"sv)) return std::make_unique<Lz4>();
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<tool::Spool>> decompress(const std::string& name, std::string_view bytes) {
  const auto work = decompressor_of(bytes);
  if (work == nullptr) return std::unique_ptr<tool::Spool>();
  const auto corrupt = [&](const std::string& what) {
    return Status(ErrorCode::kCorruptFile,
                  "could not decompress " + (name == "-" ? "standard input" : "file \"" + name + "\""))
        .with_detail(what);
  };
  STROM_ASSIGN(auto text, tool::Spool::create());
  std::vector<char> buffer(kOutput);
  bool is_end = false;
  while (!bytes.empty()) {
    if (is_end && bytes.find_first_not_of('\0') == std::string_view::npos) break;  // padding
    const auto step = work->step(bytes, buffer.data(), buffer.size());
    if (!step.problem.empty()) return corrupt("The decompressor says: " + step.problem + ".");
    if (step.taken == 0 && step.made == 0 && !step.is_end) return corrupt("It ends in the middle.");
    bytes.remove_prefix(step.taken);
    is_end = step.is_end;
    STROM_TRY(text->append(buffer.data(), step.made));
  }
  // The rest, for which the last buffer had no room.
  for (bool more = !is_end; more && !is_end;) {
    const auto step = work->step({}, buffer.data(), buffer.size());
    more = step.made > 0;
    is_end = step.is_end;
    STROM_TRY(text->append(buffer.data(), step.made));
  }
  if (!is_end) return corrupt("It ends in the middle.");
  return text;
}

}  // namespace strom::tsv2arrow
