// See cursor_columns.hpp.
#include "pg/sqlfn/cursor_columns.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/boundary/context_owned.hpp"
#include "pg/fdw_arrow/engine_columns.hpp"
#include "pg/guc/guc.hpp"
#include "pg/table/heap/cached_table.hpp"
#include "pg/table/heap/heap_rows.hpp"

namespace strom::pg::sqlfn {

using boundary::guard;
using format::heap::Storage;
using format::heap::WantedColumn;
using table::BlockRange;

namespace {

constexpr int64_t kRowsAtATime = 256;  // few, so that a batch ends when it is full

// ---- A table's pages ----

/// What a plan reads: attributes of a table, in a range of blocks.
struct PageScan {
  Relation relation = nullptr;
  Snapshot snapshot = nullptr;
  std::vector<int> attributes;  // for each column of the rows, from 0
  std::optional<BlockRange> blocks;
};

/// Takes one bound of the blocks: ctid >= '(n,0)' or ctid < '(n,0)', by which pg2arrow divides tables. False for other
/// clauses.
bool add_bound(const Node* clause, BlockRange* blocks) {
  if (!IsA(clause, OpExpr)) return false;
  const auto* call = reinterpret_cast<const OpExpr*>(clause);
  if (list_length(call->args) != 2 || !IsA(linitial(call->args), Var) || !IsA(lsecond(call->args), Const)) return false;
  const auto* bound = reinterpret_cast<const Const*>(lsecond(call->args));
  if (reinterpret_cast<const Var*>(linitial(call->args))->varattno != SelfItemPointerAttributeNumber ||
      bound->constisnull)
    return false;
  const auto* place = reinterpret_cast<ItemPointer>(DatumGetPointer(bound->constvalue));
  const BlockNumber block = ItemPointerGetBlockNumberNoCheck(place);
  if (ItemPointerGetOffsetNumberNoCheck(place) != 0) return false;
  if (call->opno == TIDGreaterEqOperator)
    blocks->begin = std::max(blocks->begin, block);
  else if (call->opno == TIDLessOperator)
    blocks->end = std::min(blocks->end, block);
  else
    return false;
  return true;
}

bool find_blocks(const Plan* plan, std::optional<BlockRange>* blocks) {
  if (IsA(plan, SeqScan)) return true;
  if (!IsA(plan, TidRangeScan)) return false;
  *blocks = BlockRange{0, MaxBlockNumber};
  const ListCell* cell;
  foreach (cell, reinterpret_cast<const TidRangeScan*>(plan)->tidrangequals)
    if (!add_bound(static_cast<const Node*>(lfirst(cell)), &**blocks)) return false;
  return true;
}

/// The attribute, counted from 0, that an output consists of; -1 when it is something else. Casts that keep the value
/// are ignored.
int attribute_of(const TargetEntry* item, Index relid) {
  const auto* expr = reinterpret_cast<const Node*>(item->expr);
  while (IsA(expr, RelabelType)) expr = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(expr)->arg);
  if (item->resjunk || !IsA(expr, Var)) return -1;
  const auto* var = reinterpret_cast<const Var*>(expr);
  return var->varno == static_cast<int>(relid) && var->varlevelsup == 0 ? var->varattno - 1 : -1;
}

/// False when the plan does more than read attributes of the rows of a heap table.
bool find_scan(const QueryDesc* query, PageScan* scan) {
  PlanState* state = query->planstate;
  const Plan* plan = state->plan;
  if (!find_blocks(plan, &scan->blocks) || plan->qual != NIL || plan->initPlan != NIL || plan->parallel_aware)
    return false;
  const auto* node = reinterpret_cast<const ScanState*>(state);
  scan->relation = node->ss_currentRelation;
  scan->snapshot = query->estate->es_snapshot;
  if (scan->relation == nullptr || scan->relation->rd_rel->relam != HEAP_TABLE_AM_OID ||
      !IsMVCCSnapshot(scan->snapshot) || query->estate->es_instrument != 0)
    return false;
  const ListCell* cell;
  foreach (cell, plan->targetlist) {
    const int attribute =
        attribute_of(static_cast<const TargetEntry*>(lfirst(cell)), reinterpret_cast<const Scan*>(plan)->scanrelid);
    if (attribute < 0) return false;
    scan->attributes.push_back(attribute);
  }
  return !scan->attributes.empty();
}

Storage storage_of(const FormData_pg_attribute& attribute) {
  if (attribute.attlen < 0) return Storage::kText;
  if (!attribute.attbyval) return Storage::kView;
  switch (attribute.attlen) {
    case 1: return Storage::kInt1;
    case 2: return Storage::kInt2;
    case 4: return Storage::kWord4;
    default: return Storage::kWord8;
  }
}

class TableRows final : public ColumnRows {
 public:
  /// `memory` outlives this object.
  TableRows(const PageScan& scan, MemoryContext memory);

