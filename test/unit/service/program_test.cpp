// The program pg_strom_gpu_service: how it is called and ends, and, with nvcc, its tasks on the emulated device, or a
// real one (../device/test_module.hpp).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>

#include "../device/test_module.hpp"
#include "service/device_runner.hpp"
#include "service/remote_device.hpp"
#include "test_server.hpp"

namespace strom::service::test {
namespace {

pid_t start(const std::vector<std::string>& arguments) {
  const pid_t process = fork();
  if (process != 0) return process;
  std::string program = device::test::from_environment("STROM_TEST_SERVICE_PROGRAM", STROM_SERVICE_PROGRAM);
  std::vector<char*> words = {program.data()};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  _exit(127);
}

/// Its exit status, or minus the signal that ended it.
int end_of(pid_t process) {
  int outcome = 0;
  waitpid(process, &outcome, 0);
  return WIFEXITED(outcome) ? WEXITSTATUS(outcome) : -WTERMSIG(outcome);
}

TEST(Program, wrong_calls) {
  Folder folder;
  const std::string socket = folder.path("socket");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"--socket", socket},
                                             {"--module", "x"},
                                             {"--socket"},
                                             {"--socket", socket, "--module", "x", "--device", "-1"},
                                             {"--socket", socket, "--module", "x", "--workers", "many"},
                                             {"--socket", socket, "--module", "x", "--cache-percent", "101"},
                                             {"--socket", socket, "--module", "x", "--life-descriptor", "1"},
                                             {"--socket", socket, "--module", "x", "--storage", "nvme_strom"},
                                             {"--socket", socket, "--module", "x", "--unknown", "1"}})
    EXPECT_EQ(end_of(start(arguments)), 2);
  EXPECT_EQ(end_of(start({"--socket", socket, "--module", "/nowhere/module.so"})), 1);
  EXPECT_NE(access(socket.c_str(), F_OK), 0);
}

#ifdef STROM_EMULATED_MODULE_PATH
class DeviceService : public testing::Test {
 protected:
  void SetUp() override { run(); }
  void TearDown() override {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      end_of(process_);
    }
  }
  void run(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--socket", socket_, "--module", device::test::module_path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    process_ = start(arguments);
  }
  void expect_end(int outcome) { EXPECT_EQ(end_of(std::exchange(process_, 0)), outcome); }

  // Of a file with these bytes; what it says, or the failure.
  static Result<SelfTest> self_test(Client& client, const std::string& bytes) {
    const Descriptor file = memory_file(bytes);
    STROM_ASSIGN([[maybe_unused]] const uint32_t tag,
                 client.submit({static_cast<uint16_t>(TaskKind::kSelfTest), kSelfTestMemory, ""}, {file.get()}));
    STROM_ASSIGN(const std::optional<Reply> reply, client.wait(30000));
    if (!reply) return Status(ErrorCode::kInternal, "no answer");
    if (const auto* failed = std::get_if<Failed>(&reply->message)) return status_of(*failed);
    SelfTest result;
    const std::string& values = std::get<Finished>(reply->message).values;
    EXPECT_EQ(values.size(), sizeof result);
    std::memcpy(&result, values.data(), std::min(values.size(), sizeof result));
    return result;
  }

  Folder folder_;
  const std::string socket_ = folder_.path("socket");
  pid_t process_ = 0;
};

TEST_F(DeviceService, self_test) {
  const auto client = connect_soon(socket_);
  if (device::test::is_emulated()) {
    EXPECT_EQ(client->welcome().device, "PTX interpreter (sm_90)");
  }
  EXPECT_EQ(client->welcome().process, process_);
  EXPECT_GT(client->welcome().device_memory, kSelfTestMemory);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{kSelfTestMemory}, size_t{kSelfTestMemory * 3 + 5}}) {
    const auto result = self_test(*client, std::string(size, 'b'));
    ASSERT_TRUE(result.is_ok()) << result.status().message();
    EXPECT_EQ(result.value().bytes, size);
  }
}

