#include "registry/functions.hpp"

#include <array>
#include <string>
#include <unordered_map>

namespace strom::registry {
namespace {

TypeId normalise(TypeId type) {
  return type == TypeId::kVarchar ? TypeId::kText : type == TypeId::kCidr ? TypeId::kInet : type;
}

std::string key_of(std::string_view name, const TypeId* args, int nargs, std::string_view field) {
  std::string key(name);
  for (int i = 0; i < nargs; ++i)
    key.append(1, '\1').append(1, static_cast<char>('A' + static_cast<int>(normalise(args[i]))));
  key.append(1, '\2').append(field);
  return key;
}

const std::unordered_map<std::string, const FunctionInfo*>& index() {
  static const auto* map = [] {
    auto* made = new std::unordered_map<std::string, const FunctionInfo*>;
    for (const FunctionInfo& row : kFunctions)
      made->emplace(key_of(row.pg_name, row.args, row.nargs, row.field ? row.field : ""), &row);
    return made;
  }();
  return *map;
}

}  // namespace

const FunctionInfo* find_function(std::string_view pg_name, const TypeId* args, int nargs, std::string_view field) {
  auto found = index().find(key_of(pg_name, args, nargs, field));
  return found == index().end() ? nullptr : found->second;
}

}  // namespace strom::registry
