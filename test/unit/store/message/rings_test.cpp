#include "store/message/rings.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

namespace strom::store::message {
namespace {

/// Both ends, each with a mapping of its own.
struct Ends {
  Ends() {
    EXPECT_TRUE(server.make(&descriptor).is_ok());
    EXPECT_TRUE(client.map(descriptor).is_ok());
  }
  base::Descriptor descriptor;
  Rings server, client;
};

TEST(Rings, BytesOfAllLengthsComeInOrder) {
  Ends ends;
  RingWriter writer = ends.client.writer_of(kRequests);
  RingReader reader = ends.server.reader_of(kRequests);
  std::mt19937 random(1);
  std::string sent, received;
  for (int i = 0; i < 3000; ++i) {
    std::string part(random() % (kRingBytes / 8), '\0');
    for (char& byte : part) byte = static_cast<char>(random());
    const auto written = writer.write(part);
    ASSERT_TRUE(written.has_value());
    sent += part.substr(0, *written);
    if (*written == part.size() && random() % 4 != 0) continue;
    EXPECT_TRUE(reader.has_more() || sent.size() == received.size());
    ASSERT_TRUE(reader.read(&received).has_value());
    EXPECT_FALSE(reader.has_more());
    ASSERT_EQ(received.size(), sent.size());
  }
  ASSERT_TRUE(reader.read(&received).has_value());
  EXPECT_TRUE(received == sent);
  EXPECT_GT(sent.size(), 100 * kRingBytes);
}

TEST(Rings, AFullRingTakesNoMore) {
  Ends ends;
  RingWriter writer = ends.server.writer_of(kAnswers);
  EXPECT_TRUE(writer.has_room());
  EXPECT_EQ(writer.write(std::string(kRingBytes + 5, 'x')), kRingBytes);
  EXPECT_FALSE(writer.has_room());
  EXPECT_EQ(writer.write("x"), 0U);
  std::string received;
  EXPECT_EQ(ends.client.reader_of(kAnswers).read(&received), kRingBytes);
  EXPECT_TRUE(writer.has_room());
  EXPECT_EQ(writer.write("x"), 1U);
}

/// Whatever the other side writes into its counts, this one notices and reads nothing out of place.
TEST(Rings, CountsThatCannotBeAreNoticed) {
  Ends ends;
  void* memory = mmap(nullptr, kRingsFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, ends.descriptor.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* words = static_cast<RingWords*>(memory);
  RingReader reader = ends.server.reader_of(kRequests);
  RingWriter writer = ends.server.writer_of(kAnswers);
  std::string received;
  for (const uint64_t count : {kRingBytes + 1, uint64_t{1} << 40, UINT64_MAX}) {
    words[kRequests].sent = count;
    EXPECT_FALSE(reader.read(&received).has_value());
    words[kAnswers].taken = count == UINT64_MAX ? count / 2 : count;
    EXPECT_FALSE(writer.write("abc").has_value());
  }
  EXPECT_TRUE(received.empty());
  words[kRequests].sent = kRingBytes;
  EXPECT_EQ(reader.read(&received), kRingBytes);
  munmap(memory, kRingsFileBytes);
}

TEST(Rings, TheMemoryCannotBeTakenAway) {
  const Ends ends;
  EXPECT_NE(ftruncate(ends.descriptor.get(), 0), 0);
  EXPECT_NE(ftruncate(ends.descriptor.get(), kRingsFileBytes * 2), 0);
  const base::Descriptor other(memfd_create("other", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(other.get(), 4096), 0);
  Rings rings;
  EXPECT_FALSE(rings.map(other).is_ok());
  EXPECT_FALSE(rings.is_there());
}

/// Two threads that sleep for each other: a waking that is lost would keep them asleep for the whole limit.
TEST(Rings, NobodySleepsForEver) {
  Ends ends;
  constexpr int kRounds = 20000, kLimitMs = 5000;
  const auto side = [&](RingWriter writer, RingReader reader, bool is_first) {
    std::string received;
    for (int i = 0; i < kRounds; ++i) {
      if (!is_first || i > 0) {
        while (reader.read(&received) == 0U) {
          reader.begin_sleep();
          if (!reader.has_more()) reader.sleep(kLimitMs);
          reader.end_sleep();
        }
      }
      writer.write("x");
      if (writer.has_to_wake()) wake(writer.bed());
    }
    return received.size();
  };
  const auto begin = std::chrono::steady_clock::now();
  std::thread server([&] {
    EXPECT_EQ(side(ends.server.writer_of(kAnswers), ends.server.reader_of(kRequests), false), size_t{kRounds});
  });
  EXPECT_EQ(side(ends.client.writer_of(kRequests), ends.client.reader_of(kAnswers), true), size_t{kRounds - 1});
  server.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(kLimitMs) * 2);
}

}  // namespace
}  // namespace strom::store::message
