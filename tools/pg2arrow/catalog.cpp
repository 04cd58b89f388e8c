// See catalog.hpp.
#include "pg2arrow/catalog.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "columnar/utf8.hpp"
#include "format/pgwire/builtin_types.hpp"

namespace strom::pg2arrow {

namespace {

using columnar::Labels;
using columnar::Layout;
using format::pgwire::Wire;

uint32_t number(const std::optional<std::string>& text) {
  return text ? static_cast<uint32_t>(strtoul(text->c_str(), nullptr, 10)) : 0;
}

}  // namespace

Catalog::Catalog(Connection& connection, const Settings& settings)
    : connection_(connection),
      settings_(settings),
      check_utf8_(connection.parameter("server_encoding") == "SQL_ASCII"),
      timezone_(format::pgwire::arrow_timezone(connection.parameter("TimeZone"))) {}

/// The server describes columns of domains as of their base types.
Status Catalog::name_domains(const std::string& query, std::vector<ResultColumn>& described) {
  if (query.empty() || described.empty()) return Status::ok();
  STROM_ASSIGN(const auto any,
               connection_.query("SELECT 1 FROM pg_catalog.pg_type WHERE typtype = 'd'"
                                 " AND typnamespace <> 'information_schema'::pg_catalog.regnamespace LIMIT 1"));
  if (any.empty()) return Status::ok();
  std::string types, names;
  for (size_t i = 0; i < described.size(); ++i) {
    types += fmt::format("{}pg_catalog.pg_typeof(q.c{})::pg_catalog.oid", i == 0 ? "" : ", ", i);
    names += fmt::format("{}c{}", i == 0 ? "" : ", ", i);
  }
  STROM_ASSIGN(const auto rows, connection_.query(fmt::format(
                                    "SELECT {} FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM ({}\n) AS p({}) "
                                    "LIMIT 0) AS q ON true",
                                    types, query, names)));
  for (size_t i = 0; i < described.size() && !rows.empty(); ++i) {
    const uint32_t declared = number(rows[0][i]);
    if (declared == 0 || declared == described[i].type) continue;
    described[i].type = declared;
    described[i].modifier = -1;
  }
  return Status::ok();
}

Result<std::vector<Column>> Catalog::columns(std::vector<ResultColumn> described, const std::string& query) {
  STROM_TRY(name_domains(query, described));
  std::vector<Column> out;
  for (const ResultColumn& from : described) {
    STROM_ASSIGN(Column found, column(from.name, from.type, from.modifier));
    out.push_back(std::move(found));
  }
  STROM_TRY(choose_dictionaries(described, out));
  STROM_TRY(ask_srids(query, out));
  return out;
}

/// The server's statistics say that the column of a table has few values.
Result<bool> Catalog::has_few_values(const ResultColumn& column) {
  constexpr double kMost = 1000, kMostShare = 0.1;
  if (column.table == 0) return false;
  STROM_ASSIGN(const auto rows,
               connection_.query("SELECT s.n_distinct, c.reltuples FROM pg_catalog.pg_class c"
                                 " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
                                 " JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid"
                                 " JOIN pg_catalog.pg_stats s ON (s.schemaname, s.tablename, s.attname) ="
                                 " (n.nspname, c.relname, a.attname) WHERE c.oid = $1::oid AND a.attnum = $2::int2"
                                 " ORDER BY s.inherited DESC LIMIT 1",
                                 {std::to_string(column.table), std::to_string(column.number)}));
  if (rows.empty()) return false;
  const double distinct = atof(rows[0][0].value_or("0").c_str()), count = atof(rows[0][1].value_or("0").c_str());
  const double values = distinct < 0 ? -distinct * count : distinct;
  return values > 0 && values <= kMost && (count <= 0 || values <= kMostShare * count);
}

Status Catalog::choose_dictionaries(const std::vector<ResultColumn>& described, std::vector<Column>& columns) {
  const auto can = [](const Column& column) {
    return column.field.layout == Layout::kUtf8 && !column.field.dictionary && column.wire.wire == Wire::kText;
  };
  for (const std::string& name : settings_.dictionary) {
    const bool all = name == "*";
    bool found = all;
    for (size_t i = 0; i < columns.size(); ++i) {
      Column& column = columns[i];
      if (!all && column.field.name != name) continue;
      found = true;
      if (column.field.dictionary) continue;
      if (!can(column)) {
        if (all) continue;
        return Status(ErrorCode::kInvalidParameter, "column \"" + name + "\" is not of text and has no dictionary");
      }
      if (all) {
        STROM_ASSIGN(const bool few, has_few_values(described[i]));
        if (!few) continue;
      }
      column.wire.wire = Wire::kEnum;
      column.wire.labels = std::make_shared<Labels>(std::vector<std::string>(), true);
      const uint64_t key = (uint64_t{1} << 32) + dictionaries_.size();
      column.field.dictionary = true;
      column.field.dictionary_id = dictionaries_.emplace(key, static_cast<int64_t>(dictionaries_.size())).first->second;
    }
    if (!found) return Status(ErrorCode::kInvalidParameter, "there is no column \"" + name + "\" for --dictionary");
  }
  return Status::ok();
}

/// PostGIS's numbers of the modifier: SRID, type, Z and M.
void Catalog::geometry_column(const Type& type, int32_t modifier, Column& column) const {
  constexpr uint32_t kGeographySrid = 4326;
  const bool is_geography = type.name == "geography";
  column.field.layout = Layout::kBinary;
  column.wire.wire = Wire::kGeometry;
  if (modifier >= 0) column.wire.srid = static_cast<uint32_t>(modifier) >> 8 & 0x1FFFFF;
  if (column.wire.srid == 0 && is_geography) column.wire.srid = kGeographySrid;
  if (column.wire.srid == 0) column.geometry_schema = type.schema;
  column.field.metadata.emplace_back("ARROW:extension:name", "geoarrow.wkb");
  column.field.metadata.emplace_back("ARROW:extension:metadata", is_geography ? R"("edges":"spherical")" : "");
}

/// A column without a modifier has the SRID of its first value, which all must have: Arrow's extension type has one for
/// the column.
Status Catalog::ask_srids(const std::string& query, std::vector<Column>& columns) {
  std::string names;
  for (size_t i = 0; i < columns.size(); ++i) names += (i == 0 ? "c" : ", c") + std::to_string(i);
  for (size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    if (column.wire.wire != Wire::kGeometry) continue;
    if (!column.geometry_schema.empty() && !query.empty()) {
      const std::string value = "q.c" + std::to_string(i);
      STROM_ASSIGN(const auto rows, connection_.query("SELECT " + connection_.quoted_name(column.geometry_schema) +
                                                      ".st_srid(" + value + ") FROM (" + query + "\n) AS q(" + names +
                                                      ") WHERE " + value + " IS NOT NULL LIMIT 1"));
      if (!rows.empty()) column.wire.srid = number(rows[0][0]);
    }
    for (auto& [key, value] : column.field.metadata) {
      if (key != "ARROW:extension:metadata") continue;
      const std::string crs = column.wire.srid == 0 ? "" : "\"crs\":\"EPSG:" + std::to_string(column.wire.srid) + "\"";
      value = "{" + crs + (crs.empty() || value.empty() ? "" : ",") + value + "}";
    }
  }
  return Status::ok();
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
  column.field.layout = Layout::kUtf8;
  column.field.precision = column.field.scale = 0;
  column.field.children.clear();
  column.field.dictionary = false;
  column.wire.wire = Wire::kText;
  column.wire.oid = format::pgwire::kTextType;
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
  } else if (found->schema == "pg_catalog" && found->extension == "pg_strom" && found->name == "int1") {
    out.field.layout = Layout::kInt8;
    out.wire.wire = Wire::kInt;
  } else if (found->schema == "pg_catalog" && found->extension == "pg_strom" && found->name == "float2") {
    out.field.layout = Layout::kFloat16;
    out.wire.wire = Wire::kInt;
  } else if (found->extension == "postgis" && (found->name == "geometry" || found->name == "geography")) {
    geometry_column(*found, modifier, out);
  } else {
    out.wire.infinity_is_null = settings_.infinity_is_null;
    out.wire.out_of_range_is_null = settings_.out_of_range_is_null;
    if (!format::pgwire::set_builtin_type(oid, modifier, settings_.numeric, timezone_, out.field, out.wire))
      as_text(out);
  }
  return out;
}

