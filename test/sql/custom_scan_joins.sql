-- Kinds of joins, types of keys, conditions, fallback rows, and inner sides beyond pg_strom.work_memory.
SET search_path = engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_threads = 2;
SET pg_strom.regression_test_mode = on;
SET enable_memoize = off;
-- What EXPLAIN says.
EXPLAIN (COSTS OFF) SELECT f.id, d.name FROM facts f LEFT JOIN dimension d ON f.k = d.k AND d.weight > 5 WHERE f.i4 > 900;
EXPLAIN (COSTS OFF) SELECT count(*) FROM facts f LEFT JOIN duplicates d ON f.k = d.k AND f.i4 < d.v WHERE d.v IS NULL OR f.i4 > 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM facts f WHERE EXISTS (SELECT 1 FROM duplicates d WHERE d.k = f.k AND d.v <> f.i4);
EXPLAIN (COSTS OFF) SELECT count(*) FROM facts f WHERE NOT EXISTS (SELECT 1 FROM duplicates d WHERE d.k = f.k);
EXPLAIN (COSTS OFF) SELECT count(*) FROM facts f JOIN dimension d ON f.i4 < d.k;
EXPLAIN (COSTS OFF) SELECT f.id FROM facts f LEFT JOIN dimension d ON f.k = d.k AND 10 / f.i2 > d.k;
EXPLAIN (COSTS OFF) SELECT d.name, count(f.id) FROM dimension d LEFT JOIN facts f ON f.k = d.k AND f.i4 > 900 GROUP BY d.name;
EXPLAIN (COSTS OFF) SELECT f.id, d.v FROM facts f FULL JOIN duplicates d ON f.k = d.k AND f.i4 < d.v;
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' | '
CREATE TABLE queries (q text);
INSERT INTO queries VALUES
-- Left, semi and anti joins: several rows for a key, nulls, empty inner sides.
($$select f.id, d.name from facts f left join dimension d on f.k = d.k$$),
($$select f.id, d.v from facts f left join duplicates d on f.k = d.k$$),
($$select f.id, d.v from facts f left join duplicates d on f.k = d.k and f.i4 < d.v$$),
($$select f.id, d.v from facts f left join duplicates d on f.k = d.k where d.v is null$$),
($$select f.id, d.v from facts f left join duplicates d on f.k = d.k where d.v is distinct from 3$$),
($$select f.id, n.v from facts f left join nothing n on f.k = n.k$$),
($$select f.id from facts f where not exists (select 1 from nothing n where n.k = f.k)$$),
($$select f.id from facts f where exists (select 1 from nothing n where n.k = f.k)$$),
($$select f.id from facts f where not exists (select 1 from duplicates d where d.k = f.k and d.v > f.i4)$$),
($$select f.id from facts f where f.k not in (select k from duplicates where k is not null)$$),
($$select f.id from facts f where (f.k, f.i2) in (select k, v from duplicates)$$),
($$select d.region, count(*), sum(f.n) from facts f left join dimension d on f.k = d.k group by d.region$$),
($$select d.name, e.v, count(*) from facts f left join dimension d on f.k = d.k left join duplicates e on e.k = d.k and e.v > 2 group by 1, 2$$),
($$select count(*) from facts f left join dimension d on f.k = d.k join duplicates e on e.k = d.k where exists (select 1 from edges x where x.id = e.v)$$),
-- Right and full joins.
($$select f.id, d.name from facts f right join dimension d on f.k = d.k$$),
($$select f.id, d.name from facts f full join dimension d on f.k = d.k$$),
($$select f.id, d.v from duplicates d left join facts f on f.k = d.k and f.i4 < d.v$$),
($$select f.id, d.v from facts f full join duplicates d on f.k = d.k and f.i4 < d.v$$),
($$select f.id, d.v from facts f full join duplicates d on f.k = d.k where f.id is null or d.v is null or d.v > 3$$),
($$select d.name, count(f.id), sum(f.n), count(*) from dimension d left join facts f on f.k = d.k and f.i4 > 900 group by d.name$$),
($$select count(*), count(f.id), count(d.k) from facts f full join dimension d on f.k = d.k$$),
($$select f.id, d.k, e.v, h.name from facts f full join dimension d on f.k = d.k left join duplicates e on e.k = d.k full join heap_dimension h on h.k = e.v$$),
($$select d.region, e.v, count(*), count(f.id) from facts f right join dimension d on f.k = d.k and f.b join duplicates e on e.k = d.k group by 1, 2$$),
($$select f.id, n.v from facts f full join nothing n on f.k = n.k$$),
($$select f.id, f.v from nothing n full join (select k, id, t as v from facts) f on f.k = n.k$$),
($$select f.id, h.v from facts f right join heap_odd h on f.c = h.c$$),
($$select f.id, d.k, coalesce(d.k, f.k), 100 / d.k from facts f full join dimension d on f.k = d.k and d.k <> 0 where d.k <> 0 or d.k is null$$),
($$select e.id, f.id from edges e full join facts f on e.n = f.n$$),
($$select e.id, h.v from edges e full join heap_odd h on h.v = e.id and h.v < 3 where e.n * 1000 is distinct from 7$$),
-- Expressions that outer joins null.
($$select f.id, s.x from facts f left join (select k, coalesce(name, 'none') as x from dimension) s on f.k = s.k$$),
($$select f.id, s.x, s.y from facts f left join (select k, 1 as x, weight + 1 as y from dimension where weight > 5) s on f.k = s.k where s.x is null or f.i4 > 0$$),
($$select f.id, case when d.k is null then 'no' else d.name end from facts f left join dimension d on f.k = d.k where f.b$$),
($$select d.name, d.k from facts f left join dimension d on f.k = d.k where d.k is null$$),
($$select count(d), count(d.k), count(*) from facts f left join dimension d on f.k = d.k$$),
-- No keys.
($$select count(*) from facts f, dimension d where f.i4 < d.k$$),
($$select f.id, d.k from facts f left join dimension d on f.i4 = d.k + 1 and f.k <> d.k where f.id < 300$$),
($$select f.id from facts f where not exists (select 1 from dimension d where d.k > f.i4) and f.id < 500$$),
($$select 1 from dimension a, nothing b$$),
($$select 1 from dimension a, dimension b$$),
($$select count(*) from facts f left join nothing n on true$$),
-- Keys of different types, and of several columns.
($$select f.id, d.v from facts f join duplicates d on f.i2 = d.k$$),
($$select f.id, h.name from facts f left join heap_odd h on f.k = h.k$$),
($$select f.id, h.name from facts f left join heap_odd h on f.k = h.k where f.id < 20 or h.v > 1$$),
($$select f.id, h.v from facts f join heap_odd h on f.c = h.c$$),
($$select f.id, h.v from facts f join heap_odd h on f.c::text = h.name$$),
($$select f.id, h.v from facts f left join heap_odd h on f.d = h.at$$),
($$select f.id, g.id from facts f join facts g on f.k = g.k and f.d = g.d and f.t = g.t$$),
-- Rows that PostgreSQL decides.
($$select e.id, h.name from edges e left join heap_odd h on h.k = e.n * 1000 and h.k < 5$$),
($$select e.id from edges e where not exists (select 1 from heap_odd h where h.k = e.n * 1000 and h.k < 5)$$),
($$select e.id, h.v from edges e left join heap_odd h on h.v = e.id where e.n * 1000 <> 7$$),
($$select e.id, f.id from edges e left join facts f on e.n = f.n$$),
-- NaN on the inner side, as a key or passed on.
($$select e.id, h.k, h.name from edges e join heap_odd h on h.v = e.id$$),
($$select f.i2, h.k, count(*) from facts f join heap_odd h on h.v = f.i2 group by 1, 2$$),
($$select e.id, h.k from edges e full join heap_odd h on h.v = e.id$$),
($$select a.v, b.v, b.k from heap_odd a join heap_odd b on a.k = b.k$$),
($$select a.v, b.v, b.k from heap_odd a left join heap_odd b on a.k = b.k and a.name = b.name$$),
($$select a.v, b.v, a.k, b.k from heap_odd a full join heap_odd b on a.k = b.k and b.v <> 2$$),
($$select a.v from heap_odd a where exists (select 1 from heap_odd b where b.k = a.k and b.v = 3)$$),
($$select a.v from heap_odd a where not exists (select 1 from heap_odd b where b.k = a.k and b.v = 3)$$),
($$select a.v, h.k from heap_odd a join (select k from heap_odd offset 0) h on a.k = h.k$$);
SELECT r.*, q FROM queries, run_both(q) r;
-- The same in several passes.
SET pg_strom.work_memory = '64kB';
SELECT r.*, q FROM queries, run_both(q) r;
CREATE TABLE wide AS SELECT g AS k, repeat('text ' || g, 20) AS t FROM generate_series(1, 9000) g;
ANALYZE wide;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT r.*, q FROM (VALUES
  ($$select f.id, w.t from facts f left join wide w on f.id = w.k where f.id < 900$$),
  ($$select f.id, w.t from facts f left join (select k, t from wide limit 8500) w on f.id = w.k where f.id < 900$$),
  ($$select substr(w.t, 1, 6), count(*) from facts f left join wide w on f.id = w.k where f.id < 900 group by 1$$),
  ($$select w.k, x.k from wide w join wide x on w.t = x.t where x.k < 500$$)) v (q), run_both(q) r;
-- True when there was more than one.
CREATE FUNCTION has_passes(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
  RETURN (regexp_match(plan::text, '"Join Passes": ([0-9]+)'))[1]::int > 1;
END $$;
SET pg_strom.regression_test_mode = off;
SELECT has_passes('SELECT count(w.t) FROM facts f LEFT JOIN wide w ON f.id = w.k');
RESET pg_strom.work_memory;
DROP TABLE wide, queries;
DROP FUNCTION has_passes;
-- A table that is made of an outer join, by a key of two columns.
SET join_collapse_limit = 1;
SELECT row_count, differences FROM run_both('SELECT count(*), count(e.v), sum(f.id) FROM facts f JOIN (dimension d LEFT JOIN duplicates e ON e.k = d.k) ON f.k = d.k AND f.d >= d.opened AND f.k8 = d.k');
SELECT row_count, differences FROM run_both('SELECT f.id, e.v FROM facts f JOIN (dimension d LEFT JOIN duplicates e ON e.k = d.k) ON f.k = d.k AND f.k8 = d.k + 1');
RESET join_collapse_limit;
