#include "pg/store/failures.hpp"

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

}  // namespace strom::pg::store
