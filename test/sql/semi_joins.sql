-- Semi and anti joins that build the table of the side whose rows they keep: each row of it goes on once, or not.
LOAD 'pg_strom';
SET search_path = engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_threads = 2;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
SET enable_memoize = off;
SET pg_strom.cpu_tuple_cost = 0.00001;
CREATE TABLE parent AS
  SELECT CASE WHEN g % 11 > 0 THEN g % 700 END AS k, g % 5 AS v, g % 13 AS x, (g % 90)::numeric(10,2) AS price,
         'parent ' || g % 40 AS name, g % 40 AS d, g::numeric AS number FROM generate_series(1, 900) g;
CREATE TABLE child AS
  SELECT CASE WHEN g % 17 > 0 THEN g % 2500 END AS k, g % 6 AS v, (g % 31)::numeric(10,2) AS price, g % 700 AS w,
         'child ' || g % 300 AS name, (g % 2500)::numeric AS number FROM generate_series(1, 20000) g WHERE g % 2500 > 100;
CREATE TABLE childless (k int, v int);
ANALYZE parent, child, childless;

-- What EXPLAIN says.
EXPLAIN (COSTS OFF) SELECT name FROM parent p WHERE EXISTS (SELECT 1 FROM child c WHERE c.k = p.k AND c.price > 20);
EXPLAIN (COSTS OFF) SELECT v, count(*) FROM parent p WHERE NOT EXISTS (SELECT 1 FROM child c WHERE c.k = p.k AND c.v <> p.v) GROUP BY v;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
  SELECT name, count(*) FROM parent p WHERE x < 9 AND k IN (SELECT k FROM child c WHERE c.price > 20) GROUP BY name;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
  SELECT count(*) FROM parent p WHERE x < 9 AND NOT EXISTS (SELECT 1 FROM child c WHERE c.k = p.k AND c.v < p.v);
-- Two of them and joins around; the second one builds what the first has left.
EXPLAIN (COSTS OFF) SELECT p.name, h.region, count(*) FROM parent p JOIN heap_dimension h ON h.k = p.d
  WHERE EXISTS (SELECT 1 FROM child c WHERE c.k = p.k AND c.v <> p.v)
    AND NOT EXISTS (SELECT 1 FROM child c WHERE c.k = p.k AND c.v > p.x) GROUP BY 1, 2;
-- The other direction is better where it has the smaller table.
EXPLAIN (COSTS OFF) SELECT count(*) FROM child c WHERE EXISTS (SELECT 1 FROM parent p WHERE c.k = p.k);

