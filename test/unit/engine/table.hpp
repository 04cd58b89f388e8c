// Small tables and programs for engine tests: columns of random values in several chunks, and running a program on a
// target with the rows read back as text.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "columnar/builder.hpp"
#include "engine/exec/execution.hpp"
#include "engine/plan/builder.hpp"
#include "targets.hpp"

namespace strom::engine::test {

using Rows = std::vector<std::string>;  // one line per row, fields joined by '|', "NULL" for nulls

/// Chunks of columns that own their memory.
class Table : public op::ChunkSource {
 public:
  explicit Table(std::vector<columnar::Field> fields) : fields_(std::move(fields)) { new_chunk(); }

  void new_chunk();
  columnar::ColumnBuilder& column(size_t i) { return chunks_.back()[i]; }
  int64_t chunk_count() const override { return static_cast<int64_t>(chunks_.size()); }
  int64_t total_rows() const override;
  Result<columnar::BatchView> chunk(int64_t index) const override;

  /// Of chunk `index` only rows are there whose bit is 1.
  void select(int64_t index, std::vector<uint8_t> bits) { selections_[index] = std::move(bits); }

  /// From now on the columns of a chunk have names, so that devices keep them: those of the same table.
  void name_columns(std::string table) { name_ = std::move(table); }
  /// Names that no other table has.
  void name_columns();
  columnar::RowsOrigin origin(const std::vector<uint32_t>& columns) const override;
  /// Whether what the names say is still so.
  void set_holds(bool holds) { holds_ = holds; }

  /// From now on the text of a chunk is overwritten when its BatchView is let go.
  void make_text_unstable() { stable_text_ = false; }
  bool stable_text() const override { return stable_text_; }

 private:
  std::vector<columnar::Field> fields_;
  std::vector<std::vector<columnar::ColumnBuilder>> chunks_;
  bool stable_text_ = true;
  std::map<int64_t, std::vector<uint8_t>> selections_;
  std::string name_;
  bool holds_ = true;
  mutable std::mutex mutex_;
  mutable std::deque<std::vector<std::string>> faded_;  // kept, so that a view which is left over reads the overwriting
};

columnar::Field field(columnar::Layout layout, int scale = 0, int byte_width = 0);
/// Layout in which test columns of an SQL type lie.
columnar::Field field_of(plan::ValueType type);
/// Random value of the type, extremes and nulls included, appended to `column`.
void append_random(std::mt19937_64& random, plan::ValueType type, double null_fraction,
                   columnar::ColumnBuilder& column);

struct Outcome {
  Rows rows;                                          // sorted
  std::vector<std::pair<int64_t, int64_t>> fallback;  // (chunk, row), sorted
  exec::Stats stats{};
};

/// Runs the program on the target. Aggregates come as count and value, groups of one grouping
/// set behind its number. Fails the test on an error.
Outcome run(const plan::Program& program, const std::vector<const op::ChunkSource*>& sources, const Target& target,
            exec::Options options = {});

/// The rows of a projection's batch.
void append_rows(const op::ResultBatch& batch, Rows* rows);

std::string int_bytes(int32_t value);
std::string long_bytes(int64_t value);

}  // namespace strom::engine::test
