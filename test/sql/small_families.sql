-- Operator families of int1 and float2: joins, sub-queries, sets, sorts, frames and indexes with each other number type.
-- Every answer is compared with that of smallint and real on the same values.
LOAD 'pg_strom';
CREATE SCHEMA small_families;
SET search_path = small_families;
SET pg_strom.enabled = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;  -- costs of what is disabled would ask for it
-- Each class by itself, and each family: what a class needs is complete, also across types.
SELECT m.amname, c.opcname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am m ON m.oid = c.opcmethod
  WHERE opcname IN ('int1_ops', 'float2_ops') ORDER BY 1, 2;
SELECT m.amname, f.opfname, count(DISTINCT o.amoplefttype) AS types, count(DISTINCT o.oid) AS operators, count(DISTINCT p.oid) AS functions
  FROM pg_opfamily f JOIN pg_am m ON m.oid = f.opfmethod JOIN pg_amop o ON o.amopfamily = f.oid JOIN pg_amproc p ON p.amprocfamily = f.oid
  WHERE opfname IN ('int1_ops', 'float2_ops') GROUP BY 1, 2 ORDER BY 1, 2;
-- As PostgreSQL's test opr_sanity asks: a commutator, and a family for each way to join.
SELECT o.oid::regoperator FROM pg_operator o WHERE (oprcanhash OR oprcanmerge) AND 'int1 float2' ~ (SELECT typname FROM pg_type WHERE oid = oprleft)
  AND (oprcom = 0 OR NOT EXISTS (SELECT FROM pg_amop JOIN pg_am a ON a.oid = amopmethod WHERE amopopr = o.oid AND a.amname = 'hash')
    OR NOT EXISTS (SELECT FROM pg_amop JOIN pg_am a ON a.oid = amopmethod WHERE amopopr = o.oid AND a.amname = 'btree' AND amopstrategy = 3));

CREATE TABLE t AS SELECT i AS id, v::int2 AS i2, v::int1 AS i1, h::float4 AS f4, h::float2 AS f2
  FROM generate_series(1, 150) i, LATERAL (SELECT CASE WHEN i % 11 > 0 THEN i * 37 % 256 - 128 END AS v,
    CASE WHEN i % 13 = 0 THEN NULL WHEN i % 17 = 0 THEN 'NaN' WHEN i % 19 = 0 THEN 'Infinity' WHEN i % 23 = 0 THEN '-0'
         ELSE ((i * 29 % 400 - 200) / 2.0)::text END AS h) q;
CREATE TABLE u AS SELECT i AS id, v::int2 AS i2, v::int1 AS i1, h::float4 AS f4, h::float2 AS f2, CASE WHEN i % 5 > 0 THEN v ELSE i * 100 END::int4 AS i4,
    CASE WHEN i % 5 > 0 THEN v ELSE i * 100000000000 END AS i8, CASE WHEN i % 5 = 0 THEN i * 1e30 WHEN i % 7 = 0 THEN v + 0.5 ELSE v END AS n,
    CASE WHEN i % 5 > 0 THEN h::float8 ELSE i * 1e100 END AS f8
  FROM generate_series(1, 150) i, LATERAL (SELECT (i * 53 % 256 - 128)::int8 AS v,
    CASE WHEN i % 17 = 0 THEN 'NaN' WHEN i % 19 = 0 THEN '-Infinity' ELSE ((i * 31 % 300 - 150) / 2.0)::text END AS h) q;
INSERT INTO u (id) VALUES (0);
ANALYZE t;
ANALYZE u;

