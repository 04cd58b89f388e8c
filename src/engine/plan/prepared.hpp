// Tells which functions take a constant in a prepared form, made when a pipeline begins to run, instead of its bytes.
// See docs/dev/prepared.md; op/prepared makes the forms.
#pragma once

#include <cstdint>

#include "registry/functions.hpp"

namespace strom::engine::plan {

enum class PreparedForm : uint8_t {
  kNone,
  kRegex,         // a text: engine/expr/regex.hpp
  kRegexAnyCase,  // in any case
};

/// The number of the argument that has the form, and is a constant then.
struct PreparedArgument {
  PreparedForm form = PreparedForm::kNone;
  int number = -1;
};

constexpr PreparedArgument prepared_argument(registry::FunctionId function) {
  switch (function) {
    case registry::FunctionId::kTextMatches: return {PreparedForm::kRegex, 1};
    case registry::FunctionId::kTextMatchesAnyCase: return {PreparedForm::kRegexAnyCase, 1};
    default: return {};
  }
}

/// The form of argument `number`.
constexpr PreparedForm prepared_form(registry::FunctionId function, int number) {
  const PreparedArgument prepared = prepared_argument(function);
  return prepared.number == number ? prepared.form : PreparedForm::kNone;
}

}  // namespace strom::engine::plan
