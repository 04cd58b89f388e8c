-- Answers that depend on the order of the rows: PostgreSQL's are those of a scan from front to back.
LOAD 'pg_strom';
CREATE SCHEMA scan_order;
SET search_path = scan_order;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64MB';
SET extra_float_digits = 1;
-- Hashing, as the engine's plans have it: which of equal keys stands for a group is then the first one.
SET enable_sort = off;
SET pg_strom.cpu_threads = 4;
-- Several answers of the engine, which have to be PostgreSQL's each time: differences.
CREATE FUNCTION differs(query text, runs int DEFAULT 3) RETURNS text LANGUAGE plpgsql AS $$
DECLARE theirs text; ours text; wrong int := 0; plan json;
BEGIN
  PERFORM set_config('pg_strom.enabled', 'off', true);
  EXECUTE 'SELECT string_agg(t::text, '' '' ORDER BY t::text) FROM (' || query || ') t' INTO theirs;
  PERFORM set_config('pg_strom.enabled', 'on', true);
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  FOR i IN 1 .. runs LOOP
    EXECUTE 'SELECT string_agg(t::text, '' '' ORDER BY t::text) FROM (' || query || ') t' INTO ours;
    IF ours IS DISTINCT FROM theirs THEN wrong := wrong + 1; END IF;
  END LOOP;
  RETURN CASE WHEN plan::text LIKE '%Cpu%Agg%' THEN 'engine' ELSE 'PostgreSQL' END
    || CASE WHEN wrong > 0 THEN ' ' || wrong || ' differ: ' || left(theirs, 100) || ' <> ' || left(ours, 100) ELSE '' END;
END $$;
-- Different answers of the engine, to the query with each of its plans.
CREATE FUNCTION answers(query text, runs int DEFAULT 5) RETURNS text LANGUAGE plpgsql AS $$
DECLARE ours text; plan json; seen text[] := '{}';
BEGIN
  FOR i IN 1 .. runs LOOP
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    IF plan::text NOT LIKE '%Cpu%Agg%' THEN RETURN 'not in the engine'; END IF;
    EXECUTE 'SELECT string_agg(t::text, '' '' ORDER BY t::text) FROM (' || query || ') t' INTO ours;
    seen := seen || ours;
  END LOOP;
  RETURN (SELECT count(DISTINCT s) FROM unnest(seen) s);
END $$;

CREATE TABLE value AS
  SELECT i AS id, i % 7 AS g, i % 5 AS h, i % 20011 AS many, (sin(i) * 1000)::float8 AS x, (i * 0.37 + sin(i * 1.7))::float8 AS y,
         (sin(i) * 100)::real AS r, 0.1::real AS tenth, CASE WHEN i % 3 = 0 THEN '-0'::float8 ELSE 0 END AS zero,
         CASE WHEN i % 5 = 0 THEN '-0'::real ELSE 0 END AS small_zero, '-0'::float8 AS minus,
         CASE WHEN i % 11 = 0 THEN 2.50 WHEN i % 4 = 0 THEN 2.500 ELSE 2.5 END::numeric AS n,
         CASE i % 3 WHEN 0 THEN interval '1 month' WHEN 1 THEN '30 days' ELSE '720 hours' END AS span,
         (CASE i % 3 WHEN 0 THEN 'a ' WHEN 1 THEN 'a' ELSE 'a  ' END)::bpchar AS padded
    FROM generate_series(1, 200000) i;
ANALYZE value;

