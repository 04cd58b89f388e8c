#include "service/calibrate.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "engine/exec/execution.hpp"
#include "engine/plan/builder.hpp"

namespace strom::service {

using engine::device::Device;
using engine::device::DeviceRegion;
using engine::device::DeviceWork;
using engine::exec::Execution;
using engine::op::ChunkSource;
namespace plan = engine::plan;

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds kPatience{50};  // for each measurement
constexpr Seconds kLongEnough{0.004};               // to be exact
constexpr int kRepeats = 3;

constexpr size_t kFirstCopy = 64 << 10, kLargestCopy = 64 << 20;
constexpr int64_t kFewRows = 2048, kMostRows = 4 << 20, kInnerRows = 100'000;
constexpr int64_t kGrowth = 16;
constexpr int32_t kValues = 1000, kGroups = 100;
constexpr double kLeastShare = 0.02;  // of a scan, that a look-up or a group takes at least

double seconds_since(Clock::time_point begin) { return Seconds(Clock::now() - begin).count(); }

// ---- copies ----

/// Bytes per second of `copy(bytes)`, which has buffers for kLargestCopy.
Result<double> measure_bytes(const std::function<Status(size_t)>& copy, std::chrono::milliseconds patience) {
  const auto begin = Clock::now();
  STROM_TRY(copy(kFirstCopy));  // whatever the first one of all takes
  double rate = 0;
  for (size_t bytes = kFirstCopy; bytes <= kLargestCopy; bytes *= 4) {
    double best = 0;
    for (int i = 0; i < kRepeats; ++i) {
      const auto start = Clock::now();
      STROM_TRY(copy(bytes));
      const double elapsed = std::max(1e-9, seconds_since(start));
      best = i == 0 ? elapsed : std::min(best, elapsed);
      if (Clock::now() - begin > patience) break;
    }
    rate = static_cast<double>(bytes) / best;
    if (best > kLongEnough.count() || Clock::now() - begin > patience) break;
  }
  return rate;
}

Status measure_link(const device::Device& device, DeviceRates* rates, std::chrono::milliseconds patience) {
  STROM_ASSIGN(const device::DeviceMemory memory, device.allocate(kLargestCopy));
  STROM_ASSIGN(const device::PinnedMemory host, device.allocate_pinned(kLargestCopy));
  STROM_ASSIGN(const device::Stream stream, device.create_stream());
  std::memset(host.get(), 1, kLargestCopy);
  const auto rate_of = [&](auto&& start) {
    return measure_bytes(
        [&](size_t bytes) {
          STROM_TRY(start(bytes));
          return stream.finish();
        },
        patience);
  };
  STROM_ASSIGN(rates->copy_in, rate_of([&](size_t bytes) { return stream.copy_in(memory.get(), host.get(), bytes); }));
  STROM_ASSIGN(rates->copy_out,
               rate_of([&](size_t bytes) { return stream.copy_out(host.get(), memory.get(), bytes); }));
  STROM_ASSIGN(rates->fill, rate_of([&](size_t bytes) { return stream.fill(memory.get(), 0, bytes); }));
  return {};
}

// ---- programs ----

/// The device, with the times of what it does.
class TimedDevice final : public Device {
 public:
  explicit TimedDevice(Device* engine_device) : engine_device_(engine_device) {}
  std::string name() const override { return engine_device_->name(); }
  int states_per_worker() const override { return engine_device_->states_per_worker(); }
  Result<std::unique_ptr<DeviceRegion>> allocate(size_t bytes, bool mirrored, const KeepGoing& keep_going) override {
    const auto begin = Clock::now();
    auto region = engine_device_->allocate(bytes, mirrored, keep_going);
    busy += seconds_since(begin);
    return region;
  }
  /// The launch by itself, apart from the copies.
  Status run(const DeviceWork& work, const KeepGoing& keep_going) override {
    const auto begin = Clock::now();
    if (!work.in.empty()) STROM_TRY(engine_device_->run({work.in, nullptr, nullptr, 0, {}}, keep_going));
    if (work.count > 0) {
      const auto launched = Clock::now();
      STROM_TRY(engine_device_->run({{}, work.states, work.results, work.count, {}, work.stop}, keep_going));
      launches += seconds_since(launched);
    }
    if (!work.out.empty()) STROM_TRY(engine_device_->run({{}, nullptr, nullptr, 0, work.out}, keep_going));
    busy += seconds_since(begin);
    return {};
  }

  double launches = 0, busy = 0;  // seconds; launches are part of busy

 private:
  Device* const engine_device_;
};

/// Columns of int4 in one chunk.
class Columns final : public ChunkSource {
 public:
  Columns(std::vector<const std::vector<int32_t>*> columns, int64_t rows) : columns_(std::move(columns)), rows_(rows) {}
  int64_t chunk_count() const override { return 1; }
  int64_t total_rows() const override { return rows_; }
  Result<columnar::BatchView> chunk(int64_t) const override {
    columnar::BatchView batch;
    batch.rows = rows_;
    for (const auto* values : columns_) {
      columnar::ColumnView column;
      column.layout = columnar::Layout::kInt32;
      column.length = rows_;
      column.values = values->data();
      batch.columns.push_back(column);
    }
    return batch;
  }

