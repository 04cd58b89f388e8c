// Measures a device when the service starts: see docs/dev/gpu-service.md.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "engine/device/device.hpp"
#include "service/calibration.hpp"

namespace strom::service {

/// Facts that a device tells of itself; nothing is measured.
DeviceRates facts_of(const device::Device& device);

/// Rates of a device that nothing else uses. Each measurement is repeated with more rows until it takes long enough to
/// be exact, or `patience` is over. So a slow device is measured with few rows. Errors: kDeviceLost, kOverBudget (too
/// little memory).
Result<DeviceRates> calibrate(const device::Device& device, engine::device::Device* engine_device,
                              std::chrono::milliseconds patience);

/// The rates of each device, by number. They come from the file if it is of these devices; else they are measured now
/// and written to it. A file that cannot be written is reported on standard error, and is no failure.
struct Calibrated {
  const device::Device* device;
  engine::device::Device* engine_device;
};
Result<Calibration> calibrate_all(const std::vector<Calibrated>& devices, const std::string& path);

}  // namespace strom::service
