// The stores that kvbench measures, behind a common interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strom::bench {

/// One client's connection. Failures throw std::runtime_error.
class Store {
 public:
  virtual ~Store() = default;
  /// Reads these rows, all of which exist. Returns the number of rows whose first eight bytes are correct.
  virtual uint64_t get(const std::vector<uint64_t>& keys) = 0;
  /// Writes values for these rows. If `is_new`, none of them exists, else all do. Returns the number of rows written.
  virtual uint64_t put(const std::vector<uint64_t>& keys, uint64_t value_bytes, bool is_new) = 0;
  /// Reads rows `key` to `key` + `count` - 1 in the order of keys. Returns the number of existing rows.
  virtual uint64_t scan(uint64_t key, uint64_t count);
  /// Fills an empty store with rows 0 to `rows` - 1.
  virtual void load(uint64_t rows, uint64_t value_bytes) = 0;
};

/// The value of row `key`: its number, followed by bytes that depend on the number.
std::string value_of(uint64_t key, uint64_t bytes);

/// `kind`: stromkv, postgres (`address` is a connection string), redis, memcached (a socket), lmdb (a folder).
std::unique_ptr<Store> open_store(const std::string& kind, const std::string& address, const std::string& table);

/// Counts the reads of published regions in this process, by stores that are open.
struct ReadCounts {
  uint64_t gets = 0, reads = 0, retries = 0;
};
ReadCounts read_counts();

}  // namespace strom::bench
