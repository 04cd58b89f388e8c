-- Results of queries as Arrow files and streams.
SELECT current_setting('data_directory') || '/strom_export' AS folder \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -rf strom_export && mkdir strom_export';
\set file :folder '/e.arrow'
CREATE SCHEMA arrow_export;
SET search_path = arrow_export;
SET timezone = 'UTC';
CREATE FUNCTION stats_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Stats-Hint' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
CREATE TABLE source AS
  SELECT i AS id, i % 7 = 0 AS seventh, (i * 1.5)::numeric(12,3) AS amount, date '2000-01-01' + i AS day,
         timestamptz '2000-01-01 00:00+00' + i * interval '1 second' AS at, 'text ' || i AS t, i::float8 / 3 AS f
    FROM generate_series(1, 5000) i;
INSERT INTO source VALUES (NULL);
SELECT pgstrom.arrow_export('SELECT * FROM arrow_export.source', :'file');
IMPORT FOREIGN SCHEMA copy FROM SERVER arrow_fdw INTO arrow_export OPTIONS (file :'file');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'copy'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE copy) d;
SELECT count(*) FROM (TABLE copy EXCEPT ALL TABLE source) d;
-- Nothing is overwritten unless told.
\set VERBOSITY terse
\set VERBOSITY sqlstate
SELECT pgstrom.arrow_export('SELECT 1 AS id', :'file') IS NULL;
\set VERBOSITY terse
SELECT set_config('test.file', :'file', false) <> '' AS known;
DO $$
DECLARE hint text;
BEGIN
  PERFORM pgstrom.arrow_export('SELECT 1 AS id', current_setting('test.file'));
EXCEPTION WHEN duplicate_file THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RAISE NOTICE '%', hint;
END $$;
-- The same of one that comes while the query runs; it stays as it is.
SELECT set_config('test.file', :'folder' || '/appears.arrow', false) <> '' AS known;
CREATE FUNCTION appear(path text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('COPY (SELECT ''mine'') TO %L', path);
  RETURN 1;
END $$;
DO $$
DECLARE
  state text;
  hint text;
BEGIN
  PERFORM pgstrom.arrow_export(format('SELECT arrow_export.appear(%L)', current_setting('test.file')), current_setting('test.file'));
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, hint = PG_EXCEPTION_HINT;
  RAISE NOTICE '% %', state, hint;
END $$;
SELECT pg_read_file('strom_export/appears.arrow');
SELECT pgstrom.arrow_export(format('SELECT arrow_export.appear(%L)', current_setting('test.file')),
                            current_setting('test.file'), '{"overwrite": true}');
:shell 'rm -f strom_export/appears.arrow';
SELECT count(*) FROM copy;
SELECT pgstrom.arrow_export('SELECT * FROM arrow_export.source ORDER BY id', :'file',
                            '{"overwrite": true, "compression": "lz4", "batch_rows": 1000}');
SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE copy) d;
SET pg_strom.enabled = off;
SELECT * FROM stats_of('SELECT id FROM copy WHERE id BETWEEN 1500 AND 1600');
RESET pg_strom.enabled;
-- An error leaves nothing.
SELECT pgstrom.arrow_export('SELECT 1 / (5 - i) FROM generate_series(1, 9) i', :'folder' || '/broken.arrow');
SELECT name FROM pg_ls_dir('strom_export') name ORDER BY name COLLATE "C";
-- Streams.
SELECT length(pgstrom.arrow_ipc('SELECT id FROM arrow_export.source')) > 20000;
SELECT count(*), bool_and(length(b) % 8 = 0) FROM pgstrom.arrow_ipc_stream('SELECT id FROM arrow_export.source', 8000) b;
SELECT count(*) FROM (SELECT pgstrom.arrow_ipc_stream('SELECT id FROM arrow_export.source', 1000) LIMIT 2) x;
SELECT string_agg(b, '')= pgstrom.arrow_ipc('SELECT id FROM arrow_export.source') AS same
  FROM pgstrom.arrow_ipc_stream('SELECT id FROM arrow_export.source') b;
