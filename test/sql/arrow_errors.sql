-- Bad options, bad files, bad rights: each an ERROR with its SQLSTATE that names what is wrong.
\getenv source_dir PG_ABS_SRCDIR
SELECT set_config('test.data', :'source_dir' || '/data', false) <> '' AS data_dir_known;
CREATE SCHEMA arrow_errors;
SET search_path = arrow_errors;
SET pg_strom.enabled = off;

-- Runs a statement, with @ standing for the folder of the files, and shows its error.
CREATE FUNCTION error_of(statement text, OUT state text, OUT message text, OUT detail text, OUT hint text, OUT context text)
LANGUAGE plpgsql AS $$
DECLARE data constant text := current_setting('test.data');
BEGIN
  EXECUTE replace(statement, '@', data);
  message := 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
  message := replace(message, data, '@');
  detail := replace(detail, data, '@');
  context := replace(substring(context, '^column[^\n]*'), data, '@');
END $$;
\x on
\pset format unaligned

-- Options.
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (fiel '@/parts/part1.arrow')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (file '@/parts/part1.arrow', zzz '1')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (file '@/parts/part1.arrow', dir '@')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (file '@/parts/part1.arrow', suffix 'arrow')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (dir '@', suffix '')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (file 'relative.arrow')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (files '@/parts/part1.arrow,')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (file '@/parts/part1.arrow', parallel_workers 'many')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int OPTIONS (fields 'x')) SERVER arrow_fdw OPTIONS (file '@/parts/part1.arrow')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (file '/data/2024-*/part?.arrow')$$);
SELECT * FROM error_of($$CREATE FOREIGN TABLE t (k int) SERVER arrow_fdw OPTIONS (files '@/parts/part1.arrow, /*.arrow')$$);
SELECT * FROM error_of($$CREATE SERVER s FOREIGN DATA WRAPPER arrow_fdw OPTIONS (file '@/parts/part1.arrow')$$);
SELECT * FROM error_of($$CREATE USER MAPPING FOR CURRENT_USER SERVER arrow_fdw OPTIONS (user 'x')$$);
SELECT * FROM error_of($$ALTER FOREIGN DATA WRAPPER arrow_fdw OPTIONS (ADD dir '@')$$);

-- Files that are not there, or not what they should be.
CREATE FUNCTION import_error(options text, OUT state text, OUT message text, OUT detail text, OUT hint text) LANGUAGE sql AS $$
  SELECT state, message, detail, hint
    FROM error_of('IMPORT FOREIGN SCHEMA t FROM SERVER arrow_fdw INTO arrow_errors OPTIONS (' || options || ')')
$$;
SELECT * FROM import_error($$file '@/nowhere.arrow'$$);
SELECT * FROM import_error($$file '@'$$);
SELECT * FROM import_error($$dir '@/nowhere'$$);
SELECT * FROM import_error($$dir '@', suffix 'nothing'$$);
SELECT * FROM import_error($$dir '@/parts'$$);
SELECT * FROM import_error($$file '@/truncated.arrow'$$);
SELECT * FROM import_error($$file '@/wrong_magic.arrow'$$);
SELECT * FROM import_error($$file '@/empty_file.arrow'$$);
SELECT * FROM import_error($$file '@/unsupported.arrow'$$);
SELECT * FROM import_error($$files '@/parts/part1.arrow,@/missing_column.arrow'$$);
SELECT * FROM import_error($$files '@/missing_column.arrow,@/parts/part1.arrow'$$);
SELECT * FROM import_error($$files '@/parts/part1.arrow,@/other_type.arrow'$$);

-- The same when the table was made by hand.
CREATE FUNCTION scan_error(columns text, options text, query text,
                           OUT state text, OUT message text, OUT detail text, OUT hint text, OUT context text)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE replace(format('CREATE FOREIGN TABLE t (%s) SERVER arrow_fdw OPTIONS (%s)', columns, options),
                  '@', current_setting('test.data'));
  SELECT * INTO state, message, detail, hint, context FROM error_of(query);
  DROP FOREIGN TABLE t;
