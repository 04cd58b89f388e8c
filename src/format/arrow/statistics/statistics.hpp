// Lowest and highest values that writers leave in a file's metadata, in both existing forms (docs/dev/arrow.md):
//   - custom metadata of a field, see statistics_text.hpp;
//   - custom metadata of a record batch's message, key min_max_stats.COLUMN: "LOWEST,HIGHEST" as decimal text.
// Values that cannot be read count as unknown. Private to src/format/arrow.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "columnar/bounds.hpp"
#include "columnar/schema.hpp"

namespace strom::format::arrow {

inline constexpr std::string_view kBatchBoundsPrefix = "min_max_stats.";

/// True when the field has the first form.
bool has_field_bounds(const columnar::Field& field);

/// Bounds of all record batches from the field's own metadata; empty unless there are as many as `batches`.
std::vector<std::optional<columnar::Bounds>> field_bounds(const columnar::Field& field, int batches);

/// The same for a struct of boxes (columnar::is_box), from the metadata of its parts.
std::vector<std::optional<columnar::Bounds>> box_bounds(const columnar::Field& field, int batches);

/// Bounds from the value of a batch's key.
std::optional<columnar::Bounds> batch_bounds(const columnar::Field& field, std::string_view value);

}  // namespace strom::format::arrow
