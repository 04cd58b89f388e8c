// See receiver.hpp.
#include "fluent2arrow/receiver.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/os_error.hpp"
#include "cli/program.hpp"
#include "format/forward/handshake.hpp"
#include "format/forward/http_events.hpp"
#include "format/forward/syslog.hpp"

namespace strom::fluent2arrow {

using base::Descriptor;
using format::forward::HttpReader;
using format::forward::Message;

namespace {

constexpr int kBacklog = 256;
constexpr size_t kMostConnections = 4000, kLeastConnections = 16;
constexpr size_t kOtherDescriptors = 64;           // of files, of addresses and of the system's libraries
constexpr size_t kKeptBytes = size_t{64} << 10;    // of a buffer that is nearly empty
constexpr int kKeepIdle = 60, kKeepInterval = 10;  // seconds, after which a silent client's system is asked
constexpr int kKeepCount = 6;                      // questions without an answer, after which it is gone
constexpr size_t kReadBytes = size_t{256} << 10;
constexpr size_t kMostMessage = size_t{256} << 20;  // also without compression
constexpr size_t kMostSyslog = size_t{1} << 20;     // of a message in a stream
constexpr size_t kMostOutput = size_t{1} << 20;     // answers that a client does not take
constexpr size_t kKnownChunks = 100000;
constexpr size_t kMostAnswers = 10000;  // that wait for a write
constexpr int64_t kRetryMs = 1000;
// When nothing has come for so long, so much is written before its time.
constexpr int64_t kIdleMs = 20, kIdleBytes = int64_t{1} << 20;
constexpr int64_t kGreetingMs = 30000;              // in which a client has to be welcome, or to send a request
constexpr size_t kMostGreeting = size_t{64} << 10;  // of bytes before
constexpr size_t kReads = 16;                       // of a client, before others have their turn

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// As many as there are descriptors for, so that files can be opened whatever clients do.
size_t most_connections() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeastConnections;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, kMostConnections + kOtherDescriptors);
  if (limit.rlim_cur < wanted) {
    const rlimit raised = {wanted, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = wanted;
  }
  const rlim_t rest = limit.rlim_cur - std::min<rlim_t>(limit.rlim_cur, kOtherDescriptors);
  return static_cast<size_t>(std::clamp<rlim_t>(rest, kLeastConnections, kMostConnections));
}

void set_option(const Descriptor& socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof value);
}

}  // namespace

Status Receiver::prepare() {
  most_connections_ = most_connections();
  read_.resize(kReadBytes);
  STROM_ASSIGN(access_, Access::read(settings_));
  STROM_ASSIGN(tls_, TlsContext::load(settings_));
  for (const std::string& chunk : files_.written_chunks(kKnownChunks)) remember(chunk);
  return Status::ok();
}

Status Receiver::listen() {
  const auto add = [&](Protocol protocol, const std::string& address) {
    if (address.empty()) return Status::ok();
    STROM_ASSIGN(Listener listener,
                 protocol == Protocol::kSyslogDatagrams ? Listener::open_datagrams(address) : Listener::open(address));
    sources_.push_back({protocol, std::move(listener)});
    return Status::ok();
  };
  STROM_TRY(add(Protocol::kForward, settings_.address));
  STROM_TRY(add(Protocol::kHttp, settings_.http));
  STROM_TRY(add(Protocol::kSyslog, settings_.syslog_stream));
  return add(Protocol::kSyslogDatagrams, settings_.syslog_datagrams);
}

std::string Receiver::addresses() const {
  std::string text;
  for (const Source& source : sources_) {
    constexpr const char* kNames[] = {"", " (HTTP)", " (syslog)", " (syslog, datagrams)"};
    text += (text.empty() ? "" : ", ") + source.listener.address() + kNames[static_cast<size_t>(source.protocol)];
  }
  return text;
}

bool Receiver::may_read() const { return taken_.bytes + written_.bytes + buffered_bytes_ < settings_.memory_bytes; }

