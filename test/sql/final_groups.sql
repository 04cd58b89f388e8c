-- CpuAgg: groups that the engine has merged are final, or PostgreSQL's Finalize Aggregate below it merges them.
LOAD 'pg_strom';
SET search_path = engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE sale AS
  SELECT g % 1000 AS k, (g % 50)::numeric(10,2) AS price, g::int8 AS number, (g % 17)::float8 AS x, g % 7 = 0 AS flag,
         md5((g % 40)::text) AS name FROM generate_series(1, 20000) g;
ANALYZE sale;

-- The engine's groups are all that there are.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT k, sum(price), avg(number) FROM sale GROUP BY k HAVING sum(price) > 500;
SELECT * FROM run_both('SELECT k, count(*), count(name), sum(price), avg(price), sum(number), avg(number), avg(k), sum(k), avg(x), sum(x), min(name COLLATE "C"), max(price), bool_and(flag), bool_or(flag), every(flag), bit_or(k), bit_xor(number) FROM sale GROUP BY k HAVING sum(price) > 500');
SELECT * FROM run_both('SELECT name, k % 3, sum(price) FILTER (WHERE flag), avg(number) FILTER (WHERE k < 0) FROM sale GROUP BY name, k % 3');
SELECT * FROM run_both('SELECT k FROM sale GROUP BY k HAVING max(number) % 2 = 0 AND k > 10');
-- SELECT DISTINCT, likewise.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT DISTINCT k, flag FROM sale;
SELECT * FROM run_both('SELECT DISTINCT k, flag, name, price FROM sale WHERE number > 100');
SELECT * FROM run_both('SELECT DISTINCT k % 7, upper(name) FROM sale');
SELECT DISTINCT price FROM sale WHERE k < 30 ORDER BY price DESC LIMIT 3;
SELECT * FROM run_both('SELECT DISTINCT k FROM sale WHERE k < 0');
SELECT nodes_of('SELECT DISTINCT x FROM sale'), nodes_of('SELECT DISTINCT price * 1.5 FROM sale'), nodes_of('SELECT DISTINCT name::char(40) FROM sale');
-- No rows, no groups.
SELECT * FROM run_both('SELECT k, sum(price) FROM sale WHERE k < 0 GROUP BY k');

-- A row that PostgreSQL decides.
INSERT INTO sale VALUES (5, 'NaN', 1, 1, true, 'x'), (NULL, NULL, NULL, NULL, NULL, NULL);
EXPLAIN (COSTS OFF) SELECT k FROM sale GROUP BY k HAVING sum(price) = 'NaN';
SELECT * FROM run_both('SELECT k, sum(price), avg(price), count(*) FROM sale GROUP BY k');
SELECT * FROM run_both('SELECT DISTINCT price, k, name FROM sale');
DELETE FROM sale WHERE price = 'NaN';
-- Groups that outgrow their memory.
SET pg_strom.work_memory = '64kB';
SELECT * FROM run_both('SELECT number, sum(price), count(*) FROM sale GROUP BY number');
SELECT * FROM run_both('SELECT DISTINCT number, price FROM sale');
RESET pg_strom.work_memory;

-- Run again and again, with other parameters, in both ways.
SELECT most, (SELECT count(*) FROM (SELECT k FROM sale WHERE k < most GROUP BY k HAVING sum(number) > 0) q) FROM generate_series(0, 3) most;
SELECT most, (SELECT count(*) FROM (SELECT DISTINCT k, flag FROM sale WHERE k < most) q) FROM generate_series(0, 3) most;
PREPARE by_limit(int) AS SELECT k, sum(price) FROM sale WHERE k < $1 GROUP BY k ORDER BY k;
EXECUTE by_limit(2);
INSERT INTO sale VALUES (1, 'NaN', 1, 1, true, 'x');
EXECUTE by_limit(2);
DEALLOCATE by_limit;
BEGIN;
DECLARE part CURSOR WITH HOLD FOR SELECT k, sum(number) FROM sale WHERE k BETWEEN 1 AND 4 GROUP BY k ORDER BY k;
FETCH 2 FROM part;
COMMIT;
FETCH 3 FROM part;
CLOSE part;

-- Keys whose equality is not that of their bytes, and results that do not follow from a count and a sum, are PostgreSQL's to merge.
SELECT nodes_of('SELECT x, count(*) FROM sale GROUP BY x');
SELECT nodes_of('SELECT price * 1.5, count(*) FROM sale GROUP BY price * 1.5');
SELECT nodes_of('SELECT name::char(40), count(*) FROM sale GROUP BY name::char(40)');
SELECT nodes_of('SELECT k, variance(number) FROM sale GROUP BY k');
DROP TABLE sale;

-- One group: of equal values the last one stays, and NaN is the largest, wherever they are.
CREATE TABLE reading AS
  SELECT i, (CASE WHEN i % 97 = 0 THEN '-0' WHEN i % 89 = 0 THEN '0' ELSE (i % 13 + 1)::text END)::float8 AS a,
         (CASE WHEN i % 2500 = 0 THEN 'NaN' ELSE (i * 7 % 1001 - 500)::text END)::float4 AS b, i * 37 % 5003 - 2500 AS c,
         (i::int8 * 7919) % 100003 - 50000 AS d, '2026-01-01'::timestamp + (i * 613 % 4999) * interval '1 min' AS e,
         CASE WHEN i % 5 > 0 THEN (i * 31 % 4001)::float8 END AS f
    FROM generate_series(1, 5000) i;
ANALYZE reading;
SELECT n, r.* FROM unnest('{1,63,64,65,89,97,128,1000,1024,1025,2499,2500,2501,5000}'::int[]) n,
  run_both(format('SELECT count(*), min(a), max(-a), max(a), min(b), max(b), min(c), max(c), min(d), max(d), min(e), max(e), min(f), max(f), sum(a), avg(a), sum(b), avg(b), sum(f), avg(f) FROM reading WHERE i <= %s', n)) r;
DROP TABLE reading;
