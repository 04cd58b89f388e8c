// Values of the extension's settings, one variable for each row of registry/gucs.def, in the namespace of its prefix:
// guc::pg_strom::enabled. Written by PostgreSQL, read on the backend's main thread by the rest of src/pg.
#pragma once

#include <climits>

namespace strom::pg::guc {

#define STROM_GUC_CHOICE(type, enumerator, word) enumerator,
#define STROM_GUC_CHOICES(type, rows) enum class type : int { rows };
#include "registry/guc_enums.def"
#undef STROM_GUC_CHOICE
#undef STROM_GUC_CHOICES

// Enumerated settings are stored as int, because PostgreSQL writes them through an int pointer.
#define STROM_GUC_BOOL(prefix, name, ...) \
  namespace prefix {                      \
  extern bool name;                       \
  }
#define STROM_GUC_INT(prefix, name, ...) \
  namespace prefix {                     \
  extern int name;                       \
  }
#define STROM_GUC_REAL(prefix, name, ...) \
  namespace prefix {                      \
  extern double name;                     \
  }
#define STROM_GUC_STRING(prefix, name, ...) \
  namespace prefix {                        \
  extern char* name;                        \
  }
#define STROM_GUC_ENUM(prefix, name, initial, choices, ...)            \
  namespace prefix {                                                   \
  extern int name##_value;                                             \
  inline choices name() { return static_cast<choices>(name##_value); } \
  }
#include "registry/gucs.def"

/// Defines all settings; called once by _PG_init. May ereport.
void define_all();

}  // namespace strom::pg::guc