  bool next() override;
  int64_t rows() const override { return view_.rows; }
  const std::vector<codec::RegisterColumn>& columns() override { return columns_; }
  int64_t run_from(int64_t row) const override;
  Values row(int64_t row) override;
  std::string origin() const override;
  void close() { rows_->close(); }

 private:
  const PageScan scan_;
  WantedColumn wanted(int attribute, MemoryContext memory);

  TupleDesc descriptor_;
  std::vector<int> attributes_;
  std::vector<size_t> places_;  // for each column, its position in the view
  std::deque<std::string> missing_;
  std::deque<registry::StrView> missing_views_;
  std::unique_ptr<table::HeapRows> rows_;
  engine::op::ChunkFeeder* feeder_ = nullptr;
  int64_t chunk_ = -1;  // the current chunk
  bool is_held_ = false;
  columnar::BatchView view_;
  std::vector<codec::RegisterColumn> columns_;
  std::vector<uint8_t> by_row_;  // flags of rows whose values PostgreSQL has to read; empty: no row
  std::vector<Datum> all_values_, values_;
  std::unique_ptr<bool[]> all_nulls_, nulls_;
};

TableRows::TableRows(const PageScan& scan, MemoryContext memory)
    : scan_(scan), descriptor_(RelationGetDescr(scan.relation)), attributes_(scan.attributes) {
  std::vector<int> distinct = attributes_;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<WantedColumn> columns;
  columns.reserve(distinct.size());
  for (const int attribute : distinct) columns.push_back(wanted(attribute, memory));
  for (const int attribute : attributes_) {
    places_.push_back(
        static_cast<size_t>(std::lower_bound(distinct.begin(), distinct.end(), attribute) - distinct.begin()));
    codec::RegisterColumn& column = columns_.emplace_back();
    column.stored_length = TupleDescAttr(descriptor_, attribute)->attlen;
    column.stored_by_value = TupleDescAttr(descriptor_, attribute)->attbyval;
  }
  rows_ = std::make_unique<table::HeapRows>(scan.relation, scan.snapshot, std::move(columns));
  if (scan.blocks) {
    const bool any = scan.blocks->begin < scan.blocks->end;
    rows_->read_only(any ? std::vector<BlockRange>{*scan.blocks} : std::vector<BlockRange>());
  }
  feeder_ = rows_->feeder();
  feeder_->limit(1);
  const auto natts = static_cast<size_t>(descriptor_->natts);
  all_values_.resize(natts);
  all_nulls_ = std::make_unique<bool[]>(natts);
  values_.resize(attributes_.size());
  nulls_ = std::make_unique<bool[]>(attributes_.size());
}

/// The column, with its value for rows that are older than the column.
WantedColumn TableRows::wanted(int attribute, MemoryContext memory) {
  const FormData_pg_attribute& form = *TupleDescAttr(descriptor_, attribute);
  WantedColumn column{attribute, storage_of(form)};
  if (!form.atthasmissing) return column;
  struct Missing {
    Datum value;
    bool is_null;
  };
  const TupleDesc descriptor = descriptor_;
  const Missing missing = guard([=] {
    MemoryContext caller = MemoryContextSwitchTo(memory);
    Missing found;
    found.value = getmissingattr(descriptor, attribute + 1, &found.is_null);
    if (!found.is_null && TupleDescAttr(descriptor, attribute)->attlen == -1)
      found.value = PointerGetDatum(PG_DETOAST_DATUM_COPY(found.value));
    MemoryContextSwitchTo(caller);
    return found;
  });
  if (missing.is_null) return column;
  column.missing_flag = 0;
  if (form.attbyval) {
    const auto word = static_cast<int64_t>(form.attlen == 1   ? DatumGetChar(missing.value)
                                           : form.attlen == 2 ? DatumGetInt16(missing.value)
                                                              : DatumGetInt64(missing.value));
    column.missing = missing_.emplace_back(reinterpret_cast<const char*>(&word), sizeof(word)).data();
  } else {
    const char* value = DatumGetPointer(missing.value);
    column.missing = &missing_views_.emplace_back(
        form.attlen == -1 ? registry::StrView{VARDATA(value), static_cast<int64_t>(VARSIZE(value)) - VARHDRSZ}
                          : registry::StrView{value, 0});
  }
  return column;
}

bool TableRows::next() {
  if (is_held_) feeder_->release(chunk_, false);
  view_ = {};
  is_held_ = feeder_->feed();
  if (!is_held_) return false;
  view_ = boundary::value_or_throw(rows_->chunk(++chunk_));
  by_row_.clear();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const columnar::ColumnView& from = view_.columns[places_[i]];
    columns_[i].values = from.values;
    columns_[i].flags = from.flags;
    if (from.flags == nullptr) continue;
    by_row_.resize(static_cast<size_t>(view_.rows));
    for (size_t row = 0; row < by_row_.size(); ++row)
      by_row_[row] |= from.flags[row] & (format::heap::kValueOfHost | format::heap::kPackedValue);
  }
  if (std::all_of(by_row_.begin(), by_row_.end(), [](uint8_t flag) { return flag == 0; })) by_row_.clear();
  return true;
}

