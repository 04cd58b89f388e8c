// The five tables of the Star Schema Benchmark (O'Neil, O'Neil & Chen, "Star Schema Benchmark", revision 3, 2009):
// names, columns, sizes and rows. Used by ssbgen and by the unit tests of the generator.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/builder.hpp"
#include "columnar/schema.hpp"

namespace strom::ssb {

/// Raise this when the same options give other rows, so that old data is recognised.
inline constexpr int kDataVersion = 1;

enum class Table : uint8_t { kLineorder, kDate, kCustomer, kSupplier, kPart };

inline constexpr std::array<Table, 5> kTables = {Table::kLineorder, Table::kDate, Table::kCustomer, Table::kSupplier,
                                                 Table::kPart};

/// "lineorder", "date1", "customer", "supplier", "part".
std::string_view table_name(Table table);

/// Columns in the specification's order. Numbers are int32, except lo_orderkey (int64); dates are int32 yyyymmdd; all
/// other columns are UTF-8 text. No column is nullable.
columnar::Schema table_schema(Table table);

/// The number of rows of each table at one scale factor. For lineorder only the number of orders is known; an order has
/// one to seven rows.
struct Sizes {
  int64_t orders = 0, customers = 0, suppliers = 0, parts = 0, days = 0;
};

/// kInvalidParameter unless 0 < scale <= 10000.
Result<Sizes> sizes_at(double scale);

/// Everything that determines the bytes of the data.
struct Plan {
  Sizes sizes;
  uint64_t seed = 0;
  int64_t batch_rows = int64_t{1} << 20;  // per record batch; an average for lineorder, which is divided between orders
};

/// The number of record batches of `table`; never 0.
int64_t batch_count(const Plan& plan, Table table);

/// Columns under construction. The memory is reused for each batch.
class BatchBuilder {
 public:
  explicit BatchBuilder(Table table);

  /// Replaces the content by record batch `batch` (0 .. batch_count - 1). Depends only on its arguments.
  void build(const Plan& plan, int64_t batch);
  /// Valid until the next build().
  columnar::BatchView view() const;

 private:
  Table table_;
  std::vector<columnar::ColumnBuilder> columns_;
};

namespace detail {

using Columns = std::vector<columnar::ColumnBuilder>;

// One function for each table: appends rows (for lineorder, orders) [first, first + count).
void append_lineorder(const Plan& plan, int64_t first, int64_t count, Columns& columns);
void append_date(const Plan& plan, int64_t first, int64_t count, Columns& columns);
void append_customer(const Plan& plan, int64_t first, int64_t count, Columns& columns);
void append_supplier(const Plan& plan, int64_t first, int64_t count, Columns& columns);
void append_part(const Plan& plan, int64_t first, int64_t count, Columns& columns);

}  // namespace detail
}  // namespace strom::ssb