/// Until something comes, or it is time to write.
void Receiver::wait(int ending) {
  std::vector<pollfd> waited{{ending, POLLIN, 0}, {writer_.descriptor(), POLLIN, 0}};
  const size_t first_source = waited.size();
  for (const Source& source : sources_) {
    const bool is_asked = source.protocol != Protocol::kSyslogDatagrams || may_read();
    waited.push_back({source.listener.get(), static_cast<short>(is_asked ? POLLIN : 0), 0});
  }
  const size_t first = waited.size();
  std::vector<uint64_t> numbers(first);
  for (const auto& [number, connection] : connections_) {
    const Channel& channel = connection.channel;
    const bool has_output = !connection.output.empty() && !channel.write_waits_for_read();
    const int events = (may_read() && !connection.is_waiting && !connection.has_ended ? POLLIN : 0) |
                       (has_output || channel.wants_to_write() ? POLLOUT : 0);
    // poll() tells of a client that hung up, whether it was asked or not.
    waited.push_back({events != 0 ? channel.socket() : -1, static_cast<short>(events), 0});
    numbers.push_back(number);
  }
  int64_t pause =
      std::clamp<int64_t>(last_write_ms_ + (is_failing_ ? kRetryMs : settings_.flush_ms) - now_ms(), 0, kRetryMs);
  if (writer_.is_busy()) pause = kRetryMs;  // which tells when it is done
  const bool is_much = taken_.bytes >= kIdleBytes;
  is_idle_ = poll(waited.data(), waited.size(), static_cast<int>(is_much ? std::min(pause, kIdleMs) : pause)) == 0;
  if (waited[0].revents != 0) is_ending_ = true;
  if (is_idle_ || is_ending_) return;
  for (size_t i = first; i < waited.size(); ++i) {
    const auto found = connections_.find(numbers[i]);
    if (!serve(found->first, found->second, waited[i].revents)) end(found);
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (waited[first_source + i].revents == 0) continue;
    if (sources_[i].protocol == Protocol::kSyslogDatagrams)
      receive_datagrams(sources_[i]);
    else
      accept_some(sources_[i]);
  }
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
    resume_some();
    make_room();
    if (!writer_.is_busy() && is_time_to_write(is_idle_)) begin_write();
    end_some();
  }
  receive_rest();
  sources_.clear();
  const Status status = write_now();
  for (auto& [number, connection] : connections_) (void)send(connection);
  return status;
}

/// What poll() has found. False when the connection has ended.
bool Receiver::serve(uint64_t number, Connection& connection, int events) {
  if ((events & POLLOUT) != 0 && !send(connection)) return false;
  const bool is_asked =
      !connection.has_ended && ((events & (POLLIN | POLLHUP | POLLERR)) != 0 || connection.channel.wants_to_write());
  if (is_asked && !may_read()) return (events & POLLERR) == 0;
  if (is_asked && !receive(number, connection)) return false;
  return send(connection) && !is_done(connection);
}

/// Nothing is to be sent to the client any more, and nothing comes from it that is wanted.
bool Receiver::is_done(const Connection& connection) {
  return connection.output.empty() && (connection.is_refused || (connection.has_ended && connection.unanswered == 0));
}

size_t Receiver::held(const Connection& connection) {
  return connection.input.size() + (connection.http == nullptr ? 0 : connection.http->held());
}

void Receiver::end(Connections::iterator connection) {
  buffered_bytes_ -= static_cast<int64_t>(held(connection->second));
  connections_.erase(connection);
}

/// The client that has been silent for the longest time, among those that hold at least so many bytes and do not wait
/// for us.
Receiver::Connections::iterator Receiver::most_silent(size_t least_held) {
  auto found = connections_.end();
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    if (at->second.is_waiting || held(at->second) < least_held) continue;
    if (found == connections_.end() || at->second.heard < found->second.heard) found = at;
  }
  return found;
}

/// Messages that are not whole can take all memory, and nobody could go on then. Who is disconnected has no answer for
/// its message, and sends it again.
void Receiver::make_room() {
  while (!may_read() && taken_.bytes + written_.bytes == 0) {
    const auto found = most_silent(1);
    if (found == connections_.end()) return;
    tool::report_warning("fluent2arrow",
                         "messages that are not whole take all memory; the client that has been "
                         "silent for the longest time is disconnected");
    ++received_.refused;
    end(found);
  }
}

/// Clients that are not served any more, those that have never become welcome, and those whose request by HTTP takes
/// long or does not come.
void Receiver::end_some() {
  const int64_t oldest = now_ms() - kGreetingMs;
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    const Connection& connection = at->second;
    const bool is_over = is_done(connection);
    const bool is_late = connection.since_ms < oldest &&
                         (connection.handshake != nullptr || (connection.http != nullptr && !connection.is_waiting));
    if (is_over || is_late) end(at);
    at = next;
  }
}

