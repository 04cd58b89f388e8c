// Foreign tables over Arrow and Parquet files. See docs/dev/arrow.md. Used by table/kinds.cpp.
#pragma once

#include "pg/table/table_kind.hpp"

namespace strom::pg::table {

const TableKind& arrow_kind();

}  // namespace strom::pg::table
