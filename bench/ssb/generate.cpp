#include "ssb/generate.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace strom::ssb {
namespace {

/// One run of generate_table. Workers take the numbers of batches in turn, and wait until their batch may be passed on.
class Run {
 public:
  Run(const Plan& plan, Table table, const GenerateOptions& options, const Consume& consume)
      : plan_(plan), table_(table), options_(options), consume_(consume), batches_(batch_count(plan, table)) {}

  Status run() {
    const auto threads = static_cast<int>(std::min<int64_t>(std::max(1, options_.threads), batches_));
    {
      std::vector<std::jthread> workers;
      for (int i = 1; i < threads; ++i) workers.emplace_back([this] { work(); });
      work();
    }
    return status_;
  }

 private:
  void work() {
    BatchBuilder builder(table_);
    for (int64_t batch = next_to_build_++; batch < batches_; batch = next_to_build_++) {
      builder.build(plan_, batch);
      std::unique_lock lock(mutex_);
      turn_.wait(lock, [&] { return next_to_consume_ == batch || !status_.is_ok(); });
      if (status_.is_ok()) status_ = hand_on(builder);
      ++next_to_consume_;
      turn_.notify_all();
      if (!status_.is_ok()) return;
    }
  }

  Status hand_on(const BatchBuilder& builder) {
    if (options_.stop && *options_.stop) return Status(ErrorCode::kCancelled, "stopped on request");
    return consume_(builder.view());
  }

  const Plan& plan_;
  const Table table_;
  const GenerateOptions& options_;
  const Consume& consume_;
  const int64_t batches_;
  std::atomic<int64_t> next_to_build_ = 0;
  std::mutex mutex_;
  std::condition_variable turn_;
  int64_t next_to_consume_ = 0;
  Status status_;
};

}  // namespace

Status generate_table(const Plan& plan, Table table, const GenerateOptions& options, const Consume& consume) {
  return Run(plan, table, options, consume).run();
}

}  // namespace strom::ssb
