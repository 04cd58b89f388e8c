// See chunk_filter.hpp.
//
// The values of a column in a batch lie between two bounds, or are NULL. A floating-point column may also contain NaN.
// Writers of statistics ignore NaN, but PostgreSQL treats it as the largest value. So conditions are tested for both:
// bit 0 of the result is for the values between the bounds, bit 1 for NaN.
#include "pg/pruning/chunk_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "columnar/layout.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/eval/early_value.hpp"
#include "pg/codec/decode.hpp"
#include "pg/codec/function_extension.hpp"
#include "pg/compat/collation.hpp"
#include "pg/pruning/box_clause.hpp"
#include "pg/pruning/stored_bounds.hpp"
#include "pg/pruning/text_bounds.hpp"

namespace strom::pg::pruning {

using boundary::guard;
using columnar::Bounds;
using columnar::Layout;

namespace {

constexpr unsigned kOrdinary = 1, kNotANumber = 2, kPossible = kOrdinary | kNotANumber, kImpossible = 0;

struct Text {
  const char* data;
  size_t size;
  std::string_view view() const { return {data, size}; }
};

bool is_float(Oid type) { return type == FLOAT4OID || type == FLOAT8OID; }

bool is_comparable(Oid type) {
  constexpr Oid kTypes[] = {INT2OID, INT4OID, INT8OID,      FLOAT4OID,      FLOAT8OID, NUMERICOID,
                            DATEOID, TIMEOID, TIMESTAMPOID, TIMESTAMPTZOID, XID8OID,   PG_LSNOID};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

bool is_text(Oid type) { return type == TEXTOID || type == VARCHAROID; }

Node* without_relabel(Node* node) {
  while (node != nullptr && IsA(node, RelabelType))
    node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
  return node;
}

// May ereport.
bool is_known_before_rows(Node* operand) {
  return !contain_var_clause(operand) && !contain_volatile_functions(operand) && !contain_subplans(operand);
}

bool holds(int strategy, int low, int high) {
  switch (strategy) {
    case BTLessStrategyNumber: return low < 0;
    case BTLessEqualStrategyNumber: return low <= 0;
    case BTEqualStrategyNumber: return low <= 0 && high >= 0;
    case BTGreaterEqualStrategyNumber: return high >= 0;
    case BTGreaterStrategyNumber: return high > 0;
    case kNotEqual: return low != 0 || high != 0;
    default: return true;
  }
}

/// The part of a LIKE pattern before its first wildcard, unescaped. `to` has at least the pattern's size.
size_t fixed_prefix(std::string_view pattern, char* to) {
  size_t size = 0;
  for (size_t i = 0; i < pattern.size() && pattern[i] != '%' && pattern[i] != '_'; ++i) {
    if (pattern[i] == '\\' && ++i == pattern.size()) break;
    to[size++] = pattern[i];
  }
  return size;
}

}  // namespace

/// A condition about one column, or several conditions. Its values are plain data, because PostgreSQL's functions may
/// raise errors during comparisons.
struct ChunkFilter::Condition {
  enum class Kind { kCompare, kAnyElement, kAllElements, kIsNull, kIsNotNull, kMeetsBox, kAnd, kOr };
  Kind kind = Kind::kCompare;
  int column = -1;
  int strategy = 0;
  bool is_text = false, is_float = false, is_pattern = false;
  bool is_local = false;  // local times are compared as moments in the session's time zone
  FmgrInfo compare{};     // compares the column with a value
  FmgrInfo elements{};    // compares elements of an array with each other
  Oid collation = InvalidOid;
  Oid element_type = InvalidOid;
  double distance = 0;           // kMeetsBox: the largest gap between boxes
  geo::Box box{};                // kMeetsBox: the box of the value, set by evaluate()
  ExprState* operand = nullptr;  // nullptr: `constant`
  const Const* constant = nullptr;
  // Set by evaluate(): one value, or the elements of an array. The elements of kAnyElement with a strategy are sorted.
  Datum* values = nullptr;
  Text* texts = nullptr;
  int count = 0;
  bool is_unknown = false;  // evaluation raised an error, which only counts for rows that need the value
  bool is_null = false;     // the value or the array is NULL; for kAllElements, an element is
  std::vector<Condition> args;
};

/// A column in the current batch.
struct ChunkFilter::ColumnState {
  bool all_null = false, has_null = true, has_bounds = false;
  Bounds bounds;
  const columnar::Field* field = nullptr;
  codec::SqlType type;
  Datum low = 0, high = 0;

