// The memory store's part of the server's own shared memory, and the files of this cluster in /dev/shm. The structure
// is so small that it needs no preloading.
#pragma once

#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/store/tokens.hpp"

namespace strom::pg::store {

/// The process that answers messages about tables of one database.
struct MessageServer {
  Oid database;      // InvalidOid: the place is free
  int64_t wanted;    // TimestampTz when a client last got its place
  char socket[108];  // path; empty: the process is starting or ending
  int port;          // the TCP port on which it listens; 0: none
};

inline constexpr int kMostMessageServers = 32;  // databases served at the same time

struct MessageServers {
  slock_t mutex;
  MessageServer places[kMostMessageServers];
};

struct Control {
  uint64_t incarnation;  // random; distinguishes runs of the server, also after crashes
  int tranche;           // of LWLocks
  int worker;            // process id of the background worker; 0: none
  int has_recovered;     // 1: every database has been looked at, see recovery_worker.hpp
  uint32_t rights_done;  // processes that have looked at the readers of a database, see rights_worker.hpp
  char socket[108];      // path of the socket that hands out published regions; empty: none
  Tokens tokens;
  MessageServers message_servers;
};

/// The store's shared structure. The first session of a run makes it, and removes the memory of earlier runs. May
/// throw.
Control* control();

inline constexpr const char* kMemoryFolder = "/dev/shm";

/// The path of a table's memory; without `database` the table is of this database. May throw.
std::string memory_path(Oid database, Oid relid);
std::string memory_path(Oid relid);

/// True if a table of this database has memory; without memory it has no region. May ereport.
bool has_memory(Oid relid);

/// The paths of the memory of all tables of this cluster. May throw.
std::vector<std::string> memory_of_cluster();
/// Removes a table's memory file and its published regions. May throw.
void remove_memory(const std::string& path);

/// The database to which a path of memory_of_cluster() belongs.
Oid database_of_memory(const std::string& path);
Oid relation_of_memory(const std::string& path);
/// The tables of a database that have memory. May throw.
std::vector<Oid> tables_with_memory(Oid database);

}  // namespace strom::pg::store
