// The memory of a store table, which all sessions map, and this session's state of it. The memory is a file in
// /dev/shm, so no setting has to reserve it when the server starts. The first session that uses the table makes the
// memory from base file and redo log. The next run of the server does not use it.
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

/// The state of the memory. The numbers are fixed, because other processes read them.
enum class MemoryState : uint32_t { kBuilding = 0, kReady = 1, kDropped = 2 };

/// The end of the redo log, in memory. Positions as in log::RedoFile.
struct LogState {
  uint64_t appended;  // end of the appended records; under kAppendLock
  uint64_t written;   // end of what is in the file; under kFlushLock
  uint64_t durable;   // end of what is on the device; under kFlushLock
  uint64_t base;      // records before it are in the base file
  uint64_t reserved;  // bytes that commits have reserved in the ring and not appended yet
  uint64_t wal;       // the server's WAL must be flushed up to here before `appended` is written
  uint32_t failed;    // fsync has failed: nothing commits before the next checkpoint
  uint32_t has_ids;   // 1: rows of the base file name transactions
  uint64_t is_stuck;  // 1: what is in the buffer could not be written to the file; under kFlushLock
};

/// When the columns' copies in the memory of GPUs are brought up to date, see gpu_copies.hpp. Positions of the redo
/// log.
struct GpuCopies {
  int64_t used_at;     // TimestampTz when a query last used copies; 0: never
  uint64_t interval;   // microseconds; as the query found the table's options
  uint64_t threshold;  // bytes of redo; likewise
  uint64_t begun;      // the end of the log when a process was last started
  int64_t begun_at;    // TimestampTz
  uint64_t done;       // the copies have what was appended before
};

inline constexpr uint64_t kLogBuffer = 4 << 20;  // holds any record: log::kMaxRecord

/// Locks in the memory. A session takes them in this order.
enum : int {
  kGateTurn,     // of kGate: see turns.hpp
  kGate,         // shared from before a transaction's redo is appended until it ends; exclusive: checkpoints
  kFreezeLock,   // freeing pages of versions, which one process does at a time
  kVersionTurn,  // of kVersionLock
  kVersionLock,  // shared: reading versions without the lock of their bucket
  kRegionLock,   // the published region, and publishing the rows of a transaction
  kFirstBucket,  // kBucketLocks of them, for the index of the key
  kBucketLocks = 256,
  kPageLock = kFirstBucket + kBucketLocks,  // taking and freeing pages of versions
  kSlotsLock,
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
  uint64_t incarnation;  // of the server's shared memory, see Control
  uint64_t layout;       // hash of everything that the layout depends on
  Oid database, relation;
  char base_file[MAXPGPATH], redo_file[MAXPGPATH], name[NAMEDATALEN];
  uint64_t store_id;
  uint64_t row_count;            // rows that are not ended, including rows of running transactions
  uint64_t oldest_xid;           // lower limit for versions that are not frozen; with epoch
  uint32_t region, last_region;  // numbers: of the published region, 0 = none; of the last one ever
  uint32_t lacks_region;         // 1: the region has been lost, and may have to be made again
  uint32_t reader_count;         // roles in `readers`; above kMostReaders: too many to list. Under kRegionLock
  Oid readers[kMostReaders];     // roles that may have mapped the region
  uint32_t wanted[2];            // 1: somebody has the turn of kGate, of kVersionLock
  rows::RowsState rows;
  LogState log;
  GpuCopies gpu;                                      // atomic
  ::strom::store::region::WriterState region_writer;  // under kRegionLock
  LWLockPadded locks[kLockCount];
};

struct Region;

/// Versions that this session's last transactions have ended. The session frees them when nobody sees them any more.
struct EndedVersions {
  static constexpr uint32_t kMost = 512, kEnough = 16;
  Slot slots[kMost];
  uint32_t count = 0, next_look = kEnough;
};

/// A table as mapped by this session. Lives until the session ends or the table's memory is replaced.
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
  bool is_stale = false;     // the catalogs may have changed
  EndedVersions ended;
  // Of the worker: see free_pages(), and run_for().
  TransactionId rest = 0;
  TimestampTz failed_at = 0, told_at = 0;

  int key() const { return shape.key; }
  /// Only for tables with a key.
  const StoreColumn& key_column() const { return columns[static_cast<size_t>(shape.key)]; }
  /// True if the table is gone. Most of the memory is a hole then, which reads as zeros.
  bool is_dropped() const {
    return __atomic_load_n(&shared->state, __ATOMIC_SEQ_CST) == static_cast<uint32_t>(MemoryState::kDropped);
  }
  LWLock* lock(int which) const { return &shared->locks[which].lock; }
  LWLock* bucket_lock(uint64_t bucket) const { return lock(kFirstBucket + static_cast<int>(bucket % kBucketLocks)); }
  /// The lock that protects changes of a version's transactions.
  LWLock* lock_of_version(Slot slot) const { return bucket_lock(key() >= 0 ? rows->bucket_of(slot) : slot); }
  uint8_t* log_buffer() const { return memory + sizeof(Shared); }
};

inline constexpr uint64_t kMemoryMagic = 0x314D454D54535024, kHeaderBytes = sizeof(Shared) + kLogBuffer;
inline constexpr uint32_t kMemoryVersion = 14;

/// True for a foreign table of the wrapper gstore_fdw. May ereport.
bool is_store_table(Relation relation);
bool is_store_table(Oid foreign_table);

/// The mapped table. The caller holds a lock on the relation. May ereport.
Table* open_table(Relation relation);

/// The identity for new files of this table. May throw.
log::Identity new_identity(Oid relid);

/// Removes the files of a table of this database that is gone, and marks its memory as dropped. Files of other tables,
/// which a copy of the database names as well, stay. Neither throws nor raises.
void remove_files(Oid relid, const std::string& base_file, const std::string& redo_file, const std::string& memory);

}  // namespace strom::pg::store
