// kvbench: runs operations on random keys of one store, with several clients, for some seconds. Prints a line of JSON.
// Called by run.py.
//
//   kvbench load KIND ADDRESS TABLE ROWS BYTES
//   kvbench run KIND ADDRESS TABLE ROWS BYTES uniform|zipf|latest OPERATIONS CLIENTS BATCH SECONDS
//
// OPERATIONS are shares in percent, such as read=50,update=50. Others are insert, modify (a read and an update) and
// scan.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "keys.hpp"
#include "stores.hpp"

namespace strom::bench {

namespace {

using Clock = std::chrono::steady_clock;

enum Operation : uint8_t { kRead, kUpdate, kInsert, kModify, kScan, kOperations };
constexpr const char* kNames[] = {"read", "update", "insert", "modify", "scan"};
constexpr uint32_t kPercent = 100;

struct Plan {
  std::string kind, address, table;
  uint64_t rows = 0, bytes = 0;
  Draw draw = Draw::kUniform;
  uint32_t shares[kOperations] = {};
  size_t clients = 1, batch = 1;
  double seconds = 1;
};

/// State that the clients share.
struct Common {
  static constexpr uint64_t kNothing = UINT64_MAX;
  Common(uint64_t rows, size_t clients) : next_row(rows), inserting(clients) {
    for (auto& row : inserting) row = kNothing;
  }
  /// All rows before it exist.
  uint64_t first_missing() const {
    uint64_t first = next_row;
    for (const auto& row : inserting) first = std::min(first, row.load());
    return first;
  }
  std::atomic<uint64_t> next_row;                // the next row to insert
  std::vector<std::atomic<uint64_t>> inserting;  // for each client, at most the row that it is inserting
  std::atomic<bool> is_over = false;
};

/// The counts of one client, and the durations of some of its calls.
struct Tally {
  uint64_t operations = 0, wrong = 0;
  std::vector<float> call_us;
  std::string error;
};

class Client {
 public:
  Client(const Plan& plan, Common* common, size_t number)
      : plan_(plan),
        common_(common),
        number_(number),
        keys_(plan.batch),
        store_(open_store(plan.kind, plan.address, plan.table)) {
    // Keys are drawn in advance, so that drawing is not measured.
    constexpr size_t kDrawn = 1 << 20;
    Keys source(plan.rows, plan.draw, number + 1);
    const uint64_t last = plan.draw == Draw::kLatest ? plan.rows : 0;
    drawn_.resize(plan.clients == 1 ? kDrawn : kDrawn / 8);
    for (uint64_t& key : drawn_) key = source.next(last);
    operations_.resize(drawn_.size());
    std::mt19937_64 random(number + 2);
    for (Operation& operation : operations_) operation = draw_operation(static_cast<uint32_t>(random() % kPercent));
  }

  void run(Tally* tally) {
    // A get from shared memory takes only as long as a few looks at the clock, so few gets are timed.
    const uint64_t sampled = plan_.shares[kRead] == kPercent ? 16 : 1;
    constexpr double kMicro = 1e6;
    for (uint64_t call = 0; !common_->is_over.load(std::memory_order_relaxed); ++call) {
      if (call % sampled != 0) {
        one(operations_[call % operations_.size()], tally);
        continue;
      }
      const auto before = Clock::now();
      one(operations_[call % operations_.size()], tally);
      tally->call_us.push_back(
          static_cast<float>(std::chrono::duration<double>(Clock::now() - before).count() * kMicro));
    }
  }

 private:
  Operation draw_operation(uint32_t percent) const {
    uint32_t below = 0;
    for (uint8_t i = 0; i < kOperations; ++i) {
      below += plan_.shares[i];
      if (percent < below) return static_cast<Operation>(i);
    }
    return kRead;
  }

  void draw_keys() {
    // The latest rows are relative to the current number of rows.
    const uint64_t more = plan_.draw == Draw::kLatest ? common_->first_missing() - plan_.rows : 0;
    for (uint64_t& key : keys_) {
      key = drawn_[at_] + more;
      at_ = at_ + 1 == drawn_.size() ? 0 : at_ + 1;
    }
  }

