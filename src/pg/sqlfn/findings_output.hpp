// Returns findings as rows of a set-returning function. Defined in sqlfn/doctor.cpp.
#pragma once

#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/sqlfn/findings.hpp"

namespace strom::pg::sqlfn {

/// Rows (check, status, detail, fix); fix is NULL when there is nothing to fix. Throws PostgresError.
void put_findings(const std::vector<Finding>& findings, ReturnSetInfo* result);

/// The statement that adds the extension to shared_preload_libraries. May throw.
std::string preload_statement();

}  // namespace strom::pg::sqlfn
