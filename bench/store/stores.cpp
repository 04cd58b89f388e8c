#include "stores.hpp"

#include <libpq-fe.h>
#include <lmdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "kv/stromkv.h"

namespace strom::bench {

namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

bool is_right(uint64_t key, const void* value, size_t bytes) {
  return bytes >= sizeof(key) && std::memcmp(value, &key, sizeof(key)) == 0;
}

/// A session of PostgreSQL.
class Session {
 public:
  explicit Session(const std::string& connection) : connection_(PQconnectdb(connection.c_str())) {
    require(PQstatus(connection_) == CONNECTION_OK, PQerrorMessage(connection_));
  }
  ~Session() { PQfinish(connection_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// A row of two text columns.
  std::pair<std::string, std::string> two_texts(const std::string& statement) {
    PGresult* result = PQexec(connection_, statement.c_str());
    require(PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1, PQerrorMessage(connection_));
    std::pair<std::string, std::string> found{PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1)};
    PQclear(result);
    return found;
  }
  void prepare(const char* name, const std::string& statement) {
    PGresult* result = PQprepare(connection_, name, statement.c_str(), 0, nullptr);
    require(PQresultStatus(result) == PGRES_COMMAND_OK, PQerrorMessage(connection_));
    PQclear(result);
  }
  /// The caller frees the result.
  PGresult* run(const char* name, const std::vector<std::string_view>& parameters) {
    const char* values[2];
    int lengths[2];
    const int formats[] = {1, 1};
    for (size_t i = 0; i < parameters.size(); ++i) {
      values[i] = parameters[i].data();
      lengths[i] = static_cast<int>(parameters[i].size());
    }
    PGresult* result =
        PQexecPrepared(connection_, name, static_cast<int>(parameters.size()), values, lengths, formats, 1);
    const ExecStatusType status = PQresultStatus(result);
    require(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, PQerrorMessage(connection_));
    return result;
  }

 private:
  PGconn* connection_;
};

/// A region that all clients of this process read, like the threads of a program.
struct SharedRegion {
  std::mutex mutex;
  std::string name;
  stromkv* table = nullptr;
  ReadCounts counts;
};
SharedRegion& shared_region() {
  static SharedRegion region;
  return region;
}

/// Gets read the region; puts are messages.
class StromKv : public Store {
 public:
  StromKv(const std::string& connection, const std::string& table) : connection_(connection), name_(table) {
    SharedRegion& region = shared_region();
    const std::lock_guard guard(region.mutex);
    if (region.table == nullptr) {
      const auto [socket, token] = Session(connection).two_texts(grant("kv_attach"));
      char error[500] = "";
      require(stromkv_attach(socket.c_str(), token.c_str(), &region.table, error, sizeof(error)) == STROMKV_OK, error);
    }
    require(stromkv_reader_open(region.table, &reader_) == STROMKV_OK, "no reader");
  }
  ~StromKv() override {
    tell();
    stromkv_reader_close(reader_);
    if (session_ != nullptr) stromkv_session_close(session_);
  }
  uint64_t get(const std::vector<uint64_t>& keys) override {
    wanted_.resize(keys.size());
    rows_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) wanted_[i] = {&keys[i], sizeof(keys[i])};
    const stromkv_status status = keys.size() == 1
                                      ? stromkv_get(reader_, wanted_[0], rows_.data())
                                      : stromkv_get_many(reader_, wanted_.data(), rows_.data(), keys.size());
    require(status == STROMKV_OK || status == STROMKV_NOT_FOUND, stromkv_status_text(status));
    uint64_t right = 0;
    stromkv_field fields[2];
    for (size_t i = 0; i < keys.size(); ++i)
      right += rows_[i].status == STROMKV_OK && stromkv_fields(reader_, &rows_[i], fields) == STROMKV_OK &&
               is_right(keys[i], fields[1].data, fields[1].bytes);
    return right;
  }
  uint64_t put(const std::vector<uint64_t>& keys, uint64_t value_bytes, bool) override {
    if (session_ == nullptr) open_session();
    texts_.resize(keys.size());
    values_.resize(2 * keys.size());
    statuses_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      texts_[i] = value_of(keys[i], value_bytes);
      values_[2 * i] = {STROMKV_STORED, &keys[i], sizeof(keys[i])};
      values_[2 * i + 1] = {STROMKV_STORED, texts_[i].data(), texts_[i].size()};
    }
    if (keys.size() == 1) return put_one();
    stromkv_session_put_many(session_, values_.data(), keys.size(), statuses_.data());
    uint64_t done = 0;
    for (const stromkv_status status : statuses_) {
      require(status == STROMKV_OK || status == STROMKV_BUSY, stromkv_session_error(session_));
      done += status == STROMKV_OK;
    }
    return done;
  }
  void load(uint64_t, uint64_t) override { throw std::runtime_error("a store table is filled by SQL"); }

