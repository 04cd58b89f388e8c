// Plans of statements that change store tables, by nodes of ours in place of the executor's nodes for changes.
#pragma once

namespace strom::pg::fdw_gstore {

/// Plans such statements from now on. Called once in a process, after the planner's other hooks are set. May ereport.
void install_statement_plans();

}  // namespace strom::pg::fdw_gstore