TEST_F(DeviceService, tasks_that_cannot_be) {
  const auto client = connect_soon(socket_);
  const auto code_of = [&client](const Submit& request) {
    EXPECT_TRUE(client->submit(request).is_ok());
    const auto reply = client->wait(10000);
    return status_of(std::get<Failed>(reply.value()->message)).code();
  };
  const auto self = static_cast<uint16_t>(TaskKind::kSelfTest);
  EXPECT_EQ(code_of({self, kSelfTestMemory, ""}), ErrorCode::kProtocolViolation);
  EXPECT_EQ(code_of({self, 0, ""}), ErrorCode::kProtocolViolation);
  EXPECT_EQ(code_of({1234, 0, ""}), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of({self, uint64_t{1} << 60, ""}), ErrorCode::kOutOfMemory);
  EXPECT_TRUE(self_test(*client, "x").is_ok());
}

TEST_F(DeviceService, memory_of_a_session) {
  const auto keep_going = [] { return true; };
  const auto watcher = connect_soon(socket_);
  const auto used = [&watcher] {
    EXPECT_TRUE(watcher->request(AskLedger{}).is_ok());
    return std::get<Ledger>(watcher->wait(10000).value()->message).memory_used;
  };
  const auto becomes = [&used](uint64_t bytes) {
    for (int i = 0; i < 500 && used() != bytes; ++i) usleep(10000);
    return used() == bytes;
  };
  ClientOptions options;
  options.socket_path = socket_;
  auto connected = RemoteDevice::connect(options);
  ASSERT_TRUE(connected.is_ok()) << connected.status().message();
  RemoteDevice& remote = *connected.value();
  auto first = remote.allocate(1 << 20, true, keep_going), second = remote.allocate(4096, false, keep_going);
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  EXPECT_EQ(second.value()->host(), nullptr);
  EXPECT_TRUE(becomes((1 << 20) + 4096));
  char* host = first.value()->host();
  std::memset(host, 'a', 1 << 20);
  ASSERT_TRUE(remote.run({{{first.value().get(), 0, 1 << 20}}, nullptr, nullptr, 0, {}}, keep_going).is_ok());
  std::memset(host, 'b', 1 << 20);
  engine::device::DeviceWork back;  // more ranges than a message holds
  for (size_t i = 0; i < 5000; ++i) back.out.push_back({first.value().get(), i * 100, 50});
  ASSERT_TRUE(remote.run(back, keep_going).is_ok());
  for (size_t i = 0; i < 500000; ++i) ASSERT_EQ(host[i], i % 100 < 50 ? 'a' : 'b') << i;
  EXPECT_EQ(remote.allocate(size_t{1} << 60, false, keep_going).status().code(), ErrorCode::kOverBudget);
  EXPECT_EQ(remote.run(back, [] { return true; }).code(), ErrorCode::kOk);

  // What is not the session's.
  engine::device::DeviceWork wrong;
  wrong.out.push_back({first.value().get(), (1 << 20) - 10, 11});
  EXPECT_EQ(remote.run(wrong, keep_going).code(), ErrorCode::kProtocolViolation);
  wrong.out = {{second.value().get(), 0, 1}};  // without a mirror
  EXPECT_EQ(remote.run(wrong, keep_going).code(), ErrorCode::kProtocolViolation);
  wrong.out.clear();
  wrong.count = 1;
  wrong.states = reinterpret_cast<engine::block::TileState*>(host);
  wrong.results = reinterpret_cast<engine::block::RunResult*>(host);
  EXPECT_EQ(remote.run(wrong, keep_going).code(), ErrorCode::kProtocolViolation);
  EXPECT_TRUE(remote.is_alive());

  second.value().reset();
  EXPECT_TRUE(becomes(1 << 20));
  first.value().reset();
  EXPECT_TRUE(becomes(0));
  {
    auto dies = RemoteDevice::connect(options);
    auto lost = dies.value()->allocate(8192, true, keep_going);
    EXPECT_TRUE(becomes(8192));
    kill(process_, SIGSTOP);
    EXPECT_EQ(dies.value()->allocate(100, false, [] { return false; }).status().code(), ErrorCode::kCancelled);
    kill(process_, SIGCONT);
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(dies.value()->is_alive());  // reads what nobody waits for
      usleep(10000);
    }
    EXPECT_TRUE(becomes(8192));  // what came too late has been given back
  }
  EXPECT_TRUE(becomes(0));
}