  void one(Operation operation, Tally* tally) {
    if (operation == kInsert) {
      common_->inserting[number_] = common_->next_row.load();
      for (uint64_t& key : keys_) key = common_->next_row++;
    } else {
      draw_keys();
    }
    uint64_t right = keys_.size();
    if (operation == kRead || operation == kModify) right = store_->get(keys_);
    if (operation == kUpdate || operation == kModify) right = std::min(right, store_->put(keys_, plan_.bytes, false));
    if (operation == kInsert) {
      right = store_->put(keys_, plan_.bytes, true);
      common_->inserting[number_] = Common::kNothing;
    }
    constexpr uint64_t kRange = 100;
    if (operation == kScan) right = store_->scan(keys_[0], 1 + keys_[0] % kRange) > 0 ? keys_.size() : 0;
    tally->operations += keys_.size();
    tally->wrong += keys_.size() - right;
  }

  const Plan& plan_;
  Common* common_;
  size_t number_;
  std::vector<uint64_t> drawn_, keys_;
  std::vector<Operation> operations_;
  size_t at_ = 0;
  std::unique_ptr<Store> store_;
};

void run(const Plan& plan) {
  Common common(plan.rows, plan.clients);
  std::vector<std::unique_ptr<Client>> clients;
  clients.reserve(plan.clients);
  for (size_t i = 0; i < plan.clients; ++i) clients.push_back(std::make_unique<Client>(plan, &common, i));
  std::vector<Tally> tallies(plan.clients);
  std::vector<std::thread> threads;
  threads.reserve(plan.clients);
  const auto begin = Clock::now();
  for (size_t i = 0; i < plan.clients; ++i)
    threads.emplace_back([&, i] {
      try {
        clients[i]->run(&tallies[i]);
      } catch (const std::exception& error) {
        tallies[i].error = error.what();
      }
    });
  std::this_thread::sleep_for(std::chrono::duration<double>(plan.seconds));
  common.is_over = true;
  for (std::thread& thread : threads) thread.join();
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  clients.clear();  // destroying them records what they have read
  Tally all;
  for (const Tally& tally : tallies) {
    if (!tally.error.empty()) throw std::runtime_error(tally.error);
    all.operations += tally.operations;
    all.wrong += tally.wrong;
    all.call_us.insert(all.call_us.end(), tally.call_us.begin(), tally.call_us.end());
  }
  std::sort(all.call_us.begin(), all.call_us.end());
  const auto percentile = [&](double share) {
    return all.call_us[static_cast<size_t>(share * static_cast<double>(all.call_us.size() - 1))];
  };
  std::printf(
      "{\"operations\": %lu, \"wrong\": %lu, \"per_second\": %.0f, \"p50_us\": %.2f, \"p99_us\": %.2f, \"p999_us\": "
      "%.2f",
      all.operations, all.wrong, static_cast<double>(all.operations) / took, percentile(0.5), percentile(0.99),
      percentile(0.999));
  const ReadCounts reads = read_counts();
  if (reads.gets != 0)
    std::printf(", \"reads_per_get\": %.3f, \"retries\": %lu",
                static_cast<double>(reads.reads) / static_cast<double>(reads.gets), reads.retries);
  std::printf("}\n");
}

bool read_shares(const std::string& text, uint32_t* shares) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t equals = text.find('=', at), end = std::min(text.find(',', at), text.size());
    if (equals == std::string::npos || equals > end) return false;
    const auto* found = std::find(std::begin(kNames), std::end(kNames), text.substr(at, equals - at));
    if (found == std::end(kNames)) return false;
    shares[found - std::begin(kNames)] = static_cast<uint32_t>(std::stoul(text.substr(equals + 1, end - equals - 1)));
    at = end + 1;
  }
  return true;
}

int run(const std::vector<std::string>& words) {
  constexpr size_t kLoad = 6, kRun = 11;
  if (words.size() < kLoad) return 2;
  Plan plan;
  plan.kind = words[1], plan.address = words[2], plan.table = words[3];
  plan.rows = std::stoull(words[4]), plan.bytes = std::stoull(words[5]);
  if (words.size() == kLoad && words[0] == "load") {
    open_store(plan.kind, plan.address, plan.table)->load(plan.rows, plan.bytes);
    return 0;
  }
  if (words.size() != kRun || words[0] != "run" || !read_shares(words[7], plan.shares)) return 2;
  plan.draw = words[6] == "zipf" ? Draw::kZipf : words[6] == "latest" ? Draw::kLatest : Draw::kUniform;
  plan.clients = std::stoul(words[8]), plan.batch = std::stoul(words[9]);
  plan.seconds = std::stod(words[10]);
  run(plan);
  return 0;
}

}  // namespace

}  // namespace strom::bench

int main(int argc, char** argv) {
  try {
    return strom::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvbench: %s\n", error.what());
    return 1;
  }
}
