#include "pg/fdw_gstore/key_clause.hpp"

#include <limits>

namespace strom::pg::fdw_gstore {

namespace {

bool is_key(const store::Table* table, Index rti, Node* node) {
  while (IsA(node, RelabelType)) node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
  if (!IsA(node, Var)) return false;
  const auto* var = reinterpret_cast<Var*>(node);
  return var->varno == static_cast<int>(rti) && var->varlevelsup == 0 && var->varattno == table->key_column().attnum;
}

bool mentions(PlannerInfo* root, Index rti, Node* node) {
  Relids members = pull_varnos(root, node);
  const bool found = bms_is_member(static_cast<int>(rti), members);
  bms_free(members);
  return found;
}

bool is_integer(Oid type) { return type == INT2OID || type == INT4OID || type == INT8OID; }

/// True if the operator is the equality of the key's type, or of two integer types.
bool is_equality(const store::StoreColumn& key, Oid op, Oid collation, Oid* other_type) {
  // GetDefaultOpClass() reads a catalog in each call, but this function is called several times for each table.
  const Oid family = lookup_type_cache(getBaseType(key.type), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
  if (!OidIsValid(family) || get_op_opfamily_strategy(op, family) != BTEqualStrategyNumber) return false;
  Oid left, right;
  op_input_types(op, &left, &right);
  if (left != right && !(is_integer(left) && is_integer(right))) return false;
  *other_type = right;
  return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

bool match_operator(PlannerInfo* root, const store::Table* table, Index rti, const OpExpr* clause, KeyClause* match) {
  if (list_length(clause->args) != 2) return false;
  auto* left = static_cast<Node*>(linitial(clause->args));
  auto* right = static_cast<Node*>(lsecond(clause->args));
  Oid op = clause->opno;
  if (!is_key(table, rti, left)) {
    std::swap(left, right);
    op = get_commutator(op);
    if (!OidIsValid(op) || !is_key(table, rti, left)) return false;
  }
  if (!is_equality(table->key_column(), op, clause->inputcollid, &match->type) || mentions(root, rti, right))
    return false;
  match->value = reinterpret_cast<Expr*>(right);
  match->is_array = false;
  return true;
}

bool match_array(PlannerInfo* root, const store::Table* table, Index rti, const ScalarArrayOpExpr* clause,
                 KeyClause* match) {
  if (!clause->useOr) return false;
  auto* left = static_cast<Node*>(linitial(clause->args));
  auto* right = static_cast<Node*>(lsecond(clause->args));
  if (!is_key(table, rti, left) || mentions(root, rti, right) ||
      !is_equality(table->key_column(), clause->opno, clause->inputcollid, &match->type))
    return false;
  match->value = reinterpret_cast<Expr*>(right);
  match->is_array = true;
  return true;
}

int64_t integer_of(Oid type, Datum value) {
  if (type == INT2OID) return DatumGetInt16(value);
  return type == INT4OID ? DatumGetInt32(value) : DatumGetInt64(value);
}

}  // namespace

bool match_key_clause(PlannerInfo* root, const store::Table* table, Index rti, Expr* clause, KeyClause* match) {
  if (table->key() < 0) return false;
  bool is_match = false;
  if (IsA(clause, OpExpr)) is_match = match_operator(root, table, rti, reinterpret_cast<OpExpr*>(clause), match);
  if (IsA(clause, ScalarArrayOpExpr))
    is_match = match_array(root, table, rti, reinterpret_cast<ScalarArrayOpExpr*>(clause), match);
  return is_match && !contain_volatile_functions(reinterpret_cast<Node*>(clause));
}

bool to_key_type(int16_t length, Oid type, Datum* value) {
  if (!is_integer(type)) return true;
  const int64_t number = integer_of(type, *value);
  const bool fits = length == sizeof(int64_t) ||
                    (length == sizeof(int32_t) && number >= INT32_MIN && number <= INT32_MAX) ||
                    (length == sizeof(int16_t) && number >= INT16_MIN && number <= INT16_MAX);
  if (!fits) return false;
  *value = length == sizeof(int64_t)   ? Int64GetDatum(number)
           : length == sizeof(int32_t) ? Int32GetDatum(static_cast<int32_t>(number))
                                       : Int16GetDatum(static_cast<int16_t>(number));
  return true;
}

bool key_cell(const store::StoreColumn& column, Oid type, Datum value, store::CellSpace* space,
              store::rows::Cell* cell) {
  if (!to_key_type(column.length, type, &value)) return false;
  store::set_cell(column, value, false, space, cell);
  return true;
}

}  // namespace strom::pg::fdw_gstore