  Datum low_for(const Condition& condition) const {
    return condition.is_local ? days_away(type.oid, low, -kLocalDays) : low;
  }
  Datum high_for(const Condition& condition) const {
    return condition.is_local ? days_away(type.oid, high, kLocalDays) : high;
  }

 private:
  // Where clocks are set back, a later local time may be an earlier moment. No zone ever skipped more than a day.
  static constexpr int kLocalDays = 2;
};

/// Compiles clauses to conditions. C++ code; may throw.
class ChunkFilter::Compiler {
 public:
  Compiler(const FindColumn& find_column, const Compile& compile) : find_column_(find_column), compile_(compile) {}

  /// False when statistics cannot decide the clause.
  bool condition(Node* clause, Condition* to) {
    if (clause == nullptr) return false;
    switch (nodeTag(clause)) {
      case T_OpExpr: {
        const auto* op = reinterpret_cast<const OpExpr*>(clause);
        if (list_length(op->args) != 2) return false;
        if (meets_box(op->opfuncid, op->args, to)) return true;
        auto *left = static_cast<Node*>(linitial(op->args)), *right = static_cast<Node*>(lsecond(op->args));
        if (column_of(left) >= 0) return comparison(op->opno, left, right, op->inputcollid, to);
        const Oid commuted = guard([op] { return get_commutator(op->opno); });
        return OidIsValid(commuted) && comparison(commuted, right, left, op->inputcollid, to);
      }
      case T_FuncExpr: {
        const auto* call = reinterpret_cast<const FuncExpr*>(clause);
        return meets_box(call->funcid, call->args, to);
      }
      case T_ScalarArrayOpExpr: return array_comparison(*reinterpret_cast<const ScalarArrayOpExpr*>(clause), to);
      case T_NullTest: return null_test(*reinterpret_cast<const NullTest*>(clause), to);
      case T_BoolExpr: return logic(*reinterpret_cast<const BoolExpr*>(clause), to);
      default: return false;
    }
  }

 private:
  int column_of(Node* node) const {
    node = without_relabel(node);
    return node != nullptr && IsA(node, Var) ? find_column_(reinterpret_cast<const Var*>(node)) : -1;
  }

  bool operand(Node* expr, Condition* to) const {
    if (IsA(expr, Const)) {
      to->constant = reinterpret_cast<const Const*>(expr);
      return true;
    }
    if (!compile_ || !guard([expr] { return is_known_before_rows(expr); })) return false;
    to->operand = compile_(expr);
    return to->operand != nullptr;
  }

  bool comparison(Oid op, Node* left, Node* right, Oid collation, Condition* to) const {
    const int column = column_of(left);
    if (column < 0) return false;
    to->column = column;
    to->collation = collation;
    const bool known = guard([=] { return set_operator(op, exprType(left), exprType(without_relabel(left)), to); });
    return known && operand(right, to);
  }

  bool meets_box(Oid function, List* args, Condition* to) const {
    double* distance = &to->distance;
    if (list_length(args) < 2 || codec::extension_of_function(function) != "postgis" ||
        !guard([=] { return is_box_clause(function, args, distance); }))
      return false;
    auto *left = static_cast<Node*>(linitial(args)), *right = static_cast<Node*>(lsecond(args));
    to->column = std::max(column_of(left), column_of(right));
    to->kind = Condition::Kind::kMeetsBox;
    return to->column >= 0 && operand(column_of(left) >= 0 ? right : left, to);
  }

  bool array_comparison(const ScalarArrayOpExpr& op, Condition* to) const {
    auto *left = static_cast<Node*>(linitial(op.args)), *right = static_cast<Node*>(lsecond(op.args));
    if (!comparison(op.opno, left, right, op.inputcollid, to) || to->is_pattern) return false;
    to->kind = op.useOr ? Condition::Kind::kAnyElement : Condition::Kind::kAllElements;
    to->element_type = guard([right] { return get_element_type(exprType(right)); });
    return OidIsValid(to->element_type);
  }

