#include "service/server.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/os_error.hpp"
#include "engine/device/cached_columns.hpp"

namespace strom::service {
namespace {

constexpr unsigned long kTimerSlackNs = 1000;
constexpr size_t kMostUnsent = 256;  // answers to one client that does not read
constexpr int kHelloSeconds = 10;    // a connection that says nothing for so long is closed
constexpr int kMessagesInARow = 16;  // of one client, before others have their turn
constexpr uint64_t kListenerEvent = 0, kWakeEvent = 1, kLifeEvent = 2, kFirstSession = 16;

struct Answer {
  std::string bytes;
  Descriptor bulk;
};

struct Connection {
  Descriptor socket;
  Peer peer;
  bool has_said_hello = false;
  bool waits_to_send = false;
  bool ends = false;  // after what is unsent
  size_t device = 0;  // once it has said hello
  std::deque<Answer> unsent;
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
};

/// A device, and who waits for it.
struct Part {
  explicit Part(TaskRunner* its_runner) : runner(its_runner), scheduler(its_runner->device_memory()) {
    runner->set_lender(&scheduler);
  }
  TaskRunner* const runner;
  Scheduler scheduler;
};

class ServerImpl final : public Server {
 public:
  ServerImpl(ServerOptions options, const std::vector<TaskRunner*>& runners, Listener listener, Descriptor poll,
             Descriptor wake)
      : options_(std::move(options)), listener_(std::move(listener)), poll_(std::move(poll)), wake_(std::move(wake)) {
    for (TaskRunner* runner : runners) parts_.push_back(std::make_unique<Part>(runner));
  }

  Status start();
  Status serve() override;
  void stop() override;

 private:
  struct Done {
    uint32_t session, tag;
    Result<TaskOutput> output;
  };

  Status watch(int descriptor, uint64_t event, uint32_t events, int operation);
  Status poll_events();
  void run_tasks(Part& part);
  void lose(const Status& status);
  static void release_sessions(Part& part);
  void wake();
  void accept_clients();
  void listen_again();
  void close_silent_clients();
  void read_from(uint32_t session);
  void handle(uint32_t session, Packet packet);
  void open_session(uint32_t session, const Hello& hello);
  void submit(uint32_t session, uint32_t tag, Submit request, std::vector<Descriptor> descriptors);
  void find_columns(uint32_t session, uint32_t tag, const FindColumns& request);
  void send_done();
  static void clear_sessions(Part& part, const std::vector<Scheduler::Gone>& gone);
  Part& part_of(uint32_t session) { return *parts_[connections_.at(session).device]; }
  size_t least_loaded() const;
  Ledger ledger(uint32_t after) const;
  Devices devices() const;
  Cache cache(const std::string& after) const;
  void answer(uint32_t session, uint32_t tag, const Message& message, Descriptor bulk = {});
  void refuse(uint32_t session, const Status& status);
  void send_unsent(uint32_t session);
  void end_session(uint32_t session);

  const ServerOptions options_;
  Listener listener_;
  Descriptor poll_, wake_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::unordered_map<uint32_t, Connection> connections_;
  uint32_t next_session_ = kFirstSession;
  bool accepts_ = true;
  std::atomic<bool> ends_ = false;

