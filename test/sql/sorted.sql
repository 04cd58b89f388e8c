-- ORDER BY without LIMIT: rows that engine threads sort.
LOAD 'pg_strom';
CREATE SCHEMA sorted;
SET search_path = sorted;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_threads = 2;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE items (id int, a int, b bigint, f float8, n numeric(12,2), d date, t text COLLATE "C", odd numeric(12,2), few int);
INSERT INTO items SELECT i, CASE WHEN i % 17 > 0 THEN i * 7919 % 20011 END, (i::bigint * 104729 % 20011 - 10000) * 1000000007,
  CASE i % 1000 WHEN 1 THEN 'NaN'::float8 WHEN 2 THEN '-Infinity' WHEN 3 THEN '-0' WHEN 4 THEN '0' ELSE (i * 31 % 20011 - 9000) / 7.0 END,
  (i * 37 % 20011 - 5000) / 4.0, date '2000-01-01' + i * 11 % 9973, 'text ' || i * 131 % 5003,
  CASE WHEN i % 997 = 0 THEN 'NaN'::numeric ELSE i * 41 % 20011 END, i % 10 FROM generate_series(1, 20000) i;
INSERT INTO items (id, b) VALUES (20001, 9223372036854775807), (20002, -9223372036854775808), (20003, NULL);
ANALYZE items;
CREATE TABLE names (k int, name text);
INSERT INTO names SELECT i, 'name ' || i * 7 % 100 FROM generate_series(0, 99) i;
ANALYZE names;
EXPLAIN (COSTS OFF, VERBOSE) SELECT id, n + 1, t FROM items WHERE few < 8 ORDER BY a DESC NULLS LAST, t, id;
EXPLAIN (COSTS OFF) SELECT i.id, x.name FROM items i JOIN names x ON i.few = x.k ORDER BY i.b, i.id DESC;
-- PostgreSQL's: a first key of few values, a text, an expression, a known number of rows, and rows that do not fit.
EXPLAIN (COSTS OFF) SELECT id FROM items ORDER BY few, id;
EXPLAIN (COSTS OFF) SELECT id FROM items ORDER BY t, id;
EXPLAIN (COSTS OFF) SELECT id FROM items ORDER BY a + 1;
SET pg_strom.work_memory = '64kB';
EXPLAIN (COSTS OFF) SELECT id FROM items ORDER BY a;
RESET pg_strom.work_memory;
-- How the rows came in order: PostgreSQL decides those with NaN.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM items ORDER BY a, id;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id, odd FROM items ORDER BY a, id;
-- The same rows in the same order as without the engine.
CREATE FUNCTION same_order(query text, OUT sorted bool, OUT row_count bigint, OUT same bool) LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  here text;
  there text;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  sorted := plan::text LIKE '%CPU Sort Key%';
  EXECUTE 'SELECT count(*), md5(string_agg(x::text, chr(10))) FROM (' || query || ') x' INTO row_count, here;
  PERFORM set_config('pg_strom.enabled', 'off', true);
  EXECUTE 'SELECT md5(string_agg(x::text, chr(10))) FROM (' || query || ') x' INTO there;
  PERFORM set_config('pg_strom.enabled', 'on', true);
  same := here IS NOT DISTINCT FROM there;
END $$;
CREATE TABLE queries (q text);
INSERT INTO queries VALUES
('SELECT * FROM items ORDER BY a, id'), ('SELECT * FROM items ORDER BY a DESC, id'),
('SELECT * FROM items ORDER BY a NULLS FIRST, id'), ('SELECT * FROM items ORDER BY a DESC NULLS LAST, id DESC'),
('SELECT * FROM items ORDER BY b, id'), ('SELECT * FROM items ORDER BY b DESC, id'),
('SELECT * FROM items ORDER BY b NULLS FIRST, id'), ('SELECT * FROM items ORDER BY b DESC NULLS LAST, id'),
('SELECT * FROM items ORDER BY f, id'), ('SELECT * FROM items ORDER BY f DESC, id DESC'),
('SELECT * FROM items ORDER BY n, id'), ('SELECT * FROM items ORDER BY n DESC NULLS LAST, id'),
('SELECT * FROM items ORDER BY d DESC, t DESC, id'), ('SELECT id FROM items ORDER BY odd, id'),
('SELECT id, t FROM items WHERE a > 100 AND few = 3 ORDER BY a'), ('SELECT id FROM items WHERE id + n < -1e9 ORDER BY a'),
('SELECT id FROM items WHERE length(t) * random() >= 0 ORDER BY a, id'),
('SELECT i.id, x.name FROM items i JOIN names x ON i.few = x.k ORDER BY i.b, i.id'),
('SELECT i.id, x.name FROM items i FULL JOIN names x ON i.few = x.k ORDER BY i.b, i.id, x.k'),
('SELECT id, 100 / nullif(few, 0) FROM items ORDER BY d, id');
SELECT r.*, q FROM queries, same_order(q) r;
SET pg_strom.cpu_threads = 3;
SELECT count(*) FILTER (WHERE sorted), count(*) FROM queries, same_order(q) WHERE same;
-- A plan outlives the setting; what does not fit then is sorted by PostgreSQL.
SET plan_cache_mode = force_generic_plan;
PREPARE in_order AS SELECT id, t FROM items ORDER BY b, id;
CREATE TABLE fits AS EXECUTE in_order;
SET pg_strom.work_memory = '64kB';
SET work_mem = '64kB';
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE in_order;
CREATE TABLE does_not_fit AS EXECUTE in_order;
RESET pg_strom.work_memory;
RESET work_mem;
SET pg_strom.enabled = off;  -- tables are read in their order
SELECT count(*) FROM (SELECT row_number() OVER (), id, t FROM fits EXCEPT SELECT row_number() OVER (), id, t FROM does_not_fit) x;
RESET pg_strom.enabled;
-- Executed again and again, left early, and fetched in pieces.
SELECT x.k, s.ids FROM (VALUES (1), (2), (3)) x (k), LATERAL (SELECT (array_agg(id))[1:5] AS ids FROM (SELECT id FROM items WHERE few = x.k ORDER BY a, id) i) s;
BEGIN;
DECLARE pieces CURSOR WITH HOLD FOR SELECT id, a FROM items ORDER BY a, id;
FETCH 3 FROM pieces;
COMMIT;
FETCH 3 FROM pieces;
CLOSE pieces;
SELECT id, 1 / (id - 5) FROM items ORDER BY a;
CREATE TABLE stored AS SELECT id, a FROM items ORDER BY a, id;
SELECT count(*), min(id) FILTER (WHERE ctid = '(0,1)') FROM stored;
DROP SCHEMA sorted CASCADE;
