// The SQL functions that pass columns to other programs, mainly Python, without another copy, as declared in
// sql/export.sql. Queries run with the rights of the caller. See docs/dev/python.md.
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/exports/keeper.hpp"
#include "pg/guc/guc.hpp"
#include "pg/sqlfn/arrow_output.hpp"
#include "pg/sqlfn/export_buffers.hpp"
#include "pg/sqlfn/json_options.hpp"
#include "pg/sqlfn/query_cursor.hpp"
#include "pg/sqlfn/text_argument.hpp"

namespace strom::pg::sqlfn {
namespace {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;

constexpr int64_t kKilobyte = 1024;
constexpr int64_t kMicrosPerSecond = 1000000;
constexpr int64_t kShareOfMemory = 4;
constexpr size_t kSha256Bytes = 32;
// Small enough to stay in the processor's cache until they are copied.
constexpr int64_t kStreamBatchBytes = int64_t{4} << 20;

/// The limit, in bytes, for all exports of a role together.
int64_t memory_limit() {
  if (guc::pg_strom::export_memory >= 0) return guc::pg_strom::export_memory * kKilobyte;
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / kShareOfMemory;
}

void set_nulls(const std::string& value, ExportSettings* settings) {
  using Nulls = ExportSettings::Nulls;
  if (value == "error")
    settings->nulls = Nulls::kError;
  else if (value == "mask")
    settings->nulls = Nulls::kMask;
  else if (value == "fill")
    settings->nulls = Nulls::kFill;
  else
    throw_if_failed(Status(ErrorCode::kInvalidParameter, "option \"nulls\" needs error, mask or fill"));
}

double number_option(const std::string& name, const std::string& value) {
  if (value == "NaN") return NAN;
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size())
    throw_if_failed(Status(ErrorCode::kInvalidParameter, "option \"" + name + "\" needs a number"));
  return number;
}

/// The argument that names a GPU; -1: none. May throw.
int32_t device_setting(int64_t number) {
  if (number < -1 || number > INT32_MAX)
    throw_if_failed(Status(ErrorCode::kInvalidParameter, "a GPU's number must not be " + std::to_string(number))
                        .with_hint("pgstrom.gpu_devices lists GPUs. -1 exports to the server's memory."));
  return number == -1 ? ExportSettings::kServerMemory : static_cast<int32_t>(number);
}

ExportSettings read_export_settings(Datum jsonb) {
  ExportSettings settings;
  settings.limit = memory_limit();
  bool has_nulls = false;
  for (const auto& [name, value] : json_options(jsonb)) {
    if (name == "form") {
      if (value != "matrix" && value != "columns" && value != "stream")
        throw_if_failed(Status(ErrorCode::kInvalidParameter, "option \"form\" needs matrix, columns or stream"));
      settings.is_matrix = value == "matrix";
      settings.is_stream = value == "stream";
    } else if (name == "nulls") {
      set_nulls(value, &settings);
      has_nulls = true;
    } else if (name == "fill") {
      settings.fill = number_option(name, value);
    } else if (name == "pinned") {
      settings.is_pinned = truth_option(name, value);
    } else if (name == "device") {
      settings.device = device_setting(static_cast<int64_t>(number_option(name, value)));
    } else {
      throw_if_failed(Status(ErrorCode::kInvalidParameter, "unknown option \"" + name + "\"")
                          .with_hint("Options are: form, nulls, fill, pinned, device."));
    }
  }
  if (settings.is_stream && has_nulls)
    throw_if_failed(Status(ErrorCode::kInvalidParameter, "option \"nulls\" is for the forms matrix and columns"));
  if (settings.is_stream && settings.device != ExportSettings::kServerMemory)
    throw_if_failed(Status(ErrorCode::kInvalidParameter, "option \"device\" is for the forms matrix and columns"));
  // A matrix cannot contain bitmaps, so NULL is an error unless the caller has chosen how to handle it.
  if (!has_nulls && settings.is_matrix) settings.nulls = ExportSettings::Nulls::kError;
  return settings;
}

Datum as_text(const std::string& identifier) {
  const char* text = identifier.c_str();
  return guard([text] { return CStringGetTextDatum(text); });
}

/// The part of the request that is known before the rows.
service::PutExport new_request(const ExportSettings& settings) {
  service::PutExport request;
  request.facts.owner = GetUserId();
  request.facts.database = MyDatabaseId;
  request.facts.process = MyProcPid;
  request.facts.is_pinned = settings.is_pinned ? 1 : 0;
  request.facts.made_us = static_cast<int64_t>(timestamptz_to_time_t(GetCurrentTimestamp())) * kMicrosPerSecond;
  request.limit = settings.limit;
  return request;
}

/// Passes a sealed file to the keeper, and returns the export's identifier as text. May throw.
Datum put_export(service::PutExport request, const FinishedExport& finished, int64_t rows, int64_t columns) {
  const service::ExportFile& file = *finished.file;
  const int lease = finished.copy ? finished.copy->lease.get() : -1;
  request.facts.bytes = finished.bytes;
  if (finished.copy) request.facts.device = finished.copy->device;
  request.file_bytes = file.length();
  request.facts.rows = rows;
  request.facts.columns = static_cast<int32_t>(columns);
  return as_text(value_or_throw(exports::connected_keeper().put(request, file.descriptor(), lease)));
}

/// Sets the key: the SHA-256 of everything that determines the bytes of the export, which are the set of rows and the
/// layout. Leaves zeros when that is unknown. May throw.
void set_key(const CursorColumns* rows, Portal portal, const ExportBuffers& buffers, service::PutExport* request) {
  const std::string layout = buffers.identity();
  if (rows == nullptr || layout.empty()) return;
  const std::string origin = rows->origin(portal);
  if (origin.empty()) return;
  std::string all;
  columnar::append_name(&all, MyDatabaseId, layout.size());
  all.append(layout).append(origin);
  const std::string_view bytes = all;
  char* key = request->key;
  static_assert(sizeof request->key == kSha256Bytes);
  guard([bytes, key] {
    auto* value = static_cast<bytea*>(palloc(bytes.size() + VARHDRSZ));
    SET_VARSIZE(value, bytes.size() + VARHDRSZ);
    std::memcpy(VARDATA(value), bytes.data(), bytes.size());
    const bytea* hash = DatumGetByteaPP(DirectFunctionCall1(sha256_bytea, PointerGetDatum(value)));
    std::memcpy(key, VARDATA_ANY(hash), kSha256Bytes);
    pfree(value);
  });
}

/// Writes an Arrow stream to the only buffer of an export's file.
class StreamSink final : public format::ByteSink {
 public:
  StreamSink(service::ExportFile& file, int64_t limit) : file_(file), limit_(limit) {}

