// Measures a device when the service starts: see docs/dev/gpu-service.md.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "engine/device/device.hpp"
#include "service/calibration.hpp"

namespace strom::service {

/// What a device says of itself; nothing is measured.
DeviceRates facts_of(const device::Device& device);

/// Rates of a device that nothing else uses. Each of the measurements is repeated with more until it takes long enough
/// to be exact, or `patience` is over; a device that is slow is measured with little. Also when the machine fails, or
/// has too little memory: kDeviceLost, kOverBudget.
Result<DeviceRates> calibrate(const device::Device& device, engine::exec::Device* machine,
                              std::chrono::milliseconds patience);

/// One for each device, by number: those of the file where they are of these devices, else measured now and written to
/// it. That the file cannot be written is told on standard error, and no failure.
struct Calibrated {
  const device::Device* device;
  engine::exec::Device* machine;
};
Result<Calibration> calibrate_all(const std::vector<Calibrated>& devices, const std::string& path);

}  // namespace strom::service
