// Files that the service reads into device memory: every way, with everything that can go wrong.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "../device/test_module.hpp"
#include "service/device_runner.hpp"
#include "service/memory_lender.hpp"
#include "service/local_device.hpp"
#include "service/remote_device.hpp"
#include "test_server.hpp"

namespace strom::service::test {
namespace {

using engine::device::DeviceWork;

TEST(Storage, choices) {
  StorageChoice choice = StorageChoice::kAuto;
  EXPECT_TRUE(parse_storage_choice("vfs", &choice));
  EXPECT_EQ(choice, StorageChoice::kVfs);
  EXPECT_FALSE(parse_storage_choice("nvme_strom", &choice));
  EXPECT_FALSE(parse_storage_choice("", &choice));
}

void read_with(ReadQueue& queue, int file, const std::string& bytes) {
  constexpr uint32_t kReads = 8;
  std::vector<std::string> buffers(kReads, std::string(1000, '\0'));
  for (uint32_t i = 0; i < kReads; ++i)
    ASSERT_TRUE(queue.submit(i, file, buffers[i].data(), buffers[i].size(), i * 700).is_ok());
  for (uint32_t left = kReads; left > 0;) {
    const auto done = queue.wait(1000);
    ASSERT_TRUE(done.is_ok());
    if (!done.value()) continue;
    const ReadQueue::Done& read = *done.value();
    ASSERT_GE(read.result, 0);
    EXPECT_EQ(buffers[read.number].substr(0, static_cast<size_t>(read.result)), bytes.substr(read.number * 700, 1000));
    --left;
  }
  EXPECT_FALSE(queue.wait(0).value());
  ASSERT_TRUE(queue.submit(5, -1, buffers[0].data(), 10, 0).is_ok());
  for (;;) {
    const auto done = queue.wait(100);
    ASSERT_TRUE(done.is_ok());
    if (!done.value()) continue;
    EXPECT_EQ(done.value()->result, -EBADF);
    break;
  }
}

TEST(Storage, read_queues) {
  std::string bytes;
  for (int i = 0; i < 1500; ++i) bytes += std::to_string(i * 7919);
  const Descriptor file = memory_file(bytes);
  const auto plain = ReadQueue::create(8, false);
  EXPECT_FALSE(plain->overlaps());
  read_with(*plain, file.get(), bytes);
  const auto ring = ReadQueue::create(8, true);
  EXPECT_EQ(ring->overlaps(), ReadQueue::check_io_uring().is_ok());
  read_with(*ring, file.get(), bytes);
}

/// As the profiles of containers do it.
void forbid_io_uring() {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(Storage, io_uring_is_forbidden) {
  const Descriptor file = memory_file(std::string(10000, 'b'));
  const pid_t child = fork();
  if (child == 0) {
    forbid_io_uring();
    EXPECT_FALSE(ReadQueue::check_io_uring().is_ok());
    const auto queue = ReadQueue::create(8, true);
    EXPECT_FALSE(queue->overlaps());
    read_with(*queue, file.get(), std::string(10000, 'b'));
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int outcome = 0;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
}

#ifdef STROM_HOST_MODULE_PATH
constexpr size_t kRegion = 24 << 20;
const auto keep_going = [] { return true; };

std::string real_module() {
#ifdef STROM_EMULATED_MODULE_PATH
  return device::test::module_path();
#else
  return STROM_HOST_MODULE_PATH;
#endif
}

/// A way to read, and how the fake cuFile behaves meanwhile.
struct Way {
  const char* name;
  StorageChoice choice;
  const char* faults;
  StorageWay expected, afterwards;
  bool past_cache = false;
  bool is_real = false;  // the device of `./strom gpu-check`, and cuFile itself: whatever way that takes
};

class StorageWays : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    setenv("STROM_FAKE_CUFILE", GetParam().faults, 1);
    setenv("CUFILE_LOGFILE_PATH", folder_.path("log").c_str(), 1);
    auto opened = device::Device::open(
        device::Module::open(GetParam().is_real ? real_module() : STROM_HOST_MODULE_PATH).value(), 0);
    ASSERT_TRUE(opened.is_ok()) << opened.status().message();
    device_ = std::move(opened).value();
    StorageOptions options;
    options.choice = GetParam().choice;
    if (!GetParam().is_real) options.cufile_library = STROM_FAKE_CUFILE_PATH;
    if (GetParam().past_cache) options.cached_file = 0;
    local_ = std::make_unique<LocalDevice>(device_.get(), std::chrono::milliseconds(), options);
    region_ = local_->allocate(kRegion, true, keep_going).value();
    static const std::string random = [] {
      std::mt19937 next(7);
      std::string bytes((9 << 20) + 12345, '\0');
      for (char& byte : bytes) byte = static_cast<char>(next());
      return bytes;
    }();
    bytes_ = random;
    path_ = folder_.path("file");
    std::ofstream(path_, std::ios::binary) << bytes_;
  }
  void TearDown() override {
    file_.reset();
    region_.reset();
    unsetenv("STROM_FAKE_CUFILE");
    unsetenv("CUFILE_LOGFILE_PATH");
  }
  std::shared_ptr<const engine::device::DeviceFile> open(const std::string& path) {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    auto file = local_->open_file(descriptor.get(), path, keep_going);
    EXPECT_TRUE(file.is_ok()) << file.status().message();
    return file.is_ok() ? std::move(file).value() : nullptr;
  }
  StorageWay way() const { return static_cast<const StoredFile&>(*file_).way(); }
  Status read(const std::vector<std::array<size_t, 3>>& parts) {  // file offset, place, bytes
    DeviceWork work;
    for (const auto& [from, to, bytes] : parts) work.files.push_back({file_, from, region_.get(), to, bytes});
    STROM_TRY(local_->run(work, keep_going));
    DeviceWork back;
    back.out.push_back({region_.get(), 0, kRegion});
    return local_->run(back, keep_going);
  }
  void expect(size_t from, size_t to, size_t bytes) const {
    EXPECT_EQ(std::memcmp(region_->host() + to, bytes_.data() + from, bytes), 0) << from << " " << to << " " << bytes;
  }

  Folder folder_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<LocalDevice> local_;
  std::unique_ptr<engine::device::DeviceRegion> region_;
  std::shared_ptr<const engine::device::DeviceFile> file_;
  std::string bytes_, path_;
};

TEST_P(StorageWays, parts_of_every_size) {
  file_ = open(path_);
  const StorageWay best = ReadQueue::check_io_uring().is_ok() ? StorageWay::kIoUring : StorageWay::kPread;
  const auto or_plain = [&](StorageWay wanted) { return wanted == StorageWay::kIoUring ? best : wanted; };
  if (!GetParam().is_real) {
    EXPECT_EQ(way(), or_plain(GetParam().expected));
  }
  const std::vector<std::array<size_t, 3>> parts = {{0, 0, 1},
                                                    {1, 10, 4095},
                                                    {4096, 8192, 4096},
                                                    {4095, 16384, 2},
                                                    {5000, 20000, 3 << 20},
                                                    {8192, 4 << 20, bytes_.size() - 8192},
                                                    {bytes_.size() - 1, 14 << 20, 1},
                                                    {0, (14 << 20) + 64, bytes_.size()},
                                                    {77, 23 << 20, 0}};
  for (int round = 0; round < 3; ++round) {
    std::memset(region_->host(), round, kRegion);
    const Status status = read(parts);
    ASSERT_TRUE(status.is_ok()) << status.message();
    for (const auto& [from, to, bytes] : parts) expect(from, to, bytes);
  }
  if (!GetParam().is_real) {
    EXPECT_EQ(way(), or_plain(GetParam().afterwards));
  }
}

TEST_P(StorageWays, a_file_that_became_shorter) {
  file_ = open(path_);
  ASSERT_EQ(truncate(path_.c_str(), 5 << 20), 0);
  const Status status = read({{0, 0, 100}, {1 << 20, 1 << 20, 6 << 20}, {0, 9 << 20, 100}});
  EXPECT_EQ(status.code(), ErrorCode::kFileChanged);
  EXPECT_EQ(status.message(), "file \"" + path_ + "\" changed while it was being read");
  EXPECT_NE(status.detail().find("ends at byte " + std::to_string(5 << 20)), std::string::npos) << status.detail();
  EXPECT_EQ(read({{size_t{1} << 40, 0, 10}}).code(), ErrorCode::kFileChanged);
  EXPECT_TRUE(read({{0, 0, 5 << 20}}).is_ok());  // the lane goes on
  expect(0, 0, 5 << 20);
}

TEST_P(StorageWays, replaced_and_unlinked) {
  file_ = open(path_);
  ASSERT_EQ(unlink(path_.c_str()), 0);
  std::ofstream(path_) << "another";
  ASSERT_TRUE(read({{123, 0, 3 << 20}}).is_ok());
  expect(123, 0, 3 << 20);
}

// The one regular file whose reads fail: nothing is mapped at its beginning.
TEST_P(StorageWays, errors_of_the_device) {
  file_ = open("/proc/self/mem");
  if (file_ == nullptr) GTEST_SKIP() << "no /proc/self/mem";
  const Status status = read({{0, 0, 8192}});
  EXPECT_EQ(status.code(), ErrorCode::kIoError) << status.message();
  EXPECT_EQ(status.message(), "could not read file \"/proc/self/mem\" for the GPU: Input/output error");
  file_ = open(path_);
  EXPECT_TRUE(read({{0, 0, 5 << 20}}).is_ok());
}

TEST_P(StorageWays, cancelled) {
  file_ = open(path_);
  DeviceWork work;
  for (size_t i = 0; i < 20; ++i) work.files.push_back({file_, 0, region_.get(), 0, 9 << 20});
  int looks = 0;
  const Status status = local_->run(work, [&looks] { return ++looks < 3; });
  EXPECT_EQ(status.code(), ErrorCode::kCancelled);
  ASSERT_TRUE(read({{0, 0, 9 << 20}}).is_ok());
  expect(0, 0, 9 << 20);
}

TEST_P(StorageWays, what_cannot_be_read) {
  const auto code_of = [this](int descriptor) {
    return local_->open_file(descriptor, "x", keep_going).status().code();
  };
  const Descriptor folder(::open(folder_.path("").c_str(), O_RDONLY)), writes(::open(path_.c_str(), O_WRONLY)),
      path(::open(path_.c_str(), O_PATH));
  EXPECT_EQ(code_of(folder.get()), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of(writes.get()), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of(path.get()), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of(-1), ErrorCode::kIoError);
}

TEST_P(StorageWays, many_threads) {
  file_ = open(path_);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto region = local_->allocate(10 << 20, true, keep_going).value();
      for (int round = 0; round < 4; ++round) {
        DeviceWork work;
        work.files.push_back({file_, 4096, region.get(), 0, 8 << 20});
        work.out.push_back({region.get(), 0, 8 << 20});
        right +=
            local_->run(work, keep_going).is_ok() && std::memcmp(region->host(), bytes_.data() + 4096, 8 << 20) == 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 16);
}

INSTANTIATE_TEST_SUITE_P(
    Each, StorageWays,
    testing::Values(
        Way{"cufile", StorageChoice::kAuto, "", StorageWay::kCuFile, StorageWay::kCuFile},
        Way{"cufile_short_reads", StorageChoice::kCuFile, "short", StorageWay::kCuFile, StorageWay::kCuFile},
        Way{"cufile_fails", StorageChoice::kAuto, "fail", StorageWay::kCuFile, StorageWay::kIoUring},
        Way{"cufile_refuses", StorageChoice::kAuto, "refuse", StorageWay::kIoUring, StorageWay::kIoUring},
        Way{"cufile_does_not_start", StorageChoice::kAuto, "no-driver", StorageWay::kIoUring, StorageWay::kIoUring},
        Way{"io_uring", StorageChoice::kIoUring, "", StorageWay::kIoUring, StorageWay::kIoUring},
        Way{"pread", StorageChoice::kVfs, "", StorageWay::kPread, StorageWay::kPread},
        Way{"io_uring_past_cache", StorageChoice::kIoUring, "", StorageWay::kIoUring, StorageWay::kIoUring, true},
        Way{"pread_past_cache", StorageChoice::kVfs, "", StorageWay::kPread, StorageWay::kPread, true},
        Way{"real", StorageChoice::kAuto, "", StorageWay::kCuFile, StorageWay::kCuFile, false, true}),
    [](const testing::TestParamInfo<Way>& info) { return std::string(info.param.name); });

class StorageOfDevice : public testing::Test {
 protected:
  std::unique_ptr<device::Device> device_ =
      device::Device::open(device::Module::open(STROM_HOST_MODULE_PATH).value(), 0).value();
};

TEST_F(StorageOfDevice, files_are_left_to_the_sessions) {
  const Descriptor file = memory_file("bytes");
  StorageOptions options;
  options.choice = StorageChoice::kCuFile;
  options.cufile_library = "/nowhere/libcufile.so.0";
  Storage without(device_.get(), options);
  EXPECT_EQ(without.open(file.get(), "x").status().code(), ErrorCode::kFileNotFound);
  EXPECT_EQ(without.cufile_state(), "libcufile could not be loaded");
  options.cufile_library = STROM_HOST_MODULE_PATH;
  Storage other(device_.get(), options);
  EXPECT_EQ(other.open(file.get(), "x").status().message(), "libcufile lacks a function that is needed");
  options.choice = StorageChoice::kVfs;
  Storage plain(device_.get(), options);
  EXPECT_EQ(plain.open(file.get(), "x").value()->why_not(),
            "pg_strom.gpudirect_driver leaves it out; pg_strom.gpudirect_driver is vfs");
}

TEST_F(StorageOfDevice, cufile_of_the_real_name) {
  StorageOptions options;
  Storage storage(device_.get(), options);
  storage.prepare();  // whether or not there is one: no crash, and words
  EXPECT_FALSE(storage.cufile_state().empty());
}

// A client's files and what is not the client's.
class StorageSessions : public StorageOfDevice {
 protected:
  Result<TaskOutput> run(DeviceRunner& runner, uint32_t session, TaskKind kind, std::string arguments,
                         int descriptor = -1) {
    Task task;
    task.session = session;
    task.kind = static_cast<uint16_t>(kind);
    task.arguments = std::move(arguments);
    if (descriptor >= 0) task.descriptors.emplace_back(dup(descriptor));
    return runner.run(task);
  }
};

class NothingToLend final : public MemoryLender {
 public:
  uint64_t lend(uint64_t bytes) override { return bytes; }
  void take_back(uint64_t) override {}
  bool pin(uint64_t) override { return false; }
  void unpin(uint64_t) override {}
  uint64_t overlent() const override { return 0; }
  uint64_t lendable() const override { return 0; }
};

TEST_F(StorageSessions, numbers) {
  StorageOptions options;
  options.choice = StorageChoice::kVfs;
  const auto runner =
      DeviceRunner::create(device::Module::open(STROM_HOST_MODULE_PATH).value(), 0, kCachePercent, {}, options).value();
  NothingToLend lender;
  runner->set_lender(&lender);
  const Descriptor file = memory_file("bytes");
  const auto open = [&](uint32_t session) {
    const auto output = run(*runner, session, TaskKind::kOpenFile, bytes_of(OpenFile{}) + "a name", file.get());
    EXPECT_TRUE(output.is_ok()) << output.status().message();
    std::string_view values = output.value().values;
    OpenedFile opened;
    EXPECT_TRUE(take(&values, &opened).is_ok());
    EXPECT_EQ(opened.way, static_cast<uint32_t>(StorageWay::kPread));
    return opened.file;
  };
  const auto code_of = [](const Result<TaskOutput>& output) { return output.status().code(); };
  const uint64_t first = open(1), second = open(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(code_of(run(*runner, 1, TaskKind::kCloseFile, bytes_of(CloseFile{second}))), ErrorCode::kProtocolViolation);
  EXPECT_TRUE(run(*runner, 1, TaskKind::kCloseFile, bytes_of(CloseFile{first})).is_ok());
  EXPECT_EQ(code_of(run(*runner, 1, TaskKind::kCloseFile, bytes_of(CloseFile{first}))), ErrorCode::kProtocolViolation);
  EXPECT_EQ(code_of(run(*runner, 1, TaskKind::kOpenFile, bytes_of(OpenFile{}))), ErrorCode::kProtocolViolation);
  EXPECT_EQ(code_of(run(*runner, 1, TaskKind::kOpenFile, "x", file.get())), ErrorCode::kProtocolViolation);
  for (int i = 0; i < 256; ++i) open(3);
  EXPECT_EQ(code_of(run(*runner, 3, TaskKind::kOpenFile, bytes_of(OpenFile{}) + "x", file.get())),
            ErrorCode::kOverBudget);
  runner->end_session(3);
  open(3);

  // Ranges that cannot be.
  const auto read = [&](uint32_t session, uint64_t number, uint64_t region, uint64_t offset, uint64_t at,
                        uint64_t bytes) {
    service::Run run_of;
    run_of.files = 1;
    return code_of(run(*runner, session, TaskKind::kRun,
                       bytes_of(run_of) + bytes_of(RunFileRange{number, offset, {region, at, bytes}})));
  };
  Task task;
  task.session = 2;
  task.kind = static_cast<uint16_t>(TaskKind::kAllocate);
  task.memory = 8192;
  task.arguments = bytes_of(Allocate{});
  const auto output = runner->run(task);
  std::string_view values = output.value().values;
  Allocated allocated;
  ASSERT_TRUE(take(&values, &allocated).is_ok());
  EXPECT_EQ(read(2, second, allocated.region, 0, 0, 5), ErrorCode::kOk);
  EXPECT_EQ(read(2, second, allocated.region, 0, 0, 6), ErrorCode::kFileChanged);
  EXPECT_EQ(read(2, second, allocated.region, 0, 8190, 5), ErrorCode::kProtocolViolation);
  EXPECT_EQ(read(2, second, allocated.region, 0, UINT64_MAX, 5), ErrorCode::kProtocolViolation);
  EXPECT_EQ(read(2, second, allocated.region, UINT64_MAX - 2, 0, 5), ErrorCode::kProtocolViolation);
  EXPECT_EQ(read(2, second, allocated.region + 1, 0, 0, 5), ErrorCode::kProtocolViolation);
  EXPECT_EQ(read(2, first, allocated.region, 0, 0, 5), ErrorCode::kProtocolViolation);
  EXPECT_EQ(read(1, second, allocated.region, 0, 0, 5), ErrorCode::kProtocolViolation);
  EXPECT_EQ(code_of(run(*runner, 2, TaskKind::kRun, bytes_of(service::Run{0, 0, 0, 0, 0, 7}))),
            ErrorCode::kProtocolViolation);
}
#endif

}  // namespace
}  // namespace strom::service::test
