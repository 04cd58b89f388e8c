-- Regular expressions that LIKE can say, those that are the same to a library, and those that stay with PostgreSQL.
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
-- Whether a part of the query is left to PostgreSQL.
CREATE FUNCTION stays(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    IF line LIKE '%Not Offloaded%' THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;
EXPLAIN (COSTS OFF) SELECT count(*) FROM words WHERE w ~ '^a.*b$' AND w !~ 'x|_';
SELECT p, n, r.differences FROM (VALUES ('~'), ('!~'), ('~*'), ('!~*')) o (n), (VALUES (''), ('a'), ('^a'), ('b$'), ('^ab$'), ('^$'), ('a.*b'), ('a.+b'),
  ('a.b'), ('\.pdf$'), ('.pdf$'), ('100%'), ('a_b'), ('a\\b'), ('stra'), ('x|a$'), ('^x|^a'), ('x\$'), ('\^x'), ('.*'), ('$'), ('^')) v (p),
  LATERAL engine.run_both(format('SELECT id FROM words WHERE w %s %L', n, p)) r WHERE r.differences <> 0 OR stays(format('SELECT id FROM words WHERE w %s %L', n, p));
EXPLAIN (COSTS OFF) SELECT count(*) FROM words WHERE w ~ '^[a-f]+(\.|_)\w{1,3}$' AND w !~* 'X[YZ]';
SELECT p, n, r.differences FROM (VALUES ('~'), ('!~'), ('~*'), ('!~*')) o (n), (VALUES ('[ab]+'), ('^[^a]'), ('a{2}'), ('^.{3}$'), ('(a|b)[a-z]'), ('a?b'),
  ('^(?:ab|ba)$'), ('\d'), ('\D'), ('\s'), ('\w+_'), ('^\W'), ('[[:alnum:]]{2,}'), ('[[:alpha:]]\.'), ('[]a]'), ('[a-]x'), ('[\d%]'), ('a\nb'), ('a.b'), ('a[^x]b'), ('\yab\y'),
  ('e$|f\Z'), ('s{2,2}|x+'), ('[A-Z]{3,7}'), ('(a(b)*)+'), ('\Aa')) v (p),
  LATERAL engine.run_both(format('SELECT id FROM words WHERE w %s %L', n, p)) r WHERE r.differences <> 0 OR stays(format('SELECT id FROM words WHERE w %s %L', n, p));
SELECT r.* FROM engine.run_both($$SELECT id, w ~ 'stra[ßs]' AS s FROM words WHERE w ~ '^[^x-z]+[ß-ü]' OR w SIMILAR TO '(a|f)%\_?(b|f)' OR regexp_like(w, '[[:upper:]]')$$) r;
-- Stays with PostgreSQL.
SELECT p, stays(format('SELECT id FROM words WHERE w ~ %L', p)) FROM (VALUES ('(a)\1'), ('a+?'), ('(?=a)b'), ('(?i)A'), ('***=a'), ('\mab'), ('[[.a.]]'), ('[[=a=]]'),
  ('\x61'), ('()'), ('a|'), ('[[:punct:]]'), ('(x{200}){6}'), ('\u0061')) v (p);
SELECT count(*) FROM words WHERE w ~ '(';
SET client_min_messages = warning;
DROP SCHEMA patterns CASCADE;