  std::mutex done_mutex_;
  std::vector<Done> done_;
  Status lost_;  // under done_mutex_
};

Status ServerImpl::watch(int descriptor, uint64_t event, uint32_t events, int operation) {
  epoll_event wanted = {};
  wanted.events = events;
  wanted.data.u64 = event;
  if (epoll_ctl(poll_.get(), operation, descriptor, &wanted) != 0)
    return base::os_error(errno, "could not watch a descriptor");
  return {};
}

Status ServerImpl::start() {
  STROM_TRY(watch(listener_.socket.get(), kListenerEvent, EPOLLIN, EPOLL_CTL_ADD));
  STROM_TRY(watch(wake_.get(), kWakeEvent, EPOLLIN, EPOLL_CTL_ADD));
  if (options_.life_descriptor >= 0)
    STROM_TRY(watch(options_.life_descriptor, kLifeEvent, EPOLLIN | EPOLLHUP, EPOLL_CTL_ADD));
  return {};
}

void ServerImpl::wake() {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

void ServerImpl::stop() {
  ends_ = true;
  wake();
}

// A worker thread. Signals are for the thread that serves.
void ServerImpl::run_tasks(Part& part) {
  // LocalDevice looks at its launches every 20 us, which the kernel would make 70 by its slack of 50.
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  while (const std::shared_ptr<Task> task = part.scheduler.take()) {
    const auto begin = std::chrono::steady_clock::now();
    Result<TaskOutput> output = Status(ErrorCode::kCancelled, "canceled on the GPU");
    if (!task->stop) output = part.runner->run(*task);
    const auto elapsed = std::chrono::steady_clock::now() - begin;
    const Status status = output.status();
    // The client may submit the same tag, and ask for the ledger, as soon as it has the answer.
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
    part.scheduler.finish(*task, static_cast<uint64_t>(microseconds), output.is_ok() ? output.value().kept : 0,
                          output.is_ok() ? output.value().returned : 0);
    {
      const std::lock_guard lock(done_mutex_);
      done_.push_back({task->session, task->tag, std::move(output)});
      if (status.code() == ErrorCode::kDeviceLost) lose(status);  // with its answer, which is the first one to be sent
    }
    wake();
  }
}

// A worker thread, with done_mutex_. The thread that serves may be in a call that waits for the device, so that it
// never sees the end.
void ServerImpl::lose(const Status& status) {
  if (!lost_.is_ok()) return;
  lost_ = status;
  ends_ = true;
  if (options_.grace_seconds > 0) alarm(static_cast<unsigned>(options_.grace_seconds));
}

// A thread of its own: memory of a device is released when its launches are over, and nobody else waits for that.
void ServerImpl::release_sessions(Part& part) {
  for (;;) {
    const std::vector<Scheduler::Gone> gone = part.scheduler.await_gone();
    if (gone.empty()) return;
    clear_sessions(part, gone);
  }
}

void ServerImpl::clear_sessions(Part& part, const std::vector<Scheduler::Gone>& gone) {
  for (const Scheduler::Gone& one : gone) {
    part.runner->end_session(one.session);
    part.scheduler.give_back(one.memory);
  }
}

size_t ServerImpl::least_loaded() const {
  size_t least = 0;
  std::array<uint64_t, 3> best{};
  for (size_t i = 0; i < parts_.size(); ++i) {
    const DeviceRow row = parts_[i]->scheduler.load();
    const std::array<uint64_t, 3> load = {row.queued + row.running, row.memory_used, row.sessions};
    if (i > 0 && load >= best) continue;
    least = i;
    best = load;
  }
  return least;
}

Ledger ServerImpl::ledger(uint32_t after) const {
  Ledger all;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Ledger part = parts_[i]->scheduler.ledger(after);
    all.device_memory += part.device_memory;
    all.memory_used += part.memory_used;
    for (LedgerRow& row : part.rows) {
      row.device = static_cast<uint32_t>(i);
      all.rows.push_back(std::move(row));
    }
  }
  std::sort(all.rows.begin(), all.rows.end(),
            [](const LedgerRow& a, const LedgerRow& b) { return a.session < b.session; });
  if (all.rows.size() > kLedgerRowsPerMessage) all.rows.resize(kLedgerRowsPerMessage);
  return all;
}

/// What is on several devices counts for each. By label, as each device gives the first ones behind `after`.
Cache ServerImpl::cache(const std::string& after) const {
  Cache all;
  std::map<std::string, CacheRow> rows;
  for (const auto& part : parts_) {
    const Cache cache = part->runner->cache(after);
    all.limit += cache.limit, all.bytes += cache.bytes, all.pinned += cache.pinned;
    all.found += cache.found, all.missed += cache.missed;
    for (const CacheRow& row : cache.rows) {
      CacheRow& sum = rows[row.label];
      sum.label = row.label;
      sum.columns = std::max(sum.columns, row.columns);
      sum.pieces += row.pieces, sum.bytes += row.bytes, sum.uses += row.uses, sum.pinned += row.pinned;
    }
  }
  for (auto& [label, row] : rows)
    if (all.rows.size() < kCacheRowsPerMessage) all.rows.push_back(std::move(row));
  return all;
}

Devices ServerImpl::devices() const {
  Devices all;
  for (size_t i = 0; i < parts_.size(); ++i) {
    DeviceRow row = parts_[i]->scheduler.load();
    row.number = static_cast<uint32_t>(i);
    row.processors = parts_[i]->runner->processors();
    row.name = parts_[i]->runner->device_name();
    row.address = parts_[i]->runner->address();
    all.rows.push_back(std::move(row));
  }
  return all;
}

Status ServerImpl::serve() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::vector<std::thread> workers;
  workers.reserve(parts_.size() * (1 + static_cast<size_t>(options_.workers)));
  for (const auto& part : parts_) workers.emplace_back([&part] { release_sessions(*part); });
  for (const auto& part : parts_)
    for (int i = 0; i < options_.workers; ++i) workers.emplace_back([this, &part] { run_tasks(*part); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);

  Status outcome;
  while (!ends_ && outcome.is_ok()) outcome = poll_events();
  for (const auto& part : parts_) part->scheduler.shut_down();
  if (options_.grace_seconds > 0) alarm(static_cast<unsigned>(options_.grace_seconds));
  send_done();  // who has lost the device need not wait for the others
  for (std::thread& worker : workers) worker.join();
  send_done();
  while (!connections_.empty()) end_session(connections_.begin()->first);
  for (const auto& part : parts_) clear_sessions(*part, part->scheduler.take_gone());
  unlink(options_.socket_path.c_str());
  return outcome.is_ok() ? lost_ : outcome;
}

Status ServerImpl::poll_events() {
  constexpr int kEvents = 64, kMilliseconds = 1000;
  epoll_event events[kEvents];
  const int count = epoll_wait(poll_.get(), events, kEvents, kMilliseconds);
  if (count < 0 && errno != EINTR) return base::os_error(errno, "could not wait for clients");
  for (int i = 0; i < count; ++i) {
    const uint64_t event = events[i].data.u64;
    if (event == kListenerEvent) {
      accept_clients();
    } else if (event == kWakeEvent) {
      uint64_t woken;
      (void)!read(wake_.get(), &woken, sizeof woken);
      send_done();
    } else if (event == kLifeEvent) {
      ends_ = true;
    } else {
      const auto session = static_cast<uint32_t>(event);
      if ((events[i].events & EPOLLOUT) != 0) send_unsent(session);
      if ((events[i].events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) read_from(session);
    }
  }
  close_silent_clients();
  return {};
}

void ServerImpl::accept_clients() {
  for (int i = 0; i < kMessagesInARow; ++i) {
    Descriptor socket(accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) {
      // Without descriptors, who connects has to wait until somebody leaves.
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        accepts_ = false;
        (void)watch(listener_.socket.get(), kListenerEvent, 0, EPOLL_CTL_MOD);
      }
      return;
    }
    const Result<Peer> peer = peer_of(socket.get());
    if (!peer.is_ok()) continue;
    do {
      if (++next_session_ == 0) next_session_ = kFirstSession + 1;
    } while (connections_.contains(next_session_));
    const uint32_t session = next_session_;
    if (!watch(socket.get(), session, EPOLLIN, EPOLL_CTL_ADD).is_ok()) continue;
    Connection& connection = connections_[session];
    connection.socket = std::move(socket);
    connection.peer = peer.value();
    if (peer.value().user != options_.user)
      refuse(session, Status(ErrorCode::kPermissionDenied,
                             "user " + std::to_string(peer.value().user) + " may not use this GPU service"));
    else if (connections_.size() > static_cast<size_t>(options_.most_sessions))
      refuse(session, Status(ErrorCode::kOverBudget, "the GPU service has too many sessions")
                          .with_detail("At most " + std::to_string(options_.most_sessions) + " are possible."));
  }
}

void ServerImpl::listen_again() {
  if (accepts_) return;
  accepts_ = watch(listener_.socket.get(), kListenerEvent, EPOLLIN, EPOLL_CTL_MOD).is_ok();
}

void ServerImpl::close_silent_clients() {
  const auto limit = std::chrono::steady_clock::now() - std::chrono::seconds(kHelloSeconds);
  std::vector<uint32_t> silent;
  for (const auto& [session, connection] : connections_)
    if (!connection.has_said_hello && connection.since < limit) silent.push_back(session);
  for (const uint32_t session : silent) end_session(session);
  listen_again();
}

void ServerImpl::read_from(uint32_t session) {
  for (int i = 0; i < kMessagesInARow; ++i) {
    const auto found = connections_.find(session);
    if (found == connections_.end()) return;
    Packet packet;
    const Result<Transfer> received = receive_packet(found->second.socket.get(), false, &packet);
    if (!received.is_ok()) return refuse(session, received.status());
    if (received.value() == Transfer::kWouldBlock) return;
    if (received.value() == Transfer::kClosed) return end_session(session);
    if (!found->second.ends) handle(session, std::move(packet));
  }
}

void ServerImpl::handle(uint32_t session, Packet packet) {
  Result<TaggedMessage> decoded = decode(packet.bytes);
  if (!decoded.is_ok()) return refuse(session, decoded.status());
  const uint32_t tag = decoded.value().tag;
  Message& message = decoded.value().message;
  const bool is_known = connections_.at(session).has_said_hello;
  if (auto* hello = std::get_if<Hello>(&message); hello != nullptr && !is_known) return open_session(session, *hello);
  if (is_known && tag != 0) {
    if (auto* request = std::get_if<Submit>(&message))
      return submit(session, tag, std::move(*request), std::move(packet.descriptors));
    if (std::holds_alternative<Cancel>(message)) {
      if (part_of(session).scheduler.cancel(session, tag))
        answer(session, tag, describe(Status(ErrorCode::kCancelled, "canceled before it ran on the GPU")));
      return;
    }
    if (const auto* ask = std::get_if<AskLedger>(&message)) return answer(session, tag, ledger(ask->after));
    if (std::holds_alternative<AskDevices>(message)) return answer(session, tag, devices());
    if (const auto* find = std::get_if<FindColumns>(&message)) return find_columns(session, tag, *find);
    if (const auto* settle = std::get_if<SettleColumns>(&message)) {
      const Status status = part_of(session).runner->settle_columns(session, *settle);
      return status.is_ok() ? void() : refuse(session, status);
    }
    if (const auto* ask = std::get_if<AskCache>(&message)) return answer(session, tag, cache(ask->after));
  }
  refuse(session, Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: unexpected kind"));
}

void ServerImpl::find_columns(uint32_t session, uint32_t tag, const FindColumns& request) {
  const auto is_too_long = [](const std::string& name) {
    return name.size() > engine::device::DeviceCache::kMostMirroredNameBytes;
  };
  if (request.names.size() > kColumnsPerMessage || request.generations.size() != request.names.size() ||
      std::any_of(request.names.begin(), request.names.end(), is_too_long))
    return refuse(session, Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: columns"));
  answer(session, tag, part_of(session).runner->find_columns(session, request));
}

void ServerImpl::open_session(uint32_t session, const Hello& hello) {
  if (hello.name.size() > kMaxNameBytes)
    return refuse(session, Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: name too long"));
  if (hello.device < -1 || hello.device >= static_cast<int32_t>(parts_.size()))
    return refuse(session, Status(ErrorCode::kDeviceLost, "there is no GPU " + std::to_string(hello.device))
                               .with_detail("The GPU service has " + std::to_string(parts_.size()) + "."));
  if (hello.program != own_fingerprint())
    return refuse(session, Status(ErrorCode::kProtocolViolation, "GPU service and server are of different builds")
                               .with_hint("Restart the server after an update of the extension."));
  Connection& connection = connections_.at(session);
  connection.has_said_hello = true;
  connection.device = hello.device < 0 ? least_loaded() : static_cast<size_t>(hello.device);
  Part& part = *parts_[connection.device];
  part.scheduler.add_session(session, connection.peer.process, hello.priority, hello.name);
  answer(session, 0,
         Welcome{session, getpid(), part.runner->device_memory(), part.runner->processors(), part.runner->device_name(),
                 static_cast<uint32_t>(connection.device), static_cast<uint32_t>(parts_.size())});
}

void ServerImpl::submit(uint32_t session, uint32_t tag, Submit request, std::vector<Descriptor> descriptors) {
  auto task = std::make_shared<Task>();
  task->session = session;
  task->tag = tag;
  task->kind = request.task;
  task->memory = request.memory;
  task->arguments = std::move(request.arguments);
  task->descriptors = std::move(descriptors);
  if (const Status status = part_of(session).scheduler.submit(std::move(task)); !status.is_ok())
    answer(session, tag, describe(status));
}

void ServerImpl::send_done() {
  std::vector<Done> done;
  {
    const std::lock_guard lock(done_mutex_);
    done.swap(done_);
  }
  for (Done& task : done) {
    if (task.output.is_ok())
      answer(task.session, task.tag, Finished{std::move(task.output.value().values)},
             std::move(task.output.value().bulk));
    else
      answer(task.session, task.tag, describe(task.output.status()));
  }
}

void ServerImpl::answer(uint32_t session, uint32_t tag, const Message& message, Descriptor bulk) {
  const auto found = connections_.find(session);
  if (found == connections_.end()) return;  // it has died
  Result<std::string> bytes = encode(tag, message);
  if (!bytes.is_ok()) bytes = encode(tag, describe(bytes.status()));
  found->second.unsent.push_back({std::move(bytes).value(), std::move(bulk)});
  send_unsent(session);
}

// Without a session nothing more is read. The text may be lost when the client does not read it.
void ServerImpl::refuse(uint32_t session, const Status& status) {
  if (const auto found = connections_.find(session); found != connections_.end()) found->second.ends = true;
  answer(session, 0, describe(status));
}

void ServerImpl::send_unsent(uint32_t session) {
  const auto found = connections_.find(session);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  while (!connection.unsent.empty()) {
    const Answer& next = connection.unsent.front();
    std::vector<int> descriptors;
    if (next.bulk.is_open()) descriptors.push_back(next.bulk.get());
    const Result<Transfer> sent = send_packet(connection.socket.get(), next.bytes, descriptors, false);
    if (!sent.is_ok() || sent.value() == Transfer::kClosed) return end_session(session);
    if (sent.value() == Transfer::kWouldBlock) break;
    connection.unsent.pop_front();
  }
  if (connection.unsent.size() > kMostUnsent || (connection.ends && connection.unsent.empty()))
    return end_session(session);
  const bool waits = !connection.unsent.empty();
  if (waits == connection.waits_to_send) return;
  connection.waits_to_send = waits;
  if (!watch(connection.socket.get(), session, EPOLLIN | (waits ? EPOLLOUT : 0u), EPOLL_CTL_MOD).is_ok())
    end_session(session);
}

void ServerImpl::end_session(uint32_t session) {
  if (connections_.at(session).has_said_hello) part_of(session).scheduler.remove_session(session);
  connections_.erase(session);
  listen_again();
}

}  // namespace

Result<std::unique_ptr<Server>> Server::create(ServerOptions options, const std::vector<TaskRunner*>& runners) {
  STROM_ASSIGN(Listener listener, listen_at(options.socket_path));
  Descriptor poll(epoll_create1(EPOLL_CLOEXEC));
  Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!poll.is_open() || !wake.is_open()) return base::os_error(errno, "could not prepare waiting for clients");
  auto server =
      std::make_unique<ServerImpl>(std::move(options), runners, std::move(listener), std::move(poll), std::move(wake));
  STROM_TRY(server->start());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace strom::service
