-- How the engine's nodes run: fallback rows, parameters, rescans, cursors, privileges.
SET search_path = engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;

-- A row that fails is PostgreSQL's to decide: an error only where PostgreSQL evaluates it.
SELECT id FROM edges WHERE x + y > 5 AND id > 2 ORDER BY 1;
SELECT id FROM edges WHERE x + y > 5;
SELECT id FROM edges WHERE y <> 0 AND id > 2 AND x / y > 1 ORDER BY 1;
SELECT id FROM edges WHERE x / y > 1;
SELECT sum(x * 2) FROM edges WHERE id > 2;
SELECT sum(x * 2) FROM edges;
SELECT sum(z), avg(z), sum(n) FROM edges;
SELECT z + 1 AS wide, count(*) FROM edges WHERE id > 1 GROUP BY 1 ORDER BY 1;
SELECT z + 1 AS wide, count(*) FROM edges GROUP BY 1 ORDER BY 1;
SELECT n * 10 AS wide, count(*) FROM edges GROUP BY 1 ORDER BY 1;
SELECT e.id, e.n FROM edges e JOIN edges f ON e.n * 10 = f.n * 10 ORDER BY 1;
SELECT e.id, d.name FROM edges e JOIN dimension d ON e.n = d.weight ORDER BY 1;
SELECT CASE WHEN y = 0 THEN 'none' ELSE 'some' END AS has, count(*) FROM edges GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM edges WHERE CASE WHEN y <> 0 THEN 10 / y ELSE 1 END > 0;
SET pg_strom.cpu_fallback = notice;
SELECT count(*) FROM edges WHERE n * 10 > 0;
SET pg_strom.cpu_fallback = off;
SELECT count(*) FROM edges WHERE n * 10 > 0;
SELECT count(*) FROM edges WHERE n > 0;
RESET pg_strom.cpu_fallback;

-- Parameters: generic plans, NULL, changed values, stable functions.
SET plan_cache_mode = force_generic_plan;
PREPARE by_value(int, text) AS SELECT count(*), sum(i4) FROM facts WHERE i4 > $1 AND t = $2;
EXPLAIN (COSTS OFF) EXECUTE by_value(500, 'beta');
EXECUTE by_value(500, 'beta');
EXECUTE by_value(-500, 'gamma');
EXECUTE by_value(NULL, 'gamma');
PREPARE by_numeric(numeric) AS SELECT count(*) FROM facts WHERE n > $1;
EXPLAIN (COSTS OFF) EXECUTE by_numeric(500);
EXECUTE by_numeric(500.123456);
RESET plan_cache_mode;
SELECT count(*) FROM facts WHERE d < current_date;
-- Rescans.
SELECT d.k, (SELECT count(*) FROM facts f WHERE f.k = d.k), (SELECT max(h.name) FROM facts f JOIN heap_dimension h
  ON f.k8 = h.k WHERE f.k = d.k AND h.k < d.k + 50) FROM dimension d WHERE d.k IN (3, 4, 5) ORDER BY 1;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET pg_strom.enable_gpujoin = off;
SELECT * FROM run_both('SELECT x.v, f.id FROM duplicates x, facts f WHERE f.k8 > x.k + x.v AND f.i4 > 980');
-- With the same parameters, answered from what was kept: text that the engine made, a rescan before the end, more rows than
-- work_mem holds, rows that PostgreSQL decided.
SELECT * FROM run_both($$SELECT x.v, f.* FROM duplicates x, (SELECT id, k8, t, CASE WHEN i4 > 990 THEN 'high' ELSE t END
  FROM facts WHERE i4 > 980 OFFSET 0) f WHERE f.k8 > x.k + x.v$$);
SELECT * FROM run_both('SELECT x.v FROM duplicates x WHERE EXISTS (SELECT 1 FROM facts f WHERE f.k8 > x.k + x.v AND f.i4 > 980 OFFSET 0)');
SET work_mem = '64kB';
SELECT * FROM run_both('SELECT x.v, f.id FROM duplicates x, facts f WHERE f.k8 > x.k - x.v AND f.i4 > 0');
RESET work_mem;
SELECT * FROM run_both('SELECT x.v, e.id FROM duplicates x, edges e WHERE e.id > x.k - 5 AND e.n * 10 > 0');
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material; RESET pg_strom.enable_gpujoin;
SELECT EXISTS (SELECT 1 FROM facts WHERE i4 > 999), EXISTS (SELECT 1 FROM facts WHERE i4 > 9999);
SELECT count(*) FROM (SELECT id FROM facts WHERE i4 > 0 LIMIT 7) x;
-- Cursors, fetched in parts.
BEGIN;
DECLARE part CURSOR FOR SELECT id FROM facts WHERE i4 > 900;
FETCH 0 FROM part;
MOVE 100 IN part;
MOVE 100 IN part;
MOVE ALL IN part;
CLOSE part;
DECLARE back SCROLL CURSOR FOR SELECT id FROM facts WHERE id BETWEEN 10 AND 14;
FETCH ALL FROM back;
FETCH BACKWARD 2 FROM back;
DECLARE held CURSOR WITH HOLD FOR SELECT count(*) FROM facts WHERE i4 > 900;
COMMIT;
FETCH held;
CLOSE held;
DO $$
DECLARE r record; total bigint := 0;
BEGIN
  FOR r IN SELECT i4 FROM facts WHERE i4 > 900 LOOP total := total + r.i4; END LOOP;
  RAISE NOTICE 'total %', total;
