// One state of the database for several sessions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mysql2arrow/connection.hpp"
#include "mysql2arrow/query.hpp"

namespace strom::mysql2arrow {

/// Held for as long as something must stay locked.
struct Snapshot {
  std::unique_ptr<Connection> locks;  // nullptr when nothing is locked any more
  std::string how;                    // for people
};

/// Begins a read-only transaction in each session; all see the same rows. `tables` are those that are known to be read,
/// `all_known` says that there are no others. Errors: kUnsupported when the server gives no way to do it.
Result<Snapshot> begin_snapshot(const std::vector<Connection*>& sessions, const Settings& settings,
                                const std::vector<Table>& tables, bool all_known);

}  // namespace strom::mysql2arrow
