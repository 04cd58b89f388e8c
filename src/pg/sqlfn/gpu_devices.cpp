// The SQL function that shows the GPU service's devices and its measurements of them, as declared in sql/gpu.sql.
#include "pg/boundary/boundary.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/gpu/known_service.hpp"

namespace boundary = strom::pg::boundary;
namespace service = strom::service;

namespace {

constexpr int kColumns = 20, kMeasured = 9;

// May ereport. `rates` is nullptr if the device was not measured.
void put_device(ReturnSetInfo* result, const service::DeviceRow& row, const service::DeviceRates* rates) {
  constexpr double kMicrosPerMilli = 1000;
  const service::DeviceRates none{};
  const service::DeviceRates& of = rates == nullptr ? none : *rates;
  Datum values[] = {Int32GetDatum(static_cast<int32_t>(row.number)),
                    CStringGetTextDatum(row.name.c_str()),
                    CStringGetTextDatum(row.address.c_str()),
                    Int32GetDatum(static_cast<int32_t>(row.processors)),
                    Int64GetDatum(static_cast<int64_t>(row.memory)),
                    Int64GetDatum(static_cast<int64_t>(row.memory_used)),
                    Int32GetDatum(static_cast<int32_t>(row.sessions)),
                    Int32GetDatum(static_cast<int32_t>(row.queued)),
                    Int32GetDatum(static_cast<int32_t>(row.running)),
                    Int64GetDatum(static_cast<int64_t>(row.tasks_done)),
                    Float8GetDatum(static_cast<double>(row.busy_us) / kMicrosPerMilli),
                    Float8GetDatum(of.copy_in),
                    Float8GetDatum(of.copy_out),
                    Float8GetDatum(of.fill),
                    Float8GetDatum(of.stage),
                    Float8GetDatum(of.round_trip_us),
                    Float8GetDatum(of.setup_us),
                    Float8GetDatum(of.scan.device),
                    Float8GetDatum(of.probe.device),
                    Float8GetDatum(of.group.device)};
  static_assert(sizeof values / sizeof *values == kColumns);
  bool nulls[kColumns] = {};
  nulls[2] = row.address.empty();
  for (int i = kColumns - kMeasured; i < kColumns; ++i) nulls[i] = rates == nullptr;
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

/// pgstrom.gpu_devices() -> a row for each device of the service; no rows when there is no service.
STROM_SQL_FUNCTION(strom_gpu_devices) {
  constexpr int kPatienceMs = 5000;
  boundary::guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  auto connected = service::Client::connect(strom::pg::gpu::gpu_client_options());
  if (!connected.is_ok()) return Datum{0};
  (void)boundary::value_or_throw(connected.value()->request(service::AskDevices{}));
  std::optional<service::Reply> reply = boundary::value_or_throw(connected.value()->wait(kPatienceMs));
  const auto* devices = reply ? std::get_if<service::Devices>(&reply->message) : nullptr;
  if (devices == nullptr)
    throw boundary::StatusError(strom::Status(strom::ErrorCode::kDeviceLost, "the GPU service does not answer"));
  const service::Calibration* known = strom::pg::gpu::known_service();
  for (const service::DeviceRow& row : devices->rows) {
    const bool is_measured = known != nullptr && row.number < known->devices.size();
    boundary::guard([&] { put_device(result, row, is_measured ? &known->devices[row.number] : nullptr); });
  }
  return Datum{0};
}
