#include "cuda_emulation/fatbin.hpp"

#include <cstdint>
#include <cstring>

#include "cuda_emulation/ptx/error.hpp"

namespace strom::cuda_emulation {

namespace {

constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::uint16_t kPtxEntry = 1;

template <class T>
T read_at(const unsigned char* from, std::size_t offset) {
  T value;
  std::memcpy(&value, from + offset, sizeof(T));
  return value;
}

}  // namespace

// Container: u32 magic, u16 version, u16 header bytes, u64 bytes of entries. Entry: u16 kind, u16 version, u32 header
// bytes, u64 payload bytes, …
std::vector<std::string> extract_ptx(const void* fatbin) {
  const auto* start = static_cast<const unsigned char*>(fatbin);
  if (read_at<std::uint32_t>(start, 0) != kMagic) throw ptx::Error("not a fat binary");
  const unsigned char* entry = start + read_at<std::uint16_t>(start, 6);
  const unsigned char* end = entry + read_at<std::uint64_t>(start, 8);
  std::vector<std::string> texts;
  while (entry < end) {
    const auto header = read_at<std::uint32_t>(entry, 4);
    const auto payload = read_at<std::uint64_t>(entry, 8);
    if (header < 16 || payload > static_cast<std::uint64_t>(end - entry)) throw ptx::Error("malformed fat binary");
    if (read_at<std::uint16_t>(entry, 0) == kPtxEntry) {
      std::string text(reinterpret_cast<const char*>(entry) + header, payload);
      text.resize(std::strlen(text.c_str()));
      if (text.find(".version") == std::string::npos) {
        throw ptx::Error("compressed PTX: compile with -Xfatbin=-compress=false");
      }
      texts.push_back(std::move(text));
    }
    entry += header + payload;
  }
  return texts;
}

}  // namespace strom::cuda_emulation
