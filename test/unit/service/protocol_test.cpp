// Messages: what is written is what is read, and nothing else is.
#include "service/protocol.hpp"
#include "engine/device/cached_columns.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace strom::service {
namespace {

std::string encoded(uint32_t tag, const Message& message) {
  const auto bytes = encode(tag, message);
  EXPECT_TRUE(bytes.is_ok()) << bytes.status().message();
  return bytes.is_ok() ? bytes.value() : std::string();
}

std::vector<Message> one_of_each() {
  Ledger ledger;
  ledger.device_memory = 1ull << 40;
  ledger.memory_used = 7;
  ledger.rows = {{1, 2, -3, 4, 5, 6, 7, 8, 9, "backend", 3}, {}};
  Devices devices;
  devices.rows = {{1, 132, 3, 4, 5, 6, 7, 8, 9, "a device", "0000:01:00.0"}, {}};
  return {
      Hello{-4, "name", 2},
      Welcome{7, 1234, 1ull << 37, 132, "a device", 1, 2},
      Submit{3, 1ull << 33, std::string("a\0b", 3)},
      Finished{"values"},
      Failed{2, "m", "d", "h"},
      Cancel{},
      AskLedger{9},
      ledger,
      AskDevices{},
      devices,
      FindColumns{{"name", std::string("\0x", 2)}, {0, UINT64_MAX}},
      Columns{{{kColumnIsCached, 1, 2, 3, "shape"}, {}}},
      SettleColumns{{{7, kColumnIsPublished, "shape", 3}, {8, kColumnIsLetGo, "", 0}, {9, kUpdateIsGivenUp, "", 0}}},
      AskCache{"label"},
      Cache{1, 2, 3, 4, 5, {{"label", 1, 2, 3, 4, 5}, {}}}};
}

TEST(Protocol, messages_come_back) {
  for (const Message& message : one_of_each()) {
    const std::string bytes = encoded(42, message);
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded.is_ok()) << decoded.status().message();
    EXPECT_EQ(decoded.value().tag, 42u);
    EXPECT_EQ(decoded.value().message.index(), message.index());
    EXPECT_EQ(encoded(42, decoded.value().message), bytes);
  }
}

TEST(Protocol, every_shorter_or_longer_message_is_refused) {
  for (const Message& message : one_of_each()) {
    const std::string bytes = encoded(1, message);
    for (size_t size = 0; size < bytes.size(); ++size) {
      std::string part = bytes.substr(0, size);
      EXPECT_EQ(decode(part).status().code(), ErrorCode::kProtocolViolation);
      if (size < sizeof(Header)) continue;
      const auto body = static_cast<uint32_t>(size - sizeof(Header));
      std::memcpy(part.data() + offsetof(Header, bytes), &body, sizeof body);
      EXPECT_EQ(decode(part).status().code(), ErrorCode::kProtocolViolation);
    }
    EXPECT_EQ(decode(bytes + 'x').status().code(), ErrorCode::kProtocolViolation);
  }
}

TEST(Protocol, changed_messages_do_no_harm) {
  std::mt19937 random(1);
  for (const Message& message : one_of_each()) {
    const std::string bytes = encoded(1, message);
    for (int i = 0; i < 2000; ++i) {
      std::string changed = bytes;
      for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
      const auto decoded = decode(changed);
      if (!decoded.is_ok()) continue;
      EXPECT_EQ(encoded(decoded.value().tag, decoded.value().message), changed);
    }
  }
}

TEST(Protocol, another_version_is_told) {
  std::string bytes = encoded(0, Hello{});
  const uint16_t version = kProtocolVersion + 1;
  std::memcpy(bytes.data() + offsetof(Header, version), &version, sizeof version);
  const Status status = decode(bytes).status();
  EXPECT_EQ(status.message(), "GPU service and server are of different versions");
  EXPECT_FALSE(status.hint().empty());
}

TEST(Protocol, messages_have_a_limit) {
  EXPECT_EQ(encode(1, Finished{std::string(kMaxMessageBytes, 'x')}).status().code(), ErrorCode::kOverBudget);
  EXPECT_TRUE(encode(1, Finished{std::string(kMaxMessageBytes - sizeof(Header) - 4, 'x')}).is_ok());
  const Status long_text(ErrorCode::kInternal, std::string(1 << 20, 'x'));
  EXPECT_TRUE(encode(1, describe(long_text)).is_ok());
  Ledger full;
  full.rows.resize(kLedgerRowsPerMessage);
  for (LedgerRow& row : full.rows) row.name.assign(kMaxNameBytes, 'x');
  EXPECT_TRUE(encode(1, full).is_ok());
  using engine::device::DeviceCache;
  EXPECT_TRUE(encode(1, FindColumns{std::vector<std::string>(kColumnsPerMessage, std::string(256, 'x')),
                                    std::vector<uint64_t>(kColumnsPerMessage)})
                  .is_ok());
  Columns columns;
  columns.rows.resize(kColumnsPerMessage);
  for (ColumnRow& row : columns.rows) row.shape.assign(DeviceCache::kMostShapeBytes, 'x');
  EXPECT_TRUE(encode(1, columns).is_ok());
  Cache cache;
  cache.rows.resize(kCacheRowsPerMessage);
  for (CacheRow& row : cache.rows) row.label.assign(columnar::BatchOrigin::kMostLabelBytes, 'x');
  EXPECT_TRUE(encode(1, cache).is_ok());
}

TEST(Protocol, a_status_survives) {
  const auto status = Status(ErrorCode::kOutOfMemory, "m").with_detail("D.").with_hint("H.");
  const Status back = status_of(describe(status));
  EXPECT_EQ(back.code(), status.code());
  EXPECT_EQ(back.message() + back.detail() + back.hint(), "mD.H.");
  EXPECT_EQ(status_of(Failed{250, "m", "", ""}).code(), ErrorCode::kInternal);
  EXPECT_EQ(status_of(Failed{0, "m", "", ""}).code(), ErrorCode::kInternal);
}

}  // namespace
}  // namespace strom::service