TEST_F(DeviceService, files_of_a_session) {
  const auto keep_going = [] { return true; };
  connect_soon(socket_);
  ClientOptions options;
  options.socket_path = socket_;
  auto connected = RemoteDevice::connect(options);
  ASSERT_TRUE(connected.is_ok()) << connected.status().message();
  RemoteDevice& remote = *connected.value();
  std::string bytes;
  for (int i = 0; i < 300000; ++i) bytes += std::to_string(i);
  const Descriptor file = memory_file(bytes), other = memory_file("short");
  auto region = remote.allocate(1 << 20, true, keep_going).value();
  auto unmirrored = remote.allocate(1 << 20, false, keep_going).value();
  auto open = remote.open_file(file.get(), "a name", keep_going), ends = remote.open_file(other.get(), "b", keep_going);
  ASSERT_TRUE(open.is_ok() && ends.is_ok()) << open.status().message();
  engine::device::DeviceWork work;  // more ranges than a message holds
  for (size_t i = 0; i < 2000; ++i) work.files.push_back({open.value(), i * 501, region.get(), i * 500, 400});
  work.files.push_back({open.value(), 0, unmirrored.get(), 0, 1 << 20});
  work.out.push_back({region.get(), 0, 1 << 20});
  ASSERT_TRUE(remote.run(work, keep_going).is_ok());
  for (size_t i = 0; i < 2000; ++i)
    ASSERT_EQ(std::memcmp(region->host() + i * 500, bytes.data() + i * 501, 400), 0) << i;
  engine::device::DeviceWork wrong;
  wrong.files.push_back({ends.value(), 1, region.get(), 0, 5});
  const Status status = remote.run(wrong, keep_going);
  EXPECT_EQ(status.code(), ErrorCode::kFileChanged);
  EXPECT_EQ(status.message(), "file \"b\" changed while it was being read");
  wrong.files = {{ends.value(), 0, region.get(), (1 << 20) - 3, 5}};
  EXPECT_EQ(remote.run(wrong, keep_going).code(), ErrorCode::kProtocolViolation);

  const auto asked = remote.ask_about_file(file.get(), "a name", keep_going);
  ASSERT_TRUE(asked.is_ok());
  EXPECT_NE(asked.value().cufile, "");
  EXPECT_EQ(asked.value().why_not.empty(), asked.value().way == StorageWay::kCuFile);
  // What is cancelled is closed when it comes, and what is let go of is closed: there is room for 256.
  for (int i = 0; i < 300; ++i) {
    EXPECT_TRUE(remote.open_file(file.get(), "c", keep_going).is_ok());
    if (i % 30 == 0) (void)remote.open_file(file.get(), "d", [] { return false; });
  }
  kill(process_, SIGSTOP);
  EXPECT_EQ(remote.open_file(file.get(), "e", [] { return false; }).status().code(), ErrorCode::kCancelled);
  kill(process_, SIGCONT);
  std::vector<std::shared_ptr<const engine::device::DeviceFile>> held;
  for (int i = 0; i < 254; ++i) {
    auto next = remote.open_file(file.get(), "f", keep_going);
    ASSERT_TRUE(next.is_ok()) << i << " " << next.status().message();
    held.push_back(std::move(next).value());
  }
  EXPECT_EQ(remote.open_file(file.get(), "g", keep_going).status().code(), ErrorCode::kOverBudget);
  const Descriptor folder(::open("/", O_RDONLY | O_DIRECTORY));
  EXPECT_EQ(remote.open_file(folder.get(), "/", keep_going).status().code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(remote.is_alive());
}

TEST_F(DeviceService, join_tables_that_stay) {
  const auto keep_going = [] { return true; };
  ClientOptions options;
  options.socket_path = socket_;
  const auto watcher = connect_soon(socket_);
  const auto first = RemoteDevice::connect(options), second = RemoteDevice::connect(options);
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  RemoteDevice &one = *first.value(), &two = *second.value();
  const std::string name(8000, 'n');
  constexpr size_t kBytes = 100'000;
  EXPECT_TRUE(one.cache()->find_mirrored(name, keep_going).value().is_wanted);
  auto rooms = one.cache()->make_room({{name, "jf/path", 0, kBytes, true}}, keep_going);
  ASSERT_TRUE(rooms.is_ok()) << rooms.status().message();
  const std::unique_ptr<engine::device::DeviceRegion> room = std::move(rooms.value()[0]);
  ASSERT_NE(room, nullptr);
  ASSERT_NE(room->host(), nullptr);
  for (size_t i = 0; i < kBytes; ++i) room->host()[i] = static_cast<char>(i % 251);
  engine::device::DeviceWork fill;
  fill.fills.push_back({room.get(), {room.get(), 0, kBytes}});
  ASSERT_TRUE(one.run(fill, keep_going).is_ok());
  fill.fills[0].from.bytes = kBytes + 1;
  EXPECT_EQ(one.run(fill, keep_going).code(), ErrorCode::kProtocolViolation);
  fill.fills[0].from = {room.get(), 8, 8};
  EXPECT_EQ(one.run(fill, keep_going).code(), ErrorCode::kProtocolViolation);
  EXPECT_EQ(two.cache()->find_mirrored(name, keep_going).value().region, nullptr);
  one.cache()->publish(*room, "join table", 0);
  ASSERT_TRUE(one.cache()->find({{"other", 0}}, keep_going).is_ok());  // nothing answers a publication itself

  auto found = two.cache()->find_mirrored(name, keep_going);
  ASSERT_TRUE(found.is_ok()) << found.status().message();
  ASSERT_NE(found.value().region, nullptr);
  EXPECT_EQ(found.value().region->device(), room->device());
  EXPECT_EQ(std::memcmp(found.value().region->host(), room->host(), kBytes), 0);
  // Who finds it has a descriptor that cannot be written to.
  const uint64_t number = 1;
  const auto client = connect_soon(socket_);
  ASSERT_TRUE(client->request(FindColumns{{name}, {0}}).is_ok());
  EXPECT_EQ(std::get<Columns>(client->wait(10000).value()->message).rows.at(0).number, number);
  const auto mirror = static_cast<uint16_t>(TaskKind::kMirror);
  ASSERT_TRUE(client->submit({mirror, 0, bytes_of(AskMirror{number})}).is_ok());
  Reply reply = std::move(*client->wait(10000).value());
  ASSERT_TRUE(reply.bulk.is_open());
  EXPECT_EQ(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, reply.bulk.get(), 0), MAP_FAILED);
  EXPECT_EQ(pwrite(reply.bulk.get(), "x", 1, 0), -1);
  // What is forgotten stays for those who have it.
  ASSERT_TRUE(client->submit({static_cast<uint16_t>(TaskKind::kForget), 0, ""}).is_ok());
  (void)client->wait(10000);
  EXPECT_EQ(two.cache()->find_mirrored(name, keep_going).value().region, nullptr);
  EXPECT_EQ(std::memcmp(found.value().region->host(), room->host(), kBytes), 0);
  engine::device::DeviceWork read;
  read.cached.push_back(found.value().region.get());
  EXPECT_TRUE(two.run(read, keep_going).is_ok());
  // Columns have no mirror, and what a session does not have is not shown to it.
  auto column = one.cache()->make_room({{"column", "f", 0, 64}}, keep_going);
  ASSERT_NE(column.value()[0], nullptr);
  EXPECT_EQ(column.value()[0]->host(), nullptr);
  for (const std::string& arguments : {std::string("x"), bytes_of(AskMirror{2}), bytes_of(AskMirror{77})}) {
    ASSERT_TRUE(client->submit({mirror, 0, arguments}).is_ok());
    const Reply refused = std::move(*client->wait(10000).value());
    EXPECT_EQ(status_of(std::get<Failed>(refused.message)).code(), ErrorCode::kProtocolViolation);
  }
}