END $$;
-- INSERT ... SELECT reads in the engine; row locks do not.
CREATE TEMP TABLE taken AS SELECT 0 AS id WHERE false;
EXPLAIN (COSTS OFF) INSERT INTO taken SELECT id FROM facts WHERE i4 > 990;
INSERT INTO taken SELECT id FROM facts WHERE i4 > 990;
SELECT nodes_of('UPDATE taken SET id = f.id FROM facts f WHERE f.id = taken.id AND f.i4 > 0');
SELECT nodes_of('SELECT taken.id FROM taken JOIN facts f ON f.id = taken.id FOR UPDATE OF taken');
-- Partitions and views.
CREATE TABLE parts (id int, x int, y int, z bigint, n numeric(38,0)) PARTITION BY RANGE (id);
ALTER TABLE parts ATTACH PARTITION edges FOR VALUES FROM (1) TO (7);
CREATE TABLE parts_heap PARTITION OF parts DEFAULT;
INSERT INTO parts VALUES (100, 1, 2, 3, 4), (101, 5, 6, 7, 8);
SELECT * FROM run_both('SELECT id, x, n FROM parts WHERE y > 0');
SELECT * FROM run_both('SELECT count(*), sum(y) FROM parts WHERE y > 0');
CREATE VIEW rich AS SELECT id, k, n, t FROM facts WHERE n > 50000;
SELECT * FROM run_both('SELECT t, count(*) FROM rich WHERE k < 50 GROUP BY t');
-- Privileges are those of the table and the view.
CREATE ROLE reader;
GRANT USAGE ON SCHEMA engine TO reader;
GRANT SELECT ON rich TO reader;
GRANT SELECT (k, name) ON dimension TO reader;
SET ROLE reader;
SELECT count(*) FROM facts WHERE i4 > 0;
SELECT count(*) > 0 FROM rich WHERE k < 50;
SELECT max(name) FROM dimension;
SELECT max(region) FROM dimension WHERE k > 3;
SELECT count(*) FROM rich r JOIN dimension d ON r.k = d.k AND d.weight > 0;
RESET ROLE;
-- Row level security: what a hidden row would do in a filter of the query is not seen.
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON parts USING (format('%s', id) <> '3' AND format('%s', id) <> '5');
GRANT SELECT ON parts TO reader;
SELECT id FROM parts WHERE 100 / y > 0 ORDER BY id;
SET ROLE reader;
EXPLAIN (COSTS OFF) SELECT id FROM parts WHERE 100 / y > 0 AND id < 7;
SELECT id FROM parts WHERE 100 / y > 0 ORDER BY id;
RESET ROLE;
ALTER POLICY some_rows ON parts USING (id <> 3 AND id <> 5);
SET ROLE reader;
EXPLAIN (COSTS OFF) SELECT id FROM parts WHERE 100 / y > 0 AND id < 7;
SELECT id FROM parts WHERE 100 / y > 0 ORDER BY id;
SELECT count(*) FROM parts WHERE 100 / y > 0;
RESET ROLE;
-- A security barrier: a filter that could tell about a row is not put below one that stays with PostgreSQL.
CREATE FUNCTION tells(int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
CREATE VIEW guarded WITH (security_barrier) AS SELECT id, i4, i2 FROM facts WHERE format('%s', t) = 'beta' AND id < 50;
EXPLAIN (COSTS OFF) SELECT id FROM guarded WHERE 100 / i2 > 1;
CREATE VIEW guarded_too WITH (security_barrier) AS SELECT id, i4, i2 FROM facts WHERE t = 'beta' AND id < 50;
EXPLAIN (COSTS OFF) SELECT id FROM guarded_too WHERE 100 / i2 > 1 AND tells(id);
SELECT id FROM guarded_too WHERE tells(id) ORDER BY 1;
-- Limits.
SET pg_strom.work_memory = '1MB';
SELECT * FROM run_both('SELECT id, n, ts, t, count(*), sum(i8) FROM facts GROUP BY 1, 2, 3, 4');
SELECT nodes_of('SELECT count(*) FROM facts a JOIN facts b ON a.id = b.id JOIN facts c ON a.id = c.id');
RESET pg_strom.work_memory;
SET pg_strom.cpu_threads = 1;
SELECT * FROM run_both('SELECT k, sum(n) FROM facts GROUP BY k');
SET pg_strom.cpu_threads = 8;
SELECT * FROM run_both('SELECT k, sum(n) FROM facts GROUP BY k');
SELECT * FROM run_both('SELECT id, t FROM facts WHERE i4 > 0');
RESET pg_strom.cpu_threads;
DROP OWNED BY reader;
DROP ROLE reader;
SET client_min_messages = warning;
DROP SCHEMA engine CASCADE;
