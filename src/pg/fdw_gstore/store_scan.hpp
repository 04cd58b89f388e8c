// The state of a scan of a store table by PostgreSQL's executor, for those who change the rows that it finds. May
// ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::fdw_gstore {

struct DirectModify;

/// ForeignScanState::fdw_state: plain data.
struct StoreScan {
  store::Table* table;
  bool* wanted;          // of the table's columns
  DirectModify* modify;  // what becomes of the rows; nullptr: they are returned
  // By key:
  ExprState* value;
  Oid type;
  bool is_array, is_ready;  // the values are known
  Datum single;             // where it is no array
  Datum* keys;
  bool* null_keys;
  int key_count, next_key;
  MemoryContext key_memory;  // nullptr: no array yet
  // All rows:
  uint32_t used;   // slots when the scan began
  uint64_t chunk;  // the next one
  uint64_t current;
  uint32_t word, words;
  uint64_t left;   // of bits[word]
  uint64_t* bits;  // of `current`; nullptr: no chunk yet
};

inline StoreScan* scan_of(const ForeignScanState* node) { return static_cast<StoreScan*>(node->fdw_state); }

/// The next row that the snapshot sees; kNoSlot: there is none. Conditions other than the key's are not looked at.
store::Slot next_row(ForeignScanState* node, StoreScan* scan);

}  // namespace strom::pg::fdw_gstore