  Status append(std::vector<struct iovec> pieces) override {
    for (const auto& piece : pieces) {
      const auto size = static_cast<int64_t>(piece.iov_len);
      if (position() + size > limit_) return over_limit(limit_);
      STROM_TRY(file_.append(0, piece.iov_base, size));
    }
    return Status::ok();
  }
  int64_t position() const override { return file_.size(0); }
  const std::string& path() const override { return name_; }
  Status commit() override { return Status::ok(); }

 private:
  service::ExportFile& file_;
  const int64_t limit_;
  const std::string name_ = "an export";
};

/// Exports the rows of `query` as an Arrow stream: with any types, in record batches as in arrow_ipc_stream(). May
/// throw.
Datum export_stream(const std::string& query, const ExportSettings& settings) {
  Portal portal = open_query(query);
  service::ExportFile file = value_or_throw(service::ExportFile::create(1, {}));
  OutputSettings output_settings;
  output_settings.batch_bytes = kStreamBatchBytes;
  ArrowOutput output(output_settings, true);
  output.start(portal->tupDesc, std::make_unique<StreamSink>(file, settings.limit));
  fetch(portal, CursorColumns::of(portal), &output, true);
  output.finish();
  const int columns = portal->tupDesc->natts;
  close_query(portal);
  throw_if_failed(file.settle(1));
  throw_if_failed(file.seal(export_end(R"({"version": 1, "form": "stream", "rows": )" +
                                       std::to_string(output.total_rows()) + R"(, "columns": []})")));
  return put_export(new_request(settings), {&file, file.length(), std::nullopt}, output.total_rows(), columns);
}

/// Exports the rows of `query`, and returns the identifier as text. May throw.
Datum export_rows(const std::string& query, const ExportSettings& settings, bool rows_are_known) {
  if (settings.is_stream) return export_stream(query, settings);
  Portal portal = open_query(query);
  ExportBuffers buffers(settings);
  const double planned = portal->queryDesc == nullptr ? 0 : portal->queryDesc->plannedstmt->planTree->plan_rows;
  constexpr double kMostExpected = 1e12;
  buffers.start(portal->tupDesc, rows_are_known && planned < kMostExpected ? static_cast<int64_t>(planned) : 0);
  CursorColumns* rows = CursorColumns::of(portal);
  service::PutExport request = new_request(settings);
  set_key(rows, portal, buffers, &request);
  // The executor has started the plan, so the caller has the rights to read these rows.
  service::ExportClient* keeper = exports::running_keeper();
  const std::string same = keeper == nullptr ? std::string() : value_or_throw(keeper->put_same(request));
  if (!same.empty()) {
    close_query(portal);
    return as_text(same);
  }
  fetch(portal, rows, &buffers, true);
  const FinishedExport finished = buffers.finish();
  close_query(portal);
  return put_export(request, finished, buffers.rows(), buffers.columns());
}

/// A SELECT of columns of a relation: all, or those that the text array names. May ereport.
char* column_query(Oid relation, ArrayType* names) {
  StringInfoData query;
  initStringInfo(&query);
  appendStringInfoString(&query, "SELECT ");
  if (names == nullptr) {
    appendStringInfoString(&query, "*");
  } else {
    Datum* values;
    bool* nulls;
    int count;
    deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &count);
    if (count == 0)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("an export needs a column"),
                      errhint("NULL instead of an empty array exports all columns.")));
    for (int i = 0; i < count; ++i) {
      if (nulls[i])
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("names of columns must not be NULL")));
      const char* name = TextDatumGetCString(values[i]);
      if (get_attnum(relation, name) == InvalidAttrNumber)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                        errmsg("column \"%s\" of relation \"%s\" does not exist", name, get_rel_name(relation))));
      appendStringInfo(&query, "%s%s", i == 0 ? "" : ", ", quote_identifier(name));
    }
  }
  const char* table = get_rel_name(relation);
  if (table == nullptr) ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation does not exist")));
  appendStringInfo(&query, " FROM %s",
                   quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), table));
  return query.data;
}

