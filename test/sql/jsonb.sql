-- jsonb in the engine: paths, casts, existence, containment; what stays with PostgreSQL.
LOAD 'pg_strom';
CREATE SCHEMA documents;
SET search_path = documents;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE events (id int, j jsonb);
INSERT INTO events SELECT i, jsonb_build_object('kind', 'k' || i % 7, 'n', i, 'price', (i % 100)::numeric / 4, 'flag', i % 2 = 0,
  'tags', jsonb_build_array('t' || i % 3, i % 5), 'at', jsonb_build_object('city', 'c' || i % 11, 'zip', NULL)) FROM generate_series(1, 5000) i;
INSERT INTO events SELECT 5000 + i, j || jsonb_build_object('pad', repeat('pad', 2000), 'pad' || i, i) FROM events, generate_series(1, 2) i WHERE id < 50;
INSERT INTO events VALUES (-1, NULL), (-2, 'null'), (-3, '[]'), (-4, '{}'), (-5, '"text"'), (-6, '12.50'), (-7, '[1, "a", {"kind": "k1"}]'),
  (-8, '{"kind": null, "n": "12", "price": "x", "flag": "true", "at": []}'), (-9, '{"kind": {"a": 1}, "n": 1e300}');
VACUUM ANALYZE events;

EXPLAIN (COSTS OFF) SELECT j ->> 'kind', count(*), sum((j ->> 'price')::numeric) FROM events WHERE j -> 'at' ->> 'city' = 'c3' AND id > 0 GROUP BY 1;
SELECT * FROM engine.run_both('SELECT j ->> ''kind'', count(*), sum((j ->> ''price'')::numeric) FROM events WHERE j -> ''at'' ->> ''city'' = ''c3'' AND id > 0 GROUP BY 1');
SELECT * FROM engine.run_both('SELECT id, j ->> ''kind'' AS k, j -> ''n'' AS n, j -> ''tags'' -> 0, j -> ''tags'' ->> -1, j -> ''at'', j #> ''{at,city}'', j #>> ''{at,zip}'' FROM events');
SELECT * FROM engine.run_both('SELECT sum((j -> ''n'')::int), avg((j -> ''price'')::numeric), count(*) FILTER (WHERE (j -> ''flag'')::bool) FROM events WHERE id BETWEEN 1 AND 5000');
SELECT * FROM engine.run_both('SELECT jsonb_typeof(j) AS t, jsonb_typeof(j -> ''kind'') AS k, count(*) FROM events GROUP BY 1, 2');
SELECT * FROM engine.run_both('SELECT id FROM events WHERE j ? ''pad1'' OR j ?| ''{pad2,nothing}'' OR j ? ''text''');
SELECT * FROM engine.run_both('SELECT count(*) FROM events WHERE j ?& ''{kind,n}'' AND NOT j ? ''pad''');
SELECT * FROM engine.run_both('SELECT id FROM events WHERE j @> ''{"kind": "k1", "flag": true}'' AND id < 100');
SELECT * FROM engine.run_both('SELECT id FROM events WHERE j -> ''tags'' @> ''["t1"]'' AND j -> ''price'' = ''2.5''');
SELECT * FROM engine.run_both('SELECT j -> ''at'' AS a, count(*) FROM events GROUP BY 1');
SELECT * FROM engine.run_both('SELECT jsonb_array_length(j -> ''tags'') AS n, count(*) FROM events WHERE id > 0 GROUP BY 1');
-- Errors are PostgreSQL's.
SELECT sum((j ->> 'price')::numeric) FROM events WHERE id = -8;
SELECT (j -> 'kind')::int FROM events WHERE id = 1;
SELECT jsonb_array_length(j) FROM events WHERE id = -4;
-- Stays with PostgreSQL.
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE j #>> '{tags,+0}' = 't1';
EXPLAIN (COSTS OFF) SELECT count(*) FROM events WHERE j @? '$.n';
SET client_min_messages = warning;
DROP SCHEMA documents CASCADE;