  bool null_test(const NullTest& test, Condition* to) const {
    to->column = test.argisrow ? -1 : column_of(reinterpret_cast<Node*>(test.arg));
    to->kind = test.nulltesttype == IS_NULL ? Condition::Kind::kIsNull : Condition::Kind::kIsNotNull;
    return to->column >= 0;
  }

  /// AND keeps the arguments that can be decided; OR needs all of them.
  bool logic(const BoolExpr& expr, Condition* to) {
    constexpr int kMostDepth = 100;  // deeper levels say little about a batch
    if (expr.boolop == NOT_EXPR || depth_ >= kMostDepth) return false;
    ++depth_;
    const bool known = arguments(expr, to);
    --depth_;
    return known;
  }

  bool arguments(const BoolExpr& expr, Condition* to) {
    to->kind = expr.boolop == AND_EXPR ? Condition::Kind::kAnd : Condition::Kind::kOr;
    for (int i = 0; i < list_length(expr.args); ++i) {
      boundary::check_for_interrupts();
      Condition arg;
      const bool known = condition(static_cast<Node*>(list_nth(expr.args, i)), &arg);
      if (known) to->args.push_back(std::move(arg));
      if (!known && expr.boolop == OR_EXPR) return false;
    }
    return !to->args.empty();
  }

