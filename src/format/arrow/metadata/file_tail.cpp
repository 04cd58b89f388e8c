// See file_tail.hpp.
#include "format/arrow/metadata/file_tail.hpp"

#include <utility>

#include "format/arrow/metadata/append_mark.hpp"
#include "format/arrow/metadata/file_end.hpp"
#include "format/arrow/metadata/other_file.hpp"

namespace strom::format::arrow {

Result<FileTail> FileTail::open(const std::string& path) {
  STROM_ASSIGN(auto mapping, base::MappedFile::open(path));
  return load(std::move(mapping));
}

Result<FileTail> FileTail::load(std::shared_ptr<const base::MappedFile> mapping) {
  FileTail tail;
  tail.mapping = std::move(mapping);
  const std::string& path = tail.mapping->path();
  tail.bytes = {path, tail.mapping->data(), size_in_force(tail.mapping->data(), tail.mapping->size())};
  const FileBytes& bytes = tail.bytes;
  const auto is_magic = [&](int64_t offset) { return std::memcmp(bytes.data + offset, kMagic, kMagicBytes) == 0; };
  if (bytes.size < kHeaderBytes + kTrailerBytes || !is_magic(0)) return not_an_arrow_file(bytes);
  const int64_t trailer = bytes.size - kTrailerBytes;
  if (!is_magic(bytes.size - kMagicBytes)) return bytes.corrupt(trailer, "the file does not end as an Arrow file");
  const auto size = bytes.load<int32_t>(trailer);
  tail.footer_offset = trailer - size;
  if (size <= 0 || tail.footer_offset < kHeaderBytes) return bytes.corrupt(trailer, "the footer's size is impossible");
  STROM_ASSIGN(tail.footer, load_footer(bytes, tail.footer_offset, trailer));
  if (tail.mapping->is_poisoned()) return bytes.corrupt(trailer, "the file was cut off while it was looked at");
  if (tail.footer.root().schema() == nullptr) return bytes.corrupt(tail.footer_offset, "the footer has no schema");
  return tail;
}

bool FileTail::is_inside(const fbs::Block& block) const {
  return block.offset() >= kHeaderBytes && block.offset() < footer_offset && block.metadata_length() > 0 &&
         block.metadata_length() <= footer_offset - block.offset() && block.body_length() >= 0 &&
         block.body_length() <= footer_offset - block.offset() - block.metadata_length();
}

}  // namespace strom::format::arrow
