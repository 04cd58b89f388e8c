// Any bytes as what bgzip has compressed. The first bytes choose sizes of blocks and pieces, and what is damaged
// afterwards. Pieces of a file that was not damaged are its lines, or its records, however it is cut.
#include <libdeflate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/mapped_file.hpp"
#include "format/vcf/header.hpp"
#include "vcf2arrow/block_text.hpp"

using namespace strom;

namespace {

void check(bool condition) {
  if (!condition) __builtin_trap();
}

void put(std::string* to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) *to += static_cast<char>(value >> (8 * i));
}

/// A block whose text is stored as it is.
void add_block(std::string* file, std::string_view text) {
  constexpr size_t kFrame = 18 + 5 + 8;
  file->append("\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0", 16);
  put(file, kFrame + text.size() - 1, 2);
  *file += '\x01';
  put(file, text.size(), 2);
  put(file, ~text.size(), 2);
  file->append(text);
  put(file, libdeflate_crc32(0, text.data(), text.size()), 4);
  put(file, text.size(), 4);
}

/// What the pieces are together; false: an error was told.
bool read_all(const std::string& file, int64_t piece_bytes, std::string* header, std::string* all, bool* is_binary) {
  const int descriptor = memfd_create("blocks", MFD_CLOEXEC);
  check(descriptor >= 0 && write(descriptor, file.data(), file.size()) == static_cast<ssize_t>(file.size()));
  const auto mapped = base::MappedFile::open("/proc/self/fd/" + std::to_string(descriptor));
  close(descriptor);
  check(mapped.is_ok());
  const auto opened = vcf2arrow::open_blocks(mapped.value(), piece_bytes, 1);
  if (!opened.is_ok() || opened.value() == nullptr) return false;
  vcf2arrow::VariantText& text = *opened.value();
  header->assign(text.header());
  *is_binary = text.is_binary();
  vcf2arrow::Piece piece;
  for (int64_t number = 0;; ++number) {
    const auto more = text.next(piece);
    if (!more.is_ok()) return false;
    if (!more.value()) return true;
    check(piece.number == number);
    if (!*is_binary && !piece.text.empty() && !all->empty()) check(all->ends_with('\n'));
    all->append(piece.text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChoices = 5;
  if (size <= kChoices) return 0;
  const size_t block = 1 + data[0] * size_t{16}, damages = data[2] % 4;
  const int64_t piece = 1 + data[1] * int64_t{8};
  const std::string_view content(reinterpret_cast<const char*>(data) + kChoices, size - kChoices);
  std::string file;
  for (size_t at = 0; at < content.size(); at += block) add_block(&file, content.substr(at, block));
  add_block(&file, {});
  constexpr size_t kStep = 7919;
  for (size_t i = 0; i < damages; ++i) file[(data[3] * kStep + i * 31) % file.size()] ^= static_cast<char>(data[4]);
  if (damages > 2) file.resize(data[3] * kStep % file.size());
  std::string header, all;
  bool is_binary = false;
  const bool is_read = read_all(file, piece, &header, &all, &is_binary);
  const bool is_damaged = damages > 0 && (data[4] != 0 || damages > 2);
  if (!is_read || is_damaged) return 0;
  if (is_binary) {
    check(content.ends_with(all));
    return 0;
  }
  size_t begin = 0;
  check(format::vcf::parse_header(content, &begin).is_ok());
  check(all == content.substr(begin));
  return 0;
}
