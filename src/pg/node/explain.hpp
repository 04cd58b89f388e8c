// EXPLAIN's lines of an engine node. Called by node.cpp. May throw.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/node/query_run.hpp"

namespace strom::pg::node {

void explain_run(CustomScanState* state, QueryRun& run, List* ancestors, ExplainState* es);

}  // namespace strom::pg::node
