// Heavyweight locks of a store table, beside the one that PostgreSQL has for each relation.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::store {

/// Each is a kind of lock of its own. 1 and 2 are advisory locks of SQL.
enum class TableLock : uint16 {
  kMemory = 5,      // while the memory is made
  kCheckpoint = 6,  // while a checkpoint is made
  kAttaching = 7,   // shared: to attach a client, exclusive: to revoke rights
};

inline LOCKTAG tag_of(TableLock lock, Oid database, Oid relation) {
  LOCKTAG tag;
  constexpr uint32 kOurs = 0x53544F52;
  SET_LOCKTAG_ADVISORY(tag, database, kOurs, relation, static_cast<uint16>(lock));
  return tag;
}

}  // namespace strom::pg::store
