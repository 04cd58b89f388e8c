// See receiver.hpp.
#include "fluent2arrow/receiver.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/os_error.hpp"
#include "common/program.hpp"
#include "format/forward/handshake.hpp"

namespace strom::fluent2arrow {

using base::Descriptor;
using format::forward::Message;

namespace {

constexpr int kBacklog = 256;
constexpr size_t kMostConnections = 4000;
constexpr size_t kReadBytes = size_t{256} << 10;
constexpr size_t kMostMessage = size_t{256} << 20;    // also without compression
constexpr int64_t kMostWaiting = int64_t{512} << 20;  // of events and of messages that are not whole
constexpr size_t kMostOutput = size_t{1} << 20;       // answers that a client does not take
constexpr size_t kKnownChunks = 100000;
constexpr size_t kMostAnswers = 10000;  // that wait for a write
constexpr int64_t kRetryMs = 1000;
// When nothing has come for so long, so much is written before its time.
constexpr int64_t kIdleMs = 20, kIdleBytes = int64_t{1} << 20;
constexpr int64_t kGreetingMs = 30000;              // in which a client has to be welcome
constexpr size_t kMostGreeting = size_t{64} << 10;  // of bytes before
constexpr size_t kReads = 16;                       // of a client, before others have their turn

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Status Receiver::prepare() {
  STROM_ASSIGN(access_, Access::read(settings_));
  STROM_ASSIGN(tls_, TlsContext::load(settings_));
  for (const std::string& chunk : files_.written_chunks(kKnownChunks)) remember(chunk);
  return Status::ok();
}

Status Receiver::listen() {
  STROM_ASSIGN(listener_, Listener::open(settings_.address));
  return Status::ok();
}

bool Receiver::may_read() const { return taken_.bytes + written_.bytes + buffered_bytes_ < kMostWaiting; }

/// Until something comes, or it is time to write.
void Receiver::wait(int ending) {
  std::vector<pollfd> waited{{listener_.get(), POLLIN, 0}, {ending, POLLIN, 0}, {writer_.descriptor(), POLLIN, 0}};
  const size_t first = waited.size();
  std::vector<uint64_t> numbers(first);
  for (const auto& [number, connection] : connections_) {
    const Channel& channel = connection.channel;
    const bool has_output = !connection.output.empty() && !channel.write_waits_for_read();
    const int events = (may_read() ? POLLIN : 0) | (has_output || channel.wants_to_write() ? POLLOUT : 0);
    waited.push_back({channel.socket(), static_cast<short>(events), 0});
    numbers.push_back(number);
  }
  int64_t pause =
      std::clamp<int64_t>(last_write_ms_ + (is_failing_ ? kRetryMs : settings_.flush_ms) - now_ms(), 0, kRetryMs);
  if (writer_.is_busy()) pause = kRetryMs;  // which tells when it is done
  const bool is_much = taken_.bytes >= kIdleBytes;
  is_idle_ = poll(waited.data(), waited.size(), static_cast<int>(is_much ? std::min(pause, kIdleMs) : pause)) == 0;
  if (waited[1].revents != 0) is_ending_ = true;
  if (is_idle_ || is_ending_) return;
  for (size_t i = first; i < waited.size(); ++i) {
    const auto found = connections_.find(numbers[i]);
    if (!serve(found->first, found->second, waited[i].revents)) end(found);
  }
  if (waited[0].revents != 0) accept_some();
}

bool Receiver::is_time_to_write(bool is_idle) const {
  const int64_t since = now_ms() - last_write_ms_;
  if (is_failing_) return since >= kRetryMs;
  // Who has sent much and waits for an answer gets it soon.
  return since >= settings_.flush_ms || taken_.bytes >= settings_.flush_bytes ||
         taken_.answers.size() >= kMostAnswers || (is_idle && taken_.bytes >= kIdleBytes);
}

Status Receiver::run(const std::function<void()>& ready) {
  // The signal's thread wakes this one.
  const Descriptor ending(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (ending.get() < 0) return base::os_error(errno, "could not make an event");
  const tool::StopAtSignal stop([&] { (void)eventfd_write(ending.get(), 1); });
  STROM_TRY(writer_.start());
  ready();
  last_write_ms_ = now_ms();
  while (!is_ending_) {
    wait(ending.get());
    if (const auto result = writer_.result(false)) end_write(*result);
    if (!writer_.is_busy() && is_time_to_write(is_idle_)) begin_write();
    end_some();
  }
  receive_rest();
  listener_.close();
  STROM_TRY(write_now());
  for (auto& [number, connection] : connections_) (void)send(connection);
  return Status::ok();
}

/// What poll() has found. False when the connection has ended.
bool Receiver::serve(uint64_t number, Connection& connection, int events) {
  if ((events & POLLOUT) != 0 && !send(connection)) return false;
  const bool is_asked = (events & (POLLIN | POLLHUP | POLLERR)) != 0 || connection.channel.wants_to_write();
  if (is_asked && !may_read()) return (events & POLLERR) == 0;
  if (is_asked && !receive(number, connection)) return false;
  return send(connection) && !(connection.is_refused && connection.output.empty());
}

void Receiver::end(Connections::iterator connection) {
  buffered_bytes_ -= static_cast<int64_t>(connection->second.input.size());
  connections_.erase(connection);
}

/// Clients that are not served any more, and those that have never become welcome.
void Receiver::end_some() {
  const int64_t oldest = now_ms() - kGreetingMs;
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    const Connection& connection = at->second;
    const bool is_over = connection.is_refused && connection.output.empty();
    if (is_over || (connection.handshake != nullptr && connection.since_ms < oldest)) end(at);
    at = next;
  }
}

/// What clients have sent before the signal.
void Receiver::receive_rest() {
  accept_some();
  const int64_t end = now_ms() + kRetryMs;  // one that goes on sending is not waited for
  for (bool goes_on = true; goes_on && may_read() && now_ms() < end;) {
    goes_on = false;
    for (auto at = connections_.begin(); at != connections_.end();) {
      pollfd waited{at->second.channel.socket(), POLLIN, 0};
      const auto next = std::next(at);
      if (poll(&waited, 1, 0) > 0) {
        goes_on = true;
        if (!receive(at->first, at->second)) connections_.erase(at);
      }
      at = next;
    }
  }
}

void Receiver::accept_some() {
  for (int i = 0; i < kBacklog; ++i) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) return;
    if (connections_.size() >= kMostConnections) continue;  // closed at once
    const int yes = 1;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    Connection& connection = connections_[++last_connection_];
    connection.channel = Channel(std::move(socket), tls_);
    connection.since_ms = now_ms();
    ++received_.connections;
    if (!access_.is_asked_for()) continue;
    connection.handshake = std::make_unique<Handshake>(access_);
    connection.output = connection.handshake->helo();
  }
}

