#include "registry/zoned.hpp"

#include <unordered_map>

namespace strom::registry {
namespace {

constexpr ZonedFunction kZoned[] = {
#define STROM_ZONED(pg_name, local_name, arguments, traits) {pg_name, local_name, arguments, traits},
#include "registry/zoned.def"
#undef STROM_ZONED
};

}  // namespace

const ZonedFunction* find_zoned(std::string_view pg_name, size_t arguments) {
  static const auto* index = [] {
    auto* made = new std::unordered_map<std::string_view, const ZonedFunction*>;
    for (const ZonedFunction& row : kZoned) made->emplace(row.pg_name, &row);
    return made;
  }();
  const auto found = index->find(pg_name);
  if (found == index->end()) return nullptr;
  const auto wanted = static_cast<size_t>(found->second->arguments);
  return wanted == 0 || wanted == arguments ? found->second : nullptr;
}

}  // namespace strom::registry
