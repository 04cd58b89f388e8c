-- Joins of which PostgreSQL knows that a side has no rows or that nothing can match: nothing is read or tried for them.
LOAD 'pg_strom';
SET search_path = engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_threads = 2;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
SET pg_strom.cpu_tuple_cost = 0.00001;
CREATE TABLE leftmost AS SELECT i AS k, i % 7 AS v, 'left ' || i % 50 AS t FROM generate_series(1, 300) i;
CREATE TABLE others AS SELECT i * 2 AS k, i % 5 AS v, 'other ' || i % 20 AS t FROM generate_series(1, 400) i;
-- So large that trying all pairs would take minutes.
CREATE TABLE many AS SELECT i AS k, i % 7 AS v FROM generate_series(1, 150000) i;
CREATE TABLE more AS SELECT i AS k, i % 7 AS v FROM generate_series(1, 150000) i;
ANALYZE leftmost, others, many, more;

-- A side without rows is PostgreSQL's, which reads nothing.
EXPLAIN (COSTS OFF) SELECT count(*), count(more.k) FROM many LEFT JOIN more ON many.k = more.k AND 1 = 0;
EXPLAIN (COSTS OFF) SELECT count(*), count(more.k) FROM many RIGHT JOIN more ON many.k = more.k AND false;
EXPLAIN (COSTS OFF) SELECT count(*) FROM many WHERE NOT EXISTS (SELECT 1 FROM more WHERE more.k = many.k AND false);
EXPLAIN (COSTS OFF) SELECT count(*) FROM many WHERE EXISTS (SELECT 1 FROM more WHERE more.k = many.k AND false);
-- A condition that is false when the query runs.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*), count(more.k) FROM many LEFT JOIN more ON (SELECT 1) = 0;

SET statement_timeout = '60s';
SELECT count(*), count(more.k) FROM many LEFT JOIN more ON many.k = more.k AND 1 = 0;
SELECT count(*), count(more.k) FROM many LEFT JOIN more ON NULL;
SELECT count(*), count(many.k) FROM many RIGHT JOIN more ON many.k = more.k AND false;
SELECT count(*), count(many.k), count(more.k) FROM many FULL JOIN more ON many.k = more.k AND false;
SELECT count(*), count(many.k), count(more.k) FROM many FULL JOIN more ON NULL;
SELECT count(*) FROM many WHERE NOT EXISTS (SELECT 1 FROM more WHERE more.k = many.k AND false);
SELECT count(*) FROM many WHERE NOT EXISTS (SELECT 1 FROM more WHERE more.v = many.v AND now() IS NULL);
SELECT count(*), count(more.k) FROM many LEFT JOIN more ON (SELECT 1) = 0;
SELECT count(*), count(more.k) FROM many LEFT JOIN more ON many.v = more.v AND (SELECT 1) = 0;
SELECT count(*), count(many.k) FROM many RIGHT JOIN more ON (SELECT NULL::bool);
SELECT count(*) FROM many WHERE EXISTS (SELECT 1 FROM more WHERE more.v < many.v AND (SELECT false));
SELECT count(*) FROM many JOIN more ON many.v < more.v AND (SELECT false);
PREPARE on_parameter(bool) AS SELECT count(*), count(more.k) FROM many LEFT JOIN more ON many.v = more.v AND more.k < 20 AND $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE on_parameter(false);
EXECUTE on_parameter(NULL);
EXECUTE on_parameter(true);
RESET plan_cache_mode;
RESET statement_timeout;

\pset format unaligned
\pset tuples_only on
\pset fieldsep ' | '
CREATE TABLE side_queries (q text);
INSERT INTO side_queries VALUES
($$select * from leftmost l left join others o on l.k = o.k and 1 = 0$$),
($$select * from leftmost l left join others o on l.k = o.k and (select 1) = 0$$),
($$select * from leftmost l left join others o on l.k = o.k and (select 1) = 1$$),
($$select * from leftmost l left join others o on (select null::bool)$$),
($$select * from leftmost l left join others o on (select 1) = 1 and l.k < 4$$),
($$select * from leftmost l right join others o on l.k = o.k and null$$),
($$select * from leftmost l right join others o on l.v = o.v and (select false)$$),
($$select * from leftmost l right join others o on (select false)$$),
($$select * from leftmost l full join others o on l.k = o.k and false$$),
($$select * from leftmost l full join others o on l.k = o.k and (select false)$$),
($$select * from leftmost l full join others o on false$$),
($$select * from leftmost l where not exists (select 1 from others o where o.k = l.k and false)$$),
($$select * from leftmost l where not exists (select 1 from others o where o.v <> l.v and (select false))$$),
($$select * from leftmost l where exists (select 1 from others o where o.v <> l.v and (select false))$$),
($$select * from leftmost l where not exists (select 1 from others o where o.k = l.k and (select true))$$),
($$select l.t, count(*), count(o.k) from leftmost l left join others o on l.k = o.k and 1 = 0 group by 1$$),
($$select l.t, count(*), count(o.k) from leftmost l left join others o on l.v = o.v and (select false) group by 1$$),
($$select * from leftmost l left join (select * from others where false) o on l.k = o.k$$),
($$select * from (select * from leftmost where false) l right join others o on l.k = o.k$$),
($$select * from (select * from leftmost where false) l full join others o on l.k = o.k$$),
($$select * from leftmost l left join (others o join leftmost m on o.k = m.k) on l.k = o.k and false$$),
($$select * from leftmost l left join others o on l.k = o.k and false left join leftmost m on m.k = l.k$$),
($$select * from leftmost l left join others o on l.k = o.k and false full join leftmost m on m.k = l.k and (select false)$$),
($$select * from leftmost l join others o on l.k = o.k and (select false) right join leftmost m on m.k = o.k$$);
SELECT r.*, q FROM side_queries, run_both(q) r;
DROP TABLE leftmost, others, many, more, side_queries;
