// The kinds of table. A new kind needs a folder, and a row here.
#include "pg/table/arrow/arrow_kind.hpp"
#include "pg/table/heap/heap_kind.hpp"
#include "pg/table/store/store_kind.hpp"
#include "pg/table/table_kind.hpp"

namespace strom::pg::table {

namespace {

constexpr int kMostKinds = 32;

struct Kinds {
  const TableKind* rows[kMostKinds] = {
      &heap_kind(),
      &arrow_kind(),
      &store_kind(),
  };
  int count = 0;

  Kinds() {
    while (rows[count] != nullptr) ++count;
  }
};

Kinds& kinds() {
  static Kinds all;
  return all;
}

}  // namespace

KindNumber find_kind(const RelOptInfo* rel, const RangeTblEntry* rte) {
  if (rte->rtekind != RTE_RELATION) return kNoKind;
  const Kinds& all = kinds();
  for (KindNumber number = 0; number < all.count; ++number)
    if (all.rows[number]->is_kind_of(rel, rte)) return number;
  return kNoKind;
}

const TableKind& kind(KindNumber number) { return *kinds().rows[number]; }

// May ereport.
void add_kind(const TableKind* added) {
  Kinds& all = kinds();
  if (all.count == kMostKinds) ereport(ERROR, (errmsg("too many kinds of table")));
  all.rows[all.count++] = added;
}

void offer_add_kind() { *find_rendezvous_variable(kAddKindVariable) = reinterpret_cast<void*>(&add_kind); }

}  // namespace strom::pg::table