-- One column, or an expression, twice in grouping sets: which of them the engine takes is not the same in all versions.
SELECT regexp_replace(differs(q, 1), '^(engine|PostgreSQL)$', 'equal') AS answer, q FROM (VALUES
  ('SELECT g a, g b, count(*) c FROM value GROUP BY GROUPING SETS ((1), (2), (1, 2))'),
  ('SELECT g a, g b, sum(id) c, GROUPING(g) d FROM value GROUP BY ROLLUP (1, 2)'),
  ('SELECT a, b, count(*) c FROM (SELECT g a, g b, id FROM value) v GROUP BY CUBE (a, b)'),
  ('SELECT g + 1 a, g + 1 b, g c, count(*) d FROM value GROUP BY GROUPING SETS ((1), (2), (3))'),
  ('SELECT a, b, count(DISTINCT id % 3) c FROM (SELECT g a, g b, id FROM value) v GROUP BY GROUPING SETS ((a), (b))'),
  ('SELECT a, b, count(*) c, count(DISTINCT id % 3) d FROM (SELECT g a, g b, id FROM value) v GROUP BY GROUPING SETS ((a), (b))'),
  ('SELECT g a, g + 1 b, (g + 1) * 2 c, count(*) d FROM value GROUP BY GROUPING SETS ((g), (g + 1), ())'),
  ('SELECT g a, id % 3 b, count(*) c FROM value GROUP BY DISTINCT ROLLUP (g, id % 3), CUBE (id % 3)')) t(q);

-- Sums of real, each step of which is rounded.
SELECT differs(q), q FROM (VALUES
  ('SELECT sum(tenth) FROM value'), ('SELECT sum(r) FROM value'), ('SELECT sum(r) FILTER (WHERE g > 3), sum(tenth), count(*) FROM value WHERE id > 100'),
  ('SELECT sum(r) FILTER (WHERE g > 3) FROM value WHERE id % 3 > 0 AND h < 4'), ('SELECT g, sum(r) FROM value WHERE id % 7 < 5 GROUP BY g'),
  ('SELECT g, sum(r) FROM value GROUP BY g'), ('SELECT many, sum(r), avg(id) FROM value GROUP BY many')) t(q);
EXPLAIN (COSTS OFF) SELECT g, sum(r) FROM value GROUP BY ROLLUP (g);

-- The same answer each time.
SELECT answers(q), q FROM (VALUES
  ('SELECT sum(x), avg(x), avg(r), stddev(x), var_pop(y), variance(r), corr(x, y), regr_slope(y, x), covar_samp(x, y), regr_sxx(x, y) FROM value'),
  ('SELECT g, sum(x), avg(y), stddev_samp(x), corr(y, x) FROM value GROUP BY g'),
  ('SELECT many, sum(x), avg(y), stddev_samp(x), regr_r2(y, x) FROM value GROUP BY many'),
  ('SELECT g, h, sum(x), avg(y) FROM value GROUP BY CUBE (g, h)'), ('SELECT sum(x), avg(y), stddev(r) FROM value WHERE id % 3 = 0')) t(q);
-- From columns that are kept, too, and with fewer threads than are wanted.
VACUUM value;
SELECT answers('SELECT sum(x), avg(y), stddev(x) FROM value'), answers('SELECT h, sum(x), avg(y), corr(x, y) FROM value GROUP BY h');
CREATE TEMP TABLE kept AS SELECT sum(x) AS x, stddev(y) AS y, avg(r) AS r FROM value;
SELECT bool_and(t = (SELECT kept FROM kept)) AS same FROM (SELECT sum(x) AS x, stddev(y) AS y, avg(r) AS r FROM value) t;
-- With tables that overflow, again and again.
SET pg_strom.work_memory = '5MB';
SELECT answers('SELECT id / 2, many, sum(x), avg(y), var_samp(y) FROM value GROUP BY id / 2, many');
SELECT answers('SELECT many, sum(x), avg(y), var_samp(y) FROM value GROUP BY many');
SET pg_strom.work_memory = '64kB';
SELECT answers('SELECT id / 2, sum(x), avg(y), var_samp(y) FROM value GROUP BY id / 2');
RESET pg_strom.work_memory;

