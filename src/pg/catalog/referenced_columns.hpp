// The columns of a table that a scan has to read. Used by the planning of foreign scans and by the planner of the
// engine's nodes.
#pragma once

#include <vector>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::catalog {

/// Attributes of `rel` that its target list and restriction clauses refer to, as pull_varattnos numbers them (offset by
/// FirstLowInvalidHeapAttributeNumber). May ereport.
Bitmapset* referenced_attributes(RelOptInfo* rel);

/// The user columns in a set of referenced_attributes(), in order; a whole-row reference means all live columns. May
/// throw.
std::vector<AttrNumber> user_columns(Oid relid, const Bitmapset* attributes);

}  // namespace strom::pg::catalog
