/*
 * libstromkv: reads rows of store tables of the PostgreSQL extension pg_strom by their key, from memory that the server
 * shares with its clients. A read does not involve the server and takes no lock. Each row contains a proof that it is
 * complete.
 *
 *   SELECT * FROM pgstrom.kv_attach('positions')   in a session of PostgreSQL returns socket and token, which
 *   stromkv_attach(socket, token, …)                exchanges for the table.
 *
 * Every function returns a stromkv_status. Nothing is printed, no signal is used, and errno is left alone. All threads
 * may use a stromkv; one thread at a time may use a stromkv_reader. When a function returns STROMKV_MOVED, attach
 * again.
 */
#ifndef STROMKV_H
#define STROMKV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef enum stromkv_status {
  STROMKV_OK = 0,
  STROMKV_NOT_FOUND = 1,   /* there is no row with this key; or the scan is at its end */
  STROMKV_MOVED = 2,       /* another region has replaced this one: attach again */
  STROMKV_DROPPED = 3,     /* the table is gone, or has no published region any more */
  STROMKV_SILENT = 4,      /* the server has shown no sign of life for a while */
  STROMKV_UNSTABLE = 5,    /* the row changed during every attempt to read it: try again later */
  STROMKV_REFUSED = 6,     /* the token is unknown, used up or expired */
  STROMKV_CORRUPT = 7,     /* the region is damaged */
  STROMKV_UNSUPPORTED = 8, /* the library does not know the version of the region or server */
  STROMKV_IO = 9,          /* the socket cannot be reached, or the region cannot be mapped */
  STROMKV_NO_MEMORY = 10,
  STROMKV_INVALID = 11, /* an argument is wrong */
  /* Of messages: */
  STROMKV_CONFLICT = 12,   /* the row has another generation */
  STROMKV_DENIED = 13,     /* the role lacks the right */
  STROMKV_BUSY = 14,       /* another transaction has locked the row or the table: try again */
  STROMKV_FULL = 15,       /* the table, its memory or its log has no room */
  STROMKV_CONSTRAINT = 16, /* the row violates a constraint of the table */
  STROMKV_BAD_VALUE = 17,  /* a value is invalid for its column's type */
  STROMKV_FAILED = 18,     /* another error of the server */
  STROMKV_TOO_LARGE = 19   /* the rows take more than the 16 MB of one answer: ask for fewer keys at a time */
} stromkv_status;

/* What a status means, in English. */
const char* stromkv_status_text(stromkv_status status);

typedef struct stromkv stromkv;
typedef struct stromkv_reader stromkv_reader;

/*
 * Maps a table's region. If socket is tcp:HOST:PORT from pgstrom.kv_session_tcp(), the region is read by messages
 * instead. Gets and scans work as usual, but each costs the server two or three messages, stromkv_verify() does not
 * check rows, and all readers share one connection. error gets the reason of a failure, unless it is NULL or
 * error_bytes is 0. On failure *table is NULL.
 */
stromkv_status stromkv_attach(const char* socket, const char* token, stromkv** table, char* error, size_t error_bytes);
/* The same for a descriptor of the region, which the caller still owns. */
stromkv_status stromkv_attach_descriptor(int descriptor, stromkv** table, char* error, size_t error_bytes);
/* Call it after closing all readers. */
void stromkv_detach(stromkv* table);

/*
 * If the server has not moved the region's clock for so long, gets return STROMKV_SILENT; 0 = never. 10000 by default.
 * In shared memory a reader looks at the clock at its first call, and then at each 64th one.
 */
void stromkv_set_patience(stromkv* table, unsigned milliseconds);

typedef struct stromkv_column {
  const char *name, *type; /* SQL's names */
  uint32_t type_id;        /* OID of the type */
  uint32_t width;          /* bytes of a value; 0 = variable */
} stromkv_column;

size_t stromkv_column_count(const stromkv* table);
size_t stromkv_key_column(const stromkv* table);
const stromkv_column* stromkv_column_at(const stromkv* table, size_t column);
/* The current number of rows. */
uint64_t stromkv_row_count(const stromkv* table);

/* The bytes of a key: its stored value, little-endian. int2 has 4 bytes, oid 8. */
typedef struct stromkv_key {
  const void* data;
  size_t bytes;
} stromkv_key;

/*
 * A row. Its bytes, those of its key included, are valid until the reader's next call. data and form are for
 * stromkv_fields().
 */
typedef struct stromkv_row {
  stromkv_status status; /* set by stromkv_get_many */
  stromkv_key key;
  const void* data;
  size_t bytes;
  uint32_t generation; /* differs for each version of a row */
  uint32_t form;       /* 1: data begins with a bitmap of NULLs */
} stromkv_row;

