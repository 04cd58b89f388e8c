// Registers the settings of registry/gucs.def with PostgreSQL.
#include "pg/guc/guc.hpp"

#include <new>

#include "pg/boundary/postgres.hpp"
#include "service/device_order.hpp"

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
#define STROM_GUC_STRING(prefix, name, ...) \
  namespace prefix {                        \
  char* name = nullptr;                     \
  }
#define STROM_GUC_ENUM(prefix, name, initial, choices, ...) \
  namespace prefix {                                        \
  int name##_value = static_cast<int>(choices::initial);    \
  }
#define STROM_GUC_UNUSED_BOOL(prefix, name, initial, ...) \
  namespace prefix {                                      \
  static bool name = initial;                             \
  }
#define STROM_GUC_UNUSED(prefix, name, ...) \
  namespace prefix {                        \
  static char* name = nullptr;              \
  }
#include "registry/gucs.def"

namespace {

#define STROM_GUC_CHOICE(type, enumerator, word) {word, static_cast<int>(type::enumerator), false},
#define STROM_GUC_CHOICES(type, rows) constexpr config_enum_entry k##type##Words[] = {rows{nullptr, 0, false}};
#include "registry/guc_enums.def"
#undef STROM_GUC_CHOICE
#undef STROM_GUC_CHOICES

constexpr GucContext kUserset = PGC_USERSET;
constexpr GucContext kSuset = PGC_SUSET;
constexpr GucContext kSighup = PGC_SIGHUP;
constexpr int kNone = 0;
constexpr int kKilobytes = GUC_UNIT_KB;
constexpr int kMilliseconds = GUC_UNIT_MS;

// A check hook: it reports errors by PostgreSQL's macros. All C++ objects inside are destroyed before it returns.
bool check_optimal_gpus(char** value, void**, GucSource) {
  if (*value == nullptr || **value == '\0') return true;
  char message[256] = "", hint[128] = "";
  try {
    const Status status = service::parse_optimal_devices(*value).status();
    if (status.is_ok()) return true;
    strlcpy(message, status.message().c_str(), sizeof message);
    strlcpy(hint, status.hint().c_str(), sizeof hint);
  } catch (const std::bad_alloc&) {
    strlcpy(message, "out of memory", sizeof message);
  }
  GUC_check_errdetail("%s.", message);
  if (hint[0] != '\0') GUC_check_errhint("%s", hint);
  return false;
}

// Tells a user who sets a setting without effect which setting is used instead. Told once in a statement, because
// functions may have such settings in their SET clauses.
void tell_unused(const char* name, const char* brief, const char* instead, GucSource source, TimestampTz* told) {
  if (source < PGC_S_INTERACTIVE || InitializingParallelWorker || !IsTransactionState()) return;
  if (*told == GetCurrentStatementStartTimestamp()) return;
  *told = GetCurrentStatementStartTimestamp();
  ereport(NOTICE,
          (errmsg("setting \"%s\" is accepted without effect", name), errdetail("%s", brief), errhint("%s", instead)));
}

#define STROM_GUC_UNUSED_BOOL(prefix, name, initial, brief, instead) \
  bool check_##prefix##_##name(bool*, void**, GucSource source) {    \
    static TimestampTz told = 0;                                     \
    tell_unused(#prefix "." #name, brief, instead, source, &told);   \
    return true;                                                     \
  }
#define STROM_GUC_UNUSED(prefix, name, brief, instead)             \
  bool check_##prefix##_##name(char**, void**, GucSource source) { \
    static TimestampTz told = 0;                                   \
    tell_unused(#prefix "." #name, brief, instead, source, &told); \
    return true;                                                   \
  }
#include "registry/gucs.def"

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
#define STROM_GUC_STRING(prefix, name, context, check, brief, extra)                                                   \
  DefineCustomStringVariable(#prefix "." #name, brief, extra, &prefix::name, "", context, GUC_EXPLAIN, check, nullptr, \
                             nullptr);
#define STROM_GUC_ENUM(prefix, name, initial, choices, context, brief, extra)                                          \
  DefineCustomEnumVariable(#prefix "." #name, brief, extra, &prefix::name##_value, static_cast<int>(choices::initial), \
                           k##choices##Words, context, GUC_EXPLAIN, nullptr, nullptr, nullptr);
#define STROM_GUC_UNUSED_BOOL(prefix, name, initial, brief, extra)                                                  \
  DefineCustomBoolVariable(#prefix "." #name, brief, extra, &prefix::name, initial, PGC_USERSET, GUC_NOT_IN_SAMPLE, \
                           check_##prefix##_##name, nullptr, nullptr);
#define STROM_GUC_UNUSED(prefix, name, brief, extra)                                                             \
  DefineCustomStringVariable(#prefix "." #name, brief, extra, &prefix::name, "", PGC_USERSET, GUC_NOT_IN_SAMPLE, \
                             check_##prefix##_##name, nullptr, nullptr);
#include "registry/gucs.def"
  MarkGUCPrefixReserved("pg_strom");
  MarkGUCPrefixReserved("arrow_fdw");
}

}  // namespace strom::pg::guc
