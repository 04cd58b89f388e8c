// What is measured of devices, and the file that keeps it.
#include "service/calibration.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "service/calibrate.hpp"
#include "service/local_device.hpp"
#include "test_server.hpp"

namespace strom::service::test {
namespace {

Calibration sample() {
  DeviceRates rates;
  rates.name = "A Device of 80 GB";
  rates.architecture = "sm_90";
  rates.program = "1.0 3";
  rates.driver = 13000;
  rates.runtime = 13010;
  rates.processors = 132;
  rates.memory = uint64_t{80} << 30;
  rates.copy_in = 5.123456789012345e10;
  rates.copy_out = 5e10, rates.fill = 3e12, rates.stage = 1e10;
  rates.round_trip_us = 12.5, rates.setup_us = 800;
  rates.scan = {0.2, 0.001}, rates.probe = {1.5, 0.01}, rates.group = {8, 0.1};
  DeviceRates other = rates;
  other.address = "0000:81:00.0";
  return {321.5, {rates, other}};
}

TEST(Calibration, comes_back) {
  for (const Calibration& calibration : {sample(), Calibration{1, {}}}) {
    const auto parsed = parse_calibration(print(calibration));
    ASSERT_TRUE(parsed.is_ok());
    EXPECT_EQ(parsed.value(), calibration);
  }
}

TEST(Calibration, anything_else_is_corrupt) {
  const std::string text = print(sample());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(parse_calibration(text.substr(0, size)).status().code(), ErrorCode::kCorruptFile) << size;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_EQ(parse_calibration(changed).status().code(), ErrorCode::kCorruptFile) << i;
  }
  EXPECT_FALSE(parse_calibration(text + "\n").is_ok());
  // Whole, but not to be calculated with.
  for (const double wrong : {0.0, -1.0, 1.0 / 0.0}) {
    Calibration calibration = sample();
    calibration.devices[1].copy_in = wrong;
    EXPECT_FALSE(parse_calibration(print(calibration)).is_ok()) << wrong;
  }
}

TEST(Calibration, files) {
  const Folder folder;
  const std::string path = folder.path("rates");
  EXPECT_EQ(read_calibration(path).status().code(), ErrorCode::kFileNotFound);
  ASSERT_TRUE(write_calibration(path, sample()).is_ok());
  ASSERT_TRUE(write_calibration(path, sample()).is_ok());
  EXPECT_EQ(read_calibration(path).value(), sample());
  EXPECT_NE(access((path + ".new").c_str(), F_OK), 0);
  std::ofstream(path) << std::string(2 << 20, 'x');
  EXPECT_EQ(read_calibration(path).status().code(), ErrorCode::kCorruptFile);
  EXPECT_FALSE(write_calibration(folder.path("nowhere/rates"), sample()).is_ok());
}

class Measured : public testing::Test {
 protected:
  void SetUp() override {
    auto module = device::Module::open(STROM_HOST_MODULE_PATH);
    ASSERT_TRUE(module.is_ok()) << module.status().message();
    device_ = device::Device::open(module.value(), 0).value();
    engine_device_.emplace(device_.get());
  }
  std::vector<Calibrated> devices() { return {{device_.get(), &*engine_device_}}; }

  const Folder folder_;
  const std::string path_ = folder_.path("rates");
  std::unique_ptr<device::Device> device_;
  std::optional<LocalDevice> engine_device_;
};

TEST_F(Measured, once) {
  const auto first = calibrate_all(devices(), path_);
  ASSERT_TRUE(first.is_ok()) << first.status().message();
  const DeviceRates& rates = first.value().devices.at(0);
  EXPECT_TRUE(rates.is_of(facts_of(*device_)));
  for (const double figure :
       {rates.copy_in, rates.copy_out, rates.fill, rates.stage, rates.round_trip_us, rates.setup_us, rates.scan.cpu,
        rates.scan.device, rates.probe.cpu, rates.probe.device, rates.group.cpu, rates.group.device})
    EXPECT_GT(figure, 0);
  EXPECT_LT(rates.copy_in, 1e13);
  EXPECT_EQ(calibrate_all(devices(), path_).value(), first.value());
  EXPECT_EQ(read_calibration(path_).value(), first.value());
}

TEST_F(Measured, again_when_it_is_of_something_else) {
  Calibration stale{1, {facts_of(*device_)}};
  DeviceRates& rates = stale.devices[0];
  rates.copy_in = rates.copy_out = rates.stage = 1;
  rates.scan = rates.probe = rates.group = {1, 1};
  ASSERT_TRUE(write_calibration(path_, stale).is_ok());
  EXPECT_EQ(calibrate_all(devices(), path_).value(), stale);  // it is of this device
  rates.driver = 1;
  ASSERT_TRUE(write_calibration(path_, stale).is_ok());
  EXPECT_NE(calibrate_all(devices(), path_).value().devices[0].copy_in, 1);
  std::ofstream(path_) << "nonsense";
  EXPECT_NE(calibrate_all(devices(), path_).value().devices[0].copy_in, 1);
  EXPECT_TRUE(read_calibration(path_).is_ok());
}

TEST_F(Measured, also_where_nothing_can_be_kept) {
  EXPECT_TRUE(calibrate_all(devices(), folder_.path("nowhere/rates")).is_ok());
}

// As of a device that is slower by orders of magnitude: it is asked for little.
TEST_F(Measured, in_time) {
  class Slow final : public engine::device::Device {
   public:
    explicit Slow(Device* engine_device) : engine_device_(engine_device) {}
    std::string name() const override { return "slow"; }
    int states_per_worker() const override { return engine_device_->states_per_worker(); }
    Result<std::unique_ptr<engine::device::DeviceRegion>> allocate(size_t bytes, bool mirrored,
                                                                   const KeepGoing& keep_going) override {
      return engine_device_->allocate(bytes, mirrored, keep_going);
    }
    Status run(const engine::device::DeviceWork& work, const KeepGoing& keep_going) override {
      if (work.count > 0) usleep(150000);
      return engine_device_->run(work, keep_going);
    }

   private:
    Device* const engine_device_;
  } slow(&*engine_device_);
  const auto begin = std::chrono::steady_clock::now();
  const auto rates = calibrate(*device_, &slow, std::chrono::milliseconds(50));
  ASSERT_TRUE(rates.is_ok()) << rates.status().message();
  EXPECT_GT(rates.value().scan.device, 1000);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace strom::service::test
