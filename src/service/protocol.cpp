#include "service/protocol.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/block/fingerprint.hpp"

namespace strom::service {
namespace {

/// Of any list.
constexpr size_t kMostItems = std::max({kLedgerRowsPerMessage, kColumnsPerMessage, kCacheRowsPerMessage});

class Writer {
 public:
  template <class T>
  void operator()(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  template <class T>
  void operator()(const std::vector<T>& items);
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  void operator()(T& value) {
    static_assert(std::is_arithmetic_v<T>);
    if (rest_.size() < sizeof value) return fail();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  void operator()(std::string& text) {
    uint32_t size = 0;
    (*this)(size);
    if (rest_.size() < size) return fail();
    text.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  template <class T>
  void operator()(std::vector<T>& items);
  bool is_whole() const { return !failed_ && rest_.empty(); }

 private:
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  std::string_view rest_;
  bool failed_ = false;
};

// The fields of each message in their order. Both the reader and the writer use this list.
template <class F, class M>
void fields(F& f, M& m) {
  using T = std::remove_const_t<M>;
  if constexpr (std::is_same_v<T, Hello>) {
    f(m.priority), f(m.name), f(m.device), f(m.program);
  } else if constexpr (std::is_same_v<T, Welcome>) {
    f(m.session), f(m.process), f(m.device_memory), f(m.processors), f(m.device);
    f(m.number), f(m.devices);
  } else if constexpr (std::is_same_v<T, Submit>) {
    f(m.task), f(m.memory), f(m.arguments);
  } else if constexpr (std::is_same_v<T, Finished>) {
    f(m.values);
  } else if constexpr (std::is_same_v<T, Failed>) {
    f(m.code), f(m.message), f(m.detail), f(m.hint);
  } else if constexpr (std::is_same_v<T, Cancel>) {
  } else if constexpr (std::is_same_v<T, AskLedger>) {
    f(m.after);
  } else if constexpr (std::is_same_v<T, LedgerRow>) {
    f(m.session), f(m.process), f(m.priority), f(m.queued), f(m.running), f(m.memory), f(m.memory_wanted);
    f(m.tasks_done), f(m.busy_us), f(m.name), f(m.device);
  } else if constexpr (std::is_same_v<T, AskDevices>) {
  } else if constexpr (std::is_same_v<T, DeviceRow>) {
    f(m.number), f(m.processors), f(m.sessions), f(m.queued), f(m.running), f(m.memory), f(m.memory_used);
    f(m.tasks_done), f(m.busy_us), f(m.name), f(m.address);
  } else if constexpr (std::is_same_v<T, Devices>) {
    f(m.rows);
  } else if constexpr (std::is_same_v<T, Ledger>) {
    f(m.device_memory), f(m.memory_used), f(m.rows);
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, uint64_t>) {
    f(m);
  } else if constexpr (std::is_same_v<T, FindColumns>) {
    f(m.names), f(m.generations), f(m.only_older);
  } else if constexpr (std::is_same_v<T, ColumnRow>) {
    f(m.state), f(m.number), f(m.address), f(m.bytes), f(m.shape);
    f(m.generation), f(m.update);
  } else if constexpr (std::is_same_v<T, Columns>) {
    f(m.rows);
  } else if constexpr (std::is_same_v<T, SettledColumn>) {
    f(m.number), f(m.what), f(m.shape), f(m.generation);
  } else if constexpr (std::is_same_v<T, SettleColumns>) {
    f(m.columns);
  } else if constexpr (std::is_same_v<T, AskCache>) {
    f(m.after);
  } else if constexpr (std::is_same_v<T, CacheRow>) {
    f(m.label), f(m.columns), f(m.pieces), f(m.bytes), f(m.uses), f(m.pinned);
  } else {
    static_assert(std::is_same_v<T, Cache>);
    f(m.limit), f(m.bytes), f(m.pinned), f(m.found), f(m.missed), f(m.rows);
  }
}

template <class T>
void Writer::operator()(const std::vector<T>& items) {
  (*this)(static_cast<uint32_t>(items.size()));
  for (const T& item : items) fields(*this, item);
}

template <class T>
void Reader::operator()(std::vector<T>& items) {
  uint32_t count = 0;
  (*this)(count);
  // An item takes more than a byte, so that a count cannot ask for more memory than the message has.
  if (count > kMostItems || count > rest_.size()) return fail();
  items.resize(count);
  for (T& item : items) {
    fields(*this, item);
    if (failed_) return;
  }
}

Status violation(const std::string& what) {
  return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: " + what);
}

template <size_t I = 0>
Result<Message> decode_kind(size_t kind, std::string_view body) {
  if constexpr (I == std::variant_size_v<Message>) {
    return violation("unknown kind " + std::to_string(kind));
  } else {
    if (kind != I + 1) return decode_kind<I + 1>(kind, body);
    std::variant_alternative_t<I, Message> message;
    Reader reader(body);
    fields(reader, message);
    if (!reader.is_whole()) return violation("wrong size of kind " + std::to_string(kind));
    return Message(std::move(message));
  }
}

constexpr ErrorCode kCodes[] = {
#define STROM_ERROR(name, sqlstate, meaning) ErrorCode::name,
#include "base/errors.def"
#undef STROM_ERROR
};

}  // namespace

uint64_t own_fingerprint() { return engine::block::fingerprint(); }

Result<std::string> encode(uint32_t tag, const Message& message) {
  Writer writer;
  std::visit([&writer](const auto& m) { fields(writer, m); }, message);
  const std::string body = writer.take();
  if (body.size() > kMaxMessageBytes - sizeof(Header))
    return Status(ErrorCode::kOverBudget,
                  "message of " + std::to_string(body.size()) + " bytes is too large for the GPU service");
  Header header;
  header.kind = static_cast<uint16_t>(message.index() + 1);
  header.tag = tag;
  header.bytes = static_cast<uint32_t>(body.size());
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes + body;
}

Result<TaggedMessage> decode(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return violation("no header");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (header.magic != kMagic) return violation("wrong magic number");
  if (header.version != kProtocolVersion)
    return Status(ErrorCode::kProtocolViolation, "GPU service and server are of different versions")
        .with_detail("A message has protocol version " + std::to_string(header.version) + ", and " +
                     std::to_string(kProtocolVersion) + " is expected.")
        .with_hint("Restart the server after an update of the extension.");
  if (header.bytes != bytes.size()) return violation("its size is not what its header says");
  STROM_ASSIGN(Message message, decode_kind(header.kind, bytes));
  return TaggedMessage{header.tag, std::move(message)};
}

Failed describe(const Status& status) {
  constexpr size_t kMostText = 8192;
  return {static_cast<uint8_t>(status.code()), status.message().substr(0, kMostText),
          status.detail().substr(0, kMostText), status.hint().substr(0, kMostText)};
}

Status status_of(const Failed& failed) {
  ErrorCode code = ErrorCode::kInternal;
  for (const ErrorCode known : kCodes)
    if (static_cast<uint8_t>(known) == failed.code) code = known;
  return Status(code, failed.message).with_detail(failed.detail).with_hint(failed.hint);
}

}  // namespace strom::service
