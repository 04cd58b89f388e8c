#include "kv/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/descriptor_message.hpp"
#include "kv/attach.hpp"
#include "kv/tcp.hpp"
#include "store/message/giving_way.hpp"

namespace strom::kv {

namespace {

namespace message = store::message;
using Clock = std::chrono::steady_clock;

constexpr size_t kPart = 64 << 10;
/// Yielding the processor costs about 0.5 us. A sleep costs this side and the server several microseconds each.
constexpr uint32_t kMostYields = 256, kLeastYields = 4;
constexpr int kSleepMs = 100;  // then it checks whether the server is still there
constexpr auto kShortSleep = std::chrono::microseconds(200);

stromkv_status fail_by_errno(const char* action, std::string* what) {
  *what = std::string("could not ") + action + " the server: " + strerror(errno);
  return STROMKV_IO;
}

stromkv_status end(stromkv_status status, const char* text, std::string* what) {
  *what = text;
  return status;
}

stromkv_status silence(std::string* what) { return end(STROMKV_SILENT, stromkv_status_text(STROMKV_SILENT), what); }

constexpr const char* kEnded = "the server has ended the connection";
constexpr const char* kNotUnderstood = "the server's answer is not understood";

}  // namespace

bool Channel::connect(const char* path, std::string* what) {
  socket_ = base::Descriptor(connect_to(path, what));
  if (!socket_.is_open()) return false;
  is_local_ = !is_by_tcp(path);
  part_ = std::make_unique_for_overwrite<char[]>(kPart);
  set_patience(patience_ms_);
  return true;
}

void Channel::close() { socket_.reset(); }

/// Sets the timeout of recv(). One recv() then replaces poll() and recv(), and sleeps in it cost less.
void Channel::set_patience(int milliseconds) {
  constexpr int kMilli = 1000;
  patience_ms_ = milliseconds;
  const struct timeval limit{milliseconds / kMilli, milliseconds % kMilli * kMilli};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/// False: the time is over.
bool Channel::wait_to_send() const {
  struct pollfd ready{socket_.get(), POLLOUT, 0};
  int polled;
  do polled = poll(&ready, 1, patience_ms_ == 0 ? -1 : patience_ms_);
  while (polled < 0 && errno == EINTR);
  return polled != 0;
}

stromkv_status Channel::send(std::string_view bytes, std::string* what) {
  if (rings_.is_there()) return send_by_rings(bytes, what);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
      bytes.remove_prefix(static_cast<size_t>(sent));
    else if (errno == EAGAIN && !wait_to_send())
      return silence(what);
    else if (errno != EINTR && errno != EAGAIN)
      return fail_by_errno("write to", what);
  }
  return STROMKV_OK;
}

stromkv_status Channel::receive(std::string* input, std::string* what) {
  if (rings_.is_there()) return receive_by_rings(input, what);
  ssize_t got;
  do
    got = expects_rings_ ? base::receive_with_descriptor(socket_.get(), part_.get(), kPart, 0, &received_)
                         : recv(socket_.get(), part_.get(), kPart, 0);
  while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return silence(what);
  if (got < 0) return fail_by_errno("read from", what);
  if (got == 0) return end(STROMKV_IO, kEnded, what);
  input->append(part_.get(), static_cast<size_t>(got));
  return STROMKV_OK;
}

void Channel::use_rings() {
  expects_rings_ = false;
  if (!received_.is_open() || !rings_.map(received_).is_ok()) return;
  received_.reset();
  part_.reset();
  requests_ = rings_.writer_of(message::kRequests);
  answers_ = rings_.reader_of(message::kAnswers);
  yields_ = kMostYields;
}

/// Wakes a server that sleeps: it waits for its sockets.
void Channel::ring_bell() {
  const char bell = 0;
  [[maybe_unused]] const ssize_t sent = ::send(socket_.get(), &bell, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// With rings, only the end of the connection can come from the socket.
bool Channel::has_server_gone() const {
  char byte;
  const ssize_t got = recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

stromkv_status Channel::send_by_rings(std::string_view bytes, std::string* what) {
  const auto start = Clock::now();
  for (int pauses = 0;; ++pauses) {
    const auto written = requests_.write(bytes);
    if (!written.has_value()) return end(STROMKV_IO, kNotUnderstood, what);
    bytes.remove_prefix(*written);
    if (requests_.has_to_wake()) ring_bell();
    if (bytes.empty()) return STROMKV_OK;
    if (*written != 0) pauses = 0;
    // The server is processing the bytes sent so far.
    constexpr int kYields = 100, kPauseMs = 1;
    if (pauses < kYields && message::may_give_way()) {
      message::give_way();
      continue;
    }
    if (has_server_gone()) return end(STROMKV_IO, kEnded, what);
    if (patience_ms_ != 0 && Clock::now() - start > std::chrono::milliseconds(patience_ms_)) return silence(what);
    poll(nullptr, 0, kPauseMs);
  }
}

stromkv_status Channel::receive_by_rings(std::string* input, std::string* what) {
  const auto take = [&](bool* is_there) {
    const auto got = answers_.read(input);
    *is_there = got.value_or(0) != 0;
    return got.has_value();
  };
  bool is_there = false;
  for (uint32_t i = 0; i < yields_ && message::may_give_way(); ++i) {
    if (!take(&is_there)) return end(STROMKV_IO, kNotUnderstood, what);
    if (is_there) {
      yields_ = std::min(yields_ * 2, kMostYields);
      return STROMKV_OK;
    }
    message::give_way();
  }
  const auto start = Clock::now();
  for (bool has_gone = false;;) {
    answers_.begin_sleep();
    if (!take(&is_there)) return end(STROMKV_IO, kNotUnderstood, what);
    if (is_there) break;
    if (has_gone) return end(STROMKV_IO, kEnded, what);
    if (patience_ms_ != 0 && Clock::now() - start > std::chrono::milliseconds(patience_ms_)) return silence(what);
    answers_.sleep(patience_ms_ == 0 ? kSleepMs : std::min(kSleepMs, patience_ms_));
    // Usually the answer has come.
    has_gone = !answers_.has_more() && has_server_gone();
  }
  answers_.end_sleep();
  // After long waits it yields less and sleeps sooner.
  yields_ =
      Clock::now() - start < kShortSleep ? std::min(yields_ * 2, kMostYields) : std::max(yields_ / 2, kLeastYields);
  return STROMKV_OK;
}

}  // namespace strom::kv
