// What the memory store has in the server's own shared memory, and the files in /dev/shm of this cluster. The structure
// is so small that it needs no preloading.
#pragma once

#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/store/tokens.hpp"

namespace strom::pg::store {

/// The process that answers messages about tables of a database.
struct MessageServer {
  Oid database;      // InvalidOid: the place is free
  int64_t wanted;    // TimestampTz: when a client was last told of it
  char socket[108];  // path; empty: it is coming or going
  int port;          // where it listens by TCP; 0: it does not
};

inline constexpr int kMostMessageServers = 32;  // databases whose tables are asked about at the same time

struct MessageServers {
  slock_t mutex;
  MessageServer places[kMostMessageServers];
};

struct Control {
  uint64_t incarnation;  // random: tells runs of the server apart, crashes included
  int tranche;           // of LWLocks
  int worker;            // process id of the background worker; 0: none
  char socket[108];      // path where the worker hands out published regions; empty: nowhere
  Tokens tokens;
  MessageServers message_servers;
};

/// The first session of a run makes it, and removes the memory of earlier runs. May throw.
Control* control();

inline constexpr const char* kMemoryFolder = "/dev/shm";

/// Path of the memory of a table, of this database if none is named. May throw.
std::string memory_path(Oid database, Oid relid);
std::string memory_path(Oid relid);

/// Paths of the memory of all tables of this cluster. May throw.
std::vector<std::string> memory_of_cluster();
/// Removes such a file, and the table's published regions. May throw.
void remove_memory(const std::string& path);

/// The database that a path of memory_of_cluster() belongs to.
Oid database_of_memory(const std::string& path);

}  // namespace strom::pg::store
