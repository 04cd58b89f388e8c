#include "pg/gpu/gpu_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/gpu/service_path.hpp"
#include "service/device_order.hpp"

namespace strom::pg::gpu {

using boundary::guard;
using guc::DeviceChoice;
using service::RemoteDevice;

namespace {

/// After a failed connection, queries that do not require a GPU wait this long before they try again.
constexpr std::chrono::seconds kPatience{1};

Result<std::shared_ptr<RemoteDevice>> connect(int32_t device) {
  service::ClientOptions options = gpu_client_options();
  options.device = device;
  STROM_ASSIGN(std::unique_ptr<RemoteDevice> connected, RemoteDevice::connect(options));
  return std::shared_ptr<RemoteDevice>(std::move(connected));
}

/// Connections indexed by the device's number. A connection is made when it is first needed.
GpuDevices connections;

std::shared_ptr<RemoteDevice> any_connection() {
  for (const auto& device : connections)
    if (device) return device;
  return nullptr;
}

void keep(std::shared_ptr<RemoteDevice> device) {
  const size_t number = device->number();
  if (connections.size() <= number) connections.resize(number + 1);
  connections[number] = std::move(device);
}

/// For each path the chosen devices that are near it, as indexes in `chosen`.
std::vector<std::vector<uint32_t>> near_devices(const GpuDevices& chosen,
                                                const std::vector<service::DeviceRow>& devices,
                                                const std::vector<service::OptimalDevices>& optimal,
                                                const std::vector<std::string>& paths) {
  std::map<std::string, std::vector<uint32_t>> known;  // many partitions lie in few places
  std::vector<std::vector<uint32_t>> near;
  for (const std::string& path : paths) {
    const auto [found, is_new] = known.try_emplace(path);
    if (is_new && !path.empty()) {
      const std::vector<uint32_t> numbers = service::nearest_devices(devices, optimal, path);
      for (uint32_t place = 0; place < chosen.size(); ++place)
        if (std::count(numbers.begin(), numbers.end(), chosen[place]->number()) > 0) found->second.push_back(place);
    }
    near.push_back(found->second);
  }
  return near;
}

/// Chooses the best `most` devices of the service.
Result<GpuChoice> choose_devices(const std::vector<std::string>& paths, size_t most) {
  GpuDevices chosen;
  std::shared_ptr<RemoteDevice> any = any_connection();
  if (any == nullptr) {
    STROM_ASSIGN(any, connect(-1));
    keep(any);
  }
  if (any->device_count() <= 1) {
    chosen.push_back(std::move(any));
    return GpuChoice{std::move(chosen), {}};
  }
  STROM_ASSIGN(std::vector<service::DeviceRow> devices, any->devices([] { return !InterruptPending; }));
  for (service::DeviceRow& device : devices)  // this session does not use its own connections now
    if (device.number < connections.size() && connections[device.number] && device.sessions > 0) --device.sessions;
  const char* text = guc::pg_strom::manual_optimal_gpus;
  STROM_ASSIGN(const auto optimal, service::parse_optimal_devices(text == nullptr ? "" : text));
  std::set<std::string> places(paths.begin(), paths.end());
  if (places.size() > 1) places.erase("");
  for (const service::DeviceRow& device :
       service::order_devices(devices, optimal, std::vector<std::string>(places.begin(), places.end()))) {
    if (chosen.size() >= std::max<size_t>(1, most)) break;
    if (device.number >= connections.size() || !connections[device.number]) {
      STROM_ASSIGN(std::shared_ptr<RemoteDevice> connected, connect(static_cast<int32_t>(device.number)));
      keep(std::move(connected));
    }
    chosen.push_back(connections[device.number]);
  }
  auto near = near_devices(chosen, devices, optimal, paths);
  return GpuChoice{std::move(chosen), std::move(near)};
}

[[noreturn]] void refuse(const Status& status) {
  guard([&status] {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("no GPU can run the query"),
             errdetail("%s.", status.message().c_str()),
             errhint("SELECT * FROM pgstrom.doctor() tells what is missing. Set pg_strom.device to auto or cpu.")));
  });
  pg_unreachable();
}

}  // namespace

service::ClientOptions gpu_client_options() {
  service::ClientOptions options;
  options.socket_path = service_socket();
  options.name = std::to_string(MyProcPid) + " " + (application_name == nullptr ? "" : application_name);
  return options;
}

GpuChoice choose_gpus(const std::vector<std::string>& paths, size_t most) {
  static std::chrono::steady_clock::time_point failed{};
  const DeviceChoice choice = guc::pg_strom::device();
  if (choice != DeviceChoice::kAuto && choice != DeviceChoice::kGpu) return {};
  const auto is_dead = [](const auto& device) { return device != nullptr && !device->is_alive(); };
  if (std::any_of(connections.begin(), connections.end(), is_dead)) connections.clear();
  const auto now = std::chrono::steady_clock::now();
  if (choice == DeviceChoice::kAuto && any_connection() == nullptr &&
      (now - failed < kPatience || access(service_socket().c_str(), F_OK) != 0))
    return {};
  Result<GpuChoice> chosen = choose_devices(paths, most);
  if (chosen.is_ok()) {
    for (const auto& device : chosen.value().devices) device->set_caches_columns(guc::pg_strom::enable_gpu_cache);
    return std::move(chosen).value();
  }
  connections.clear();
  if (chosen.status().code() == ErrorCode::kCancelled) return {};  // the query is about to end
  failed = now;
  if (choice == DeviceChoice::kGpu) refuse(chosen.status());
  return {};
}

}  // namespace strom::pg::gpu
