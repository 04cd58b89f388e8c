// What planning knows of the GPU service: that there is one and what it has measured, without asking it; and what its
// devices keep. Used by pg/planner and the SQL functions about the service.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "service/calibration.hpp"
#include "service/protocol.hpp"

namespace strom::pg::gpu {

/// nullptr when there is no service to be expected. Without devices when it has not measured them. Two calls of the
/// kernel; the file is read when it has changed. The result is valid until the next call. Does not throw but for want
/// of memory.
const service::Calibration* known_service();

struct ServiceContents {
  uint64_t number = 0;                              // of the answer
  std::vector<service::DeviceRow> devices;          // by number
  std::map<std::string, service::CacheRow> cached;  // by label, of all devices
};

/// What the service has said, which is asked when that is longer ago than `age`. Empty when it does not answer within
/// milliseconds; it is not asked again for a while then. Of very many files and tables only some. Valid until the next
/// call. Does not throw but for want of memory.
const ServiceContents& service_contents(std::chrono::milliseconds age);

}  // namespace strom::pg::gpu
