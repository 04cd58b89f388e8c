// Queries as they are given on the command line, with tokens in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/settings.hpp"

namespace strom::tool {

inline constexpr std::string_view kWorkerToken = "$(WORKER_ID)", kWorkersToken = "$(N_WORKERS)",
                                  kKeyToken = "$(PARALLEL_KEY)";

bool contains(const std::string& text, std::string_view part);
std::string replaced(std::string text, std::string_view from, const std::string& to);

/// `file://PATH` stands for what the file holds. A semicolon at the end is taken off, since the query becomes part of
/// another statement.
Result<std::string> command_text(const std::string& command);

/// @(NAME) becomes the value; kInvalidParameter when the text has none, or has a name without a value.
Result<std::string> with_parameters(std::string text, const NamedValues& parameters);

/// kInvalidParameter when there is a $(PARALLEL_KEY) although no keys were given.
Status refuse_key_token(const std::string& text);
/// One query for each of the keys, which stand for $(PARALLEL_KEY).
Result<std::vector<std::string>> for_keys(const std::string& text, const std::vector<std::string>& keys);

/// $(WORKER_ID) and $(N_WORKERS) replaced.
std::string for_worker(std::string text, int64_t worker, int64_t workers);

/// A query that returns a row if rows are lost by a text that divides the work by `… = $(WORKER_ID)`: rows for which
/// what stands on the left is NULL, or none of the workers' numbers. Nothing when the text says it in another way, or
/// in the one that loses none: abs(coalesce(id, 0) % $(N_WORKERS)) = $(WORKER_ID).
std::optional<std::string> lost_rows_query(const std::string& text, int64_t workers);
/// What is said if it does.
inline constexpr const char* kRowsAreLost =
    "rows are left out: what the query compares with $(WORKER_ID) is NULL or negative for some; "
    "abs(coalesce(id, 0) % $(N_WORKERS)) = $(WORKER_ID) takes all rows";

}  // namespace strom::tool