TEST_F(DeviceService, columns_that_stay) {
  const auto keep_going = [] { return true; };
  const auto watcher = connect_soon(socket_);
  const auto cache = [&watcher] {
    EXPECT_TRUE(watcher->request(AskCache{}).is_ok());
    return std::get<Cache>(watcher->wait(10000).value()->message);
  };
  const auto unpinned = [&cache] {
    for (int i = 0; i < 500 && cache().pinned != 0; ++i) usleep(10000);
    return cache().pinned == 0;
  };
  ClientOptions options;
  options.socket_path = socket_;
  const auto first = RemoteDevice::connect(options), second = RemoteDevice::connect(options);
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  RemoteDevice &one = *first.value(), &two = *second.value();
  const std::string name = std::string("name\0of", 7) + std::string(200, 'n');
  auto found = one.cache()->find({{name, 5}, {"other", 0}}, keep_going);
  ASSERT_TRUE(found.is_ok() && found.value().size() == 2);
  EXPECT_EQ(found.value()[0].region, nullptr);
  EXPECT_TRUE(found.value()[0].is_wanted);
  auto rooms = one.cache()->make_room({{name, "f/path", 3, 1000}, {"huge", "f/path", 4, size_t{1} << 60}}, keep_going);
  ASSERT_TRUE(rooms.is_ok()) << rooms.status().message();
  ASSERT_NE(rooms.value()[0], nullptr);
  EXPECT_EQ(rooms.value()[1], nullptr);
  auto mirror = one.allocate(4096, true, keep_going);
  ASSERT_TRUE(mirror.is_ok());
  std::memset(mirror.value()->host(), 'a', 4096);
  engine::device::DeviceWork fill;
  fill.fills.push_back({rooms.value()[0].get(), {mirror.value().get(), 96, 1000}});
  ASSERT_TRUE(one.run(fill, keep_going).is_ok());
  fill.fills[0].from.bytes = 1001;
  EXPECT_EQ(one.run(fill, keep_going).code(), ErrorCode::kProtocolViolation);
  fill.fills[0].from = {mirror.value().get(), 4000, 1000};
  EXPECT_EQ(one.run(fill, keep_going).code(), ErrorCode::kProtocolViolation);
  EXPECT_EQ(two.cache()->find({{name, 5}}, keep_going).value()[0].region, nullptr);  // nobody finds it yet
  one.cache()->publish(*rooms.value()[0], "shape", 5);
  fill.fills[0].from = {mirror.value().get(), 0, 10};
  EXPECT_EQ(one.run(fill, keep_going).code(), ErrorCode::kProtocolViolation);  // and nobody writes to it now

  auto cached = std::move(two.cache()->find({{name, 5}}, keep_going).value()[0]);
  ASSERT_NE(cached.region, nullptr);
  EXPECT_EQ(cached.shape, "shape");
  EXPECT_EQ(cached.region->size(), 1000u);
  EXPECT_EQ(cached.region->device(), rooms.value()[0]->device());
  engine::device::DeviceWork read;
  read.cached.push_back(cached.region.get());
  EXPECT_TRUE(two.run(read, keep_going).is_ok());
  EXPECT_EQ(RemoteDevice::connect(options).value()->run(read, keep_going).code(), ErrorCode::kProtocolViolation);
  rooms.value().clear();
  EXPECT_EQ(cache().pinned, 1000u);
  ASSERT_EQ(cache().rows.size(), 1u);
  EXPECT_EQ(cache().rows[0].label, "f/path");
  cached.region.reset();
  EXPECT_TRUE(unpinned());
  EXPECT_EQ(two.run(read, keep_going).code(), ErrorCode::kProtocolViolation);
  // Answers that nobody waits for any more hold nothing.
  kill(process_, SIGSTOP);
  EXPECT_EQ(two.cache()->find({{name, 9}}, [] { return false; }).status().code(), ErrorCode::kCancelled);
  EXPECT_EQ(two.cache()->make_room({{"third", "f", 1, 64}}, [] { return false; }).status().code(),
            ErrorCode::kCancelled);
  kill(process_, SIGCONT);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(two.is_alive());
    usleep(10000);
  }
  EXPECT_TRUE(unpinned());
  EXPECT_TRUE(one.cache()->find({{name, 9}}, keep_going).value()[0].is_older);
  EXPECT_TRUE(unpinned());
  EXPECT_EQ(cache().bytes, 1000u);
  {
    auto dies = RemoteDevice::connect(options);
    auto held = dies.value()->cache()->find({{name, 5}}, keep_going);
    EXPECT_EQ(cache().pinned, 1000u);
  }
  EXPECT_TRUE(unpinned());

  // Messages that cannot be.
  const auto client = connect_soon(socket_);
  const auto keep = static_cast<uint16_t>(TaskKind::kMakeRoom);
  for (const std::string& arguments :
       {std::string("x"), bytes_of(RoomRequest{1, 0, 5, 0}), bytes_of(RoomRequest{1, 0, 0, 0}),
        bytes_of(RoomRequest{1, 0, 9000, 0}) + std::string(9000, 'x'), bytes_of(RoomRequest{1, 0, 1, 0, 2}) + "x",
        bytes_of(RoomRequest{1, 0, 1, 300}) + std::string(301, 'x')}) {
    ASSERT_TRUE(client->submit({keep, 0, arguments}).is_ok());
    const Reply reply = std::move(*client->wait(10000).value());
    EXPECT_EQ(status_of(std::get<Failed>(reply.message)).code(), ErrorCode::kProtocolViolation);
  }
  for (const Message& message : {Message(SettleColumns{{{12345, 0, ""}}}), Message(SettleColumns{{{1, 7, ""}}}),
                                 Message(FindColumns{{std::string(9000, 'x')}, {0}}),
                                 Message(FindColumns{std::vector<std::string>(100), std::vector<uint64_t>(100)}),
                                 Message(FindColumns{{name}, {}}), Message(Columns{})}) {
    const auto bad = connect_soon(socket_);
    ASSERT_TRUE(bad->request(message).is_ok());
    EXPECT_EQ(bad->wait(10000).status().code(), ErrorCode::kProtocolViolation);
  }
  ASSERT_TRUE(watcher->submit({static_cast<uint16_t>(TaskKind::kForget), 0, ""}).is_ok());
  EXPECT_EQ(std::get<Finished>(watcher->wait(10000).value()->message).values, service::bytes_of(uint64_t{1000}));
  EXPECT_TRUE(cache().rows.empty());
}

