// Dumping one query or table: sessions that share a snapshot, a thread for each, record batches into the output.
#pragma once

#include "base/status.hpp"
#include "cli/progress.hpp"
#include "pg2arrow/connection.hpp"
#include "pg2arrow/settings.hpp"

namespace strom::pg2arrow {

using tool::DumpResult;

/// `connection` is the first worker's; the others are opened here.
Result<DumpResult> dump(Connection& connection, const Settings& settings, tool::Progress& progress);

}  // namespace strom::pg2arrow