 private:
  const std::vector<const std::vector<int32_t>*> columns_;
  const int64_t rows_;
};

enum class Sample { kScan, kProbe, kGroup };

const plan::ValueType kInt4{registry::TypeId::kInt4, 0};

/// count(*) of rows whose first column is small, as all are; of those with a row in the inner side; by group.
Result<plan::Program> program_of(Sample sample) {
  plan::Program program;
  plan::Builder builder(program);
  program.sources = {{{kInt4, kInt4}}};
  program.pipelines.resize(1);
  if (sample == Sample::kProbe) {
    program.sources = {{{kInt4}}, {{kInt4, kInt4}}};
    plan::Join join;
    join.outer_keys = {builder.column(1, kInt4)};
    join.inner_keys = {builder.column(0, kInt4)};
    program.joins.push_back(join);
    program.pipelines.resize(2);
    program.pipelines[0].sink = plan::SinkKind::kBuild;
    program.pipelines[1].source = 1;
    program.pipelines[1].joins = {0};
  }
  plan::Pipeline& probe = program.pipelines.back();
  const int32_t limit = kValues;
  const std::string bytes(reinterpret_cast<const char*>(&limit), sizeof limit);
  STROM_ASSIGN(const plan::NodeId is_small,
               builder.call("int4lt", {builder.column(0, kInt4), builder.constant(kInt4, false, bytes)}));
  probe.quals = {is_small};
  probe.sink = plan::SinkKind::kAggregate;
  if (sample == Sample::kGroup) {
    probe.group_keys = {builder.column(1, kInt4)};
    probe.aggregates = {{registry::AggregateId::kSumInt4, builder.column(0, kInt4)}};
  } else {
    probe.aggregates = {{}};
  }
  return program;
}

/// Seconds of one execution: all of it, and on the device.
struct Taken {
  double all = 0, launches = 0, busy = 0;
};

class Samples {
 public:
  explicit Samples(int64_t rows) {
    const auto count = static_cast<size_t>(rows);
    values_.resize(count), keys_.resize(count), groups_.resize(count);
    uint32_t random = 1;
    for (size_t i = 0; i < count; ++i) {
      random = random * 1664525 + 1013904223;
      values_[i] = static_cast<int32_t>((random >> 8) % kValues);
      keys_[i] = static_cast<int32_t>((random >> 8) % kInnerRows);
      groups_[i] = static_cast<int32_t>((random >> 8) % kGroups);
    }
    for (int32_t i = 0; i < kInnerRows; ++i) inner_.push_back(i);
  }

  /// `engine_device` nullptr: on this thread.
  Result<Taken> run(Sample sample, int64_t rows, int64_t inner_rows, Device* engine_device) const {
    STROM_ASSIGN(const plan::Program program, program_of(sample));
    const Columns outer({&values_, sample == Sample::kGroup ? &groups_ : &keys_}, rows), inner({&inner_}, inner_rows);
    std::vector<const ChunkSource*> sources = {&outer};
    if (sample == Sample::kProbe) sources = {&inner, &outer};
    engine::exec::Options options;
    std::unique_ptr<TimedDevice> timed;
    if (engine_device != nullptr) timed = std::make_unique<TimedDevice>(engine_device);
    options.device = timed.get();
    options.device_rows = rows;  // the inner side is read by the CPU
    const auto begin = Clock::now();
    STROM_ASSIGN(const std::unique_ptr<Execution> execution, Execution::create(program, sources, {}, options));
    for (;;) {
      STROM_ASSIGN(const auto batch, execution->next([] {}));
      if (batch == nullptr) break;
    }
    Taken taken{seconds_since(begin), 0, 0};
    if (engine_device == nullptr) {
      taken.all = execution->stats().milliseconds.back() / 1000;
      return taken;
    }
    if (execution->stats().device_rows == 0)
      return Status(ErrorCode::kOverBudget, "the device has no memory to be measured with");
    taken.launches = timed->launches;
    taken.busy = timed->busy;
    return taken;
  }

