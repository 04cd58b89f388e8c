// Which functions take a constant in a form that is made for them when a pipeline begins to run, instead of its bytes.
// See docs/dev/prepared.md; what makes the forms is op/prepared.
#pragma once

#include <cstdint>

#include "registry/functions.hpp"

namespace strom::engine::plan {

enum class PreparedForm : uint8_t {
  kNone,
  kRegex,         // a text: engine/expr/regex.hpp
  kRegexAnyCase,  // in any case
};

/// Number of the argument, which is a constant then.
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

/// That of argument `number`.
constexpr PreparedForm prepared_form(registry::FunctionId function, int number) {
  const PreparedArgument prepared = prepared_argument(function);
  return prepared.number == number ? prepared.form : PreparedForm::kNone;
}

}  // namespace strom::engine::plan
