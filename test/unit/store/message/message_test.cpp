#include "store/message/message.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace strom::store::message {
namespace {

Frame frame_of(std::string_view bytes) {
  auto found = find_frame(bytes);
  EXPECT_TRUE(found.is_ok() && found.value().has_value());
  return found.value().value_or(Frame{});
}

std::vector<Request> requests() {
  using namespace std::string_view_literals;
  return {{Kind::kGet, 1, 0, {"key"}, {}},
          {Kind::kGet, 2, 0, {""}, {}},
          {Kind::kDelete, 3, 0, {"\0\0\1\2"sv}, {}},
          {Kind::kGetMany, 4, 0, {}, {}},
          {Kind::kGetMany, 5, 0, {"a", "", "ccc"}, {}},
          {Kind::kPut, 6, 0, {}, {{Form::kStored, "\1\0\0\0"sv}, {Form::kNull, {}}, {Form::kText, "2021-01-01"}}},
          {Kind::kPut, 7, 0, {}, {}},
          {Kind::kCompareAndSet, 8, 4711, {}, {{Form::kText, ""}}},
          {Kind::kStatistics, UINT32_MAX, 0, {}, {}},
          {Kind::kRead, 9, 0, {}, {}, {{0, 4096}, {UINT64_MAX, 0}, {17, 1}}},
          {Kind::kRead, 10, 0, {}, {}, {}},
          {Kind::kFarMemory, 11, 0, {}, {}, {}},
          {Kind::kRings, 12, 0, {}, {}, {}}};
}

TEST(Messages, RequestsComeBackAsTheyWere) {
  std::string all;
  for (const Request& request : requests()) append_request(request, &all);
  std::string_view rest = all;
  for (const Request& request : requests()) {
    const Frame frame = frame_of(rest);
    auto parsed = parse_request(frame);
    ASSERT_TRUE(parsed.is_ok()) << parsed.status().message();
    EXPECT_EQ(parsed.value(), request);
    rest.remove_prefix(sizeof(Header) + frame.header.bytes);
  }
  EXPECT_TRUE(rest.empty());
}

TEST(Messages, FarMemoryComesBackAsItWas) {
  FarMemory memory;
  memory.ticket[0] = 1;
  memory.ticket[15] = 0xFF;
  memory.port = 65535;
  EXPECT_EQ(parse_far_memory(far_memory_body(memory)).value(), memory);
  memory.segments = {{0, 4096, 0x7F0000000000, 17}, {4096, 16, 0x7F0000001000, UINT32_MAX}};
  const std::string body = far_memory_body(memory);
  EXPECT_EQ(parse_far_memory(body).value(), memory);
  for (size_t i = 0; i < body.size(); ++i) EXPECT_FALSE(parse_far_memory(body.substr(0, i)).is_ok()) << i;
  EXPECT_FALSE(parse_far_memory(body + '\0').is_ok());
  const auto is_refused = [&](std::vector<FarSegment> segments) {
    memory.segments = std::move(segments);
    return !parse_far_memory(far_memory_body(memory)).is_ok();
  };
  EXPECT_TRUE(is_refused({{4096, 16, 0, 0}, {0, 4096, 0, 0}}));
  EXPECT_TRUE(is_refused({{0, 4096, 0, 0}, {4095, 16, 0, 0}}));
  EXPECT_TRUE(is_refused({{0, 0, 0, 0}}));
  EXPECT_TRUE(is_refused({{16, UINT64_MAX, 0, 0}}));
  memory.port = 65536;
  EXPECT_TRUE(is_refused({}));
}

TEST(Messages, AnswersComeBackAsTheyWere) {
  for (const Answer& answer : {Answer{Kind::kGet, Outcome::kDone, 7, 12, "a row"}, Answer{Kind::kPut, {}, 8, 1, ""},
                               Answer{Kind::kDelete, Outcome::kNotFound, 9, 0, ""},
                               Answer{Kind::kPut, Outcome::kConstraint, 10, 0, "23514no"}}) {
    std::string bytes;
    append_answer(answer, &bytes);
    auto parsed = parse_answer(frame_of(bytes));
    ASSERT_TRUE(parsed.is_ok());
    EXPECT_EQ(parsed.value(), answer);
  }
  std::string bytes;
  append_answer({Kind::kPut, Outcome::kFull, 1, 0, "5340"}, &bytes);
  EXPECT_FALSE(parse_answer(frame_of(bytes)).is_ok());
}

TEST(Messages, StatisticsComeBackAsTheyWere) {
  const Statistics statistics{1, 2, 3, 4, UINT64_MAX};
  const std::string body = statistics_body(statistics);
  EXPECT_EQ(parse_statistics(body).value(), statistics);
  EXPECT_EQ(parse_statistics(body + "more").value(), statistics);
  EXPECT_FALSE(parse_statistics(std::string_view(body).substr(1)).is_ok());
}

TEST(Messages, FramesThatAreNotWholeAreWaitedFor) {
  std::string bytes;
  append_request(requests()[4], &bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto found = find_frame(std::string_view(bytes).substr(0, size));
    ASSERT_TRUE(found.is_ok());
    EXPECT_FALSE(found.value().has_value()) << size;
  }
}

TEST(Messages, HeadersThatCannotBeAreRefused) {
  const auto is_refused = [](Header header) {
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    auto found = find_frame(bytes);
    return !found.is_ok() && found.status().code() == ErrorCode::kProtocolViolation;
  };
  EXPECT_FALSE(is_refused({0, 7, 0, 0, 0}));
  EXPECT_TRUE(is_refused({0, 0, 0, 0, 0}));
  EXPECT_FALSE(is_refused({0, 10, 0, 0, 0}));
  EXPECT_TRUE(is_refused({0, 11, 0, 0, 0}));
  EXPECT_TRUE(is_refused({0, 2, kLastOutcome + 1, 0, 0}));
  EXPECT_FALSE(is_refused({kMostBody, 2, 0, 0, 0}));
  EXPECT_TRUE(is_refused({kMostBody + 1, 2, 0, 0, 0}));
}

TEST(Messages, RequestsThatCannotBeAreRefused) {
  const auto parse = [](Header header, const std::string& body) {
    header.bytes = static_cast<uint32_t>(body.size());
    return parse_request({header, body}).status();
  };
  const auto kind = [](Kind kind, uint16_t outcome = 0, uint32_t number = 0) {
    return Header{0, static_cast<uint16_t>(kind), outcome, 0, number};
  };
  const std::string two("\2\0\0\0", 4), zero("\0\0\0\0", 4), huge("\xff\xff\xff\xff", 4);
  EXPECT_TRUE(parse(kind(Kind::kGet), std::string(kMostKeyBytes, 'k')).is_ok());
  EXPECT_FALSE(parse(kind(Kind::kGet), std::string(kMostKeyBytes + 1, 'k')).is_ok());
  EXPECT_FALSE(parse(kind(Kind::kGet, 1), "k").is_ok());
  EXPECT_FALSE(parse(kind(Kind::kGet, 0, 1), "k").is_ok());
  EXPECT_FALSE(parse(kind(Kind::kHello), "").is_ok());
  EXPECT_FALSE(parse(kind(Kind::kStatistics), "x").is_ok());
  for (const Kind list : {Kind::kGetMany, Kind::kPut, Kind::kCompareAndSet, Kind::kRead}) {
    EXPECT_TRUE(parse(kind(list), zero).is_ok());
    EXPECT_FALSE(parse(kind(list), "").is_ok());
    EXPECT_FALSE(parse(kind(list), zero + "x").is_ok());
    EXPECT_FALSE(parse(kind(list), two).is_ok());
    EXPECT_FALSE(parse(kind(list), huge).is_ok());
  }
  const auto read = [&](uint32_t ranges, uint32_t bytes) {
    std::string body;
    append_request({Kind::kRead, 0, 0, {}, {}, std::vector<Range>(ranges, {0, bytes})}, &body);
    return parse(kind(Kind::kRead), body.substr(sizeof(Header))).is_ok();
  };
  EXPECT_TRUE(read(kMostRanges, kMostBody / kMostRanges));
  EXPECT_FALSE(read(kMostRanges + 1, 1));
  EXPECT_FALSE(read(2, kMostBody));
  EXPECT_FALSE(read(2, UINT32_MAX));
  EXPECT_FALSE(parse(kind(Kind::kGetMany), two + zero + huge + "x").is_ok());
  EXPECT_FALSE(parse(kind(Kind::kPut), two + std::string(1, '\0') + std::string(1, '\3') + zero).is_ok());
  EXPECT_FALSE(parse(kind(Kind::kPut), two + std::string(1, '\0') + std::string(1, '\1') + huge).is_ok());
}

}  // namespace
}  // namespace strom::store::message
