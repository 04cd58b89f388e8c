// Published regions that clients on other machines read by RDMA: the server's half. It lives in a module of its own,
// pg_strom_rdma.so, so that the extension does without librdmacm and libibverbs. docs/dev/store.md has the design.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "store/message/message.hpp"

namespace strom::rdma {

/// A client that may read one region. Its end is the end of its connection.
class Peer {
 public:
  virtual ~Peer() = default;
};

/// The file of a region, which is mapped for as long as it has peers.
struct RegionFile {
  uint64_t id;     // region::Header::region_id
  int descriptor;  // open for reading and writing; used in the call alone
  uint64_t bytes;
};

/// Of one thread. Its calls may throw std::bad_alloc.
class Server {
 public:
  virtual ~Server() = default;

  /// Readable when serve() has something to do.
  virtual int descriptor() const = 0;

  /// Takes connections, notices those that have ended, and gives back regions that are not a table's any more.
  virtual void serve() = 0;

  /// What a client has to know. `peer` is made at the first call for a client; from the first call after it has
  /// connected on, the region's memory is registered as far as it is in use, and the answer has its segments.
  /// Errors: kIoError, kOutOfMemory (the limit of locked memory, for the most part).
  virtual Result<store::message::FarMemory> offer(const RegionFile& region, std::shared_ptr<Peer>* peer) = 0;
};

/// The module's one symbol. Listens on numeric or named addresses, at a port; `complaints` has a line for each address
/// that has no RDMA device. nullptr: there is none at all.
inline constexpr const char* kEntry = "strom_rdma_open";
using Open = Server* (*)(const std::vector<std::string>& addresses, int port, std::vector<std::string>* complaints);

}  // namespace strom::rdma
