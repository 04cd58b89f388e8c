-- Parquet files: the rows of an Arrow file, as different writers store them, read by PostgreSQL and by the engine. Without
-- the Parquet module the expected output is parquet_1.out.
\getenv source_dir PG_ABS_SRCDIR
\set plain :source_dir '/data/pruning/plain.arrow'
\set types :source_dir '/data/types.arrow'
\set parquet :source_dir '/data/parquet/'
CREATE SCHEMA parquet;
SET search_path = parquet;
SET timezone = 'UTC';
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
\set types_parquet :parquet 'types.parquet'
\set VERBOSITY terse
IMPORT FOREIGN SCHEMA types FROM SERVER arrow_fdw INTO parquet OPTIONS (file :'types_parquet');
\if :ERROR
\echo :LAST_ERROR_SQLSTATE
\quit
\endif
\set VERBOSITY default
-- Types.
IMPORT FOREIGN SCHEMA arrow_types FROM SERVER arrow_fdw INTO parquet OPTIONS (file :'types');
SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS arrow, format_type(p.atttypid, p.atttypmod) AS parquet
  FROM pg_attribute a FULL JOIN pg_attribute p ON p.attname = a.attname AND p.attrelid = 'types'::regclass
 WHERE a.attrelid = 'arrow_types'::regclass AND a.attnum > 0
   AND (a.atttypid, a.atttypmod, a.attnum) IS DISTINCT FROM (p.atttypid, p.atttypmod, p.attnum);
SELECT t::text FROM types t EXCEPT SELECT t::text FROM arrow_types t;
SELECT i4, "dec", d64, ts_ms, tstz, s, fb FROM types;

