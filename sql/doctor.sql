-- The machine: what the engine finds there, and what it lacks.
CREATE FUNCTION doctor(OUT "check" text, OUT status text, OUT detail text, OUT fix text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_doctor'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- result check: what was looked at
-- result status: ok, note, warning or error
-- result detail: what was found
-- result fix: a command that mends it; NULL: none is needed
-- example: SELECT * FROM pgstrom.doctor() WHERE status <> 'ok';
COMMENT ON FUNCTION doctor() IS 'what decides whether the engine works well here, each failure with the command that mends it';

REVOKE ALL ON FUNCTION doctor() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doctor() TO pg_monitor;

CREATE FUNCTION device_info(OUT device text, OUT name text, OUT instructions text, OUT threads int, OUT used boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_device_info'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT * FROM pgstrom.device_info;
COMMENT ON FUNCTION device_info() IS 'the CPU device and the GPUs of the machine';

CREATE VIEW device_info AS SELECT * FROM device_info();

GRANT SELECT ON device_info TO PUBLIC;

COMMENT ON VIEW device_info IS 'the CPU device and the GPUs of the machine';
COMMENT ON COLUMN device_info.device IS 'cpu, gpu0, gpu1, ...';
COMMENT ON COLUMN device_info.name IS 'of the processor or GPU';
COMMENT ON COLUMN device_info.instructions IS 'that the engine uses; NULL for GPUs';
COMMENT ON COLUMN device_info.threads IS 'that a query may use; NULL for GPUs';
COMMENT ON COLUMN device_info.used IS 'whether the engine may use it now';

-- Says at the end of CREATE EXTENSION what queries on PostgreSQL's own tables need, if it is not there.
CREATE FUNCTION note_preload()
RETURNS void
AS 'MODULE_PATHNAME', 'strom_note_preload'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
SELECT note_preload();
DROP FUNCTION note_preload();
