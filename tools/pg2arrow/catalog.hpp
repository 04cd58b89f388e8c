// From PostgreSQL's types to Arrow's: what the columns of a query become, and how their values are read.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "columnar/schema.hpp"
#include "format/pgwire/copy_decoder.hpp"
#include "pg2arrow/connection.hpp"

namespace strom::pg2arrow {

struct Column {
  columnar::Field field;
  format::pgwire::WireColumn wire;
  std::string cast;             // not empty: the query has to cast it to this first
  std::string geometry_schema;  // where PostGIS is, for a geometry whose SRID is not known
};

/// Looks types up, each once. Dictionaries are numbered from 0 in the order in which columns need them.
class Catalog {
 public:
  Catalog(Connection& connection, const Settings& settings);

  /// `query` returns them; it may be empty. It is asked for the SRID of geometries.
  Result<std::vector<Column>> columns(std::vector<ResultColumn> described, const std::string& query);

 private:
  struct Type {
    std::string schema, name, extension;
    char kind = 'b';       // pg_type.typtype
    uint32_t element = 0;  // of arrays
    uint32_t base = 0;     // of domains
    int32_t base_modifier = -1;
    uint32_t relation = 0;  // of composites
    std::string pg_type() const { return schema + "." + name + (extension.empty() ? "" : "@" + extension); }
  };

  Result<const Type*> type(uint32_t oid);
  /// `column.cast` is "text" when the type is not read as it is.
  Result<Column> column(const std::string& name, uint32_t oid, int32_t modifier);
  Status enum_column(uint32_t oid, Column& column);
  Status array_column(const Type& type, int32_t modifier, Column& column);
  Status composite_column(const Type& type, Column& column);
  Result<std::shared_ptr<columnar::Labels>> labels(uint32_t oid);
  static void as_text(Column& column);
  Status name_domains(const std::string& query, std::vector<ResultColumn>& described);
  Status choose_dictionaries(const std::vector<ResultColumn>& described, std::vector<Column>& columns);
  Result<bool> has_few_values(const ResultColumn& column);
  void geometry_column(const Type& type, int32_t modifier, Column& column) const;
  Status ask_srids(const std::string& query, std::vector<Column>& columns);

  Connection& connection_;
  const Settings& settings_;
  bool check_utf8_;
  std::string timezone_;
  std::map<uint32_t, Type> types_;
  std::map<uint32_t, std::shared_ptr<columnar::Labels>> labels_;
  std::map<uint64_t, int64_t> dictionaries_;  // by the enum, or by the column above all of those
};

}  // namespace strom::pg2arrow
