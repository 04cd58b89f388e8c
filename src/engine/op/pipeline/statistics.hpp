// What the workers of a pipeline count.
#pragma once

#include <cstdint>
#include <string>

namespace strom::engine::op {

struct StageStats {
  std::string name;  // "scan", "filter", "join 1", "sink"
  int64_t rows_in = 0, rows_out = 0;
};

/// Bytes of columns for Options::device.
struct DeviceBytes {
  int64_t copied = 0, cached = 0;  // copied: to the device now; cached: there since earlier queries
  DeviceBytes& operator+=(const DeviceBytes& more) {
    copied += more.copied;
    cached += more.cached;
    return *this;
  }
};

/// Join tables that pipelines on Options::device have probed.
struct DeviceJoins {
  int64_t built = 0, cached = 0;  // built: now; cached: there since earlier queries
  DeviceJoins& operator+=(const DeviceJoins& more) {
    built += more.built;
    cached += more.cached;
    return *this;
  }
};

}  // namespace strom::engine::op
