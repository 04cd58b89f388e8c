-- Aggregates, grouping sets, DISTINCT and the first rows of an order: plans, and answers beside PostgreSQL's.
SET search_path = engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_threads = 2;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;

-- States that PostgreSQL's final functions read.
SELECT * FROM run_both('SELECT bool_and(b), bool_or(b), every(b) FILTER (WHERE i4 > 500) FROM facts');
SELECT * FROM run_both('SELECT bit_and(i2), bit_or(i4), bit_xor(id::int8) FILTER (WHERE b) FROM facts');
SELECT * FROM run_both('SELECT stddev(i2), var_pop(i4), variance(id::int8), stddev_samp(n), var_samp(n), stddev_pop(n) FROM facts');
SELECT * FROM run_both('SELECT k, var_samp(i4), min(t COLLATE "C"), max(t COLLATE "C") FROM facts GROUP BY k');
SELECT * FROM run_both('SELECT var_pop(i4), bool_and(b), bit_or(i4), max(t COLLATE "C") FROM facts WHERE id < 0');
SELECT * FROM run_both('SELECT k, min(c COLLATE "C"), max(c COLLATE "C"), max(c COLLATE "C") FILTER (WHERE b) FROM facts GROUP BY k');
SELECT * FROM run_both('SELECT b, count(*), avg(x)::numeric(12,4), variance(x)::numeric(12,4), avg(x) FILTER (WHERE b) IS NULL FROM (SELECT b, (i4 % 100)::float8 AS x FROM facts) f GROUP BY b');
SELECT nodes_of('SELECT avg(f8), stddev(f8), avg(f4), var_pop(f4) FROM facts');
CREATE TABLE moments AS SELECT g % 3 AS k, (g % 7)::float8 AS x, (g % 5)::float4 AS y, g % 5 * interval '1 mon' - g * interval '1 day' AS span,
  '10:00'::time + g * interval '1 minute' AS at FROM generate_series(1, 300) g;
INSERT INTO moments VALUES (1, 'Infinity', 'NaN', NULL, NULL), (2, NULL, NULL, NULL, '24:00');
ANALYZE moments;
SELECT * FROM run_both('SELECT k, avg(x), var_pop(x)::numeric(10,6), avg(y), stddev(y)::numeric(10,6) FROM moments WHERE x < 100 OR k = 2 GROUP BY k');
SELECT * FROM run_both('SELECT k, avg(x), var_pop(x), avg(y), stddev(y) FROM moments WHERE k = 1 AND x > 100 GROUP BY k');
SELECT * FROM run_both('SELECT k, min(span), max(span), min(at), max(at) FROM moments GROUP BY k');
SELECT * FROM run_both('SELECT k, regr_count(y, x), regr_sxy(y, x)::numeric(10,4), corr(y, x)::numeric(10,4), regr_slope(x, y) FILTER (WHERE x > 2) IS NULL, regr_avgx(y, x) FROM moments WHERE x < 100 GROUP BY k');
SELECT * FROM run_both('SELECT corr(x, y), covar_pop(y, x), covar_samp(x, x), regr_syy(x, y) FROM moments WHERE k = 1 AND x > 100');
SELECT * FROM run_both('SELECT corr(x, y), regr_count(x, y), regr_intercept(x, y), regr_r2(x, y) FROM moments WHERE k > 5');
DROP TABLE moments;

