// See query_cursor.hpp.
#include "pg/sqlfn/query_cursor.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/planner/planner.hpp"

namespace strom::pg::sqlfn {

using boundary::entry;
using boundary::guard;

namespace {

/// Takes rows of the executor.
struct Receiver {
  DestReceiver base;
  RowSink* output;
  bool flushes;  // full batches; otherwise it stops when one is full
};

bool receive(TupleTableSlot* slot, DestReceiver* self) {
  auto* receiver = reinterpret_cast<Receiver*>(self);
  return entry([=] {
    receiver->output->add(slot);
    if (!receiver->output->is_full()) return true;
    if (receiver->flushes) receiver->output->flush();
    return receiver->flushes;
  });
}

Receiver make_receiver(RowSink* output, bool flushes) {
  Receiver receiver = {};
  receiver.base.receiveSlot = receive;
  receiver.base.rStartup = [](DestReceiver*, int, TupleDesc) {};
  receiver.base.rShutdown = [](DestReceiver*) {};
  receiver.base.rDestroy = [](DestReceiver*) {};
  receiver.base.mydest = DestNone;
  receiver.output = output;
  receiver.flushes = flushes;
  return receiver;
}

/// A cursor over `query` that outlives the call. May ereport.
Portal open_portal(const char* query) {
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  // A cursor that can go back would keep planner and executor from what makes sorting and materializing cheap.
  SPIPlanPtr plan = SPI_prepare_cursor(query, 0, nullptr, CURSOR_OPT_NO_SCROLL | planner::kForwardCursor);
  if (plan == nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_SYNTAX_ERROR), errmsg("query is not valid: %s", SPI_result_code_string(SPI_result))));
  if (!SPI_is_cursor_plan(plan))
    ereport(ERROR, (errcode(ERRCODE_INVALID_CURSOR_DEFINITION), errmsg("query must be one that returns rows"),
                    errhint("Give one SELECT, VALUES, TABLE or WITH ... SELECT statement.")));
  Portal portal = SPI_cursor_open(nullptr, plan, nullptr, nullptr, true);
  SPI_freeplan(plan);
  SPI_finish();
  return portal;
}

}  // namespace

Portal open_query(const std::string& query) {
  const char* text = query.c_str();
  return guard([text] { return open_portal(text); });
}

void close_query(Portal portal) {
  guard([portal] { PortalDrop(portal, false); });
}

void fetch(Portal portal, CursorColumns* columns, RowSink* output, bool flushes) {
  if (columns != nullptr) {
    columns->fetch(portal, output, flushes);
    return;
  }
  Receiver receiver = make_receiver(output, flushes);
  DestReceiver* dest = &receiver.base;
  guard([=] {
    // As fetching by SPI does: what the query's functions do belongs to a snapshot of its own.
    PortalRunFetch(portal, FETCH_FORWARD, FETCH_ALL, dest);
    // A portal takes a receiver that stops for one that wants no more.
    if (!flushes && output->is_full()) portal->atEnd = false;
  });
}

}  // namespace strom::pg::sqlfn
