// See open_file.hpp.
#include "arrow_files/open_file.hpp"

#include <memory>

#include "common/spool.hpp"

namespace strom::tool {

Result<ArrowFile> open_arrow_file(const std::string& path) {
  if (path != "-") return format::arrow::FileReader::open(path);
  static std::unique_ptr<Spool> input;  // readers look into it until the program ends
  STROM_ASSIGN(input, spool_input());
  STROM_ASSIGN(const auto bytes, input->bytes());
  if (bytes.empty()) return Status(ErrorCode::kCorruptFile, "standard input is empty");
  return format::arrow::FileReader::open_memory("standard input", bytes);
}

}  // namespace strom::tool
