// Catalog look-ups for foreign tables.
#include "pg/catalog/foreign_table.hpp"

#include "pg/boundary/boundary.hpp"

namespace strom::pg::catalog {

using boundary::guard;

std::vector<Option> read_options(List* options) {
  std::vector<Option> result;
  ListCell* cell;
  foreach (cell, options) {
    auto* element = static_cast<DefElem*>(lfirst(cell));
    const char* value = guard([element] { return defGetString(element); });
    result.push_back({element->defname, value});
  }
  return result;
}

ForeignTable load_foreign_table(Oid relid, std::span<const AttrNumber> attnums) {
  ForeignTable table;
  table.relid = relid;
  table.name = guard([relid] { return get_rel_name(relid); });
  table.options = read_options(guard([relid] { return GetForeignTable(relid)->options; }));
  table.columns.reserve(attnums.size());
  for (AttrNumber attnum : attnums) {
    struct Attribute {
      const char* name;
      Oid type;
      int32 typmod;
      Oid collation;
      List* options;
    };
    const auto attribute = guard([relid, attnum] {
      Attribute a;
      a.name = get_attname(relid, attnum, false);
      get_atttypetypmodcoll(relid, attnum, &a.type, &a.typmod, &a.collation);
      a.options = GetForeignColumnOptions(relid, attnum);
      return a;
    });
    table.columns.push_back(
        {attnum, attribute.name, {attribute.type, attribute.typmod}, read_options(attribute.options)});
  }
  return table;
}

std::vector<AttrNumber> live_columns(Oid relid) {
  struct Columns {
    AttrNumber* attnums;
    int count;
  };
  const auto columns = guard([relid] {
    Relation relation = table_open(relid, NoLock);
    TupleDesc desc = RelationGetDescr(relation);
    Columns c{static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * (desc->natts + 1))), 0};
    for (int i = 0; i < desc->natts; ++i)
      if (!TupleDescAttr(desc, i)->attisdropped) c.attnums[c.count++] = static_cast<AttrNumber>(i + 1);
    table_close(relation, NoLock);
    return c;
  });
  return {columns.attnums, columns.attnums + columns.count};
}

}  // namespace strom::pg::catalog
