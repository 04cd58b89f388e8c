-- What pgstrom.doctor() tells of the session and the machine, and the devices. What depends on the machine is left out.
\set checks 'SELECT "check", status, detail, fix FROM pgstrom.doctor() WHERE "check" ='
SELECT "check" FROM pgstrom.doctor() WITH ORDINALITY AS found
  WHERE "check" NOT LIKE 'GPU%' AND "check" NOT LIKE 'CUDA%' ORDER BY ordinality;
SELECT count(*) FILTER (WHERE "check" = 'GPU') AS gpu, bool_and(status IN ('ok', 'note', 'warning', 'error')) AS status,
       bool_and(detail ~ '^.+[^ ]$') AS detail, bool_and(fix IS NOT NULL) FILTER (WHERE status IN ('warning', 'error')) IS NOT FALSE AS fix,
       bool_and(fix IS NULL) FILTER (WHERE status = 'ok') AS nothing_to_mend
  FROM pgstrom.doctor();

-- Of the session.
SELECT status, detail ~ '^A query uses up to \d+ threads\.$' AS detail FROM pgstrom.doctor() WHERE "check" = 'engine';
SET pg_strom.enabled = off;
:checks 'engine';
SELECT device, used FROM pgstrom.device_info WHERE device = 'cpu';
RESET pg_strom.enabled;
SET pg_strom.device = off;
:checks 'engine';
SELECT device, used FROM pgstrom.device_info WHERE device = 'cpu';
RESET pg_strom.device;
SET pg_strom.work_memory = '2047GB';
SELECT status, fix ~ '^SET pg_strom.work_memory = ''\d+(MB|GB)'';$' AS fix FROM pgstrom.doctor() WHERE "check" = 'work memory';
RESET pg_strom.work_memory;
SET pg_strom.cpu_threads = 3;
SELECT device, name <> '' AS name, instructions IN ('baseline', 'x86-64-v2', 'AVX2', 'AVX-512') AS instructions, threads, used
  FROM pgstrom.device_info WHERE device = 'cpu';
RESET pg_strom.cpu_threads;
SELECT bool_and(device ~ '^gpu\d+$' AND NOT used) IS NOT FALSE AS gpus FROM pgstrom.device_info WHERE device <> 'cpu';

-- The order of text; of other databases: doctor_icu.
:checks 'collation';

-- Roles.
CREATE ROLE regress_doctor;
GRANT USAGE ON SCHEMA pgstrom TO regress_doctor;
SET ROLE regress_doctor;
SELECT count(*) FROM pgstrom.doctor();
RESET ROLE;
GRANT pg_monitor TO regress_doctor;
SET ROLE regress_doctor;
:checks 'Arrow files';
RESET ROLE;
:checks 'Arrow files';
REVOKE USAGE ON SCHEMA pgstrom FROM regress_doctor;
DROP ROLE regress_doctor;

-- A device that cannot be had.
SET pg_strom.device = gpu;
CREATE TABLE regress_no_gpu (a int);
INSERT INTO regress_no_gpu SELECT generate_series(1, 1000);
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0;
SELECT count(*) FROM regress_no_gpu WHERE a % 3 = 0;
\echo :LAST_ERROR_SQLSTATE
SET pg_strom.device = auto;
SELECT count(*) FROM regress_no_gpu WHERE a % 3 = 0;
SELECT count(*) FROM pgstrom.gpu_sessions;
DROP TABLE regress_no_gpu;
