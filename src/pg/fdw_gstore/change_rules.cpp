#include "pg/fdw_gstore/change_rules.hpp"

#include "pg/store/server_headers.hpp"

namespace strom::pg::fdw_gstore {

void check_updated() {
  if (IsolationUsesXactSnapshot())
    ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                    errmsg("could not serialize access due to concurrent update")));
}

void check_deleted() {
  if (IsolationUsesXactSnapshot())
    ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                    errmsg("could not serialize access due to concurrent delete")));
}

void check_own(const store::EndOutcome& outcome, CommandId own, const char* what) {
  if (outcome.command != own)
    ereport(ERROR,
            (errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
             errmsg("tuple to be %s was already modified by an operation triggered by the current command", what),
             errhint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to "
                     "other rows.")));
}

}  // namespace strom::pg::fdw_gstore