/// False when the connection has ended.
bool Receiver::receive(uint64_t number, Connection& connection) {
  for (size_t i = 0; i < kReads; ++i) {
    const size_t have = connection.input.size();
    connection.input.resize(have + kReadBytes);
    const Channel::Moved moved = connection.channel.read(connection.input.data() + have, kReadBytes);
    connection.input.resize(have + moved.bytes);
    buffered_bytes_ += static_cast<int64_t>(moved.bytes);
    if (moved.state == Channel::State::kWaits) return true;
    if (moved.state == Channel::State::kEnded || !take_messages(number, connection)) return false;
    if (connection.is_refused || !may_read()) return true;
  }
  return true;
}

/// All messages that are whole. False: the client sends something else.
bool Receiver::take_messages(uint64_t number, Connection& connection) {
  std::string_view rest = connection.input;
  bool is_good = true;
  while (!rest.empty() && !connection.is_refused) {
    const Result<size_t> size = connection.end.find(rest);
    Status status = size.status();
    if (status.is_ok() && size.value() == 0) {
      const size_t most = connection.handshake == nullptr ? kMostMessage : kMostGreeting;
      if (rest.size() < most) break;
      status = {ErrorCode::kOverBudget, "a message has more than " + std::to_string(most) + " bytes"};
    }
    if (status.is_ok()) {
      const std::string_view message = rest.substr(0, size.value());
      status = connection.handshake == nullptr ? take(number, message) : greet(connection, message);
    }
    if (!status.is_ok()) {
      // Nothing of it was kept, and it is not answered: the sender still has it.
      tool::report_warning("fluent2arrow", status.message() + "; the connection is closed");
      ++received_.refused;
      is_good = false;
      break;
    }
    rest.remove_prefix(size.value());
  }
  const size_t taken = connection.input.size() - rest.size();
  buffered_bytes_ -= static_cast<int64_t>(taken);
  connection.input.erase(0, taken);
  return is_good;
}