-- Grouping sets.
EXPLAIN (COSTS OFF) SELECT k, b, count(*), grouping(k, b) FROM facts GROUP BY ROLLUP (k, b);
SELECT * FROM run_both('SELECT k, b, count(*), sum(n), grouping(k, b), grouping(b) FROM facts GROUP BY CUBE (k, b) HAVING count(*) > 2');
SELECT * FROM run_both('SELECT k, i4 % 3, avg(n) FROM facts GROUP BY GROUPING SETS ((k), (i4 % 3), (), ())');
SELECT * FROM run_both('SELECT k, count(*), max(i4), grouping(k) FROM facts WHERE id < 0 GROUP BY ROLLUP (k)');
-- Keys that mean the same to the engine.
SELECT * FROM run_both('SELECT k, CASE WHEN i4 IS NULL THEN k ELSE k END AS c, count(*) FROM facts GROUP BY GROUPING SETS ((k), (CASE WHEN i4 IS NULL THEN k ELSE k END), ())');
SELECT * FROM run_both('SELECT i8 AS k, i8::numeric::int8 AS c, (i8) + 0 AS d, count(*) FROM facts GROUP BY CUBE (i8, i8::numeric::int8, i8 + 0)');
SELECT * FROM run_both('SELECT t AS k, t::varchar AS c, count(*) FROM facts GROUP BY ROLLUP (t, t::varchar)');
SELECT * FROM run_both('SELECT d.region, f.b, count(*) FROM facts f JOIN dimension d ON f.k = d.k GROUP BY ROLLUP (d.region, f.b)');
-- A key without a column, and GROUPING() without sets, stay with PostgreSQL.
-- PostgreSQL 18 hands the constant over as a key, versions before it as nothing.
SELECT row_count, differences FROM run_both('SELECT 1 AS one, count(*) FROM facts GROUP BY ROLLUP (one)');
SELECT nodes_of('SELECT k, grouping(k), count(*) FROM facts GROUP BY k');

-- DISTINCT in aggregates.
EXPLAIN (COSTS OFF) SELECT b, count(DISTINCT k), sum(DISTINCT k) FILTER (WHERE b), max(k) FROM facts GROUP BY b;
EXPLAIN (COSTS OFF) SELECT b, count(DISTINCT k), count(*) FROM facts GROUP BY b;
SELECT * FROM run_both('SELECT b, count(DISTINCT k), sum(DISTINCT k) FILTER (WHERE b), max(k) FROM facts GROUP BY b');
SELECT * FROM run_both('SELECT count(DISTINCT k), array_agg(DISTINCT b) FROM facts');
-- Beside others, and of several arguments.
SELECT * FROM run_both('SELECT b, count(DISTINCT k), count(*), sum(n), avg(i4) FROM facts GROUP BY b');
SELECT * FROM run_both('SELECT b, count(DISTINCT k), count(k), sum(DISTINCT i4 % 7) FILTER (WHERE b), avg(DISTINCT k), max(i4), count(DISTINCT t) * 2 AS x FROM facts GROUP BY b HAVING count(DISTINCT k) > 110 AND count(*) > 1');
SELECT * FROM run_both('SELECT count(DISTINCT k), sum(i4), count(DISTINCT c), stddev(DISTINCT i4 % 100), variance(i4) FROM facts');
SELECT * FROM run_both('SELECT count(DISTINCT k), sum(i4), min(DISTINCT t COLLATE "C") FROM facts WHERE id < 0');
SELECT * FROM run_both('SELECT k, count(DISTINCT k), count(*) FROM facts WHERE id < 0 GROUP BY k');
SELECT * FROM run_both('SELECT k, count(DISTINCT k), count(DISTINCT b), count(*) FROM facts GROUP BY k ORDER BY 4 DESC, 1 LIMIT 5');
SELECT * FROM run_both('SELECT d.region, f.b, count(DISTINCT d.name), sum(f.n) FROM facts f LEFT JOIN dimension d ON f.k = d.k GROUP BY 1, 2');
SELECT * FROM run_both('SELECT b, count(DISTINCT 100 / i2) FILTER (WHERE i2 <> 0), count(*) FROM facts GROUP BY b');
SELECT * FROM run_both('SELECT x.b, q.* FROM (VALUES (true), (false)) x (b), LATERAL (SELECT count(DISTINCT k), sum(i4) FROM facts f WHERE f.b = x.b) q');
SELECT b, count(DISTINCT 100 / i2), count(*) FROM facts GROUP BY b;

