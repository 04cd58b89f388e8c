#include "kv/rdma_transport.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <vector>

#include "kv/message_transport.hpp"
#include "kv/session.hpp"
#include "kv/tcp.hpp"
#include "rdma/verbs.hpp"

namespace strom::kv {

namespace {

namespace message = store::message;
namespace region = store::region;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostReads = 64;         // in progress at a time
constexpr size_t kArenaBytes = 1 << 20;   // their destination
constexpr uint8_t kMostOutstanding = 16;  // that the card processes at a time
constexpr int kConnectMs = 10000;

struct SessionCloser {
  void operator()(stromkv_session* session) const { stromkv_session_close(session); }
};
using Session = std::unique_ptr<stromkv_session, SessionCloser>;

/// The part of a piece that lies in one segment.
struct Part {
  uint64_t address;
  uint32_t key, bytes;
  char* to;
};

class RdmaTransport : public region::Transport {
 public:
  explicit RdmaTransport(Session session) : session_(std::move(session)) {}

  /// Connects. If the result is not STROMKV_OK, `what` gets the reason.
  stromkv_status open(std::string* what);

  region::Reach read(std::span<const region::Piece> pieces) override;
  void set_patience(unsigned milliseconds) override {
    const std::lock_guard lock(mutex_);
    patience_ms_ = milliseconds;
    stromkv_session_set_patience(session_.get(), milliseconds);
  }

 private:
  bool wait_for(rdma_cm_event_type wanted, std::string* what);
  bool connect(const message::FarMemory& memory, std::string* what);
  region::Reach ask();
  region::Reach add(const region::Piece& piece, bool* has_asked);
  const message::FarSegment* find(uint64_t offset) const;
  region::Reach run();
  region::Reach wait_for_reads(uint64_t last);
  region::Reach why_failed();
  bool has_ended();

