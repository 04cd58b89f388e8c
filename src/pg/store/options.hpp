// Options of store tables (foreign tables of gstore_fdw): their names and meanings.
#pragma once

#include <span>
#include <string>

#include "base/status.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "store/region/format.hpp"

namespace strom::pg::store {

namespace region = ::strom::store::region;

enum class Durability : uint8_t { kSync, kAsync };

struct Options {
  std::string base_file, redo_log_file;
  uint64_t redo_log_limit = uint64_t{512} << 20;  // bytes
  uint64_t max_num_rows = 0;
  std::string primary_key;  // a column; empty: none
  int gpu_device_id = 0;
  int gpu_update_interval = 15;   // seconds
  int gpu_update_threshold = 20;  // percent of redo_log_limit
  bool preserve_files = false;
  bool kv_access = false;
  region::ChecksumKind checksum = region::ChecksumKind::kCrc64;  // of records in the published region
  Durability durability = Durability::kSync;
};

/// Checks names, values and combinations. Errors: kBadOption.
Result<Options> parse_options(std::span<const catalog::Option> options);

/// Checks the options of an object of catalog `catalog` for the validator. Errors: kBadOption; kPermissionDenied when a
/// role without pg_read_server_files and pg_write_server_files names files. May throw.
void validate_options(std::span<const catalog::Option> options, Oid catalog);

}  // namespace strom::pg::store
