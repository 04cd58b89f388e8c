// What the workers of a pipeline count.
#pragma once

#include <cstdint>
#include <string>

namespace strom::engine::op {

struct StageStats {
  std::string name;  // "scan", "filter", "join 1", "sink"
  int64_t rows_in = 0, rows_out = 0;
};

/// Columns for Options::device.
struct DeviceBytes {
  int64_t copied = 0, cached = 0;  // to it now; there from earlier queries
  DeviceBytes& operator+=(const DeviceBytes& more) {
    copied += more.copied;
    cached += more.cached;
    return *this;
  }
};

/// Join tables that pipelines on Options::device have probed.
struct DeviceJoins {
  int64_t built = 0, cached = 0;  // now; there from earlier queries
  DeviceJoins& operator+=(const DeviceJoins& more) {
    built += more.built;
    cached += more.cached;
    return *this;
  }
};

}  // namespace strom::engine::op
