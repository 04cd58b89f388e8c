-- Arrays in the engine: elements, comparison with any or all of them, containment in literals, dimensions; what stays with PostgreSQL.
LOAD 'pg_strom';
CREATE SCHEMA lists;
SET search_path = lists;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TYPE mood AS ENUM ('red', 'green');
CREATE DOMAIN marks AS int[];
CREATE TABLE entries (id int, n int, big int8, t text, tags text[], numbers int[], bigs int8[], prices numeric[], days date[], floats float8[],
  flags bool[], moods mood[], marks marks, words varchar(10)[], letters char(3)[], ids uuid[]);
INSERT INTO entries SELECT i, i % 7, i % 5, 't' || i % 9, ARRAY['t' || i % 3, NULL, 't' || i % 11], ARRAY[i % 7, i % 3, 5], ARRAY[i % 3, 4],
  ARRAY[i % 4 * 0.25, 1.50], ARRAY[date '2024-01-01' + i % 40], ARRAY[i % 3, 'NaN'::float8], ARRAY[i % 2 = 0], ARRAY['red', 'green']::mood[],
  ARRAY[i % 4], ARRAY['w' || i % 5], ARRAY['a', 'b' || i % 3], ARRAY[md5((i % 5)::text)::uuid] FROM generate_series(1, 4000) i;
INSERT INTO entries (id, n, t, tags, numbers, prices) VALUES (-1, 1, 'a', NULL, NULL, NULL), (-2, NULL, NULL, '{}', '{}', '{}'), (-3, 2, 'a', '{a,b}', '[0:1]={2,3}', '{NaN,1e200}'),
  (-4, 2, 'b', '{{a,b},{c,d}}', '{{1,2},{3,NULL}}', '{NULL}'), (-5, NULL, NULL, '{NULL}', '{NULL,1}', '{0.00}'),
  (-6, 3, 'long', ARRAY[repeat('long', 3000), 'long'], ARRAY(SELECT generate_series(1, 3000)), '{}');
VACUUM ANALYZE entries;
-- Whether a part of the query is left to PostgreSQL.
CREATE FUNCTION stays(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    IF line LIKE '%Not Offloaded%' THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

EXPLAIN (COSTS OFF) SELECT tags[1], count(*) FROM entries WHERE n = ANY (numbers) AND tags @> '{t1}' GROUP BY 1;
SELECT * FROM engine.run_both('SELECT tags[1] AS t, count(*) FROM entries WHERE n = ANY (numbers) AND tags @> ''{t1}'' AND cardinality(bigs) = 2 GROUP BY 1');
SELECT q AS test, r.row_count AS rows, r.differences, r.nodes FROM (VALUES ('n = ANY (numbers)'), ('n <> ALL (numbers)'), ('n < ALL (numbers)'), ('n >= ANY (numbers)'), ('big = ANY (numbers)'), ('n = ANY (bigs)'),
  ('t = ANY (tags)'), ('t <> ALL (tags)'), ('t = ANY (words)'), ('''a'' = ANY (letters)'), ('1.5 = ANY (prices)'), ('n = ANY (prices)'), ('n::float8 = ANY (floats)'),
  ('date ''2024-01-05'' = ANY (days)'), ('true = ANY (flags)'), ('''red'' = ANY (moods)'), ('n = ANY (marks)'), ('md5(''1'')::uuid = ANY (ids)'),
  ('tags @> ''{}'''), ('tags @> ''{t1,t2}'''), ('tags @> ''{NULL}'''), ('tags && ''{t1,NULL}'''), ('''{t4}'' <@ tags'), ('numbers && ARRAY[1, n]'),
  ('array_length(numbers, 1) > 2'), ('array_length(numbers, 2) IS NOT NULL'), ('array_ndims(tags) IS NULL'), ('array_lower(numbers, 1) = 0'),
  ('array_upper(numbers, 1) < 3'), ('cardinality(tags) = 4'), ('numbers[n] = 5'), ('tags[2] IS NULL'), ('numbers[0] = 2'), ('prices[1] < 0.5'), ('days[1] > ''2024-01-09'''),
  ('moods[2] = ''green'''), ('marks[1] = 2'), ('letters[2] = ''b1'''), ('NOT flags[1]'), ('ids[1] IS NOT NULL'), ('n = ANY (COALESCE(numbers, ''{}''))'))
  v (q), LATERAL engine.run_both('SELECT id FROM entries WHERE ' || q) r WHERE r.differences <> 0 OR stays('SELECT id FROM entries WHERE ' || q);
SELECT * FROM engine.run_both('SELECT id, tags, numbers, prices, words, numbers[1] AS a, tags[3] AS b, prices[2] AS c FROM entries WHERE id < 500');
SELECT * FROM engine.run_both('SELECT numbers, count(*) FROM entries GROUP BY 1');
SELECT * FROM engine.run_both('SELECT count(DISTINCT numbers), sum(numbers[1]), max(prices[1]), min(days[1]) FROM entries');
-- Stays with PostgreSQL.
EXPLAIN (COSTS OFF) SELECT count(*) FROM entries WHERE numbers[1:2] = '{1,2}';
EXPLAIN (COSTS OFF) SELECT count(*) FROM entries WHERE t LIKE ANY (tags);
EXPLAIN (COSTS OFF) SELECT count(*) FROM entries WHERE t < ANY (tags COLLATE "en-x-icu");
SET client_min_messages = warning;
DROP SCHEMA lists CASCADE;