\pset format unaligned
\pset tuples_only on
\pset fieldsep ' | '
CREATE TABLE queries (q text);
INSERT INTO queries VALUES
($$select p.k, p.v, p.x, p.name, p.price from parent p where exists (select 1 from child c where c.k = p.k)$$),
($$select p.k, p.v, p.x, p.name, p.price from parent p where not exists (select 1 from child c where c.k = p.k)$$),
($$select p.k, p.v, p.x, p.name, p.price from parent p where exists (select 1 from child c where c.k = p.k and c.price > 20 and c.name like '%7')$$),
($$select p.k, p.v, p.x, p.name, p.price from parent p where not exists (select 1 from child c where c.k = p.k and c.price > 20 and c.name like '%7')$$),
($$select p.k, p.v, p.x, p.name, p.price from parent p where exists (select 1 from child c where c.k = p.k and c.v < p.v)$$),
($$select p.k, p.v, p.x, p.name, p.price from parent p where not exists (select 1 from child c where c.k = p.k and c.v < p.v)$$),
($$select p.k, p.v, p.x, p.name from parent p where (k, v) in (select k, v from child where w > 100)$$),
($$select p.k, p.v, p.x, p.name, p.price from parent p where k in (select k from child where w > 100) and v > 1$$),
($$select p.k, p.v, p.x, p.name, p.price from parent p where not exists (select 1 from child c where c.k = p.k and c.v = p.v and c.w <> p.x)$$),
($$select p.k, p.v, c.k as ck, c.name from parent p left join child c on c.k = p.k where c.k is null$$),
($$select p.v, c.v, count(*) from parent p left join child c on c.k = p.k and c.v > 3 where c.k is null group by 1, 2$$),
($$select v, count(*), sum(price), min(name) from parent p where exists (select 1 from child c where c.k = p.k and c.v <> p.v) group by v$$),
($$select count(*), sum(price) from parent p where not exists (select 1 from child c where c.k = p.k and c.v < p.v)$$),
($$select v, name, count(*), grouping(name) from parent p where k in (select k from child) group by rollup (v, name)$$),
($$select count(distinct name), v from parent p where k in (select k from child) group by v$$),
($$select distinct name from parent p where not exists (select 1 from child c where c.k = p.k)$$),
($$select p.name, h.region from parent p join heap_dimension h on h.k = p.d where exists (select 1 from child c where c.k = p.k)$$),
($$select p.name, h.region from parent p left join heap_dimension h on h.k = p.d where not exists (select 1 from child c where c.k = p.k and c.v <> p.v)$$),
($$select p.name, h.region, count(*) from heap_dimension h left join (select k, v, name, d from parent p where k in (select k from child where v < 3)) p on h.k = p.d group by 1, 2$$),
($$select p.name, h.name from heap_dimension h full join (select k, v, name, d from parent p where not exists (select 1 from child c where c.k = p.k)) p on h.k = p.d$$),
($$select p.k, p.v, p.name from parent p where exists (select 1 from child c where c.k = p.k and c.v <> p.v) and not exists (select 1 from child c where c.k = p.k and c.v > p.x)$$),
($$select p.k, p.v, p.name from parent p where exists (select 1 from child c join heap_dimension h on h.k = c.w where c.k = p.k and h.region <> 'Asia')$$),
($$select p.k, p.v, p.name from parent p where not exists (select 1 from child c join heap_dimension h on h.k = c.w where c.k = p.k)$$),
-- No keys, no rows.
($$select p.k, p.v, p.name from parent p where exists (select 1 from child c where c.k < p.k - 680)$$),
($$select p.k, p.v, p.name from parent p where not exists (select 1 from child c where c.k < p.k - 590 and c.v < p.v)$$),
($$select p.k, p.v, p.name from parent p where p.x = 4 and exists (select 1 from child c where c.k = 3000)$$),
($$select p.k, p.v, p.name from parent p where exists (select 1 from childless c where c.k = p.k)$$),
($$select p.k, p.v, p.name from parent p where not exists (select 1 from childless c where c.k = p.k)$$),
($$select c.* from childless c where not exists (select 1 from child p where c.k = p.k)$$),
($$select v, count(*) from childless c where exists (select 1 from child p where c.k = p.k) group by v$$),
($$select count(*) from childless c where not exists (select 1 from child p where c.k = p.k)$$),
-- Of many equal keys all are kept.
($$select count(*), sum(v) from (select 1 as k, x as v from parent offset 0) p where exists (select 1 from child c where c.v = p.k)$$),
($$select count(*), sum(v) from (select 1 as k, x as v from parent offset 0) p where not exists (select 1 from child c where c.v = p.k and c.k < p.v)$$),
-- Rows in front of a window, and in an order.
($$select name, rank() over (partition by v order by x) from parent p where exists (select 1 from child c where c.k = p.k)$$),
($$select * from (select v, x, row_number() over (partition by v order by x, name) n from parent p where k in (select k from child)) q where n <= 2$$),
($$select v, price from parent p where not exists (select 1 from child c where c.k = p.k) order by price desc, v limit 5$$),
-- Keys that the engine cannot hold, and fallback rows.
($$select p.k, p.price, p.name from parent p where exists (select 1 from child c where c.price = p.price and c.v <> p.v)$$),
($$select p.k, p.price, p.name from parent p where not exists (select 1 from child c where c.price = p.price and c.w < p.k)$$),
($$select p.k, p.price, p.name from parent p where not exists (select 1 from child c where c.number = p.price)$$),
($$select p.k, p.name from parent p where exists (select 1 from child c where c.price = p.number)$$),
($$select p.k, p.name from parent p where not exists (select 1 from child c where c.price = p.number)$$),
($$select k, name from parent p where exists (select 1 from child c where c.k = p.k and c.number * 2 > 500)$$),
($$select k, name from parent p where not exists (select 1 from child c where c.k = p.k and c.number * 2 > 500)$$),
($$select v, sum(price), max(price) from parent p where not exists (select 1 from child c where c.k = p.k and c.price * c.price > 500) group by v$$),
($$select sum(price) from parent p where exists (select 1 from child c where c.k = p.k and c.v <> p.v and c.price * 2 > 3)$$),
($$select k, price * 2 from parent p where price > 3 and exists (select 1 from child c where c.k = p.k and c.price > 3)$$),
($$select p.k, h.name, p.price * h.weight from parent p join heap_dimension h on h.k = p.d where not exists (select 1 from child c where c.k = p.k and c.price > 3)$$);
SELECT r.*, q FROM queries, run_both(q) r;
-- With values that PostgreSQL decides about.
INSERT INTO parent VALUES (200, 1, 2, 'NaN', 'odd', 3, 'NaN'), (201, 2, 3, NULL, 'odd', 4, repeat('9', 60)::numeric), (NULL, 1, 1, 1, 'odd', 1, NULL);
INSERT INTO child VALUES (210, 1, 'NaN', 200, 'odd', 'NaN'), (3000, 7, 'NaN', 200, 'odd', repeat('9', 60)::numeric), (211, NULL, NULL, 1, 'odd', NULL);
SELECT r.*, q FROM queries, run_both(q) r;
-- The same in several passes.
SET pg_strom.work_memory = '64kB';
SELECT r.*, q FROM queries, run_both(q) r;
RESET pg_strom.work_memory;
\pset tuples_only off
-- Run again and again, with other parameters; a part of the rows.
SELECT x, (SELECT count(*) FROM parent p WHERE p.v = o.x AND EXISTS (SELECT 1 FROM child c WHERE c.k = p.k AND c.v <> o.x)) FROM (VALUES (1), (3), (9)) o(x);
PREPARE by_value(int) AS SELECT count(*), sum(k) FROM parent p WHERE EXISTS (SELECT 1 FROM child c WHERE c.k = p.k AND c.v < $1);
EXECUTE by_value(0);
EXECUTE by_value(1);
DEALLOCATE by_value;
BEGIN;
DECLARE part NO SCROLL CURSOR FOR SELECT k FROM parent p WHERE EXISTS (SELECT 1 FROM child c WHERE c.k = p.k) ORDER BY k;
FETCH 3 FROM part;
ROLLBACK;
-- Errors are PostgreSQL's.
SELECT count(*) FROM parent p WHERE EXISTS (SELECT 1 FROM child c WHERE c.k = p.k AND 10 / c.v > 2);
DROP TABLE parent, child, childless, queries;
