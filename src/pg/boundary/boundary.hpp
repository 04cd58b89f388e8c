// The border between PostgreSQL, whose errors are longjmps, and C++, whose errors are exceptions and Status values.
//
//   entry(f)  PostgreSQL calls C++. Wraps the C++ part of every callback: whatever f throws becomes an ereport(ERROR)
//             once f's frames and the exception object are gone.
//   guard(f)  C++ calls PostgreSQL. An ereport(ERROR) inside f becomes a PostgresError, which holds the whole
//             ErrorData, so that entry() raises it again with SQLSTATE, DETAIL, HINT, position and context.
//
// A function in src/pg is of one of two kinds. Its namespace or comment says which:
//    it may ereport; then it holds only trivially destructible objects while it does,
//    or it may throw.
// All functions here are for the backend's main thread only.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/status.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::boundary {

/// A PostgreSQL error on its way through C++ frames. The ErrorData lives in the memory context that was current when
/// guard() was called. entry() raises the error again, and PostgreSQL then resets that context.
class PostgresError : public std::exception {
 public:
  /// `data` nullptr: PostgreSQL had no memory left to copy its error.
  explicit PostgresError(ErrorData* data) : data_(data) {}
  const char* what() const noexcept override;
  ErrorData* data() const { return data_; }

 private:
  ErrorData* data_;
};

/// A failed Status on its way to entry().
class StatusError : public std::exception {
 public:
  explicit StatusError(Status status) : status_(std::move(status)) {}
  const char* what() const noexcept override { return status_.message().c_str(); }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

/// Throws StatusError unless `status` is ok.
void throw_if_failed(const Status& status);

/// The value of `result`; throws StatusError when there is none.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result.is_ok()) throw StatusError(result.status());
  return std::move(result).value();
}

/// An error stripped of everything with a destructor, ready for ereport. Strings are palloc'd or static.
struct RaisableError {
  ErrorData* original;  // not nullptr: this error is raised again unchanged
  int sqlerrcode;
  const char* message;
  const char* detail;  // nullptr = none
  const char* hint;    // nullptr = none
};

/// Describes the exception being handled; call inside a catch block. Never throws and never raises.
RaisableError describe_current_exception() noexcept;

/// ereport(ERROR). The caller's frame must hold nothing that needs a destructor.
[[noreturn]] void raise(const RaisableError& error);

/// Describes a failed Status for raise(), for code that may not throw.
RaisableError describe(const Status& status) noexcept;

/// Runs C++ code for PostgreSQL; see the head of this file. `f` captures by reference and returns plain data.
template <class F>
auto entry(F&& f) -> std::invoke_result_t<F&> {
  using R = std::invoke_result_t<F&>;
  static_assert(std::is_void_v<R> || std::is_trivially_destructible_v<R>, "raise() would skip the destructor");
  static_assert(std::is_trivially_destructible_v<std::remove_reference_t<F>>, "raise() would skip the destructor");
  RaisableError error;
  try {
    return f();
  } catch (...) {
    error = describe_current_exception();
  }
  raise(error);
}

/// Calls `call(argument)` with PostgreSQL's errors caught. Not a template, so that setjmp stays in one small frame.
void run_guarded(void (*call)(void*), void* argument);

/// Runs PostgreSQL code for C++; throws PostgresError. `f` and its result hold nothing with a destructor, because an
/// error inside jumps over them. A C++ exception of `f` itself passes through.
template <class F>
auto guard(F&& f) -> std::invoke_result_t<F&> {
  using R = std::invoke_result_t<F&>;
  static_assert(std::is_trivially_destructible_v<std::remove_reference_t<F>>, "an error would skip the destructor");
  if constexpr (std::is_void_v<R>) {
    run_guarded([](void* argument) { (*static_cast<std::remove_reference_t<F>*>(argument))(); },
                const_cast<void*>(static_cast<const void*>(std::addressof(f))));
  } else {
    static_assert(std::is_trivially_copyable_v<R>, "an error would skip the destructor");
    struct Call {
      std::remove_reference_t<F>* function;
      R result;
    } call{std::addressof(f), R{}};
    run_guarded(
        [](void* argument) {
          auto* c = static_cast<Call*>(argument);
          c->result = (*c->function)();
        },
        &call);
    return call.result;
  }
}

/// CHECK_FOR_INTERRUPTS for C++ frames; costs a load and a branch when nothing is pending.
void check_for_interrupts();

}  // namespace strom::pg::boundary

/// Defines the SQL-callable C function `name`; the body that follows is C++ (it may throw, `fcinfo` is in scope) and
/// returns a Datum.
#define STROM_SQL_FUNCTION(name)                                                         \
  static Datum name##_body(FunctionCallInfo fcinfo);                                     \
  extern "C" {                                                                           \
  PGDLLEXPORT PG_FUNCTION_INFO_V1(name);                                                 \
  PGDLLEXPORT Datum name(PG_FUNCTION_ARGS) {                                             \
    return ::strom::pg::boundary::entry([&]() -> Datum { return name##_body(fcinfo); }); \
  }                                                                                      \
  }                                                                                      \
  static Datum name##_body([[maybe_unused]] FunctionCallInfo fcinfo)
