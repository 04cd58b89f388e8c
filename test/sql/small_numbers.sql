-- The types int1 and float2 in PostgreSQL's own plans: each of their aggregates answers as that of smallint and real, on
-- the same values, in every place where PostgreSQL calls its support functions.
LOAD 'pg_strom';
CREATE SCHEMA small_numbers;
SET search_path = small_numbers;
SET pg_strom.enabled = off;
SET extra_float_digits = -3;  -- the last bits of variances depend on the order of the rows
-- float2 has halves alone, whose sums do not depend on the order of the rows.
CREATE TABLE numbers AS SELECT i AS id, i % 7 AS g, i % 3 AS k,
    CASE WHEN i % 11 > 0 THEN i * 37 % 256 - 128 END::int2 AS i2, CASE WHEN i % 11 > 0 THEN i * 37 % 256 - 128 END::int1 AS i1,
    CASE WHEN i % 13 > 0 THEN (i * 29 % 400 - 200) / 2.0 END::float4 AS f4,
    CASE WHEN i % 13 > 0 THEN (i * 29 % 400 - 200) / 2.0 END::float2 AS f2
  FROM generate_series(1, 1000) i;
ANALYZE numbers;

CREATE TABLE forms (number serial, what text, statement text);
INSERT INTO forms (what, statement) VALUES
  ('all rows', 'SELECT {} FROM numbers'),
  ('no rows', 'SELECT {} FROM numbers WHERE id < 0'),
  ('groups', 'SELECT g, {}, {+} FROM numbers GROUP BY g'),
  ('grouping sets', 'SELECT g, k, {}, {+} FROM numbers GROUP BY ROLLUP (g, k)'),
  ('cube', 'SELECT g, k, {} FROM numbers GROUP BY CUBE (g, k), GROUPING SETS ((id % 2), ())'),
  ('distinct', 'SELECT g, {DISTINCT}, {}, count(DISTINCT #) FROM numbers GROUP BY g'),
  ('distinct sets', 'SELECT g, k, {DISTINCT}, {} FROM numbers GROUP BY ROLLUP (g, k)'),
  ('order', 'SELECT g, {ORDER}, {} FROM numbers GROUP BY g'),
  ('order sets', 'SELECT g, {ORDER}, {DISTINCT} FROM numbers GROUP BY GROUPING SETS ((g), (k), ())'),
  ('filter', 'SELECT g, {} FILTER (WHERE id % 4 > 1), {DISTINCT} FILTER (WHERE # > 3), {} FROM numbers GROUP BY ROLLUP (g)'),
  ('growing frames', 'SELECT id, {} OVER w, stddev(#) OVER w, sum(#) OVER w FROM numbers WINDOW w AS (PARTITION BY g ORDER BY id)'),
  ('moving frames', 'SELECT id, {} OVER w, stddev(#) OVER w, avg(#) OVER w FROM numbers WINDOW w AS (PARTITION BY g ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING)'),
  ('frames that become empty', 'SELECT id, {} OVER (ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 4 FOLLOWING) FROM numbers'),
  ('frames of ranges', 'SELECT id, {} OVER (ORDER BY id / 5 RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING), {} OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM numbers'),
  ('filtered frames', 'SELECT id, {} FILTER (WHERE id % 2 = 0) OVER (ORDER BY id ROWS 9 PRECEDING) FROM numbers'),
  ('frames of groups', 'SELECT g, {} OVER (ORDER BY g ROWS 2 PRECEDING) FROM numbers GROUP BY g, #'),
  ('sub-query for each row', 'SELECT n.g, q.* FROM (SELECT DISTINCT g FROM numbers) n, LATERAL (SELECT {}, {DISTINCT} FROM numbers m WHERE m.g = n.g) q');

-- The differences between the answers of `small` and of `wide`, and how many rows there are.
CREATE FUNCTION compare(form text, aggregate text, small text, wide text, OUT differences bigint, OUT row_count bigint) LANGUAGE plpgsql AS $$
DECLARE
  statements text[];
  number text;
BEGIN
  FOREACH number IN ARRAY ARRAY[small, wide] LOOP
    statements := statements || replace(replace(replace(replace(replace(form, '{}', format('%s(%s)', aggregate, number)),
      '{DISTINCT}', format('%s(DISTINCT %s)', aggregate, number)), '{ORDER}', format('%s(%s ORDER BY %2$s DESC)', aggregate, number)),
      '{+}', format('stddev(%s), sum(%1$s), avg(%1$s)', number)), '#', number);
  END LOOP;
  EXECUTE format('WITH a AS MATERIALIZED (SELECT q::text AS r FROM (%s) q), b AS MATERIALIZED (SELECT q::text AS r FROM (%s) q) '
    'SELECT (SELECT count(*) FROM (TABLE a EXCEPT ALL TABLE b) d) + (SELECT count(*) FROM (TABLE b EXCEPT ALL TABLE a) d), '
    '(SELECT count(*) FROM a)', statements[1], statements[2]) INTO differences, row_count;
END $$;
CREATE VIEW aggregates AS SELECT p.proname AS name, t.typname AS small, CASE t.typname WHEN 'int1' THEN 'i1' ELSE 'f2' END AS column,
    CASE t.typname WHEN 'int1' THEN 'i2' ELSE 'f4' END AS wide
  FROM pg_proc p JOIN pg_type t ON t.oid = p.proargtypes[0] WHERE p.prokind = 'a' AND t.typname IN ('int1', 'float2');
SELECT small, string_agg(name, ' ' ORDER BY name) FROM aggregates GROUP BY 1 ORDER BY 1;
CREATE VIEW comparison AS SELECT what, sum(differences) AS differences, sum(row_count) AS rows FROM
  (SELECT what, number, (compare(statement, name, "column", wide)).* FROM forms, aggregates) q GROUP BY what, number ORDER BY number;
-- By hashing, which for grouping sets has all of them at once.
EXPLAIN (COSTS OFF) SELECT g, avg(f2), avg(i1) FROM numbers GROUP BY ROLLUP (g);
SELECT * FROM comparison;
-- By sorting.
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT g, k, avg(f2), avg(i1) FROM numbers GROUP BY ROLLUP (g, k);
SELECT * FROM comparison;
RESET enable_hashagg;
-- By hashing on disk.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT sum(differences) FROM (SELECT (compare('SELECT i2, f4, {}, {+} FROM numbers GROUP BY GROUPING SETS ((i2, id % 50), (f4))', name, "column", wide)).* FROM aggregates) q;
RESET work_mem;
RESET hash_mem_multiplier;
-- By workers.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT g, avg(f2), stddev(i1) FROM numbers GROUP BY g;
SELECT a.small, a.name, (compare('SELECT {}, {+} FROM numbers', name, "column", wide)).*,
       (compare('SELECT g, {} FILTER (WHERE id % 3 > 0), {+} FROM numbers GROUP BY g', name, "column", wide)).* FROM aggregates a ORDER BY 1, 2;
RESET max_parallel_workers_per_gather;
-- What a moving frame leaves is taken out again: no state is made anew for each row.
SELECT p.proname, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid
  WHERE p.proargtypes[0] = 'int1'::regtype AND a.aggmtransfn <> 0 ORDER BY 1;
SET client_min_messages = warning;
DROP SCHEMA small_numbers CASCADE;
