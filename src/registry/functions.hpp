// Functions known to the engine. Generated from functions.def; looked up by PostgreSQL signature.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "registry/function_groups.hpp"
#include "registry/function_traits.hpp"
#include "registry/types.hpp"

namespace strom::registry {

enum class FunctionId : uint16_t {
#define STROM_FUNCTION(name, pg_name, result, nargs, a, b, functor, traits) name,
#define STROM_FUNCTION3(name, pg_name, result, a, b, c, functor, traits) name,
#define STROM_EXTRACT(name, pg_name, result, source, field, functor, traits) name,
#include "registry/functions.def"
#undef STROM_FUNCTION
#undef STROM_FUNCTION3
#undef STROM_EXTRACT
};

struct FunctionInfo {
  FunctionId id;
  const char* name;     // enumerator without its k, for printing
  const char* pg_name;  // pg_proc.proname, in pg_catalog
  TypeId result;
  int nargs;  // value arguments; the field name of EXTRACT is not counted
  TypeId args[3];
  uint32_t traits;
  const char* field;  // EXTRACT and date_part: the constant first argument; else nullptr
};

inline constexpr FunctionInfo kFunctions[] = {
#define STROM_FUNCTION(name, pg_name, result, nargs, a, b, functor, traits) \
  {FunctionId::name, #name, pg_name, TypeId::result, nargs, {TypeId::a, TypeId::b, TypeId::kBool}, traits, nullptr},
#define STROM_FUNCTION3(name, pg_name, result, a, b, c, functor, traits) \
  {FunctionId::name, #name, pg_name, TypeId::result, 3, {TypeId::a, TypeId::b, TypeId::c}, traits, nullptr},
#define STROM_EXTRACT(name, pg_name, result, source, field, functor, traits) \
  {FunctionId::name, #name, pg_name, TypeId::result, 1, {TypeId::source, TypeId::kBool, TypeId::kBool}, traits, field},
#include "registry/functions.def"
#undef STROM_FUNCTION
#undef STROM_FUNCTION3
#undef STROM_EXTRACT
};

constexpr int kFunctionCount = sizeof(kFunctions) / sizeof(kFunctions[0]);

/// Bits of a comparison: 1 where it is true for less, 2 for equal, 4 for greater; 0: no comparison.
constexpr int32_t compared_results(uint32_t traits) {
  return ((traits & kIsLess) != 0 ? 1 : 0) | ((traits & kIsEqual) != 0 ? 2 : 0) | ((traits & kIsGreater) != 0 ? 4 : 0);
}
constexpr bool is_equality(uint32_t traits) { return compared_results(traits) == 2; }

constexpr const FunctionInfo& function_info(FunctionId id) { return kFunctions[static_cast<int>(id)]; }

/// Where the engine finds a function's kernel: its group and its number among the group's rows.
struct FunctionPlace {
  FunctionGroup group;
  uint16_t member;
};

/// Indexed by FunctionId.
inline constexpr auto kFunctionPlaces = [] {
  std::array<FunctionPlace, kFunctionCount> places{};
  FunctionPlace next{};
  int row = 0;
#define STROM_BEGIN_GROUP(name) next = {FunctionGroup::name, 0};
#define STROM_FUNCTION(...) \
  places[row++] = next;     \
  ++next.member;
#define STROM_FUNCTION3(...) STROM_FUNCTION()
#define STROM_EXTRACT(...) STROM_FUNCTION()
#include "registry/functions.def"
#undef STROM_FUNCTION
#undef STROM_FUNCTION3
#undef STROM_EXTRACT
  return places;
}();

/// The row for pg_catalog function `pg_name` over `args`, or nullptr. varchar counts as text, as PostgreSQL relabels
/// it. `field`: lower-case constant field name for EXTRACT/date_part, empty for all other functions.
const FunctionInfo* find_function(std::string_view pg_name, const TypeId* args, int nargs, std::string_view field = {});

}  // namespace strom::registry