CREATE TABLE forms (number serial, what text, statement text);
INSERT INTO forms (what, statement) VALUES
  ('IN', 'SELECT t.id FROM t WHERE t.# IN (SELECT u.% FROM u)'),
  ('IN, the other way', 'SELECT u.id FROM u WHERE u.% IN (SELECT t.# FROM t)'),
  ('IN, in the list', 'SELECT t.id, t.# IN (SELECT u.% FROM u), u.% IN (SELECT t.# FROM t) FROM t JOIN u USING (id)'),
  ('NOT IN', 'SELECT t.id FROM t WHERE t.# NOT IN (SELECT u.% FROM u WHERE u.% IS NOT NULL)'),
  ('NOT IN, the other way', 'SELECT u.id FROM u WHERE u.% NOT IN (SELECT t.# FROM t WHERE t.# IS NOT NULL)'),
  ('NOT IN with NULL', 'SELECT count(*) FROM t WHERE t.# NOT IN (SELECT u.% FROM u)'),
  ('two columns IN', 'SELECT t.id FROM t WHERE (t.#, t.id) IN (SELECT u.%, u.id FROM u)'),
  ('EXISTS', 'SELECT t.id FROM t WHERE EXISTS (SELECT FROM u WHERE u.% = t.#)'),
  ('EXISTS, the other way', 'SELECT u.id FROM u WHERE EXISTS (SELECT FROM t WHERE u.% = t.#)'),
  ('NOT EXISTS', 'SELECT t.id FROM t WHERE NOT EXISTS (SELECT FROM u WHERE t.# = u.%)'),
  ('EXISTS or not', 'SELECT t.id, EXISTS (SELECT FROM u WHERE t.# = u.%) OR t.id = 3 FROM t'),
  ('join', 'SELECT t.id, u.id FROM t JOIN u ON t.# = u.%'),
  ('left join', 'SELECT t.id, u.id FROM t LEFT JOIN u ON u.% = t.#'),
  ('full join', 'SELECT t.id, u.id FROM t FULL JOIN u ON t.# = u.%'),
  ('three tables', 'SELECT t.id, u.id, v.id FROM t JOIN u ON t.# = u.% JOIN t v ON v.# = u.% WHERE v.id < 40'),
  ('three tables, by equality', 'SELECT t.id, u.id, v.id FROM t JOIN u ON t.# = u.% JOIN u v ON v.i8 = t.id AND v.% = u.%'),
  ('less', 'SELECT t.id, u.id FROM t JOIN u ON t.# < u.% AND u.id < 20 AND u.% >= t.# WHERE t.id < 20'),
  ('ANY and ALL', 'SELECT t.id FROM t WHERE t.# > ANY (SELECT u.% FROM u) AND t.# <> ALL (SELECT u.% FROM u WHERE u.% IS NOT NULL)'),
  ('in each row', 'SELECT t.id, (SELECT max(u.%) FROM u WHERE u.% <= t.#)::float8 FROM t'),
  ('order of both', 'SELECT t.id, u.id, row_number() OVER (ORDER BY t.#, u.%, t.id, u.id) FROM t JOIN u ON t.# = u.%'),
  ('EXCEPT and INTERSECT', 'SELECT q::float8 FROM (SELECT # FROM t EXCEPT SELECT % FROM u) r (q) UNION ALL SELECT q::float8 FROM (SELECT # FROM t INTERSECT SELECT % FROM u) r (q)'),
  ('UNION', 'SELECT CASE q WHEN 0 THEN 0 ELSE q::float8 END FROM (SELECT # FROM t UNION SELECT % FROM u) r (q)'),
  ('DISTINCT', 'SELECT CASE # WHEN 0 THEN 0 ELSE #::float8 END FROM (SELECT DISTINCT # FROM t) r (#)'),
  ('merged groups', 'SELECT count(*), max(t.id) FROM t JOIN u ON t.# = u.% GROUP BY t.#'),
  ('recursion', 'WITH RECURSIVE r AS (SELECT # AS x, 1 AS depth FROM t WHERE id < 20 UNION SELECT u.#, depth + 1 FROM r JOIN u ON u.% = r.x WHERE depth < 3) SELECT x::float8 + 0, depth FROM r WHERE x <> 0');

-- Of each pair of a small column and another one, with the wide columns of the same values.
CREATE VIEW pairs AS SELECT small, wide, other, CASE other WHEN 'i1' THEN 'i2' WHEN 'f2' THEN 'f4' ELSE other END AS wide_other
  FROM (VALUES ('i1', 'i2'), ('f2', 'f4')) s (small, wide), unnest('{i1,i2,i4,i8,n,f2,f4,f8}'::text[]) AS other;