int64_t TableRows::run_from(int64_t row) const {
  if (by_row_.empty()) return rows() - row;
  const auto begin = by_row_.begin() + row;
  return std::find_if(begin, by_row_.end(), [](uint8_t flag) { return flag != 0; }) - begin;
}

ColumnRows::Values TableRows::row(int64_t row) {
  HeapTupleData tuple = rows_->tuple(chunk_, row);
  const TupleDesc descriptor = descriptor_;
  Datum* values = all_values_.data();
  bool* nulls = all_nulls_.get();
  guard([&tuple, descriptor, values, nulls] { heap_deform_tuple(&tuple, descriptor, values, nulls); });
  for (size_t i = 0; i < attributes_.size(); ++i) {
    values_[i] = values[attributes_[i]];
    nulls_[i] = nulls[attributes_[i]];
  }
  return {values_.data(), nulls_.get()};
}

std::string TableRows::origin() const {
  if (scan_.blocks) return {};
  std::vector<table::ColumnId> ids;
  ids.reserve(attributes_.size());
  for (const int attribute : attributes_)
    ids.push_back(table::column_id({attribute, storage_of(*TupleDescAttr(descriptor_, attribute))}, 0));
  const Relation relation = scan_.relation;
  const BlockNumber pages = guard([=] { return RelationGetNumberOfBlocks(relation); });
  return table::CachedTable::origin(relation, scan_.snapshot, pages, ids).name;
}

/// Called at the regular end of the query, while its resource owner still exists.
void release_pages(Datum rows) {
  boundary::entry([rows] { reinterpret_cast<TableRows*>(DatumGetPointer(rows))->close(); });
}

std::unique_ptr<ColumnRows> table_rows(const QueryDesc* query) {
  PageScan scan;
  if (!find_scan(query, &scan)) return nullptr;
  EState* estate = query->estate;
  auto rows = std::make_unique<TableRows>(scan, estate->es_query_cxt);
  TableRows* to_close = rows.get();
  guard([=] { RegisterExprContextCallback(CreateExprContext(estate), release_pages, PointerGetDatum(to_close)); });
  return rows;
}

// ---- An engine node ----

