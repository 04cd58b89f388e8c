// Store tables, of the foreign-data wrapper gstore_fdw. See docs/dev/store.md. Used by table/kinds.cpp.
#pragma once

#include "pg/table/table_kind.hpp"

namespace strom::pg::table {

const TableKind& store_kind();

}  // namespace strom::pg::table
