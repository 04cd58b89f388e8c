#include "strom-kv/text_codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace strom::kv_tool {

namespace {

/// The C library's name.
std::string name_of(const std::string& encoding) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOthers{
      {{"EUC_JIS_2004", "EUC-JISX0213"}, {"KOI8R", "KOI8-R"}, {"KOI8U", "KOI8-U"}, {"LATIN7", "ISO-8859-13"}}};
  for (const auto& [theirs, ours] : kOthers)
    if (encoding == theirs) return std::string(ours);
  if (encoding.starts_with("WIN")) return "CP" + encoding.substr(3);
  std::string name = encoding;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// False: a character cannot be converted.
bool convert(iconv_t descriptor, std::string_view text, std::string* converted) {
  std::array<char, 4096> room{};
  char* in = const_cast<char*>(text.data());
  size_t left = text.size();
  iconv(descriptor, nullptr, nullptr, nullptr, nullptr);
  while (left > 0) {
    char* out = room.data();
    size_t free = room.size();
    const size_t changed = iconv(descriptor, &in, &left, &out, &free);
    const bool is_stuck = changed == static_cast<size_t>(-1) && free == room.size();
    if (is_stuck) return false;
    converted->append(room.data(), room.size() - free);
  }
  return true;
}

}  // namespace

Result<TextCodec> TextCodec::of(const std::string& encoding) {
  TextCodec codec;
  if (encoding == "UTF8" || encoding == "SQL_ASCII") return codec;
  codec.encoding_ = encoding;
  const std::string name = name_of(encoding);
  iconv_t from = iconv_open(name.c_str(), "UTF-8"), to = iconv_open("UTF-8", name.c_str());
  const auto none = reinterpret_cast<iconv_t>(-1);
  if (from != none) codec.from_utf8_.reset(from);
  if (to != none) codec.to_utf8_.reset(to);
  if (from == none || to == none)
    return Status(ErrorCode::kUnsupported, "text of a database in the encoding " + encoding + " cannot be converted")
        .with_hint("Ask by SQL.");
  return codec;
}

Result<std::string> TextCodec::from_utf8(std::string_view text) const {
  if (from_utf8_ == nullptr) return std::string(text);
  std::string converted;
  if (!convert(from_utf8_.get(), text, &converted))
    return Status(ErrorCode::kInvalidParameter,
                  "\"" + std::string(text) + "\" has a character that the encoding " + encoding_ + " lacks");
  return converted;
}

Result<std::string> TextCodec::to_utf8(std::string_view bytes) const {
  if (to_utf8_ == nullptr) return std::string(bytes);
  std::string converted;
  if (!convert(to_utf8_.get(), bytes, &converted))
    return Status(ErrorCode::kCorruptFile, "a text is not in the database's encoding, " + encoding_);
  return converted;
}

}  // namespace strom::kv_tool
