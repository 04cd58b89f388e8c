// Answers messages of all clients together: up to 256 of them share one transaction and one flush of the logs. A
// message that fails does not affect the others. All of it may throw.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "pg/kv_server/clients.hpp"
#include "pg/kv_server/operations.hpp"
#include "pg/store/published.hpp"
#include "rdma/server.hpp"

namespace strom::pg::kv_server {

inline constexpr size_t kMostTogether = 256;

/// A message that waits for its answer. `request` points into the client's input.
struct Operation {
  Client* client = nullptr;
  size_t bytes = 0;  // length of its frame
  message::Request request;
  bool is_read = true;
  bool is_answered = false;
  std::string answer;  // as frames
};

/// A right that a role was found to have.
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
  using Clock = std::chrono::steady_clock;

  /// `rdma`: nullptr if RDMA is not in use.
  Groups(Clients* clients, rdma::Server* rdma) : clients_(clients), rdma_(rdma) {}

  /// Answers complete messages. False: there are none.
  bool answer_some();
  /// True if received messages are still unanswered.
  bool has_left() const { return has_left_; }

 private:
  void admit(Client* client);
  void take_from(Client* client, size_t most);
  void run();
  bool waits_for_read(size_t begin, size_t operation) const;
  const char* explain(const Verdict& verdict) const;
  bool run_transaction(size_t begin, size_t end, bool is_alone);
  bool execute_all(size_t begin, size_t end, Clock::time_point start, size_t* executed);
  bool take_more(Clock::time_point start);
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
  size_t answered_ = 0;    // bytes of this round's answers
  size_t changes_ = 0;     // in the transaction
  size_t next_fetch_ = 0;  // the change before which rows are fetched
  std::vector<Operation> operations_;
  std::vector<OpenTable> tables_;                       // opened in the transaction
  std::vector<std::pair<Oid, Verdict>> failed_tables_;  // in this call of answer_some()
  std::vector<Right> rights_;                           // found in the transaction
  Operation* current_ = nullptr;
  store::rows::Cell sought_;        // the key of the row that it changes; NULL: it has not come so far
  MemoryContext memory_ = nullptr;  // for one call of answer_some()
};

}  // namespace strom::pg::kv_server