// A copy of an older generation is brought up to date in its place, by one session at a time.
TEST_F(DeviceService, columns_of_an_older_generation) {
  const auto keep_going = [] { return true; };
  ClientOptions options;
  options.socket_path = socket_;
  const auto watcher = connect_soon(socket_);
  const auto unpinned = [&watcher] {
    for (int i = 0; i < 500; ++i) {
      EXPECT_TRUE(watcher->request(AskCache{}).is_ok());
      if (std::get<Cache>(watcher->wait(10000).value()->message).pinned == 0) return true;
      usleep(10000);
    }
    return false;
  };
  const auto first = RemoteDevice::connect(options), second = RemoteDevice::connect(options);
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  RemoteDevice &one = *first.value(), &two = *second.value();
  {
    const auto rooms = one.cache()->make_room({{"name", "f/path", 3, 1000}}, keep_going);
    ASSERT_TRUE(rooms.is_ok() && rooms.value()[0] != nullptr);
    one.cache()->publish(*rooms.value()[0], "shape", 5);
  }
  EXPECT_TRUE(unpinned());
  auto older = std::move(two.cache()->find({{"name", 8}}, keep_going).value()[0]);
  ASSERT_NE(older.region, nullptr);
  EXPECT_TRUE(older.is_older);
  EXPECT_EQ(older.generation, 5u);
  EXPECT_EQ(one.cache()->find({{"name", 8}}, keep_going).value()[0].region, nullptr);
  auto staging = two.allocate(4096, true, keep_going);
  ASSERT_TRUE(staging.is_ok());
  std::memset(staging.value()->host(), 'b', 64);
  const engine::block::BlockCopy copies[] = {{older.region->device() + 128, staging.value()->device(), 64},
                                             {older.region->device() + 512, staging.value()->device() + 8, 8}};
  std::memcpy(staging.value()->host() + 64, copies, sizeof copies);
  engine::device::DeviceWork update;
  update.in.push_back({staging.value().get(), 0, 64 + sizeof copies});
  update.copies = reinterpret_cast<const engine::block::BlockCopy*>(staging.value()->device() + 64);
  update.copy_count = 2;
  update.updated.push_back(older.region.get());
  ASSERT_TRUE(two.run(update, keep_going).is_ok());
  update.copy_count = 1000;
  EXPECT_EQ(two.run(update, keep_going).code(), ErrorCode::kProtocolViolation);
  older.region.reset();  // given up
  EXPECT_TRUE(unpinned());
  older = std::move(two.cache()->find({{"name", 8}}, keep_going).value()[0]);
  EXPECT_TRUE(older.is_older);
  update.copy_count = 2;
  update.updated = {older.region.get()};
  ASSERT_TRUE(two.run(update, keep_going).is_ok());
  two.cache()->publish(*older.region, older.shape, 8);
  EXPECT_EQ(two.run(update, keep_going).code(), ErrorCode::kInternal);
  older.region.reset();
  EXPECT_TRUE(unpinned());
  EXPECT_FALSE(two.cache()->find({{"name", 8}}, keep_going).value()[0].is_older);
}

