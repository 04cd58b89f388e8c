/* The interface between the engine and its Parquet module, a shared object of its own that links libparquet: plain C,
 * so that neither side's C++ library, exceptions or memory meet the other's. Columns cross it as the bytes of an Arrow
 * IPC file (https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format). A change of anything below is a new
 * STROM_PARQUET_ABI. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STROM_PARQUET_ABI 4u
#define STROM_PARQUET_ENTRY "strom_parquet_module"

enum strom_parquet_code {
  STROM_PARQUET_OK = 0,
  STROM_PARQUET_CORRUPT = 1,
  STROM_PARQUET_UNSUPPORTED = 2,
  STROM_PARQUET_OUT_OF_MEMORY = 3,
  STROM_PARQUET_OVER_BUDGET = 4,
  STROM_PARQUET_INTERNAL = 5,
  STROM_PARQUET_ENCRYPTED = 6
};

/* Why a function returned another code than STROM_PARQUET_OK. */
typedef struct {
  char message[512]; /* one line of ASCII without a full stop, ends with a zero */
} strom_parquet_error;

/* An open file. Its functions may be called by several threads at once. */
typedef struct strom_parquet_file strom_parquet_file;

typedef struct {
  int64_t rows;
  int64_t offset;           /* of the row group's first byte in the file */
  int64_t compressed_bytes; /* of all of its columns */
  char codec[16];           /* "SNAPPY"; "mixed" where columns differ; empty: none. Ends with a zero */
} strom_parquet_row_group;

enum strom_parquet_bounds {
  STROM_PARQUET_NO_BOUNDS = 0,
  STROM_PARQUET_INTEGERS = 1, /* as they are stored in the column's Arrow type */
  STROM_PARQUET_REALS = 2,
  STROM_PARQUET_TEXTS = 3, /* by bytes */
  STROM_PARQUET_BOX = 4    /* of a struct of floating point called xmin, ymin, xmax and ymax */
};

enum { STROM_PARQUET_TEXT_BOUND = 256 };

typedef struct {
  uint64_t low_word;
  int64_t high_word;
} strom_parquet_int128;

/* What the metadata say of one column in one row group. */
typedef struct {
  int64_t compressed_bytes;
  int64_t memory_bytes;   /* about what read_column() makes; 0 where it is not to be kept between queries */
  int64_t null_count;     /* -1: not known */
  int32_t bounds;         /* strom_parquet_bounds: no value but NULL and NaN lies outside of them */
  int32_t high_is_prefix; /* texts that begin with the highest belong as well */
  strom_parquet_int128 low_integer, high_integer;
  double low_real, high_real;
  double box[4]; /* lowest xmin and ymin, highest xmax and ymax */
  int32_t low_size, high_size;
  char low_text[STROM_PARQUET_TEXT_BOUND], high_text[STROM_PARQUET_TEXT_BOUND];
} strom_parquet_column;

/* A file's bytes. `context` stays until close(). */
typedef struct {
  void* context;
  int64_t size;
  /* Copies `size` bytes from `offset` on, all of them inside of the file. May be called by several threads at once. */
  void (*read)(void* context, int64_t offset, int64_t size, void* bytes);
} strom_parquet_source;

/* Where bytes are to be put. */
typedef struct {
  void* context;
  void* (*allocate)(void* context, int64_t size); /* aligned to 8 bytes or more; NULL: out of memory */
} strom_parquet_target;

typedef struct {
  uint32_t abi;  /* STROM_PARQUET_ABI of the module */
  uint32_t size; /* of this structure */
  /* Name and version of the library that reads, e.g. "Apache Arrow 26.0.1". */
  const char* library;
  int32_t (*open)(const strom_parquet_source* source, strom_parquet_file** file, strom_parquet_error* error);
  void (*close)(strom_parquet_file* file);
  int32_t (*row_group_count)(const strom_parquet_file* file);
  /* An Arrow IPC file with the file's columns and no record batch. Its fields are numbered as below. */
  int32_t (*read_schema)(const strom_parquet_file* file, const strom_parquet_target* target, int64_t* size,
                         strom_parquet_error* error);
  int32_t (*row_group)(const strom_parquet_file* file, int32_t row_group, strom_parquet_row_group* result,
                       strom_parquet_error* error);
  int32_t (*column)(const strom_parquet_file* file, int32_t row_group, int32_t field, strom_parquet_column* result,
                    strom_parquet_error* error);
  /* An Arrow IPC file with that column alone and one record batch of the row group's rows, decoded by the calling
   * thread. */
  int32_t (*read_column)(const strom_parquet_file* file, int32_t row_group, int32_t field,
                         const strom_parquet_target* target, int64_t* size, strom_parquet_error* error);
} strom_parquet_module_functions;

/* The module's one exported function, called STROM_PARQUET_ENTRY. */
typedef const strom_parquet_module_functions* (*strom_parquet_entry)(void);

#ifdef __cplusplus
}
#endif