  // May ereport.
  static bool set_operator(Oid op, Oid left_type, Oid column_type, Condition* to) {
    Oid declared_left, right_type;
    op_input_types(op, &declared_left, &right_type);
    to->is_text = is_text(column_type);
    if (to->is_text) return left_type == TEXTOID && set_text_operator(op, right_type, to);
    // The column is cast to another type, or its type's order is not that of the stored values.
    if (left_type != column_type || declared_left != column_type || !is_comparable(column_type)) return false;
    const Oid family = lookup_type_cache(column_type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    if (!OidIsValid(family) || !set_strategy(op, family, to)) return false;
    const Oid compare = get_opfamily_proc(family, column_type, right_type, BTORDER_PROC);
    const Oid elements = get_opfamily_proc(family, right_type, right_type, BTORDER_PROC);
    if (!OidIsValid(compare) || !OidIsValid(elements)) return false;
    fmgr_info(compare, &to->compare);
    fmgr_info(elements, &to->elements);
    to->is_float = is_float(column_type);
    to->is_local = right_type == TIMESTAMPTZOID && column_type != TIMESTAMPTZOID;
    return true;
  }

  static bool set_strategy(Oid op, Oid family, Condition* to) {
    to->strategy = get_op_opfamily_strategy(op, family);
    if (to->strategy != 0) return true;
    const Oid negator = get_negator(op);
    if (!OidIsValid(negator) || get_op_opfamily_strategy(negator, family) != BTEqualStrategyNumber) return false;
    to->strategy = kNotEqual;
    return true;
  }

  /// Bounds are compared by bytes. This decides equality in deterministic collations, and order in C-like collations.
  static bool set_text_operator(Oid op, Oid right_type, Condition* to) {
    if (right_type != TEXTOID || GetDatabaseEncoding() != PG_UTF8 || !OidIsValid(to->collation)) return false;
    if (!get_collation_isdeterministic(to->collation)) return false;
    if (op == OID_TEXT_LIKE_OP) {
      to->strategy = kBeginsWith;
      to->is_pattern = true;
      return true;
    }
    if (!set_strategy(op, TEXT_BTREE_FAM_OID, to)) return false;
    const bool is_equality = to->strategy == BTEqualStrategyNumber || to->strategy == kNotEqual;
    return is_equality || compat::collation_orders_bytes(to->collation);
  }

  const FindColumn& find_column_;
  const Compile& compile_;
  int depth_ = 0;  // of nested BoolExprs
};

namespace {

// The functions below may ereport, except those marked C++.

Text text_of(Datum value) {
  auto* text = reinterpret_cast<struct varlena*>(PG_DETOAST_DATUM_PACKED(value));
  return {VARDATA_ANY(text), static_cast<size_t>(VARSIZE_ANY_EXHDR(text))};
}

int compare(FmgrInfo* function, Oid collation, Datum a, Datum b) {
  return DatumGetInt32(FunctionCall2Coll(function, collation, a, b));
}

}  // namespace

ChunkFilter::ChunkFilter(const List* clauses, const FindColumn& find_column, const Compile& compile) {
  Compiler compiler(find_column, compile);
  for (int i = 0; i < list_length(clauses); ++i) {
    auto* clause = static_cast<Node*>(list_nth(clauses, i));
    Condition condition;
    if (!compiler.condition(clause, &condition)) continue;
    conditions_.push_back(std::move(condition));
    clauses_.push_back(clause);
  }
  const auto add_columns = [this](const auto& self, const Condition& condition) -> void {
    if (condition.column >= 0 && std::find(columns_.begin(), columns_.end(), condition.column) == columns_.end())
      columns_.push_back(condition.column);
    for (const Condition& arg : condition.args) self(self, arg);
  };
  for (const Condition& condition : conditions_) add_columns(add_columns, condition);
  if (conditions_.empty()) return;
  guard([this] {
    values_ = AllocSetContextCreate(CurrentMemoryContext, "arrow_fdw compared values", ALLOCSET_SMALL_SIZES);
    chunk_ = AllocSetContextCreate(CurrentMemoryContext, "arrow_fdw bounds", ALLOCSET_SMALL_SIZES);
  });
}

// The memory contexts are deleted with the context in which they were made.
ChunkFilter::~ChunkFilter() = default;

bool ChunkFilter::has_statistics(const Condition& condition, const ChunkStatistics& source) const {
  if (condition.column < 0)
    return std::any_of(condition.args.begin(), condition.args.end(),
                       [&](const Condition& arg) { return has_statistics(arg, source); });
  using Kind = Condition::Kind;
  if (condition.kind == Kind::kIsNull || condition.kind == Kind::kIsNotNull) return true;
  return boundary::value_or_throw(source.has_bounds(condition.column));
}

std::vector<const Node*> ChunkFilter::useful_clauses(const ChunkStatistics& source) const {
  std::vector<const Node*> useful;
  for (size_t i = 0; i < conditions_.size(); ++i)
    if (has_statistics(conditions_[i], source)) useful.push_back(clauses_[i]);
  return useful;
}

namespace {

// A template, because `Condition` is private to the filter.
template <class Condition>
void set_value(Condition* c, Datum value, int index) {
  if (c->kind == Condition::Kind::kMeetsBox) {
    const WantedBox found = wanted_box(value, c->distance, &c->box);
    c->is_unknown = found == WantedBox::kUnknown;
    c->is_null = found == WantedBox::kNone;
    return;
  }
  if (!c->is_text) {
    c->values[index] = value;
    return;
  }
  Text text = text_of(value);
  if (c->is_pattern) {
    auto* prefix = static_cast<char*>(palloc(text.size + 1));
    text = {prefix, fixed_prefix(text.view(), prefix)};
  }
  c->texts[index] = text;
}

template <class Condition>
void allocate(Condition* c, int count) {
  c->count = 0;
  c->values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<size_t>(count + 1)));
  c->texts = static_cast<Text*>(palloc(sizeof(Text) * static_cast<size_t>(count + 1)));
}

template <class Condition>
void set_elements(Condition* c, Datum array) {
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(c->element_type, &length, &by_value, &alignment);
  Datum* elements;
  bool* nulls;
  int count;
  deconstruct_array(DatumGetArrayTypeP(array), c->element_type, length, by_value, alignment, &elements, &nulls, &count);
  allocate(c, count);
  const bool is_all = c->kind == Condition::Kind::kAllElements;
  for (int i = 0; i < count; ++i) {
    if (nulls[i])
      c->is_null = c->is_null || is_all;
    else
      set_value(c, elements[i], c->count++);
  }
  if (is_all || c->strategy != BTEqualStrategyNumber) return;
  if (c->is_text)
    std::sort(c->texts, c->texts + c->count, [](const Text& a, const Text& b) { return a.view() < b.view(); });
  else
    std::sort(c->values, c->values + c->count,
              [c](Datum a, Datum b) { return compare(&c->elements, c->collation, a, b) < 0; });
}

template <class Condition>
void set_operand(Condition* c, Datum value, bool is_null, MemoryContext memory) {
  c->is_null = is_null;
  if (is_null) return;
  MemoryContext caller = MemoryContextSwitchTo(memory);
  if (c->operand != nullptr) {
    int16 length;
    bool by_value;
    get_typlenbyval(exprType(reinterpret_cast<Node*>(c->operand->expr)), &length, &by_value);
    value = datumCopy(value, by_value, length);
  }
  if (OidIsValid(c->element_type)) {
    set_elements(c, value);
  } else {
    allocate(c, 1);
    set_value(c, value, 0);
    c->count = 1;
  }
  MemoryContextSwitchTo(caller);
}

// C++. Parameters have their values already; evaluating expressions over them may fail.
template <class Condition>
void evaluate_condition(Condition* c, ExprContext* context, MemoryContext memory) {
  for (Condition& arg : c->args) evaluate_condition(&arg, context, memory);
  if (c->constant != nullptr) {
    const Const* constant = c->constant;
    guard([=] { set_operand(c, constant->constvalue, constant->constisnull, memory); });
  } else if (c->operand != nullptr) {
    ExprState* compiled = c->operand;
    std::optional<eval::EarlyValue> found;
    if (IsA(without_relabel(reinterpret_cast<Node*>(compiled->expr)), Param)) {
      found = guard([=] {
        eval::EarlyValue value;
        value.datum = ExecEvalExprSwitchContext(compiled, context, &value.is_null);
        return value;
      });
    } else if (!IsInParallelMode()) {
      found = eval::evaluate_early(compiled, context);
    }
    c->is_unknown = !found.has_value();
    if (found.has_value()) {
      const eval::EarlyValue value = *found;
      guard([=] { set_operand(c, value.datum, value.is_null, memory); });
    }
  }
}

template <class Condition, class ColumnState>
unsigned test_value(Condition* c, const ColumnState& column, int index) {
  if (c->kind == Condition::Kind::kMeetsBox) return may_meet(c->box, column.bounds) ? kPossible : kImpossible;
  if (c->is_text) {
    const TextBounds bounds{column.bounds.low_text, column.bounds.high_text, column.bounds.high_is_prefix};
    return bounds.may_hold(c->strategy, c->texts[index].view()) ? kPossible : kImpossible;
  }
  const Datum value = c->values[index];
  const int low = compare(&c->compare, c->collation, column.low_for(*c), value);
  const int high = compare(&c->compare, c->collation, column.high_for(*c), value);
  const bool possible = holds(c->strategy, low, high);
  if (!c->is_float) return possible ? kPossible : kImpossible;
  const Datum nan = column.type.oid == FLOAT4OID ? Float4GetDatum(get_float4_nan()) : Float8GetDatum(get_float8_nan());
  const int at_nan = compare(&c->compare, c->collation, nan, value);
  return (possible ? kOrdinary : 0) | (holds(c->strategy, at_nan, at_nan) ? kNotANumber : 0);
}

/// Tests whether one of the sorted values lies between the bounds.
template <class Condition, class ColumnState>
unsigned test_sorted(Condition* c, const ColumnState& column) {
  int first = 0;
  for (int step = c->count; step > 0;) {  // finds the first value that is not below the bounds
    const int half = step / 2, middle = first + half;
    const bool below = c->is_text ? c->texts[middle].view() < std::string_view(column.bounds.low_text)
                                  : compare(&c->compare, c->collation, column.low_for(*c), c->values[middle]) > 0;
    first = below ? middle + 1 : first;
    step = below ? step - half - 1 : half;
  }
  unsigned answer = first < c->count ? test_value(c, column, first) : kImpossible;
  if (c->is_float && c->count > 0) answer |= test_value(c, column, c->count - 1) & kNotANumber;  // NaN is the last
  return answer;
}

template <class Condition, class States>
unsigned test(Condition* c, const States& states);

/// All conditions must hold together: a floating-point value, NaN or not, has to pass all conditions about its column.
template <class Condition, class States>
unsigned test_all(std::vector<Condition>& conditions, const States& states) {
  bool has_floats = false;
  for (Condition& condition : conditions) {
    if (test(&condition, states) == kImpossible) return kImpossible;
    has_floats = has_floats || condition.is_float;
  }
  if (!has_floats || conditions.size() == 1) return kPossible;
  auto* left = static_cast<unsigned char*>(palloc(states.size()));  // of each column what passes all
  memset(left, kPossible, states.size());
  unsigned answer = kPossible;
  for (Condition& condition : conditions)
    if (condition.is_float && answer != kImpossible) answer = left[condition.column] &= test(&condition, states);
  pfree(left);
  return answer == kImpossible ? kImpossible : kPossible;
}

template <class Condition, class States>
unsigned test(Condition* c, const States& states) {
  using Kind = typename Condition::Kind;
  switch (c->kind) {
    case Kind::kAnd: return test_all(c->args, states);
    case Kind::kOr:
      for (Condition& arg : c->args)
        if (test(&arg, states) != kImpossible) return kPossible;
      return kImpossible;
    case Kind::kIsNull: return states[static_cast<size_t>(c->column)].has_null ? kPossible : kImpossible;
    case Kind::kIsNotNull: return states[static_cast<size_t>(c->column)].all_null ? kImpossible : kPossible;
    default: break;
  }
  const auto& column = states[static_cast<size_t>(c->column)];
  if (c->is_unknown) return kPossible;
  if (c->is_null) return kImpossible;
  if (c->kind == Kind::kAllElements && c->count == 0) return kPossible;
  if (column.all_null) return kImpossible;
  if (!column.has_bounds) return kPossible;
  switch (c->kind) {
    case Kind::kAnyElement: {
      if (c->strategy == BTEqualStrategyNumber) return test_sorted(c, column);
      unsigned answer = kImpossible;
      for (int i = 0; i < c->count; ++i) answer |= test_value(c, column, i);
      return answer;
    }
    case Kind::kAllElements: {
      unsigned answer = kPossible;
      for (int i = 0; i < c->count; ++i) answer &= test_value(c, column, i);
      return answer;
    }
    default: return test_value(c, column, 0);
  }
}

}  // namespace

void ChunkFilter::evaluate(ExprContext* context) {
  if (conditions_.empty()) return;
  MemoryContext values = values_;
  guard([values] { MemoryContextReset(values); });
  for (Condition& condition : conditions_) evaluate_condition(&condition, context, values_);
}

void ChunkFilter::load_columns(const ChunkStatistics& source, int64_t chunk) {
  states_.resize(source.column_count());
  for (const int index : columns_) {
    ColumnState& state = states_[static_cast<size_t>(index)];
    const int64_t nulls = boundary::value_or_throw(source.null_count(chunk, index));
    state.all_null = nulls == source.rows_of(chunk);
    state.type = source.type_of(index);
    state.field = &source.field_of(chunk, index);
    // The number of NULLs may be unknown. NULLs may be in a dictionary or in children. A composite whose fields are all
    // NULL counts as NULL for IS NULL.
    state.has_null = nulls != 0 || state.field->dictionary || state.field->layout >= columnar::Layout::kNull;
    auto bounds = boundary::value_or_throw(source.bounds(chunk, index));
    state.has_bounds =
        bounds.has_value() && (bounds->kind == Bounds::Kind::kBox || codec::has_statistics(*state.field, state.type));
    if (bounds.has_value()) state.bounds = std::move(*bounds);
  }
}

namespace {

/// Layouts that only files have, not the engine's columns.
bool is_file_layout(Layout layout) { return columnar::is_time(layout) || layout == Layout::kUInt64; }

template <class ColumnState>
void make_datums(ColumnState* state) {
  const Bounds& bounds = state->bounds;
  if (!state->has_bounds || bounds.kind == Bounds::Kind::kText || bounds.kind == Bounds::Kind::kBox) return;
  if (bounds.kind == Bounds::Kind::kInteger &&
      (!is_in_range(*state->field, bounds.low) || !is_in_range(*state->field, bounds.high))) {
    state->has_bounds = false;
    return;
  }
  alignas(16) char bytes[32];
  store_bounds(*state->field, bounds, bytes);
  codec::Decoder decoder = is_file_layout(state->field->layout)
                               ? codec::make_value_decoder(*state->field, state->type, false)
                               : codec::make_decoder(*state->field, state->type);
  decoder.view.values = bytes;
  state->low = decoder.read(decoder, 0);
  state->high = decoder.read(decoder, 1);
}

}  // namespace

bool ChunkFilter::may_match(const ChunkStatistics& source, int64_t chunk) {
  if (conditions_.empty()) return true;
  load_columns(source, chunk);
  return guard([this] {
    MemoryContextReset(chunk_);
    MemoryContext caller = MemoryContextSwitchTo(chunk_);
    for (const int index : columns_) make_datums(&states_[static_cast<size_t>(index)]);
    const bool possible = test_all(conditions_, states_) != kImpossible;
    MemoryContextSwitchTo(caller);
    return possible;
  });
}

}  // namespace strom::pg::pruning
