// See catalog.hpp.
#include "pg2arrow/catalog.hpp"

#include <algorithm>
#include <cstdlib>

namespace strom::pg2arrow {

namespace {

using columnar::Kind;
using columnar::NestedField;
using format::pgwire::Labels;
using format::pgwire::Wire;

// Types that are built into PostgreSQL have numbers that never change (pg_type.dat).
enum : uint32_t {
  kBool = 16,
  kBytea = 17,
  kName = 19,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kOid = 26,
  kXid = 28,
  kCid = 29,
  kJson = 114,
  kCidr = 650,
  kFloat4 = 700,
  kFloat8 = 701,
  kMacaddr8 = 774,
  kMacaddr = 829,
  kInet = 869,
  kBpchar = 1042,
  kVarchar = 1043,
  kDate = 1082,
  kTime = 1083,
  kTimestamp = 1114,
  kTimestampTz = 1184,
  kInterval = 1186,
  kNumeric = 1700,
  kUuid = 2950,
  kJsonb = 3802,
  kXid8 = 5069,
};

uint32_t number(const std::optional<std::string>& text) {
  return text ? static_cast<uint32_t>(strtoul(text->c_str(), nullptr, 10)) : 0;
}

/// The server's time zone when it is one of the IANA names, which readers know.
std::string zone_name(const std::string& setting) {
  const bool plain = std::all_of(setting.begin(), setting.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
           c == '-' || c == '+';
  });
  const bool is_name = plain && setting.find_first_of("abcdefghijklmnopqrstuvwxyz/") != std::string::npos;
  return is_name && setting != "localtime" ? setting : "UTC";
}

}  // namespace

Catalog::Catalog(Connection& connection, const Settings& settings)
    : connection_(connection),
      settings_(settings),
      check_utf8_(connection.parameter("server_encoding") == "SQL_ASCII"),
      timezone_(zone_name(connection.parameter("TimeZone"))) {}

Result<std::vector<Column>> Catalog::columns(const std::vector<ResultColumn>& described) {
  std::vector<Column> out;
  for (const ResultColumn& from : described) {
    STROM_ASSIGN(Column found, column(from.name, from.type, from.modifier));
    out.push_back(std::move(found));
  }
  return out;
}

Result<const Catalog::Type*> Catalog::type(uint32_t oid) {
  const auto found = types_.find(oid);
  if (found != types_.end()) return &found->second;
  STROM_ASSIGN(const auto rows,
               connection_.query(
                   "SELECT n.nspname, t.typname, t.typtype, t.typbasetype, t.typtypmod, t.typrelid,"
                   " (SELECT e.oid FROM pg_catalog.pg_type e WHERE e.typarray = t.oid AND e.oid = t.typelem),"
                   " (SELECT x.extname FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid"
                   "  WHERE d.classid = 'pg_catalog.pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'"
                   "  AND d.refclassid = 'pg_catalog.pg_extension'::regclass LIMIT 1)"
                   " FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace"
                   " WHERE t.oid = $1::oid",
                   {std::to_string(oid)}));
  Type type;
  if (rows.empty()) {
    type.name = "type " + std::to_string(oid);
  } else {
    const Row& row = rows[0];
    type.schema = row[0].value_or("");
    type.name = row[1].value_or("");
    type.kind = row[2].value_or("b")[0];
    type.base = number(row[3]);
    type.base_modifier = atoi(row[4].value_or("-1").c_str());
    type.relation = number(row[5]);
    type.element = number(row[6]);
    type.extension = row[7].value_or("");
  }
  return &types_.emplace(oid, std::move(type)).first->second;
}

void Catalog::as_text(Column& column) {
  column.field.kind = Kind::kUtf8;
  column.field.bits = column.field.precision = column.field.scale = 0;
  column.field.children.clear();
  column.field.dictionary = -1;
  column.wire.wire = Wire::kText;
  column.wire.oid = kText;
  column.wire.children.clear();
  column.cast = "text";
}

Result<Column> Catalog::column(const std::string& name, uint32_t oid, int32_t modifier) {
  STROM_ASSIGN(const Type* found, type(oid));
  Column out;
  out.field.name = name;
  out.field.metadata.emplace_back("pg_type", found->pg_type());
  if (modifier >= 0) out.field.metadata.emplace_back("pg_typmod", std::to_string(modifier));
  out.wire.check_utf8 = check_utf8_;
  // On the wire an array of a domain is one of the domain, but a value of it is one of the base type.
  out.wire.oid = oid;
  while (found->kind == 'd') {
    if (found->base_modifier >= 0) modifier = found->base_modifier;
    oid = found->base;
    STROM_ASSIGN(found, type(oid));
  }
  if (found->kind == 'e') {
    STROM_TRY(enum_column(oid, out));
  } else if (found->element != 0) {
    STROM_TRY(array_column(*found, modifier, out));
  } else if (found->kind == 'c') {
    STROM_TRY(composite_column(*found, out));
  } else {
    STROM_TRY(plain_column(oid, modifier, out));
  }
  return out;
}

