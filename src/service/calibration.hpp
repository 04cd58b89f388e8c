// Measurements of the devices. The planner's costs of the GPU are made of them, and a file preserves them between
// starts of the service. Written by pg_strom_gpu_service (calibrate.hpp), read by backends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace strom::service {

/// Nanoseconds for a row: of one CPU thread, and of a device whose processors work together on rows that it has.
struct RowTime {
  double cpu = 0, device = 0;
  bool operator==(const RowTime&) const = default;
};

struct DeviceRates {
  // What they are measured of; other values make them stale.
  std::string name, architecture;
  std::string address;          // on the PCI bus, "0000:01:00.0"; empty when it has none
  std::string program;          // version of the program and of its module interface
  int driver = 0, runtime = 0;  // versions
  int processors = 0;
  uint64_t memory = 0;  // bytes

  double copy_in = 0, copy_out = 0;  // bytes per second, pinned memory
  double fill = 0;                   // bytes per second written by the device to its own memory
  double stage = 0;                  // bytes per second that a host thread makes columns ready with
  double round_trip_us = 0;          // a launch of a kernel without rows, and back
  double setup_us = 0;               // a query over hardly any rows, its memory included
  RowTime scan;                      // one comparison of a column and a constant, and a count
  RowTime probe;                     // beyond that: a look-up in a join table
  RowTime group;                     // beyond that: adding to one of a hundred groups
  bool operator==(const DeviceRates&) const = default;

  /// Both are of the same device, driver and program.
  bool is_of(const DeviceRates& facts) const;
};

struct Calibration {
  double milliseconds = 0;           // that measuring took
  std::vector<DeviceRates> devices;  // by number
  bool operator==(const Calibration&) const = default;
};

/// The file's text, and back. kCorruptFile for anything else than a whole text of this version.
std::string print(const Calibration& calibration);
Result<Calibration> parse_calibration(const std::string& text);

/// kFileNotFound, kIoError, kCorruptFile.
Result<Calibration> read_calibration(const std::string& path);
/// The file is replaced as a whole.
Status write_calibration(const std::string& path, const Calibration& calibration);

}  // namespace strom::service
