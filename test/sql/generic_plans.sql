-- Parameters of generic plans in the engine: arrays that a column is compared with, numerics, and values that the engine cannot hold.
LOAD 'pg_strom';
CREATE SCHEMA generic;
SET search_path = generic;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
SET plan_cache_mode = force_generic_plan;
CREATE TABLE rows (id int, n int, big int8, price numeric(12,2), amount numeric, t text, c char(4), day date, at timestamp, f float8, u uuid);
INSERT INTO rows SELECT i, NULLIF(i % 7, 3), i % 5, i % 400 * 0.25, i % 300 * 0.5, 't' || i % 9, 'c' || i % 4, date '2024-01-01' + i % 40,
  timestamp '2024-01-01' + i % 50 * interval '1 hour', i % 6, md5((i % 8)::text)::uuid FROM generate_series(1, 5000) i;
INSERT INTO rows (id, amount) VALUES (-1, 'NaN'), (-2, '1e60'), (-3, NULL);
VACUUM ANALYZE rows;
-- The same prepared statement planned with the engine and without, for all arguments.
CREATE FUNCTION both_ways(types text, condition text, VARIADIC calls text[])
  RETURNS TABLE (arguments text, count bigint, same bool, node text, stays text) LANGUAGE plpgsql AS $$
DECLARE
  statement text := format('(%s) AS SELECT count(*) AS rows, sum(id) AS ids FROM rows WHERE %s', types, condition);
  line text;
  ours record;
  plain record;
BEGIN
  SET pg_strom.enabled = off;
  EXECUTE 'PREPARE plain' || statement;
  EXECUTE format('EXECUTE plain(%s)', calls[1]);
  SET pg_strom.enabled = on;
  EXECUTE 'PREPARE ours' || statement;
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) EXECUTE ours(%s)', calls[1]) LOOP
    node := COALESCE(substring(line FROM '\(Cpu\w+\)'), node);
    stays := COALESCE(substring(line FROM '(Not Offloaded|Filter):.*'), stays);
  END LOOP;
  FOREACH arguments IN ARRAY calls LOOP
    EXECUTE format('EXECUTE ours(%s)', arguments) INTO ours;
    EXECUTE format('EXECUTE plain(%s)', arguments) INTO plain;
    count := ours.rows;
    same := ours::text = plain::text;
    RETURN NEXT;
  END LOOP;
  DEALLOCATE plain;
  DEALLOCATE ours;
END $$;

SELECT * FROM both_ways('int[]', 'n = ANY ($1)', '''{1,2}''', '''{}''', 'NULL', '''{NULL}''', '''{1,NULL}''', '''{{1,4},{2,100}}''', '''[5:6]={1,2}''');
SELECT * FROM both_ways('int[]', 'n <> ALL ($1)', '''{1,2}''', '''{}''', 'NULL', '''{NULL}''', '''{1,NULL}''');
SELECT * FROM both_ways('int[]', 'NOT n = ANY ($1)', '''{1,2}''', '''{}''', 'NULL', '''{1,NULL}''');
SELECT * FROM both_ways('int[]', '(n = ANY ($1)) IS NULL', '''{1,2}''', '''{}''', 'NULL', '''{1,NULL}''');
SELECT * FROM both_ways('int[]', 'n > ALL ($1)', '''{1,2}''', '''{}''', 'NULL', '''{1,NULL}''');
SELECT * FROM both_ways('int8[]', 'n = ANY ($1)', '''{1,9000000000}''');
SELECT * FROM both_ways('int2[]', 'big = ANY ($1)', '''{1,-1}''');
SELECT * FROM both_ways('text[]', 't = ANY ($1)', '''{t1,"",t5}''', '''{NULL}''', 'ARRAY[repeat(''x'', 100000), ''t2'']');
SELECT * FROM both_ways('varchar[]', 't <> ALL ($1)', '''{t1,t5}''');
SELECT * FROM both_ways('bpchar[]', 'c = ANY ($1)', '''{c1,"c2  "}''');
SELECT * FROM both_ways('date[]', 'day = ANY ($1)', '''{2024-01-03,infinity}''');
SELECT * FROM both_ways('timestamp[]', 'at = ANY ($1)', '''{2024-01-01 05:00,-infinity}''');
SELECT * FROM both_ways('float8[]', 'f = ANY ($1)', '''{1,NaN,-0}''');
SELECT * FROM both_ways('uuid[]', 'u = ANY ($1)', 'ARRAY[md5(''1'')::uuid]');
-- Numerics, also such as the engine does not hold.
SELECT * FROM both_ways('numeric[]', 'price = ANY ($1)', '''{0.25,1.5,7.000}''', '''{}''', 'NULL', '''{0.25,NULL}''', '''{NaN,0.25}''', '''{1e60,0.25}''', '''{Infinity}''');
SELECT * FROM both_ways('numeric[]', 'amount <> ALL ($1)', '''{0.5,1.5}''', '''{NaN}''', '''{1e60,0.5}''', '''{NULL}''');
SELECT * FROM both_ways('int[]', 'price = ANY ($1)', '''{1,2}''', 'NULL', '''{NULL,1}''', '''{}''');
SELECT * FROM both_ways('numeric', 'price = $1', '0.25', '1.500', 'NULL', '''NaN''', '1e60', '''-Infinity''');
SELECT * FROM both_ways('numeric', 'amount > $1', '100', '1e59', '''NaN''', 'NULL', '1e-70');
SELECT * FROM both_ways('numeric, numeric', 'price BETWEEN $1 AND $2', '1, 2.5', 'NULL, 2', '1, ''NaN''');
SELECT * FROM both_ways('numeric, numeric', 'price IN ($1, $2, 7)', '1, 2.5', 'NULL, 2', '1, ''NaN''', '0.25, 1e60');
SELECT * FROM both_ways('numeric(6,1)', 'price * $1 < 20.5', '1.25', '''NaN''', 'NULL');
-- Another value at each rescan; an array of a sub-query.
SELECT * FROM engine.run_both('SELECT l, (SELECT count(*) FROM rows WHERE n = ANY (l) AND price <> ALL (p)) AS c FROM (VALUES (''{1,2}''::int[], ''{0.25}''::numeric[]), (''{}'', ''{}''), (NULL, ''{1}''), (''{4}'', ''{NaN}''), (''{5,NULL}'', NULL)) v (l, p)');
SELECT * FROM engine.run_both('SELECT count(*) FROM rows WHERE n = ANY (ARRAY(SELECT DISTINCT r.n FROM rows r WHERE r.id < 3))');
-- The operator is no comparison of the engine.
SELECT * FROM both_ways('text[]', 't ~ ANY ($1)', '''{1$,^u}''', '''{t1}''');
SELECT * FROM both_ways('text[]', 't !~ ALL ($1)', '''{1$,5$}''');
SET client_min_messages = warning;
DROP SCHEMA generic CASCADE;