-- DISTINCT in aggregates and grouping sets.
CREATE TABLE few_values AS SELECT b, c, k % 5 AS r, k % 7 AS k, i4 % 7 AS i, n, id FROM facts;
ANALYZE few_values;
EXPLAIN (COSTS OFF) SELECT b, r, count(DISTINCT k), count(*) FROM few_values GROUP BY ROLLUP (b, r);
EXPLAIN (COSTS OFF) SELECT b, r, count(DISTINCT k), max(i) FROM few_values GROUP BY CUBE (b, r);
SELECT * FROM run_both('SELECT b, r, grouping(b, r), grouping(b), count(DISTINCT k), count(*), sum(DISTINCT i), sum(n) FROM few_values GROUP BY ROLLUP (b, r)');
SELECT * FROM run_both('SELECT b, c, count(DISTINCT k), max(i), grouping(c) FROM few_values GROUP BY CUBE (b, c)');
SELECT * FROM run_both('SELECT b, c, count(DISTINCT k), count(*) FROM few_values GROUP BY GROUPING SETS ((b, c), (b, c), (c), (), ())');
SELECT * FROM run_both('SELECT b, r, count(DISTINCT k), count(*) FROM few_values WHERE n + id < -1e9 GROUP BY GROUPING SETS ((b, r), (r), (), ())');
SELECT * FROM run_both('SELECT b, r, count(DISTINCT k), sum(DISTINCT i) FROM few_values WHERE n + id < -1e9 GROUP BY GROUPING SETS ((b, r), (r), (), ())');
SELECT * FROM run_both('SELECT b, r, count(DISTINCT k) FILTER (WHERE i > 0), count(*) FILTER (WHERE i > 0) FROM few_values GROUP BY b, ROLLUP (r) HAVING count(DISTINCT k) > 2 AND grouping(r) = 0');
SELECT * FROM run_both('SELECT c, count(DISTINCT c), count(DISTINCT k), sum(i) FROM few_values GROUP BY GROUPING SETS ((b, c), (b), ())');
SELECT row_count, differences, nodes = 'CpuPreAgg' OR current_setting('server_version_num')::int >= 180000 AS expected FROM run_both('SELECT c, count(DISTINCT c), max(k) FROM few_values GROUP BY GROUPING SETS ((b, c), (b), ())');
SELECT row_count, differences, nodes = 'CpuScan' OR current_setting('server_version_num')::int >= 180000 AS expected FROM run_both('SELECT 1 AS one, c, count(DISTINCT k), count(*) FROM few_values GROUP BY ROLLUP (one, c)');
SELECT * FROM run_both('SELECT d.region, f.b, count(DISTINCT d.name), count(*) FROM facts f JOIN dimension d ON f.k = d.k GROUP BY ROLLUP (1, 2)');
DROP TABLE few_values;
-- any_value, which servers before 16 do not have.
SELECT NOT EXISTS (SELECT 1 FROM pg_aggregate WHERE aggfnoid::text = 'any_value') AS missing \gset
\if :missing
SET allow_system_table_mods = on;
CREATE FUNCTION pg_catalog.any_value_transfn(anyelement, anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1';
CREATE AGGREGATE pg_catalog.any_value(anyelement) (SFUNC = pg_catalog.any_value_transfn, STYPE = anyelement, COMBINEFUNC = pg_catalog.any_value_transfn, PARALLEL = SAFE);
RESET allow_system_table_mods;
\endif
EXPLAIN (COSTS OFF) SELECT k, any_value(d), count(*) FROM facts GROUP BY k;
SELECT * FROM run_both('SELECT k, any_value(k), any_value(''x'' || k), any_value(k) FILTER (WHERE k < 50), count(*) FROM facts GROUP BY k');
SELECT * FROM run_both('SELECT k, any_value(DISTINCT k * 2), count(DISTINCT t), count(*) FROM facts GROUP BY k');
SELECT * FROM run_both('SELECT b, any_value(t) IN (SELECT t FROM facts), any_value(n) > -1e9 FROM facts GROUP BY b');
\if :missing
SET allow_system_table_mods = on;
DROP AGGREGATE pg_catalog.any_value(anyelement);
DROP FUNCTION pg_catalog.any_value_transfn;
RESET allow_system_table_mods;
\endif

-- Statements that store what they select.
CREATE TABLE stored AS SELECT k, count(*) AS n, sum(i4) AS s FROM facts GROUP BY k;
SELECT f.id, d.name INTO stored_join FROM facts f JOIN dimension d ON f.k = d.k;
INSERT INTO stored SELECT k, count(*), sum(i4) FROM facts WHERE b GROUP BY k;
EXPLAIN (COSTS OFF) INSERT INTO stored SELECT k, count(*), sum(i4) FROM facts WHERE b GROUP BY k;
CREATE MATERIALIZED VIEW stored_view AS SELECT b, max(i4) AS m FROM facts GROUP BY b;
SELECT count(*), sum(n), sum(s) FROM stored;
SELECT count(*), count(DISTINCT name), sum(id) FROM stored_join;
SELECT * FROM stored_view ORDER BY b;
SET pg_strom.enabled = off;
SELECT (SELECT count(*) FROM (SELECT k FROM facts GROUP BY k) f) + (SELECT count(*) FROM (SELECT k FROM facts WHERE b GROUP BY k) f) AS count,
  (SELECT count(*) FROM facts) + (SELECT count(*) FROM facts WHERE b) AS n, (SELECT sum(i4) FROM facts) + (SELECT sum(i4) FROM facts WHERE b) AS s;
SELECT count(*), count(DISTINCT d.name), sum(f.id) FROM facts f JOIN dimension d ON f.k = d.k;
SELECT b, max(i4) FROM facts GROUP BY b ORDER BY b;
RESET pg_strom.enabled;
DROP MATERIALIZED VIEW stored_view;
DROP TABLE stored, stored_join;

-- The first rows of an order.
EXPLAIN (COSTS OFF, VERBOSE) SELECT id, t FROM facts WHERE b ORDER BY n DESC NULLS LAST, id LIMIT 5 OFFSET 2;
EXPLAIN (COSTS OFF) SELECT f.id, d.name FROM facts f JOIN dimension d ON f.k = d.k ORDER BY f.id LIMIT 3;
SELECT * FROM run_both('SELECT id, t FROM facts WHERE b ORDER BY n DESC NULLS LAST, id LIMIT 5 OFFSET 2');
SELECT * FROM run_both('SELECT f.id, d.name FROM facts f JOIN dimension d ON f.k = d.k ORDER BY f.t COLLATE "C", f.id LIMIT 7');
-- The C library's C.UTF-8 orders text by its bytes.
CREATE TABLE letters AS SELECT i AS id, string_agg(chr(CASE code % 4 WHEN 0 THEN code % 127 + 1 WHEN 1 THEN code % 2000 + 1 WHEN 2 THEN code % 55000 + 1
    ELSE code % 1000000 + 65536 END), '' ORDER BY code) AS t
  FROM generate_series(1, 5000) i, generate_series(1, 3) j, LATERAL (SELECT hashint8(i * 3 + j) & 2147483647 AS code) c GROUP BY i;
SELECT * FROM run_both('SELECT min(t COLLATE "C.utf8"), max(t COLLATE "C.utf8") FROM letters GROUP BY id % 500');
SELECT * FROM run_both('SELECT id FROM letters ORDER BY t COLLATE "C.utf8", id LIMIT 800');
SELECT * FROM run_both('SELECT a.id, b.id FROM letters a JOIN letters b ON a.id % 50 = b.id % 50 WHERE a.t COLLATE "C.utf8" < b.t AND a.id < 100');
DROP TABLE letters;
-- An error of a row that is not among them.
SELECT id, 1 / x FROM edges ORDER BY id LIMIT 1;
-- Not for an order that the engine does not know, an output that could hide an error, and a number that is not known.
EXPLAIN (COSTS OFF) SELECT id FROM facts ORDER BY t COLLATE "en-x-icu" LIMIT 3;
-- Of texts that two collations claim PostgreSQL has a minimum only where it compares none.
CREATE TABLE claimed (x text COLLATE "en-x-icu", y text COLLATE "und-x-icu");
INSERT INTO claimed SELECT i, i FROM generate_series(1, 100) i;
SELECT min(x || y) FILTER (WHERE x LIKE 'a%') FROM claimed;
SELECT min(x || y) FROM claimed;
DROP TABLE claimed;
EXPLAIN (COSTS OFF) SELECT to_char(i4, '999') FROM facts ORDER BY id LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM facts ORDER BY id LIMIT (SELECT 3);

-- The first rows of each partition of a window.
EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM (SELECT id, k, n, row_number() OVER (PARTITION BY c ORDER BY n DESC NULLS LAST, id) AS r FROM facts) s WHERE r <= 2;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT f.id, d.region, dense_rank() OVER (PARTITION BY d.region ORDER BY f.i4) AS r FROM facts f JOIN dimension d ON f.k = d.k) s WHERE r < 3;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id, rank() OVER (ORDER BY i4) AS r FROM facts) s WHERE r <= 4;
SELECT * FROM run_both('SELECT * FROM (SELECT id, k, n, row_number() OVER (PARTITION BY c ORDER BY n DESC NULLS LAST, id) AS r FROM facts) s WHERE r <= 2');
SELECT * FROM run_both('SELECT * FROM (SELECT f.id, d.region, dense_rank() OVER (PARTITION BY d.region ORDER BY f.i4) AS r FROM facts f JOIN dimension d ON f.k = d.k) s WHERE r < 3');
SELECT * FROM run_both('SELECT * FROM (SELECT id, rank() OVER (PARTITION BY b, c ORDER BY i2 NULLS FIRST) AS r FROM facts) s WHERE 3 >= r');
SELECT * FROM run_both('SELECT * FROM (SELECT id, rank() OVER (PARTITION BY b, c ORDER BY d DESC) AS r, dense_rank() OVER (PARTITION BY b, c ORDER BY d DESC) AS e FROM facts) s WHERE e <= 3');
SELECT * FROM run_both('SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY upper(t) ORDER BY f8, id) AS r FROM facts WHERE b) s WHERE r = 2');
SELECT * FROM run_both('SELECT * FROM (SELECT id, rank() OVER (ORDER BY i4) AS r FROM facts) s WHERE r <= 4');
SELECT * FROM run_both('SELECT b, sum(id) FROM (SELECT id, b, rank() OVER (PARTITION BY b, c ORDER BY k, id) AS r FROM facts) s WHERE r <= 5 GROUP BY b');
-- Not beside functions of the whole partition, for a partition of each row, and for numbers that are not known.
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id, rank() OVER w AS r, sum(n) OVER w FROM facts WINDOW w AS (PARTITION BY c ORDER BY i4)) s WHERE r <= 2;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT name, rank() OVER (PARTITION BY k ORDER BY weight) AS r FROM heap_dimension) s WHERE r <= 2;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id, rank() OVER (PARTITION BY c ORDER BY i4) AS r FROM facts) s WHERE r <= (SELECT 2);
-- More partitions than there is memory for.
SET pg_strom.work_memory = '64kB';
SELECT nodes, row_count, differences FROM run_both('SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY t ORDER BY f8, id) AS r FROM facts) s WHERE r <= 1');
RESET pg_strom.work_memory;
-- Aggregates of enums and domains beside others with DISTINCT.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN level AS int;
CREATE TABLE moods AS SELECT (enum_range(NULL::mood))[1 + i % 3] AS m, (i % 7)::level AS l, i % 4 AS k FROM generate_series(1, 3000) i;
ANALYZE moods;
SELECT * FROM run_both('SELECT k, min(m), max(DISTINCT m), count(m), sum(DISTINCT l), max(l), min(nullif(m, m)) FROM moods GROUP BY k');
SELECT * FROM run_both('SELECT count(DISTINCT m), max(m), min(DISTINCT l) FILTER (WHERE k > 1), min(l) FROM moods');
