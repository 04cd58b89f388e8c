// Stores that kvbench reads from, each behind the same call.
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
  /// Reads these rows, all of which are there; returns how many have the first eight bytes that they should have.
  virtual uint64_t get(const std::vector<uint64_t>& keys) = 0;
  /// Writes values of these rows, all of which are there, or none of which is (`is_new`); returns how many it wrote.
  virtual uint64_t put(const std::vector<uint64_t>& keys, uint64_t value_bytes, bool is_new) = 0;
  /// Reads rows `key` to `key` + `count` - 1 in the order of keys; returns how many there were.
  virtual uint64_t scan(uint64_t key, uint64_t count);
  /// Fills an empty store with rows 0 to `rows` - 1.
  virtual void load(uint64_t rows, uint64_t value_bytes) = 0;
};

/// Row `key`'s value: its number, and bytes that follow from it.
std::string value_of(uint64_t key, uint64_t bytes);

/// `kind`: stromkv, postgres (`address` is a connection string), redis, memcached (a socket), lmdb (a folder).
std::unique_ptr<Store> open_store(const std::string& kind, const std::string& address, const std::string& table);

/// What gets of published regions have read in this process, by stores that are open.
struct ReadCounts {
  uint64_t gets = 0, reads = 0, retries = 0;
};
ReadCounts read_counts();

}  // namespace strom::bench
