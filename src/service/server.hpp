// The GPU service's server: it has sessions over a UNIX socket, and runs their tasks on worker threads. Only the thread
// that calls serve() uses sockets. See docs/dev/gpu-service.md.
#pragma once

#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "service/protocol.hpp"
#include "service/scheduler.hpp"
#include "service/sockets.hpp"

namespace strom::service {

struct TaskOutput {
  std::string values;               // small: fits a message
  Descriptor bulk;                  // or a memory file
  uint64_t kept = 0, returned = 0;  // device memory, see Scheduler::finish
};

/// What runs tasks: the device.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  virtual std::string device_name() const = 0;
  virtual std::string address() const { return ""; }  // on the PCI bus
  virtual uint64_t device_memory() const = 0;         // bytes that tasks may have together
  /// Tile states that the device runs at a time.
  virtual uint32_t processors() const { return 1; }
  /// Runs a task to its end; kCancelled soon after task.stop. Called by several threads at a time. kDeviceLost ends the
  /// service: nothing else can run either.
  virtual Result<TaskOutput> run(Task& task) = 0;
  /// Gives back the session's device memory, which may be to wait for launches of others. None of its tasks runs.
  virtual void end_session(uint32_t session) { (void)session; }

  /// Called first. The lender has the memory that no task has. It outlives all calls but the destructor.
  virtual void set_lender(MemoryLender* lender) { (void)lender; }
  // Columns that stay on the device. These do not wait for it.
  virtual Columns find_columns(uint32_t session, const FindColumns& request) {
    (void)session;
    return {std::vector<ColumnRow>(request.names.size())};
  }
  virtual Status settle_columns(uint32_t session, const SettleColumns& request) {
    (void)session, (void)request;
    return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: no such column");
  }
  virtual Cache cache(const std::string& after) {
    (void)after;
    return {};
  }
};

struct ServerOptions {
  std::string socket_path;
  int workers = 4;  // tasks at a time, of each device
  int most_sessions = 1000;
  uid_t user = geteuid();    // whose processes may connect
  int life_descriptor = -1;  // the server ends when the other end of this pipe is closed
  int grace_seconds = 0;  // not 0: the process is killed by SIGALRM when its tasks do not end so soon after the server
};

class Server {
 public:
  /// `runners`: of each device, by number.
  static Result<std::unique_ptr<Server>> create(ServerOptions options, const std::vector<TaskRunner*>& runners);
  static Result<std::unique_ptr<Server>> create(ServerOptions options, TaskRunner* runner) {
    return create(std::move(options), std::vector<TaskRunner*>{runner});
  }
  virtual ~Server() = default;

  /// Serves until stop(), or until the device is lost, which is the Status then. Tasks that run are told to stop, and
  /// waited for.
  virtual Status serve() = 0;
  /// From any thread or signal handler.
  virtual void stop() = 0;
};

}  // namespace strom::service
