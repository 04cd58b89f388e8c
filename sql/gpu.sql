
-- The GPU service: who uses it.
CREATE FUNCTION gpu_sessions(OUT pid int, OUT priority int, OUT queued int, OUT running int, OUT memory bigint,
                             OUT memory_wanted bigint, OUT tasks bigint, OUT busy_ms float8, OUT name text, OUT device int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_gpu_sessions'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT pid, tasks, busy_ms, memory FROM pgstrom.gpu_sessions;
COMMENT ON FUNCTION gpu_sessions() IS 'sessions of the GPU service: their tasks, device memory in bytes, and time on the device';

REVOKE ALL ON FUNCTION gpu_sessions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpu_sessions() TO pg_monitor;

CREATE VIEW gpu_sessions AS SELECT * FROM gpu_sessions();

REVOKE ALL ON gpu_sessions FROM PUBLIC;
GRANT SELECT ON gpu_sessions TO pg_monitor;

COMMENT ON VIEW gpu_sessions IS 'sessions of the GPU service: their tasks, device memory in bytes, and time on the device';
COMMENT ON COLUMN gpu_sessions.pid IS 'process of the session';
COMMENT ON COLUMN gpu_sessions.priority IS 'of its tasks';
COMMENT ON COLUMN gpu_sessions.queued IS 'tasks that wait';
COMMENT ON COLUMN gpu_sessions.running IS 'tasks that run';
COMMENT ON COLUMN gpu_sessions.memory IS 'device memory that it holds, in bytes';
COMMENT ON COLUMN gpu_sessions.memory_wanted IS 'device memory that it waits for, in bytes';
COMMENT ON COLUMN gpu_sessions.tasks IS 'tasks that were done';
COMMENT ON COLUMN gpu_sessions.busy_ms IS 'time on the device in ms';
COMMENT ON COLUMN gpu_sessions.name IS 'of the session';
COMMENT ON COLUMN gpu_sessions.device IS 'number of the GPU';

-- Its devices, and what was measured of them when it started: bytes per second, nanoseconds for a row.
CREATE FUNCTION gpu_devices(OUT device int, OUT name text, OUT address text, OUT processors int, OUT memory bigint,
                            OUT memory_used bigint, OUT sessions int, OUT queued int, OUT running int, OUT tasks bigint,
                            OUT busy_ms float8, OUT copy_in float8, OUT copy_out float8, OUT fill float8, OUT stage float8,
                            OUT round_trip_us float8, OUT setup_us float8, OUT scan_ns float8, OUT probe_ns float8,
                            OUT group_ns float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_gpu_devices'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT device, name, memory, tasks FROM pgstrom.gpu_devices;
COMMENT ON FUNCTION gpu_devices() IS 'GPUs of the GPU service: what they have to do, and what was measured of them';

REVOKE ALL ON FUNCTION gpu_devices() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpu_devices() TO pg_monitor;

CREATE VIEW gpu_devices AS SELECT * FROM gpu_devices();

REVOKE ALL ON gpu_devices FROM PUBLIC;
GRANT SELECT ON gpu_devices TO pg_monitor;

COMMENT ON VIEW gpu_devices IS 'GPUs of the GPU service: what they have to do, and what was measured of them';
COMMENT ON COLUMN gpu_devices.device IS 'number of the GPU';
COMMENT ON COLUMN gpu_devices.name IS 'of the GPU';
COMMENT ON COLUMN gpu_devices.address IS 'on the PCI bus';
COMMENT ON COLUMN gpu_devices.processors IS 'multiprocessors';
COMMENT ON COLUMN gpu_devices.memory IS 'in bytes';
COMMENT ON COLUMN gpu_devices.memory_used IS 'in bytes';
COMMENT ON COLUMN gpu_devices.sessions IS 'that use it';
COMMENT ON COLUMN gpu_devices.queued IS 'tasks that wait';
COMMENT ON COLUMN gpu_devices.running IS 'tasks that run';
COMMENT ON COLUMN gpu_devices.tasks IS 'tasks that were done';
COMMENT ON COLUMN gpu_devices.busy_ms IS 'time that it worked in ms';
COMMENT ON COLUMN gpu_devices.copy_in IS 'measured: bytes per second to the device';
COMMENT ON COLUMN gpu_devices.copy_out IS 'measured: bytes per second from the device';
COMMENT ON COLUMN gpu_devices.fill IS 'measured: bytes per second that it writes to its own memory';
COMMENT ON COLUMN gpu_devices.stage IS 'measured: bytes per second of preparing columns on the host';
COMMENT ON COLUMN gpu_devices.round_trip_us IS 'measured: microseconds of a launch';
COMMENT ON COLUMN gpu_devices.setup_us IS 'measured: microseconds of the smallest query';
COMMENT ON COLUMN gpu_devices.scan_ns IS 'measured: nanoseconds of a filter for each row';
COMMENT ON COLUMN gpu_devices.probe_ns IS 'measured: nanoseconds of a join for each row';
COMMENT ON COLUMN gpu_devices.group_ns IS 'measured: nanoseconds of grouping for each row';

-- Columns and join tables that stay in the GPU's memory between queries.
CREATE FUNCTION gpu_cache_info(OUT relation regclass, OUT file text, OUT kind text, OUT columns int, OUT pieces bigint,
                               OUT bytes bigint, OUT uses bigint, OUT pinned bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_gpu_cache_info'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT relation, file, kind, bytes FROM pgstrom.gpu_cache_info;
COMMENT ON FUNCTION gpu_cache_info() IS 'tables of this database and files of which columns or join tables are in the GPU''s memory: pieces of columns or join tables, bytes, recent uses, bytes that queries use now';

CREATE FUNCTION gpu_cache_reset() RETURNS bigint
AS 'MODULE_PATHNAME', 'strom_gpu_cache_reset'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT pgstrom.gpu_cache_reset();
COMMENT ON FUNCTION gpu_cache_reset() IS 'forgets the columns and join tables in the GPU''s memory, those in use when that ends; the bytes that are free then';

REVOKE ALL ON FUNCTION gpu_cache_info() FROM PUBLIC;
REVOKE ALL ON FUNCTION gpu_cache_reset() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpu_cache_info() TO pg_monitor;

CREATE VIEW gpu_cache_info AS SELECT * FROM gpu_cache_info();

REVOKE ALL ON gpu_cache_info FROM PUBLIC;
GRANT SELECT ON gpu_cache_info TO pg_monitor;

COMMENT ON VIEW gpu_cache_info IS 'tables of this database and files of which columns or join tables are in the GPU''s memory';
COMMENT ON COLUMN gpu_cache_info.relation IS 'the table; NULL for files';
COMMENT ON COLUMN gpu_cache_info.file IS 'the file; NULL for tables';
COMMENT ON COLUMN gpu_cache_info.kind IS 'columns or join tables';
COMMENT ON COLUMN gpu_cache_info.columns IS 'how many columns';
COMMENT ON COLUMN gpu_cache_info.pieces IS 'columns of record batches or of pages; join tables';
COMMENT ON COLUMN gpu_cache_info.bytes IS 'device memory';
COMMENT ON COLUMN gpu_cache_info.uses IS 'recent uses';
COMMENT ON COLUMN gpu_cache_info.pinned IS 'bytes that queries use now';
