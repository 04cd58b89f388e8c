-- Queries that run in the engine now, and those that have run.
CREATE FUNCTION stat_progress(OUT pid int, OUT datid oid, OUT usesysid oid, OUT relid oid, OUT phase text, OUT step int, OUT steps int,
                              OUT chunks_done bigint, OUT chunks_total bigint, OUT rows_done bigint, OUT bytes_done bigint,
                              OUT bytes_total bigint, OUT started timestamptz, OUT eta interval, OUT query text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_stat_progress'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 10;

COMMENT ON FUNCTION stat_progress() IS 'how far queries in the engine are, of all sessions';

CREATE VIEW stat_progress AS
SELECT p.pid, p.datid, d.datname, p.usesysid, r.rolname AS usename, p.relid, p.phase, p.step, p.steps, p.chunks_done, p.chunks_total,
       p.rows_done, p.bytes_done, p.bytes_total, p.started, p.eta, p.query
FROM stat_progress() p LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) p.datid
LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) p.usesysid;

GRANT SELECT ON stat_progress TO PUBLIC;

COMMENT ON VIEW stat_progress IS 'how far queries in the engine are; of those of other roles without pg_read_all_stats no more than whose they are';

CREATE FUNCTION stat_queries(OUT userid oid, OUT dbid oid, OUT queryid bigint, OUT query text, OUT executions bigint,
                             OUT engine_time float8, OUT rows_read bigint, OUT chunks_read bigint, OUT chunks_skipped bigint,
                             OUT rows_rechecked bigint, OUT device_rows bigint, OUT peak_memory bigint, OUT last_execution timestamptz,
                             OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_stat_queries'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 100;

COMMENT ON FUNCTION stat_queries() IS 'what nodes of the engine have done, for each query; the extension has to be preloaded';

CREATE FUNCTION stat_queries_reset()
RETURNS void
AS 'MODULE_PATHNAME', 'strom_stat_queries_reset'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION stat_queries_reset() IS 'forgets what stat_queries() tells';

REVOKE ALL ON FUNCTION stat_queries_reset() FROM PUBLIC;

CREATE VIEW stat_queries AS
SELECT q.userid, r.rolname AS usename, q.dbid, d.datname, q.queryid, q.query, q.executions, q.engine_time, q.rows_read, q.chunks_read,
       q.chunks_skipped, q.rows_rechecked, q.device_rows, q.peak_memory, q.last_execution, q.stats_reset
FROM stat_queries() q LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) q.dbid
LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) q.userid;

GRANT SELECT ON stat_queries TO PUBLIC;

COMMENT ON VIEW stat_queries IS 'what nodes of the engine have done, for each query';
