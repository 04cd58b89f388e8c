// See open_file.hpp.
#include "arrow_files/open_file.hpp"

#include <memory>

#include "cli/spool.hpp"

namespace strom::tool {

namespace {

constexpr const char* kInputName = "standard input";

std::unique_ptr<Spool> input;  // readers look into it until the program ends

}  // namespace

Result<format::arrow::FileStorage> storage_of(const format::arrow::FileReader& file) {
  if (input == nullptr || file.path() != kInputName) return format::arrow::read_storage(file.path());
  STROM_ASSIGN(const auto bytes, input->bytes());
  return format::arrow::read_storage(kInputName, bytes);
}

Result<ArrowFile> open_arrow_file(const std::string& path) {
  if (path != "-") return format::arrow::FileReader::open(path);
  STROM_ASSIGN(input, spool_input());
  STROM_ASSIGN(const auto bytes, input->bytes());
  if (bytes.empty()) return Status(ErrorCode::kCorruptFile, "standard input is empty");
  return format::arrow::FileReader::open_memory(kInputName, bytes);
}

}  // namespace strom::tool
