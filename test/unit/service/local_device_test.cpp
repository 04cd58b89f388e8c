// Launches that are told to stop, that are paused, and that do not end, on the devices of tests.
#include "service/local_device.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "engine/exec/execution.hpp"
#include "engine/plan/builder.hpp"
#include "service/device_runner.hpp"
#include "service/remote_device.hpp"
#include "test_server.hpp"

namespace strom::service::test {
namespace {

using engine::block::RunResult;
using engine::block::TileState;
using engine::device::DeviceRegion;
using engine::device::DeviceWork;
using engine::exec::Execution;
using std::chrono::milliseconds;
namespace plan = engine::plan;

/// The numbers from 0 on.
class Numbers final : public engine::op::ChunkSource {
 public:
  explicit Numbers(int32_t count) : values_(static_cast<size_t>(count)) {
    std::iota(values_.begin(), values_.end(), 0);
  }
  int64_t chunk_count() const override { return 1; }
  int64_t total_rows() const override { return static_cast<int64_t>(values_.size()); }
  Result<columnar::BatchView> chunk(int64_t) const override {
    columnar::ColumnView column;
    column.layout = columnar::Layout::kInt32;
    column.length = total_rows();
    column.values = values_.data();
    columnar::BatchView batch;
    batch.rows = column.length;
    batch.columns = {column};
    return batch;
  }

 private:
  std::vector<int32_t> values_;
};

/// How many pairs of numbers of both sources there are.
plan::Program pairs() {
  const plan::ValueType int4{registry::TypeId::kInt4, 0};
  plan::Program program;
  program.sources = {{{int4}}, {{int4}}};
  program.joins.emplace_back();
  program.pipelines.resize(2);
  program.pipelines[0].sink = plan::SinkKind::kBuild;
  program.pipelines[1].source = 1;
  program.pipelines[1].joins = {0};
  program.pipelines[1].sink = plan::SinkKind::kAggregate;
  program.pipelines[1].aggregates = {{}};
  return program;
}

/// The device without a limit of tiles in a launch; the first launches find the flag set.
class Unbounded final : public engine::device::Device {
 public:
  Unbounded(Device* device, int stopped) : device_(device), stopped_(stopped) {}
  std::string name() const override { return device_->name(); }
  int states_per_worker() const override { return device_->states_per_worker(); }
  Result<std::unique_ptr<DeviceRegion>> allocate(size_t bytes, bool mirrored, const KeepGoing& keep_going) override {
    return device_->allocate(bytes, mirrored, keep_going);
  }
  Status run(const DeviceWork& work, const KeepGoing& keep_going) override {
    if (work.count == 0) return device_->run(work, keep_going);
    const DeviceRegion& region = *work.out.front().region;
    const auto on_host = [&](auto* device) {
      return reinterpret_cast<decltype(device)>(region.host() + (reinterpret_cast<char*>(device) - region.device()));
    };
    TileState* states = on_host(work.states);
    for (int i = 0; i < work.count; ++i) states[i].budget = INT32_MAX;
    DeviceWork told = work;
    if (launches++ < stopped_) {
      *on_host(work.stop) = 1;
      told.in.push_back({&region, static_cast<size_t>(reinterpret_cast<char*>(work.stop) - region.device()), 4});
    }
    STROM_TRY(device_->run(told, keep_going));
    for (int i = 0; i < work.count; ++i)
      if (on_host(work.results)[i] == RunResult::kPaused) ++paused;
    if (launches <= stopped_) {
      *on_host(work.stop) = 0;
      return device_->run({{told.in.back()}, nullptr, nullptr, 0, {}}, keep_going);
    }
    return {};
  }
  std::atomic<int> launches = 0, paused = 0;

 private:
  Device* const device_;
  const int stopped_;
};

class LocalDeviceTest : public testing::Test {
 protected:
  void open(const char* path) {
    auto module = device::Module::open(path);
    ASSERT_TRUE(module.is_ok()) << module.status().message();
    device_ = device::Device::open(module.value(), 0).value();
  }

  /// The count; a failure.
  static Result<int64_t> count(
      int32_t inner, int32_t outer, engine::device::Device* device,
      const engine::exec::InterruptCheck& interrupt = [] {}) {
    const plan::Program program = pairs();
    const Numbers some(inner), others(outer);
    engine::exec::Options options;
    options.device = device;
    options.device_rows = outer;
    STROM_ASSIGN(const auto execution, Execution::create(program, {&some, &others}, {}, options));
    int64_t found = 0;
    for (;;) {
      STROM_ASSIGN(const auto batch, execution->next(interrupt));
      if (batch == nullptr) return found;
      found += batch->aggregates.at(0).counts[0];
    }
  }
  std::unique_ptr<device::Device> device_;
};

class AnyDevice : public LocalDeviceTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { open(GetParam()); }
  bool is_slow() const { return std::string(GetParam()) != STROM_HOST_MODULE_PATH; }
};

/// One whose launches go on while the host does something else, and can hang.
class HostDevice : public LocalDeviceTest {
 protected:
  static void SetUpTestSuite() { setenv("STROM_HOST_DEVICE_HANG", folder().path("hang").c_str(), 1); }
  static Folder& folder() {
    static Folder folder;
    return folder;
  }
  void SetUp() override { open(STROM_HOST_MODULE_PATH); }