 private:
  std::vector<int32_t> values_, keys_, groups_, inner_;
};

/// The quickest of some executions, the first of which may have to load code; fewer when they take long.
Result<Taken> quickest(const Samples& samples, Sample sample, int64_t rows, int64_t inner_rows, Device* engine_device,
                       Clock::time_point end) {
  Taken best;
  for (int i = 0; i < kRepeats; ++i) {
    STROM_ASSIGN(const Taken taken, samples.run(sample, rows, inner_rows, engine_device));
    if (i == 0) best = taken;
    best = {std::min(best.all, taken.all), std::min(best.launches, taken.launches), std::min(best.busy, taken.busy)};
    if (Clock::now() > end) break;
  }
  return best;
}

/// Nanoseconds for each row, as many as are worth the time.
Result<double> measure_cpu(const Samples& samples, Sample sample, std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  double time = 0;
  for (int64_t rows = kFewRows; rows <= kMostRows; rows *= kGrowth) {
    STROM_ASSIGN(const Taken taken, quickest(samples, sample, rows, kInnerRows, nullptr, end));
    time = std::max(1e-3, taken.all * 1e9 / static_cast<double>(rows));
    if (taken.all > kLongEnough.count() || Clock::now() > end) break;
  }
  return time;
}

struct DeviceSample {
  double row_ns = 0;
  Taken few, many;
  int64_t rows = 0;  // of `many`
};

Result<DeviceSample> measure_device(const Samples& samples, Sample sample, Device* engine_device,
                                    std::chrono::milliseconds patience) {
  DeviceSample found;
  const auto end = Clock::now() + patience;
  // A slow device is asked for a small inner side, too.
  STROM_ASSIGN(found.few, quickest(samples, sample, kFewRows, kFewRows, engine_device, end));
  found.many = found.few;
  found.rows = kFewRows;
  while (found.rows < kMostRows && found.many.launches < kLongEnough.count() && Clock::now() < end) {
    found.rows = std::min(kMostRows, found.rows * kGrowth);
    STROM_ASSIGN(found.many, quickest(samples, sample, found.rows, kInnerRows, engine_device, end));
  }
  double time = found.many.launches / static_cast<double>(found.rows);
  if (found.rows > kFewRows && found.many.launches > found.few.launches)
    time = (found.many.launches - found.few.launches) / static_cast<double>(found.rows - kFewRows);
  found.row_ns = std::max(1e-6, time * 1e9);
  return found;
}

/// What `more` does beyond `scan`.
double beyond(double more, double scan) { return std::max(more - scan, scan * kLeastShare); }

Status measure_rows(Device* engine_device, DeviceRates* rates, std::chrono::milliseconds patience) {
  const Samples samples(kMostRows);
  STROM_ASSIGN(const double scan_cpu, measure_cpu(samples, Sample::kScan, patience));
  STROM_ASSIGN(const double probe_cpu, measure_cpu(samples, Sample::kProbe, patience));
  STROM_ASSIGN(const double group_cpu, measure_cpu(samples, Sample::kGroup, patience));
  STROM_ASSIGN(const DeviceSample scan, measure_device(samples, Sample::kScan, engine_device, patience));
  STROM_ASSIGN(const DeviceSample probe, measure_device(samples, Sample::kProbe, engine_device, patience));
  STROM_ASSIGN(const DeviceSample group, measure_device(samples, Sample::kGroup, engine_device, patience));
  rates->scan = {scan_cpu, scan.row_ns};
  rates->probe = {beyond(probe_cpu, scan_cpu), beyond(probe.row_ns, scan.row_ns)};
  rates->group = {beyond(group_cpu, scan_cpu), beyond(group.row_ns, scan.row_ns)};
  rates->round_trip_us = scan.few.launches * 1e6;
  rates->setup_us = scan.few.all * 1e6;
  const double prepared = static_cast<double>(scan.rows) * sizeof(int32_t);
  rates->stage = prepared / std::max(1e-6, scan.many.all - scan.many.busy);
  return {};
}

}  // namespace

DeviceRates facts_of(const device::Device& device) {
  const device::DeviceFacts& facts = device.facts();
  DeviceRates rates;
  rates.name = facts.name;
  rates.architecture = facts.architecture;
  rates.address = facts.pci_address;
  rates.program = STROM_VERSION " " + std::to_string(device::kModuleVersion);
  rates.driver = facts.driver_version;
  rates.runtime = facts.runtime_version;
  rates.processors = facts.processors;
  rates.memory = facts.memory;
  return rates;
}

Result<DeviceRates> calibrate(const device::Device& device, Device* engine_device, std::chrono::milliseconds patience) {
  STROM_TRY(device.use());
  DeviceRates rates = facts_of(device);
  STROM_TRY(measure_link(device, &rates, patience));
  STROM_TRY(measure_rows(engine_device, &rates, patience));
  return rates;
}

Result<Calibration> calibrate_all(const std::vector<Calibrated>& devices, const std::string& path) {
  if (const auto kept = read_calibration(path); kept.is_ok()) {
    const std::vector<DeviceRates>& rates = kept.value().devices;
    bool is_right = rates.size() == devices.size();
    for (size_t i = 0; is_right && i < rates.size(); ++i) is_right = rates[i].is_of(facts_of(*devices[i].device));
    if (is_right) return kept;
  }
  const auto begin = Clock::now();
  Calibration calibration;
  for (const Calibrated& one : devices) {
    STROM_ASSIGN(DeviceRates rates, calibrate(*one.device, one.engine_device, kPatience));
    calibration.devices.push_back(std::move(rates));
  }
  calibration.milliseconds = seconds_since(begin) * 1000;
  if (const Status written = write_calibration(path, calibration); !written.is_ok())
    std::fprintf(stderr, "pg_strom_gpu_service: %s\n", written.message().c_str());
  return calibration;
}

}  // namespace strom::service
