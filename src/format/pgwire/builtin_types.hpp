// The Arrow types of PostgreSQL's built-in types, and how their values are read: the same for pg2arrow, which gets
// values from the wire, and for the server, which has them as Datums. See docs/format/arrow.md.
#pragma once

#include <cstdint>
#include <string>

#include "columnar/schema.hpp"
#include "format/pgwire/copy_decoder.hpp"

namespace strom::format::pgwire {

/// How numeric columns are written that have no precision, or more digits than decimals have.
struct NumericChoice {
  enum class As : uint8_t { kDecimal, kText, kReal };
  As as = As::kDecimal;
  int32_t precision = 36, scale = 9;
  bool may_round = false;  // kReal: false: numbers that a double cannot hold are an error
};

/// OID of the type text, which never changes.
inline constexpr uint32_t kTextType = 25;

/// Sets the type of `field`, and `wire.wire`. False, and nothing is set, for types that are written as text.
/// `timezone`: for columns of timestamptz.
bool set_builtin_type(uint32_t type, int32_t modifier, const NumericChoice& numeric, const std::string& timezone,
                      columnar::Field& field, WireColumn& wire);

/// The Arrow time zone for a setting of TimeZone: the setting itself if it is an IANA name, which readers know;
/// otherwise UTC.
std::string arrow_timezone(const std::string& setting);

}  // namespace strom::format::pgwire
