// A kind of table of its own, as a module may bring one: rows of an array in shared memory, some of which are not to be
// seen. Loaded by test/tap/table_kinds.py.
//
// The array is a DSM segment whose handle is the foreign table's option `handle`. Each row has a key, a value and a
// name; a bitmap tells which rows are there. PostgreSQL's own scan, by the foreign-data wrapper below, sees the same.
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "columnar/batch.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/explain.hpp"
#include "pg/source/row_source.hpp"
#include "pg/table/table_kind.hpp"

extern "C" {
#include "access/htup_details.h"
#include "commands/defrem.h"
#include "optimizer/restrictinfo.h"
#include "storage/dsm.h"
PG_MODULE_MAGIC;
}

namespace boundary = strom::pg::boundary;
namespace columnar = strom::columnar;
namespace plan = strom::engine::plan;
namespace source = strom::pg::source;
namespace table = strom::pg::table;
using strom::registry::TypeId;

namespace {

constexpr int64_t kChunkRows = 10000;  // a multiple of 8, and of neither a tile nor a morsel
constexpr int kColumns = 3;

/// Views of the segment's columns, one behind the other.
class Array {
 public:
  Array() = default;
  explicit Array(char* memory) : memory_(memory) {}

  static size_t bytes(int64_t rows) { return Array::at(rows, kColumns + 3); }
  static void set_rows(char* memory, int64_t rows) { std::memcpy(memory, &rows, sizeof rows); }

  int64_t rows() const {
    int64_t rows;
    std::memcpy(&rows, memory_, sizeof rows);
    return rows;
  }
  int32_t* keys() const { return part<int32_t>(0); }
  int64_t* values() const { return part<int64_t>(1); }
  uint8_t* has_value() const { return part<uint8_t>(2); }
  int32_t* name_ends() const { return part<int32_t>(3); }
  char* names() const { return part<char>(4); }
  uint8_t* is_there() const { return part<uint8_t>(5); }

  static bool bit(const uint8_t* bits, int64_t row) { return (bits[row >> 3] >> (row & 7) & 1) != 0; }
  static void set_bit(uint8_t* bits, int64_t row, bool value) {
    const auto one = static_cast<uint8_t>(1 << (row & 7));
    bits[row >> 3] = static_cast<uint8_t>(value ? bits[row >> 3] | one : bits[row >> 3] & ~one);
  }

 private:
  static constexpr int kNameBytes = 8;

  static size_t at(int64_t rows, int number) {
    const size_t sizes[] = {4, 8, 1, 4, kNameBytes, 1};
    size_t offset = 64;
    for (int i = 0; i < number; ++i) offset += (static_cast<size_t>(rows + 1) * sizes[i] + 63) / 64 * 64;
    return offset;
  }
  template <class T>
  T* part(int number) const {
    return reinterpret_cast<T*>(memory_ + at(rows(), number));
  }

  char* memory_ = nullptr;
};

// May ereport.
Array array_of(Oid relid) {
  ListCell* cell;
  foreach (cell, GetForeignTable(relid)->options) {
    auto* option = static_cast<DefElem*>(lfirst(cell));
    if (strcmp(option->defname, "handle") != 0) continue;
    const auto handle = static_cast<dsm_handle>(strtoul(defGetString(option), nullptr, 10));
    dsm_segment* segment = dsm_find_mapping(handle);
    if (segment == nullptr) {
      segment = dsm_attach(handle);
      if (segment == nullptr) ereport(ERROR, (errmsg("the array is gone")));
      dsm_pin_mapping(segment);
    }
    return Array(static_cast<char*>(dsm_segment_address(segment)));
  }
  ereport(ERROR, (errmsg("the array's handle is missing")));
}

// May ereport.
void read_row(const Array& array, int64_t row, int attnum, Datum* value, bool* is_null) {
  *is_null = false;
  if (attnum == 1) *value = Int32GetDatum(array.keys()[row]);
  if (attnum == 2) {
    *is_null = !Array::bit(array.has_value(), row);
    *value = Int64GetDatum(array.values()[row]);
  }
  if (attnum == 3) {
    const int32_t begin = array.name_ends()[row], end = array.name_ends()[row + 1];
    *value = PointerGetDatum(cstring_to_text_with_len(array.names() + begin, end - begin));
  }
}

class ArrayRows final : public source::RowSource {
 public:
  ArrayRows(Array array, std::vector<AttrNumber> attributes)
      : array_(array),
        attributes_(std::move(attributes)),
        selected_(columnar::count_bits(array.is_there(), 0, array.rows())) {}

