// See footer_note.hpp.
#include "format/arrow/metadata/footer_note.hpp"

#include "format/arrow/metadata/file_tail.hpp"

namespace strom::format::arrow {

Result<std::string> read_footer_note(const std::string& path, std::string_view key) {
  STROM_ASSIGN(const FileTail tail, FileTail::open(path));
  if (const auto* metadata = tail.footer.root().custom_metadata(); metadata != nullptr)
    for (const fbs::KeyValue* item : *metadata)
      if (item->key() != nullptr && item->value() != nullptr && item->key()->string_view() == key)
        return item->value()->str();
  return std::string();
}

}  // namespace strom::format::arrow
