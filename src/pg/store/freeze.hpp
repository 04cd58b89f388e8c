// Frees the memory of versions that everybody sees. All functions may ereport.
#pragma once

#include "pg/boundary/boundary.hpp"
#include "pg/store/memory.hpp"

namespace strom::pg::store {

enum class Freezes {
  kAll,
  kMost,  // where most pages of a chunk can be freed
};

/// Frees and freezes the versions of pages that no transaction from `rest` on has changed, and frees these pages. The
/// caller has a transaction with a snapshot. If `relation` is nullptr, fewer versions are known to be invisible.
void freeze(Table* table, Relation relation, TransactionId rest, Freezes freezes);

/// True if freeze() has something to do.
bool has_pages_at_rest(const Table* table, TransactionId rest, Freezes freezes);

/// Called after rows::Rows::begin_change(). True: the page of the version is present until the change is finished.
/// False, with `error`: there is no memory for it.
bool hold_page(Table* table, Slot slot, boundary::RaisableError* error);

}  // namespace strom::pg::store
