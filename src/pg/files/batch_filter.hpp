// Conditions of a query that statistics of record batches can decide: which batches hold no row for them. Used by the
// foreign scan, by its planning (for costs, with constants alone) and by the engine's nodes. See docs/dev/arrow.md.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/files/source.hpp"

namespace strom::pg::files {

class BatchFilter {
 public:
  /// The column, as an index into Source::columns(), or -1 for anything else.
  using FindColumn = std::function<int(const Var* var)>;
  /// Makes an expression ready for evaluation, or says that this cannot be done (nullptr).
  using Compile = std::function<ExprState*(Node* expr)>;

  /// Takes those of `clauses`, which hold together, that say something about a batch. An empty `compile`: only
  /// comparisons with constants. What is kept is allocated in the current memory context, which outlives this object.
  /// May throw.
  BatchFilter(const List* clauses, const FindColumn& find_column, const Compile& compile);
  ~BatchFilter();
  BatchFilter(const BatchFilter&) = delete;
  BatchFilter& operator=(const BatchFilter&) = delete;

  /// Clauses that can rule out batches of `source`, whose files have statistics for them; in their order. May throw.
  std::vector<const Node*> useful_clauses(const Source& source) const;

  /// Computes what columns are compared with. Before the first may_match(), and again when parameters have changed.
  /// May throw.
  void evaluate(ExprContext* context);

  /// False when no row of chunk `chunk` can pass the clauses. May throw.
  bool may_match(const Source& source, int64_t chunk);

 private:
  struct Condition;
  class Compiler;
  struct ColumnState;

  void load_columns(const Source& source, int64_t chunk);
  bool has_statistics(const Condition& condition, const Source& source) const;

  std::vector<Condition> conditions_;  // of clauses_, one each
  std::vector<const Node*> clauses_;
  std::vector<int> columns_;  // that conditions are about
  std::vector<ColumnState> states_;
  MemoryContext values_ = nullptr, chunk_ = nullptr;
};

}  // namespace strom::pg::files
