// The state of a scan of a store table by PostgreSQL's executor, as used by code that changes the rows it finds.
// May ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::fdw_gstore {

struct DirectModify;

/// ForeignScanState::fdw_state: plain data.
struct StoreScan {
  store::Table* table;
  bool* wanted;          // for each of the table's columns
  DirectModify* modify;  // changes the rows; nullptr: they are returned
  // For scans by key:
  ExprState* value;
  Oid type;
  bool is_array, is_ready;  // is_ready: the values are evaluated
  Datum single;             // the value, if it is not an array
  Datum* keys;
  bool* null_keys;
  int key_count, next_key;
  store::Slot last;          // the last version found; kNoSlot: begin with the next key
  MemoryContext key_memory;  // nullptr: no array was evaluated yet
  // For scans of all rows:
  uint32_t used;   // slots in use when the scan began
  uint64_t chunk;  // the next one
  uint64_t current;
  uint32_t word, words;
  uint64_t left;   // the rest of bits[word]
  uint64_t* bits;  // visible rows of chunk `current`; nullptr: no chunk yet
};

inline StoreScan* scan_of(const ForeignScanState* node) { return static_cast<StoreScan*>(node->fdw_state); }

/// The next row that the snapshot sees; kNoSlot at the end. Checks no conditions except the one on the key.
store::Slot next_row(ForeignScanState* node, StoreScan* scan);

}  // namespace strom::pg::fdw_gstore
