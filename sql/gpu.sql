
-- The GPU service: who uses it.
CREATE FUNCTION gpu_sessions(OUT pid int, OUT priority int, OUT queued int, OUT running int, OUT memory bigint,
                             OUT memory_wanted bigint, OUT tasks bigint, OUT busy_ms float8, OUT name text, OUT device int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_gpu_sessions'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION gpu_sessions() IS 'sessions of the GPU service: their tasks, device memory in bytes, and time on the device';

REVOKE ALL ON FUNCTION gpu_sessions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpu_sessions() TO pg_monitor;

CREATE VIEW gpu_sessions AS SELECT * FROM gpu_sessions();

REVOKE ALL ON gpu_sessions FROM PUBLIC;
GRANT SELECT ON gpu_sessions TO pg_monitor;

COMMENT ON VIEW gpu_sessions IS 'sessions of the GPU service: their tasks, device memory in bytes, and time on the device';

-- Its devices, and what was measured of them when it started: bytes per second, nanoseconds for a row.
CREATE FUNCTION gpu_devices(OUT device int, OUT name text, OUT address text, OUT processors int, OUT memory bigint,
                            OUT memory_used bigint, OUT sessions int, OUT queued int, OUT running int, OUT tasks bigint,
                            OUT busy_ms float8, OUT copy_in float8, OUT copy_out float8, OUT fill float8, OUT stage float8,
                            OUT round_trip_us float8, OUT setup_us float8, OUT scan_ns float8, OUT probe_ns float8,
                            OUT group_ns float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_gpu_devices'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION gpu_devices() IS 'GPUs of the GPU service: what they have to do, and what was measured of them';

REVOKE ALL ON FUNCTION gpu_devices() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpu_devices() TO pg_monitor;

CREATE VIEW gpu_devices AS SELECT * FROM gpu_devices();

REVOKE ALL ON gpu_devices FROM PUBLIC;
GRANT SELECT ON gpu_devices TO pg_monitor;

COMMENT ON VIEW gpu_devices IS 'GPUs of the GPU service: what they have to do, and what was measured of them';

-- Columns and join tables that stay in the GPU's memory between queries.
CREATE FUNCTION gpu_cache_info(OUT relation regclass, OUT file text, OUT kind text, OUT columns int, OUT pieces bigint,
                               OUT bytes bigint, OUT uses bigint, OUT pinned bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_gpu_cache_info'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION gpu_cache_info() IS 'tables of this database and files of which columns or join tables are in the GPU''s memory: pieces of columns or join tables, bytes, recent uses, bytes that queries use now';

CREATE FUNCTION gpu_cache_reset() RETURNS bigint
AS 'MODULE_PATHNAME', 'strom_gpu_cache_reset'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION gpu_cache_reset() IS 'forgets the columns and join tables in the GPU''s memory, those in use when that ends; the bytes that are free then';

REVOKE ALL ON FUNCTION gpu_cache_info() FROM PUBLIC;
REVOKE ALL ON FUNCTION gpu_cache_reset() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpu_cache_info() TO pg_monitor;

CREATE VIEW gpu_cache_info AS SELECT * FROM gpu_cache_info();

REVOKE ALL ON gpu_cache_info FROM PUBLIC;
GRANT SELECT ON gpu_cache_info TO pg_monitor;

COMMENT ON VIEW gpu_cache_info IS 'tables of this database and files of which columns or join tables are in the GPU''s memory';
