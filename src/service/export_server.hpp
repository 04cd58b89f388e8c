// The keeper of exports: holds the sealed memory files that sessions of the server hand it, and gives them to whoever
// names an identifier. One process of a server does this alone (src/pg/worker/export_keeper.cpp), so that files stay
// when sessions end, and so that a session that runs PL/Python can get its own files. One thread. docs/dev/python.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "service/export_protocol.hpp"
#include "service/sockets.hpp"

namespace strom::service {

class ExportServer {
 public:
  /// Listens at an address that nobody can guess. Processes of this one's user are trusted to say who owns what.
  static Result<std::unique_ptr<ExportServer>> open();

  /// The first part of its identifiers.
  const std::string& keeper() const { return keeper_; }
  /// Waits for messages, at most so long, and answers those that have come. Returns early on a signal.
  Status serve(int timeout_ms);
  /// No export, and no session that might have one.
  bool is_idle() const;

 private:
  struct Connection {
    Descriptor socket;
    bool is_trusted = false;
    int64_t until_ms = 0;  // of those that are not trusted: when it is closed
  };
  /// What several exports may share.
  struct Memory {
    Descriptor file, lease;
    std::string key;  // empty: none
  };
  struct Export {
    std::shared_ptr<const Memory> memory;
    ExportFacts facts;
    uint64_t connection = 0;  // 0: pinned
  };
  using Connections = std::map<uint64_t, Connection>;

  ExportServer() = default;
  void accept_some();
  bool answer(uint64_t number, Connection& connection);
  std::string answer_to(uint64_t number, const Connection& connection, Packet& packet, std::vector<int>* files);
  Result<std::string> put(uint64_t number, Packet& packet);
  Result<std::string> put_same(uint64_t number, std::string_view packet);
  Result<std::string> keep(uint64_t number, const PutExport& request, std::shared_ptr<const Memory> memory);
  Status drop(std::string_view packet, bool* found);
  std::string list(std::string_view packet) const;
  void close(Connections::iterator connection);

  std::string keeper_;
  Descriptor listener_;
  Connections connections_;
  std::map<std::string, Export> exports_;  // by secret
  uint64_t last_connection_ = 0;
  size_t most_exports_ = 0;
};

}  // namespace strom::service
