// Chains of joins of all kinds whose payload is seen behind them, on every target against nested loops: joins that
// pass build rows on between others, inner sides within and beyond their budget, and fallback rows
// before, between and behind them, which are decided here as PostgreSQL's executor node does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "engine/plan/verify.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::Constant;
using plan::JoinKind;
using plan::NodeId;
using plan::ValueType;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0};
using Int = std::optional<int32_t>;
constexpr size_t kJoins = 3;
constexpr int64_t kChunkRows = 700;

std::string text_of(Int value) { return value ? std::to_string(*value) : "NULL"; }

struct Row {
  Int key, value;
};

struct Side {
  std::vector<Row> rows;
  Table table{{field(columnar::Layout::kInt32), field(columnar::Layout::kInt32)}};

  Side(std::mt19937_64& random, int count, int keys, int32_t spread) {
    const auto some = [&](int values, int32_t step) -> Int {
      if (random() % 9 == 0) return {};
      return static_cast<int32_t>(random() % static_cast<uint64_t>(values)) * step;
    };
    for (int i = 0; i < count; ++i) {
      if (i > 0 && i % kChunkRows == 0) table.new_chunk();
      rows.push_back({some(keys, spread), some(keys, spread)});
      size_t column = 0;
      for (const Int value : {rows.back().key, rows.back().value}) {
        if (value)
          table.column(column).append(*value);
        else
          table.column(column).append_null();
        ++column;
      }
    }
  }
};

struct Step {
  JoinKind kind;
  size_t key_of;   // 0: the source's key; else the value of the join before, counted from 1
  bool with_qual;  // the inner value is not 3 * spread
};

/// One row of each side; nullptr where there is none.
using Combined = std::array<const Row*, kJoins + 1>;

struct Chain {
  int32_t spread;
  std::deque<Side> sides;  // [0]: the source
  std::vector<Step> steps;

  Chain(std::mt19937_64& random, bool slow) {
    spread = random() % 2 == 0 ? 1 : 30000001;
    const int keys = static_cast<int>(5 + random() % 60);
    sides.emplace_back(random, static_cast<int>(random() % (slow ? 150 : 1500)), keys, spread);
    for (size_t i = 0; i < kJoins; ++i) {
      const int rows = random() % 8 == 0 ? 0 : static_cast<int>(random() % static_cast<uint64_t>(2 * keys));
      sides.emplace_back(random, rows, keys, spread);
      constexpr JoinKind kKinds[] = {JoinKind::kInner, JoinKind::kLeft,      JoinKind::kRight,
                                     JoinKind::kFull,  JoinKind::kRightSemi, JoinKind::kRightAnti};
      steps.push_back(
          {kKinds[random() % std::size(kKinds)], static_cast<size_t>(random() % (i + 1)), random() % 3 == 0});
    }
  }

  Int key(const Combined& row, size_t step) const {
    const Row* from = row[steps[step].key_of];
    if (from == nullptr) return {};
    return steps[step].key_of == 0 ? from->key : from->value;
  }

  bool matches(const Combined& row, size_t step, const Row& inner) const {
    const Int outer = key(row, step);
    if (!outer || !inner.key || *outer != *inner.key) return false;
    return !steps[step].with_qual || (inner.value && *inner.value != 3 * spread);
  }

  static std::string quotient(const Row* row) {
    if (row == nullptr || !row->value) return "NULL";
    return *row->value == 0 ? "no quotient" : std::to_string(100 / *row->value);
  }

  /// 100 / value is an output of the source and of the last join.
  static std::string line(const Combined& row) {
    std::string text = quotient(row[0]);
    text += "|" + text_of(row[0] == nullptr ? Int{} : row[0]->value);
    for (size_t i = 1; i < row.size(); ++i) text += "|" + (row[i] == nullptr ? "-" : text_of(row[i]->value));
    return text + "|" + quotient(row[kJoins]);
  }

