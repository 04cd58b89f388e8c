// See catalog.hpp.
#include "mysql2arrow/catalog.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace strom::mysql2arrow {

namespace {

using columnar::Field;
using columnar::Layout;
using columnar::TimeUnit;
using format::mysqlwire::Wire;
using format::mysqlwire::WireColumn;

constexpr uint32_t kBinaryCharset = 63;
constexpr int kVectorType = 242;      // MySQL 9's, which libmariadb does not name
constexpr uint32_t kAnyDecimals = 6;  // of expressions: as many as there are

TimeUnit unit_of(uint32_t decimals) {
  return decimals == 0 ? TimeUnit::kSecond : decimals <= 3 ? TimeUnit::kMilli : TimeUnit::kMicro;
}

class Maker {
 public:
  Maker(Connection& connection, const Settings& settings, const std::string& query)
      : connection_(connection), settings_(settings), query_(query) {}

  Result<Columns> make(const std::vector<ResultColumn>& described) {
    for (const ResultColumn& from : described) {
      Field field;
      WireColumn wire;
      field.name = from.name;
      STROM_TRY(column(from, field, wire));
      out_.contents.fields.push_back(std::move(field));
      out_.wires.push_back(std::move(wire));
    }
    return std::move(out_);
  }

 private:
  Status column(const ResultColumn& from, Field& field, WireColumn& wire);
  Status date_column(const ResultColumn& from, Field& field, WireColumn& wire) const;
  void time_column(const ResultColumn& from, Field& field, WireColumn& wire) const;
  Status decimal_column(const ResultColumn& from, Field& field, WireColumn& wire) const;
  Status text_column(const ResultColumn& from, Field& field, WireColumn& wire);
  Status enum_column(const ResultColumn& from, Field& field, WireColumn& wire);
  Status geometry_column(const ResultColumn& from, Field& field, WireColumn& wire);

