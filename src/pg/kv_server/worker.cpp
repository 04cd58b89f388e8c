// The process that answers messages about the store tables of one database. places.cpp starts it. It exits after some
// seconds without clients, so that it does not block dropping the database.
#include <cerrno>
#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/kv_server/groups.hpp"
#include "pg/kv_server/places.hpp"
#include "pg/kv_server/rdma.hpp"
#include "pg/kv_server/tcp.hpp"
#include "pg/store/attach_server.hpp"
#include "pg/store/server_headers.hpp"

extern "C" PGDLLEXPORT void strom_message_server_main(Datum database);

namespace strom::pg::kv_server {

namespace {

Clients& clients() {
  static auto* all = new Clients();
  return *all;
}

int own_place = -1;
rdma::Server* rdma_server = nullptr;  // nullptr: no RDMA

void leave(int, Datum) {
  clients().end();
  leave_place(own_place);
}

/// Takes a place and listens. False: another process serves the database, or listening failed. May throw.
bool begin() {
  own_place = boundary::guard([] { return take_place(); });
  if (own_place < 0) return false;
  boundary::guard([] { before_shmem_exit(leave, Datum{0}); });
  const std::string path = store::socket_path("." + std::to_string(own_place));
  const char* socket = path.c_str();
  if (clients().listen(path)) {
    const std::vector<std::string> addresses = split_addresses(guc::pg_strom::kv_listen_addresses);
    const int port =
        listen_by_tcp(&clients(), addresses, guc::pg_strom::kv_port == 0 ? 0 : guc::pg_strom::kv_port + own_place);
    if (port != 0 && guc::pg_strom::kv_rdma) rdma_server = open_rdma_server(addresses, port);
    if (rdma_server != nullptr) clients().wake_for(rdma_server->descriptor());
    boundary::guard([socket, port] { announce(own_place, socket, port); });
    return true;
  }
  const int error = errno;
  boundary::guard([=] {
    errno = error;
    ereport(LOG, (errcode_for_socket_access(), errmsg("could not listen for messages on socket \"%s\": %m", socket)));
  });
  return false;
}

/// One round; false: there was nothing to do. May throw.
bool serve(bool is_busy) {
  static auto* groups = new Groups(&clients(), rdma_server);
  // During work, more messages are expected within a moment.
  const bool has_received = clients().receive(is_busy && !groups->has_left() ? 1 : 0);
  if (rdma_server != nullptr) rdma_server->serve();
  const bool has_answered = groups->answer_some();
  clients().send();
  return has_received || has_answered;
}

/// May ereport.
void wait() {
  constexpr int kPatienceMs = 1000;
  WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | WL_SOCKET_READABLE,
                    clients().descriptor(), kPatienceMs, PG_WAIT_EXTENSION);
  ResetLatch(MyLatch);
}

/// May ereport.
void run() {
  bool is_busy = false;
  TimestampTz last_client = GetCurrentTimestamp();
  while (!ShutdownRequestPending) {
    CHECK_FOR_INTERRUPTS();
    is_busy = boundary::entry([is_busy] { return serve(is_busy); });
    if (ConfigReloadPending) {
      ConfigReloadPending = false;
      ProcessConfigFile(PGC_SIGHUP);
    }
    if (is_busy) continue;
    constexpr int kIdleMs = 2000;
    const TimestampTz now = GetCurrentTimestamp();
    if (!clients().all().empty()) last_client = now;
    if (TimestampDifferenceExceeds(last_client, now, kIdleMs) && hide_unless_wanted(own_place)) return;
    if (!clients().has_unsent() && clients().begin_sleep()) wait();
    clients().end_sleep();
    is_busy = true;
  }
}

}  // namespace

}  // namespace strom::pg::kv_server

/// The entry point of the process.
void strom_message_server_main(Datum database) {
  pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, 0);
  // No other transaction may keep all clients waiting.
  SetConfigOption("lock_timeout", "100ms", PGC_USERSET, PGC_S_SESSION);
  if (!strom::pg::boundary::entry([] { return strom::pg::kv_server::begin(); })) proc_exit(0);
  strom::pg::kv_server::run();
  proc_exit(0);
}
