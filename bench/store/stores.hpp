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
  /// Fills an empty store with rows 0 to `rows` - 1.
  virtual void load(uint64_t rows, uint64_t value_bytes) = 0;
};

/// Row `key`'s value: its number, and bytes that follow from it.
std::string value_of(uint64_t key, uint64_t bytes);

/// `kind`: stromkv (`address` is a socket, `token` its token), redis, memcached (sockets), lmdb (a folder), postgres (a
/// connection string; `token` is the table).
std::unique_ptr<Store> open_store(const std::string& kind, const std::string& address, const std::string& token);

}  // namespace strom::bench