  /// A service of that device in a process of its own, which exits with kLostStatus when it has lost the device.
  static constexpr int kLostStatus = 7;
  static pid_t start_service(const std::string& socket, milliseconds launch_limit) {
    const pid_t parent = getpid(), process = fork();
    if (process != 0) return process;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    ErrorCode outcome = ErrorCode::kOk;
    {
      const auto runner =
          DeviceRunner::create(device::Module::open(STROM_HOST_MODULE_PATH).value(), 0, 10, launch_limit, {});
      ServerOptions options;
      options.socket_path = socket;
      options.grace_seconds = 1;
      const auto server = Server::create(options, runner.value().get());
      if (server.is_ok()) outcome = server.value()->serve().code();
    }
    _exit(outcome == ErrorCode::kDeviceLost ? kLostStatus : 1);
  }
};

TEST_P(AnyDevice, a_launch_that_finds_the_flag_pauses) {
  LocalDevice local(device_.get());
  Unbounded unbounded(&local, 3);
  const int32_t inner = 3, outer = is_slow() ? 5000 : 50000;
  const auto found = count(inner, outer, &unbounded);
  ASSERT_TRUE(found.is_ok()) << found.status().message();
  EXPECT_EQ(found.value(), int64_t{inner} * outer);
  EXPECT_GE(unbounded.paused, 3);
}

TEST_F(HostDevice, a_query_that_is_ended_ends_its_launch) {
  LocalDevice local(device_.get());
  Unbounded unbounded(&local, 0);
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point told{};
  const auto end = [&] {
    if (std::chrono::steady_clock::now() - begin < milliseconds(200)) return;
    told = std::chrono::steady_clock::now();
    throw std::runtime_error("ends");
  };
  EXPECT_THROW((void)count(1'000'000, 1'000'000, &unbounded, end), std::runtime_error);
  EXPECT_LT(std::chrono::steady_clock::now() - told, milliseconds(1000));
  EXPECT_EQ(count(10, 1000, &local).value(), 10000);
}

TEST_F(HostDevice, a_launch_that_takes_long_pauses) {
  LocalDevice local(device_.get(), milliseconds(400));
  Unbounded unbounded(&local, 0);
  int32_t outer = 20000;
  // Until it is more than one launch may take.
  for (; unbounded.paused == 0 && outer < 2'000'000; outer *= 2) {
    const auto found = count(20000, outer, &unbounded);
    ASSERT_TRUE(found.is_ok()) << found.status().message();
    EXPECT_EQ(found.value(), int64_t{20000} * outer);
  }
  EXPECT_GT(unbounded.paused, 0);
}

TEST_F(HostDevice, a_launch_that_does_not_end_has_lost_the_device) {
  std::ofstream(folder().path("hang")) << "x";
  const auto begin = std::chrono::steady_clock::now();
  // In a process that ends with it, as the service does.
  const auto lose = [this] {
    LocalDevice local(device_.get(), milliseconds(300));
    const Status lost = count(10, 1000, &local).status();
    _exit(lost.code() == ErrorCode::kDeviceLost && !lost.hint().empty() ? 0 : 1);
  };
  EXPECT_EXIT(lose(), testing::ExitedWithCode(0), "");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(300));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5000));
  unlink(folder().path("hang").c_str());
}

// As cudaFree does, the device releases memory only when what was started before is over. Memory of a session that
// leaves meanwhile keeps the service's process from its own end, but nobody who waits for an answer.
TEST_F(HostDevice, a_service_does_not_wait_for_a_launch_that_does_not_end) {
  for (const bool one_leaves : {false, true}) {
    Folder own;
    ClientOptions options;
    options.socket_path = own.path("socket");
    const milliseconds limit(1000);
    const pid_t service = start_service(options.socket_path, limit);
    const auto watcher = connect_soon(options.socket_path);
    ASSERT_NE(watcher, nullptr);
    auto remote = std::move(RemoteDevice::connect(options)).value();
    auto leaving = std::move(RemoteDevice::connect(options)).value();
    // More than stays for other sessions.
    auto memory = leaving->allocate(size_t{400} << 20, false, [] { return true; });
    ASSERT_TRUE(memory.is_ok()) << memory.status().message();

    std::ofstream(folder().path("hang")) << "x";
    const auto begin = std::chrono::steady_clock::now();
    Status lost;
    std::thread query([&] { lost = count(10, 1000, remote.get()).status(); });
    std::this_thread::sleep_for(limit / 4);
    if (one_leaves) {
      memory = Status(ErrorCode::kCancelled, "");
      leaving.reset();
    }
    ASSERT_TRUE(watcher->request(AskLedger{}).is_ok());
    const auto ledger = watcher->wait(10000);
    EXPECT_TRUE(ledger.is_ok() && ledger.value().has_value());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, limit);  // others are served meanwhile
    query.join();
    EXPECT_EQ(lost.code(), ErrorCode::kDeviceLost);
    EXPECT_EQ(lost.message(), "a kernel of the GPU does not end");  // and not: the service has gone
    int outcome = 0;
    for (int i = 0; i < 1000 && waitpid(service, &outcome, WNOHANG) == 0; ++i)
      std::this_thread::sleep_for(milliseconds(10));
    EXPECT_TRUE(one_leaves ? WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGALRM
                           : WIFEXITED(outcome) && WEXITSTATUS(outcome) == kLostStatus)
        << one_leaves << " " << outcome;
    unlink(folder().path("hang").c_str());
  }
}

std::vector<const char*> modules() {
  std::vector<const char*> found = {STROM_HOST_MODULE_PATH};
#ifdef STROM_EMULATED_MODULE_PATH
  found.push_back(STROM_EMULATED_MODULE_PATH);
#endif
  return found;
}

INSTANTIATE_TEST_SUITE_P(Modules, AnyDevice, testing::ValuesIn(modules()), [](const auto& info) {
  return info.index == 0 ? std::string("Host") : std::string("Emulated");
});

}  // namespace
}  // namespace strom::service::test
