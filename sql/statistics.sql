-- Queries that run in the engine now, and those that have run.
CREATE FUNCTION stat_progress(OUT pid int, OUT datid oid, OUT usesysid oid, OUT relid oid, OUT phase text, OUT step int, OUT steps int,
                              OUT chunks_done bigint, OUT chunks_total bigint, OUT rows_done bigint, OUT bytes_done bigint,
                              OUT bytes_total bigint, OUT started timestamptz, OUT eta interval, OUT query text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_stat_progress'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 10;

-- example: SELECT pid, phase, chunks_done, chunks_total, eta FROM pgstrom.stat_progress;
COMMENT ON FUNCTION stat_progress() IS 'how far queries in the engine are, of all sessions';

CREATE VIEW stat_progress AS
SELECT p.pid, p.datid, d.datname, p.usesysid, r.rolname AS usename, p.relid, p.phase, p.step, p.steps, p.chunks_done, p.chunks_total,
       p.rows_done, p.bytes_done, p.bytes_total, p.started, p.eta, p.query
FROM stat_progress() p LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) p.datid
LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) p.usesysid;

GRANT SELECT ON stat_progress TO PUBLIC;

COMMENT ON VIEW stat_progress IS 'how far queries in the engine are; of those of other roles without pg_read_all_stats no more than whose they are';
COMMENT ON COLUMN stat_progress.pid IS 'process of the session';
COMMENT ON COLUMN stat_progress.datid IS 'its database';
COMMENT ON COLUMN stat_progress.datname IS 'name of the database';
COMMENT ON COLUMN stat_progress.usesysid IS 'its role';
COMMENT ON COLUMN stat_progress.usename IS 'name of the role';
COMMENT ON COLUMN stat_progress.relid IS 'table that is being read; NULL for rows of other nodes';
COMMENT ON COLUMN stat_progress.phase IS 'collecting rows of other nodes, building join table, scanning';
COMMENT ON COLUMN stat_progress.step IS 'which of the node''s tables it is, the inner sides of joins first';
COMMENT ON COLUMN stat_progress.steps IS 'how many tables the node has';
COMMENT ON COLUMN stat_progress.chunks_done IS 'record batches, or pages, that were read in this step';
COMMENT ON COLUMN stat_progress.chunks_total IS 'how many there are; NULL where that is not known';
COMMENT ON COLUMN stat_progress.rows_done IS 'rows that were read in this step';
COMMENT ON COLUMN stat_progress.bytes_done IS 'bytes of these chunks';
COMMENT ON COLUMN stat_progress.bytes_total IS 'bytes of all chunks';
COMMENT ON COLUMN stat_progress.started IS 'when the node began';
COMMENT ON COLUMN stat_progress.eta IS 'how long the step goes on, if it goes on as it went';
COMMENT ON COLUMN stat_progress.query IS 'as in pg_stat_activity';

CREATE FUNCTION stat_queries(OUT userid oid, OUT dbid oid, OUT queryid bigint, OUT query text, OUT executions bigint,
                             OUT total_time float8, OUT min_time float8, OUT max_time float8,
                             OUT mean_time float8, OUT rows_read bigint, OUT chunks_read bigint, OUT chunks_skipped bigint,
                             OUT rows_rechecked bigint, OUT device_rows bigint, OUT peak_memory bigint, OUT last_execution timestamptz,
                             OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_stat_queries'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 100;

-- example: SELECT query, executions, mean_time FROM pgstrom.stat_queries ORDER BY total_time DESC LIMIT 10;
COMMENT ON FUNCTION stat_queries() IS 'what nodes of the engine have done, for each query; the extension has to be preloaded';

CREATE FUNCTION stat_queries_reset()
RETURNS void
AS 'MODULE_PATHNAME', 'strom_stat_queries_reset'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT pgstrom.stat_queries_reset();
COMMENT ON FUNCTION stat_queries_reset() IS 'forgets what stat_queries() tells';

REVOKE ALL ON FUNCTION stat_queries_reset() FROM PUBLIC;

CREATE VIEW stat_queries AS
SELECT q.userid, r.rolname AS usename, q.dbid, d.datname, q.queryid, q.query, q.executions, q.total_time, q.min_time, q.max_time,
       q.mean_time, q.rows_read, q.chunks_read,       q.chunks_skipped, q.rows_rechecked, q.device_rows, q.peak_memory, q.last_execution, q.stats_reset
FROM stat_queries() q LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) q.dbid
LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) q.userid;

GRANT SELECT ON stat_queries TO PUBLIC;

COMMENT ON VIEW stat_queries IS 'what nodes of the engine have done, for each query';
COMMENT ON COLUMN stat_queries.userid IS 'role that ran it';
COMMENT ON COLUMN stat_queries.usename IS 'name of the role';
COMMENT ON COLUMN stat_queries.dbid IS 'database';
COMMENT ON COLUMN stat_queries.datname IS 'name of the database';
COMMENT ON COLUMN stat_queries.queryid IS 'as in pg_stat_activity and pg_stat_statements';
COMMENT ON COLUMN stat_queries.query IS 'text with $1, $2, ... in place of constants, at most 1023 bytes';
COMMENT ON COLUMN stat_queries.executions IS 'nodes of the engine that ended well';
COMMENT ON COLUMN stat_queries.total_time IS 'time of these nodes in ms';
COMMENT ON COLUMN stat_queries.min_time IS 'least time of a node in ms';
COMMENT ON COLUMN stat_queries.max_time IS 'greatest time of a node in ms';
COMMENT ON COLUMN stat_queries.mean_time IS 'mean time of a node in ms';
COMMENT ON COLUMN stat_queries.rows_read IS 'rows of the nodes'' outermost tables';
COMMENT ON COLUMN stat_queries.chunks_read IS 'pieces of these tables that were read: record batches, up to 64 pages, or 256 pages of the column cache';
COMMENT ON COLUMN stat_queries.chunks_skipped IS 'pieces that statistics have ruled out';
COMMENT ON COLUMN stat_queries.rows_rechecked IS 'rows that PostgreSQL evaluated';
COMMENT ON COLUMN stat_queries.device_rows IS 'rows of rows_read that GPUs have read';
COMMENT ON COLUMN stat_queries.peak_memory IS 'greatest memory of a node in bytes';
COMMENT ON COLUMN stat_queries.last_execution IS 'when the last node ended';
COMMENT ON COLUMN stat_queries.stats_reset IS 'since when all this was counted';
