// Implementation of the border; the only file that touches PG_TRY.
#include "pg/boundary/boundary.hpp"

#include <pthread.h>

#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

namespace strom::pg::boundary {

namespace {

constexpr const char kOutOfMemoryText[] = "out of memory";

/// The backend's main thread, which has loaded this library. No other thread may call PostgreSQL.
const pthread_t kBackendThread = pthread_self();

// Copies into the current memory context without ever raising; nullptr when there is no memory or no text.
const char* copy_text(const char* text) noexcept {
  if (text == nullptr || *text == '\0') return nullptr;
  constexpr size_t kLongest = 64 * 1024;  // an error text; also far below palloc's limit, which would raise
  const size_t length = strnlen(text, kLongest);
  auto* copy = static_cast<char*>(palloc_extended(length + 1, MCXT_ALLOC_NO_OOM));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

RaisableError plain_error(int sqlerrcode, const char* message) noexcept {
  const char* copy = copy_text(message);
  return {nullptr, sqlerrcode, copy != nullptr ? copy : "internal error", nullptr, nullptr};
}

RaisableError out_of_memory() noexcept { return {nullptr, ERRCODE_OUT_OF_MEMORY, kOutOfMemoryText, nullptr, nullptr}; }

int sqlerrcode_of(ErrorCode code) {
  const char* state = base::sqlstate(code);
  return MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
}

// Copies the error being handled out of ErrorContext into `context`; nullptr when even that fails.
ErrorData* take_current_error(MemoryContext context) {
  ErrorData* volatile taken = nullptr;
  PG_TRY();
  {
    MemoryContextSwitchTo(context);
    taken = CopyErrorData();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    taken = nullptr;
  }
  PG_END_TRY();
  FlushErrorState();
  return taken;
}

}  // namespace

const char* PostgresError::what() const noexcept {
  return data_ != nullptr && data_->message != nullptr ? data_->message : kOutOfMemoryText;
}

void throw_if_failed(const Status& status) {
  if (!status.is_ok()) throw StatusError(status);
}

RaisableError describe(const Status& status) noexcept {
  RaisableError error = plain_error(sqlerrcode_of(status.code()), status.message().c_str());
  error.detail = copy_text(status.detail().c_str());
  error.hint = copy_text(status.hint().c_str());
  return error;
}

RaisableError describe_current_exception() noexcept {
  try {
    throw;
  } catch (const PostgresError& e) {
    if (e.data() == nullptr) return out_of_memory();
    return {e.data(), 0, nullptr, nullptr, nullptr};
  } catch (const StatusError& e) {
    return describe(e.status());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& e) {
    return plain_error(ERRCODE_INTERNAL_ERROR, e.what());
  } catch (...) {
    return plain_error(ERRCODE_INTERNAL_ERROR, "unknown C++ exception");
  }
}

void raise(const RaisableError& error) {
  if (error.original != nullptr) ReThrowError(error.original);
  ereport(ERROR, (errcode(error.sqlerrcode), errmsg_internal("%s", error.message),
                  error.detail != nullptr ? errdetail_internal("%s", error.detail) : 0,
                  error.hint != nullptr ? errhint("%s", error.hint) : 0));
  pg_unreachable();
}

void run_guarded(void (*call)(void*), void* argument) {
  // PG_exception_stack would point to a thread's stack, and the next error of the backend would jump there.
  if (pthread_equal(pthread_self(), kBackendThread) == 0)
    throw std::logic_error("a thread of the engine has called PostgreSQL");
  MemoryContext context = CurrentMemoryContext;
  std::exception_ptr thrown;  // set by a C++ exception of `call`, which must not leave between PG_TRY and PG_END_TRY
  std::exception_ptr* const thrown_slot = &thrown;
  ErrorData* volatile raised_data = nullptr;
  volatile bool raised = false;
  PG_TRY();
  {
    try {
      call(argument);
    } catch (...) {
      *thrown_slot = std::current_exception();
    }
  }
  PG_CATCH();
  {
    raised_data = take_current_error(context);
    raised = true;
  }
  PG_END_TRY();
  if (raised) throw PostgresError(raised_data);
  if (thrown) std::rethrow_exception(thrown);
}

void check_for_interrupts() {
  if (INTERRUPTS_PENDING_CONDITION()) guard([] { CHECK_FOR_INTERRUPTS(); });
}

}  // namespace strom::pg::boundary