CREATE FUNCTION differences(form text, small text, other text, wide text, wide_other text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  result bigint;
BEGIN
  EXECUTE format('WITH a AS MATERIALIZED (SELECT q::text AS r FROM (%s) q), b AS MATERIALIZED (SELECT q::text AS r FROM (%s) q) '
    'SELECT (SELECT count(*) FROM (TABLE a EXCEPT ALL TABLE b) d) + (SELECT count(*) FROM (TABLE b EXCEPT ALL TABLE a) d)',
    replace(replace(form, '#', small), '%', other), replace(replace(form, '#', wide), '%', wide_other)) INTO result;
  RETURN result;
EXCEPTION WHEN datatype_mismatch OR cannot_coerce THEN RETURN NULL;  -- float2 and whole numbers have no common type
END $$;
CREATE FUNCTION node(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line ~ 'Join|Nested' THEN RETURN regexp_replace(line, '^[ ->]*', ''); END IF;
  END LOOP;
END $$;
CREATE VIEW comparison AS
  SELECT what, sum(d) AS differences, string_agg(small || other, ' ' ORDER BY small, other) FILTER (WHERE d IS NULL) AS none FROM
    (SELECT f.*, p.*, differences(statement, small, other, wide, wide_other) AS d FROM forms f, pairs p) q GROUP BY what, number ORDER BY number;
CREATE VIEW joins AS SELECT node(format('SELECT * FROM t JOIN u ON t.%s = u.%s', small, other)), string_agg(small || other, ' ' ORDER BY small, other) AS pairs
  FROM pairs GROUP BY 1;

SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT * FROM joins;
SELECT * FROM comparison;
RESET enable_mergejoin;
SET enable_hashjoin = off;
SET enable_hashagg = off;
SELECT * FROM joins;
SELECT * FROM comparison WHERE differences <> 0;
RESET enable_hashagg;
RESET enable_nestloop;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SET enable_material = off;
CREATE INDEX t_i1 ON t (i1);
CREATE INDEX t_f2 ON t (f2);
SELECT * FROM joins;
SELECT * FROM comparison WHERE differences <> 0;
DROP INDEX t_i1, t_f2;
CREATE INDEX t_i1 ON t USING hash (i1);
CREATE INDEX t_f2 ON t USING hash (f2);
SELECT * FROM comparison WHERE differences <> 0;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_seqscan;
RESET enable_material;
-- By default, and in the engine.
SELECT * FROM comparison WHERE differences <> 0;
SET pg_strom.enabled = on;
SELECT * FROM comparison WHERE differences <> 0;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.cpu_operator_cost = 0;
SELECT * FROM comparison WHERE differences <> 0;
SET pg_strom.enabled = off;
-- The planner still sees that operators of the wide types belong together.
CREATE TABLE w AS SELECT i::int2 AS a, i AS b, i::int8 AS c FROM generate_series(1, 100) i;
ANALYZE w;
SET enable_hashjoin = off;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT FROM w x JOIN w y ON x.a = y.b JOIN w z ON z.c = y.b AND z.c = 5 ORDER BY x.a;
EXPLAIN (COSTS OFF) SELECT FROM w x JOIN w y ON x.a = y.b JOIN w z ON z.c = y.b ORDER BY z.c;
RESET enable_hashjoin;
RESET enable_nestloop;
-- Conditions of indexes with values of each type, also in ranges and in both directions.
CREATE TABLE large AS SELECT (i % 256 - 128)::int1 AS a, (i % 256 - 128)::float2 AS h FROM generate_series(1, 20000) i;
CREATE INDEX ON large (a);
CREATE INDEX ON large (h);
ANALYZE large;
CREATE FUNCTION condition(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line ~ 'Cond|Filter' THEN RETURN line; END IF;
  END LOOP;
END $$;
SELECT type, trim(condition(format('SELECT FROM large WHERE a = %s::%s', 5, type))) AS whole, trim(condition(format('SELECT FROM large WHERE %s::%s > h', -126, type))) AS half
  FROM unnest('{int1,int2,int4,int8,numeric,float2,float4,float8}'::text[]) type;
SELECT a, count(*) FROM large WHERE a BETWEEN -2 AND 0::int8 GROUP BY 1 ORDER BY 1 DESC;
SELECT max(h), min(a) FROM large WHERE h < 5.5::float8 AND a IN (3, 4, 100000);
-- Frames of ranges.
SELECT id, i1, count(*) OVER (ORDER BY i1 RANGE BETWEEN 3 PRECEDING AND 100::int8 FOLLOWING) AS whole,
       sum(id) OVER (ORDER BY f2 DESC RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW) AS half FROM t WHERE id % 10 = 1 ORDER BY id;
SELECT count(*) FILTER (WHERE a <> b) AS differences FROM (
  SELECT sum(id) OVER (ORDER BY i1 RANGE BETWEEN 7::int2 PRECEDING AND 2 FOLLOWING) + count(*) OVER (ORDER BY f2 RANGE 3 PRECEDING) AS a,
         sum(id) OVER (ORDER BY i2 RANGE BETWEEN 7::int2 PRECEDING AND 2 FOLLOWING) + count(*) OVER (ORDER BY f4 RANGE 3 PRECEDING) AS b FROM t) q;
SELECT count(*) OVER (ORDER BY i1 RANGE -1 PRECEDING) FROM t;
-- Texts are rounded once, also by way of numeric.
SELECT '2049.0000001'::float2 AS a, '2049'::float2 AS b, '2049.00000000000000000000000001'::numeric::float2 AS c, '2.99e-8'::float2 AS d,
       ' -65519.99999999999999999999 '::float2 AS e, 'nan'::float2 AS f, '-inf'::float2 AS g, '-0'::float2 AS h;
SELECT '65520'::float2;
SELECT '-2.98e-8'::float2;
SELECT '1e-400'::float2;
SELECT ' '::float2;
SELECT '1.5 x'::float2;
SELECT 65520::numeric::float2;
SET client_min_messages = warning;
DROP SCHEMA small_families CASCADE;
