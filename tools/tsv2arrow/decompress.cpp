// See decompress.hpp.
#include "tsv2arrow/decompress.hpp"

#include <vector>

#include "cli/decompressor.hpp"

namespace strom::tsv2arrow {

namespace {

constexpr size_t kOutput = 1 << 20;

}  // namespace

Result<std::unique_ptr<tool::Spool>> decompress(const std::string& name, std::string_view bytes) {
  const auto work = tool::decompressor_of(bytes);
  if (work == nullptr) return std::unique_ptr<tool::Spool>();
  const auto corrupt = [&](const std::string& what) {
    return Status(ErrorCode::kCorruptFile,
                  "could not decompress " + (name == "-" ? "standard input" : "file \"" + name + "\""))
        .with_detail(what);
  };
  STROM_ASSIGN(auto text, tool::Spool::create());
  std::vector<char> buffer(kOutput);
  bool is_end = false;
  while (!bytes.empty()) {
    if (is_end && bytes.find_first_not_of('\0') == std::string_view::npos) break;  // padding
    const auto step = work->step(bytes, buffer.data(), buffer.size());
    if (!step.problem.empty()) return corrupt("The decompressor says: " + step.problem + ".");
    if (step.taken == 0 && step.made == 0 && !step.is_end) return corrupt("It ends in the middle.");
    bytes.remove_prefix(step.taken);
    is_end = step.is_end;
    STROM_TRY(text->append(buffer.data(), step.made));
  }
  // The rest, for which the last buffer had no room.
  for (bool more = !is_end; more && !is_end;) {
    const auto step = work->step({}, buffer.data(), buffer.size());
    more = step.made > 0;
    is_end = step.is_end;
    STROM_TRY(text->append(buffer.data(), step.made));
  }
  if (!is_end) return corrupt("It ends in the middle.");
  return text;
}

}  // namespace strom::tsv2arrow
