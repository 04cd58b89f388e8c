#include "test_server.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

namespace strom::service::test {

std::atomic<bool> releases_wait = false;

void FakeRunner::end_session(uint32_t) {
  while (releases_wait) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Result<TaskOutput> FakeRunner::run(Task& task) {
  TaskOutput output;
  switch (task.kind) {
    case kEcho: output.values = task.arguments; break;
    case kSleep:
      for (int left = std::stoi(task.arguments); left > 0; --left) {
        if (task.stop) return Status(ErrorCode::kCancelled, "stopped");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      break;
    case kTwice: {
      const std::string bytes = bytes_of(task.descriptors.at(0).get());
      output.bulk = memory_file(bytes + bytes);
      break;
    }
    case kLose: return Status(ErrorCode::kDeviceLost, "the device fell off the bus");
    default: return Status(ErrorCode::kUnsupported, "no such task");
  }
  return output;
}

Folder::Folder() {
  char name[] = "/tmp/strom_service_XXXXXX";
  path_ = mkdtemp(name);
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

ThreadServer::ThreadServer(ServerOptions options) {
  auto server = Server::create(std::move(options), &runner_);
  if (!server.is_ok()) throw std::runtime_error(server.status().message());
  server_ = std::move(server).value();
  thread_ = std::thread([this] { outcome_ = server_->serve(); });
}

ThreadServer::~ThreadServer() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

Status ThreadServer::outcome() {
  thread_.join();
  return outcome_;
}

pid_t start_server_process(const ServerOptions& options) {
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process != 0) return process;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  FakeRunner runner;
  auto server = Server::create(options, &runner);
  _exit(server.is_ok() && server.value()->serve().is_ok() ? 0 : 1);
}

std::unique_ptr<Client> connect(const std::string& socket_path, int32_t priority) {
  ClientOptions options;
  options.socket_path = socket_path;
  options.name = "test";
  options.priority = priority;
  auto client = Client::connect(options);
  EXPECT_TRUE(client.is_ok()) << client.status().message() << " " << client.status().detail();
  return client.is_ok() ? std::move(client).value() : nullptr;
}

std::unique_ptr<Client> connect_soon(const std::string& socket_path) {
  ClientOptions options;
  options.socket_path = socket_path;
  for (int i = 0; i < 1000; ++i) {
    auto client = Client::connect(options);
    if (client.is_ok()) return std::move(client).value();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "no server";
  return nullptr;
}

Descriptor memory_file(const std::string& bytes) {
  Descriptor file(memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return file;
}

std::string bytes_of(int descriptor) {
  struct stat facts = {};
  fstat(descriptor, &facts);
  std::string bytes(static_cast<size_t>(facts.st_size), '\0');
  EXPECT_EQ(pread(descriptor, bytes.data(), bytes.size(), 0), facts.st_size);
  return bytes;
}

}  // namespace strom::service::test
