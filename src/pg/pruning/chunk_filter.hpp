// Conditions of a query that statistics of chunks (record batches of files) can decide: which chunks hold no row for
// them. Used by the foreign scan, by its planning (for costs, with constants alone) and by the engine's nodes. See
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
  /// The column by its number in ChunkStatistics, or -1 for anything else.
  using FindColumn = std::function<int(const Var* var)>;
  /// Makes an expression ready for evaluation, or says that this cannot be done (nullptr).
  using Compile = std::function<ExprState*(Node* expr)>;

  /// Takes those of `clauses`, which hold together, that say something about a batch. An empty `compile`: only
  /// comparisons with constants. What is kept is allocated in the current memory context, which outlives this object.
  /// May throw.
  ChunkFilter(const List* clauses, const FindColumn& find_column, const Compile& compile);
  ~ChunkFilter();
  ChunkFilter(const ChunkFilter&) = delete;
  ChunkFilter& operator=(const ChunkFilter&) = delete;

  /// Clauses that can rule out batches of `source`, whose files have statistics for them; in their order. May throw.
  std::vector<const Node*> useful_clauses(const ChunkStatistics& source) const;

  /// Computes what columns are compared with. Before the first may_match(), and again when parameters have changed.
  /// May throw.
  void evaluate(ExprContext* context);

  /// False when no row of chunk `chunk` can pass the clauses. May throw.
  bool may_match(const ChunkStatistics& source, int64_t chunk);

 private:
  struct Condition;
  class Compiler;
  struct ColumnState;

  void load_columns(const ChunkStatistics& source, int64_t chunk);
  bool has_statistics(const Condition& condition, const ChunkStatistics& source) const;

  std::vector<Condition> conditions_;  // of clauses_, one each
  std::vector<const Node*> clauses_;
  std::vector<int> columns_;  // that conditions are about
  std::vector<ColumnState> states_;
  MemoryContext values_ = nullptr, chunk_ = nullptr;
};

}  // namespace strom::pg::pruning