  std::mutex mutex_;
  Session session_;
  unsigned patience_ms_ = 10000;
  rdma::Channel channel_;
  rdma::Domain domain_;
  rdma::CompletionQueue queue_;
  std::vector<char> arena_ = std::vector<char>(kArenaBytes);
  rdma::Memory memory_;      // of the arena
  rdma::Endpoint endpoint_;  // destroyed before what it uses
  uint32_t number_ = 0;      // of the region; 0: unknown
  std::vector<message::FarSegment> segments_;
  std::vector<Part> parts_;
  size_t taken_ = 0;  // bytes of the arena in use
  uint64_t next_read_ = 0;
  region::Reach failure_ = region::Reach::kDone;  // set when the connection is lost
};

std::string by_errno(const char* action) { return std::string("could not ") + action + ": " + strerror(errno); }

bool RdmaTransport::wait_for(rdma_cm_event_type wanted, std::string* what) {
  struct pollfd ready{channel_->fd, POLLIN, 0};
  int polled;
  do polled = poll(&ready, 1, kConnectMs);
  while (polled < 0 && errno == EINTR);
  rdma_cm_event* event = nullptr;
  if (polled <= 0 || rdma_get_cm_event(channel_.get(), &event) != 0) {
    *what = "the server's RDMA device does not answer";
    return false;
  }
  const rdma_cm_event_type got = event->event;
  const int status = event->status;
  rdma_ack_cm_event(event);
  if (got == wanted) return true;
  *what = got == RDMA_CM_EVENT_REJECTED ? "the server has refused the connection by RDMA"
                                        : std::string("no connection by RDMA: ") + rdma_event_str(got) +
                                              (status < 0 ? std::string(", ") + strerror(-status) : std::string());
  return false;
}

bool RdmaTransport::connect(const message::FarMemory& memory, std::string* what) {
  const auto fail = [&](const char* action) {
    *what = by_errno(action);
    return false;
  };
  struct sockaddr_storage address{};
  if (!peer_of(session_.get(), &address)) return fail("tell the server's address");
  auto* port = address.ss_family == AF_INET6 ? &reinterpret_cast<struct sockaddr_in6*>(&address)->sin6_port
                                             : &reinterpret_cast<struct sockaddr_in*>(&address)->sin_port;
  *port = htons(static_cast<uint16_t>(memory.port));
  channel_.reset(rdma_create_event_channel());
  if (channel_ == nullptr) return fail("open an RDMA device of this machine");
  fcntl(channel_->fd, F_SETFD, FD_CLOEXEC);
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0) return fail("open an RDMA device");
  endpoint_.reset(id);
  if (rdma_resolve_addr(id, nullptr, reinterpret_cast<struct sockaddr*>(&address), kConnectMs) != 0)
    return fail("find an RDMA device for the server's address");
  if (!wait_for(RDMA_CM_EVENT_ADDR_RESOLVED, what)) return false;
  if (rdma_resolve_route(id, kConnectMs) != 0) return fail("find a way to the server's RDMA device");
  if (!wait_for(RDMA_CM_EVENT_ROUTE_RESOLVED, what)) return false;
  ibv_device_attr device{};
  if (ibv_query_device(id->verbs, &device) != 0) return fail("examine the RDMA device");
  domain_.reset(ibv_alloc_pd(id->verbs));
  queue_.reset(ibv_create_cq(id->verbs, kMostReads, nullptr, nullptr, 0));
  if (domain_ == nullptr || queue_ == nullptr) return fail("use the RDMA device");
  memory_.reset(ibv_reg_mr(domain_.get(), arena_.data(), arena_.size(), IBV_ACCESS_LOCAL_WRITE));
  if (memory_ == nullptr) return fail("register memory with the RDMA device (see ulimit -l)");
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = attributes.recv_cq = queue_.get();
  attributes.cap.max_send_wr = kMostReads;
  attributes.cap.max_recv_wr = attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  if (rdma_create_qp(id, domain_.get(), &attributes) != 0) return fail("use the RDMA device");
  rdma_conn_param parameters{};
  constexpr uint8_t kRetries = 7;
  parameters.private_data = memory.ticket;
  parameters.private_data_len = message::kTicketBytes;
  parameters.initiator_depth = static_cast<uint8_t>(std::clamp<int>(device.max_qp_init_rd_atom, 1, kMostOutstanding));
  parameters.retry_count = parameters.rnr_retry_count = kRetries;
  if (rdma_connect(id, &parameters) != 0) return fail("connect by RDMA");
  if (!wait_for(RDMA_CM_EVENT_ESTABLISHED, what)) return false;
  fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  return true;
}

stromkv_status RdmaTransport::open(std::string* what) {
  message::FarMemory memory;
  stromkv_status status = ask_far_memory(session_.get(), &memory, &number_);
  if (status == STROMKV_OK && !connect(memory, what)) return STROMKV_IO;
  const uint32_t number = number_;
  // Now the server knows the device, and has registered the region's memory.
  if (status == STROMKV_OK) status = ask_far_memory(session_.get(), &memory, &number_);
  if (status != STROMKV_OK) {
    *what = stromkv_session_error(session_.get());
    return status;
  }
  if (number != number_) {
    *what = stromkv_status_text(STROMKV_MOVED);
    return STROMKV_MOVED;
  }
  segments_ = std::move(memory.segments);
  return STROMKV_OK;
}

/// Asks the server for new segments, and whether the region still belongs to the table.
region::Reach RdmaTransport::ask() {
  message::FarMemory memory;
  uint32_t number = 0;
  const region::Reach reach = reach_of(ask_far_memory(session_.get(), &memory, &number));
  if (reach != region::Reach::kDone) return reach;
  if (number != number_) return region::Reach::kMoved;
  segments_ = std::move(memory.segments);
  return region::Reach::kDone;
}

const message::FarSegment* RdmaTransport::find(uint64_t offset) const {
  const auto after =
      std::upper_bound(segments_.begin(), segments_.end(), offset,
                       [](uint64_t at, const message::FarSegment& segment) { return at < segment.offset; });
  if (after == segments_.begin()) return nullptr;
  const message::FarSegment& segment = *std::prev(after);
  return offset - segment.offset < segment.bytes ? &segment : nullptr;
}

/// Adds a piece to the reads of the round. If there is no room, runs the previous reads first.
region::Reach RdmaTransport::add(const region::Piece& piece, bool* has_asked) {
  uint64_t offset = piece.offset, rest = piece.bytes;
  char* to = static_cast<char*>(piece.to);
  while (rest != 0) {
    const message::FarSegment* segment = find(offset);
    if (segment == nullptr && !*has_asked) {
      *has_asked = true;
      if (const region::Reach reach = ask(); reach != region::Reach::kDone) return reach;
      continue;
    }
    if (segment == nullptr) {
      std::memset(to, 0, rest);
      return region::Reach::kDone;
    }
    const uint64_t within = offset - segment->offset;
    const auto bytes = static_cast<uint32_t>(std::min({rest, segment->bytes - within, kArenaBytes}));
    if (parts_.size() == kMostReads || taken_ + bytes > kArenaBytes)
      if (const region::Reach reach = run(); reach != region::Reach::kDone) return reach;
    parts_.push_back({segment->address + within, segment->key, bytes, to});
    taken_ += bytes;
    offset += bytes;
    to += bytes;
    rest -= bytes;
  }
  return region::Reach::kDone;
}

/// Posts the reads of the round, waits for them, and copies the results to their destinations.
region::Reach RdmaTransport::run() {
  if (parts_.empty()) return region::Reach::kDone;
  ibv_sge places[kMostReads];
  ibv_send_wr reads[kMostReads];
  auto at = reinterpret_cast<uint64_t>(arena_.data());
  const size_t count = parts_.size();
  for (size_t i = 0; i < count; ++i) {
    const Part& part = parts_[i];
    places[i] = {at, part.bytes, memory_->lkey};
    at += part.bytes;
    reads[i] = {};
    reads[i].wr_id = ++next_read_;
    reads[i].next = i + 1 < count ? &reads[i + 1] : nullptr;
    reads[i].sg_list = &places[i];
    reads[i].num_sge = 1;
    reads[i].opcode = IBV_WR_RDMA_READ;
    // Reads complete in order, so the last one stands for all.
    reads[i].send_flags = i + 1 == count ? IBV_SEND_SIGNALED : 0;
    reads[i].wr.rdma.remote_addr = part.address;
    reads[i].wr.rdma.rkey = part.key;
  }
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(endpoint_->qp, reads, &refused) != 0) return why_failed();
  if (const region::Reach reach = wait_for_reads(next_read_); reach != region::Reach::kDone) return reach;
  const char* from = arena_.data();
  for (const Part& part : parts_) {
    std::memcpy(part.to, from, part.bytes);
    from += part.bytes;
  }
  parts_.clear();
  taken_ = 0;
  return region::Reach::kDone;
}

