#include "pg/kv_server/places.hpp"

#include <cstring>

#include "pg/boundary/background_worker.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::kv_server {

namespace {

using store::MessageServer;
using store::MessageServers;

constexpr int64_t kWantedUs = 3 * USECS_PER_SEC;

MessageServers& servers() {
  return boundary::entry([] { return store::control(); })->message_servers;
}

/// Finds a database's place, or for InvalidOid a free place. The caller holds the mutex.
MessageServer* find_place(MessageServers* all, Oid database) {
  for (MessageServer& place : all->places)
    if (place.database == database) return &place;
  return nullptr;
}

bool find_server(MessageServers* all, char* socket, int* port) {
  const TimestampTz now = GetCurrentTimestamp();
  SpinLockAcquire(&all->mutex);
  MessageServer* place = find_place(all, MyDatabaseId);
  const bool is_found = place != nullptr && place->socket[0] != '\0';
  if (is_found) {
    place->wanted = now;
    std::memcpy(socket, place->socket, sizeof(place->socket));
    *port = place->port;
  }
  SpinLockRelease(&all->mutex);
  return is_found;
}

/// May ereport.
void start_server() {
  BackgroundWorker worker =
      boundary::worker_of("strom_message_server_main", "pg_strom messages", ObjectIdGetDatum(MyDatabaseId));
  RegisterDynamicBackgroundWorker(&worker, nullptr);
}

}  // namespace

void ensure_message_server(char* socket, int* port) {
  MessageServers& all = servers();
  constexpr int kPatience = 500, kTry = 100;
  constexpr long kPauseUs = 10000;
  for (int i = 0; i < kPatience; ++i) {
    if (find_server(&all, socket, port)) return;
    if (i % kTry == 0) start_server();
    CHECK_FOR_INTERRUPTS();
    pg_usleep(kPauseUs);
  }
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("nobody answers messages: the background worker for that does not run"),
                  errhint("It takes one of \"max_worker_processes\"; the server's log may say more.")));
}

int take_place() {
  MessageServers& all = servers();
  const TimestampTz now = GetCurrentTimestamp();
  SpinLockAcquire(&all.mutex);
  MessageServer* place = find_place(&all, MyDatabaseId) == nullptr ? find_place(&all, InvalidOid) : nullptr;
  if (place != nullptr) {
    place->database = MyDatabaseId;
    place->wanted = now;
    place->socket[0] = '\0';
  }
  SpinLockRelease(&all.mutex);
  return place != nullptr ? static_cast<int>(place - all.places) : -1;
}

void announce(int place, const char* socket, int port) {
  MessageServers& all = servers();
  SpinLockAcquire(&all.mutex);
  all.places[place].port = port;
  strlcpy(all.places[place].socket, socket, sizeof(MessageServer::socket));
  SpinLockRelease(&all.mutex);
}

bool hide_unless_wanted(int place) {
  MessageServers& all = servers();
  const TimestampTz now = GetCurrentTimestamp();
  SpinLockAcquire(&all.mutex);
  const bool is_unwanted = now - all.places[place].wanted > kWantedUs;
  if (is_unwanted) all.places[place].socket[0] = '\0';
  SpinLockRelease(&all.mutex);
  return is_unwanted;
}

void leave_place(int place) {
  MessageServers& all = servers();
  SpinLockAcquire(&all.mutex);
  all.places[place].database = InvalidOid;
  SpinLockRelease(&all.mutex);
}

}  // namespace strom::pg::kv_server
