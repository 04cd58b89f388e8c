-- Arrow files as foreign tables: where files come from, plans, scans.
\getenv source_dir PG_ABS_SRCDIR
\set data :source_dir '/data'
\set part1 :data '/parts/part1.arrow'
\set both :data '/parts/part1.arrow , ' :data '/parts/part2.arrow'
\set parts :data '/parts'
\set seven :data '/seven'
\set no_batches :data '/no_batches.arrow'
\set zero_rows :data '/zero_rows.arrow'
\set other_text :data '/parts/part1.arrow,' :data '/large_text.arrow'
CREATE SCHEMA arrow_scan;
SET search_path = arrow_scan;
SET pg_strom.enabled = off;
SET pg_strom.regression_test_mode = on;

CREATE FOREIGN TABLE one (k int NOT NULL, v text) SERVER arrow_fdw OPTIONS (file :'part1');
CREATE FOREIGN TABLE listed (k int NOT NULL, v text) SERVER arrow_fdw OPTIONS (files :'both');
CREATE FOREIGN TABLE dotted (k int NOT NULL, v text) SERVER arrow_fdw OPTIONS (dir :'parts', suffix '.arrow');
CREATE FOREIGN TABLE plain_suffix (v text, number int OPTIONS (field 'k')) SERVER arrow_fdw
  OPTIONS (dir :'parts', suffix 'arrow');
CREATE FOREIGN TABLE seven (k int NOT NULL, v text) SERVER arrow_fdw OPTIONS (dir :'seven');
CREATE FOREIGN TABLE no_file_matches (k int, v text) SERVER arrow_fdw OPTIONS (dir :'parts', suffix 'parquet');
CREATE FOREIGN TABLE no_batches (k int, v text) SERVER arrow_fdw OPTIONS (file :'no_batches');
CREATE FOREIGN TABLE zero_rows (k int, v text) SERVER arrow_fdw OPTIONS (file :'zero_rows');
CREATE FOREIGN TABLE mixed_text (k int, v text) SERVER arrow_fdw OPTIONS (files :'other_text');
TABLE one;
TABLE listed;
TABLE dotted;
TABLE plain_suffix;
SELECT count(*), sum(k), string_agg(v, ',') FROM seven;
TABLE no_file_matches;
TABLE no_batches;
TABLE zero_rows;
TABLE mixed_text;

-- Only columns that the query refers to are read.
EXPLAIN (COSTS OFF) SELECT v FROM listed WHERE k > 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM listed;
EXPLAIN (COSTS OFF, VERBOSE) SELECT k FROM listed ORDER BY k;
EXPLAIN (COSTS OFF) SELECT l FROM listed l;
EXPLAIN (COSTS OFF) SELECT tableoid::regclass FROM listed;
SELECT tableoid::regclass, l, count(*) OVER () FROM listed l WHERE v LIKE 't%';
EXPLAIN (COSTS OFF) SELECT * FROM seven;
SET pg_strom.explain_developer_mode = on;
EXPLAIN (COSTS OFF) SELECT * FROM seven;
RESET pg_strom.explain_developer_mode;
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT k FROM one;
SET pg_strom.regression_test_mode = off;
-- Sizes come as text in text, as numbers of bytes elsewhere.
CREATE FUNCTION plan_of(format text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; result text := '';
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, FORMAT %s) SELECT k FROM arrow_scan.one', format) LOOP
    result := result || line || E'\n';
  END LOOP;
  RETURN result;
END $$;
SELECT regexp_replace(substring(plan_of('text'), 'file0.*\)'), ': /.*/', ': ') AS text_format;
SELECT plan->>'file0-read' AS read, plan->>'file0-size' AS size FROM (SELECT plan_of('json')::json->0->'Plan' AS plan) p;
SET pg_strom.regression_test_mode = on;

