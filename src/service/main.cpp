// pg_strom_gpu_service: the process that owns the GPU. Started by the extension's background worker, or by hand:
//   pg_strom_gpu_service --socket PATH --module PATH [--device N] [--workers N] [--cache-percent N]
//                        [--life-descriptor N] [--storage auto|cufile|io_uring|vfs] [--calibration PATH]
//                        [--launch-limit MILLISECONDS]
// All devices are used, unless one is named. Exit status: 0 after SIGTERM or when the life descriptor's pipe was
// closed, 3 when there is no device, 1 after other failures, 2 when called wrongly. Messages go to standard
// error.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/descriptor_limit.hpp"
#include "service/calibrate.hpp"
#include "service/device_runner.hpp"
#include "service/server.hpp"

namespace {

using namespace strom;

constexpr int kFailed = 1, kWrongCall = 2, kNoDevice = 3;
constexpr int kGraceSeconds = 3;

service::Server* running = nullptr;

struct Arguments {
  service::ServerOptions server;
  std::string module;
  int device = -1;  // all
  int cache_percent = service::kCachePercent;
  service::StorageOptions storage;
  std::string calibration;
  int launch_limit = 0;
};

/// Beside the socket, but never in the folder that the process is in, which is the data directory.
std::string cufile_log(const std::string& socket) {
  const size_t slash = socket.rfind('/');
  char here[PATH_MAX],
      *folder = slash == std::string::npos ? nullptr : realpath(socket.substr(0, slash + 1).c_str(), nullptr);
  const bool is_apart = folder != nullptr && getcwd(here, sizeof here) != nullptr && std::strcmp(here, folder) != 0;
  std::free(folder);
  return is_apart ? socket + ".cufile.log" : "/dev/null";
}

bool parse_number(const char* text, int low, int high, int* number) {
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, *number);
  return error == std::errc() && rest == end && *number >= low && *number <= high;
}

bool parse(int argc, char** argv, Arguments* arguments) {
  if (argc % 2 == 0) return false;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const char* value = argv[i + 1];
    bool is_right = true;
    if (name == "--socket")
      arguments->server.socket_path = value;
    else if (name == "--module")
      arguments->module = value;
    else if (name == "--device")
      is_right = parse_number(value, 0, 63, &arguments->device);
    else if (name == "--calibration")
      arguments->calibration = value;
    else if (name == "--launch-limit")
      is_right = parse_number(value, 0, INT_MAX, &arguments->launch_limit);
    else if (name == "--workers")
      is_right = parse_number(value, 1, 256, &arguments->server.workers);
    else if (name == "--cache-percent")
      is_right = parse_number(value, 0, 100, &arguments->cache_percent);
    else if (name == "--life-descriptor")
      is_right = parse_number(value, 3, 1 << 20, &arguments->server.life_descriptor);
    else if (name == "--storage")
      is_right = service::parse_storage_choice(value, &arguments->storage.choice);
    else
      is_right = false;
    if (!is_right) return false;
  }
  return !arguments->server.socket_path.empty() && !arguments->module.empty();
}

int fail(const Status& status, int exit_status) {
  std::fprintf(stderr, "pg_strom_gpu_service: %s\n", status.message().c_str());
  if (!status.detail().empty()) std::fprintf(stderr, "DETAIL:  %s\n", status.detail().c_str());
  if (!status.hint().empty()) std::fprintf(stderr, "HINT:  %s\n", status.hint().c_str());
  return exit_status;
}

constexpr size_t kManyDescriptors = 1 << 20;  // a thousand clients have several each

using Runners = std::vector<std::unique_ptr<service::DeviceRunner>>;

/// Runners of all usable devices. An unusable device is reported, and left out if there are others.
Result<Runners> open_devices(const Arguments& arguments) {
  STROM_ASSIGN(const std::shared_ptr<const device::Module> module, device::Module::open(arguments.module));
  STROM_ASSIGN(const int count, module->count());
  const int first = std::max(0, arguments.device), last = arguments.device < 0 ? count - 1 : arguments.device;
  Runners runners;
  Status failed(ErrorCode::kDeviceLost, "there is no GPU");
  for (int i = first; i <= last; ++i) {
    auto runner = service::DeviceRunner::create(module, i, arguments.cache_percent,
                                                std::chrono::milliseconds(arguments.launch_limit), arguments.storage);
    if (runner.is_ok()) {
      runners.push_back(std::move(runner).value());
      continue;
    }
    failed = runner.status();
    if (first != last) fail(failed, kNoDevice);
  }
  if (runners.empty()) return failed;
  return runners;
}

/// Without measurements the planner does with the costs that are set.
Status measure(const Runners& runners, const std::string& path) {
  std::vector<service::Calibrated> devices;
  for (const auto& runner : runners) devices.push_back({&runner->device(), &runner->local_device()});
  const auto calibration = service::calibrate_all(devices, path);
  if (!calibration.is_ok() && calibration.status().code() != ErrorCode::kDeviceLost)
    fail(calibration.status(), kFailed);
  return calibration.is_ok() || calibration.status().code() != ErrorCode::kDeviceLost ? Status::ok()
                                                                                      : calibration.status();
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, &arguments)) {
    std::fprintf(stderr,
                 "usage: pg_strom_gpu_service --socket PATH --module PATH [--device N] [--workers N]"
                 " [--cache-percent N] [--life-descriptor N] [--storage auto|cufile|io_uring|vfs]"
                 " [--calibration PATH] [--launch-limit MILLISECONDS]\n");
    return kWrongCall;
  }
  arguments.server.grace_seconds = kGraceSeconds;
  if (arguments.server.life_descriptor >= 0) fcntl(arguments.server.life_descriptor, F_SETFD, FD_CLOEXEC);
  base::raise_descriptor_limit(kManyDescriptors);
  std::signal(SIGPIPE, SIG_IGN);

  if (const char* library = std::getenv("STROM_CUFILE_LIBRARY")) arguments.storage.cufile_library = library;
  arguments.storage.cufile_log = cufile_log(arguments.server.socket_path);
  const auto runners = open_devices(arguments);
  if (!runners.is_ok())
    return fail(runners.status(), runners.status().code() == ErrorCode::kDeviceLost ? kNoDevice : kFailed);
  if (!arguments.calibration.empty())
    if (const Status status = measure(runners.value(), arguments.calibration); !status.is_ok())
      return fail(status, kFailed);
  std::vector<service::TaskRunner*> tasks;
  for (const auto& one : runners.value()) tasks.push_back(one.get());
  const auto server = service::Server::create(arguments.server, tasks);
  if (!server.is_ok()) return fail(server.status(), kFailed);
  running = server.value().get();
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { running->stop(); });
  const Status outcome = running->serve();
  return outcome.is_ok() ? 0 : fail(outcome, kFailed);
}
