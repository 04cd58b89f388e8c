// Collection of referenced columns.
#include "pg/catalog/referenced_columns.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"

namespace strom::pg::catalog {

Bitmapset* referenced_attributes(RelOptInfo* rel) {
  Bitmapset* attributes = nullptr;
  pull_varattnos(reinterpret_cast<Node*>(rel->reltarget->exprs), rel->relid, &attributes);
  ListCell* cell;
  foreach (cell, rel->baserestrictinfo) {
    auto* info = lfirst_node(RestrictInfo, cell);
    pull_varattnos(reinterpret_cast<Node*>(info->clause), rel->relid, &attributes);
  }
  return attributes;
}

std::vector<AttrNumber> user_columns(Oid relid, const Bitmapset* attributes) {
  std::vector<AttrNumber> columns;
  for (int member = -1; (member = bms_next_member(attributes, member)) >= 0;) {
    const int attnum = member + FirstLowInvalidHeapAttributeNumber;
    if (attnum == InvalidAttrNumber) return live_columns(relid);
    if (attnum > 0) columns.push_back(static_cast<AttrNumber>(attnum));
  }
  return columns;
}

}  // namespace strom::pg::catalog