 private:
  std::string grant(const std::string& function) const {
    return "SELECT socket, token FROM pgstrom." + function + "('" + name_ + "')";
  }
  void open_session() {
    const auto [socket, token] = Session(connection_).two_texts(grant("kv_session"));
    char error[500] = "";
    require(stromkv_session_open(socket.c_str(), token.c_str(), &session_, error, sizeof(error)) == STROMKV_OK, error);
  }
  uint64_t put_one() {
    const stromkv_status status = stromkv_session_put(session_, values_.data(), nullptr);
    require(status == STROMKV_OK || status == STROMKV_BUSY, stromkv_session_error(session_));
    return status == STROMKV_OK ? 1 : 0;
  }
  void tell() {
    stromkv_statistics statistics{};
    stromkv_reader_statistics(reader_, &statistics);
    SharedRegion& region = shared_region();
    const std::lock_guard guard(region.mutex);
    region.counts.gets += statistics.gets;
    region.counts.reads += statistics.bucket_reads + statistics.record_reads;
    region.counts.retries += statistics.retries;
  }

  std::string connection_, name_;
  stromkv_reader* reader_ = nullptr;
  stromkv_session* session_ = nullptr;
  std::vector<stromkv_key> wanted_;
  std::vector<stromkv_row> rows_;
  std::vector<std::string> texts_;
  std::vector<stromkv_value> values_;
  std::vector<stromkv_status> statuses_;
};

/// A server that is reached by a socket.
class Wire : public Store {
 public:
  explicit Wire(const std::string& path) : socket_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    struct sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    require(connect(socket_, reinterpret_cast<struct sockaddr*>(&address), sizeof(address)) == 0, "cannot connect");
  }
  ~Wire() override { close(socket_); }
  void load(uint64_t rows, uint64_t value_bytes) override {
    constexpr uint64_t kTogether = 1000;
    std::vector<uint64_t> keys;
    for (uint64_t key = 0; key < rows; ++key) {
      keys.push_back(key);
      if (keys.size() < kTogether && key + 1 < rows) continue;
      put(keys, value_bytes, true);
      keys.clear();
    }
  }
  uint64_t put(const std::vector<uint64_t>& keys, uint64_t value_bytes, bool) override {
    std::string request;
    for (const uint64_t key : keys) request += set_request(key, value_of(key, value_bytes));
    begin();
    send_all(request);
    for (size_t i = 0; i < keys.size(); ++i) require(line() == set_answer(), "a row was refused");
    return keys.size();
  }

 protected:
  virtual std::string set_request(uint64_t key, const std::string& value) const = 0;
  virtual std::string_view set_answer() const = 0;
  void send_all(const std::string& text) const {
    for (size_t at = 0; at < text.size();) {
      const ssize_t sent = send(socket_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      require(sent > 0, "cannot send");
      at += static_cast<size_t>(sent);
    }
  }
  std::string_view line() {
    for (;;) {
      const size_t end = received_.find("\r\n", at_);
      if (end != std::string::npos) {
        const std::string_view found(received_.data() + at_, end - at_);
        at_ = end + 2;
        return found;
      }
      receive();
    }
  }
  std::string_view bytes(size_t count) {
    while (received_.size() - at_ < count + 2) receive();
    const std::string_view found(received_.data() + at_, count);
    at_ += count + 2;
    return found;
  }
  /// Invalidates views of earlier answers.
  void begin() {
    received_.erase(0, at_);
    at_ = 0;
  }

 private:
  void receive() {
    char part[65536];
    const ssize_t got = recv(socket_, part, sizeof(part), 0);
    require(got > 0, "the server has gone");
    received_.append(part, static_cast<size_t>(got));
  }
  int socket_;
  std::string received_;
  size_t at_ = 0;
};

