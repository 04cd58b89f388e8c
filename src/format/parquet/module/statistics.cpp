// See statistics.hpp. Statistics are read in the file's form and not decoded by libparquet, so each length is checked
// here. libparquet ignores statistics of writers with known errors.
#include "format/parquet/module/statistics.hpp"

#include <arrow/util/decimal.h>
#include <parquet/statistics.h>
#include <parquet/types.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace strom::parquet_module {

namespace {

using ::arrow::Type;

__extension__ using Int128 = __int128;

template <class T>
std::optional<T> plain(std::string_view bytes) {
  T value;
  if (bytes.size() != sizeof value) return {};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::optional<Int128> signed_integer(::parquet::Type::type physical, std::string_view bytes) {
  if (physical == ::parquet::Type::INT32) return plain<int32_t>(bytes);
  if (physical == ::parquet::Type::INT64) return plain<int64_t>(bytes);
  return {};
}

std::optional<Int128> unsigned_integer(::parquet::Type::type physical, std::string_view bytes) {
  if (physical == ::parquet::Type::INT32) return plain<uint32_t>(bytes);
  if (physical == ::parquet::Type::INT64) return plain<uint64_t>(bytes);
  return {};
}

// Big-endian two's complement.
std::optional<Int128> big_endian(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > sizeof(Int128)) return {};
  Int128 value = static_cast<signed char>(bytes.front()) < 0 ? -1 : 0;
  for (const char byte : bytes)
    value = static_cast<Int128>((static_cast<unsigned __int128>(value) << 8) | static_cast<unsigned char>(byte));
  return value;
}

std::optional<Int128> decimal(::parquet::Type::type physical, std::string_view bytes) {
  if (physical == ::parquet::Type::FIXED_LEN_BYTE_ARRAY || physical == ::parquet::Type::BYTE_ARRAY)
    return big_endian(bytes);
  return signed_integer(physical, bytes);
}

std::optional<double> real(::parquet::Type::type physical, std::string_view bytes) {
  if (physical == ::parquet::Type::FLOAT) return plain<float>(bytes);
  if (physical == ::parquet::Type::DOUBLE) return plain<double>(bytes);
  return {};
}

std::optional<::parquet::LogicalType::TimeUnit::unit> stored_unit(const ::parquet::LogicalType* logical) {
  if (logical == nullptr) return {};
  if (logical->is_timestamp()) return static_cast<const ::parquet::TimestampLogicalType*>(logical)->time_unit();
  if (logical->is_time()) return static_cast<const ::parquet::TimeLogicalType*>(logical)->time_unit();
  return {};
}

bool same_unit(const ::parquet::ColumnDescriptor& column, ::arrow::TimeUnit::type unit) {
  const auto stored = stored_unit(column.logical_type().get());
  using Unit = ::parquet::LogicalType::TimeUnit;
  return (stored == Unit::MILLIS && unit == ::arrow::TimeUnit::MILLI) ||
         (stored == Unit::MICROS && unit == ::arrow::TimeUnit::MICRO) ||
         (stored == Unit::NANOS && unit == ::arrow::TimeUnit::NANO);
}

int scale_of(const ::parquet::ColumnDescriptor& column) {
  const auto& logical = column.logical_type();
  if (logical == nullptr || !logical->is_decimal()) return -1;
  return static_cast<const ::parquet::DecimalLogicalType&>(*logical).scale();
}

void set_integers(std::optional<Int128> low, std::optional<Int128> high, strom_parquet_column* result) {
  if (!low || !high || *low > *high) return;
  const auto words = [](Int128 value) {
    return strom_parquet_int128{static_cast<uint64_t>(value), static_cast<int64_t>(value >> 64)};
  };
  result->low_integer = words(*low);
  result->high_integer = words(*high);
  result->bounds = STROM_PARQUET_INTEGERS;
}

void set_reals(std::optional<double> low, std::optional<double> high, strom_parquet_column* result) {
  if (!low || !high || std::isnan(*low) || std::isnan(*high) || *low > *high) return;
  result->low_real = *low;
  result->high_real = *high;
  result->bounds = STROM_PARQUET_REALS;
}

void set_texts(std::string_view low, std::string_view high, bool high_is_exact, strom_parquet_column* result) {
  if (low > high) return;
  constexpr size_t kMost = STROM_PARQUET_TEXT_BOUND;
  result->low_size = static_cast<int32_t>(low.copy(result->low_text, kMost));
  result->high_size = static_cast<int32_t>(high.copy(result->high_text, kMost));
  result->high_is_prefix = !high_is_exact || high.size() > kMost;
  result->bounds = STROM_PARQUET_TEXTS;
}

void set_bounds(const ::parquet::EncodedStatistics& found, const ::parquet::ColumnDescriptor& column,
                const ::arrow::DataType& type, strom_parquet_column* result) {
  const std::string_view low = found.min(), high = found.max();
  const ::parquet::Type::type physical = column.physical_type();
  // In files from before column orders were defined, statistics compare bytes and unsigned numbers as signed ones.
  const bool ordered = column.column_order().get_order() == ::parquet::ColumnOrder::TYPE_DEFINED_ORDER;
  switch (type.id()) {
    case Type::INT8:
    case Type::INT16:
    case Type::INT32:
    case Type::INT64:
    case Type::DATE32: set_integers(signed_integer(physical, low), signed_integer(physical, high), result); return;
    case Type::UINT8:
    case Type::UINT16:
    case Type::UINT32:
    case Type::UINT64:
      if (ordered) set_integers(unsigned_integer(physical, low), unsigned_integer(physical, high), result);
      return;
    case Type::TIMESTAMP:
      if (same_unit(column, static_cast<const ::arrow::TimestampType&>(type).unit()))
        set_integers(signed_integer(physical, low), signed_integer(physical, high), result);
      return;
    case Type::TIME32:
    case Type::TIME64:
      if (same_unit(column, static_cast<const ::arrow::TimeType&>(type).unit()))
        set_integers(signed_integer(physical, low), signed_integer(physical, high), result);
      return;
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128:
      if (ordered && scale_of(column) == static_cast<const ::arrow::DecimalType&>(type).scale())
        set_integers(decimal(physical, low), decimal(physical, high), result);
      return;
    case Type::FLOAT:
    case Type::DOUBLE: set_reals(real(physical, low), real(physical, high), result); return;
    case Type::STRING:
    case Type::LARGE_STRING:
    case Type::STRING_VIEW:
      if (ordered && physical == ::parquet::Type::BYTE_ARRAY)
        set_texts(low, high, found.is_max_value_exact.value_or(false), result);
      return;
    default: return;
  }
}

}  // namespace

void read_statistics(const ::parquet::ColumnChunkMetaData& chunk, const ::parquet::ColumnDescriptor& column,
                     const ::arrow::DataType& type, strom_parquet_column* result) {
  result->null_count = column.max_definition_level() == 0 ? 0 : -1;
  if (column.max_repetition_level() > 0 || !chunk.is_stats_set()) return;
  const auto found = chunk.encoded_statistics();
  if (found == nullptr) return;
  if (found->has_null_count && found->null_count >= 0 && column.max_definition_level() <= 1)
    result->null_count = found->null_count;
  const auto& value_type =
      type.id() == Type::DICTIONARY ? *static_cast<const ::arrow::DictionaryType&>(type).value_type() : type;
  if (found->has_min && found->has_max) set_bounds(*found, column, value_type, result);
}

}  // namespace strom::parquet_module
