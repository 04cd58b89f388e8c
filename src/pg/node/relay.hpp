// CpuRelay: returns the rows of a PostgreSQL plan under other expressions, and makes transition states of aggregates
// from single values. It connects the plans that src/pg/planner/paths/mixed_aggregates.cpp combines.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// Fields of an output's IntList in custom_private.
enum RelayField : int {
  kRelayColumn,    // column of the child's rows, from 1; 0: NULL
  kRelayFormat,    // registry::PartialFormat of the state to make; -1: the plain value
  kRelayAcc,       // registry::AccKind, for a state
  kRelayArgument,  // registry::TypeId, for a state
};

/// Like node::register_methods(). May ereport.
void register_relay();

const CustomScanMethods* relay_methods();

}  // namespace strom::pg::node