-- Of values that are equal and print differently, min and max give the last one.
SELECT differs(q), q FROM (VALUES
  ('SELECT min(zero), max(zero), min(small_zero), max(small_zero), min(minus), max(minus) FROM value'),
  ('SELECT g, min(zero), max(small_zero) FROM value GROUP BY g'),
  ('SELECT g, min(n), max(n), min(span), max(span) FROM value GROUP BY g'),
  ('SELECT max(n), min(n), max(span), min(span) FROM value WHERE id % 1000 < 990'),
  ('SELECT many, max(n), min(span), max(zero) FROM value GROUP BY many'),
  ('SELECT many, max(n), min(n) FROM value WHERE id < 100000 GROUP BY many'),
  ('SELECT max(n), min(n), max(span), min(zero), max(small_zero) FROM value WHERE h > 1 AND g % 3 > 0 AND id < 191000'),
  ('SELECT h, max(n), min(span), max(zero) FROM value WHERE id % 6 > 1 GROUP BY h')) t(q);
-- Sums of -0.
SELECT differs(q), q FROM (VALUES
  ('SELECT sum(minus), avg(minus), sum(minus::real) FROM value'), ('SELECT g, sum(minus), sum(zero) FROM value GROUP BY g')) t(q);
-- Of equal keys the first one stands for the group.
SELECT differs(q), q FROM (VALUES
  ('SELECT zero, count(*) FROM value GROUP BY zero'), ('SELECT small_zero, g, count(*) FROM value GROUP BY small_zero, g'),
  ('SELECT n, count(*) FROM value WHERE id % 4 > 0 GROUP BY n'), ('SELECT n, g, sum(id) FROM value GROUP BY n, g'),
  ('SELECT DISTINCT span FROM value'), ('SELECT span, g, count(*) FROM value WHERE id > 1000 GROUP BY span, g'),
  ('SELECT DISTINCT g, n FROM value'), ('SELECT ''['' || padded || '']'', count(*) FROM value GROUP BY padded'),
  ('SELECT n, h, count(*) FROM value WHERE h > 1 AND id % 3 > 0 AND id > 30000 GROUP BY n, h'), ('SELECT span, count(*) FROM value WHERE id % 5 > 1 GROUP BY span'),
  ('SELECT n, many, count(*) FROM value GROUP BY n, many')) t(q);
CREATE TABLE listed AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN array[1.0] ELSE array[1.00] END AS a FROM generate_series(1, 20000) i;
ANALYZE listed;
SELECT differs('SELECT a, count(*) FROM listed GROUP BY a'), differs('SELECT DISTINCT a FROM listed');

-- Overflow.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
  EXECUTE query INTO answer;
  RETURN answer;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION outcomes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE theirs text; ours text;
BEGIN
  PERFORM set_config('pg_strom.enabled', 'off', true);
  theirs := outcome(query);
  PERFORM set_config('pg_strom.enabled', 'on', true);
  ours := outcome(query);
  RETURN CASE WHEN ours IS DISTINCT FROM theirs THEN 'DIFFERS ' || coalesce(ours, 'null') || ' <> ' ELSE '' END || coalesce(theirs, 'null');
END $$;
CREATE TABLE far (s int, x float8);
INSERT INTO far VALUES (1, 1e308), (1, -1e308), (1, 1e308), (2, 1e200), (2, 0), (3, 1e200), (3, 1e200), (4, 'inf'), (4, 1),
  (5, 'inf'), (5, '-inf'), (6, 'nan'), (6, 1e308), (7, 1e308), (7, 1e308), (8, 1e150), (8, -1e150), (9, 'inf'), (9, 'inf'), (10, -1e308);
SELECT s, outcomes(format('SELECT avg(x) FROM far WHERE s = %s', s)) AS avg, outcomes(format('SELECT sum(x) FROM far WHERE s = %s', s)) AS sum,
       outcomes(format('SELECT stddev(x) FROM far WHERE s = %s', s)) AS stddev, outcomes(format('SELECT corr(x, s) FROM far WHERE s = %s', s)) AS corr
  FROM generate_series(1, 10) s;