  Rows expected() const {
    std::vector<Combined> rows;
    for (const Row& row : sides[0].rows) rows.push_back({&row});
    for (size_t step = 0; step < kJoins; ++step) {
      const std::vector<Row>& inner = sides[step + 1].rows;
      std::vector<Combined> joined;
      std::vector<bool> matched(inner.size(), false);
      for (Combined row : rows) {
        bool found = false;
        for (size_t i = 0; i < inner.size(); ++i) {
          if (!matches(row, step, inner[i])) continue;
          found = matched[i] = true;
          row[step + 1] = &inner[i];
          if (!plan::ends_probing(steps[step].kind)) joined.push_back(row);
        }
        row[step + 1] = nullptr;
        if (!found && plan::may_miss(steps[step].kind)) joined.push_back(row);
      }
      for (size_t i = 0; i < inner.size(); ++i) {
        const JoinKind kind = steps[step].kind;
        if (matched[i] ? kind != JoinKind::kRightSemi : !plan::keeps_unmatched(kind)) continue;
        Combined row{};
        row[step + 1] = &inner[i];
        joined.push_back(row);
      }
      rows = std::move(joined);
    }
    Rows lines;
    for (const Combined& row : rows) lines.push_back(line(row));
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  plan::Program program() const {
    plan::Program p;
    plan::Builder b(p);
    p.sources.assign(kJoins + 1, {{kInt4, kInt4}});
    p.joins.resize(kJoins);
    p.pipelines.resize(kJoins + 1);
    plan::Pipeline& last = p.pipelines.back();
    const auto value = [&](size_t side) {
      return side == 0 ? b.column(1, kInt4) : b.payload(static_cast<uint32_t>(side - 1), 0, kInt4);
    };
    const auto quotient = [&](size_t side) {
      return b.call("int4div", {b.constant(kInt4, false, int_bytes(100)), value(side)}).value();
    };
    for (uint32_t i = 0; i < kJoins; ++i) {
      plan::Join& join = p.joins[i];
      join.build_pipeline = i;
      join.outer_keys = {steps[i].key_of == 0 ? b.column(0, kInt4) : value(steps[i].key_of)};
      join.inner_keys = {b.column(0, kInt4)};
      join.payload = {b.column(1, kInt4), b.constant({TypeId::kBool, 0}, false, std::string(1, '\1'))};
      join.kind = steps[i].kind;
      if (steps[i].with_qual)
        join.quals = {b.call("int4ne", {value(i + 1), b.constant(kInt4, false, int_bytes(3 * spread))}).value()};
      p.pipelines[i].source = i + 1;
      p.pipelines[i].sink = plan::SinkKind::kBuild;
      last.joins.push_back(i);
    }
    last.outputs = {quotient(0), b.column(0, kInt4)};
    for (uint32_t i = 0; i <= kJoins; ++i) last.outputs.push_back(value(i));
    for (uint32_t i = 0; i < kJoins; ++i) last.outputs.push_back(b.is_null(b.payload(i, 1, {TypeId::kBool, 0})));
    last.outputs.push_back(quotient(kJoins));
    return p;
  }
};

/// Runs a chain and decides its fallback rows.
class ChainRun {
 public:
  ChainRun(const Chain& chain, const Target& target, exec::Options options) : chain_(chain), program_(chain.program()) {
    target.use_by(&options);
    const Status valid = plan::verify(program_);
    EXPECT_TRUE(valid.is_ok()) << valid.message();
    std::vector<const op::ChunkSource*> sources;
    sources.reserve(chain.sides.size());
    for (const Side& side : chain.sides) sources.push_back(&side.table);
    execution_ = exec::Execution::create(program_, sources, {}, options).value();
  }

  Rows run() {
    execution_->on_pass_end([this](const std::vector<op::FallbackRow>& rows) { decide(rows); });
    for (;;) {
      auto batch = execution_->next([] {});
      EXPECT_TRUE(batch.is_ok()) << batch.status().message();
      decide(execution_->take_fallback_rows());
      if (!batch.is_ok() || batch.value() == nullptr) break;
      Rows rows;
      append_rows(*batch.value(), &rows);
      for (const std::string& row : rows) lines_.push_back(from_engine(row));
    }
    std::sort(lines_.begin(), lines_.end());
    return lines_;
  }

  int64_t decided() const { return decided_; }