/// True if the server has ended the connection.
bool RdmaTransport::has_ended() {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel_.get(), &event) != 0) return false;
  const rdma_cm_event_type got = event->event;
  rdma_ack_cm_event(event);
  return got == RDMA_CM_EVENT_DISCONNECTED || got == RDMA_CM_EVENT_DEVICE_REMOVAL;
}

region::Reach RdmaTransport::wait_for_reads(uint64_t last) {
  constexpr uint32_t kLooks = 1024;  // polls between two looks at the clock and the connection
  Clock::time_point begin{};
  for (uint32_t looks = 1;; ++looks) {
    ibv_wc done{};
    const int count = ibv_poll_cq(queue_.get(), 1, &done);
    if (count < 0) return why_failed();
    if (count > 0 && done.status == IBV_WC_RETRY_EXC_ERR) return failure_ = region::Reach::kSilent;
    if (count > 0 && done.status != IBV_WC_SUCCESS) return why_failed();
    if (count > 0 && done.wr_id == last) return region::Reach::kDone;
    if (looks % kLooks != 0) continue;
    if (has_ended()) return why_failed();
    const Clock::time_point now = Clock::now();
    if (begin == Clock::time_point{}) begin = now;
    // A read in progress may still write to the arena, so the arena must not be used again.
    if (patience_ms_ != 0 && now - begin > std::chrono::milliseconds(patience_ms_))
      return failure_ = region::Reach::kSilent;
  }
}

/// A read was refused, for example because the region was replaced: asks the server for the reason.
region::Reach RdmaTransport::why_failed() {
  const region::Reach reach = ask();
  failure_ = reach == region::Reach::kDone ? region::Reach::kFailed : reach;
  return failure_;
}

region::Reach RdmaTransport::read(std::span<const region::Piece> pieces) {
  const std::lock_guard lock(mutex_);
  if (failure_ != region::Reach::kDone) return failure_;
  parts_.clear();
  taken_ = 0;
  bool has_asked = false;
  for (const region::Piece& piece : pieces)
    if (const region::Reach reach = add(piece, &has_asked); reach != region::Reach::kDone) return reach;
  return run();
}

}  // namespace

stromkv_status open_rdma_transport(const char* address, const char* token,
                                   std::unique_ptr<region::Transport>* transport, std::string* what) {
  stromkv_session* session = nullptr;
  char error[1024] = "";
  const stromkv_status status = stromkv_session_open(by_tcp(address).c_str(), token, &session, error, sizeof(error));
  *what = error;
  if (status != STROMKV_OK) return status;
  auto opened = std::make_unique<RdmaTransport>(Session(session));
  const stromkv_status connected = opened->open(what);
  if (connected == STROMKV_OK) *transport = std::move(opened);
  return connected;
}

}  // namespace strom::kv
