#include "stores.hpp"

#include <libpq-fe.h>
#include <lmdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "kv/stromkv.h"

namespace strom::bench {

namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

bool is_right(uint64_t key, const void* value, size_t bytes) {
  return bytes >= sizeof(key) && std::memcmp(value, &key, sizeof(key)) == 0;
}

class StromKv : public Store {
 public:
  StromKv(const std::string& socket, const std::string& token) {
    char error[500] = "";
    require(stromkv_attach(socket.c_str(), token.c_str(), &table_, error, sizeof(error)) == STROMKV_OK, error);
    require(stromkv_reader_open(table_, &reader_) == STROMKV_OK, "no reader");
  }
  ~StromKv() override {
    stromkv_reader_close(reader_);
    stromkv_detach(table_);
  }
  uint64_t get(const std::vector<uint64_t>& keys) override {
    wanted_.resize(keys.size());
    rows_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) wanted_[i] = {&keys[i], sizeof(keys[i])};
    const stromkv_status status = keys.size() == 1
                                      ? stromkv_get(reader_, wanted_[0], rows_.data())
                                      : stromkv_get_many(reader_, wanted_.data(), rows_.data(), keys.size());
    require(status == STROMKV_OK, stromkv_status_text(status));
    uint64_t right = 0;
    stromkv_field fields[2];
    for (size_t i = 0; i < keys.size(); ++i)
      right += stromkv_fields(reader_, &rows_[i], fields) == STROMKV_OK &&
               is_right(keys[i], fields[1].data, fields[1].bytes);
    return right;
  }
  void load(uint64_t, uint64_t) override { throw std::runtime_error("a store table is filled by SQL"); }

 private:
  stromkv* table_ = nullptr;
  stromkv_reader* reader_ = nullptr;
  std::vector<stromkv_key> wanted_;
  std::vector<stromkv_row> rows_;
};

/// A server that speaks over a socket.
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
    for (uint64_t first = 0; first < rows; first += kTogether) {
      std::string request;
      const uint64_t end = std::min(rows, first + kTogether);
      for (uint64_t key = first; key < end; ++key) request += set_request(key, value_of(key, value_bytes));
      begin();
      send_all(request);
      for (uint64_t key = first; key < end; ++key) require(line() == set_answer(), "a row was refused");
    }
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
  /// Views of what came before are no longer good.
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
  /// One request for each key, as with the others.
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

class Lmdb : public Store {
 public:
  explicit Lmdb(const std::string& folder) {
    constexpr size_t kMap = size_t{32} << 30;
    require(mdb_env_create(&environment_) == 0 && mdb_env_set_mapsize(environment_, kMap) == 0, "LMDB cannot begin");
    constexpr mdb_mode_t kOwner = 0600;
    require(mdb_env_open(environment_, folder.c_str(), MDB_NOSYNC | MDB_NOTLS, kOwner) == 0, "LMDB cannot be opened");
    MDB_txn* transaction = nullptr;
    require(mdb_txn_begin(environment_, nullptr, 0, &transaction) == 0, "LMDB has no transaction");
    require(mdb_dbi_open(transaction, nullptr, MDB_INTEGERKEY, &database_) == 0, "LMDB has no table");
    mdb_txn_commit(transaction);
  }
  ~Lmdb() override { mdb_env_close(environment_); }
  /// A transaction for each call, as a reader needs who wants to see what has been committed.
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
  void load(uint64_t rows, uint64_t value_bytes) override {
    MDB_txn* transaction = nullptr;
    require(mdb_txn_begin(environment_, nullptr, 0, &transaction) == 0, "LMDB has no transaction");
    for (uint64_t key = 0; key < rows; ++key) {
      std::string value = value_of(key, value_bytes);
      MDB_val name{sizeof(key), &key}, content{value.size(), value.data()};
      require(mdb_put(transaction, database_, &name, &content, MDB_APPEND) == 0, "LMDB refuses a row");
    }
    require(mdb_txn_commit(transaction) == 0, "LMDB cannot commit");
  }

 private:
  MDB_env* environment_ = nullptr;
  MDB_dbi database_ = 0;
};

/// A prepared statement for each key; the session is one of its own.
class Postgres : public Store {
 public:
  Postgres(const std::string& connection, const std::string& table) : connection_(PQconnectdb(connection.c_str())) {
    require(PQstatus(connection_) == CONNECTION_OK, PQerrorMessage(connection_));
    const std::string statement = "SELECT v FROM " + table + " WHERE id = $1";
    PGresult* result = PQprepare(connection_, "look", statement.c_str(), 0, nullptr);
    require(PQresultStatus(result) == PGRES_COMMAND_OK, PQerrorMessage(connection_));
    PQclear(result);
  }
  ~Postgres() override { PQfinish(connection_); }
  uint64_t get(const std::vector<uint64_t>& keys) override {
    uint64_t right = 0;
    for (const uint64_t key : keys) {
      const uint64_t swapped = __builtin_bswap64(key);
      const char* values[] = {reinterpret_cast<const char*>(&swapped)};
      const int lengths[] = {sizeof(swapped)}, formats[] = {1};
      PGresult* result = PQexecPrepared(connection_, "look", 1, values, lengths, formats, 1);
      require(PQresultStatus(result) == PGRES_TUPLES_OK, PQerrorMessage(connection_));
      right += PQntuples(result) == 1 &&
               is_right(key, PQgetvalue(result, 0, 0), static_cast<size_t>(PQgetlength(result, 0, 0)));
      PQclear(result);
    }
    return right;
  }
  void load(uint64_t, uint64_t) override { throw std::runtime_error("a table is filled by SQL"); }

 private:
  PGconn* connection_;
};

}  // namespace

std::string value_of(uint64_t key, uint64_t bytes) {
  std::string value(bytes, 'v');
  std::memcpy(value.data(), &key, std::min<size_t>(sizeof(key), bytes));
  return value;
}

std::unique_ptr<Store> open_store(const std::string& kind, const std::string& address, const std::string& token) {
  if (kind == "stromkv") return std::make_unique<StromKv>(address, token);
  if (kind == "redis") return std::make_unique<Redis>(address);
  if (kind == "memcached") return std::make_unique<Memcached>(address);
  if (kind == "lmdb") return std::make_unique<Lmdb>(address);
  if (kind == "postgres") return std::make_unique<Postgres>(address, token);
  throw std::runtime_error("unknown store " + kind);
}

}  // namespace strom::bench