TEST_F(DeviceService, killed_and_started_again) {
  for (int i = 0; i < 3; ++i) {
    const auto client = connect_soon(socket_);
    EXPECT_TRUE(self_test(*client, "bytes").is_ok());
    kill(process_, SIGKILL);
    expect_end(-SIGKILL);
    EXPECT_EQ(self_test(*client, "bytes").status().code(), ErrorCode::kDeviceLost);
    run();
  }
  EXPECT_TRUE(self_test(*connect_soon(socket_), "bytes").is_ok());
}

TEST_F(DeviceService, terminated) {
  const auto client = connect_soon(socket_);
  kill(process_, SIGTERM);
  expect_end(0);
  EXPECT_NE(access(socket_.c_str(), F_OK), 0);
  EXPECT_EQ(client->wait(1000).status().code(), ErrorCode::kDeviceLost);
}

TEST_F(DeviceService, ends_with_its_pipe) {
  kill(process_, SIGKILL);
  expect_end(-SIGKILL);
  int ends[2];
  ASSERT_EQ(pipe2(ends, 0), 0);
  const int writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 0);  // the service must not have it
  close(ends[1]);
  run({"--life-descriptor", std::to_string(ends[0])});
  close(ends[0]);
  connect_soon(socket_);
  close(writing);
  expect_end(0);
}

TEST_F(DeviceService, second_one_leaves) {
  const auto client = connect_soon(socket_);
  EXPECT_EQ(end_of(start({"--socket", socket_, "--module", device::test::module_path()})), 1);
  EXPECT_TRUE(self_test(*client, "bytes").is_ok());
  EXPECT_EQ(
      end_of(start({"--socket", folder_.path("other"), "--module", device::test::module_path(), "--device", "5"})), 3);
}

TEST_F(DeviceService, many_clients) {
  constexpr int kClients = 32;
  std::atomic<int> right = 0;
  connect_soon(socket_);
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i)
    threads.emplace_back([&, i] {
      const auto client = connect(socket_, i % 3 - 1);
      for (int k = 0; k < 5; ++k)
        if (self_test(*client, std::string(static_cast<size_t>(10000 * i + k), 'm')).is_ok()) ++right;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kClients * 5);
}
#endif

}  // namespace
}  // namespace strom::service::test
