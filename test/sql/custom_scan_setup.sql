-- Tables that the tests of the engine's nodes share, and a comparison of the engine with plain PostgreSQL.
\getenv source_dir PG_ABS_SRCDIR
\set facts :source_dir '/data/queries/facts.arrow'
\set dimension :source_dir '/data/queries/dimension.arrow'
\set duplicates :source_dir '/data/queries/duplicates.arrow'
\set edges :source_dir '/data/queries/edges.arrow'
\set no_batches :source_dir '/data/no_batches.arrow'
CREATE SCHEMA engine;
SET search_path = engine;
CREATE FOREIGN TABLE facts (id int, k int, k8 bigint, i2 smallint, i4 int, i8 bigint, f4 real, f8 float8,
  n numeric(15,2), d date, ts timestamp, t text, c char(4), b bool) SERVER arrow_fdw OPTIONS (file :'facts');
CREATE FOREIGN TABLE dimension (k int, name text, region text, weight numeric(6,3), opened date)
  SERVER arrow_fdw OPTIONS (file :'dimension');
CREATE FOREIGN TABLE duplicates (k bigint, v int) SERVER arrow_fdw OPTIONS (file :'duplicates');
CREATE FOREIGN TABLE edges (id int, x int, y int, z bigint, n numeric(38,0)) SERVER arrow_fdw OPTIONS (file :'edges');
CREATE FOREIGN TABLE nothing (k int, v text) SERVER arrow_fdw OPTIONS (file :'no_batches');
CREATE TABLE heap_dimension AS SELECT * FROM dimension;
CREATE TABLE heap_odd (k numeric(10,2), name text, opened date, v int, c char(6), at timestamp);
INSERT INTO heap_odd VALUES
  (1, 'one', 'infinity', 1, 'ab', '-infinity'), (2, 'two', '-infinity', 2, 'abc', 'infinity'),
  ('NaN', 'nan', '2000-01-01', 3, 'a', '2000-01-01'), (NULL, 'null', NULL, 4, NULL, NULL),
  (2, 'two again', '1999-01-01', 5, 'abcd', '1970-01-01'), (3.5, 'x', '0001-01-01 BC', 6, 'zz', '0001-01-01 BC');
ANALYZE heap_dimension;
ANALYZE heap_odd;
-- The engine's nodes in the plan of a query.
CREATE FUNCTION nodes_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN (SELECT string_agg(m[1], ' ') FROM regexp_matches(plan::text, '"Custom Plan Provider": "([A-Za-z]+)"', 'g') m);
END $$;
-- Runs a query with the engine and without, and counts rows that only one of them has.
CREATE FUNCTION run_both(query text, OUT nodes text, OUT row_count bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
BEGIN
  nodes := engine.nodes_of(query);
  EXECUTE 'CREATE TEMP TABLE with_engine AS SELECT x::text AS r FROM (' || query || ') x';
  PERFORM set_config('pg_strom.enabled', 'off', true);
  EXECUTE 'CREATE TEMP TABLE without AS SELECT x::text AS r FROM (' || query || ') x';
  PERFORM set_config('pg_strom.enabled', 'on', true);
  SELECT count(*) INTO row_count FROM without;
  SELECT count(*) INTO differences FROM (
    (SELECT r FROM with_engine EXCEPT ALL SELECT r FROM without) UNION ALL
    (SELECT r FROM without EXCEPT ALL SELECT r FROM with_engine)) d;
  DROP TABLE with_engine, without;
END $$;
