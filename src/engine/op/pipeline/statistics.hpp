// What the workers of a pipeline count.
#pragma once

#include <cstdint>
#include <string>

namespace strom::engine::op {

struct StageStats {
  std::string name;  // "scan", "filter", "join 1", "sink"
  int64_t rows_in = 0, rows_out = 0;
};

/// Columns for Options::machine.
struct DeviceBytes {
  int64_t copied = 0, kept = 0;  // to it now; there from earlier queries
  DeviceBytes& operator+=(const DeviceBytes& more) {
    copied += more.copied;
    kept += more.kept;
    return *this;
  }
};

/// Join tables that pipelines on Options::machine have probed.
struct DeviceJoins {
  int64_t built = 0, kept = 0;  // now; there from earlier queries
  DeviceJoins& operator+=(const DeviceJoins& more) {
    built += more.built;
    kept += more.kept;
    return *this;
  }
};

}  // namespace strom::engine::op
