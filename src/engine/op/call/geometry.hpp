// Geometries of PostGIS: calls of registry/functions/geometry.def.
#pragma once

#include "engine/expr/geometry_make.hpp"
#include "engine/expr/geometry_relate.hpp"

#define STROM_GROUP geometry
#define STROM_GROUP_ROWS "registry/functions/geometry.def"
#include "engine/op/call/define_group.hpp"
