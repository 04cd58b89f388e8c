// jsonb values in PostgreSQL's binary form, put together from parts: for tests of the functions that read them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace strom::engine::test {

/// A value: a scalar or a container.
struct Json {
  enum Kind : uint8_t { kString, kNumber, kFalse, kTrue, kNull, kArray, kObject };
  Kind kind = kNull;
  std::string bytes{};           // of a string; of a number its decimal digits, with a sign and a point
  std::vector<Json> elements{};  // of an array
  std::vector<std::pair<std::string, Json>> members{};  // of an object, in any order, without equal keys
};

/// The root container, as PostgreSQL forms it.
std::string form_json(const Json& value);

/// Random values, up to `depth` containers inside one another.
Json random_json(std::mt19937_64& random, int depth);

}  // namespace strom::engine::test