END $$;
SELECT * FROM scan_error('k int', $$file '@/nowhere.arrow'$$, 'TABLE t');
SELECT * FROM scan_error('k int', $$file '@/nowhere.arrow'$$, 'ANALYZE t');
SELECT * FROM scan_error('k int', $$dir '@/nowhere'$$, 'TABLE t');
SELECT * FROM scan_error('k int', $$file '@/truncated.arrow'$$, 'TABLE t');
SELECT * FROM scan_error('k date', $$file '@/parts/part1.arrow'$$, 'SELECT k FROM t');
SELECT * FROM scan_error('k int, v text', $$files '@/parts/part1.arrow,@/missing_column.arrow'$$, 'SELECT k FROM t');
SELECT * FROM scan_error('k int, v text', $$files '@/parts/part1.arrow,@/missing_column.arrow'$$, 'SELECT v FROM t');
SELECT * FROM scan_error('k int', $$files '@/parts/part1.arrow,@/other_type.arrow'$$, 'SELECT k FROM t');
SELECT * FROM scan_error('k int, d text', $$file '@/unsupported.arrow'$$, 'SELECT k FROM t');
SELECT * FROM scan_error('k int, st text', $$file '@/unsupported.arrow'$$, 'SELECT st FROM t');
-- Values that PostgreSQL has no room for.
SELECT * FROM scan_error('i int, d date', $$file '@/bad_values.arrow'$$, 'SELECT i FROM t');
SELECT * FROM scan_error('d date', $$file '@/bad_values.arrow'$$, 'SELECT d FROM t');
SELECT * FROM scan_error('ts timestamp', $$file '@/bad_values.arrow'$$, 'SELECT ts FROM t');
SELECT * FROM scan_error('t text', $$file '@/bad_values.arrow'$$, 'SELECT t FROM t');
SELECT * FROM scan_error('t text', $$file '@/bad_values.arrow'$$, 'ANALYZE t');
SELECT * FROM scan_error('v text', $$file '@/bad_offsets.arrow'$$, 'SELECT v FROM t');
\x off
\pset format aligned

-- A role needs pg_read_server_files to name a file, not to read a table that somebody else made.
CREATE ROLE regress_arrow_reader;
GRANT USAGE ON FOREIGN SERVER arrow_fdw TO regress_arrow_reader;
GRANT ALL ON SCHEMA arrow_errors TO regress_arrow_reader;
\set part1 :source_dir '/data/parts/part1.arrow'
CREATE FOREIGN TABLE granted (k int, v text) SERVER arrow_fdw OPTIONS (file :'part1');
GRANT SELECT ON granted TO regress_arrow_reader;
SET ROLE regress_arrow_reader;
SELECT count(*) FROM granted;
CREATE FOREIGN TABLE own (k int) SERVER arrow_fdw OPTIONS (file '/etc/passwd');
IMPORT FOREIGN SCHEMA own FROM SERVER arrow_fdw INTO arrow_errors OPTIONS (file '/etc/passwd');
RESET ROLE;
ALTER FOREIGN TABLE granted OWNER TO regress_arrow_reader;
SET ROLE regress_arrow_reader;
ALTER FOREIGN TABLE granted OPTIONS (SET file '/etc/passwd');
ALTER FOREIGN TABLE granted OPTIONS (ADD parallel_workers '1');
SELECT count(*) FROM granted;
RESET ROLE;
GRANT pg_read_server_files TO regress_arrow_reader;
SET ROLE regress_arrow_reader;
ALTER FOREIGN TABLE granted OPTIONS (ADD parallel_workers '1');
RESET ROLE;
\set VERBOSITY terse
DROP SCHEMA arrow_errors CASCADE;
DROP OWNED BY regress_arrow_reader;
DROP ROLE regress_arrow_reader;