/// What clients have sent before the signal.
void Receiver::receive_rest() {
  for (const Source& source : sources_) {
    if (source.protocol == Protocol::kSyslogDatagrams)
      receive_datagrams(source);
    else
      accept_some(source);
  }
  const int64_t latest = now_ms() + kRetryMs;  // one that goes on sending is not waited for
  for (bool goes_on = true; goes_on && may_read() && now_ms() < latest;) {
    goes_on = false;
    for (auto at = connections_.begin(); at != connections_.end();) {
      pollfd waited{at->second.channel.socket(), POLLIN, 0};
      const auto next = std::next(at);
      if (!at->second.has_ended && poll(&waited, 1, 0) > 0) {
        goes_on = true;
        if (!receive(at->first, at->second)) end(at);
      }
      at = next;
    }
  }
}

void Receiver::accept_some(const Source& source) {
  for (int i = 0; i < kBacklog; ++i) {
    Descriptor socket(accept4(source.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) return;
    if (connections_.size() >= most_connections_) {
      const auto silent = most_silent(0);
      if (silent == connections_.end()) continue;  // closed at once
      if (!is_crowded_)
        tool::report_warning("fluent2arrow", std::to_string(most_connections_) +
                                                 " clients are connected; those that have been silent for the longest "
                                                 "time are disconnected for others");
      is_crowded_ = true;
      end(silent);
    }
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdle);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kKeepInterval);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
    Connection& connection = connections_[++last_connection_];
    connection.protocol = source.protocol;
    connection.channel = Channel(std::move(socket), tls_);
    connection.since_ms = now_ms();
    connection.heard = ++heard_;
    ++received_.connections;
    if (source.protocol == Protocol::kHttp)
      connection.http = std::make_unique<HttpReader>(static_cast<size_t>(settings_.http_limit));
    if (source.protocol != Protocol::kForward || !access_.is_asked_for()) continue;
    connection.handshake = std::make_unique<Handshake>(access_);
    connection.output = connection.handshake->helo();
  }
}

/// False when the connection has ended.
bool Receiver::receive(uint64_t number, Connection& connection) {
  for (size_t i = 0; i < kReads; ++i) {
    // Clients have only as much memory as they have sent.
    const Channel::Moved moved = connection.channel.read(read_.data(), read_.size());
    connection.input.append(read_, 0, moved.bytes);
    buffered_bytes_ += static_cast<int64_t>(moved.bytes);
    if (moved.bytes > 0) connection.heard = ++heard_;
    if (moved.state == Channel::State::kWaits) return true;
    if (moved.state == Channel::State::kEnded) {
      if (connection.protocol == Protocol::kSyslog) take_last_line(connection);
      connection.has_ended = true;
      return connection.unanswered > 0 || !connection.output.empty();
    }
    if (!take_messages(number, connection)) return false;
    if (connection.is_refused || connection.is_waiting || !may_read()) return true;
  }
  return true;
}

/// Each is a message. What comes while there is no room is left to the system, which drops what it has no room for.
void Receiver::receive_datagrams(const Source& source) {
  constexpr size_t kMostDatagram = size_t{64} << 10;
  constexpr int kMost = 1000;  // before others have their turn
  std::string events, datagram(kMostDatagram, '\0');
  for (int i = 0; i < kMost; ++i) {
    const ssize_t size = recv(source.listener.get(), datagram.data(), datagram.size(), 0);
    if (size < 0) break;
    format::forward::append_syslog_event(std::string_view(datagram).substr(0, static_cast<size_t>(size)), now_ns(),
                                         &events);
    ++received_.messages;
  }
  if (events.empty()) return;
  const size_t bytes = events.size();
  const Status status = keep(Message::of_events(settings_.syslog_tag, std::move(events)), bytes);
  if (!status.is_ok()) tool::report_warning("fluent2arrow", status.message() + "; messages of syslog are lost");
}

/// The messages of a stream that are whole.
Status Receiver::take_syslog(std::string_view* rest) {
  std::string events;
  const size_t before = rest->size();
  Status status;
  while (!rest->empty()) {
    const auto frame = format::forward::next_syslog_frame(*rest, kMostSyslog);
    status = frame.status();
    if (!status.is_ok() || frame.value().size == 0) break;
    if (!frame.value().text.empty()) {
      format::forward::append_syslog_event(frame.value().text, now_ns(), &events);
      ++received_.messages;
    }
    rest->remove_prefix(frame.value().size);
  }
  if (!events.empty())
    STROM_TRY(keep(Message::of_events(settings_.syslog_tag, std::move(events)), before - rest->size()));
  return status;
}

