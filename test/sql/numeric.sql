-- numeric whose display scale is each value's own: plans, scales of results, values without a place in the engine.
LOAD 'pg_strom';
CREATE SCHEMA numbers;
SET search_path = numbers;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE measured (id int, v numeric, w numeric, price numeric(10,2), wide numeric(50,10));
INSERT INTO measured SELECT i, trim_scale((i % 1000) / 8.0), CASE WHEN i % 3 = 0 THEN i % 7 ELSE round(i / 7.0, i % 5) END, i % 100,
  i::numeric * 1000003 FROM generate_series(1, 5000) i;
INSERT INTO measured (id, v, w) VALUES (0, 'NaN', 1), (-1, 'Infinity', 0), (-2, 1e40, 1.10), (-3, 1e-70, 1.1000), (-4, NULL, NULL),
  (-5, 99999999999999999.5, 2), (-6, 0.123456789012345678901234, 2.00);
VACUUM ANALYZE measured;

EXPLAIN (COSTS OFF) SELECT sum(v), avg(v * price) FROM measured WHERE v > 100.5;
SELECT * FROM engine.run_both('SELECT sum(v), avg(v), min(v), max(v), count(v) FROM measured WHERE id > 0');
SELECT * FROM engine.run_both('SELECT sum(v), avg(v), min(v), max(v), count(v) FROM measured');
SELECT * FROM engine.run_both('SELECT id, v + w, v - price, v * w, -v, abs(v), v % 0.7, div(v, 3), floor(v), ceil(v), sign(v) FROM measured WHERE id > 0');
SELECT * FROM engine.run_both('SELECT id, round(v, 1), trunc(w, 1), round(v), v::numeric(20,3), v::int, w::text FROM measured WHERE id > 0');
SELECT * FROM engine.run_both('SELECT id, v, w, wide FROM measured WHERE v > 100.5 OR w = 1.1 OR wide < 100000000');
SELECT * FROM engine.run_both('SELECT trim_scale(w), count(*), sum(v * w), sum(price + w) FROM (SELECT w, v, price FROM measured WHERE id > 0) m GROUP BY 1');
SELECT * FROM engine.run_both('SELECT count(*) FROM (SELECT DISTINCT w FROM measured) d');
SELECT * FROM engine.run_both('SELECT id % 5, count(DISTINCT w) FROM measured GROUP BY 1');
SELECT * FROM engine.run_both('SELECT sum(CASE WHEN id % 2 = 0 THEN price ELSE 0 END), sum(coalesce(v, 1.25)), max(greatest(v, price)) FROM measured WHERE id > 0');
SELECT * FROM engine.run_both('SELECT id, v FROM measured ORDER BY v DESC, id LIMIT 20');
SELECT * FROM engine.run_both('SELECT id, w FROM measured ORDER BY w, id LIMIT 20');
SELECT * FROM engine.run_both('SELECT price, grouping(price), sum(v) FROM measured WHERE id > 0 GROUP BY ROLLUP (price)');
-- Errors are PostgreSQL's.
SELECT sum(v::numeric(4,2)) FROM measured WHERE id > 0;
SELECT v % w FROM measured WHERE id BETWEEN 0 AND 2 OR id = 7 AND w = 0 ORDER BY 1;
SELECT v::int FROM measured WHERE v > 1e30;
-- Parameters of any scale, and without a place.
PREPARE above(numeric) AS SELECT count(*), sum(v + $1) FROM measured WHERE v > $1 AND id > 0;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE above(1);
EXECUTE above(100.12345);
EXECUTE above(1e50);
EXECUTE above('NaN');
EXECUTE above(NULL);
SELECT * FROM engine.run_both('SELECT count(*) FROM measured WHERE v > (SELECT avg(price) FROM measured)');
-- Variances stay with PostgreSQL, joins do not.
EXPLAIN (COSTS OFF) SELECT stddev(v) FROM measured;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM measured a JOIN measured b ON a.v = b.v;
RESET enable_mergejoin;
SET client_min_messages = warning;
DROP SCHEMA numbers CASCADE;
