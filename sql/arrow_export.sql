-- Results of queries in Arrow's formats.
CREATE FUNCTION arrow_export(query text, path text, options jsonb DEFAULT '{}')
RETURNS bigint
AS 'MODULE_PATHNAME', 'strom_arrow_export'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument query: a single SELECT
-- argument path: of the file, absolute
-- argument options: overwrite, compression, batch_rows, batch_bytes, statistics, numeric, infinity, out_of_range
-- rights: pg_write_server_files, and what the query needs
-- example: SELECT pgstrom.arrow_export('SELECT * FROM orders', '/data/orders.arrow', '{"compression": "zstd", "overwrite": true}');
COMMENT ON FUNCTION arrow_export(text, text, jsonb) IS 'writes the result of a query to an Arrow file of the server; number of rows';

CREATE FUNCTION arrow_ipc(query text, options jsonb DEFAULT '{}')
RETURNS bytea
AS 'MODULE_PATHNAME', 'strom_arrow_ipc'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument query: a single SELECT
-- argument options: as those of arrow_export, but overwrite
-- rights: what the query needs
-- example: SELECT pgstrom.arrow_ipc('SELECT * FROM orders LIMIT 1000');
COMMENT ON FUNCTION arrow_ipc(text, jsonb) IS 'the result of a query in Arrow''s stream format';

CREATE FUNCTION arrow_ipc_stream(query text, batch_bytes bigint DEFAULT 16777216, options jsonb DEFAULT '{}')
RETURNS SETOF bytea
AS 'MODULE_PATHNAME', 'strom_arrow_ipc_stream'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 100;

-- argument query: a single SELECT
-- argument batch_bytes: when a record batch is full
-- argument options: as those of arrow_ipc
-- rights: what the query needs
-- example: SELECT pgstrom.arrow_ipc_stream('SELECT * FROM orders', 1048576);
COMMENT ON FUNCTION arrow_ipc_stream(text, bigint, jsonb) IS 'the same piece by piece: the schema, then each record batch';

-- Arrow tables that are written to.
CREATE FUNCTION arrow_fdw_truncate(relation regclass)
RETURNS void
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_truncate'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument relation: an Arrow table with the option writable
-- rights: TRUNCATE on the table
-- example: SELECT pgstrom.arrow_fdw_truncate('written');
COMMENT ON FUNCTION arrow_fdw_truncate(regclass) IS 'TRUNCATE of a writable Arrow table';
