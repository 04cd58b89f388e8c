// What planning knows of the GPU service without asking it: that there is one, and what it has measured. Used by
// pg/planner and the SQL functions about the service.
#pragma once

#include "service/calibration.hpp"

namespace strom::pg::worker {

/// nullptr when there is no service to be expected. Without devices when it has not measured them. Two calls of the
/// kernel; the file is read when it has changed. The result is valid until the next call. Does not throw but for want
/// of memory.
const service::Calibration* known_service();

}  // namespace strom::pg::worker
