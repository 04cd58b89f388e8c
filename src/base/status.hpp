// Status and Result<T>: how every layer below src/pg reports failure. No exception leaves a library; src/pg turns a
// Status into an ereport with the SQLSTATE of its code.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/errors.hpp"

namespace strom::base {

/// Outcome of an operation. Ok costs one pointer; a failure carries a message in PostgreSQL's style (lower case,
/// no full stop), and optionally a DETAIL and a HINT (whole sentences).
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message)
      : state_(std::make_shared<State>(State{code, std::move(message), {}, {}})) {}

  static Status ok() { return {}; }
  bool is_ok() const { return state_ == nullptr; }
  ErrorCode code() const { return state_ ? state_->code : ErrorCode::kOk; }
  const std::string& message() const { return state_ ? state_->message : empty(); }
  const std::string& detail() const { return state_ ? state_->detail : empty(); }
  const std::string& hint() const { return state_ ? state_->hint : empty(); }

  Status&& with_detail(std::string text) && {
    if (state_) state_->detail = std::move(text);
    return std::move(*this);
  }
  Status&& with_hint(std::string text) && {
    if (state_) state_->hint = std::move(text);
    return std::move(*this);
  }

 private:
  struct State {
    ErrorCode code;
    std::string message, detail, hint;
  };
  static const std::string& empty() {
    static const std::string text;
    return text;
  }
  std::shared_ptr<State> state_;
};

/// Either a value or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : content_(std::in_place_index<1>, std::move(status)) {}

  bool is_ok() const { return content_.index() == 0; }
  T& value() & { return std::get<0>(content_); }
  const T& value() const& { return std::get<0>(content_); }
  T&& value() && { return std::get<0>(std::move(content_)); }
  Status status() const { return is_ok() ? Status::ok() : std::get<1>(content_); }

 private:
  std::variant<T, Status> content_;
};

}  // namespace strom::base

namespace strom {
using base::ErrorCode;
using base::Result;
using base::Status;
}  // namespace strom

#define STROM_CONCAT_INNER(a, b) a##b
#define STROM_CONCAT(a, b) STROM_CONCAT_INNER(a, b)

/// Returns from the enclosing function when `expr`, a Status, is a failure.
#define STROM_TRY(expr)                                                         \
  do {                                                                          \
    if (auto strom_status = (expr); !strom_status.is_ok()) return strom_status; \
  } while (false)

/// Declares or assigns `lhs` from a Result, returning its Status on failure.
#define STROM_ASSIGN(lhs, expr) STROM_ASSIGN_INNER(STROM_CONCAT(strom_result_, __LINE__), lhs, expr)
#define STROM_ASSIGN_INNER(tmp, lhs, expr) \
  auto tmp = (expr);                       \
  if (!tmp.is_ok()) return tmp.status();   \
  lhs = std::move(tmp).value()
