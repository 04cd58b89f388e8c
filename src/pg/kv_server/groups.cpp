#include "pg/kv_server/groups.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/kv_server/region_bytes.hpp"
#include "pg/store/change.hpp"
#include "pg/store/published.hpp"
#include "pg/store/readers.hpp"
#include "pg/store/server_headers.hpp"
#include "store/region/reader.hpp"

namespace strom::pg::kv_server {

namespace {

using boundary::guard;
using message::Kind;
using message::Outcome;
constexpr auto kLongest = std::chrono::milliseconds(1);  // time for the changes of one transaction
constexpr int kTries = 3;                                // of all messages together, before each has its own
constexpr size_t kMostAnswer = 16 << 20;                 // bytes of rows in the answer to one message, or to many

bool is_read(Kind kind) { return kind != Kind::kPut && kind != Kind::kDelete && kind != Kind::kCompareAndSet; }

/// The text may repeat a value, which can be as long as a message.
std::string error_body(const Verdict& verdict) {
  constexpr int kMostBytes = 2000;
  const auto length = static_cast<int>(strlen(verdict.text));
  int kept = 0;
  const char* state = guard([&verdict, &kept, length] {
    kept = pg_mbcliplen(verdict.text, length, kMostBytes);
    return unpack_sql_state(verdict.sqlstate);
  });
  return std::string(state) + std::string(verdict.text, static_cast<size_t>(kept));
}

/// Turns the error that is being handled into an answer.
Verdict current_verdict() {
  const boundary::RaisableError error = boundary::describe_current_exception();
  if (error.original != nullptr) return verdict_of(error.original);
  ErrorData data{};
  data.sqlerrcode = error.sqlerrcode;
  data.message = const_cast<char*>(error.message);
  return verdict_of(&data);
}

bool is_asynchronous(const std::vector<OpenTable>& tables) {
  return std::all_of(tables.begin(), tables.end(),
                     [](const OpenTable& open) { return open.table->options.durability == store::Durability::kAsync; });
}

/// Commits. If all tables are asynchronous, the server's WAL is not waited for either: a crash may lose the last
/// changes.
void commit(const std::vector<OpenTable>& tables) {
  const int before = synchronous_commit;
  if (is_asynchronous(tables)) synchronous_commit = SYNCHRONOUS_COMMIT_OFF;
  try {
    guard([&tables] {
      for (const OpenTable& open : tables) table_close(open.relation, NoLock);
      PopActiveSnapshot();
      CommitTransactionCommand();
    });
  } catch (...) {
    synchronous_commit = before;
    throw;
  }
  synchronous_commit = before;
}

}  // namespace

void Groups::fail(Operation* operation, const Verdict& verdict) {
  operation->answer.clear();
  const message::Request& request = operation->request;
  const bool is_error = verdict.outcome > Outcome::kConflict;
  const std::string body = is_error ? error_body(verdict) : std::string();
  const size_t answers = request.kind == Kind::kGetMany ? request.keys.size() : 1;
  for (size_t i = 0; i < answers; ++i)
    message::append_answer({request.kind, verdict.outcome, request.tag, verdict.number, body}, &operation->answer);
  operation->is_answered = true;
  if (is_error) ++counts_.failures;
}

/// Checks the client's token.
void Groups::admit(Client* client) {
  message::Hello hello;
  if (client->input.size() < sizeof(hello)) {
    client->is_ending = client->has_hung_up;
    return;
  }
  std::memcpy(&hello, client->input.data(), sizeof(hello));
  client->input.erase(0, sizeof(hello));
  Verdict verdict;
  if (hello.magic != message::kMagic || hello.version != message::kVersion)
    verdict = {Outcome::kUnsupported, message::kVersion, ERRCODE_PROTOCOL_VIOLATION, "the version is not known"};
  else if (store::Grant* grant = &client->grant;
           !guard([&] { return store::use_token(hello.token, true, grant); }) || grant->database != MyDatabaseId)
    verdict = {Outcome::kRefused, message::kVersion, ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION,
               "the token is not known, has been used, or has expired"};
  if (verdict.outcome == Outcome::kDone) {
    client->is_admitted = true;
    return;
  }
  message::append_answer({Kind::kHello, verdict.outcome, 0, verdict.number, error_body(verdict)}, &client->output);
  client->is_ending = true;
}

/// Takes a client's messages, up to the first read that follows a write: such a read has to see the change.
void Groups::take_from(Client* client, size_t most) {
  if (!client->is_admitted && !client->is_ending) admit(client);
  if (!client->is_admitted || client->is_ending) return;
  if (!client->is_greeted) {
    Operation operation;
    operation.client = client;
    operation.request.kind = Kind::kHello;
    operations_.push_back(std::move(operation));
    client->is_greeted = true;
  }
  bool has_written = false;
  std::string_view rest = client->input;
  for (size_t i = 0; i < most && operations_.size() < kMostTogether; ++i) {
    auto found = message::find_frame(rest);
    if (!found.is_ok()) {
      if (i > 0) return;  // the answers to the messages before come first
      message::append_answer({Kind::kHello, Outcome::kBadRequest, 0, 0, "08P01" + found.status().message()},
                             &client->output);
      client->is_ending = true;
      return;
    }
    if (!found.value().has_value()) {
      client->is_ending = client->has_hung_up && i == 0;
      return;
    }
    const message::Frame& frame = *found.value();
    Operation operation;
    operation.client = client;
    operation.bytes = sizeof(message::Header) + frame.body.size();
    auto parsed = message::parse_request(frame);
    if (parsed.is_ok()) {
      operation.request = std::move(parsed).value();
      operation.is_read = is_read(operation.request.kind);
      if (operation.is_read && has_written) return;
      has_written = has_written || !operation.is_read;
    } else {
      if (has_written) return;  // the read's answer has to follow the writes
      operation.request.kind = static_cast<Kind>(frame.header.kind);
      operation.request.tag = frame.header.tag;
      operation.request.keys.resize(1);
      fail(&operation, {Outcome::kBadRequest, 0, ERRCODE_PROTOCOL_VIOLATION, parsed.status().message().c_str()});
    }
    rest.remove_prefix(operation.bytes);
    const bool is_long = operation.request.kind == Kind::kRead;  // its answer may be long
    operations_.push_back(std::move(operation));
    if (is_long) return;
  }
}

void Groups::greet(const OpenTable& open, Operation* operation) {
  message::append_answer(
      {Kind::kHello, Outcome::kDone, 0, message::kVersion, store::rows::encode_shape(open.table->shape)},
      &operation->answer);
  operation->is_answered = true;
}

/// Describes the region for RDMA. This process does not see what an RDMA client reads. So the client is recorded as a
/// reader, as by kv_attach(), and REVOKE makes a new region.
void Groups::offer(const OpenTable& open, Operation* operation) {
  if (rdma_ == nullptr)
    return fail(operation, {Outcome::kUnsupported, 0, ERRCODE_FEATURE_NOT_SUPPORTED,
                            "the server takes no connections by RDMA (pg_strom.kv_rdma)"});
  const store::Grant& grant = operation->client->grant;
  const Verdict verdict = guard([&] {
    store::lock_attaching(grant.relation, ShareLock);
    AcceptInvalidationMessages();
    const Verdict allowed = check_rights(grant, operation->request.kind);
    if (allowed.outcome != Outcome::kDone) return allowed;
    store::note_reader(open.table, grant.role);
    // Roles may have changed since: as in kv_attach().
    AcceptInvalidationMessages();
    return check_rights(grant, operation->request.kind);
  });
  if (verdict.outcome != Outcome::kDone) return fail(operation, verdict);
  const store::Region& region = *guard([&] { return store::region_of(open.table); });
  auto offered =
      rdma_->offer({region.writer.header().region_id, region.descriptor, region.bytes}, &operation->client->far);
  if (!offered.is_ok()) {
    const boundary::RaisableError error = boundary::describe(offered.status());
    return fail(operation, {Outcome::kFull, 0, error.sqlerrcode, error.message});
  }
  message::append_answer({Kind::kFarMemory, Outcome::kDone, operation->request.tag, region.number,
                          message::far_memory_body(offered.value())},
                         &operation->answer);
  operation->is_answered = true;
}

void Groups::offer_rings(Operation* operation) {
  if (!clients_->offer_rings(operation->client))
    return fail(operation, {Outcome::kUnsupported, 0, ERRCODE_FEATURE_NOT_SUPPORTED,
                            "there is no memory in place of this connection"});
  message::append_answer({Kind::kRings, Outcome::kDone, operation->request.tag, 0, {}}, &operation->answer);
  operation->is_answered = true;
}

/// Reads under the lock under which whole transactions are published, so that all rows belong to one moment.
void Groups::read(const OpenTable& open, Operation* operation) {
  namespace region = store::region;
  const message::Request& request = operation->request;
  store::Table* table = open.table;
  if (request.kind == Kind::kStatistics) {
    const std::string body =
        message::statistics_body({guard([table] { return store::region_of(table); })->writer.rows(),
                                  clients_->all().size(), counts_.operations, counts_.groups, counts_.failures});
    message::append_answer({request.kind, Outcome::kDone, request.tag, 0, body}, &operation->answer);
    operation->is_answered = true;
    return;
  }
  const store::Region* own = guard([table] { return store::region_of(table); });
  if (request.kind == Kind::kFarMemory) return offer(open, operation);
  if (request.kind == Kind::kRings) return offer_rings(operation);
  if (request.kind == Kind::kRead) {
    message::append_answer({request.kind, Outcome::kDone, request.tag, own->number, region_bytes(*own, request.ranges)},
                           &operation->answer);
    operation->is_answered = true;
    return;
  }
  region::Reader reader = boundary::value_or_throw(region::Reader::attach(own->memory, own->bytes));
  std::vector<uint64_t> buffer(512);
  guard([table] { LWLockAcquire(table->lock(store::kRegionLock), LW_SHARED); });
  bool is_too_much = false, is_gone = false;
  for (const std::string_view key : request.keys) {
    region::Value value;
    do {
      if (value.bytes > buffer.size() * sizeof(uint64_t)) buffer.resize(value.bytes / sizeof(uint64_t) + 1);
      value.buffer = buffer.data();
      value.capacity = buffer.size() * sizeof(uint64_t);
      value.result = reader.get({key.data(), key.size()}, value);
    } while (value.result == region::GetResult::kSmallBuffer);
    is_gone = is_gone || value.result == region::GetResult::kMoved || value.result == region::GetResult::kUnstable;
    const bool is_found = value.result == region::GetResult::kFound;
    is_too_much = is_too_much || operation->answer.size() + value.bytes > kMostAnswer;
    if (is_too_much) break;
    message::Answer answer{request.kind, Outcome::kNotFound, request.tag, 0, {}};
    if (is_found) {
      answer.outcome = Outcome::kDone;
      answer.number = value.generation | (value.has_nulls ? message::kHasNulls : 0);
      answer.body = {static_cast<const char*>(value.payload), value.bytes};
    }
    message::append_answer(answer, &operation->answer);
  }
  guard([table] { LWLockRelease(table->lock(store::kRegionLock)); });
  operation->is_answered = true;
  if (is_gone)
    return fail(operation, {Outcome::kGone, 0, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "the published region has to be made anew"});
  if (is_too_much)
    fail(operation, {Outcome::kTooLarge, 0, ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                     "the rows of one answer take more than 16 MB: ask for fewer keys at a time"});
}

/// Checks rights once for messages that come together, as an SQL statement does: they arrived before the check.
Verdict Groups::find_right(const store::Grant& grant, Kind kind) {
  const Right right{grant.relation, grant.role, kind};
  if (std::find(rights_.begin(), rights_.end(), right) != rights_.end()) return {};
  const Verdict verdict = guard([&] { return check_rights(grant, kind); });
  if (verdict.outcome == Outcome::kDone) rights_.push_back(right);
  return verdict;
}

/// Prefetches the memory of the rows that the messages from `first` on change, so that they do not wait for it one by
/// one.
void Groups::fetch_rows(const OpenTable& open, const Operation* first) const {
  store::rows::Cell keys[store::kFetchedTogether];
  int count = 0;
  const auto column = static_cast<size_t>(open.table->key());
  for (const Operation* at = first; at != operations_.data() + operations_.size(); ++at) {
    const message::Request& request = at->request;
    if (at->is_read || at->is_answered || at->client->grant.relation != open.table->relid) continue;
    if (request.kind == Kind::kDelete)
      keys[count++] = store::rows::cell_of(request.keys[0]);
    else if (request.fields.size() > column && request.fields[column].form == message::Form::kStored)
      keys[count++] = store::rows::cell_of(request.fields[column].bytes);
    if (count == store::kFetchedTogether) break;
  }
  if (count > 1) store::fetch_rows(open.table, keys, count);
}

void Groups::execute(Operation* operation) {
  const store::Grant& grant = operation->client->grant;
  const auto failed = std::find_if(failed_tables_.begin(), failed_tables_.end(),
                                   [&](const auto& entry) { return entry.first == grant.relation; });
  if (failed != failed_tables_.end()) return fail(operation, failed->second);
  auto known = std::find_if(tables_.begin(), tables_.end(),
                            [&](const OpenTable& open) { return open.table->relid == grant.relation; });
  if (known == tables_.end()) {
    OpenTable open{};
    Verdict verdict;
    try {
      verdict = guard([&] { return open_for(grant, &open); });
    } catch (...) {
      Verdict failed_verdict = current_verdict();
      const bool has_waited = failed_verdict.sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
      failed_verdict.text = guard([&] { return has_waited ? busy_text(nullptr, {}) : pstrdup(failed_verdict.text); });
      failed_tables_.emplace_back(grant.relation, failed_verdict);
      throw;
    }
    if (verdict.outcome != Outcome::kDone) return fail(operation, verdict);
    known = tables_.insert(tables_.end(), open);
  }
  const OpenTable& open = *known;
  const message::Request& request = operation->request;
  Verdict verdict = find_right(grant, request.kind);
  if (verdict.outcome != Outcome::kDone) return fail(operation, verdict);
  if (request.kind == Kind::kHello) return greet(open, operation);
  if (operation->is_read) return read(open, operation);
  if (XactReadOnly)
    return fail(operation, {Outcome::kFailed, 0, ERRCODE_READ_ONLY_SQL_TRANSACTION,
                            "rows cannot be changed: default_transaction_read_only is on"});
  if (changes_++ == next_fetch_) {
    fetch_rows(open, operation);
    next_fetch_ += store::kFetchedTogether;
  }
  verdict = guard([&] { return change(open, grant, request, &sought_); });
  fail(operation, verdict);
  // A change counts as answered only after the commit.
  operation->is_answered = verdict.outcome > Outcome::kConflict;
}

/// True if a read of the same client comes before the operation and has no answer yet.
bool Groups::waits_for_read(size_t begin, size_t operation) const {
  for (size_t i = begin; i < operation; ++i)
    if (operations_[i].client == operations_[operation].client && operations_[i].is_read && !operations_[i].is_answered)
      return true;
  return false;
}

/// What the current message's client is told about an error. PostgreSQL does not say what it has waited for.
const char* Groups::explain(const Verdict& verdict) const {
  if (current_ == nullptr || verdict.sqlstate != ERRCODE_LOCK_NOT_AVAILABLE) return pstrdup(verdict.text);
  const Oid relation = current_->client->grant.relation;
  for (const auto& [failed, its_verdict] : failed_tables_)
    if (failed == relation) return its_verdict.text;
  const auto open =
      std::find_if(tables_.begin(), tables_.end(), [&](const OpenTable& one) { return one.table->relid == relation; });
  return open == tables_.end() || sought_.is_null ? pstrdup(verdict.text) : busy_text(&*open, sought_);
}

/// Executes the operations, the reads first. `executed` is set behind the last change. False: some are left, because
/// the answers are long enough or the transaction is.
bool Groups::execute_all(size_t begin, size_t end, Clock::time_point start, size_t* executed) {
  bool is_whole = true;
  next_fetch_ = changes_;
  for (const bool reads : {true, false})
    for (size_t i = begin; i < end; ++i) {
      Operation& operation = operations_[i];
      if (operation.is_answered || operation.is_read != reads) continue;
      // The rest has its turn when these answers have been sent.
      const bool is_too_much = answered_ > kMostAnswer && (reads || waits_for_read(begin, i));
      if (is_too_much || (!reads && changes_ != 0 && Clock::now() - start > kLongest)) {
        is_whole = false;
        break;
      }
      current_ = &operation;
      sought_ = {};
      MemoryContext before = MemoryContextSwitchTo(memory_);
      execute(&operation);
      MemoryContextSwitchTo(before);
      answered_ += operation.answer.size();
      if (!reads) *executed = i + 1;
    }
  current_ = nullptr;
  return is_whole;
}

/// Takes messages that have come since the transaction began, of clients that have none in it: a commit costs more than
/// several changes. These messages have to see what was committed before they were sent, rights included.
bool Groups::take_more(Clock::time_point start) {
  const size_t before = operations_.size();
  // A table that failed may have become usable since.
  if (!failed_tables_.empty()) return false;
  if (before >= kMostTogether || answered_ > kMostAnswer || Clock::now() - start > kLongest) return false;
  for (Client* client : clients_->receive_from_idle()) take_from(client, kMostTogether);
  if (operations_.size() == before) return false;
  rights_.clear();
  guard([] {
    AcceptInvalidationMessages();
    take_new_snapshot();
  });
  return true;
}

/// Runs the operations in one transaction. True: operations still unanswered are left to later transactions. False: it
/// has failed before its commit, perhaps by one operation, and all changes have to be repeated.
bool Groups::run_transaction(size_t begin, size_t end, bool is_alone) {
  const size_t first_joined = end;
  size_t executed = begin;
  bool is_committing = false;
  tables_.clear();
  rights_.clear();
  changes_ = 0;
  current_ = nullptr;
  try {
    guard([] {
      SetCurrentStatementStartTimestamp();  // now() is the transaction's start
      StartTransactionCommand();
      XactIsoLevel = XACT_READ_COMMITTED;
      PushActiveSnapshot(GetTransactionSnapshot());
    });
    const auto start = Clock::now();
    bool is_whole = execute_all(begin, end, start, &executed);
    while (is_whole && !is_alone && take_more(start)) {
      is_whole = execute_all(end, operations_.size(), start, &executed);
      end = operations_.size();
    }
    is_committing = true;
    commit(tables_);
  } catch (...) {
    MemoryContext before = MemoryContextSwitchTo(memory_);
    Verdict verdict = current_verdict();
    // The text may be allocated in memory of the transaction, which is about to be aborted.
    verdict.text = guard([this, &verdict] { return explain(verdict); });
    MemoryContextSwitchTo(before);
    guard([] { AbortCurrentTransaction(); });
    if (current_ != nullptr) {
      // A message that has joined may be younger than now(), which constraints use. The next time it is not.
      const bool is_late = current_ >= operations_.data() + first_joined && verdict.outcome == Outcome::kConstraint;
      if (!is_late) fail(current_, verdict);
      return is_alone;
    }
    // No message is to blame if the transaction could not begin, or take more messages.
    if (!is_committing && !is_alone) return false;
    // The commit has failed, and with it all changes. One that is alone has no further transaction.
    for (size_t i = begin; i < (is_alone ? end : executed); ++i)
      if (!operations_[i].is_answered && (is_alone || !operations_[i].is_read)) fail(&operations_[i], verdict);
    return true;
  }
  ++counts_.groups;
  for (size_t i = begin; i < executed; ++i)
    if (!operations_[i].is_read) operations_[i].is_answered = true;
  return true;
}

void Groups::run() {
  failed_tables_.clear();
  for (int i = 0; i < kTries; ++i)
    if (run_transaction(0, operations_.size(), false)) return;
  for (size_t i = 0; i < operations_.size(); ++i)
    if (!operations_[i].is_answered) run_transaction(i, i + 1, true);
}

/// Moves answers to the clients' output, in the order of their messages. Messages without an answer are executed again.
void Groups::deliver() {
  std::vector<std::pair<Client*, size_t>> taken;
  const Client* waiting = nullptr;
  for (Operation& operation : operations_) {
    if (!operation.is_answered) waiting = operation.client;
    if (operation.client == waiting) continue;
    operation.client->output += operation.answer;
    if (taken.empty() || taken.back().first != operation.client) taken.emplace_back(operation.client, 0);
    taken.back().second += operation.bytes;
    ++counts_.operations;
    const bool is_refused = operation.request.kind == Kind::kHello && operation.bytes == 0 &&
                            message::find_frame(operation.answer).value()->header.outcome != 0;
    if (is_refused) operation.client->is_ending = true;
  }
  operations_.clear();
  has_left_ = waiting != nullptr;
  for (const auto& [client, bytes] : taken) {
    client->input.erase(0, bytes);
    has_left_ = has_left_ || !client->input.empty();
  }
}

bool Groups::answer_some() {
  operations_.clear();
  has_left_ = false;
  answered_ = 0;
  auto& all = clients_->all();
  if (all.empty()) return false;
  // Each client gets a share, and each call begins with another client.
  constexpr size_t kLeast = 8;
  const size_t most = std::max(kLeast, kMostTogether / all.size());
  auto at = all.upper_bound(last_client_);
  for (size_t i = 0; i < all.size() && operations_.size() < kMostTogether; ++i) {
    if (at == all.end()) at = all.begin();
    const bool has_room = at->second.output.size() < (1 << 20);
    if (has_room) take_from(&at->second, most);
    last_client_ = at->first;
    ++at;
  }
  if (operations_.empty()) return false;
  if (memory_ == nullptr)
    memory_ = guard(
        [] { return AllocSetContextCreate(TopMemoryContext, "messages about store tables", ALLOCSET_DEFAULT_SIZES); });
  run();
  const bool is_full = operations_.size() >= kMostTogether;
  deliver();
  has_left_ = has_left_ || is_full;  // the remaining clients were not looked at
  MemoryContext memory = memory_;
  guard([memory] { MemoryContextReset(memory); });
  return true;
}

}  // namespace strom::pg::kv_server
