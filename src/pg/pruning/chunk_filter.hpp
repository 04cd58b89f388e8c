// Conditions of a query that statistics of chunks (record batches of files) can decide. Finds chunks in which no row
// can pass. Used by the foreign scan, by its planning (for costs, with constants only) and by the engine's nodes. See
// docs/dev/arrow.md.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/pruning/chunk_statistics.hpp"

namespace strom::pg::pruning {

class ChunkFilter {
 public:
  /// The number of a column in ChunkStatistics; -1 for other Vars.
  using FindColumn = std::function<int(const Var* var)>;
  /// Prepares an expression for evaluation; nullptr if that is impossible.
  using Compile = std::function<ExprState*(Node* expr)>;

  /// Uses those of `clauses` (all must hold) that statistics can decide. With an empty `compile`, only comparisons with
  /// constants are used. Allocates in the current memory context, which outlives this object. May throw.
  ChunkFilter(const List* clauses, const FindColumn& find_column, const Compile& compile);
  ~ChunkFilter();
  ChunkFilter(const ChunkFilter&) = delete;
  ChunkFilter& operator=(const ChunkFilter&) = delete;

  /// The clauses for which files of `source` have statistics, in their order. May throw.
  std::vector<const Node*> useful_clauses(const ChunkStatistics& source) const;

  /// Evaluates the values that columns are compared with. Called before the first may_match(), and again when
  /// parameters have changed. May throw.
  void evaluate(ExprContext* context);

  /// False when no row of chunk `chunk` can pass the clauses. May throw.
  bool may_match(const ChunkStatistics& source, int64_t chunk);

 private:
  struct Condition;
  class Compiler;
  struct ColumnState;

  void load_columns(const ChunkStatistics& source, int64_t chunk);
  bool has_statistics(const Condition& condition, const ChunkStatistics& source) const;

  std::vector<Condition> conditions_;  // one for each of clauses_
  std::vector<const Node*> clauses_;
  std::vector<int> columns_;  // columns of the conditions
  std::vector<ColumnState> states_;
  MemoryContext values_ = nullptr, chunk_ = nullptr;
};

}  // namespace strom::pg::pruning