size_t number(std::string_view text) { return strtoul(std::string(text).c_str(), nullptr, 10); }

class Redis : public Wire {
 public:
  using Wire::Wire;
  uint64_t get(const std::vector<uint64_t>& keys) override {
    std::string request;
    for (const uint64_t key : keys) {
      const std::string text = std::to_string(key);
      request += "*2\r\n$3\r\nGET\r\n$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    }
    begin();
    send_all(request);
    uint64_t right = 0;
    for (const uint64_t key : keys) {
      const std::string_view head = line();
      require(head.starts_with('$'), "an answer that was not expected");
      if (head == "$-1") continue;
      const std::string_view value = bytes(number(head.substr(1)));
      right += is_right(key, value.data(), value.size());
    }
    return right;
  }

 protected:
  std::string set_request(uint64_t key, const std::string& value) const override {
    const std::string text = std::to_string(key);
    return "*3\r\n$3\r\nSET\r\n$" + std::to_string(text.size()) + "\r\n" + text + "\r\n$" +
           std::to_string(value.size()) + "\r\n" + value + "\r\n";
  }
  std::string_view set_answer() const override { return "+OK"; }
};

class Memcached : public Wire {
 public:
  using Wire::Wire;
  /// Sends one request for each key, as the other stores do.
  uint64_t get(const std::vector<uint64_t>& keys) override {
    std::string request;
    for (const uint64_t key : keys) request += "get " + std::to_string(key) + "\r\n";
    begin();
    send_all(request);
    uint64_t right = 0;
    for (const uint64_t key : keys) {
      const std::string_view head = line();
      if (head == "END") continue;
      require(head.starts_with("VALUE "), "an answer that was not expected");
      const std::string_view value = bytes(number(head.substr(head.rfind(' ') + 1)));
      right += is_right(key, value.data(), value.size());
      require(line() == "END", "an answer that was not expected");
    }
    return right;
  }

 protected:
  std::string set_request(uint64_t key, const std::string& value) const override {
    return "set " + std::to_string(key) + " 0 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n";
  }
  std::string_view set_answer() const override { return "STORED"; }
};

/// A process can open the files only once.
struct Environment {
  std::once_flag once;
  MDB_env* environment = nullptr;
  MDB_dbi database = 0;

  void open(const std::string& folder) {
    constexpr size_t kMap = size_t{32} << 30;
    require(mdb_env_create(&environment) == 0 && mdb_env_set_mapsize(environment, kMap) == 0, "LMDB cannot begin");
    constexpr mdb_mode_t kOwner = 0600;
    require(mdb_env_open(environment, folder.c_str(), MDB_NOSYNC | MDB_NOTLS, kOwner) == 0, "LMDB cannot be opened");
    MDB_txn* transaction = nullptr;
    require(mdb_txn_begin(environment, nullptr, 0, &transaction) == 0, "LMDB has no transaction");
    require(mdb_dbi_open(transaction, nullptr, MDB_INTEGERKEY, &database) == 0, "LMDB has no table");
    mdb_txn_commit(transaction);
  }
};

class Lmdb : public Store {
 public:
  explicit Lmdb(const std::string& folder) {
    static Environment opened;
    std::call_once(opened.once, [&] { opened.open(folder); });
    environment_ = opened.environment;
    database_ = opened.database;
  }
  /// Uses a transaction for each call, as needed to see what was committed before it.
  uint64_t get(const std::vector<uint64_t>& keys) override {
    MDB_txn* transaction = nullptr;
    require(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction) == 0, "LMDB has no transaction");
    uint64_t right = 0;
    for (uint64_t key : keys) {
      MDB_val wanted{sizeof(key), &key}, found{};
      right += mdb_get(transaction, database_, &wanted, &found) == 0 && is_right(key, found.mv_data, found.mv_size);
    }
    mdb_txn_abort(transaction);
    return right;
  }
  uint64_t put(const std::vector<uint64_t>& keys, uint64_t value_bytes, bool) override {
    write(keys, value_bytes, 0);
    return keys.size();
  }
  void load(uint64_t rows, uint64_t value_bytes) override {
    std::vector<uint64_t> keys(rows);
    for (uint64_t key = 0; key < rows; ++key) keys[key] = key;
    write(keys, value_bytes, MDB_APPEND);
  }

