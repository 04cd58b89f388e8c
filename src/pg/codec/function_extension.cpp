#include "pg/codec/function_extension.hpp"

#include <unordered_map>

#include "pg/boundary/boundary.hpp"

namespace strom::pg::codec {

namespace {

using Extensions = std::unordered_map<Oid, std::string>;

Extensions& known_extensions() {
  static Extensions known;
  return known;
}

// Called when an entry of pg_proc changes.
void forget_extensions(Datum, int, uint32) { known_extensions().clear(); }

}  // namespace

const std::string& extension_of_function(Oid function) {
  static const bool is_told = boundary::guard([] {
    CacheRegisterSyscacheCallback(PROCOID, forget_extensions, 0);
    return true;
  });
  static const std::string none;
  if (!is_told || function < FirstNormalObjectId) return none;
  Extensions& known = known_extensions();
  if (const auto found = known.find(function); found != known.end()) return found->second;
  const char* name = boundary::guard([function]() -> const char* {
    const Oid extension = getExtensionOfObject(ProcedureRelationId, function);
    return OidIsValid(extension) ? get_extension_name(extension) : nullptr;
  });
  return known.emplace(function, name != nullptr ? name : "").first->second;
}

}  // namespace strom::pg::codec
