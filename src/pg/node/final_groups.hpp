// CpuAgg, or GpuAgg over a node for a GPU: returns groups that the engine has merged completely, with the results of
// their aggregates. Its child is PostgreSQL's Finalize Aggregate over the engine's node. The child runs if a group may
// occur more than once: with fallback rows, if memory does not suffice for all groups, or if an inner side is joined in
// parts.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// Like node::register_methods(). May ereport.
void register_final_groups();

/// The methods of a plan. Its custom_private is an IntList: for each column of the child 1 if it is an average.
const CustomScanMethods* final_groups_methods(bool on_gpu);

}  // namespace strom::pg::node
