-- Sub-queries in filters: NOT IN and its NULL rules, IN and <> ALL that PostgreSQL keeps as sub-plans, scalar ones.
LOAD 'pg_strom';
SET search_path = engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_threads = 2;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
CREATE TABLE parts (id int, x int, n numeric(10,2), u numeric, y bigint, t text, c char(5), d date, f float8);
INSERT INTO parts SELECT i, CASE WHEN i % 10 = 0 THEN NULL ELSE i % 1000 END,
  CASE WHEN i % 97 = 0 THEN 'NaN' WHEN i % 31 = 0 THEN NULL ELSE (i % 1000) / 4.0 END, i % 50 / 10.0,
  9223372036854774000 + i % 900, 't' || i % 300, 'c' || i % 50, date '2000-01-01' + i % 500, i % 100 / 3.0
  FROM generate_series(1, 5000) i;
CREATE TABLE few AS SELECT i * 3 AS k, i / 4.0::numeric(10,2) AS n, i / 10.0 AS u, 't' || i * 2 AS t, i * 5::bigint AS k8,
  ('c' || i)::char(5) AS c, date '2000-01-01' + i * 9 AS d, i / 3.0::float8 AS f FROM generate_series(1, 50) i;
CREATE TABLE with_null AS SELECT * FROM few UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL;
CREATE TABLE with_nan AS SELECT k, CASE WHEN k % 2 = 0 THEN 'NaN' ELSE n END::numeric(10,2) AS n FROM few;
ANALYZE parts; ANALYZE few; ANALYZE with_null; ANALYZE with_nan;
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE x NOT IN (SELECT k FROM few WHERE k > 10) AND y % 2 = 0;
EXPLAIN (COSTS OFF, VERBOSE) SELECT t FROM parts WHERE x NOT IN (SELECT k FROM few);
EXPLAIN (COSTS OFF) SELECT s.t, count(*) FROM parts p JOIN few s ON p.id = s.k WHERE p.x <> ALL (SELECT k8 FROM few) GROUP BY s.t;
-- PostgreSQL's: several columns, values that nobody could decide, volatile sub-queries.
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE (x, y) NOT IN (SELECT k, k8 FROM few);
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE u NOT IN (SELECT u FROM few);
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE x NOT IN (SELECT k FROM few WHERE random() > 2);
-- A scalar sub-query is a parameter.
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE x > (SELECT avg(k) FROM few);
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM parts WHERE n NOT IN (SELECT n FROM with_nan);
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' | '
CREATE TABLE subplan_queries (q text);
INSERT INTO subplan_queries VALUES
($$select id from parts where x not in (select k from few)$$),
($$select id from parts where x not in (select k from with_null)$$),
($$select id from parts where x not in (select k from few where false)$$),
($$select id from parts where x not in (select k8 from few)$$),
($$select id from parts where y not in (select k from few)$$),
($$select id from parts where n not in (select n from few)$$),
($$select id from parts where n not in (select n from with_null)$$),
($$select id from parts where n not in (select n from with_nan)$$),
($$select id from parts where n not in (select n from with_nan where n = 'NaN')$$),
($$select id from parts where n not in (select n from with_nan where n <> 'NaN')$$),
($$select id from parts where n not in (select n from few where false)$$),
($$select id from parts where t not in (select t from few)$$),
($$select id from parts where c not in (select c from few)$$),
($$select id from parts where t not in (select c from few)$$),
($$select id from parts where c not in (select t from few)$$),
($$select id from parts where d not in (select d from few)$$),
($$select id from parts where f not in (select f from few)$$),
($$select id from parts where x + id not in (select k from few)$$),
($$select id from parts where 10 / (x % 3) not in (select k from few where false)$$),
($$select id from parts where y + 950 not in (select k from few where false)$$),
($$select id from parts where y + 900 not in (select k from few)$$),
($$select id from parts where x not in (select k from few) and id not in (select k from few where k > 20) and id < 4000$$),
($$select id from parts where id <> all (select k from few)$$),
($$select id from parts where id <> all (select k from with_null)$$),
($$select id from parts where x <> all (select k from with_null where false)$$),
($$select t, count(*), sum(n) from parts where x not in (select k from few) group by t$$),
($$select t, count(distinct x) from parts where x not in (select k from few) group by t$$),
($$select p.id, s.t from parts p join few s on p.id = s.k where x not in (select k from with_null where k is not null)$$),
($$select p.id, s.t from parts p left join few s on p.id = s.k where x not in (select k from few)$$),
($$select p.id, s.t from parts p right join few s on p.id = s.k and x not in (select k from few)$$),
($$select p.id, s.t from parts p full join few s on p.id = s.k where x not in (select k from few)$$),
($$select s.k, q.* from few s, lateral (select count(*), count(n), sum(id) from parts where n not in (select n from with_nan w where w.k > s.k)) q$$),
($$select s.k, (select count(*) from parts where x not in (select k from with_null w where w.k > s.k)) from few s where k < 30$$),
($$select id, x not in (select k from few) from parts$$),
($$select id from parts where x not in (select k from few) or id = 3$$),
($$select id from parts where n > (select avg(n) from few) and x < (select max(k) from few)$$),
($$select id from parts where x = (select k from few where false)$$);
SELECT r.*, q FROM subplan_queries, run_both(q) r;
-- Sub-queries larger than pg_strom.work_memory.
SET pg_strom.work_memory = '64kB';
SET pg_strom.cpu_tuple_cost = 0.0000001;
SET pg_strom.cpu_operator_cost = 0;
SET cpu_operator_cost = 1;
SELECT r.*, q FROM (VALUES
($$select id from parts where id not in (select id from parts where id % 3 = 0)$$),
($$select id from parts where n not in (select n from parts where id % 3 = 0 and n is not null)$$),
($$select id, n from parts where y + 500 not in (select y from parts where id % 2 = 1) and id not in (select id from parts where id % 3 = 0)$$),
($$select count(*) from parts where id not in (select nullif(id, 4999) from parts)$$)) v (q), run_both(q) r;
RESET pg_strom.work_memory;
RESET pg_strom.cpu_tuple_cost;
RESET pg_strom.cpu_operator_cost;
RESET cpu_operator_cost;
-- What PostgreSQL evaluates at a scan, it evaluates once for each row of the scan, however many rows a join makes of it,
-- and behind a join only if that finds one row at most.
CREATE TABLE points (k int, g int, a int);
INSERT INTO points SELECT i, i % 50, i % 97 FROM generate_series(1, 2000) i;
CREATE TABLE copies (g int, v int);
INSERT INTO copies SELECT i % 50, i FROM generate_series(1, 2000) i;
CREATE TABLE names (g int PRIMARY KEY, v int);
INSERT INTO names SELECT i, i FROM generate_series(0, 24) i;
VACUUM ANALYZE points, copies, names;
CREATE TABLE scan_queries (q text);
INSERT INTO scan_queries VALUES
($$select count(*) from points join copies using (g) where points.k < 81 and (select count(*) from few where few.k % 10 = points.a % 10) > 4$$),
($$select * from points left join copies using (g) where points.k < 81 and (select count(*) from few where few.k % 10 = points.a % 10) > 4$$),
($$select * from points join copies using (g) join names using (g) where points.k < 81 and points.a::numeric(10,2)::float8 <> all (select few.k from few where few.k > 20 and few.k % 3 = points.k % 2 + 5)$$),
($$select * from points join names using (g) where points.k < 81 and (select count(*) from few where few.k % 10 = points.a % 10) > 4$$),
($$select * from points where points.k < 81 and (select count(*) from few where few.k % 10 = points.a % 10) > 4 and exists (select 1 from copies where copies.g = points.g)$$);
SELECT r.*, q FROM scan_queries, run_both(q) r;
-- The most calls of a sub-query.
CREATE FUNCTION subplan_loops(q text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || q INTO plan;
  RETURN (SELECT max((node ->> 'Actual Loops')::float8)
    FROM jsonb_path_query(plan, '$.** ? (@."Parent Relationship" == "SubPlan")') node);
END $$;
SELECT subplan_loops(q) <= 80 AS once, q FROM scan_queries;
-- Their costs are in those of every path.
CREATE FUNCTION total_cost(q text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || q INTO plan;
  RETURN plan -> 0 -> 'Plan' -> 'Total Cost';
END $$;
SET pg_strom.enabled = off;
CREATE TABLE plain_costs AS SELECT q, total_cost(q) AS cost FROM (SELECT q FROM scan_queries UNION ALL VALUES
($$select * from points join copies using (g) where (select count(*) from few where few.k % 10 = (points.a + copies.v) % 10) > 4$$),
($$select * from points left join copies using (g) where (select count(*) from few where few.k % 10 = (points.a + copies.v) % 10) > 4$$),
($$select * from points where g not in (select g from names) and (select count(*) from few where few.k % 10 = points.a % 10) > 4$$)) v;
RESET pg_strom.enabled;
SELECT total_cost(q) > 0.004 * cost AS "has costs of sub-queries", q FROM plain_costs;
DROP TABLE points, copies, names, scan_queries, plain_costs;
-- The error is PostgreSQL's.
SELECT id FROM parts WHERE 10 / (id - 3) NOT IN (SELECT k FROM few);
SELECT id FROM parts WHERE y + 1000 NOT IN (SELECT k FROM few);
-- Parameters, and a table that changes between executions.
SET plan_cache_mode = force_generic_plan;
PREPARE others(int) AS SELECT count(*), sum(id) FROM parts WHERE id NOT IN (SELECT k FROM few WHERE k > $1) AND x > $1;
EXECUTE others(5);
EXECUTE others(100);
EXECUTE others(200);
INSERT INTO few (k) VALUES (NULL);
EXECUTE others(100);
PREPARE all_of_them AS SELECT count(*) FROM parts WHERE id NOT IN (SELECT k FROM few);
EXECUTE all_of_them;
DELETE FROM few WHERE k IS NULL;
EXECUTE all_of_them;
-- Tables made of it.
CREATE TABLE made AS SELECT id, n FROM parts WHERE x NOT IN (SELECT k FROM few);
SELECT id, n INTO made_too FROM parts WHERE x NOT IN (SELECT k FROM few);
CREATE MATERIALIZED VIEW made_view AS SELECT t, count(*) FROM parts WHERE x NOT IN (SELECT k FROM few) GROUP BY t;
SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM made_too), (SELECT count(*) FROM made_view);
\pset tuples_only off
\pset format aligned
EXPLAIN (COSTS OFF) CREATE TABLE made_again AS SELECT id, n FROM parts WHERE x NOT IN (SELECT k FROM few);
-- Row security by a sub-query is a join, too.
CREATE ROLE strom_reader;
GRANT USAGE ON SCHEMA engine TO strom_reader;
GRANT SELECT ON parts, few TO strom_reader;
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY shown ON parts USING (id IN (SELECT k FROM few) AND x NOT IN (SELECT k FROM few WHERE k > 100));
SET ROLE strom_reader;
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE n > 3;
SELECT count(*), sum(id) FROM parts WHERE n > 3;
SET pg_strom.enabled = off;
SELECT count(*), sum(id) FROM parts WHERE n > 3;
RESET pg_strom.enabled;
RESET ROLE;
DROP TABLE parts, few, with_null, with_nan, made, made_too CASCADE;
DROP OWNED BY strom_reader;
DROP ROLE strom_reader;
-- A condition with a correlated sub-query above the engine's join has PostgreSQL's price, which is that of few rows where
-- the inner side is unique.
SET max_parallel_workers_per_gather = 0;
CREATE TABLE kinds (id int PRIMARY KEY, brand int NOT NULL);
CREATE TABLE items (kind int NOT NULL, quantity int NOT NULL, price int NOT NULL);
INSERT INTO kinds SELECT i, i % 100 FROM generate_series(1, 10000) i;
INSERT INTO items SELECT 1 + i % 10000, (i / 10000 + i) * 7 % 50, i % 1000 FROM generate_series(1, 300000) i;
CREATE INDEX ON items (kind);
ANALYZE kinds; ANALYZE items;
EXPLAIN (COSTS OFF) SELECT sum(price) FROM items o, kinds WHERE id = kind AND brand = 23
  AND quantity < (SELECT avg(quantity) FROM items i WHERE i.kind = id);
SELECT sum(price) FROM items o, kinds WHERE id = kind AND brand = 23
  AND quantity < (SELECT avg(quantity) FROM items i WHERE i.kind = id);
SET pg_strom.enabled = off;
SELECT sum(price) FROM items o, kinds WHERE id = kind AND brand = 23
  AND quantity < (SELECT avg(quantity) FROM items i WHERE i.kind = id);
RESET pg_strom.enabled;
RESET max_parallel_workers_per_gather;
DROP TABLE items, kinds;
