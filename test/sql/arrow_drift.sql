-- Files of one table that differ: columns in another order, missing, wider, of another type.
\getenv source_dir PG_ABS_SRCDIR
\set v1 :source_dir '/data/drift/v1.arrow'
\set v12 :source_dir '/data/drift/v1.arrow,' :source_dir '/data/drift/v2.arrow'
\set v123 :source_dir '/data/drift/v1.arrow,' :source_dir '/data/drift/v2.arrow,' :source_dir '/data/drift/v3.arrow'
\set v321 :source_dir '/data/drift/v3.arrow,' :source_dir '/data/drift/v2.arrow,' :source_dir '/data/drift/v1.arrow'
\set mixed :source_dir '/data/drift/v1.arrow,' :source_dir '/data/drift/text_key.arrow'
CREATE SCHEMA arrow_drift;
SET search_path = arrow_drift;
SET pg_strom.regression_test_mode = on;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0;
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION without_paths(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text; hint text;
BEGIN
  EXECUTE query;
  RETURN 'done';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN regexp_replace(state || ' ' || message || ' | ' || detail || ' | ' || hint, '"/[^"]*/', '"', 'g');
END $$;

-- By name, wherever a column stands; numbers that are wider than in some files.
CREATE FOREIGN TABLE two (v text, k bigint) SERVER arrow_fdw OPTIONS (files :'v12');
SELECT * FROM two ORDER BY k;
SELECT k, count(*) FROM two WHERE k > 1 GROUP BY k ORDER BY k;
SELECT sum(k), max(v) FROM two;
EXPLAIN (COSTS OFF) SELECT sum(k) FROM two;
EXPLAIN (COSTS OFF) SELECT count(v) FROM two;
CREATE FOREIGN TABLE narrow (k int) SERVER arrow_fdw OPTIONS (files :'v12');
SELECT without_paths('TABLE arrow_drift.narrow');

-- A column that a file does not have is an error, or NULL where that is asked for.
CREATE FOREIGN TABLE strict (k bigint, v text, extra float8) SERVER arrow_fdw OPTIONS (files :'v123');
SELECT k FROM strict ORDER BY k;
SELECT without_paths('SELECT v FROM arrow_drift.strict');
CREATE FOREIGN TABLE kind (k bigint, v text, extra float8, nowhere date) SERVER arrow_fdw
  OPTIONS (files :'v123', missing_columns 'null');
SELECT * FROM kind ORDER BY k, extra;
SELECT v, count(*), count(extra), count(nowhere) FROM kind GROUP BY v ORDER BY v;
SELECT count(*) FROM kind WHERE extra IS NULL;
SELECT count(*), sum(k) FROM kind WHERE v = 'one' OR v IS NULL;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k FROM kind WHERE v IS NOT NULL AND nowhere IS NULL;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k FROM kind WHERE nowhere = '2024-01-01';
SELECT nowhere, count(*) FROM kind GROUP BY 1;
SET pg_strom.enabled = off;
SELECT * FROM kind ORDER BY k, extra;
SELECT v, count(*), count(extra), count(nowhere) FROM kind GROUP BY v ORDER BY v;
SELECT nowhere, count(*) FROM kind GROUP BY 1;
RESET pg_strom.enabled;
-- As an engine's column: texts of one layout, missing in the other files.
ALTER FOREIGN TABLE kind OPTIONS (SET files :'v12');
CREATE FOREIGN TABLE texts (k bigint OPTIONS (field 'nothing'), extra real) SERVER arrow_fdw OPTIONS (files :'v12', missing_columns 'null');
SELECT extra, k, count(*) FROM texts GROUP BY extra, k ORDER BY extra;
EXPLAIN (COSTS OFF) SELECT extra, k, count(*) FROM texts GROUP BY extra, k;
SELECT a.extra, b.extra FROM texts a LEFT JOIN texts b ON a.extra = b.extra ORDER BY 1, 2;
ANALYZE kind;

-- Another type is an error that names both.
CREATE FOREIGN TABLE mixed (k int, v text) SERVER arrow_fdw OPTIONS (files :'mixed');
SELECT without_paths('SELECT k FROM arrow_drift.mixed');
SELECT v FROM mixed ORDER BY v;

-- IMPORT FOREIGN SCHEMA: the widest type of each column; all columns of all files where some may be missing.
SELECT without_paths(format('IMPORT FOREIGN SCHEMA i FROM SERVER arrow_fdw INTO arrow_drift OPTIONS (files %L)', :'mixed'));
SELECT without_paths(format('IMPORT FOREIGN SCHEMA i FROM SERVER arrow_fdw INTO arrow_drift OPTIONS (files %L)', :'v123'));
SELECT without_paths(format('IMPORT FOREIGN SCHEMA i FROM SERVER arrow_fdw INTO arrow_drift OPTIONS (files %L)', :'v321'));
IMPORT FOREIGN SCHEMA i FROM SERVER arrow_fdw INTO arrow_drift OPTIONS (files :'v123', missing_columns 'null');
IMPORT FOREIGN SCHEMA j FROM SERVER arrow_fdw INTO arrow_drift OPTIONS (files :'v321', missing_columns 'null');
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute
  WHERE attrelid IN ('i'::regclass, 'j'::regclass) AND attnum > 0 ORDER BY 1, attnum;
SELECT * FROM i ORDER BY k, extra;
SELECT count(*) FROM i JOIN j ON i.k = j.k AND i.v IS NOT DISTINCT FROM j.v;
SELECT without_paths(format('CREATE FOREIGN TABLE arrow_drift.t (k int) SERVER arrow_fdw OPTIONS (file %L, missing_columns %L)', :'v1', 'maybe'));
\set VERBOSITY terse
DROP SCHEMA arrow_drift CASCADE;