-- Codecs, encodings, versions of pages, and writers.
IMPORT FOREIGN SCHEMA plain FROM SERVER arrow_fdw INTO parquet OPTIONS (file :'plain');
SELECT regexp_replace(path, '.*/', '') AS file, format, rows, batches, codec, cardinality(statistics) > 0 AS statistics FROM pgstrom.arrow_files WHERE relation IN ('plain'::regclass, 'types'::regclass) ORDER BY 1;
CREATE TABLE files (n serial, name text);
INSERT INTO files (name) SELECT unnest('{snappy,zstd,gzip,lz4,brotli,mixed,duckdb,polars,datafusion}'::text[]);
CREATE FUNCTION import_file(name text, path text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('IMPORT FOREIGN SCHEMA %I FROM SERVER arrow_fdw INTO parquet OPTIONS (file %L)', name, path);
END $$;
SELECT count(import_file(name, :'parquet' || name || '.parquet')) FROM files;
SELECT f.name, a.attname, format_type(p.atttypid, p.atttypmod)
  FROM files f JOIN pg_attribute p ON p.attrelid = f.name::regclass
       JOIN pg_attribute a ON a.attrelid = 'plain'::regclass AND a.attname = p.attname
 WHERE p.attnum > 0 AND (a.atttypid, a.atttypmod) <> (p.atttypid, p.atttypmod) ORDER BY f.n, a.attnum;
CREATE FUNCTION differences(tab text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  result bigint;
  columns text := 'id, i1, i2, i4, i8, u4, f4, f8, n, d, ts, tz::timestamp, t, lt, b, same';
BEGIN
  EXECUTE format('SELECT count(*) FROM ((SELECT %2$s FROM plain EXCEPT ALL SELECT %2$s FROM %1$I) '
                 'UNION ALL (SELECT %2$s FROM %1$I EXCEPT ALL SELECT %2$s FROM plain)) d', tab, columns)
    INTO result;
  RETURN result;
END $$;
SET pg_strom.enabled = off;
SELECT name, differences(name) FROM files ORDER BY n;
SET pg_strom.enabled = on;
SET pg_strom.cpu_setup_cost = 0;
SELECT name, differences(name) FROM files ORDER BY n;
EXPLAIN (COSTS OFF) SELECT t, count(*), sum(n) FROM snappy GROUP BY t;
EXPLAIN (COSTS OFF) SELECT id FROM snappy;

-- Texts outlive the row group that they came in.
CREATE FUNCTION answers(tab text) RETURNS TABLE (n int, answer text) LANGUAGE plpgsql AS $$
DECLARE
  queries text[] := ARRAY[
    'SELECT t, count(*), min(lt) AS least, max(t), sum(n) FROM %I GROUP BY t ORDER BY t COLLATE "C"',
    'SELECT id, t, lt FROM %I WHERE id %% 97 = 0 ORDER BY t COLLATE "C", id',
    'SELECT id, t FROM %I ORDER BY lt COLLATE "C", id LIMIT 20',
    'SELECT a.id, a.t, b.lt FROM %1$I a JOIN %1$I b ON a.t = b.lt AND a.id + 50 = b.id ORDER BY 1',
    'SELECT a.id, b.t FROM plain a JOIN %1$I b ON a.id = b.id WHERE a.i4 < -1500 ORDER BY 1',
    'SELECT a.t, b.t, count(*) FROM %1$I a JOIN %1$I b ON a.id = b.i2 GROUP BY 1, 2 ORDER BY 1 COLLATE "C", 2 COLLATE "C"',
    'SELECT t, lt, b, count(*) FROM %I GROUP BY GROUPING SETS ((t, b), (lt), ()) ORDER BY 1, 2, 3, 4',
    'SELECT count(*), sum(i4), max(d), min(ts), bool_or(b), round(avg(f8)::numeric, 6) FROM %I WHERE id > 10 AND f8 < 10'];
BEGIN
  FOR i IN 1 .. array_length(queries, 1) LOOP
    n := i;
    BEGIN
      EXECUTE format('SELECT md5(string_agg(q::text, ''/'')) || '' '' || count(*) FROM (' || queries[i] || ') q', tab) INTO answer;
    EXCEPTION WHEN OTHERS THEN answer := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END $$;
CREATE TABLE expected AS SELECT * FROM answers('plain');
SELECT files.name, n, a.answer FROM files, answers(files.name) a JOIN expected e USING (n) WHERE a.answer IS DISTINCT FROM e.answer;
SET pg_strom.work_memory = '64kB';
SELECT files.name, n, a.answer FROM files, answers(files.name) a JOIN expected e USING (n) WHERE a.answer IS DISTINCT FROM e.answer;
RESET pg_strom.work_memory;
ANALYZE zstd;
SELECT attname, n_distinct FROM pg_stats WHERE schemaname = 'parquet' AND tablename = 'zstd' AND attname IN ('id', 't', 'same') ORDER BY 1;

-- Row groups that statistics rule out.
CREATE FUNCTION hint(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line LIKE '%Stats-Hint%' THEN RETURN regexp_replace(line, '.*\[|\]', '', 'g'); END IF;
  END LOOP;
  RETURN '';
END $$;
CREATE TABLE conditions (n serial, condition text);
INSERT INTO conditions (condition) VALUES
  ('id < 100'), ('id = 555'), ('id BETWEEN 250 AND 320'), ('id > 2000'), ('same IN (1, 8)'), ('i1 = 50'), ('i2 < -400'), ('i8 < -490000000000000000'),
  ('u4 > 3900000000'), ('f4 > 160'), ('f4 = ''NaN'''), ('f8 BETWEEN 160 AND 170'), ('n < -40'), ('n > 70.005'),
  ('d < ''2020-02-01'''), ('ts < ''2020-01-03'''), ('ts > ''2020-02-09'''), ('tz < ''2020-01-02'''),
  ('t = ''apple'''), ('t < ''b'' COLLATE "C"'), ('t LIKE ''citron, c%'''), ('t LIKE ''größ%'''), ('t LIKE ''日本%'''),
  ('t LIKE ''a word that is longer than the thirty-one bytes that are k%'''), ('t = ''fig'''), ('lt > ''citron, candied'' COLLATE "C"'),
  ('t IS NULL'), ('t IS NOT NULL'), ('i4 IS NULL AND id < 950'), ('NOT (id > 50 AND id < 950)'), ('b');
CREATE FUNCTION rows_of(tab text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
  EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(id), 0) FROM %I WHERE %s', tab, condition) INTO result;
  RETURN result;
END $$;
SELECT condition, hint('SELECT FROM snappy WHERE ' || condition) AS snappy, hint('SELECT FROM duckdb WHERE ' || condition) AS duckdb,
       hint('SELECT FROM polars WHERE ' || condition) AS polars, hint('SELECT FROM datafusion WHERE ' || condition) AS datafusion
  FROM conditions ORDER BY n;
SELECT name, condition, rows_of(name, condition) FROM files, conditions WHERE rows_of(name, condition) <> rows_of('plain', condition);
SET pg_strom.enabled = off;
SELECT name, condition, rows_of(name, condition) FROM files, conditions WHERE rows_of(name, condition) <> rows_of('plain', condition);
SELECT hint('SELECT FROM snappy WHERE id BETWEEN 250 AND 320'), hint('SELECT FROM brotli WHERE id BETWEEN 250 AND 320');
SET pg_strom.enabled = on;
-- By joins.
CREATE TABLE days (k int, name text);
INSERT INTO days SELECT i, CASE WHEN i BETWEEN 3 AND 4 THEN 'some' ELSE 'other' END FROM generate_series(0, 9) i;
ANALYZE days;
SELECT hint('SELECT count(*), sum(id) FROM snappy JOIN days ON same = k WHERE name = ''some''');
SELECT count(*), sum(id) FROM snappy JOIN days ON same = k WHERE name = 'some';
SELECT count(*), sum(id) FROM plain JOIN days ON same = k WHERE name = 'some';

-- Decoded columns are kept in the column cache; dictionary-encoded texts are not.
SELECT pgstrom.column_cache_reset();
SELECT pg_sleep(2.1);  -- files that were just changed are not kept
CREATE FUNCTION columns_kept(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || statement INTO plan;
  RETURN coalesce(substring(plan::text FROM '"Column Cache Columns Kept": (\d+)'), '0') || ' ' ||
         coalesce(substring(plan::text FROM '"Column Cache Columns Decompressed": (\d+)'), '-');
END $$;
SET pg_strom.regression_test_mode = off;
SELECT columns_kept('SELECT same, sum(n), count(b), max(f8) FROM zstd GROUP BY same') FROM generate_series(1, 3);
SELECT columns_kept('SELECT t, sum(n) FROM zstd GROUP BY t') FROM generate_series(1, 3);
SELECT columns_kept('SELECT t, sum(n) FROM snappy GROUP BY t') FROM generate_series(1, 3);
SET pg_strom.regression_test_mode = on;
SELECT files.name, pass FROM files, generate_series(1, 3) pass, answers(files.name) a JOIN expected e USING (n) WHERE a.answer IS DISTINCT FROM e.answer;

-- A folder that mixes both.
\set dir :parquet 'parts'
CREATE FOREIGN TABLE parts (k int, v text) SERVER arrow_fdw OPTIONS (dir :'dir');
EXPLAIN (COSTS OFF) SELECT k, v FROM parts;
SELECT k, v FROM parts ORDER BY k;
SELECT sum(k), count(v), max(v) FROM parts;
SET pg_strom.enabled = off;
SELECT sum(k), count(v), max(v) FROM parts;
RESET pg_strom.enabled;

-- Files without rows, and without columns.
\set path :parquet 'no_rows.parquet'
IMPORT FOREIGN SCHEMA no_rows FROM SERVER arrow_fdw INTO parquet OPTIONS (file :'path');
SELECT count(*), count(t) FROM no_rows;
SELECT id, t FROM no_rows;
\set path :parquet 'no_columns.parquet'
CREATE FOREIGN TABLE no_columns () SERVER arrow_fdw OPTIONS (file :'path');
SELECT count(*) FROM no_columns;

-- Nested columns and types that Parquet stores as others.
\set path :parquet 'nested.parquet'
IMPORT FOREIGN SCHEMA nested FROM SERVER arrow_fdw INTO parquet OPTIONS (file :'path');
\set path :parquet 'nested.arrow'
IMPORT FOREIGN SCHEMA arrow_nested FROM SERVER arrow_fdw INTO parquet OPTIONS (file :'path');
SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS arrow, format_type(p.atttypid, p.atttypmod) AS parquet
  FROM pg_attribute a JOIN pg_attribute p ON p.attname = a.attname AND p.attrelid = 'nested'::regclass
 WHERE a.attrelid = 'arrow_nested'::regclass AND a.attnum > 0 ORDER BY a.attnum;
SELECT t::text FROM nested t;
SELECT t::text FROM nested t EXCEPT SELECT t::text FROM arrow_nested t;
SELECT count(*), sum(u8), max(us), count(bytes) FROM nested WHERE k > 1;
SELECT k, one IS NULL, list IS NULL FROM nested WHERE one IS NULL OR list IS NOT NULL;

-- What cannot be read.
CREATE FUNCTION failure(path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; state text; result text;
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE damaged (id int, t text) SERVER arrow_fdw OPTIONS (file %L)', path);
  EXECUTE 'SELECT count(id) || '' '' || max(t) FROM damaged' INTO result;
  DROP FOREIGN TABLE damaged;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
  RETURN state || ': ' || regexp_replace(message, '"/.*/', '"') || ': ' || detail;
END $$;
SELECT failure(:'parquet' || name || '.parquet') FROM unnest('{cut,no_metadata,encrypted,damaged}'::text[]) name;
-- A column that is damaged leaves the others readable.
\set path :parquet 'damaged.parquet'
CREATE FOREIGN TABLE damaged (id int, same int) SERVER arrow_fdw OPTIONS (file :'path');
CREATE FUNCTION read_damaged(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
  EXECUTE query INTO result;
  RETURN result;
EXCEPTION WHEN data_corrupted THEN RETURN 'damaged';
END $$;
SELECT read_damaged('SELECT count(id) FROM damaged'), read_damaged('SELECT sum(same) FROM damaged') FROM generate_series(1, 3);
SET client_min_messages = warning;
DROP SCHEMA parquet CASCADE;