Datum export_table(FunctionCallInfo fcinfo, bool is_pinned) {
  if (PG_ARGISNULL(0)) {
    fcinfo->isnull = true;
    return 0;
  }
  const Oid relation = PG_GETARG_OID(0);
  ArrayType* names = PG_ARGISNULL(1) ? nullptr : guard([=] { return PG_GETARG_ARRAYTYPE_P(1); });
  const char* query = guard([=] { return static_cast<const char*>(column_query(relation, names)); });
  ExportSettings settings;
  settings.limit = memory_limit();
  settings.is_matrix = true;
  settings.nulls = ExportSettings::Nulls::kError;
  settings.is_pinned = is_pinned;
  if (!PG_ARGISNULL(2))
    settings.device = device_setting(PG_GETARG_INT32(2));
  else if (exports::exports_go_to_gpu())
    settings.device = exports::kAnyDevice;
  const bool is_foreign = guard([relation] { return get_rel_relkind(relation) == RELKIND_FOREIGN_TABLE; });
  return export_rows(query, settings, is_foreign);
}

// May ereport.
void put_facts(ReturnSetInfo* result, const service::ExportFacts& facts) {
  const std::string place = facts.device < 0 ? "cpu" : "gpu" + std::to_string(facts.device);
  const Datum values[] = {ObjectIdGetDatum(facts.owner),
                          ObjectIdGetDatum(facts.database),
                          Int32GetDatum(facts.process),
                          Int64GetDatum(facts.bytes),
                          Int64GetDatum(facts.rows),
                          Int32GetDatum(facts.columns),
                          CStringGetTextDatum(place.c_str()),
                          BoolGetDatum(facts.is_pinned != 0),
                          TimestampTzGetDatum(time_t_to_timestamptz(facts.made_us / kMicrosPerSecond)),
                          Int64GetDatum(facts.uses)};
  const bool nulls[lengthof(values)] = {};
  tuplestore_putvalues(result->setResult, result->setDesc, const_cast<Datum*>(values), const_cast<bool*>(nulls));
}

}  // namespace
}  // namespace strom::pg::sqlfn

using namespace strom::pg::sqlfn;
namespace boundary = strom::pg::boundary;
namespace exports = strom::pg::exports;
namespace service = strom::service;

STROM_SQL_FUNCTION(strom_export_query) {
  return export_rows(text_argument(fcinfo, 0), read_export_settings(PG_GETARG_DATUM(1)), false);
}

STROM_SQL_FUNCTION(strom_arrow_fdw_export_cupy) { return export_table(fcinfo, false); }

STROM_SQL_FUNCTION(strom_arrow_fdw_export_cupy_pinned) { return export_table(fcinfo, true); }

/// pgstrom.arrow_fdw_put_gpu_buffer(identifier) -> whether the export existed
STROM_SQL_FUNCTION(strom_export_drop) {
  const service::ExportName name = service::parse_identifier(text_argument(fcinfo, 0));
  if (name.secret.empty())
    boundary::throw_if_failed(strom::Status(strom::ErrorCode::kInvalidParameter, "not the identifier of an export"));
  service::ExportClient* keeper = exports::running_keeper();
  if (keeper == nullptr || keeper->keeper() != name.keeper) PG_RETURN_BOOL(false);
  service::DropExport request;
  request.role = GetUserId();
  request.may_drop_all = boundary::guard([] { return superuser(); }) ? 1 : 0;
  name.secret.copy(request.secret, sizeof request.secret);
  PG_RETURN_BOOL(boundary::value_or_throw(keeper->drop(request)));
}

/// pgstrom.export_info() -> a row for each export of a role whose privileges the caller has; for pg_monitor, of all
/// roles
STROM_SQL_FUNCTION(strom_export_info) {
  boundary::guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  service::ExportClient* keeper = exports::running_keeper();
  if (keeper == nullptr) return Datum{0};
  for (const service::ExportFacts& facts : boundary::value_or_throw(keeper->list())) {
    boundary::guard([&] {
      if (has_privs_of_role(GetUserId(), facts.owner) || has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
        put_facts(result, facts);
    });
  }
  return Datum{0};
}
