// Fuzzer of what sessions hand to each other of files' metadata. What is read once is written and read again as the
// same.
#include <cstdint>
#include <string>

#include "format/arrow/read/metadata_pack.hpp"

using namespace strom::format::arrow;

namespace {

std::string packed(const std::vector<UnpackedFile>& files) {
  MetadataPacker packer;
  for (const UnpackedFile& file : files) packer.add(file.path, *file.metadata);
  return packer.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const auto files = unpack_metadata({bytes, size});
  if (!files.has_value()) return 0;
  const std::string once = packed(*files);
  const auto again = unpack_metadata({reinterpret_cast<const uint8_t*>(once.data()), once.size()});
  if (!again.has_value() || again->size() != files->size() || packed(*again) != once) __builtin_trap();
  return 0;
}