Status Catalog::plain_column(uint32_t oid, int32_t modifier, Column& column) {
  const auto set = [&](Wire wire, Kind kind, int32_t bits = 0) {
    column.wire.wire = wire;
    column.field.kind = kind;
    column.field.bits = bits;
  };
  const auto fixed = [&](int32_t width) {
    set(Wire::kFixed, Kind::kFixedBinary);
    column.field.byte_width = width;
  };
  column.wire.infinity_is_null = settings_.infinity_is_null;
  switch (oid) {
    case kBool: set(Wire::kBool, Kind::kBool); break;
    case kInt2: set(Wire::kInt, Kind::kInt, 16); break;
    case kInt4: set(Wire::kInt, Kind::kInt, 32); break;
    case kInt8: set(Wire::kInt, Kind::kInt, 64); break;
    case kOid:
    case kXid:
    case kCid: set(Wire::kInt, Kind::kUInt, 32); break;
    case kXid8: set(Wire::kInt, Kind::kUInt, 64); break;
    case kFloat4: set(Wire::kInt, Kind::kFloat, 32); break;
    case kFloat8: set(Wire::kInt, Kind::kFloat, 64); break;
    case kNumeric: return numeric_column(modifier, column);
    case kText:
    case kVarchar:
    case kBpchar:
    case kName:
    case kJson: set(Wire::kText, Kind::kUtf8); break;
    case kJsonb: set(Wire::kJsonb, Kind::kUtf8); break;
    case kInet:
    case kCidr: set(Wire::kNetwork, Kind::kUtf8); break;
    case kBytea: set(Wire::kBytes, Kind::kBinary); break;
    case kDate: set(Wire::kDate, Kind::kDate, 32); break;
    case kTime: set(Wire::kInt, Kind::kTime, 64); break;
    case kTimestampTz: column.field.timezone = timezone_; [[fallthrough]];
    case kTimestamp: set(Wire::kTimestamp, Kind::kTimestamp); break;
    case kInterval: set(Wire::kInterval, Kind::kInterval); break;
    case kUuid: fixed(16); break;
    case kMacaddr: fixed(6); break;
    case kMacaddr8: fixed(8); break;
    default: as_text(column);
  }
  return Status::ok();
}

Status Catalog::numeric_column(int32_t modifier, Column& column) {
  constexpr int32_t kHeader = 4;  // of every modifier
  constexpr int32_t kMaxDecimal128 = 38, kMaxDecimal256 = 76;
  int32_t precision = 0, scale = 0;
  if (modifier >= kHeader) {
    precision = (modifier - kHeader) >> 16 & 0xFFFF;
    scale = (((modifier - kHeader) & 0x7FF) ^ 1024) - 1024;
  }
  NumericChoice::As as = NumericChoice::As::kDecimal;
  if (precision < 1 || precision > kMaxDecimal256) {
    as = settings_.numeric.as;
    precision = settings_.numeric.precision;
    scale = settings_.numeric.scale;
  }
  switch (as) {
    case NumericChoice::As::kDecimal:
      column.wire.wire = Wire::kDecimal;
      column.field.kind = Kind::kDecimal;
      column.field.bits = precision <= kMaxDecimal128 ? 128 : 256;
      column.field.precision = precision;
      column.field.scale = scale;
      break;
    case NumericChoice::As::kText:
      column.wire.wire = Wire::kNumericText;
      column.field.kind = Kind::kUtf8;
      break;
    case NumericChoice::As::kReal:
      column.wire.wire = Wire::kNumericReal;
      column.field.kind = Kind::kFloat;
      column.field.bits = 64;
      break;
  }
  return Status::ok();
}

Result<std::shared_ptr<const Labels>> Catalog::labels(uint32_t oid) {
  auto& known = labels_[oid];
  if (known == nullptr) {
    STROM_ASSIGN(
        const auto rows,
        connection_.query("SELECT enumlabel FROM pg_catalog.pg_enum WHERE enumtypid = $1::oid ORDER BY enumsortorder",
                          {std::to_string(oid)}));
    std::vector<std::string> all;
    for (const Row& row : rows) all.push_back(row[0].value_or(""));
    known = std::make_shared<Labels>(std::move(all));
  }
  return known;
}

Status Catalog::enum_column(uint32_t oid, Column& column) {
  STROM_ASSIGN(column.wire.labels, labels(oid));
  column.wire.wire = Wire::kEnum;
  column.field.kind = Kind::kUtf8;
  column.field.ordered = true;
  column.field.dictionary = dictionaries_.emplace(oid, static_cast<int64_t>(dictionaries_.size())).first->second;
  return Status::ok();
}

Status Catalog::array_column(const Type& type, int32_t modifier, Column& out) {
  STROM_ASSIGN(Column element, column("element", type.element, modifier));
  const bool is_text = element.cast == "text";
  if (!element.cast.empty() && !is_text) {
    as_text(out);
    return Status::ok();
  }
  if (is_text) out.cast = "text[]";
  out.wire.wire = Wire::kArray;
  out.field.kind = Kind::kList;
  out.field.children.push_back(std::move(element.field));
  out.wire.children.push_back(std::move(element.wire));
  return Status::ok();
}

Status Catalog::composite_column(const Type& type, Column& out) {
  STROM_ASSIGN(const auto rows,
               connection_.query("SELECT attname, atttypid, atttypmod FROM pg_catalog.pg_attribute"
                                 " WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                                 {std::to_string(type.relation)}));
  std::vector<Column> parts;
  for (const Row& row : rows) {
    STROM_ASSIGN(Column part, column(row[0].value_or(""), number(row[1]), atoi(row[2].value_or("-1").c_str())));
    // Parts cannot be cast one by one; their text is all there is.
    if (!part.cast.empty()) {
      as_text(out);
      return Status::ok();
    }
    parts.push_back(std::move(part));
  }
  out.wire.wire = Wire::kRecord;
  out.field.kind = Kind::kStruct;
  for (Column& part : parts) {
    out.field.children.push_back(std::move(part.field));
    out.wire.children.push_back(std::move(part.wire));
  }
  return Status::ok();
}

}  // namespace strom::pg2arrow
