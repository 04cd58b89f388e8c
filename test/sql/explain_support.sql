-- What EXPLAIN (VERBOSE) and pgstrom.explain_support() tell of what does not run in the engine.
CREATE SCHEMA explain_support;
SET search_path = explain_support;
SET max_parallel_workers_per_gather = 0;
SELECT current_setting('data_directory') || '/strom_support.arrow' AS file \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -f strom_support.arrow';
CREATE TABLE fact AS SELECT i AS id, i % 100 AS k, (i % 1000)::numeric(8,2) AS v, 'text ' || i AS t, point(i, i) AS p FROM generate_series(1, 100000) i;
CREATE TABLE dim AS SELECT i AS k, 'name ' || i AS name FROM generate_series(0, 99) i;
CREATE TABLE tiny AS SELECT 1 AS a;
CREATE TABLE parts (k int, t text) PARTITION BY LIST (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts SELECT 1 + i % 2, 'x' FROM generate_series(1, 100) i;
SELECT pgstrom.arrow_export('SELECT id, k, t FROM explain_support.fact WHERE id <= 1000', :'file');
IMPORT FOREIGN SCHEMA files FROM SERVER arrow_fdw INTO explain_support OPTIONS (file :'file');
CREATE FUNCTION own(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
VACUUM ANALYZE fact, dim, tiny, parts;
-- Only the lines in question; nothing of what runs in the engine.
CREATE FUNCTION lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line ~ 'Not Offloaded|Scan|Join|Loop|Aggregate' AND line !~ 'OpCode|Quals|Projection' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SELECT lines('SELECT k, sum(v) FROM fact GROUP BY k');
-- Scans.
SELECT lines('SELECT * FROM tiny');
SELECT lines('SELECT id FROM fact WHERE p <@ box ''(1,1),(2,2)'' AND k = 3');
SELECT lines('SELECT xmin, k FROM fact WHERE id = 7');
SELECT lines('SELECT k FROM fact WHERE ctid = ''(0,7)''');
SELECT lines('SELECT f FROM fact f WHERE id = 7');
SELECT lines('UPDATE fact SET k = 2 WHERE id = 3');
SELECT lines('SELECT k FROM fact WHERE id = 3 FOR UPDATE');
SELECT lines('SELECT id FROM fact WHERE own(t)');
SELECT lines('SELECT pg_column_size(t) FROM fact');
SELECT lines('SELECT relname FROM pg_class WHERE oid = 1');
-- Arrow tables, partitions, sub-queries.
SET pg_strom.cpu_setup_cost = 1e9;
SELECT lines('SELECT count(*) FROM files WHERE own(t) AND k > 3');
SELECT lines('SELECT count(*) FROM parts WHERE t = ''x''');
SELECT lines('SELECT a FROM tiny WHERE a > (SELECT min(k) FROM fact WHERE own(t))');
RESET pg_strom.cpu_setup_cost;
-- Joins and aggregates.
SELECT lines('SELECT * FROM tiny JOIN dim ON a = k');
SELECT lines('SELECT f.id FROM fact f JOIN dim d ON f.k = d.k AND own(f.t || d.name)');
SELECT lines('SELECT k, string_agg(t, '','') FROM fact GROUP BY k');
SELECT lines('SELECT own(t), count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM fact GROUP BY 1');
SET pg_strom.enable_gpuscan = off;
SET pg_strom.enable_gpupreagg = off;
SELECT lines('SELECT count(*) FROM fact');
SET pg_strom.enable_gpujoin = off;
SELECT lines('SELECT name FROM fact JOIN dim USING (k)');
RESET ALL;
SET search_path = explain_support;
SET max_parallel_workers_per_gather = 0;
SET pg_strom.enable_numeric_aggfuncs = off;
SELECT lines('SELECT count(v), avg(v) FROM fact');
SET pg_strom.enabled = off;
SELECT lines('SELECT count(v) FROM fact');
RESET pg_strom.enabled;
RESET pg_strom.enable_numeric_aggfuncs;
SET pg_strom.enable_partitionwise_gpupreagg = off;
SET pg_strom.cpu_setup_cost = 0;
SELECT lines('SELECT count(*), max(t) FROM parts');
SET pg_strom.enable_partitionwise_gpujoin = off;
SELECT lines('SELECT name FROM parts JOIN dim USING (k)');
RESET pg_strom.enable_partitionwise_gpujoin;
RESET pg_strom.enable_partitionwise_gpupreagg;
SELECT lines('SELECT count(*), max(t) FROM parts');
SET pg_strom.enable_gpusort = off;
SELECT lines('SELECT id, k FROM fact WHERE k > 5 ORDER BY id');
RESET pg_strom.enable_gpusort;
-- The costs of plans depend on the machine; which of two is higher does not.
CREATE FUNCTION support(query text) RETURNS TABLE (part text, expression text, runs text, reason text) LANGUAGE plpgsql AS $$
DECLARE costs text[];
BEGIN
  FOR part, expression, runs, reason IN SELECT * FROM pgstrom.explain_support(query) LOOP
    costs := regexp_match(reason, 'PostgreSQL: (\d+\.\d\d), in the engine: (\d+\.\d\d)');
    IF costs IS NOT NULL THEN
      reason := replace(replace(reason, costs[1], 'P'), costs[2],
                        CASE WHEN costs[2]::numeric > costs[1]::numeric AND costs[1]::numeric > 0 THEN 'more' ELSE 'less' END);
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
-- An order of text that only PostgreSQL knows.
SELECT lines('SELECT id FROM fact ORDER BY t COLLATE "en-x-icu", id LIMIT 3');
SELECT lines('SELECT id FROM fact JOIN dim USING (k) WHERE v > 5 ORDER BY name COLLATE "en-x-icu"');
SELECT lines('SELECT id FROM fact WHERE t < ''b'' COLLATE "en-x-icu"');
SELECT lines('SELECT max(t COLLATE "en-x-icu") FROM fact');
SELECT part, expression, runs, reason FROM support('SELECT id FROM fact ORDER BY t COLLATE "en-x-icu" LIMIT 3') WHERE part IN ('sort key', 'plan');
RESET pg_strom.cpu_setup_cost;
-- Other formats: an element behind the query's. Without VERBOSE nothing.
EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT * FROM tiny;
EXPLAIN (VERBOSE, COSTS OFF, FORMAT YAML) SELECT * FROM tiny;
EXPLAIN (COSTS OFF) SELECT * FROM tiny;
-- Each expression of a query.
SELECT * FROM pgstrom.explain_support($$SELECT b.k + 1, name, sum(v * 2), avg(DISTINCT v), string_agg(t, ',' ORDER BY t) FROM fact b JOIN dim d USING (k)
  WHERE t LIKE '%x%' AND b.k < $1 AND own(t) GROUP BY 1, 2 HAVING sum(v) > 3 ORDER BY 2$$)
  ORDER BY part, expression;
SELECT part, runs, reason, count(*) FROM pgstrom.explain_support('SELECT id, k * 2, row_number() OVER (ORDER BY id) FROM fact WHERE id IN (SELECT a FROM tiny) AND k NOT IN (SELECT k FROM dim WHERE k > 4)')
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT * FROM pgstrom.explain_support('CREATE TABLE x AS SELECT id, p FROM fact ORDER BY id, p <-> point ''(0,0)''');
SELECT * FROM pgstrom.explain_support('EXPLAIN SELECT count(*) FROM pg_class');
SELECT * FROM pgstrom.explain_support('DELETE FROM fact WHERE id % 2 = 0; SELECT 1');
SELECT * FROM support('SELECT k FROM parts WHERE t > ''a'' LIMIT 1');
-- Both costs, whatever the user has switched off; nothing stays switched off.
CREATE INDEX ON fact (id);
SELECT * FROM support('SELECT t FROM fact WHERE id = 7');
SET enable_seqscan = off;
SELECT * FROM support('SELECT count(t) FROM fact WHERE id = 7');
RESET enable_seqscan;
SELECT * FROM support('SELECT t, name FROM fact JOIN dim USING (k) WHERE id = 7') WHERE part = 'plan';
SELECT * FROM support('SELECT count(*) FROM files WHERE id = 7') WHERE part = 'plan';
SELECT count(*) FROM pg_settings WHERE name ~ '^enable_(seqscan|.*index.*|bitmapscan|tidscan|nestloop|mergejoin|hashjoin)$|^arrow_fdw.enabled$' AND setting = 'off';
SET pg_strom.enable_gpuscan = off;
SELECT * FROM support('SELECT t FROM fact WHERE id > 7');
RESET pg_strom.enable_gpuscan;
-- PostgreSQL looks for a minimum by an index, and plans EXISTS twice: no row is repeated for that.
SELECT * FROM support('SELECT min(id), max(id) FROM fact WHERE k > 3');
SELECT * FROM support('SELECT max(id) FROM fact WHERE k > (SELECT min(k) FROM dim)');
SELECT * FROM support('SELECT k FROM dim WHERE k = 3 OR EXISTS (SELECT FROM fact WHERE id = dim.k AND v > 5)') WHERE expression !~ 'SubPlan';
SELECT count(*) FROM fact;
SELECT to_regclass('x') IS NULL AS nothing_ran;
SELECT * FROM pgstrom.explain_support('VACUUM');
SELECT * FROM pgstrom.explain_support('SELECT');
SELECT * FROM pgstrom.explain_support('SELEC 1');
SELECT * FROM pgstrom.explain_support('SELECT nothing FROM fact');
SET pg_strom.enabled = off;
SELECT * FROM pgstrom.explain_support('SELECT * FROM fact');
RESET pg_strom.enabled;
-- Only who may run the query learns of it.
CREATE ROLE strom_curious;
GRANT USAGE ON SCHEMA explain_support TO strom_curious;
SET ROLE strom_curious;
SELECT * FROM pgstrom.explain_support('SELECT * FROM fact');
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA explain_support CASCADE;
DROP ROLE strom_curious;
:shell 'rm -f strom_support.arrow';