  Connection& connection_;
  const Settings& settings_;
  const std::string& query_;
  Columns out_;
};

void set(Field& field, WireColumn& wire, Wire how, Layout layout) {
  wire.wire = how;
  field.layout = layout;
}

void sized(Field& field, WireColumn& wire, Wire how, Layout layout) {
  set(field, wire, how, layout);
  wire.is_sized = true;
}

/// The number's own width; `wire_bits` where the server sends more.
void integer(const ResultColumn& from, Field& field, WireColumn& wire, int32_t bits) {
  set(field, wire, Wire::kFixed, columnar::integer_layout(bits, !from.is_unsigned()));
  wire.width = bits / 8;
}

void pg_type(Field& field, const char* name) { field.metadata.emplace_back("pg_type", name); }

Status Maker::column(const ResultColumn& from, Field& field, WireColumn& wire) {
  switch (static_cast<int>(from.type)) {
    case MYSQL_TYPE_TINY:
      if (from.length == 1 && settings_.tinyint1_is_bool) {
        set(field, wire, Wire::kTinyBool, Layout::kBool);
        wire.width = 1;
      } else {
        integer(from, field, wire, 8);
      }
      break;
    case MYSQL_TYPE_SHORT: integer(from, field, wire, 16); break;
    case MYSQL_TYPE_YEAR:
      set(field, wire, Wire::kFixed, Layout::kInt16);
      wire.width = 2;
      break;
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG: integer(from, field, wire, 32); break;
    case MYSQL_TYPE_LONGLONG: integer(from, field, wire, 64); break;
    case MYSQL_TYPE_FLOAT:
      set(field, wire, Wire::kFixed, Layout::kFloat32);
      wire.width = 4;
      break;
    case MYSQL_TYPE_DOUBLE:
      set(field, wire, Wire::kFixed, Layout::kFloat64);
      wire.width = 8;
      break;
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL: return decimal_column(from, field, wire);
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP: return date_column(from, field, wire);
    case MYSQL_TYPE_TIME: time_column(from, field, wire); break;
    case MYSQL_TYPE_BIT:
      if (from.length == 1) {
        sized(field, wire, Wire::kBitBool, Layout::kBool);
      } else {
        sized(field, wire, Wire::kBit, Layout::kUInt64);
      }
      break;
    case MYSQL_TYPE_JSON:
      sized(field, wire, Wire::kText, Layout::kUtf8);
      pg_type(field, "pg_catalog.json");
      break;
    case MYSQL_TYPE_GEOMETRY: return geometry_column(from, field, wire);
    case kVectorType: {
      sized(field, wire, Wire::kVector, Layout::kList);
      Field& element = field.children.emplace_back();
      element.name = "element";
      element.layout = Layout::kFloat32;
      break;
    }
    default: return text_column(from, field, wire);
  }
  return Status::ok();
}

Status Maker::date_column(const ResultColumn& from, Field& field, WireColumn& wire) const {
  const bool is_date = from.type == MYSQL_TYPE_DATE || from.type == MYSQL_TYPE_NEWDATE;
  wire.zero_dates = settings_.zero_dates == ZeroDates::kNull ? format::mysqlwire::ZeroDates::kNull
                                                             : format::mysqlwire::ZeroDates::kError;
  if (settings_.zero_dates == ZeroDates::kText) {
    sized(field, wire, Wire::kDateText, Layout::kUtf8);
    wire.has_time = !is_date;
    wire.decimals = static_cast<int>(std::min(from.decimals, kAnyDecimals));
  } else if (is_date) {
    sized(field, wire, Wire::kDate, Layout::kDate32);
  } else {
    sized(field, wire, Wire::kDateTime, Layout::kTimestamp);
    field.unit = unit_of(from.decimals);
    if (from.type == MYSQL_TYPE_TIMESTAMP) field.timezone = "UTC";
  }
  return Status::ok();
}

void Maker::time_column(const ResultColumn& from, Field& field, WireColumn& wire) const {
  switch (settings_.time_as) {
    case TimeAs::kTime:
      field.unit = unit_of(from.decimals);
      sized(field, wire, Wire::kTime, field.unit == TimeUnit::kMicro ? Layout::kTime64 : Layout::kTime32);
      break;
    case TimeAs::kInterval: sized(field, wire, Wire::kDuration, Layout::kIntervalMonthDayNano); break;
    case TimeAs::kText:
      sized(field, wire, Wire::kTimeText, Layout::kUtf8);
      wire.decimals = static_cast<int>(std::min(from.decimals, kAnyDecimals));
      break;
  }
}

Status Maker::decimal_column(const ResultColumn& from, Field& field, WireColumn& wire) const {
  constexpr int32_t kMostDigits = 76, kMost128 = 38;
  const auto scale = static_cast<int32_t>(from.decimals);
  // What the server calls the length has room for the sign and the point.
  const auto precision = static_cast<int32_t>(from.length) - (scale > 0) - !from.is_unsigned();
  if (precision < 1 || precision > kMostDigits || scale > precision) {
    return Status(ErrorCode::kUnsupported, "column \"" + from.name + "\" is a decimal without precision")
        .with_hint("Cast it to DECIMAL(P,S) in the query given by -c.");
  }
  sized(field, wire, Wire::kDecimal, precision <= kMost128 ? Layout::kDecimal128 : Layout::kDecimal256);
  field.precision = precision;
  field.scale = scale;
  return Status::ok();
}

Status Maker::text_column(const ResultColumn& from, Field& field, WireColumn& wire) {
  if (from.flags & ENUM_FLAG) return enum_column(from, field, wire);
  if (from.kind == "uuid") {
    sized(field, wire, Wire::kUuid, Layout::kFixedBinary);
    field.byte_width = 16;
    pg_type(field, "pg_catalog.uuid");
    return Status::ok();
  }
  if (from.kind == "inet4" || from.kind == "inet6") {
    sized(field, wire, Wire::kText, Layout::kUtf8);
    pg_type(field, "pg_catalog.inet");
    return Status::ok();
  }
  if (from.kind == "vector") {
    sized(field, wire, Wire::kVector, Layout::kList);
    Field& element = field.children.emplace_back();
    element.name = "element";
    element.layout = Layout::kFloat32;
    return Status::ok();
  }
  const bool is_json = from.format == "json";
  const bool is_binary =
      from.charset == kBinaryCharset && from.type != MYSQL_TYPE_NULL && !is_json && !(from.flags & SET_FLAG);
  sized(field, wire, is_binary ? Wire::kBytes : Wire::kText, is_binary ? Layout::kBinary : Layout::kUtf8);
  if (is_json) pg_type(field, "pg_catalog.json");
  return Status::ok();
}

/// The dictionary begins with the enum's labels. The empty text that stands for an invalid value, and labels of
/// expressions, are added when they come.
Status Maker::enum_column(const ResultColumn& from, Field& field, WireColumn& wire) {
  std::vector<std::string> labels;
  if (!from.table.empty()) {
    const std::string sql = fmt::format(
        "SELECT COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} AND COLUMN_NAME"
        " = {}",
        connection_.quoted_text(from.database), connection_.quoted_text(from.table),
        connection_.quoted_text(from.original));
    STROM_ASSIGN(const auto rows, connection_.query(sql));
    if (!rows.empty()) labels = enum_labels(rows[0][0].value_or(""));
  }
  sized(field, wire, Wire::kLabel, Layout::kUtf8);
  field.ordered = true;
  field.dictionary = true;
  field.dictionary_id = static_cast<int64_t>(out_.contents.dictionaries.size());
  wire.labels = std::make_shared<columnar::Labels>(std::move(labels), true);
  out_.contents.dictionaries.emplace(field.dictionary_id, tool::Dictionary{wire.labels});
  return Status::ok();
}

/// Values have an SRID each, Arrow's extension type one for the column: that of the first value, which all must have.
Status Maker::geometry_column(const ResultColumn& from, Field& field, WireColumn& wire) {
  const std::string name = quoted_name(from.name);
  const auto rows = connection_.query(
      fmt::format("SELECT ST_SRID({0}) FROM ({1}\n) AS strom_query WHERE {0} IS NOT NULL LIMIT 1", name, query_));
  // A query that cannot be one in another, because names occur twice, has SRID 0, or fails when a value has another.
  if (rows.is_ok() && !rows.value().empty())
    wire.srid = static_cast<uint32_t>(strtoul(rows.value()[0][0].value_or("0").c_str(), nullptr, 10));
  sized(field, wire, Wire::kGeometry, Layout::kBinary);
  field.metadata.emplace_back("ARROW:extension:name", "geoarrow.wkb");
  field.metadata.emplace_back("ARROW:extension:metadata",
                              wire.srid == 0 ? "{}" : fmt::format(R"({{"crs":"EPSG:{}"}})", wire.srid));
  return Status::ok();
}

}  // namespace

std::vector<std::string> enum_labels(const std::string& type) {
  std::vector<std::string> labels;
  size_t at = type.find('\'');
  while (at != std::string::npos && at < type.size() && type[at] == '\'') {
    std::string label;
    for (++at; at < type.size(); ++at) {
      if (type[at] == '\'' && (at + 1 == type.size() || type[at + 1] != '\'')) break;
      if (type[at] == '\'') ++at;
      label += type[at];
    }
    labels.push_back(std::move(label));
    at += 2;  // the quote and the comma
  }
  return labels;
}

Result<Columns> make_columns(Connection& connection, const Settings& settings,
                             const std::vector<ResultColumn>& described, const std::string& query) {
  return Maker(connection, settings, query).make(described);
}

}  // namespace strom::mysql2arrow
