// What planning knows of the GPU service: whether it exists and what it has measured, both without asking it; and what
// its devices have cached. Used by pg/planner and the SQL functions about the service.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "service/calibration.hpp"
#include "service/protocol.hpp"

namespace strom::pg::gpu {

/// The service's measurements; nullptr when no service is to be expected. Has no devices if the service has not
/// measured any. Takes two system calls; the file is read again only when it has changed. The result is valid until the
/// next call. Throws only for lack of memory.
const service::Calibration* known_service();

struct ServiceContents {
  uint64_t number = 0;                              // of the service's answer
  std::vector<service::DeviceRow> devices;          // in the order of their numbers
  std::map<std::string, service::CacheRow> cached;  // by label, summed over all devices
};

/// The content of the service's caches. Asks the service if the last answer is older than `age`. Empty if it does not
/// answer within milliseconds; it is then not asked for a while. Limited to a number of files and tables. The result is
/// valid until the next call. Throws only for lack of memory.
const ServiceContents& service_contents(std::chrono::milliseconds age);

}  // namespace strom::pg::gpu
