// What the catalogs say about a foreign table: its options and the columns that a query refers to, as plain C++ data.
// Read by fdw_arrow.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/codec/type_map.hpp"

namespace strom::pg::catalog {

struct Option {
  std::string name, value;
};

struct ForeignColumn {
  AttrNumber attnum = 0;
  std::string name;
  codec::SqlType type;
  std::vector<Option> options;
};

struct ForeignTable {
  Oid relid = InvalidOid;
  std::string name;  // without schema
  std::vector<Option> options;
  std::vector<ForeignColumn> columns;  // the requested columns, in the requested order
};

/// DefElem nodes as name and value; a value that is not a string comes out as its text. May throw.
std::vector<Option> read_options(List* options);

/// Reads the catalogs of foreign table `relid`, on which the caller holds a lock. May throw.
ForeignTable load_foreign_table(Oid relid, std::span<const AttrNumber> attnums);

/// User columns of relation `relid` that are not dropped, in order. May throw.
std::vector<AttrNumber> live_columns(Oid relid);

}  // namespace strom::pg::catalog
