// CpuAgg, GpuAgg over a node for a GPU: groups that the engine has merged completely, with the results of their
// aggregates. Its child is PostgreSQL's Finalize Aggregate over the engine's node, which runs where groups may come
// more than once: when rows were left to PostgreSQL, when memory did not suffice for all groups, or an inner side was
// joined in parts.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// As register_methods(). May ereport.
void register_final_groups();

/// Methods of a plan, whose custom_private is an IntList: for each column of the child 1 where it is an average.
const CustomScanMethods* final_groups_methods(bool on_gpu);

}  // namespace strom::pg::node
