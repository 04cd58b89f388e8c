// Tables of PostgreSQL's heap access method. See docs/dev/heap.md. Used by table/kinds.cpp.
#pragma once

#include "pg/table/table_kind.hpp"

namespace strom::pg::table {

const TableKind& heap_kind();

}  // namespace strom::pg::table
