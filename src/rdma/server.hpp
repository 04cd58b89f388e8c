// The server's side of RDMA: clients on other machines read published regions. It is a module of its own,
// pg_strom_rdma.so, so that the extension does not depend on librdmacm and libibverbs. docs/dev/store.md has the
// design.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "store/message/message.hpp"

namespace strom::rdma {

/// A client that may read one region. Destroying it ends its connection.
class Peer {
 public:
  virtual ~Peer() = default;
};

/// The file of a region. It stays mapped as long as it has peers.
struct RegionFile {
  uint64_t id;     // region::Header::region_id
  int descriptor;  // open for reading and writing; only used during the call
  uint64_t bytes;
};

/// For use by one thread. Calls may throw std::bad_alloc.
class Server {
 public:
  virtual ~Server() = default;

  /// Readable when serve() has work.
  virtual int descriptor() const = 0;

  /// Accepts connections, notices ended ones, and releases regions that do not belong to a table any more.
  virtual void serve() = 0;

  /// The facts that a client needs. The first call for a client makes `peer`. From the first call after the client has
  /// connected, the used part of the region's memory is registered, and the answer has its segments. Errors: kIoError,
  /// kOutOfMemory (usually the limit of locked memory).
  virtual Result<store::message::FarMemory> offer(const RegionFile& region, std::shared_ptr<Peer>* peer) = 0;
};

/// The module's only symbol. Listens on numeric or named addresses, at a port. `complaints` gets a line for each
/// address without an RDMA device. nullptr: no address has one.
/// that has no RDMA device. nullptr: there is none at all.
inline constexpr const char* kEntry = "strom_rdma_open";
using Open = Server* (*)(const std::vector<std::string>& addresses, int port, std::vector<std::string>* complaints);

}  // namespace strom::rdma
