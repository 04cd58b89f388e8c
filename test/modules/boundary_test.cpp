// SQL functions that cross the border between PostgreSQL and C++ in every way there is; loaded by test/tap/boundary.py.
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pg/boundary/boundary.hpp"
#include "pg/boundary/context_owned.hpp"
#include "pg/codec/decode.hpp"
#include "pg/codec/encode.hpp"
#include "pg/codec/numeric.hpp"

extern "C" {
#include "access/xact.h"
#include "executor/spi.h"
PG_MODULE_MAGIC;
}

namespace boundary = strom::pg::boundary;
using strom::ErrorCode;
using strom::Status;

namespace {

int live_objects = 0;

/// Counts those whose destructor has not run.
struct Tracer {
  Tracer() { ++live_objects; }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer() { --live_objects; }
};

std::string text_argument(FunctionCallInfo fcinfo, int n) {
  return boundary::guard([=] { return text_to_cstring(PG_GETARG_TEXT_PP(n)); });
}

// Runs a statement under the guard, with an object alive on each side of it.
void run_sql(const std::string& sql) {
  Tracer outer;
  boundary::guard([&sql] {
    SPI_connect();
    SPI_execute(sql.c_str(), false, 0);
    SPI_finish();
  });
  Tracer inner;
}

void fail_in_a_loop_until_memory_ends() {
  Tracer tracer;
  std::vector<std::string> held;
  boundary::guard([] {
    MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "boundary test", ALLOCSET_DEFAULT_SIZES);
    MemoryContextAllocHuge(context, static_cast<Size>(1) << 62);
  });
}

// Error inside of a guard whose lambda then throws itself: the C++ exception passes through.
void throw_inside_guard() {
  Tracer tracer;
  boundary::guard([] { throw std::runtime_error("thrown inside of guard"); });
}

// What the guard says to a thread.
void guard_in_a_thread() {
  std::exception_ptr thrown;
  std::thread([&thrown] {
    try {
      boundary::guard([] { (void)GetCurrentTransactionId(); });
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

/// throw_as(kind): what each kind of exception becomes.
STROM_SQL_FUNCTION(strom_test_throw) {
  Tracer tracer;
  const std::string kind = text_argument(fcinfo, 0);
  if (kind == "status")
    boundary::throw_if_failed(Status(ErrorCode::kTypeMismatch, "message with % and \"quotes\"")
                                  .with_detail("A detail.")
                                  .with_hint("A hint."));
  if (kind == "bad_alloc") throw std::bad_alloc();
  if (kind == "exception") throw std::runtime_error("plain exception");
  if (kind == "int") throw 42;
  if (kind == "long") throw std::runtime_error(std::string(1 << 20, 'x'));
  if (kind == "palloc") fail_in_a_loop_until_memory_ends();
  if (kind == "inside_guard") throw_inside_guard();
  if (kind == "thread") guard_in_a_thread();
  PG_RETURN_VOID();
}

/// Runs a statement below a guard below an entry; nest it in itself for deeper stacks.
STROM_SQL_FUNCTION(strom_test_run) {
  run_sql(text_argument(fcinfo, 0));
  PG_RETURN_VOID();
}

/// An error that is caught in C++ and thrown again from another frame stays what it was.
STROM_SQL_FUNCTION(strom_test_rethrow) {
  const std::string sql = text_argument(fcinfo, 0);
  try {
    run_sql(sql);
  } catch (const boundary::PostgresError& error) {
    Tracer tracer;
    throw;
  }
  PG_RETURN_VOID();
}

/// Number of objects whose destructors did not run.
STROM_SQL_FUNCTION(strom_test_live) { PG_RETURN_INT32(live_objects); }

/// Leaves an object to the context of the statement, then fails or not.
STROM_SQL_FUNCTION(strom_test_owned) {
  boundary::ContextOwned<Tracer>::make(fcinfo->flinfo->fn_mcxt);
  if (PG_GETARG_BOOL(0)) boundary::guard([] { ereport(ERROR, (errmsg("owner fails"))); });
  PG_RETURN_INT32(live_objects);
}

/// Same, but destroyed early; the context's callback must then do nothing.
STROM_SQL_FUNCTION(strom_test_owned_reset) {
  auto owned = boundary::ContextOwned<Tracer>::make(fcinfo->flinfo->fn_mcxt);
  owned.reset();
  PG_RETURN_INT32(live_objects);
}

/// Waits inside of a guard with objects alive, until cancelled or terminated.
STROM_SQL_FUNCTION(strom_test_wait) {
  Tracer tracer;
  for (;;) {
    boundary::guard([] { pg_usleep(1000); });
    boundary::check_for_interrupts();
  }
}

/// numeric to 128-bit fixed point of a scale and back; NULL where it does not fit.
STROM_SQL_FUNCTION(strom_test_fixed_point) {
  struct Answer {
    bool fits;
    Datum value;
  };
  const Datum value = PG_GETARG_DATUM(0);
  const int scale = PG_GETARG_INT32(1);
  const auto answer = boundary::guard([=] {
    __int128 unscaled = 0;
    const bool fits = strom::pg::codec::numeric_to_int128(value, scale, &unscaled);
    return Answer{fits, fits ? strom::pg::codec::numeric_from_int128(unscaled, scale) : Datum{0}};
  });
  if (!answer.fits) PG_RETURN_NULL();
  return answer.value;
}

/// A value through a column builder and back (`as_register` false) or through a register and back; NULL where it is
/// declined.
STROM_SQL_FUNCTION(strom_test_roundtrip) {
  namespace codec = strom::pg::codec;
  const Oid oid = boundary::guard([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 0); });
  const auto* type = strom::registry::find_type(oid);
  const Datum value = PG_GETARG_DATUM(0);
  constexpr int kScale = 4;
  if (PG_GETARG_BOOL(1)) {
    std::string bytes;
    if (codec::register_bytes(type->id, kScale, value, &bytes) != codec::Encoded::kDone) PG_RETURN_NULL();
    const strom::registry::StrView text{bytes.data(), static_cast<int64_t>(bytes.size())};
    const void* stored = type->phys == strom::registry::Phys::kStr ? static_cast<const void*>(&text) : bytes.data();
    return boundary::guard([=] { return codec::datum_from_register(type->id, kScale, -1, stored, 0); });
  }
  const strom::columnar::Field field = codec::field_for(type->id, kScale, "x");
  strom::columnar::ColumnBuilder column(field);
  codec::append(column, type->id, value, true);
  if (codec::append(column, type->id, value, false) != codec::Encoded::kDone) PG_RETURN_NULL();
  codec::Decoder decoder = codec::make_decoder(field, {oid, -1});
  decoder.view = column.view();
  struct Answer {
    bool null_kept, is_null;
    Datum value;
  };
  const auto answer = boundary::guard([&decoder] {
    Answer a;
    codec::decode(decoder, 0, &a.null_kept);
    a.value = codec::decode(decoder, 1, &a.is_null);
    return a;
  });
  if (!answer.null_kept || answer.is_null) throw std::logic_error("NULL was not kept");
  return answer.value;
}
