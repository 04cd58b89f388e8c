// SQL functions about Arrow tables and their files, as declared in sql/arrow_fdw.sql, except the import.
#include "format/arrow/read/metadata_cache.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/files/file_list.hpp"
#include "pg/files/shared_metadata.hpp"
#include "pg/files/source.hpp"
#include "pg/files/virtual_value.hpp"
#include "pg/sqlfn/arrow_facts.hpp"

namespace boundary = strom::pg::boundary;
namespace files = strom::pg::files;
using boundary::guard;

namespace {

/// Rows of arrow_fdw_metadata_info() about one file.
class MetadataRows {
 public:
  MetadataRows(ReturnSetInfo* result, Oid relid, std::string file)
      : result_(result), relid_(relid), file_(std::move(file)) {}

  void add(const std::string* field, const strom::columnar::KeyValues& metadata) const {
    for (const auto& [key, value] : metadata) {
      const std::string texts[] = {file_, field != nullptr ? files::server_text(*field) : std::string(),
                                   files::server_text(key), files::server_text(value)};
      guard([&] {
        Datum values[] = {ObjectIdGetDatum(relid_), 0, 0, 0, 0};
        bool nulls[5] = {false, false, field == nullptr, false, false};
        for (int i = 0; i < 4; ++i) values[i + 1] = CStringGetTextDatum(texts[i].c_str());
        tuplestore_putvalues(result_->setResult, result_->setDesc, values, nulls);
      });
    }
  }

 private:
  ReturnSetInfo* result_;
  Oid relid_;
  std::string file_;
};

}  // namespace

/// pgstrom.arrow_fdw_check_pattern(filename, pattern) -> text
STROM_SQL_FUNCTION(strom_arrow_fdw_check_pattern) {
  const auto argument = [fcinfo](int n) { return guard([=] { return text_to_cstring(PG_GETARG_TEXT_PP(n)); }); };
  const auto pattern = boundary::value_or_throw(files::PathPattern::parse(argument(1)));
  std::vector<std::string> values;
  std::string answer = "false";
  if (pattern.match(argument(0), &values)) {
    answer = "true";
    for (size_t i = 0; i < values.size(); ++i) {
      const auto& key = pattern.keys()[i];
      answer += std::string(i == 0 ? " {" : ", ") + (key.is_number ? "@[" : "$[") + key.name + "]=[" + values[i] + "]";
    }
    if (!values.empty()) answer += "}";
  }
  return guard([&answer] { return CStringGetTextDatum(answer.c_str()); });
}

/// pgstrom.arrow_fdw_metadata_stats() -> json
STROM_SQL_FUNCTION(strom_arrow_fdw_metadata_stats) {
  const auto stats = strom::format::arrow::metadata_cache().stats();
  const int64_t shared = files::shared_metadata_bytes();
  return guard([&stats, shared] {
    return CStringGetTextDatum(
        psprintf(R"({"total_cache_sz": %lld, "total_cache_usage": %lld, "num_file_entries": %lld, )"
                 R"("cache_hits": %lld, "cache_misses": %lld, "shared_cache_usage": %lld})",
                 static_cast<long long>(stats.most_bytes), static_cast<long long>(stats.bytes),
                 static_cast<long long>(stats.files), static_cast<long long>(stats.hits),
                 static_cast<long long>(stats.misses), static_cast<long long>(shared)));
  });
}

/// pgstrom.arrow_fdw_metadata_info(regclass) -> setof (relid, filename, field, key, value)
STROM_SQL_FUNCTION(strom_arrow_fdw_metadata_info) {
  const Oid relid = PG_GETARG_OID(0);
  guard([=] {
    strom::pg::sqlfn::require_readable_table(relid);
    InitMaterializedSRF(fcinfo, 0);
    LockRelationOid(relid, AccessShareLock);
  });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const auto source = files::Source::open(relid, {});
  for (const auto& file : source->files()) {
    boundary::check_for_interrupts();
    const MetadataRows rows(result, relid, file->path());
    rows.add(nullptr, file->schema().metadata);
    for (const auto& field : file->schema().fields) rows.add(&field.name, field.metadata);
  }
  return Datum{0};
}
