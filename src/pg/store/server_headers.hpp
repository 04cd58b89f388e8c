// PostgreSQL headers that only the memory store needs, in addition to boundary/postgres.hpp.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {
#include "access/rmgr.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_control.h"
#include "catalog/pg_inherits.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "executor/nodeModifyTable.h"
#include "optimizer/appendinfo.h"
#include "postmaster/autovacuum.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/partcache.h"
#include "utils/rls.h"
#include "utils/varlena.h"
}
