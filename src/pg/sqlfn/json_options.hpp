// Reads options that SQL functions get as a jsonb object.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::sqlfn {

/// The keys with their values as text, in jsonb's order; nested values are empty. May throw: kInvalidParameter if
/// `jsonb` is not an object.
std::vector<std::pair<std::string, std::string>> json_options(Datum jsonb);

/// "true" or "false". May throw: kInvalidParameter.
bool truth_option(const std::string& name, const std::string& value);

}  // namespace strom::pg::sqlfn
