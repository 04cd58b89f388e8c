// PostGIS's functions that make a point from numbers.
#pragma once

#include <cstdint>
#include <cstring>

namespace strom::pg::planner {

/// A function with arguments x, y, the coordinates in `more` (of "z", "m"), and an SRID if `has_srid`.
struct PointMaker {
  const char* name;
  const char* more;
  bool has_srid;

  int coordinates() const { return 2 + static_cast<int>(std::strlen(more)); }
  int arguments() const { return coordinates() + (has_srid ? 1 : 0); }
};

constexpr PointMaker kPointMakers[] = {
    {"st_makepoint", "", false},   {"st_makepoint", "z", false}, {"st_makepoint", "zm", false},
    {"st_makepointm", "m", false}, {"st_point", "", false},      {"st_point", "", true},
    {"st_pointz", "z", true},      {"st_pointm", "m", true},     {"st_pointzm", "zm", true},
};

/// The PostGIS function with this unqualified name and number of arguments; nullptr if it is not one of these.
inline const PointMaker* point_maker(const char* name, int arguments) {
  for (const PointMaker& maker : kPointMakers)
    if (maker.arguments() == arguments && std::strcmp(maker.name, name) == 0) return &maker;
  return nullptr;
}

/// True for SRIDs that PostGIS accepts unchanged.
constexpr bool is_known_srid(int32_t srid) { return srid >= 0 && srid <= 999999; }

}  // namespace strom::pg::planner
