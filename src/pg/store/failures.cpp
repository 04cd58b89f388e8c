#include "pg/store/failures.hpp"

#include <exception>

#include "pg/boundary/boundary.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::store {

void log_failure(const std::string& what) {
  const boundary::RaisableError error = boundary::describe_current_exception();
  boundary::guard([&error, &what] {
    ereport(LOG, (errmsg("%s: %s", what.c_str(), error.original != nullptr ? error.original->message : error.message)));
  });
}

void abandon_transaction() {
  boundary::guard([] {
    AbortCurrentTransaction();
    LWLockReleaseAll();
  });
}

bool run_for_each(const std::vector<Oid>& tables, void (*call)(Oid), const char* what, const char* when) {
  bool is_done = true;
  for (const Oid relid : tables) {
    try {
      boundary::guard([relid, call] {
        StartTransactionCommand();
        PushActiveSnapshot(GetTransactionSnapshot());
        call(relid);
        PopActiveSnapshot();
        CommitTransactionCommand();
      });
    } catch (const std::exception&) {
      is_done = false;
      log_failure(std::string("could not ") + what + " the store table with OID " + std::to_string(relid) + when);
      abandon_transaction();
    }
    boundary::check_for_interrupts();
  }
  return is_done;
}

}  // namespace strom::pg::store
