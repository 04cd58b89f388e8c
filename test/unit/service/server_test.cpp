// The server with real sockets and processes: answers, crowds, and whatever can go wrong between two ends.
#include "service/server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <random>

#include "service/device_runner.hpp"
#include "test_server.hpp"

namespace strom::service::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPatience = 20000;  // milliseconds

int64_t milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
}

class ServerTest : public testing::Test {
 protected:
  ServerOptions options() const {
    ServerOptions options;
    options.socket_path = socket_path_;
    return options;
  }
  static Reply wait(Client& client) {
    auto reply = client.wait(kPatience);
    EXPECT_TRUE(reply.is_ok()) << reply.status().message();
    if (!reply.is_ok() || !reply.value()) return {};
    return std::move(*std::move(reply).value());
  }
  static std::string echo(Client& client, const std::string& text) {
    const auto tag = client.submit({kEcho, 0, text});
    EXPECT_TRUE(tag.is_ok()) << tag.status().message();
    if (!tag.is_ok()) return "";
    const Reply reply = wait(client);
    EXPECT_EQ(reply.tag, tag.value());
    const auto* finished = std::get_if<Finished>(&reply.message);
    return finished == nullptr ? "(failed)" : finished->values;
  }
  static ErrorCode failure(const Reply& reply) {
    const auto* failed = std::get_if<Failed>(&reply.message);
    return failed == nullptr ? ErrorCode::kOk : status_of(*failed).code();
  }
  // Until everything is as it should be, or patience ends.
  template <class F>
  static bool soon(F is_so) {
    const auto begin = Clock::now();
    while (milliseconds_since(begin) < kPatience) {
      if (is_so()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  static Ledger ledger(Client& client, uint32_t after = 0) {
    EXPECT_TRUE(client.request(AskLedger{after}).is_ok());
    const Reply reply = wait(client);
    const auto* found = std::get_if<Ledger>(&reply.message);
    EXPECT_NE(found, nullptr);
    return found == nullptr ? Ledger() : *found;
  }

  Folder folder_;
  const std::string socket_path_ = folder_.path("socket");
};

TEST_F(ServerTest, answers) {
  ThreadServer server(options());
  const auto client = connect(socket_path_);
  EXPECT_EQ(client->welcome().device, "no device");
  EXPECT_EQ(client->welcome().process, getpid());
  EXPECT_EQ(echo(*client, "hello"), "hello");
  EXPECT_EQ(echo(*client, std::string(30000, 'x')), std::string(30000, 'x'));
  ASSERT_TRUE(client->submit({99, 0, ""}).is_ok());
  EXPECT_EQ(failure(wait(*client)), ErrorCode::kUnsupported);
  EXPECT_EQ(client->submit({kEcho, 0, std::string(kMaxMessageBytes, 'x')}).status().code(), ErrorCode::kOverBudget);
  EXPECT_EQ(echo(*client, "still here"), "still here");
}

TEST_F(ServerTest, descriptors_both_ways) {
  ThreadServer server(options());
  const auto client = connect(socket_path_);
  const std::string bytes(3 << 20, 'y');
  for (int i = 0; i < 20; ++i) {
    const Descriptor file = memory_file(bytes);
    ASSERT_TRUE(client->submit({kTwice, 0, ""}, {file.get()}).is_ok());
    const Reply reply = wait(*client);
    ASSERT_TRUE(reply.bulk.is_open());
    EXPECT_TRUE(bytes_of(reply.bulk.get()) == bytes + bytes);
  }
}

TEST_F(ServerTest, many_tasks_come_back_with_their_tags) {
  ThreadServer server(options());
  const auto client = connect(socket_path_);
  std::map<uint32_t, std::string> wanted;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 50; ++i) {
      const std::string text = std::to_string(round * 100 + i);
      const auto tag = client->submit({kEcho, static_cast<uint64_t>(i), text});
      ASSERT_TRUE(tag.is_ok());
      wanted[tag.value()] = text;
    }
    for (int i = 0; i < 50; ++i) {
      const Reply reply = wait(*client);
      const auto* finished = std::get_if<Finished>(&reply.message);
      ASSERT_NE(finished, nullptr);
      EXPECT_EQ(finished->values, wanted.at(reply.tag));
      wanted.erase(reply.tag);
    }
  }
  EXPECT_TRUE(wanted.empty());
}

TEST_F(ServerTest, a_hundred_clients) {
  ThreadServer server(options());
  constexpr int kClients = 100, kTasks = 20;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  threads.reserve(kClients);
  for (int i = 0; i < kClients; ++i)
    threads.emplace_back([&, i] {
      const auto client = connect(socket_path_, i % 9 - 4);
      for (int k = 0; client != nullptr && k < kTasks; ++k) {
        const std::string text = std::to_string(i) + ":" + std::to_string(k);
        if (!client->submit({kEcho, static_cast<uint64_t>(i * k % 1001), text}).is_ok()) break;
        const Reply reply = wait(*client);
        const auto* finished = std::get_if<Finished>(&reply.message);
        if (finished != nullptr && finished->values == text) ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kClients * kTasks);
  const auto last = connect(socket_path_);
  EXPECT_TRUE(soon([&] { return ledger(*last).rows.size() == 1; }));
}

TEST_F(ServerTest, ledger_in_pages) {
  ThreadServer server(options());
  std::vector<std::unique_ptr<Client>> clients;
  clients.reserve(300);
  for (int i = 0; i < 300; ++i) clients.push_back(connect(socket_path_));
  size_t rows = 0;
  for (uint32_t after = 0;;) {
    const Ledger page = ledger(*clients[0], after);
    if (page.rows.empty()) break;
    rows += page.rows.size();
    after = page.rows.back().session;
    EXPECT_EQ(page.rows[0].process, getpid());
    EXPECT_EQ(page.rows[0].name, "test");
  }
  EXPECT_EQ(rows, clients.size());
}

TEST_F(ServerTest, cancel_of_running_and_queued_tasks) {
  ServerOptions one_worker = options();
  one_worker.workers = 1;
  ThreadServer server(one_worker);
  const auto client = connect(socket_path_);
  const auto running = client->submit({kSleep, 0, "100000"});
  const auto queued = client->submit({kSleep, 0, "100000"});
  ASSERT_TRUE(soon([&] { return ledger(*client).rows[0].running == 1; }));
  const auto begin = Clock::now();
  ASSERT_TRUE(client->cancel(queued.value()).is_ok());
  Reply reply = wait(*client);
  EXPECT_EQ(reply.tag, queued.value());
  EXPECT_EQ(failure(reply), ErrorCode::kCancelled);
  ASSERT_TRUE(client->cancel(running.value()).is_ok());
  reply = wait(*client);
  EXPECT_EQ(reply.tag, running.value());
  EXPECT_EQ(failure(reply), ErrorCode::kCancelled);
  EXPECT_LT(milliseconds_since(begin), 1000);
  ASSERT_TRUE(client->cancel(12345).is_ok());
  EXPECT_EQ(echo(*client, "on"), "on");
}

TEST_F(ServerTest, memory_of_a_killed_client_comes_back) {
  ThreadServer server(options());
  const auto client = connect(socket_path_);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t victim = fork();
  if (victim == 0) {
    const auto other = connect(socket_path_);
    (void)other->submit({kSleep, 900, "100000"});
    (void)!write(pipe_ends[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  ASSERT_TRUE(soon([&] { return ledger(*client).memory_used == 900; }));
  const auto tag = client->submit({kEcho, 500, "after"});
  ASSERT_TRUE(tag.is_ok());
  auto early = client->wait(100);
  ASSERT_TRUE(early.is_ok());
  EXPECT_FALSE(early.value());
  const auto begin = Clock::now();
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
  const Reply reply = wait(*client);
  EXPECT_TRUE(std::holds_alternative<Finished>(reply.message));
  EXPECT_LT(milliseconds_since(begin), 1000);
  EXPECT_EQ(ledger(*client).memory_used, 0u);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST_F(ServerTest, more_memory_than_there_is) {
  ThreadServer server(options());
  const auto client = connect(socket_path_);
  ASSERT_TRUE(client->submit({kEcho, 1001, ""}).is_ok());
  EXPECT_EQ(failure(wait(*client)), ErrorCode::kOutOfMemory);
}

TEST_F(ServerTest, a_killed_service_is_replaced) {
  const pid_t first = start_server_process(options());
  const auto client = connect_soon(socket_path_);
  ASSERT_TRUE(client->submit({kSleep, 0, "100000"}).is_ok());
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  EXPECT_EQ(client->wait(kPatience).status().code(), ErrorCode::kDeviceLost);
  EXPECT_EQ(client->poll().status().code(), ErrorCode::kDeviceLost);

  // The socket of the dead service is still there, and no process listens.
  struct stat found;
  ASSERT_EQ(stat(socket_path_.c_str(), &found), 0);
  ClientOptions wanted;
  wanted.socket_path = socket_path_;
  EXPECT_EQ(Client::connect(wanted).status().code(), ErrorCode::kDeviceLost);

  const auto begin = Clock::now();
  const pid_t second = start_server_process(options());
  const auto again = connect_soon(socket_path_);
  EXPECT_LT(milliseconds_since(begin), 5000);
  EXPECT_EQ(echo(*again, "back"), "back");
  kill(second, SIGKILL);
  waitpid(second, nullptr, 0);
}

TEST_F(ServerTest, a_lost_device_ends_the_service) {
  ThreadServer server(options());
  const auto client = connect(socket_path_), other = connect(socket_path_);
  ASSERT_TRUE(other->submit({kSleep, 0, "100000"}).is_ok());
  ASSERT_TRUE(client->submit({kLose, 0, ""}).is_ok());
  EXPECT_EQ(failure(wait(*client)), ErrorCode::kDeviceLost);
  EXPECT_EQ(server.outcome().code(), ErrorCode::kDeviceLost);
  // The other one hears of its task, or at least of the end.
  const auto reply = other->wait(kPatience);
  EXPECT_TRUE(!reply.is_ok() || failure(*reply.value()) == ErrorCode::kCancelled);
  EXPECT_NE(access(socket_path_.c_str(), F_OK), 0);
}

TEST_F(ServerTest, nobody_waits_for_the_memory_of_a_session_that_has_ended) {
  releases_wait = true;
  {
    ThreadServer server(options());
    const auto client = connect(socket_path_);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(echo(*connect(socket_path_), "short"), "short");
    ASSERT_TRUE(soon([&] { return ledger(*client).rows.size() == 1; }));
    EXPECT_EQ(echo(*client, "others go on"), "others go on");
    releases_wait = false;
  }
}

TEST_F(ServerTest, a_lost_device_ends_a_service_that_waits_for_it) {
  releases_wait = true;  // for ever, in the service's process
  ServerOptions mortal = options();
  mortal.grace_seconds = 1;
  const pid_t process = start_server_process(mortal);
  releases_wait = false;
  const auto client = connect_soon(socket_path_), other = connect_soon(socket_path_);
  connect_soon(socket_path_);
  ASSERT_TRUE(other->submit({kSleep, 0, "100000"}).is_ok());
  const auto begin = Clock::now();
  ASSERT_TRUE(client->submit({kLose, 0, ""}).is_ok());
  EXPECT_EQ(failure(wait(*client)), ErrorCode::kDeviceLost);
  EXPECT_LT(milliseconds_since(begin), 900);  // not by the end of the process
  int outcome = 0;
  ASSERT_TRUE(soon([&] { return waitpid(process, &outcome, WNOHANG) == process; }));
  EXPECT_TRUE(WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGALRM) << outcome;
}

TEST_F(ServerTest, ends_with_whoever_started_it) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  ServerOptions tied = options();
  tied.life_descriptor = pipe_ends[0];
  ThreadServer server(tied);
  const auto client = connect(socket_path_);
  close(pipe_ends[1]);
  EXPECT_TRUE(server.outcome().is_ok());
  EXPECT_EQ(client->wait(kPatience).status().code(), ErrorCode::kDeviceLost);
  close(pipe_ends[0]);
}

TEST_F(ServerTest, only_one_at_a_path) {
  ThreadServer server(options());
  FakeRunner runner;
  const Status status = Server::create(options(), &runner).status();
  EXPECT_NE(status.message().find("another GPU service"), std::string::npos) << status.message();
  EXPECT_EQ(echo(*connect(socket_path_), "first"), "first");
}

TEST_F(ServerTest, files_are_not_taken_for_sockets) {
  const int file = open(socket_path_.c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(file, 0);
  close(file);
  FakeRunner runner;
  EXPECT_NE(Server::create(options(), &runner).status().message().find("is not a socket"), std::string::npos);
  EXPECT_EQ(access(socket_path_.c_str(), F_OK), 0);
  ServerOptions too_long = options();
  too_long.socket_path = folder_.path(std::string(200, 'x'));
  EXPECT_EQ(Server::create(too_long, &runner).status().code(), ErrorCode::kInvalidParameter);
}

TEST_F(ServerTest, socket_is_for_one_user) {
  ThreadServer server(options());
  struct stat found;
  ASSERT_EQ(stat(socket_path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(ServerTest, wrong_user) {
  ServerOptions of_others = options();
  of_others.user = geteuid() + 1;
  ThreadServer server(of_others);
  ClientOptions wanted;
  wanted.socket_path = socket_path_;
  EXPECT_EQ(Client::connect(wanted).status().code(), ErrorCode::kPermissionDenied);
}

TEST_F(ServerTest, service_of_another_user) {
  ThreadServer server(options());
  ClientOptions wanted;
  wanted.socket_path = socket_path_;
  wanted.user = geteuid() + 1;
  EXPECT_EQ(Client::connect(wanted).status().code(), ErrorCode::kPermissionDenied);
}

TEST_F(ServerTest, another_process_user_cannot_connect) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ThreadServer server(options());
  ASSERT_EQ(chmod(folder_.path("").c_str(), 0755), 0);
  ASSERT_EQ(chmod(socket_path_.c_str(), 0666), 0);  // the credentials alone must do
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    ClientOptions wanted;
    wanted.socket_path = socket_path_;
    wanted.user = 0;
    _exit(Client::connect(wanted).status().code() == ErrorCode::kPermissionDenied ? 0 : 1);
  }
  int outcome;
  waitpid(child, &outcome, 0);
  EXPECT_EQ(outcome, 0);
}

TEST_F(ServerTest, too_many_sessions) {
  ServerOptions few = options();
  few.most_sessions = 2;
  ThreadServer server(few);
  const auto first = connect(socket_path_);
  auto second = connect(socket_path_);
  ClientOptions wanted;
  wanted.socket_path = socket_path_;
  EXPECT_EQ(Client::connect(wanted).status().code(), ErrorCode::kOverBudget);
  second.reset();
  EXPECT_TRUE(soon([&] { return Client::connect(wanted).is_ok(); }));
}

// Bytes sent as they are; what comes back, in text.
class RawClient {
 public:
  explicit RawClient(const std::string& path) : socket_(std::move(connect_to(path)).value()) {}
  bool send(const std::string& bytes, const std::vector<int>& descriptors = {}) {
    const auto sent = send_packet(socket_.get(), bytes, descriptors, true);
    return sent.is_ok() && sent.value() == Transfer::kDone;
  }
  // The answer's kind, or -1 at the end.
  Result<TaggedMessage> receive() {
    Packet packet;
    const auto received = receive_packet(socket_.get(), true, &packet);
    if (!received.is_ok()) return received.status();
    if (received.value() == Transfer::kClosed) return Status(ErrorCode::kDeviceLost, "closed");
    return decode(packet.bytes);
  }
  bool is_refused() {
    const auto answer = receive();
    if (!answer.is_ok()) return false;
    const auto* failed = std::get_if<Failed>(&answer.value().message);
    return failed != nullptr && answer.value().tag == 0 && status_of(*failed).code() == ErrorCode::kProtocolViolation &&
           !receive().is_ok();
  }

 private:
  Descriptor socket_;
};

std::string bytes_of_message(uint32_t tag, const Message& message) { return encode(tag, message).value(); }

TEST_F(ServerTest, malformed_messages_end_their_session_only) {
  ThreadServer server(options());
  const auto good = connect(socket_path_);
  const std::string hello = bytes_of_message(0, Hello{});
  std::string other_version = hello;
  other_version[4] = 77;
  std::string huge(kMaxMessageBytes + 1000, 'x');
  std::memcpy(huge.data(), hello.data(), hello.size());
  for (const std::string& bytes :
       {std::string("x"), std::string(100, '\0'), other_version, huge, hello + "y",
        bytes_of_message(1, Submit{kEcho, 0, "before hello"}), bytes_of_message(0, Hello{0, std::string(1000, 'n')}),
        bytes_of_message(0, Welcome{})}) {
    RawClient raw(socket_path_);
    ASSERT_TRUE(raw.send(bytes));
    EXPECT_TRUE(raw.is_refused());
  }
  for (const std::string& bytes :
       {hello, bytes_of_message(0, Submit{kEcho, 0, "tag 0"}), bytes_of_message(3, Finished{})}) {
    RawClient raw(socket_path_);
    ASSERT_TRUE(raw.send(hello));
    ASSERT_TRUE(raw.receive().is_ok());
    ASSERT_TRUE(raw.send(bytes));
    EXPECT_TRUE(raw.is_refused());
  }
  EXPECT_EQ(echo(*good, "unharmed"), "unharmed");
}

TEST_F(ServerTest, another_version_says_so) {
  ThreadServer server(options());
  RawClient raw(socket_path_);
  std::string hello = bytes_of_message(0, Hello{});
  hello[4] = 9;
  ASSERT_TRUE(raw.send(hello));
  const auto answer = raw.receive();
  ASSERT_TRUE(answer.is_ok());
  const auto* failed = std::get_if<Failed>(&answer.value().message);
  ASSERT_NE(failed, nullptr);
  EXPECT_NE(failed->message.find("different versions"), std::string::npos);
}

// Kernels of another build would take op-codes for others.
TEST_F(ServerTest, another_build_says_so) {
  ThreadServer server(options());
  RawClient raw(socket_path_);
  Hello hello;
  hello.program ^= 1;
  ASSERT_TRUE(raw.send(bytes_of_message(0, hello)));
  const auto answer = raw.receive();
  ASSERT_TRUE(answer.is_ok());
  const auto* failed = std::get_if<Failed>(&answer.value().message);
  ASSERT_NE(failed, nullptr);
  EXPECT_NE(failed->message.find("different builds"), std::string::npos);
  EXPECT_NE(failed->hint.find("Restart"), std::string::npos);
}

TEST_F(ServerTest, a_module_of_another_build_is_not_used) {
  const auto runner = DeviceRunner::create(device::Module::open(STROM_OTHER_BUILD_PATH).value(), 0);
  ASSERT_EQ(runner.status().code(), ErrorCode::kUnsupported);
  EXPECT_NE(runner.status().message().find("different builds"), std::string::npos);
}

TEST_F(ServerTest, random_bytes) {
  ThreadServer server(options());
  const auto good = connect(socket_path_);
  std::mt19937 random(7);
  const std::string hello = bytes_of_message(0, Hello{});
  const std::string submit = bytes_of_message(5, Submit{kEcho, 1, "some arguments"});
  for (int i = 0; i < 300; ++i) {
    RawClient raw(socket_path_);
    if (random() % 2 == 0) (void)raw.send(hello);
    for (int k = 0; k < 5; ++k) {
      std::string bytes = random() % 2 == 0 ? submit : hello;
      bytes[random() % bytes.size()] = static_cast<char>(random());
      if (!raw.send(bytes)) break;
    }
  }
  EXPECT_EQ(echo(*good, "unharmed"), "unharmed");
  EXPECT_TRUE(soon([&] { return ledger(*good).rows.size() == 1; }));
}

TEST_F(ServerTest, descriptors_nobody_asked_for_are_closed) {
  ThreadServer server(options());
  const auto count = [] {
    int open_ones = 0;
    for (int i = 0; i < 1024; ++i) open_ones += fcntl(i, F_GETFD) >= 0;
    return open_ones;
  };
  const int before = count();
  {
    const auto client = connect(socket_path_);
    const Descriptor file = memory_file("x");
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(client->submit({kEcho, 0, ""}, std::vector<int>(kMaxDescriptors, file.get())).is_ok());
      wait(*client);
    }
    EXPECT_EQ(client->submit({kEcho, 0, ""}, std::vector<int>(kMaxDescriptors + 1, file.get())).status().code(),
              ErrorCode::kOverBudget);
  }
  EXPECT_TRUE(soon([&] { return count() == before; })) << before << " " << count();
}

TEST_F(ServerTest, a_client_that_does_not_read_is_left) {
  ThreadServer server(options());
  RawClient raw(socket_path_);
  ASSERT_TRUE(raw.send(bytes_of_message(0, Hello{})));
  const std::string ask = bytes_of_message(1, AskLedger{});
  bool refused = false;
  for (int i = 0; i < 100000 && !refused; ++i) refused = !raw.send(ask);
  EXPECT_TRUE(refused);
  EXPECT_EQ(echo(*connect(socket_path_), "served"), "served");
}

TEST_F(ServerTest, killed_clients_in_a_crowd) {
  ThreadServer server(options());
  std::vector<pid_t> children;
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto client = connect(socket_path_);
      for (;;) {
        (void)client->submit({kSleep, 100, "3"});
        (void)client->wait(1000);
      }
    }
    children.push_back(child);
  }
  const auto client = connect(socket_path_);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(echo(*client, "x"), "x");
  for (const pid_t child : children) kill(child, SIGKILL);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  EXPECT_TRUE(soon([&] {
    const Ledger now = ledger(*client);
    return now.rows.size() == 1 && now.memory_used == 0;
  }));
}

// Three devices: each session has one, the one that it asks for or the one with the least to do.
TEST_F(ServerTest, several_devices) {
  FakeRunner runners[3];
  auto server = Server::create(options(), {&runners[0], &runners[1], &runners[2]});
  ASSERT_TRUE(server.is_ok()) << server.status().message();
  std::thread thread([&] { EXPECT_TRUE(server.value()->serve().is_ok()); });
  const auto connect_to_device = [this](int32_t device) {
    ClientOptions wanted;
    wanted.socket_path = socket_path_;
    wanted.device = device;
    return Client::connect(wanted);
  };
  const auto devices = [](Client& client) {
    EXPECT_TRUE(client.request(AskDevices{}).is_ok());
    return std::get<Devices>(wait(client).message).rows;
  };
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (uint32_t i = 0; i < 6; ++i) {
      clients.push_back(connect_to_device(-1).value());
      EXPECT_EQ(clients.back()->welcome().number, i % 3);
      EXPECT_EQ(clients.back()->welcome().devices, 3u);
    }
    const auto second = connect_to_device(1).value();
    EXPECT_EQ(second->welcome().number, 1u);
    for (const int32_t wrong : {3, 64, -2, INT32_MAX}) EXPECT_FALSE(connect_to_device(wrong).is_ok()) << wrong;
    // A device that is busy does not hold the others up, and is not chosen.
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(clients[0]->submit({kSleep, 100, "60000"}).is_ok());
    EXPECT_TRUE(soon([&] { return devices(*second)[0].running > 0; }));
    EXPECT_EQ(echo(*clients[1], "goes on"), "goes on");
    const std::vector<DeviceRow> rows = devices(*second);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].running + rows[0].queued, 20u);
    EXPECT_EQ(rows[0].memory_used, 100 * rows[0].running);
    EXPECT_EQ(rows[1].sessions, 3u);
    EXPECT_EQ(rows[1].tasks_done, 1u);
    EXPECT_EQ(connect_to_device(-1).value()->welcome().number, 2u);
    // The ledger has the sessions of all, in their order.
    const Ledger all = ledger(*second);
    EXPECT_EQ(all.device_memory, 3000u);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(all.rows[i].session, clients[i]->welcome().session);
      EXPECT_EQ(all.rows[i].device, i % 3);
    }
    EXPECT_TRUE(clients[0]->cancel(1).is_ok());
    EXPECT_EQ(failure(wait(*clients[0])), ErrorCode::kCancelled);
  }
  server.value()->stop();
  thread.join();
}

}  // namespace
}  // namespace strom::service::test
