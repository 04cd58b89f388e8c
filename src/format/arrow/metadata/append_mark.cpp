// See append_mark.hpp.
#include "format/arrow/metadata/append_mark.hpp"

#include <charconv>
#include <cstdio>
#include <random>
#include <string_view>

namespace strom::format::arrow {

AppendMark AppendMark::make(int64_t base_size, int64_t base_mtime_ns, int64_t base_footer) {
  std::random_device random;
  char token[33];
  snprintf(token, sizeof(token), "%08x%08x%08x%08x", random(), random(), random(), random());
  return {token, base_size, base_mtime_ns, base_footer};
}

AppendMark AppendMark::read(const fbs::Footer& footer) {
  AppendMark mark;
  if (footer.custom_metadata() == nullptr) return mark;
  for (const fbs::KeyValue* item : *footer.custom_metadata()) {
    if (item->key() == nullptr || item->value() == nullptr || item->key()->string_view() != kAppendKey) continue;
    const std::string_view text = item->value()->string_view();
    const size_t colon = text.find(':');
    if (colon == 0 || colon == std::string_view::npos) return {};
    mark.token = text.substr(0, colon);
    const char *at = text.data() + colon, *end = text.data() + text.size();
    for (int64_t* number : {&mark.base_size, &mark.base_mtime_ns, &mark.base_footer}) {
      if (at == end || *at != ':') return {};
      at = std::from_chars(at + 1, end, *number).ptr;
    }
    return mark;
  }
  return mark;
}

std::string AppendMark::text() const {
  return token + ":" + std::to_string(base_size) + ":" + std::to_string(base_mtime_ns) + ":" +
         std::to_string(base_footer);
}

int64_t footer_end(const FileBytes& bytes, int64_t offset, int64_t limit) {
  const std::string_view region(reinterpret_cast<const char*>(bytes.data) + offset,
                                static_cast<size_t>(limit - offset));
  for (size_t at = region.find(kMagic); at != std::string_view::npos; at = region.find(kMagic, at + 1)) {
    const auto size = static_cast<int64_t>(at) - 4;
    if (size > 0 && bytes.load<int32_t>(offset + size) == size) return offset + size;
  }
  return limit;
}

Result<Metadata<fbs::Footer>> load_footer(const FileBytes& bytes, int64_t offset, int64_t limit) {
  const int64_t end = footer_end(bytes, offset, limit);
  if (end < limit) {
    auto short_one = Metadata<fbs::Footer>::load(bytes, offset, end - offset, "the footer");
    if (short_one.is_ok()) return short_one;  // else a footer that only looks as if it ended there
  }
  return Metadata<fbs::Footer>::load(bytes, offset, limit - offset, "the footer");
}

bool holds_after_append(const FileTail& now, const AppendMark& mine, const base::FileIdentity& identity,
                        int64_t footer_offset) {
  const AppendMark theirs = AppendMark::read(now.footer.root());
  if (!mine.token.empty()) return theirs.token == mine.token;
  // The first append to a file that others wrote: under way, given up, or done.
  if (theirs.token.empty()) return now.footer_offset == footer_offset && now.bytes.size != identity.size;
  if (theirs.base_size == identity.size) return theirs.base_mtime_ns == identity.mtime_ns;
  return theirs.base_footer == footer_offset && identity.size > theirs.base_size;  // opened during the append
}

}  // namespace strom::format::arrow
