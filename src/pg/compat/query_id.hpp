// Identifiers of queries.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {
#if PG_VERSION_NUM >= 160000
#include "nodes/queryjumble.h"
#else
#include "utils/queryjumble.h"
#endif
}
