// Captures from memory: which file each packet goes to when the clock is set forward and back, what the end takes, and
// which file tells of losses.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/progress.hpp"
#include "format/arrow/read/reader.hpp"
#include "pcap2arrow/live.hpp"

namespace strom::pcap2arrow {
namespace {

constexpr int64_t kNano = 1000000000;
constexpr int64_t kNoon = int64_t{1699963200} * kNano;  // 2023-11-14 12:00 UTC

int64_t at(int64_t minutes, int64_t seconds = 0) { return kNoon + (minutes * 60 + seconds) * kNano; }

/// Gives packets with these times, some at once, and takes as long as is asked for.
class TimedSource : public PacketSource {
 public:
  explicit TimedSource(std::vector<std::vector<int64_t>> times, std::chrono::milliseconds pause = {})
      : times_(std::move(times)), pause_(pause) {}
  Result<std::span<const format::packets::Packet>> next(int) override {
    packets_.clear();
    if (next_ == times_.size()) return std::span<const format::packets::Packet>();
    std::this_thread::sleep_for(pause_);
    for (const int64_t time : times_[next_++]) {
      format::packets::Packet packet;
      packet.data = kBytes;
      packet.time = time;
      packet.captured = packet.length = sizeof kBytes;
      packet.link = format::packets::link::kEthernet;
      packets_.push_back(packet);
    }
    return std::span<const format::packets::Packet>(packets_);
  }
  void release() override {}
  SourceCounts counts() override { return {}; }
  void mark_end() override {}
  bool is_at_end() const override { return next_ == times_.size(); }
  void wake() override {}

 private:
  static constexpr uint8_t kBytes[64] = {};
  std::vector<std::vector<int64_t>> times_;
  const std::chrono::milliseconds pause_;
  std::vector<format::packets::Packet> packets_;
  size_t next_ = 0;
};

/// Gives a packet, and has lost some when the file with that packet is complete.
class SourceWithLateLosses final : public TimedSource {
 public:
  SourceWithLateLosses(std::filesystem::path folder, int64_t losses)
      : TimedSource(std::vector<std::vector<int64_t>>(1, {at(0)})), folder_(std::move(folder)), losses_(losses) {}
  SourceCounts counts() override {
    for (int i = 0; i < 1000 && std::filesystem::is_empty(folder_); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    SourceCounts counts;
    counts.dropped = std::exchange(losses_, 0);
    return counts;
  }

 private:
  const std::filesystem::path folder_;
  int64_t losses_;
};

class ClockJump : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    std::string name = testing::TempDir() + "/clockXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Names of the files that a capture with these packets makes; all packets are in them.
  std::vector<std::string> capture(std::vector<std::vector<std::vector<int64_t>>> threads) {
    Settings settings;
    settings.interfaces = {"memory"};
    settings.output.path = (folder_ / "%H%M%S.arrow").string();
    settings.limit_seconds = 60;
    std::vector<std::unique_ptr<PacketSource>> sources;
    for (auto& times : threads) {
      for (const auto& some : times) settings.count += static_cast<int64_t>(some.size());
      sources.push_back(std::make_unique<TimedSource>(std::move(times)));
    }
    tool::Progress progress({"none"});
    const auto captured = capture_from(settings, std::move(sources), progress);
    EXPECT_TRUE(captured.is_ok() && captured.value().failure.is_ok());
    EXPECT_EQ(captured.value().written.rows, settings.count);
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) names.push_back(file.path().filename());
    EXPECT_EQ(static_cast<size_t>(captured.value().written.files), names.size());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::filesystem::path folder_;
};

TEST_F(ClockJump, TheEndTakesAllThatHasComeHoweverLongThatTakes) {
  Settings settings;
  settings.interfaces = {"memory"};
  settings.output.path = (folder_ / "slow.arrow").string();
  settings.duration = 1;
  constexpr int64_t kResults = 8;
  std::vector<std::unique_ptr<PacketSource>> sources;
  sources.push_back(std::make_unique<TimedSource>(std::vector<std::vector<int64_t>>(kResults, {at(0)}),
                                                  std::chrono::milliseconds(300)));
  tool::Progress progress({"none"});
  const auto captured = capture_from(settings, std::move(sources), progress);
  ASSERT_TRUE(captured.is_ok() && captured.value().failure.is_ok());
  EXPECT_EQ(captured.value().written.rows, kResults);
}

TEST_F(ClockJump, LossesBehindTheLastFileAreInOneWithoutRows) {
  Settings settings;
  settings.interfaces = {"memory"};
  settings.output.path = (folder_ / "%Y.arrow").string();
  settings.limit_seconds = 60;
  settings.duration = 1;
  std::vector<std::unique_ptr<PacketSource>> sources;
  sources.push_back(std::make_unique<SourceWithLateLosses>(folder_, 5));
  tool::Progress progress({"none"});
  const auto captured = capture_from(settings, std::move(sources), progress);
  ASSERT_TRUE(captured.is_ok() && captured.value().failure.is_ok());
  EXPECT_EQ(captured.value().dropped, 5);
  EXPECT_EQ(captured.value().written.files, 2);
  std::vector<std::string> found;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    const auto reader = format::arrow::FileReader::open(file.path());
    ASSERT_TRUE(reader.is_ok());
    std::string dropped;
    for (const auto& [key, value] : reader.value()->schema().metadata)
      if (key == "pcap.dropped") dropped = value;
    found.push_back(std::to_string(reader.value()->batch_count()) + " batches, dropped: " + dropped);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::string>{"0 batches, dropped: 5", "1 batches, dropped: "}));
}

TEST_F(ClockJump, FilesGoOnAfterTheClockWasSetBack) {
  const auto names = capture({{{at(0), at(0, 59)}, {at(300)}, {at(0, 10)}, {at(0, 20)}, {at(1)}, {at(300, 5)}}});
  EXPECT_EQ(names,
            (std::vector<std::string>{"120000.arrow", "120010.arrow", "120100.arrow", "170000.arrow", "170005.arrow"}));
}

TEST_F(ClockJump, NamesThatComeAgainGetNumbers) {
  EXPECT_EQ(
      capture({{{at(0)}, {at(300), at(0), at(300), at(0)}}}),
      (std::vector<std::string>{"120000-1.arrow", "120000-2.arrow", "120000.arrow", "170000-1.arrow", "170000.arrow"}));
}

TEST_F(ClockJump, PacketsThatAreALittleLateStayInTheOpenFile) {
  EXPECT_EQ(capture({{{at(1)}, {at(0, 59)}, {at(1, 1)}, {at(0, 58), at(1, 2)}}}),
            (std::vector<std::string>{"120100.arrow"}));
}

TEST_F(ClockJump, ThreadsTogether) {
  std::vector<std::vector<std::vector<int64_t>>> threads(4);
  for (auto& times : threads)
    for (int64_t i = 0; i < 60; ++i) times.push_back({at((i % 4) * 100 + i / 8), at((i % 4) * 100 + i / 8, 1)});
  EXPECT_GE(capture(std::move(threads)).size(), 60U);
}

}  // namespace
}  // namespace strom::pcap2arrow