 private:
  void write(const std::vector<uint64_t>& keys, uint64_t value_bytes, unsigned flags) {
    MDB_txn* transaction = nullptr;
    require(mdb_txn_begin(environment_, nullptr, 0, &transaction) == 0, "LMDB has no transaction");
    for (uint64_t key : keys) {
      std::string value = value_of(key, value_bytes);
      MDB_val name{sizeof(key), &key}, content{value.size(), value.data()};
      require(mdb_put(transaction, database_, &name, &content, flags) == 0, "LMDB refuses a row");
    }
    require(mdb_txn_commit(transaction) == 0, "LMDB cannot commit");
  }
  MDB_env* environment_ = nullptr;
  MDB_dbi database_ = 0;
};

/// Executes a prepared statement for each key, in a session of its own.
class Postgres : public Store {
 public:
  Postgres(const std::string& connection, const std::string& table) : session_(connection) {
    session_.prepare("look", "SELECT v FROM " + table + " WHERE id = $1");
    session_.prepare("change", "UPDATE " + table + " SET v = $2 WHERE id = $1");
    session_.prepare("add", "INSERT INTO " + table + " VALUES ($1, $2)");
    session_.prepare("range", "SELECT v FROM " + table + " WHERE id >= $1 AND id < $1 + $2::bigint ORDER BY id");
  }
  uint64_t get(const std::vector<uint64_t>& keys) override {
    uint64_t right = 0;
    for (const uint64_t key : keys) {
      const uint64_t swapped = __builtin_bswap64(key);
      PGresult* result = session_.run("look", {text_of(swapped)});
      right += PQntuples(result) == 1 &&
               is_right(key, PQgetvalue(result, 0, 0), static_cast<size_t>(PQgetlength(result, 0, 0)));
      PQclear(result);
    }
    return right;
  }
  uint64_t put(const std::vector<uint64_t>& keys, uint64_t value_bytes, bool is_new) override {
    uint64_t done = 0;
    for (const uint64_t key : keys) {
      const uint64_t swapped = __builtin_bswap64(key);
      PGresult* result = session_.run(is_new ? "add" : "change", {text_of(swapped), value_of(key, value_bytes)});
      done += std::strcmp(PQcmdTuples(result), "1") == 0;
      PQclear(result);
    }
    return done;
  }
  uint64_t scan(uint64_t key, uint64_t count) override {
    const uint64_t first = __builtin_bswap64(key), rows = __builtin_bswap64(count);
    PGresult* result = session_.run("range", {text_of(first), text_of(rows)});
    const int found = PQntuples(result);
    PQclear(result);
    return static_cast<uint64_t>(found);
  }
  void load(uint64_t, uint64_t) override { throw std::runtime_error("a table is filled by SQL"); }

 private:
  static std::string_view text_of(const uint64_t& number) {
    return {reinterpret_cast<const char*>(&number), sizeof(number)};
  }
  Session session_;
};

}  // namespace

std::string value_of(uint64_t key, uint64_t bytes) {
  std::string value(bytes, 'v');
  std::memcpy(value.data(), &key, std::min<size_t>(sizeof(key), bytes));
  return value;
}

std::unique_ptr<Store> open_store(const std::string& kind, const std::string& address, const std::string& table) {
  if (kind == "stromkv") return std::make_unique<StromKv>(address, table);
  if (kind == "redis") return std::make_unique<Redis>(address);
  if (kind == "memcached") return std::make_unique<Memcached>(address);
  if (kind == "lmdb") return std::make_unique<Lmdb>(address);
  if (kind == "postgres") return std::make_unique<Postgres>(address, table);
  throw std::runtime_error("unknown store " + kind);
}

uint64_t Store::scan(uint64_t, uint64_t) { throw std::runtime_error("a store without an order of keys"); }

ReadCounts read_counts() {
  SharedRegion& region = shared_region();
  const std::lock_guard guard(region.mutex);
  return region.counts;
}

}  // namespace strom::bench