/// A message in a line of its own whose end did not come.
void Receiver::take_last_line(const Connection& connection) {
  const std::string_view text = connection.input;
  if (text.empty() || (text[0] >= '1' && text[0] <= '9')) return;
  std::string line(text);
  line += '\n';
  std::string_view rest = line;
  const Status status = take_syslog(&rest);
  if (!status.is_ok()) tool::report_warning("fluent2arrow", status.message() + "; a message of syslog is lost");
}

Status Receiver::take_request(uint64_t number, Connection& connection, std::string_view* rest, bool* is_whole) {
  HttpReader& reader = *connection.http;
  const size_t held = reader.held();
  const HttpReader::State state = reader.read(rest);
  *is_whole = state == HttpReader::State::kWhole;
  const bool is_continued = reader.wants_continue() && state == HttpReader::State::kMore;
  if (is_continued) connection.output += "HTTP/1.1 100 Continue\r\n\r\n";
  if (state == HttpReader::State::kWrong) {
    connection.output += format::forward::http_answer(reader.status(), false);
    connection.is_refused = true;
    ++received_.refused;
  }
  if (*is_whole) take_events(number, connection, reader.take_request());
  buffered_bytes_ += static_cast<int64_t>(reader.held()) - static_cast<int64_t>(held);
  return Status::ok();
}

/// It is answered when its events are on the disk.
void Receiver::take_events(uint64_t number, Connection& connection, const format::forward::HttpRequest& request) {
  format::forward::HttpEvents taken = format::forward::events_of(request, now_ns(), kMostMessage);
  constexpr int kOk = 200, kUnavailable = 503;
  connection.since_ms = now_ms();
  if (taken.status == kOk && !taken.events.empty()) {
    const Status status = keep(Message::of_events(taken.tag, std::move(taken.events)), request.body.size());
    if (status.is_ok()) {
      ++received_.messages;
      expect_answer({number, taken.tag, "", true, request.keeps_alive});
      connection.is_waiting = true;
      return;
    }
    tool::report_warning("fluent2arrow", status.message() + "; a request is refused");
    taken.status = kUnavailable;
  }
  if (taken.status != kOk) ++received_.refused;
  connection.output += format::forward::http_answer(taken.status, request.keeps_alive);
  connection.is_refused = !request.keeps_alive;
}

/// Requests that came behind one that has its answer now.
void Receiver::resume_some() {
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    Connection& connection = at->second;
    if (connection.http != nullptr && !connection.is_waiting && !connection.is_refused && !connection.input.empty()) {
      if (!take_messages(at->first, connection) || !send(connection)) end(at);
    }
    at = next;
  }
}

/// The message that the input begins with, unless it is not whole yet.
Status Receiver::take_message(uint64_t number, Connection& connection, std::string_view* rest, bool* is_whole) {
  if (connection.protocol == Protocol::kSyslog) {
    *is_whole = false;
    return take_syslog(rest);
  }
  if (connection.protocol == Protocol::kHttp) return take_request(number, connection, rest, is_whole);
  STROM_ASSIGN(const size_t size, connection.end.find(*rest));
  *is_whole = size > 0;
  if (!*is_whole) {
    const size_t most = connection.handshake == nullptr ? kMostMessage : kMostGreeting;
    if (rest->size() < most) return Status::ok();
    return {ErrorCode::kOverBudget, "a message has more than " + std::to_string(most) + " bytes"};
  }
  const std::string_view message = rest->substr(0, size);
  STROM_TRY(connection.handshake == nullptr ? take(number, message) : greet(connection, message));
  rest->remove_prefix(size);
  return Status::ok();
}

