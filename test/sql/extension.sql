-- What CREATE EXTENSION brings, and the settings.
SELECT component, version = (SELECT extversion FROM pg_extension WHERE extname = 'pg_strom') AS extension_version
  FROM pgstrom.version_info() WHERE component = 'pg_strom';
SELECT fdwname, srvname FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw;

-- Every object but the types int1 and float2 with what belongs to them is in schema pgstrom, and every function says how
-- volatile and how parallel it is.
SELECT p.oid::regprocedure, provolatile, proparallel
  FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_strom'
  WHERE pronamespace = 'pgstrom'::regnamespace ORDER BY p.oid::regprocedure::text;
SELECT provolatile, proparallel, proisstrict, count(*)
  FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_strom'
  WHERE pronamespace <> 'pgstrom'::regnamespace AND prokind = 'f' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT pg_describe_object(classid, objid, 0)
  FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_strom' AND d.deptype = 'e'
  WHERE (pg_identify_object(classid, objid, 0)).schema <> 'pgstrom'
    AND pg_describe_object(classid, objid, 0) !~ 'int1|float2|flt2';

-- Settings are there once the module is loaded, by whatever function of it.
SELECT name, setting, unit, context, vartype, min_val, max_val, enumvals
  FROM pg_settings WHERE name LIKE ANY (ARRAY['pg\_strom.%', 'arrow\_fdw.%']) ORDER BY name;
SELECT count(*) AS without_description
  FROM pg_settings
  WHERE name LIKE ANY (ARRAY['pg\_strom.%', 'arrow\_fdw.%']) AND (short_desc IS NULL OR extra_desc IS NULL);
SET pg_strom.device = tpu;
SET pg_strom.cpu_threads = -1;
SET pg_strom.max_engine_threads = 8;
SET pg_strom.work_memory = '1MB';
SHOW pg_strom.work_memory;
SET pg_strom.work_memory = '1kB';
SET pg_strom.no_such_setting = 1;
SET arrow_fdw.no_such_setting = 1;
-- A setting that differs from its default is part of a plan's explanation.
SET pg_strom.cpu_fallback = notice;
EXPLAIN (SETTINGS, COSTS OFF) SELECT 1;
RESET ALL;

-- Settings of other versions of the extension: a script that sets them goes on, and is told what rules instead.
SET pg_strom.enable_gpugistindex = off;
SET pg_strom.enable_gpugistindex = maybe;
SET pg_strom.enable_select_into_direct TO off;
SET pg_strom.gpu_direct_seq_page_cost = 0.25;
SHOW pg_strom.gpu_direct_seq_page_cost;
SET pg_strom.pinned_inner_buffer_threshold = '512MB';
CREATE ROLE strom_old_script;
ALTER ROLE strom_old_script SET pg_strom.gpu_selection_policy = 'numa';
DROP ROLE strom_old_script;
RESET ALL;
-- Others have an effect.
SET pg_strom.gpudirect_threshold = '2GB';
RESET pg_strom.gpudirect_threshold;

-- Everybody may look into the schema, and call what is for everybody.
CREATE ROLE strom_nobody;
CREATE ROLE strom_monitor IN ROLE pg_monitor;
GRANT CREATE ON SCHEMA public TO strom_nobody;
\set VERBOSITY sqlstate
SET ROLE strom_nobody;
SELECT count(*) > 0 FROM pgstrom.device_info;
SELECT count(*) > 0 FROM pgstrom.version_info();
SELECT octet_length(pgstrom.arrow_ipc('SELECT 1')) > 0;
SELECT count(*) > 0 FROM pgstrom.arrow_ipc_stream('SELECT 1');
SELECT pgstrom.random_int(0, 3, 3);
SELECT runs FROM pgstrom.explain_support('SELECT 1');
SELECT pgstrom.arrow_ipc('SELECT rolpassword FROM pg_authid');
SELECT pgstrom.explain_support('SELECT rolpassword FROM pg_authid');
SELECT pgstrom.arrow_export('SELECT 1', '/tmp/strom_nobody.arrow');
SELECT pgstrom.arrow_fdw_import_file('nobodys', '/tmp/strom_nobody.arrow', 'public');
SELECT pgstrom.storage_check('/tmp');
SELECT pgstrom.doctor();
SELECT pgstrom.column_cache_info();
SELECT pgstrom.column_cache_reset();
SELECT pgstrom.gpu_cache_info();
SELECT pgstrom.gpu_cache_reset();
SELECT * FROM pgstrom.gpu_sessions;
SELECT * FROM pgstrom.gpu_devices;
SET ROLE strom_monitor;
SELECT count(*) > 0 FROM pgstrom.doctor();
SELECT count(*) >= 0 FROM pgstrom.column_cache_info();
SELECT pgstrom.column_cache_reset();
RESET ROLE;
\set VERBOSITY default
REVOKE CREATE ON SCHEMA public FROM strom_nobody;
DROP ROLE strom_nobody, strom_monitor;
