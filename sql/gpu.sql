
-- The GPU service: who uses it.
CREATE FUNCTION gpu_sessions(OUT pid int, OUT priority int, OUT queued int, OUT running int, OUT memory bigint,
                             OUT memory_wanted bigint, OUT tasks bigint, OUT busy_ms float8, OUT name text)
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