  int64_t chunk_count() const override { return (array_.rows() + kChunkRows - 1) / kChunkRows; }
  int64_t total_rows() const override { return selected_; }
  int64_t chunk_rows(int64_t index) const override { return std::min(kChunkRows, array_.rows() - index * kChunkRows); }

  // Any thread.
  strom::Result<columnar::BatchView> chunk(int64_t index) const override {
    columnar::BatchView view;
    view.rows = chunk_rows(index);
    for (const AttrNumber attribute : attributes_)
      view.columns.push_back(column(attribute, index * kChunkRows, view.rows));
    view.selection = array_.is_there() + index * kChunkRows / 8;
    return view;
  }

  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override {
    boundary::guard([&] {
      MemoryContext caller = MemoryContextSwitchTo(memory);
      for (size_t i = 0; i < attributes_.size(); ++i)
        read_row(array_, chunk * kChunkRows + row, attributes_[i], &values[i], &nulls[i]);
      MemoryContextSwitchTo(caller);
    });
  }

  int64_t stored_bytes() const override { return static_cast<int64_t>(Array::bytes(array_.rows())); }
  void explain_table(ExplainState* es) const override {
    const int64_t rows = array_.rows(), hidden = rows - selected_;
    boundary::guard([=] {
      ExplainPropertyInteger("Array Rows", nullptr, rows, es);
      ExplainPropertyInteger("Hidden Rows", nullptr, hidden, es);
    });
  }

 private:
  columnar::ColumnView column(AttrNumber attribute, int64_t first, int64_t rows) const {
    columnar::ColumnView view;
    view.length = rows;
    if (attribute == 1) {
      view.layout = columnar::Layout::kInt32;
      view.values = array_.keys() + first;
    } else if (attribute == 2) {
      view.layout = columnar::Layout::kInt64;
      view.values = array_.values() + first;
      view.validity = array_.has_value() + first / 8;
      view.null_count = -1;  // not counted
    } else {
      view.layout = columnar::Layout::kUtf8;
      view.values = array_.name_ends() + first;
      view.data = array_.names();
      view.data_size = array_.name_ends()[array_.rows()];
    }
    return view;
  }

  const Array array_;
  const std::vector<AttrNumber> attributes_;
  const int64_t selected_;
};

void begin_scan(ForeignScanState* node, int flags);

class ArrayKind final : public table::TableKind {
 public:
  const char* name() const override { return "array"; }
  bool is_kind_of(const RelOptInfo* rel, const RangeTblEntry*) const override {
    return rel->fdwroutine != nullptr && rel->fdwroutine->BeginForeignScan == begin_scan;
  }
  void describe(table::PlannedTable* planned, const Bitmapset*, int) const override {
    constexpr TypeId kTypes[] = {TypeId::kInt4, TypeId::kInt8, TypeId::kText};
    for (int attnum = 1; attnum <= kColumns; ++attnum) {
      planned->column(attnum)->type = {kTypes[attnum - 1], 0};
      planned->column(attnum)->readable = true;
    }
    planned->estimate.rows = planned->rel->tuples;
  }
  table::Storage storage(Oid) const override { return {}; }
  bool is_opened_for_explain() const override { return true; }
  std::unique_ptr<source::RowSource> open(const table::TableToRead& read) const override {
    return std::make_unique<ArrayRows>(boundary::guard([&] { return array_of(read.relid); }), read.attributes);
  }
};

// ---- PostgreSQL's own scan; may ereport ----

void rel_size(PlannerInfo* root, RelOptInfo* rel, Oid relid) {
  rel->tuples = static_cast<double>(array_of(relid).rows());
  set_baserel_size_estimates(root, rel);
}

void add_paths(PlannerInfo* root, RelOptInfo* rel, Oid) {
  const Cost total = seq_page_cost * rel->tuples / 100 + cpu_tuple_cost * rel->tuples;
#if PG_VERSION_NUM >= 180000
  add_path(rel, reinterpret_cast<Path*>(create_foreignscan_path(root, rel, nullptr, rel->rows, 0, 0, total, NIL,
                                                                nullptr, nullptr, NIL, NIL)));
#elif PG_VERSION_NUM >= 170000
  add_path(rel, reinterpret_cast<Path*>(
                    create_foreignscan_path(root, rel, nullptr, rel->rows, 0, total, NIL, nullptr, nullptr, NIL, NIL)));
#else
  add_path(rel, reinterpret_cast<Path*>(
                    create_foreignscan_path(root, rel, nullptr, rel->rows, 0, total, NIL, nullptr, nullptr, NIL)));
#endif
}

ForeignScan* make_scan(PlannerInfo*, RelOptInfo* rel, Oid, ForeignPath*, List* tlist, List* clauses, Plan* outer) {
  return make_foreignscan(tlist, extract_actual_clauses(clauses, false), rel->relid, NIL, NIL, NIL, NIL, outer);
}

void begin_scan(ForeignScanState* node, int) { node->fdw_state = palloc0(sizeof(int64_t)); }
void rescan(ForeignScanState* node) { *static_cast<int64_t*>(node->fdw_state) = 0; }
void end_scan(ForeignScanState*) {}

TupleTableSlot* next_row(ForeignScanState* node) {
  auto* next = static_cast<int64_t*>(node->fdw_state);
  TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
  const Array array = array_of(RelationGetRelid(node->ss.ss_currentRelation));
  ExecClearTuple(slot);
  while (*next < array.rows() && !Array::bit(array.is_there(), *next)) ++*next;
  if (*next == array.rows()) return slot;
  for (int attnum = 1; attnum <= kColumns; ++attnum)
    read_row(array, *next, attnum, &slot->tts_values[attnum - 1], &slot->tts_isnull[attnum - 1]);
  ++*next;
  return ExecStoreVirtualTuple(slot);
}

}  // namespace