Result<std::shared_ptr<Labels>> Catalog::labels(uint32_t oid) {
  auto& known = labels_[oid];
  if (known == nullptr) {
    STROM_ASSIGN(
        const auto rows,
        connection_.query("SELECT enumlabel FROM pg_catalog.pg_enum WHERE enumtypid = $1::oid ORDER BY enumsortorder",
                          {std::to_string(oid)}));
    std::vector<std::string> all;
    for (const Row& row : rows) {
      all.push_back(row[0].value_or(""));
      if (check_utf8_ && !columnar::is_utf8(all.back()))
        return Status(ErrorCode::kInvalidParameter, "an enum has a label that is not valid UTF-8")
            .with_hint("Cast the column to bytea in the query given by -c.");
    }
    known = std::make_shared<Labels>(std::move(all));
  }
  return known;
}

Status Catalog::enum_column(uint32_t oid, Column& column) {
  STROM_ASSIGN(column.wire.labels, labels(oid));
  column.wire.wire = Wire::kEnum;
  column.field.layout = Layout::kUtf8;
  column.field.ordered = true;
  column.field.dictionary = true;
  column.field.dictionary_id = dictionaries_.emplace(oid, static_cast<int64_t>(dictionaries_.size())).first->second;
  return Status::ok();
}

Status Catalog::array_column(const Type& type, int32_t modifier, Column& out) {
  STROM_ASSIGN(Column element, column("element", type.element, modifier));
  const bool is_text = element.cast == "text";
  const bool is_geometry = element.wire.wire == Wire::kGeometry;
  if ((!element.cast.empty() && !is_text) || is_geometry) {
    as_text(out);
    return Status::ok();
  }
  if (is_text) out.cast = "text[]";
  out.wire.wire = Wire::kArray;
  out.field.layout = Layout::kList;
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
    if (!part.cast.empty() || part.wire.wire == Wire::kGeometry) {
      as_text(out);
      return Status::ok();
    }
    parts.push_back(std::move(part));
  }
  out.wire.wire = Wire::kRecord;
  out.field.layout = Layout::kStruct;
  for (Column& part : parts) {
    out.field.children.push_back(std::move(part.field));
    out.wire.children.push_back(std::move(part.wire));
  }
  return Status::ok();
}

}  // namespace strom::pg2arrow
