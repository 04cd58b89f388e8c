#include "pg/node/gpu_session.hpp"

#include <unistd.h>

#include <chrono>
#include <limits>
#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/guc.hpp"
#include "pg/worker/service_path.hpp"

namespace strom::pg::node {

using boundary::guard;
using guc::DeviceChoice;
using service::RemoteMachine;

namespace {

/// After a connection that failed, queries that may go without wait so long before they try again.
constexpr std::chrono::seconds kPatience{1};

Result<std::shared_ptr<RemoteMachine>> connect() {
  STROM_ASSIGN(std::unique_ptr<RemoteMachine> machine, RemoteMachine::connect(gpu_client_options()));
  return std::shared_ptr<RemoteMachine>(std::move(machine));
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
  options.socket_path = worker::service_socket();
  options.name = std::to_string(MyProcPid) + " " + (application_name == nullptr ? "" : application_name);
  return options;
}

std::shared_ptr<RemoteMachine> gpu_machine() {
  static std::shared_ptr<RemoteMachine> machine;
  static std::chrono::steady_clock::time_point failed{};
  const DeviceChoice choice = guc::pg_strom::device();
  if (choice != DeviceChoice::kAuto && choice != DeviceChoice::kGpu) return nullptr;
  if (machine && !machine->is_alive()) machine.reset();
  if (machine) machine->set_keeps_columns(guc::pg_strom::enable_gpu_cache);
  if (machine) return machine;
  const auto now = std::chrono::steady_clock::now();
  if (choice == DeviceChoice::kAuto &&
      (now - failed < kPatience || access(worker::service_socket().c_str(), F_OK) != 0))
    return nullptr;
  Result<std::shared_ptr<RemoteMachine>> connected = connect();
  if (connected.is_ok()) {
    machine = std::move(connected).value();
    machine->set_keeps_columns(guc::pg_strom::enable_gpu_cache);
    return machine;
  }
  failed = now;
  if (choice == DeviceChoice::kGpu) refuse(connected.status());
  return nullptr;
}

int64_t least_gpu_rows() {
  if (guc::pg_strom::device() == DeviceChoice::kGpu) return 0;
  const double saved = guc::pg_strom::cpu_tuple_cost - guc::pg_strom::gpu_tuple_cost;
  const double rows = saved > 0 ? guc::pg_strom::gpu_setup_cost / saved : std::numeric_limits<double>::infinity();
  return rows < 1e15 ? static_cast<int64_t>(rows) : std::numeric_limits<int64_t>::max();
}

}  // namespace strom::pg::node
