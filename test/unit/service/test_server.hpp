// A server for tests, in a process of its own or in threads, with a runner that has no device.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "service/client.hpp"
#include "service/server.hpp"

namespace strom::service::test {

enum FakeTask : uint16_t {
  kEcho = 1,  // its arguments
  kSleep,     // so many milliseconds, or until it is stopped
  kTwice,     // the bytes of its descriptor, twice, as bulk output
  kLose,      // the device
};

/// The memory of sessions that end is released when this is gone, as that of a device whose launch goes on.
extern std::atomic<bool> releases_wait;

class FakeRunner : public TaskRunner {
 public:
  std::string device_name() const override { return "no device"; }
  uint64_t device_memory() const override { return 1000; }
  Result<TaskOutput> run(Task& task) override;
  void end_session(uint32_t session) override;
};

/// An empty folder that is removed with its files at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Serves in threads of this process until destroyed.
class ThreadServer {
 public:
  explicit ThreadServer(ServerOptions options);
  ~ThreadServer();
  Status outcome();  // waits for its end

 private:
  FakeRunner runner_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  Status outcome_;
};

/// Serves in a child process, which ends with this process or by kill().
pid_t start_server_process(const ServerOptions& options);

std::unique_ptr<Client> connect(const std::string& socket_path, int32_t priority = 0);
/// Connects as soon as there is a server.
std::unique_ptr<Client> connect_soon(const std::string& socket_path);

/// A memory file with these bytes, and back.
Descriptor memory_file(const std::string& bytes);
std::string bytes_of(int descriptor);

}  // namespace strom::service::test