extern "C" PGDLLEXPORT void _PG_init() {  // NOLINT(readability-identifier-naming): PostgreSQL's name
  static const ArrayKind kind;
  using AddKind = void (*)(const table::TableKind*);
  auto* const add = reinterpret_cast<AddKind>(*find_rendezvous_variable(table::kAddKindVariable));
  if (add == nullptr) ereport(ERROR, (errmsg("pg_strom is not loaded")));
  add(&kind);
}

STROM_SQL_FUNCTION(strom_test_array_handler) {
  auto* routine = makeNode(FdwRoutine);
  routine->GetForeignRelSize = rel_size;
  routine->GetForeignPaths = add_paths;
  routine->GetForeignPlan = make_scan;
  routine->BeginForeignScan = begin_scan;
  routine->IterateForeignScan = next_row;
  routine->ReScanForeignScan = rescan;
  routine->EndForeignScan = end_scan;
  PG_RETURN_POINTER(routine);
}

/// array_create(rows) RETURNS bigint: the handle of an array that stays as long as the server. The key of row i is i %
/// 1000, its value i (NULL in each tenth row), its name n and i % 7.
STROM_SQL_FUNCTION(strom_test_array_create) {
  const int64_t rows = PG_GETARG_INT64(0);
  dsm_segment* segment = boundary::guard([=] {
    dsm_segment* made = dsm_create(Array::bytes(rows), 0);
    dsm_pin_segment(made);
    dsm_pin_mapping(made);
    return made;
  });
  auto* memory = static_cast<char*>(dsm_segment_address(segment));
  std::memset(memory, 0, Array::bytes(rows));
  Array::set_rows(memory, rows);
  const Array array(memory);
  for (int64_t i = 0; i < rows; ++i) {
    array.keys()[i] = static_cast<int32_t>(i % 1000);
    array.values()[i] = i;
    Array::set_bit(array.has_value(), i, i % 10 != 9);
    const std::string name = "n" + std::to_string(i % 7);
    const int32_t begin = array.name_ends()[i];
    std::memcpy(array.names() + begin, name.data(), name.size());
    array.name_ends()[i + 1] = begin + static_cast<int32_t>(name.size());
    Array::set_bit(array.is_there(), i, true);
  }
  PG_RETURN_INT64(dsm_segment_handle(segment));
}

/// array_hide(table regclass, step bigint, rest bigint): rows whose number has that rest are not there any more.
STROM_SQL_FUNCTION(strom_test_array_hide) {
  const Oid relid = PG_GETARG_OID(0);
  const int64_t step = PG_GETARG_INT64(1), rest = PG_GETARG_INT64(2);
  const Array array = boundary::guard([=] { return array_of(relid); });
  for (int64_t i = rest; i < array.rows(); i += step) Array::set_bit(array.is_there(), i, false);
  PG_RETURN_VOID();
}