Status Receiver::greet(Connection& connection, std::string_view bytes) {
  bool is_welcome = false;
  STROM_ASSIGN(const std::string answer, connection.handshake->answer(bytes, &is_welcome));
  connection.output += answer;
  if (is_welcome) {
    connection.handshake.reset();
    return Status::ok();
  }
  tool::report_warning("fluent2arrow", "a client is refused, which does not know the key or its password");
  ++received_.refused;
  connection.is_refused = true;
  return Status::ok();
}

Status Receiver::take(uint64_t number, std::string_view bytes) {
  STROM_ASSIGN(Message message, Message::parse(bytes, kMostMessage));
  const std::string chunk(message.chunk());
  if (!chunk.empty() && known_.count(chunk) > 0) {
    ++received_.duplicates;
    taken_.answers.push_back({number, chunk});
    return Status::ok();
  }
  const auto left_out = [](const std::string& reason) {
    tool::report_warning("fluent2arrow", reason + "; the event is left out");
  };
  Status status = taken_.events->add(message, left_out, &counts_);
  if (status.code() == ErrorCode::kOverBudget) {
    STROM_TRY(write_now());
    status = taken_.events->add(message, left_out, &counts_);
  }
  STROM_TRY(status);
  ++received_.messages;
  taken_.bytes += static_cast<int64_t>(std::max(bytes.size(), message.events().size()));
  if (chunk.empty()) return Status::ok();
  taken_.answers.push_back({number, chunk});
  remember(chunk);
  return Status::ok();
}

void Receiver::remember(const std::string& chunk) {
  if (!known_.insert(chunk).second) return;
  known_order_.push_back(chunk);
  if (known_order_.size() <= kKnownChunks) return;
  known_.erase(known_order_.front());
  known_order_.pop_front();
}

/// What has failed is tried again before anything else is written.
void Receiver::begin_write() {
  last_write_ms_ = now_ms();
  if (!is_failing_) std::swap(taken_, written_);
  writer_.write(*written_.events);
}

void Receiver::end_write(const Status& status) {
  if (!status.is_ok()) {
    if (!is_failing_) tool::report_warning("fluent2arrow", status.message() + "; events wait, and it is tried again");
    is_failing_ = true;
    return;
  }
  if (is_failing_) tool::report_warning("fluent2arrow", "events are written again");
  is_failing_ = false;
  written_.bytes = 0;
  answer();
}

/// All that has come, while nothing else is done.
Status Receiver::write_now() {
  for (int round = 0; round < 2; ++round) {  // what is being written or has failed, and what came since
    if (!writer_.is_busy()) begin_write();
    const Status status = writer_.result(true).value();
    end_write(status);
    STROM_TRY(status);
  }
  return Status::ok();
}

/// {"ack": chunk} to whoever is still there.
void Receiver::answer() {
  for (const Answer& answer : written_.answers) {
    const auto found = connections_.find(answer.connection);
    if (found == connections_.end()) continue;
    std::string& output = found->second.output;
    output += format::forward::ack_message(answer.chunk);
    // Who does not take answers is sent the chunks' answers again when it asks again.
    // It is ended later: its messages may be what is being read.
    if (send(found->second) && output.size() <= kMostOutput) continue;
    output.clear();
    found->second.is_refused = true;
  }
  written_.answers.clear();
}

bool Receiver::send(Connection& connection) {
  while (!connection.output.empty()) {
    const Channel::Moved moved = connection.channel.write(connection.output.data(), connection.output.size());
    if (moved.state != Channel::State::kDone) return moved.state == Channel::State::kWaits;
    connection.output.erase(0, moved.bytes);
  }
  return true;
}

}  // namespace strom::fluent2arrow
