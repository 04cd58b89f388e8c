// CpuRelay: hands the rows of a PostgreSQL plan on under other expressions, and makes transition states of aggregates
// from single values. Between the plans that src/pg/planner/paths/mixed_aggregates.cpp puts together.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// Fields of an output's IntList in custom_private.
enum RelayField : int {
  kRelayColumn,    // of the child's rows, from 1; 0: NULL
  kRelayFormat,    // registry::PartialFormat of the state that is made, -1: the value as it is
  kRelayAcc,       // registry::AccKind, for a state
  kRelayArgument,  // registry::TypeId, for a state
};

/// As register_methods(). May ereport.
void register_relay();

const CustomScanMethods* relay_methods();

}  // namespace strom::pg::node
