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
-- A side whose conditions can fail is read only where PostgreSQL would read it.
CREATE TABLE failing AS SELECT i AS k, 2147483000 + i AS b, i % 3 AS v FROM generate_series(1, 647) i;
CREATE TABLE no_rows AS SELECT * FROM leftmost WHERE k < 0;
CREATE TABLE first_rows AS SELECT * FROM leftmost WHERE k <= 200 ORDER BY k;
ANALYZE failing, no_rows, first_rows;
-- What a query ends with: as many rows, or an error.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found bigint;
BEGIN
  EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO found;
  RETURN found || ' rows';
EXCEPTION WHEN OTHERS THEN RETURN SQLERRM;
END $$;
CREATE FUNCTION outcomes(query text, OUT nodes text, OUT engine text, OUT differs boolean) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('enable_' || join_kind, 'off', true) FROM unnest(ARRAY['hashjoin', 'mergejoin', 'nestloop']) join_kind;
  nodes := engine.nodes_of(query);
  engine := engine.outcome(query);
  PERFORM set_config('enable_' || join_kind, 'on', true) FROM unnest(ARRAY['hashjoin', 'mergejoin', 'nestloop']) join_kind;
  PERFORM set_config('pg_strom.enabled', 'off', true);
  differs := engine.outcome(query) IS DISTINCT FROM engine;
  PERFORM set_config('pg_strom.enabled', 'on', true);
END $$;
CREATE TABLE failing_queries (q text);
INSERT INTO failing_queries VALUES
($$select l.k, f.b from no_rows l left join failing f on l.k = f.k and (f.b + 1 > 3) is not true$$),
($$select l.k, f.b from leftmost l left join failing f on l.k = f.k and (f.b + 1 > 3) is not true$$),
($$select l.k, f.b from leftmost l left join failing f on l.k = f.k and (f.b + 1 > 3) is not true where l.v > 100$$),
($$select l.k, f.b from no_rows l join failing f on l.k = f.k where f.b + 1 > 3$$),
($$select l.k, f.b from leftmost l join failing f on l.k = f.k where f.b + 1 > 3 and l.v > 100$$),
($$select l.k, f.b from leftmost l join failing f on l.k = f.k where f.b + 1 > 3$$),
($$select l.k, f.b from leftmost l join failing f on l.k = f.k + 2147483000 where l.v > 100$$),
($$select l.k from no_rows l where not exists (select 1 from failing f where l.k = f.k and f.b + 1 > 3)$$),
($$select l.k from leftmost l where not exists (select 1 from failing f where l.k = f.k and f.b + 1 > 3)$$),
($$select l.k from leftmost l where l.v > 100 and exists (select 1 from failing f where l.k = f.k and f.b + 1 > 3)$$),
($$select l.k, f.b from leftmost l join others o on o.k = l.k + 5000 left join failing f on l.k = f.k and f.b + 1 > 3$$),
($$select l.k, f.b from leftmost l join others o on o.k = l.k left join failing f on l.k = f.k and f.b + 1 > 3$$),
($$select l.k, f.b from leftmost l left join no_rows o on o.k = l.k left join failing f on o.k = f.k and f.b + 1 > 3$$),
($$select l.k, f.b from no_rows l right join others o on o.k = l.k left join failing f on l.k = f.k and f.b + 1 > 3$$),
($$select l.k, f.b from no_rows l full join leftmost o on o.k = l.k left join failing f on o.k = f.k and f.b + 1 > 3$$),
($$select l.k, s.n from no_rows l left join (select v, count(*) n from failing where b + 1 > 3 group by v) s on s.v = l.v$$),
($$select l.k, s.n from leftmost l left join (select v, count(*) n from failing where b + 1 > 3 group by v) s on s.v = l.v$$),
($$select l.k, s.n from leftmost l left join (select v, count(*) n from failing where b + 1 > 3 group by v) s on s.v = l.v where l.v > 100$$),
($$select l.k, s.n from leftmost l join (select v, count(*) n from failing where b + 1 > 3 group by v) s on s.v = l.v where l.v > 100$$),
($$select l.k, s.n from first_rows l join no_rows o on o.k = l.k left join (select v, count(*) n from failing where b + 1 > 3 group by v) s on s.v = l.v$$),
($$select k from no_rows where k not in (select k from failing where b + 1 > 3)$$),
($$select k from leftmost where v > 100 and k not in (select k from failing where b + 1 > 3)$$),
($$select k from leftmost where k not in (select k from failing where b + 1 > 3)$$),
($$select count(*), sum(f.b) from no_rows l left join failing f on l.k = f.k and (f.b + 1 > 3) is not true$$),
($$select l.t, sum(f.b) from leftmost l left join failing f on l.k = f.k and (f.b + 1 > 3) is not true where l.v > 100 group by 1$$),
($$select l.k from first_rows l join no_rows o on o.k = l.k where 1000 / (l.k - 150) > -2000$$),
($$select l.k from first_rows l where exists (select 1 from no_rows o where o.k = l.k) and 1000 / (l.k - 150) > -2000$$);
SELECT r.*, q FROM failing_queries, outcomes(q) r;
-- What nothing needs is never executed.
\pset format aligned
\pset tuples_only off
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
  SELECT l.k, s.n FROM leftmost l LEFT JOIN (SELECT v, count(*) n FROM failing WHERE b + 1 > 3 GROUP BY v) s ON s.v = l.v WHERE l.v > 100;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
  SELECT l.k, s.n FROM leftmost l JOIN no_rows o ON o.k = l.k JOIN (SELECT v, count(*) n FROM others WHERE k > 3 GROUP BY v) s ON s.v = l.v;
-- Rows that are there after all, and parameters that change.
SET plan_cache_mode = force_generic_plan;
PREPARE reached(int) AS SELECT count(*), count(s.n) FROM leftmost l LEFT JOIN (SELECT v, count(*) n FROM failing WHERE b + 1 > 3 GROUP BY v) s ON s.v = l.v WHERE l.v > $1;
EXECUTE reached(100);
EXECUTE reached(3);
EXECUTE reached(100);
DELETE FROM failing WHERE b = 2147483647;
EXECUTE reached(3);
SELECT l.k, x.n FROM first_rows l, LATERAL (SELECT count(*) n FROM leftmost m WHERE m.v > l.k AND m.k NOT IN (SELECT f.k FROM failing f WHERE f.b / (l.k - 7) > 0)) x WHERE l.k BETWEEN 4 AND 8 ORDER BY 1;
DROP TABLE leftmost, others, many, more, side_queries, failing, no_rows, first_rows, failing_queries;