-- After infinity or NaN nothing overflows, before it does.
CREATE TABLE final AS SELECT s, v.ord, x::float8 AS x, replace(x, '1e308', '3e38')::float4 AS r FROM (VALUES (1, '{inf,1e308,1e308}'), (2, '{1e308,1e308,inf}'),
    (3, '{nan,-1e308,-1e308}'), (4, '{-1e308,-1e308,nan}'), (5, '{-inf,1e308,1e308,inf}'), (6, '{1e308,inf,1e308,1e308}'), (7, '{1,1e308,-inf,1e308}'))
  t(s, list), unnest(list::text[]) WITH ORDINALITY AS v(x, ord);
SELECT s, outcomes(format('SELECT sum(x) FROM final WHERE s = %s', s)) AS sum, outcomes(format('SELECT sum(x * 1.5) FROM final WHERE s = %s', s)) AS half_more,
       outcomes(format('SELECT sum(r) FROM final WHERE s = %s', s)) AS sum_of_real, outcomes(format('SELECT avg(x) FROM final WHERE s = %s', s)) AS avg
  FROM generate_series(1, 7) s;
SELECT outcomes('SELECT string_agg(s || '' '' || sum, '', '' ORDER BY s) FROM (SELECT s, sum(x) FROM final WHERE s NOT IN (2, 4) GROUP BY s) q');
-- Also where they are far apart.
CREATE TABLE apart AS SELECT i % 3 AS g, CASE WHEN i < 4 THEN 'inf' WHEN i > 9990 THEN 1e308 ELSE 1 END::float8 AS x FROM generate_series(1, 10000) i;
ANALYZE apart;
SELECT outcomes('SELECT sum(x) FROM apart'), outcomes('SELECT string_agg(sum::text, '', '') FROM (SELECT sum(x) FROM apart GROUP BY g) q'),
       outcomes('SELECT sum(x) FROM apart WHERE x < ''inf''::float8');

-- An error is one for each row that PostgreSQL would have evaluated the condition for.
CREATE TABLE risky AS SELECT i % 10 AS a, i AS b, CASE WHEN i % 100 = 0 THEN 'x' ELSE i::text END AS s, (i % 50)::numeric AS n FROM generate_series(1, 5000) i;
ANALYZE risky;
SELECT outcomes(q), q FROM (VALUES
  ('SELECT count(*) FROM risky WHERE 100 / (a - 5) > 7'), ('SELECT count(*) FROM risky WHERE 100 / (a - 5) > 7 AND a + b > 10 AND a + b + a < 0'),
  ('SELECT count(*) FROM risky WHERE a / (a - 5) > 7 AND (s = ''1'' OR s = ''2'' OR s = ''3'')'),
  ('SELECT count(*) FROM risky WHERE s::int > 0 AND (b = 1 OR b = 2)'), ('SELECT count(*) FROM risky WHERE (b = 1 OR b = 2 OR b = 3 OR b = 4) AND s::int > 0'),
  ('SELECT count(*) FROM risky WHERE b < 10 AND s::int > 0'), ('SELECT count(*) FROM risky WHERE s::int > 0 AND b < 10'),
  ('SELECT count(*) FROM risky WHERE 100 / (a - 5) > 7 AND (n > 100 OR n < 0 OR n = 7.5 OR n = 8.5)'),
  ('SELECT count(*) FROM risky WHERE upper(s) = ''X'' AND b < 0 AND 1 / a > 0'), ('SELECT count(*) FROM risky WHERE s LIKE ''y%'' AND s::int > 0'),
  ('SELECT count(*) FROM risky WHERE s::int + 1 > 0 AND s LIKE ''y%''')) t(q);

SET client_min_messages = warning;
DROP SCHEMA scan_order CASCADE;