-- The number of rows is known before the first one is read.
CREATE FUNCTION estimated(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT estimated('TABLE arrow_scan.listed'), estimated('TABLE arrow_scan.seven'), estimated('TABLE arrow_scan.zero_rows');

-- Rescans, parameters, prepared statements, cursors.
SELECT a.k, (SELECT string_agg(b.v, ',') FROM listed b WHERE b.k <= a.k) FROM listed a ORDER BY 1;
SELECT a.k, l.v FROM listed a, LATERAL (SELECT v FROM one b WHERE b.k = a.k - 1 LIMIT 1) l ORDER BY 1;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT a.k, b.v FROM one a JOIN listed b ON a.k < b.k;
SELECT a.k, b.v FROM one a JOIN listed b ON a.k < b.k ORDER BY a.k, b.v;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
PREPARE by_key(int) AS SELECT v FROM listed WHERE k = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_key(2);
EXECUTE by_key(4);
RESET plan_cache_mode;
-- What the plan was made for is looked up again when it runs.
ALTER FOREIGN TABLE listed OPTIONS (SET files :'part1');
EXECUTE by_key(4);
ALTER FOREIGN TABLE listed OPTIONS (SET files :'both');
EXECUTE by_key(4);
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k FROM listed;
FETCH 2 FROM c;
FETCH 1 FROM c;
FETCH ABSOLUTE 1 FROM c;
MOVE ALL IN c;
FETCH BACKWARD 1 FROM c;
CLOSE c;
SELECT k FROM listed WHERE k = 1 FOR UPDATE;
COMMIT;

-- Columns that were dropped or added; a column that no file has is an error only where it is read.
ALTER FOREIGN TABLE listed DROP COLUMN v;
TABLE listed;
ALTER FOREIGN TABLE listed ADD COLUMN w text OPTIONS (field 'v');
TABLE listed;
ALTER FOREIGN TABLE listed ADD COLUMN nowhere text;
SELECT count(w) FROM listed;

-- Workers share the record batches.
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM seven;
SELECT count(*), sum(k) FROM seven;
ALTER FOREIGN TABLE seven OPTIONS (ADD parallel_workers '0');
EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM seven;
ALTER FOREIGN TABLE seven OPTIONS (SET parallel_workers '2');
EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM seven;
SELECT count(*), sum(k) FROM seven;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), sum(a.k) FROM seven a JOIN seven b USING (k);
RESET enable_hashjoin;
RESET enable_mergejoin;
SET parallel_leader_participation = off;
SELECT count(*), sum(k) FROM seven;
RESET parallel_leader_participation;
SET max_parallel_workers_per_gather = 0;

-- A plain scan is the last choice when it is switched off.
SET arrow_fdw.enabled = off;
SELECT estimated('TABLE arrow_scan.one') AS rows, sum(k) FROM one;
RESET arrow_fdw.enabled;

-- ANALYZE samples all files.
ANALYZE seven, one, no_batches, zero_rows;
SELECT tablename, attname, null_frac, n_distinct, array_length(histogram_bounds::text::text[], 1) AS bounds
  FROM pg_stats WHERE schemaname = 'arrow_scan' ORDER BY 1, 2;
SELECT relname, reltuples FROM pg_class WHERE relnamespace = 'arrow_scan'::regnamespace AND relname IN ('seven', 'no_batches')
  ORDER BY 1;

-- Foreign tables as partitions, and what cannot be done.
CREATE TABLE whole (k int NOT NULL, v text) PARTITION BY RANGE (k);
ALTER TABLE whole ATTACH PARTITION one FOR VALUES FROM (1) TO (4);
CREATE TABLE rest PARTITION OF whole FOR VALUES FROM (4) TO (10);
INSERT INTO rest VALUES (5, 'heap');
SELECT tableoid::regclass, * FROM whole ORDER BY k;
INSERT INTO seven VALUES (8, 'eight');
UPDATE seven SET v = 'x';
DELETE FROM seven;
TRUNCATE seven;

\set VERBOSITY terse
DROP SCHEMA arrow_scan CASCADE;
