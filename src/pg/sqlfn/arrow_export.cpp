// The SQL functions arrow_export, arrow_ipc and arrow_ipc_stream. Queries are read-only. They run with the rights of
// the caller and the snapshot of the calling statement.
#include <sys/stat.h>

#include <string>

#include "format/staged_file.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/boundary/context_owned.hpp"
#include "pg/files/options.hpp"
#include "pg/sqlfn/arrow_output.hpp"
#include "pg/sqlfn/query_cursor.hpp"
#include "pg/sqlfn/text_argument.hpp"

namespace strom::pg::sqlfn {
namespace {

using boundary::ContextOwned;
using boundary::guard;
using boundary::throw_if_failed;

/// Raises an ERROR if `path` is a file.
void refuse_existing(const std::string& path) {
  struct stat existing;
  if (lstat(path.c_str(), &existing) != 0) return;
  guard([name = path.c_str()] {
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_FILE), errmsg("file \"%s\" already exists", name),
                    errhint("The option {\"overwrite\": true} replaces it.")));
  });
}

/// Writes all rows of `query` to `sink`, and returns their number. May throw.
int64_t run(const std::string& query, const OutputSettings& settings, bool stream,
            std::unique_ptr<format::ByteSink> sink) {
  Portal portal = open_query(query);
  ArrowOutput output(settings, stream);
  output.start(portal->tupDesc, std::move(sink));
  fetch(portal, CursorColumns::of(portal), &output, true);
  output.finish();
  close_query(portal);
  return output.total_rows();
}

/// A copy in the caller's memory context.
bytea* copied(const bytea* bytes) {
  return guard([=] {
    void* copy = palloc(VARSIZE(bytes));
    memcpy(copy, bytes, VARSIZE(bytes));
    return static_cast<bytea*>(copy);
  });
}

/// State of arrow_ipc_stream() between its calls.
struct Stream {
  ArrowOutput output;
  MemorySink* sink = nullptr;  // owned by output
  std::string portal;
  CursorColumns* columns = nullptr;  // of the portal
  bool is_taken = false, is_done = false;

  explicit Stream(const OutputSettings& settings) : output(settings, true) {}

  void start(const std::string& query) {
    Portal opened = open_query(query);
    portal = opened->name;
    auto memory = std::make_unique<MemorySink>();
    sink = memory.get();
    output.start(opened->tupDesc, std::move(memory));
    columns = CursorColumns::of(opened);
  }

  /// Fills the sink with the next piece. May throw.
  void next() {
    sink->clear();
    const char* name = portal.c_str();
    Portal opened = guard([name] { return GetPortalByName(name); });
    if (!PortalIsValid(opened))
      throw_if_failed(Status(ErrorCode::kInternal, "the cursor of arrow_ipc_stream() is gone"));
    fetch(opened, columns, &output, false);
    if (output.is_full()) return output.flush();
    output.finish();
    close_query(opened);
    is_done = true;
  }
};

}  // namespace
}  // namespace strom::pg::sqlfn

using namespace strom::pg::sqlfn;
namespace boundary = strom::pg::boundary;

STROM_SQL_FUNCTION(strom_arrow_export) {
  strom::pg::files::require_write_privilege();
  const std::string query = text_argument(fcinfo, 0), path = text_argument(fcinfo, 1);
  if (path.empty() || path.front() != '/')
    boundary::throw_if_failed(
        strom::Status(strom::ErrorCode::kInvalidParameter, "arrow_export() needs an absolute path"));
  OutputSettings settings;
  read_settings(PG_GETARG_DATUM(2), &settings);
  if (!settings.overwrite) refuse_existing(path);
  auto file = boundary::value_or_throw(strom::format::StagedFile::create(path, settings.overwrite));
  try {
    PG_RETURN_INT64(run(query, settings, false, std::move(file)));
  } catch (const boundary::StatusError& error) {
    if (error.status().code() == strom::ErrorCode::kFileExists) refuse_existing(path);  // it has come meanwhile
    throw;
  }
}

STROM_SQL_FUNCTION(strom_arrow_ipc) {
  OutputSettings settings;
  read_settings(PG_GETARG_DATUM(1), &settings);
  // Passes bytes on to a sink that outlives it. The writer that owns this object is destroyed when run() returns.
  class Forward final : public strom::format::ByteSink {
   public:
    explicit Forward(MemorySink& to) : to_(to) {}
    strom::Status append(std::vector<struct iovec> pieces) override { return to_.append(std::move(pieces)); }
    int64_t position() const override { return to_.position(); }
    const std::string& path() const override { return to_.path(); }
    strom::Status commit() override { return strom::Status::ok(); }

   private:
    MemorySink& to_;
  };
  MemorySink sink;
  run(text_argument(fcinfo, 0), settings, true, std::make_unique<Forward>(sink));
  PG_RETURN_BYTEA_P(copied(sink.value()));
}

extern "C" {
PGDLLEXPORT PG_FUNCTION_INFO_V1(strom_arrow_ipc_stream);

PGDLLEXPORT Datum strom_arrow_ipc_stream(PG_FUNCTION_ARGS) {
  if (SRF_IS_FIRSTCALL()) {
    FuncCallContext* first = SRF_FIRSTCALL_INIT();
    first->user_fctx = boundary::entry([&]() -> void* {
      OutputSettings settings;
      read_settings(PG_GETARG_DATUM(2), &settings);
      constexpr int64_t kMostBytes = int64_t{900} << 20;
      settings.batch_bytes = PG_GETARG_INT64(1);
      if (settings.batch_bytes < 1 || settings.batch_bytes > kMostBytes)
        boundary::throw_if_failed(strom::Status(strom::ErrorCode::kInvalidParameter,
                                                "batch_bytes must be between 1 and " + std::to_string(kMostBytes)));
      auto stream = boundary::ContextOwned<Stream>::make(first->multi_call_memory_ctx, settings);
      stream->start(text_argument(fcinfo, 0));
      return stream.get();
    });
  }
  FuncCallContext* call = SRF_PERCALL_SETUP();
  auto* stream = static_cast<Stream*>(call->user_fctx);
  bytea* piece = boundary::entry([&]() -> bytea* {
    if (stream->is_done) return nullptr;
    if (stream->is_taken) stream->next();  // the first piece is the schema
    stream->is_taken = true;
    // The value is valid until the next call, which is sufficient for a set-returning function. New memory for each
    // piece would cost as much as filling it.
    return stream->sink->value();
  });
  if (piece == nullptr) SRF_RETURN_DONE(call);
  SRF_RETURN_NEXT(call, PointerGetDatum(piece));
}
}
