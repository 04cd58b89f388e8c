// See other_file.hpp.
#include "format/arrow/metadata/other_file.hpp"

#include <algorithm>
#include <string_view>

#include "base/utf8.hpp"

namespace strom::format::arrow {

namespace {

using std::string_view_literals::operator""sv;

struct Kind {
  std::string_view magic;
  const char* what;
};

constexpr Kind kKinds[] = {
    {"PAR1"sv, "It is a Parquet file, which Arrow_Fdw can read."},
    {"PARE"sv, "It is an encrypted Parquet file."},
    {"FEA1"sv, "It is a Feather file of version 1, which is another format."},
    {"ORC"sv, "It is an ORC file."},
    {"Obj\x01"sv, "It is an Avro file."},
    {"\x1F\x8B"sv, "It is compressed by gzip."},
    {"\x28\xB5\x2F\xFD"sv, "It is compressed by zstd as a whole; Arrow files are compressed inside."},
    {"\x04\x22\x4D\x18"sv, "It is compressed by lz4 as a whole; Arrow files are compressed inside."},
    {"BZh"sv, "It is compressed by bzip2."},
    {"\xFD"
     "7zXZ\0"sv,
     "It is compressed by xz."},
    {"PK\x03\x04"sv, "It is a zip archive."},
    {"\xFF\xFF\xFF\xFF"sv, "It is in the Arrow streaming format, which has no footer."},
};

/// True for characters and white space.
bool is_text(std::string_view bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  constexpr int64_t kCharacter = 4;  // the last character may be cut
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 && (c < '\t' || c > '\r'); };
  return base::valid_utf8_prefix(bytes.data(), size) > size - kCharacter &&
         std::none_of(bytes.begin(), bytes.end(), is_control);
}

std::string what_it_is(std::string_view bytes) {
  if (bytes.empty()) return "It is empty.";
  for (const Kind& kind : kKinds)
    if (bytes.starts_with(kind.magic)) return kind.what;
  if (is_text(bytes)) return "It is text, perhaps CSV, which tsv2arrow makes Arrow files of.";
  return "It does not begin with ARROW1.";
}

}  // namespace

Status not_an_arrow_file(const FileBytes& file) {
  constexpr int64_t kLooked = 512;
  const std::string_view bytes(reinterpret_cast<const char*>(file.data),
                               static_cast<size_t>(std::min(file.size, kLooked)));
  return Status(ErrorCode::kCorruptFile, "file \"" + file.path + "\" is not an Arrow file")
      .with_detail(what_it_is(bytes));
}

}  // namespace strom::format::arrow