class EngineRows final : public ColumnRows {
 public:
  explicit EngineRows(fdw_arrow::EngineColumns columns) : columns_(std::move(columns)) {}

  bool next() override {
    fdw_arrow::EngineColumns* columns = &columns_;
    return guard([=] { return columns->next(); });
  }
  int64_t rows() const override { return columns_.rows(); }
  const std::vector<codec::RegisterColumn>& columns() override { return columns_.columns(); }
  void check() const override { columns_.check(); }
  std::string origin() const override { return columns_.origin(); }

 private:
  fdw_arrow::EngineColumns columns_;
};

// ---- The cursor ----

/// Makes a portal the running one, as PortalRunFetch() does.
class Running {
 public:
  explicit Running(Portal portal)
      : portal_(portal), owner_(CurrentResourceOwner), active_(ActivePortal), context_(PortalContext) {
    guard([portal] {
      MarkPortalActive(portal);
      PushActiveSnapshot(portal->queryDesc->snapshot);
    });
    ActivePortal = portal;
    CurrentResourceOwner = portal->resowner;
    PortalContext = portal->portalContext;
    memory_ = MemoryContextSwitchTo(portal->queryDesc->estate->es_query_cxt);
  }
  /// Called after the last step that may fail.
  void succeed() {
    restore();
    guard([] { PopActiveSnapshot(); });
    portal_->status = PORTAL_READY;
  }
  /// The snapshot is dropped when the transaction aborts.
  void fail() {
    restore();
    Portal portal = portal_;
    guard([portal] { MarkPortalFailed(portal); });
  }

 private:
  void restore() const {
    MemoryContextSwitchTo(memory_);
    ActivePortal = active_;
    CurrentResourceOwner = owner_;
    PortalContext = context_;
  }

  Portal portal_;
  ResourceOwner owner_;
  Portal active_;
  MemoryContext context_, memory_;
};

template <class F>
auto run_in(Portal portal, F&& f) {
  Running running(portal);
  try {
    auto result = f();
    running.succeed();
    return result;
  } catch (...) {
    running.fail();
    throw;
  }
}

}  // namespace

CursorColumns* CursorColumns::of(Portal portal) {
  const QueryDesc* query = portal->queryDesc;
  if (!guc::pg_strom::enabled || portal->strategy != PORTAL_ONE_SELECT || query == nullptr ||
      query->planstate == nullptr || query->estate->es_junkFilter != nullptr)
    return nullptr;
  return run_in(portal, [&]() -> CursorColumns* {
    std::unique_ptr<ColumnRows> rows = table_rows(query);
    if (rows == nullptr) {
      if (auto columns = fdw_arrow::EngineColumns::of(query->planstate, query->tupDesc->natts))
        rows = std::make_unique<EngineRows>(std::move(*columns));
    }
    if (rows == nullptr) return nullptr;
    return boundary::ContextOwned<CursorColumns>::make(query->estate->es_query_cxt, std::move(rows)).get();
  });
}

std::string CursorColumns::origin(Portal portal) const {
  return run_in(portal, [this] { return rows_->origin(); });
}

bool CursorColumns::fetch(Portal portal, RowSink* output, bool flushes) {
  return run_in(portal, [&] {
    for (;;) {
      boundary::check_for_interrupts();
      if (at_ >= rows_->rows()) {
        at_ = 0;
        if (!rows_->next()) return false;
        continue;
      }
      add_some(output);
      if (!output->is_full()) continue;
      if (!flushes) return true;
      output->flush();
    }
  });
}

void CursorColumns::add_some(RowSink* output) {
  const int64_t run = std::min({rows_->run_from(at_), kRowsAtATime, output->room()});
  if (run == 0) {
    const ColumnRows::Values row = rows_->row(at_++);
    guard([=] { output->add(row.values, row.nulls); });
    return;
  }
  const codec::RegisterColumn* columns = rows_->columns().data();
  const int64_t first = at_;
  try {
    guard([=] { output->add(columns, first, run); });
  } catch (const boundary::PostgresError&) {
    rows_->check();  // the value may come from a file that has changed
    throw;
  }
  at_ += run;
}

}  // namespace strom::pg::sqlfn
