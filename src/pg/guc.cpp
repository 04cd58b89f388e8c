// Definition of the settings of registry/gucs.def to PostgreSQL.
#include "pg/guc.hpp"

#include "pg/boundary/postgres.hpp"

namespace strom::pg::guc {

#define STROM_GUC_BOOL(prefix, name, initial, ...) \
  namespace prefix {                               \
  bool name = initial;                             \
  }
#define STROM_GUC_INT(prefix, name, initial, ...) \
  namespace prefix {                              \
  int name = initial;                             \
  }
#define STROM_GUC_REAL(prefix, name, initial, ...) \
  namespace prefix {                               \
  double name = initial;                           \
  }
#define STROM_GUC_ENUM(prefix, name, initial, choices, ...) \
  namespace prefix {                                        \
  int name##_value = static_cast<int>(choices::initial);    \
  }
#include "registry/gucs.def"
#undef STROM_GUC_BOOL
#undef STROM_GUC_INT
#undef STROM_GUC_REAL
#undef STROM_GUC_ENUM

namespace {

#define STROM_GUC_CHOICE(type, enumerator, word) {word, static_cast<int>(type::enumerator), false},
#define STROM_GUC_CHOICES(type, rows) constexpr config_enum_entry k##type##Words[] = {rows{nullptr, 0, false}};
#include "registry/guc_enums.def"
#undef STROM_GUC_CHOICE
#undef STROM_GUC_CHOICES

constexpr GucContext kUserset = PGC_USERSET;
constexpr GucContext kSighup = PGC_SIGHUP;
constexpr int kNone = 0;
constexpr int kKilobytes = GUC_UNIT_KB;

}  // namespace

void define_all() {
#define STROM_GUC_BOOL(prefix, name, initial, context, brief, extra)                                               \
  DefineCustomBoolVariable(#prefix "." #name, brief, extra, &prefix::name, initial, context, GUC_EXPLAIN, nullptr, \
                           nullptr, nullptr);
#define STROM_GUC_INT(prefix, name, initial, low, high, unit, context, brief, extra)                   \
  DefineCustomIntVariable(#prefix "." #name, brief, extra, &prefix::name, initial, low, high, context, \
                          GUC_EXPLAIN | (unit), nullptr, nullptr, nullptr);
#define STROM_GUC_REAL(prefix, name, initial, low, high, context, brief, extra)                                      \
  DefineCustomRealVariable(#prefix "." #name, brief, extra, &prefix::name, initial, low, high, context, GUC_EXPLAIN, \
                           nullptr, nullptr, nullptr);
#define STROM_GUC_ENUM(prefix, name, initial, choices, context, brief, extra)                                          \
  DefineCustomEnumVariable(#prefix "." #name, brief, extra, &prefix::name##_value, static_cast<int>(choices::initial), \
                           k##choices##Words, context, GUC_EXPLAIN, nullptr, nullptr, nullptr);
#include "registry/gucs.def"
#undef STROM_GUC_BOOL
#undef STROM_GUC_INT
#undef STROM_GUC_REAL
#undef STROM_GUC_ENUM
  MarkGUCPrefixReserved("pg_strom");
  MarkGUCPrefixReserved("arrow_fdw");
}

}  // namespace strom::pg::guc