typedef struct stromkv_field {
  const void* data; /* NULL: the value is NULL */
  size_t bytes;
} stromkv_field;

stromkv_status stromkv_reader_open(const stromkv* table, stromkv_reader** reader);
void stromkv_reader_close(stromkv_reader* reader);

stromkv_status stromkv_get(stromkv_reader* reader, stromkv_key key, stromkv_row* row);
/* Gets several rows, whose memory is prefetched together. STROMKV_OK when each row's status is OK or NOT_FOUND. */
stromkv_status stromkv_get_many(stromkv_reader* reader, const stromkv_key* keys, stromkv_row* rows, size_t count);
/* Splits a row into fields, one for each column. That of the key's column is row->key. */
stromkv_status stromkv_fields(const stromkv_reader* reader, const stromkv_row* row, stromkv_field* fields);

/*
 * Returns all rows, in no particular order; NOT_FOUND at the end. A row that the server moves meanwhile may be returned
 * twice or not at all. stromkv_scan_is_complete() is then 0 at the end.
 */
void stromkv_scan_begin(stromkv_reader* reader);
stromkv_status stromkv_scan_next(stromkv_reader* reader, stromkv_row* row);
int stromkv_scan_is_complete(const stromkv_reader* reader);

typedef struct stromkv_statistics {
  uint64_t gets, bucket_reads, record_reads, retries;
} stromkv_statistics;
void stromkv_reader_statistics(const stromkv_reader* reader, stromkv_statistics* statistics);

/* Checks every entry. Nobody may write meanwhile. Errors: STROMKV_CORRUPT, with the place. */
stromkv_status stromkv_verify(const stromkv* table, char* error, size_t error_bytes);

/*
 * Messages: the server makes changes, and reads rows for clients that cannot map the region.
 *
 *   SELECT * FROM pgstrom.kv_session('positions')   returns socket and token for stromkv_session_open().
 *
 * One thread at a time may use a stromkv_session. When a function returns, changes are as durable as the table's option
 * says. After STROMKV_IO or STROMKV_SILENT it is unknown whether a change was made, and the session is unusable.
 */
typedef struct stromkv_session stromkv_session;

stromkv_status stromkv_session_open(const char* socket, const char* token, stromkv_session** session, char* error,
                                    size_t error_bytes);
void stromkv_session_close(stromkv_session* session);
/* How long to wait for an answer; 0 = for ever. 10000 by default. */
void stromkv_session_set_patience(stromkv_session* session, unsigned milliseconds);

size_t stromkv_session_column_count(const stromkv_session* session);
size_t stromkv_session_key_column(const stromkv_session* session);
const stromkv_column* stromkv_session_column_at(const stromkv_session* session, size_t column);

/*
 * The server's message for the last failure, with its SQLSTATE. For several rows it is that of the last one that
 * failed.
 */
const char* stromkv_session_error(const stromkv_session* session);

typedef enum stromkv_form {
  STROMKV_NULL = 0,
  STROMKV_STORED = 1, /* the form of a row's fields */
  STROMKV_TEXT = 2    /* UTF-8, for the type's input function */
} stromkv_form;

typedef struct stromkv_value {
  stromkv_form form;
  const void* data;
  size_t bytes;
} stromkv_value;

/*
 * Rows are valid until the session's next call. Those of one call, at most 256 and 16 MB, belong to one moment.
 */
stromkv_status stromkv_session_get(stromkv_session* session, stromkv_key key, stromkv_row* row);
stromkv_status stromkv_session_get_many(stromkv_session* session, const stromkv_key* keys, stromkv_row* rows,
                                        size_t count);
stromkv_status stromkv_session_fields(const stromkv_session* session, const stromkv_row* row, stromkv_field* fields);

/* Makes a row, or changes the row with its key. values has one element for each column. is_new may be NULL. */
stromkv_status stromkv_session_put(stromkv_session* session, const stromkv_value* values, int* is_new);
/* Writes several rows, each of which succeeds or fails by itself. STROMKV_OK when all have succeeded. */
stromkv_status stromkv_session_put_many(stromkv_session* session, const stromkv_value* values, size_t count,
                                        stromkv_status* statuses);
/* Changes a row if it has this generation. For generation 0, makes the row if there is none. Else STROMKV_CONFLICT. */
stromkv_status stromkv_session_compare_and_set(stromkv_session* session, const stromkv_value* values,
                                               uint32_t generation);
stromkv_status stromkv_session_delete(stromkv_session* session, stromkv_key key);

/* rows: of the table. The other counts are of this database's server, since it was started. */
typedef struct stromkv_server_statistics {
  uint64_t rows, clients, operations, groups, failures;
} stromkv_server_statistics;
stromkv_status stromkv_session_statistics(stromkv_session* session, stromkv_server_statistics* statistics);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
