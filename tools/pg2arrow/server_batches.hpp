// The fast path: a server that has the extension pg_strom makes the record batches itself, by arrow_ipc_stream().
#pragma once

#include <string>

#include "cli/progress.hpp"
#include "dump/output_files.hpp"
#include "dump/sessions.hpp"
#include "pg2arrow/connection.hpp"
#include "pg2arrow/plan.hpp"
#include "pg2arrow/settings.hpp"

namespace strom::pg2arrow {

struct ServerSide {
  std::string function;  // as it is called; empty: the server does not make record batches
  std::string why_not;
};

/// Whether the server makes the record batches of `plan`: it can, and they are those that pg2arrow would make.
Result<ServerSide> find_server_side(Connection& connection, const Settings& settings, const Plan& plan);

/// What one of the sessions is asked for.
struct WorkerQuery {
  const std::string& text;
  size_t worker;
};
/// One session's part of the rows.
Status run_server_side(Connection& connection, const Settings& settings, const std::string& function,
                       const WorkerQuery& query, const tool::Dictionaries& dictionaries, tool::OutputFiles& files,
                       tool::Progress& progress, const tool::Failure& failure);

}  // namespace strom::pg2arrow
