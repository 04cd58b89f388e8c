// Where the columns of a record batch come from if they change while sessions read them: a store table's. Apart from
// origin.hpp, which kernels include. Used by engine/device/cached_columns.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "columnar/origin.hpp"

namespace strom::columnar {

/// Its names stand for contents that change, in generations. A copy of a column that was made by a batch of the same
/// generation, or of a later one, has all that this batch's visible rows hold. A copy of an earlier generation has it
/// but for changed_blocks(). Copies can be changed in their places while others read them, since the rows that these
/// see do not change. The columns are registers of fixed width.
class ChangingOrigin : public BatchOrigin {
 public:
  static constexpr int64_t kBlockRows = 64;
  /// Not 0.
  virtual uint64_t generation() const = 0;
  /// Blocks of kBlockRows rows that were written to in the generation `since` or later, of the rows from `begin` on,
  /// which is a multiple of kBlockRows. The first block there is 0. Any thread.
  virtual std::vector<uint32_t> changed_blocks(uint64_t since, int64_t begin, int64_t rows) const = 0;
};

/// The generation of an origin's names; 0 if they always stand for the same.
inline uint64_t generation_of(const BatchOrigin& origin) {
  const auto* changing = dynamic_cast<const ChangingOrigin*>(&origin);
  return changing == nullptr ? 0 : changing->generation();
}

}  // namespace strom::columnar
