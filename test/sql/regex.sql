-- Regular expressions that LIKE can say; all others are PostgreSQL's.
LOAD 'pg_strom';
CREATE SCHEMA patterns;
SET search_path = patterns;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE words AS SELECT i AS id, (ARRAY['', 'a', 'A', 'ab', 'aXb', E'a\nb', 'file.pdf', 'filexpdf', '100%', 'a_b', 'a\b', 'straße', 'STRASSE', 'x$', '^x', 'ba', NULL])[1 + i % 17] AS w
  FROM generate_series(1, 3000) i;
VACUUM ANALYZE words;
EXPLAIN (COSTS OFF) SELECT count(*) FROM words WHERE w ~ '^a.*b$' AND w !~ 'x|_';
SELECT p, n, r.differences FROM (VALUES ('~'), ('!~'), ('~*'), ('!~*')) o (n), (VALUES (''), ('a'), ('^a'), ('b$'), ('^ab$'), ('^$'), ('a.*b'), ('a.+b'),
  ('a.b'), ('\.pdf$'), ('.pdf$'), ('100%'), ('a_b'), ('a\\b'), ('stra'), ('x|a$'), ('^x|^a'), ('x\$'), ('\^x'), ('.*'), ('$'), ('^')) v (p),
  LATERAL engine.run_both(format('SELECT id FROM words WHERE w %s %L', n, p)) r WHERE r.differences <> 0 OR r.nodes <> 'CpuScan';
-- Stays with PostgreSQL.
EXPLAIN (COSTS OFF) SELECT count(*) FROM words WHERE w ~ '[ab]+';
SELECT count(*) FROM words WHERE w ~ '(';
SET client_min_messages = warning;
DROP SCHEMA patterns CASCADE;
