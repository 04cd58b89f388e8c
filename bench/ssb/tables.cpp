#include "ssb/tables.hpp"

#include <algorithm>
#include <cmath>

#include "ssb/calendar.hpp"

namespace strom::ssb {
namespace {

using columnar::Layout;

constexpr int64_t kMeanLinesPerOrder = 4;

columnar::Field field(std::string_view name, Layout layout) {
  columnar::Field made;
  made.name = name;
  made.layout = layout;
  made.nullable = false;
  return made;
}

struct Column {
  std::string_view name;
  Layout layout;
};

constexpr Layout kInt = Layout::kInt32, kText = Layout::kUtf8;

constexpr Column kLineorderColumns[] = {{"lo_orderkey", Layout::kInt64},
                                        {"lo_linenumber", kInt},
                                        {"lo_custkey", kInt},
                                        {"lo_partkey", kInt},
                                        {"lo_suppkey", kInt},
                                        {"lo_orderdate", kInt},
                                        {"lo_orderpriority", kText},
                                        {"lo_shippriority", kText},
                                        {"lo_quantity", kInt},
                                        {"lo_extendedprice", kInt},
                                        {"lo_ordertotalprice", kInt},
                                        {"lo_discount", kInt},
                                        {"lo_revenue", kInt},
                                        {"lo_supplycost", kInt},
                                        {"lo_tax", kInt},
                                        {"lo_commit_date", kInt},
                                        {"lo_shipmode", kText}};

constexpr Column kDateColumns[] = {
    {"d_datekey", kInt},        {"d_date", kText},           {"d_dayofweek", kText},       {"d_month", kText},
    {"d_year", kInt},           {"d_yearmonthnum", kInt},    {"d_yearmonth", kText},       {"d_daynuminweek", kInt},
    {"d_daynuminmonth", kInt},  {"d_daynuminyear", kInt},    {"d_monthnuminyear", kInt},   {"d_weeknuminyear", kInt},
    {"d_sellingseason", kText}, {"d_lastdayinweekfl", kInt}, {"d_lastdayinmonthfl", kInt}, {"d_holidayfl", kInt},
    {"d_weekdayfl", kInt}};

constexpr Column kCustomerColumns[] = {{"c_custkey", kInt}, {"c_name", kText},      {"c_address", kText},
                                       {"c_city", kText},   {"c_nation", kText},    {"c_region", kText},
                                       {"c_phone", kText},  {"c_mktsegment", kText}};

constexpr Column kSupplierColumns[] = {{"s_suppkey", kInt}, {"s_name", kText},   {"s_address", kText},
                                       {"s_city", kText},   {"s_nation", kText}, {"s_region", kText},
                                       {"s_phone", kText}};

constexpr Column kPartColumns[] = {{"p_partkey", kInt},   {"p_name", kText},   {"p_mfgr", kText},
                                   {"p_category", kText}, {"p_brand1", kText}, {"p_color", kText},
                                   {"p_type", kText},     {"p_size", kInt},    {"p_container", kText}};

template <size_t n>
columnar::Schema schema_of(const Column (&columns)[n]) {
  columnar::Schema schema;
  for (const Column& column : columns) schema.fields.push_back(field(column.name, column.layout));
  return schema;
}

/// The units by which a table is divided: orders for lineorder, rows for the others.
int64_t unit_count(const Sizes& sizes, Table table) {
  switch (table) {
    case Table::kLineorder: return sizes.orders;
    case Table::kDate: return sizes.days;
    case Table::kCustomer: return sizes.customers;
    case Table::kSupplier: return sizes.suppliers;
    case Table::kPart: return sizes.parts;
  }
  return 0;
}

int64_t units_per_batch(const Plan& plan, Table table) {
  return std::max<int64_t>(1, table == Table::kLineorder ? plan.batch_rows / kMeanLinesPerOrder : plan.batch_rows);
}

}  // namespace

std::string_view table_name(Table table) {
  switch (table) {
    case Table::kLineorder: return "lineorder";
    case Table::kDate: return "date1";
    case Table::kCustomer: return "customer";
    case Table::kSupplier: return "supplier";
    case Table::kPart: return "part";
  }
  return {};
}

columnar::Schema table_schema(Table table) {
  switch (table) {
    case Table::kLineorder: return schema_of(kLineorderColumns);
    case Table::kDate: return schema_of(kDateColumns);
    case Table::kCustomer: return schema_of(kCustomerColumns);
    case Table::kSupplier: return schema_of(kSupplierColumns);
    case Table::kPart: return schema_of(kPartColumns);
  }
  return {};
}

Result<Sizes> sizes_at(double scale) {
  if (!(scale > 0 && scale <= 10000))
    return Status(ErrorCode::kInvalidParameter, "scale factor must be above 0 and at most 10000");
  auto rows = [scale](double base) { return std::max<int64_t>(1, std::llround(base * scale)); };
  Sizes sizes;
  sizes.orders = rows(1500000);
  sizes.customers = rows(30000);
  sizes.suppliers = rows(2000);
  // The specification has a formula only for whole scale factors. Below 1, the table shrinks like the others.
  sizes.parts = scale < 1 ? rows(200000) : 200000 * (1 + static_cast<int64_t>(std::floor(std::log2(scale))));
  sizes.days = kCalendarDays;
  return sizes;
}

int64_t batch_count(const Plan& plan, Table table) {
  const int64_t per_batch = units_per_batch(plan, table);
  return (unit_count(plan.sizes, table) + per_batch - 1) / per_batch;
}

BatchBuilder::BatchBuilder(Table table) : table_(table) {
  for (const columnar::Field& made : table_schema(table).fields) columns_.emplace_back(made);
}

void BatchBuilder::build(const Plan& plan, int64_t batch) {
  for (auto& column : columns_) column.clear();
  const int64_t per_batch = units_per_batch(plan, table_), first = batch * per_batch;
  const int64_t count = std::min(per_batch, unit_count(plan.sizes, table_) - first);
  switch (table_) {
    case Table::kLineorder: return detail::append_lineorder(plan, first, count, columns_);
    case Table::kDate: return detail::append_date(plan, first, count, columns_);
    case Table::kCustomer: return detail::append_customer(plan, first, count, columns_);
    case Table::kSupplier: return detail::append_supplier(plan, first, count, columns_);
    case Table::kPart: return detail::append_part(plan, first, count, columns_);
  }
}

columnar::BatchView BatchBuilder::view() const {
  columnar::BatchView batch;
  batch.rows = columns_.front().length();
  for (const auto& column : columns_) batch.columns.push_back(column.view());
  return batch;
}

}  // namespace strom::ssb
