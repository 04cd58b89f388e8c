// See message.hpp.
#include "format/arrow/metadata/message.hpp"

#include <utility>

namespace strom::format::arrow {

Result<Message> load_message(const FileBytes& file, int64_t offset, int64_t limit, const char* what) {
  constexpr int64_t kWord = 4;
  if (limit - offset < kWord) return file.corrupt(offset, std::string("no room for the size of ") + what);
  Message message;
  message.metadata_offset = offset + kWord;
  auto size = file.load<uint32_t>(offset);
  if (size == kContinuation) {
    if (limit - offset < 2 * kWord) return file.corrupt(offset, std::string("no room for the size of ") + what);
    size = file.load<uint32_t>(offset + kWord);
    message.metadata_offset += kWord;
  }
  if (size > static_cast<uint64_t>(limit - message.metadata_offset)) {
    return file.corrupt(offset, std::string(what) + " claims " + std::to_string(size) + " bytes of metadata where " +
                                    std::to_string(limit - message.metadata_offset) + " fit");
  }
  STROM_ASSIGN(message.metadata, Metadata<fbs::Message>::load(file, message.metadata_offset, size, what));
  const fbs::MetadataVersion version = message.root().version();
  if (version != fbs::MetadataVersion::V4 && version != fbs::MetadataVersion::V5) {
    return file.corrupt(message.metadata_offset, std::string(what) + " has a metadata version other than V4 and V5");
  }
  return message;
}

}  // namespace strom::format::arrow
