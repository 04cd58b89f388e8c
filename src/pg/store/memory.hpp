// The memory of a store table, which all sessions map, and what this session knows of it. The memory is a file of its
// own in /dev/shm, so that no setting has to ask for it when the server starts. It is made from base file and redo log
// by the first session that uses the table, and is worth nothing to the next run of the server.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/store/columns.hpp"
#include "pg/store/options.hpp"
#include "store/log/redo_file.hpp"
#include "store/region/writer.hpp"
#include "store/rows/rows.hpp"

namespace strom::pg::store {

namespace log = ::strom::store::log;
using rows::Slot;

/// What becomes of the memory. Numbers, since other processes read them.
enum class MemoryState : uint32_t { kBuilding = 0, kReady = 1, kDropped = 2 };

/// The redo log's end, in memory. Positions as in log::RedoFile.
struct LogState {
  uint64_t appended;  // under kAppendLock
  uint64_t written;   // in the file; under kFlushLock
  uint64_t durable;   // on the device; under kFlushLock
  uint64_t base;      // records before it are in the base file
  uint64_t wal;       // the server's own log has to be flushed up to here before `appended` is written
  uint32_t failed;    // the file could not be synchronized: nothing commits before the next checkpoint
};

inline constexpr uint64_t kLogBuffer = 1 << 20;

/// Locks in the memory, in the order in which a session takes them.
enum : int {
  kGate,         // shared from before a transaction's redo is appended until it has ended; exclusive: checkpoints
  kRegionLock,   // the published region, and the moment in which a transaction's rows are published
  kFirstBucket,  // kBucketLocks of them, for the key's index
  kBucketLocks = 256,
  kSlotsLock = kFirstBucket + kBucketLocks,
  kHeapLock,
  kFlushLock,
  kAppendLock,
  kLockCount
};

inline constexpr uint32_t kMostReaders = 64;

/// The memory's first bytes.
struct Shared {
  uint64_t magic;
  uint32_t version, state;
  uint64_t incarnation;  // of the server's shared memory
  uint64_t layout;       // hash of what the layout depends on
  Oid database, relation;
  char base_file[MAXPGPATH], redo_file[MAXPGPATH], name[NAMEDATALEN];
  uint64_t store_id;
  uint64_t row_count;            // rows that are not ended, those of running transactions included
  uint64_t oldest_xid;           // of versions that are not frozen, with its epoch; a lower limit
  uint32_t region, last_region;  // numbers: of the published region, 0 = none; of the last one that there was
  uint32_t reader_count;         // roles in `readers`; more than kMostReaders: others, too. Under kRegionLock
  Oid readers[kMostReaders];     // that may have the region mapped
  rows::RowsState rows;
  LogState log;
  ::strom::store::region::WriterState region_writer;  // under kRegionLock
  LWLockPadded locks[kLockCount];
};

struct Region;

/// Versions that this session's last transactions have ended. It frees them when nobody sees them any more.
struct EndedVersions {
  static constexpr uint32_t kMost = 512, kEnough = 16;
  Slot slots[kMost];
  uint32_t count = 0, next_look = kEnough;
};

/// A table as this session has it mapped. Lives as long as the session, or until the table's memory is another one.
struct Table {
  Oid relid;
  char name[NAMEDATALEN];
  Options options;
  std::vector<StoreColumn> columns;
  rows::Shape shape;
  rows::Layout layout;
  log::RedoFile redo;
  int descriptor = -1;
  uint8_t* memory = nullptr;
  Shared* shared = nullptr;
  rows::Rows* rows = nullptr;
  Region* region = nullptr;  // see published.hpp
  bool is_stale = false;     // the catalogs may say something else
  EndedVersions ended;

  int key() const { return shape.key; }
  LWLock* lock(int which) const { return &shared->locks[which].lock; }
  LWLock* bucket_lock(uint64_t bucket) const { return lock(kFirstBucket + static_cast<int>(bucket % kBucketLocks)); }
  /// The lock under which a version's transactions change.
  LWLock* lock_of_version(Slot slot) const { return bucket_lock(key() >= 0 ? rows->bucket_of(slot) : slot); }
  uint8_t* log_buffer() const { return memory + sizeof(Shared); }
};

inline constexpr uint64_t kMemoryMagic = 0x314D454D54535024, kHeaderBytes = sizeof(Shared) + kLogBuffer;
inline constexpr uint32_t kMemoryVersion = 5;

/// A foreign table of the wrapper gstore_fdw. May ereport.
bool is_store_table(Relation relation);

/// The table, mapped. The caller has a lock on the relation. May ereport.
Table* open_table(Relation relation);

/// The identity of files of this table that are made now. May throw.
log::Identity new_identity(Oid relid);

/// Removes files of a table that is gone. The memory is no longer used. Neither throws nor raises.
void remove_files(const std::string& base_file, const std::string& redo_file, const std::string& memory);

}  // namespace strom::pg::store
