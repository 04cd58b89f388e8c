// Values as statistics store them, as text for people.
#pragma once

#include <string>

#include "columnar/schema.hpp"

namespace strom::tool {

/// `stored` is what stands in the metadata: an integer. As PostgreSQL prints the value; as it stands when it cannot be
/// one.
std::string stored_value_text(const columnar::Field& field, const std::string& stored);

}  // namespace strom::tool