SELECT length(pgstrom.arrow_ipc('SELECT WHERE false')) > 0 AS no_columns;
-- A piece is full when a row has filled it, also when rows get larger.
SELECT count(*) > 150 AS many, max(length(b)) < 130000 AS small
  FROM pgstrom.arrow_ipc_stream($$SELECT repeat('x', 10 * g) AS v FROM generate_series(1, 2000) g$$, 100000) b;
-- The statement's snapshot; nothing is written.
BEGIN READ ONLY;
SELECT length(pgstrom.arrow_ipc('SELECT 1')) > 0 AS read_only;
SELECT pgstrom.arrow_ipc('DELETE FROM arrow_export.source RETURNING id');
ROLLBACK;
SELECT pgstrom.arrow_ipc('DELETE FROM arrow_export.source RETURNING id');
SELECT pgstrom.arrow_ipc('DROP TABLE arrow_export.source');
SELECT pgstrom.arrow_ipc('SELECT 1; SELECT 2');
SELECT pgstrom.arrow_ipc('SELEC 1');
SELECT pgstrom.arrow_ipc('SELECT ''NaN''::numeric AS n');
SELECT pgstrom.arrow_ipc('SELECT ''infinity''::date AS d');
SELECT pgstrom.arrow_ipc('SELECT ARRAY[[1,2],[3,4]] AS a');
SELECT pgstrom.arrow_ipc('SELECT 1', '{"compresion": "lz4"}');
SELECT pgstrom.arrow_ipc('SELECT 1', '{"compression": "gzip"}');
SELECT pgstrom.arrow_ipc('SELECT 1', '{"numeric": "99,2"}');
SELECT pgstrom.arrow_ipc('SELECT 1', '[]');
SELECT pgstrom.arrow_ipc($$SELECT '[0:1]={1,2}'::int[] AS v$$);
SELECT pgstrom.arrow_ipc('SELECT ARRAY[[1],[2]] AS v');
SELECT count(*) FROM pgstrom.arrow_ipc_stream('SELECT 1', 0);
SELECT pgstrom.arrow_export('SELECT 1', 'relative.arrow');
SELECT pgstrom.arrow_export('SELECT 1', '/nonexistent/x.arrow');
-- Texts have statistics, too, of which long ones are cut: no row is lost by that.
SELECT pgstrom.arrow_export($$SELECT i AS id, repeat('é', 20) || lpad(i::text, 5, '0') AS long, 'k,' || lpad(i::text, 5, '0') AS k
                                FROM generate_series(1, 6000) i$$, :'folder' || '/texts.arrow', '{"batch_rows": 1000}');
\set texts :folder '/texts.arrow'
IMPORT FOREIGN SCHEMA texts FROM SERVER arrow_fdw INTO arrow_export OPTIONS (file :'texts');
SET pg_strom.enabled = off;
SELECT * FROM stats_of($$SELECT id FROM texts WHERE k = 'k,01500'$$);
SELECT * FROM stats_of($$SELECT id FROM texts WHERE k LIKE 'k,03%'$$);
SELECT * FROM stats_of($$SELECT id FROM texts WHERE k > 'l'$$);
SELECT * FROM stats_of($$SELECT id FROM texts WHERE long > repeat('é', 20) || '05990'$$);
SELECT * FROM stats_of($$SELECT id FROM texts WHERE long > repeat('é', 15) || 'ü'$$);
RESET pg_strom.enabled;
SELECT count(*) FROM texts WHERE k = 'k,01500';
SELECT count(*) FROM texts WHERE long > repeat('é', 20) || '05990';
CREATE ROLE regress_arrow_export;
GRANT USAGE ON SCHEMA pgstrom TO regress_arrow_export;
SET ROLE regress_arrow_export;
SELECT pgstrom.arrow_export('SELECT 1', '/tmp/x.arrow');
SELECT pgstrom.arrow_ipc('SELECT * FROM arrow_export.source');
RESET ROLE;
REVOKE ALL ON SCHEMA pgstrom FROM regress_arrow_export;
DROP ROLE regress_arrow_export;
DROP SCHEMA arrow_export CASCADE;
:shell 'rm -rf strom_export';
