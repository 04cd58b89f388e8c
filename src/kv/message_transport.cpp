#include "kv/message_transport.hpp"

#include <mutex>
#include <new>

#include "kv/session.hpp"

namespace strom::kv {

namespace {

namespace region = store::region;

class MessageTransport : public region::Transport {
 public:
  explicit MessageTransport(stromkv_session* session) : session_(session) {}
  ~MessageTransport() override { stromkv_session_close(session_); }
  MessageTransport(const MessageTransport&) = delete;
  MessageTransport& operator=(const MessageTransport&) = delete;

  region::Reach read(std::span<const region::Piece> pieces) override {
    const std::lock_guard lock(mutex_);
    uint32_t number = number_;
    const region::Reach reach = reach_of(read_region(session_, pieces, &number));
    if (reach == region::Reach::kDone) number_ = number;
    return reach;
  }

  void set_patience(unsigned milliseconds) override {
    const std::lock_guard lock(mutex_);
    stromkv_session_set_patience(session_, milliseconds);
  }

 private:
  std::mutex mutex_;
  stromkv_session* session_;
  uint32_t number_ = 0;  // of the region; 0: nothing was read yet
};

}  // namespace

stromkv_status open_message_transport(const char* address, const char* token,
                                      std::unique_ptr<region::Transport>* transport, std::string* what) {
  stromkv_session* session = nullptr;
  char error[1024] = "";
  const stromkv_status status = stromkv_session_open(address, token, &session, error, sizeof(error));
  *what = error;
  if (status == STROMKV_OK) *transport = std::make_unique<MessageTransport>(session);
  return status;
}

stromkv_status status_of(region::Reach reach) {
  switch (reach) {
    case region::Reach::kDone: return STROMKV_OK;
    case region::Reach::kMoved: return STROMKV_MOVED;
    case region::Reach::kDropped: return STROMKV_DROPPED;
    case region::Reach::kDenied: return STROMKV_DENIED;
    case region::Reach::kBusy: return STROMKV_BUSY;
    case region::Reach::kSilent: return STROMKV_SILENT;
    case region::Reach::kFailed: return STROMKV_IO;
  }
  return STROMKV_IO;
}

region::Reach reach_of(stromkv_status status) {
  switch (status) {
    case STROMKV_OK: return region::Reach::kDone;
    case STROMKV_MOVED: return region::Reach::kMoved;
    case STROMKV_DROPPED: return region::Reach::kDropped;
    case STROMKV_DENIED: return region::Reach::kDenied;
    case STROMKV_BUSY: return region::Reach::kBusy;
    case STROMKV_SILENT: return region::Reach::kSilent;
    case STROMKV_NO_MEMORY: throw std::bad_alloc();
    default: return region::Reach::kFailed;
  }
}

}  // namespace strom::kv
