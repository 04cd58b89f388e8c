// Messages of all clients that have come, answered together: one transaction, and one flush of the logs, for up to 256
// of them. Each has a fate of its own: what fails alone does not take the others with it. All of it may throw.
#pragma once

#include <string>
#include <vector>

#include "pg/kv_server/clients.hpp"
#include "pg/kv_server/operations.hpp"
#include "pg/store/published.hpp"
#include "rdma/server.hpp"

namespace strom::pg::kv_server {

inline constexpr size_t kMostTogether = 256;

/// A message that waits for its answer. The request points into the client's input.
struct Operation {
  Client* client = nullptr;
  size_t bytes = 0;  // of its frame
  message::Request request;
  bool is_read = true;
  bool is_answered = false;
  std::string answer;  // frames
};

/// What a role has been found to be allowed.
struct Right {
  Oid relation, role;
  message::Kind kind;

  bool operator==(const Right&) const = default;
};

/// Counts since the server was started.
struct Counts {
  uint64_t operations = 0, groups = 0, failures = 0;
};

class Groups {
 public:
  /// `rdma`: nullptr where there is none.
  Groups(Clients* clients, rdma::Server* rdma) : clients_(clients), rdma_(rdma) {}

  /// Takes messages that are whole and answers them. False: there are none.
  bool answer_some();
  /// Whether there is more to answer from what has come.
  bool has_left() const { return has_left_; }

 private:
  void admit(Client* client);
  void take_from(Client* client, size_t most);
  void run();
  bool run_transaction(size_t begin, size_t end, bool is_alone);
  void execute(Operation* operation);
  void fetch_rows(const OpenTable& open, const Operation* first) const;
  Verdict find_right(const store::Grant& grant, message::Kind kind);
  void greet(const OpenTable& open, Operation* operation);
  void read(const OpenTable& open, Operation* operation);
  void offer(const OpenTable& open, Operation* operation);
  void offer_rings(Operation* operation);
  void fail(Operation* operation, const Verdict& verdict);
  void deliver();

  Clients* clients_;
  rdma::Server* rdma_;
  Counts counts_;
  int last_client_ = -1;
  bool has_left_ = false;
  size_t changes_ = 0;  // of the transaction
  std::vector<Operation> operations_;
  std::vector<OpenTable> tables_;                       // of the transaction
  std::vector<std::pair<Oid, Verdict>> failed_tables_;  // of the group
  std::vector<Right> rights_;                           // of the transaction
  Operation* current_ = nullptr;
  MemoryContext memory_ = nullptr;  // of the group
};

}  // namespace strom::pg::kv_server
