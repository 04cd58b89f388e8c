// See query_cursor.hpp.
#include "pg/sqlfn/query_cursor.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/planner/planner.hpp"

namespace strom::pg::sqlfn {

using boundary::entry;
using boundary::guard;

namespace {

/// Receives rows from the executor.
struct Receiver {
  DestReceiver base;
  RowSink* output;
  bool flushes;  // flushes full batches; false: it stops at a full batch
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
  // A scrollable cursor would keep planner and executor from cheaper ways to sort and materialize.
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
    // Like fetching by SPI: functions of the query that write use a snapshot of their own.
    PortalRunFetch(portal, FETCH_FORWARD, FETCH_ALL, dest);
    // If a receiver stops, the portal assumes that it wants no more rows. This corrects it.
    if (!flushes && output->is_full()) portal->atEnd = false;
  });
}

}  // namespace strom::pg::sqlfn