 private:
  /// quotient, key of the source, the values, whether each join has no row, quotient: as Chain::line() has it.
  static std::string from_engine(const std::string& row) {
    std::vector<std::string> fields;
    for (size_t at = 0; at != std::string::npos;) {
      const size_t end = row.find('|', at);
      fields.push_back(row.substr(at, end == std::string::npos ? end : end - at));
      at = end == std::string::npos ? end : end + 1;
    }
    std::string text = fields[0];
    for (size_t i = 0; i <= kJoins; ++i) text += "|" + (i > 0 && fields[kJoins + 2 + i] == "t" ? "-" : fields[2 + i]);
    return text + "|" + fields.back();
  }

  void decide(const std::vector<op::FallbackRow>& rows) {
    for (const op::FallbackRow& row : rows) {
      ++decided_;
      Combined combined{};
      if (row.build_join >= 0) {
        const auto step = static_cast<size_t>(row.build_join);
        combined[step + 1] = inner(step, row.inner_rows[step]);
        join(step + 1, row, combined);
      } else {
        combined[0] = &chain_.sides[0].rows[static_cast<size_t>(row.chunk * kChunkRows + row.row)];
        join(0, row, combined);
      }
    }
  }

  const Row* inner(size_t step, int64_t build_row) {
    const Constant value = execution_->payload(static_cast<uint32_t>(step), 0, build_row);
    Int number;
    if (!value.is_null) std::memcpy(&number.emplace(), value.bytes.data(), sizeof(int32_t));
    held_.push_back(std::make_unique<Row>(Row{{}, number}));
    return held_.back().get();
  }

  void join(size_t step, const op::FallbackRow& row, Combined combined) {
    if (step == kJoins) {
      lines_.push_back(Chain::line(combined));
      return;
    }
    const auto index = static_cast<uint32_t>(step);
    std::vector<int64_t> candidates;
    const bool known = step < row.inner_rows.size() && row.inner_rows[step] >= 0;
    if (known) {
      candidates.push_back(row.inner_rows[step]);
    } else {
      const Int key = chain_.key(combined, step);
      const Constant constant{kInt4, !key, -1, key ? int_bytes(*key) : ""};
      if (!execution_->is_in_pass(index, {constant})) return;
      if (key) {
        EXPECT_TRUE(execution_->lookup(index, {constant}, &candidates).is_ok());
      }
    }
    bool found = false;
    for (const int64_t candidate : candidates) {
      combined[step + 1] = inner(step, candidate);
      const Int value = combined[step + 1]->value;
      if (!known && chain_.steps[step].with_qual && !(value && *value != 3 * chain_.spread)) continue;
      found = true;
      if (plan::marks_matches(chain_.steps[step].kind)) execution_->mark_matched(index, candidate);
      if (!plan::ends_probing(chain_.steps[step].kind)) join(step + 1, row, combined);
    }
    combined[step + 1] = nullptr;
    if (!found && plan::may_miss(chain_.steps[step].kind)) join(step + 1, row, combined);
  }

  const Chain& chain_;
  const plan::Program program_;
  std::unique_ptr<exec::Execution> execution_;
  std::vector<std::unique_ptr<Row>> held_;
  Rows lines_;
  int64_t decided_ = 0;
};

TEST(JoinChains, AgreeWithNestedLoops) {
  int64_t decided = 0;
  for (const Target& target : targets()) {
    const uint64_t chains = target.slow ? 12 : 120;
    for (uint64_t seed = 0; seed < chains; ++seed) {
      std::mt19937_64 random(seed);
      Chain chain(random, target.slow);
      for (Side& side : chain.sides) side.table.name_columns();
      exec::Options options;
      options.threads = target.slow ? 1 : 2;
      options.morsel_rows = 300;
      if (seed % 2 == 1) options.join_memory_budget = 700;
      const Rows expected = chain.expected();
      for (int i = 0; i < (target.keeps() ? 2 : 1); ++i) {  // with join tables that it has kept
        ChainRun run(chain, target, options);
        EXPECT_EQ(run.run(), expected) << target.name << " seed " << seed;
        decided += run.decided();
      }
    }
  }
  EXPECT_GT(decided, 1000);
}

}  // namespace
}  // namespace strom::engine::test