/// All messages that are whole. False: the client sends something else.
bool Receiver::take_messages(uint64_t number, Connection& connection) {
  std::string_view rest = connection.input;
  bool is_good = true;
  for (bool is_whole = true; is_whole && !rest.empty() && !connection.is_refused && !connection.is_waiting;) {
    const Status status = take_message(number, connection, &rest, &is_whole);
    if (status.is_ok()) continue;
    // Nothing of it was kept, and it is not answered: the sender still has it.
    tool::report_warning("fluent2arrow", status.message() + "; the connection is closed");
    ++received_.refused;
    is_good = false;
    break;
  }
  const size_t taken = connection.input.size() - rest.size();
  buffered_bytes_ -= static_cast<int64_t>(taken);
  connection.input.erase(0, taken);
  if (connection.input.capacity() > std::max(kKeptBytes, 4 * connection.input.size())) connection.input.shrink_to_fit();
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
    expect_answer({number, std::string(message.tag()), chunk, message.has_text_chunk()});
    return Status::ok();
  }
  STROM_TRY(keep(message, bytes.size()));
  ++received_.messages;
  if (chunk.empty()) return Status::ok();
  expect_answer({number, std::string(message.tag()), chunk, message.has_text_chunk()});
  remember(chunk);
  return Status::ok();
}

/// Until the next write. `bytes`: of what has come.
Status Receiver::keep(const Message& message, size_t bytes) {
  const auto left_out = [](const std::string& reason) {
    tool::report_warning("fluent2arrow", reason + "; the event is left out");
  };
  Status status = taken_.events->add(message, left_out, &counts_);
  if (status.code() == ErrorCode::kOverBudget) {
    (void)write_now();  // which tells of failures
    status = taken_.events->add(message, left_out, &counts_);
  }
  STROM_TRY(status);
  taken_.bytes += static_cast<int64_t>(std::max(bytes, message.events().size()));
  return Status::ok();
}

void Receiver::remember(const std::string& chunk) {
  if (!known_.insert(chunk).second) return;
  known_order_.push_back(chunk);
  if (known_order_.size() <= kKnownChunks) return;
  known_.erase(known_order_.front());
  known_order_.pop_front();
}

/// What has failed stays, and others' events are written in between.
void Receiver::begin_write() {
  last_write_ms_ = now_ms();
  std::swap(taken_, written_);
  writer_.write(*written_.events);
}

void Receiver::end_write(const Status& status) {
  written_.failed = status.is_ok() ? std::set<std::string, std::less<>>() : written_.events->waiting_tags();
  written_.bytes = status.is_ok() ? 0 : std::min(written_.bytes, written_.events->waiting_bytes());
  const bool is_failing = !written_.failed.empty() || !taken_.failed.empty();
  if (!status.is_ok() && !is_failing_)
    tool::report_warning("fluent2arrow", status.message() + "; events wait, and it is tried again");
  if (is_failing_ && !is_failing) tool::report_warning("fluent2arrow", "events are written again");
  is_failing_ = is_failing;
  answer();
}

/// All that has come, while nothing else is done. Everything is tried. Errors: the first one.
Status Receiver::write_now() {
  if (writer_.is_busy()) end_write(writer_.result(true).value());
  Status failure;
  for (int round = 0; round < 2; ++round) {  // what came since, and what has failed
    begin_write();
    Status status = writer_.result(true).value();
    end_write(status);
    if (failure.is_ok()) failure = std::move(status);
  }
  return failure;
}

void Receiver::expect_answer(Answer answer) {
  const auto found = connections_.find(answer.connection);
  if (found != connections_.end()) ++found->second.unanswered;
  taken_.answers.push_back(std::move(answer));
}

/// Those whose events are on the disk.
void Receiver::answer() {
  std::vector<Answer> waiting;
  for (Answer& answer : written_.answers) {
    // The chunk may have come twice, and its events wait in the other round.
    if (written_.failed.contains(answer.tag) || taken_.failed.contains(answer.tag))
      waiting.push_back(std::move(answer));
    else
      send_answer(answer);
  }
  written_.answers = std::move(waiting);
}

/// {"ack": chunk}, or a word of HTTP, if the client is still there.
void Receiver::send_answer(const Answer& answer) {
  const auto found = connections_.find(answer.connection);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  --connection.unanswered;
  std::string& output = connection.output;
  if (connection.protocol == Protocol::kHttp) {
    output += format::forward::http_answer(200, answer.keeps_alive);
    connection.is_waiting = false;
    connection.is_refused = !answer.keeps_alive;
    connection.since_ms = now_ms();
  } else {
    output += format::forward::ack_message(answer.chunk, answer.is_text);
  }
  // Who does not take answers is sent the chunks' answers again when it asks again.
  // It is ended later: its messages may be what is being read.
  if (send(connection) && output.size() <= kMostOutput) return;
  output.clear();
  connection.is_refused = true;
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
