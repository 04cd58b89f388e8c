-- Record batches that statistics rule out: the same rows come, fewer batches are read.
\getenv source_dir PG_ABS_SRCDIR
\set plain :source_dir '/data/pruning/plain.arrow'
\set fields :source_dir '/data/pruning/fields.arrow'
\set batches :source_dir '/data/pruning/batches.arrow'
\set odd :source_dir '/data/pruning/odd.arrow'
\set both :fields ',' :batches
CREATE SCHEMA arrow_pruning;
SET search_path = arrow_pruning;
SET timezone = 'UTC';
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
IMPORT FOREIGN SCHEMA plain FROM SERVER arrow_fdw INTO arrow_pruning OPTIONS (file :'plain');
IMPORT FOREIGN SCHEMA fields FROM SERVER arrow_fdw INTO arrow_pruning OPTIONS (file :'fields');
IMPORT FOREIGN SCHEMA batches FROM SERVER arrow_fdw INTO arrow_pruning OPTIONS (file :'batches');
IMPORT FOREIGN SCHEMA odd FROM SERVER arrow_fdw INTO arrow_pruning OPTIONS (file :'odd');

-- The foreign scan by itself.
SET pg_strom.enabled = off;
EXPLAIN (COSTS OFF) SELECT id FROM fields WHERE id BETWEEN 250 AND 320;
CREATE FUNCTION hint(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line LIKE '%Stats-Hint%' THEN RETURN NEXT ltrim(line); END IF;
  END LOOP;
END $$;
SELECT hint('SELECT id FROM fields WHERE id BETWEEN 250 AND 320');
SELECT hint('SELECT id FROM batches WHERE id BETWEEN 250 AND 320');
SELECT hint('SELECT id FROM plain WHERE id BETWEEN 250 AND 320');
SET arrow_fdw.stats_hint_enabled = off;
SELECT hint('SELECT id FROM fields WHERE id BETWEEN 250 AND 320');
RESET arrow_fdw.stats_hint_enabled;
-- Row counts: planned with constants, parameters and stable functions.
CREATE FUNCTION planned(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan->0->'Plan'->>'Total Cost';
END $$;
SELECT planned('SELECT id FROM fields WHERE id < 100') < planned('SELECT id FROM plain WHERE id < 100') AS cheaper,
       planned('SELECT id FROM fields WHERE ts < ''2020-01-02''::timestamptz') < planned('SELECT id FROM plain WHERE ts < ''2020-01-02''::timestamptz') AS cheaper_by_stable;

CREATE TABLE conditions (n serial, condition text);
INSERT INTO conditions (condition) VALUES
  ('id < 100'), ('id <= 100'), ('id = 555'), ('id >= 900'), ('id > 999'), ('100 > id'), ('555 = id'), ('id <> 5'),
  ('same = 3'), ('same <> 3'), ('same IN (1, 8)'), ('same NOT IN (1, 8)'), ('same = ANY (ARRAY[2, NULL])'),
  ('same <> ALL (ARRAY[2, NULL])'), ('same < ANY (ARRAY[2, 4])'), ('same < ALL (ARRAY[2, 4])'),
  ('id = ANY (''{}''::int[])'), ('id <> ALL (''{}''::int[])'), ('id < NULL'), ('id IN (5, 995, 2000)'),
  ('id < 50 OR id > 950'), ('id < 50 OR b'), ('(id < 50 AND b) OR (id > 950 AND t = ''apple'')'), ('NOT (id > 50)'),
  ('NOT (id > 50 AND id < 950)'), ('NOT (id < 950 OR same = 9)'),
  ('i1 = 0'), ('i1 > 50'), ('i2 < -400'), ('i2 = -400::int8'), ('i4 > 3000::int2'), ('i8 < -490000000000000000'),
  ('u4 > 3900000000'), ('u4 < 0'),
  ('f4 > 160'), ('f4 = ''NaN'''), ('f4 < -160'), ('f4 >= 160 AND f4 <= 170'), ('f4 <> 3'), ('f4 > 1e30'),
  ('f8 > 160'), ('f8 = ''NaN'''), ('f8 < -160'), ('f8 BETWEEN 160 AND 170'), ('f8 < ''NaN'''), ('f8 <= ''NaN'''), ('f8 IN (0, 1)'),
  ('f8 IN (0, ''NaN'')'), ('f8 > 1e300'), ('f8 > 150 AND id < 50'), ('f8 = 0.1::float4'),
  ('n < -40'), ('n > 70.005'), ('n = 0.04'), ('n IN (0.04, ''NaN'')'), ('n < ''Infinity'''),
  ('d < ''2020-02-01'''), ('d = ''2020-02-01'''), ('d > ''2020-11-20''::timestamp'), ('d8 < ''2020-02-01'''),
  ('d > ''2020-11-20 12:00+02''::timestamptz'), ('ts < ''2020-01-03'''), ('ts > ''2020-02-09''::date'),
  ('tz < ''2020-01-02'''), ('tz >= ''2020-01-08 10:00+01'''), ('ts = ''infinity'''), ('d = ''-infinity'''),
  ('t = ''apple'''), ('t < ''b'' COLLATE "C"'), ('t > ''date'' COLLATE "C"'), ('t LIKE ''ch%'''), ('t LIKE ''%e%'''),
  ('t LIKE ''citron, c%'''), ('t LIKE ''größ%'''), ('t LIKE ''日本%'''), ('t LIKE ''a word that is longer than the thirty-one bytes that are k%'''),
  ('t LIKE ''a\_%'''), ('t LIKE '''''), ('t NOT LIKE ''a%'''), ('t IN (''apple'', ''zoo'')'), ('t <> ''apple'''), ('t = ''日本語の長い言葉です、とても長い'''),
  ('t >= ''citron'' COLLATE "C" AND t <= ''date'' COLLATE "C"'), ('t = ''citron, candied'''), ('lt = ''apple'''), ('lt = ''fig'''),
  ('lt > ''citron, candied'' COLLATE "C"'), ('t IS NULL'), ('t IS NOT NULL'), ('id IS NULL'), ('id IS NOT NULL'),
  ('b'), ('NOT b'), ('b IS NULL'), ('id + 1 = 5'), ('id < 1 + 99'), ('id = (SELECT 555)'), ('id < length(current_setting(''TimeZone''))'),
  ('id < random()'), ('i4::int8 = 4'), ('id = i4');
CREATE FUNCTION rows_of(tab text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
  EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(id), 0) FROM %I WHERE %s', tab, condition) INTO result;
  RETURN result;
END $$;
SET extra_float_digits = 0;
SELECT condition, rows_of('plain', condition) AS expected,
       regexp_replace(coalesce(f.hint, ''), '.*\[|\]', '', 'g') AS fields,
       regexp_replace(coalesce(b.hint, ''), '.*\[|\]', '', 'g') AS batches
  FROM conditions LEFT JOIN LATERAL hint('SELECT FROM fields WHERE ' || condition) f(hint) ON true
       LEFT JOIN LATERAL hint('SELECT FROM batches WHERE ' || condition) b(hint) ON true
 ORDER BY n;
SELECT condition FROM conditions
 WHERE condition <> 'id < random()'
   AND (rows_of('fields', condition) <> rows_of('plain', condition) OR rows_of('batches', condition) <> rows_of('plain', condition));
SET pg_strom.enabled = on;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0;
SELECT condition FROM conditions
 WHERE condition <> 'id < random()'
   AND (rows_of('fields', condition) <> rows_of('plain', condition) OR rows_of('batches', condition) <> rows_of('plain', condition));

-- The engine's scan.
EXPLAIN (COSTS OFF) SELECT count(*), sum(i4) FROM fields WHERE id BETWEEN 250 AND 320 AND t LIKE 'b%';
SELECT hint('SELECT count(*), sum(i4) FROM fields WHERE id BETWEEN 250 AND 320 AND t LIKE ''b%''');
SELECT hint('SELECT count(*), sum(i4) FROM batches WHERE id BETWEEN 250 AND 320 AND t LIKE ''b%''');
SELECT hint('SELECT count(*), sum(i4) FROM fields WHERE id > 2000');
SELECT hint('SELECT id FROM fields WHERE f8 BETWEEN 10 AND 20');
SELECT hint('SELECT count(*) FROM fields WHERE d IS NULL AND b IS NOT NULL');

-- Prepared statements and rescans: parameters are known when the scan begins.
SET plan_cache_mode = force_generic_plan;
PREPARE by_param(int, int) AS SELECT count(*), sum(i4) FROM fields WHERE id BETWEEN $1 AND $2;
EXECUTE by_param(250, 320);
SELECT hint('EXECUTE by_param(250, 320)');
SELECT hint('EXECUTE by_param(0, NULL)');
SET pg_strom.enabled = off;
PREPARE by_param_too(int, int) AS SELECT count(*), sum(i4) FROM fields WHERE id BETWEEN $1 AND $2;
EXECUTE by_param_too(250, 320);
SELECT hint('EXECUTE by_param_too(250, 320)');
SELECT v, (SELECT count(*) FROM fields WHERE id BETWEEN v AND v + 5) FROM (VALUES (0), (98), (500), (2000)) l(v);
SELECT hint('SELECT v, (SELECT count(*) FROM fields WHERE id BETWEEN v AND v + 5) FROM (VALUES (0), (98), (500), (2000)) l(v)');
SET pg_strom.enabled = on;
SELECT v, (SELECT count(*) FROM fields WHERE id BETWEEN v AND v + 5) FROM (VALUES (0), (98), (500), (2000)) l(v);
SELECT hint('SELECT v, (SELECT count(*) FROM fields WHERE id BETWEEN v AND v + 5) FROM (VALUES (0), (98), (500), (2000)) l(v)');
RESET plan_cache_mode;

-- Parallel workers count together.
SET pg_strom.enabled = off;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fields WHERE i4 + id < 0 AND id < 200;
SELECT hint('SELECT count(*) FROM fields WHERE i4 + id < 0 AND id < 200');
SELECT count(*) FROM fields WHERE i4 + id < 0 AND id < 200;
SET max_parallel_workers_per_gather = 0;
SET pg_strom.enabled = on;

RESET pg_strom.cpu_tuple_cost;
-- Joins: keys of the inner side rule out batches of the outer one.
CREATE TABLE days (d date PRIMARY KEY, id int, id8 bigint, month int, word text);
INSERT INTO days SELECT '2020-01-01'::date + i, i * 3, i * 3, extract(month FROM '2020-01-01'::date + i), 'w' || i % 5
  FROM generate_series(0, 400) i;
ANALYZE days;
EXPLAIN (COSTS OFF) SELECT count(*), sum(i4) FROM fields JOIN days USING (d) WHERE month = 2;
SELECT hint('SELECT count(*), sum(i4) FROM fields JOIN days USING (d) WHERE month = 2');
SELECT hint('SELECT count(*), sum(i4) FROM batches JOIN days USING (d) WHERE month = 2');
SELECT hint('SELECT count(*), sum(i4) FROM fields f JOIN days ON f.id = id8 WHERE month = 2');
SELECT hint('SELECT count(*), sum(i4) FROM fields f JOIN days ON f.id = days.id AND f.d = days.d WHERE month IN (2, 3) AND i2 > -400');
SELECT hint('SELECT count(*), sum(i4) FROM fields f WHERE d IN (SELECT d FROM days WHERE month = 2)');
SELECT hint('SELECT count(*), sum(i4) FROM fields f WHERE d = ANY (SELECT d FROM days WHERE month = 2 OR id = 900)');
SELECT hint('SELECT count(*), sum(i4) FROM fields f JOIN days USING (d) WHERE month = 2 OR days.id = 900');
SELECT hint('SELECT count(*), sum(i4) FROM fields f LEFT JOIN days ON days.d = f.d AND month = 2');
SELECT hint('SELECT count(*), sum(i4) FROM fields f WHERE NOT EXISTS (SELECT FROM days WHERE days.d = f.d AND month = 2)');
SET arrow_fdw.stats_hint_enabled = off;
SELECT hint('SELECT count(*), sum(i4) FROM fields JOIN days USING (d) WHERE month = 2');
RESET arrow_fdw.stats_hint_enabled;
CREATE FUNCTION joined(tab text) RETURNS TABLE (n int, result text) LANGUAGE plpgsql AS $$
DECLARE
  queries text[] := ARRAY[
    'SELECT count(*) || '' '' || sum(i4) FROM %I JOIN days USING (d) WHERE month = 2',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f JOIN days ON f.id = id8 WHERE month = 2',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f JOIN days ON f.id = days.id AND f.d = days.d WHERE month IN (2, 3) AND i2 > -400',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f WHERE d IN (SELECT d FROM days WHERE month = 2)',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f JOIN days USING (d) WHERE month = 2 OR days.id = 900',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f JOIN days USING (d) WHERE month = 13',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f LEFT JOIN days ON days.d = f.d AND month = 2',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f RIGHT JOIN days ON days.d = f.d AND month = 2',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f FULL JOIN days ON days.d = f.d WHERE month = 2',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f WHERE NOT EXISTS (SELECT FROM days WHERE days.d = f.d AND month = 2)',
    'SELECT count(*) || '' '' || sum(a.i4) FROM %1$I a JOIN days USING (d) JOIN %1$I b ON b.id = days.id WHERE month = 3 AND b.id < 250',
    'SELECT count(*) || '' '' || sum(i4) FROM %I f JOIN days x USING (d) RIGHT JOIN days y ON y.id = f.id WHERE x.month = 2'];
BEGIN
  FOR i IN 1 .. array_length(queries, 1) LOOP
    n := i;
    EXECUTE format(queries[i], tab) INTO result;
    RETURN NEXT;
  END LOOP;
END $$;
CREATE TABLE expected AS SELECT * FROM joined('plain');
SELECT * FROM expected ORDER BY 1;
(SELECT * FROM joined('fields') EXCEPT SELECT * FROM expected) UNION ALL (SELECT * FROM joined('batches') EXCEPT SELECT * FROM expected);
-- Several passes, each with some of the keys.
SET pg_strom.work_memory = '64kB';
(SELECT * FROM joined('fields') EXCEPT SELECT * FROM expected) UNION ALL (SELECT * FROM joined('batches') EXCEPT SELECT * FROM expected);
RESET pg_strom.work_memory;

-- Partitions.
CREATE TABLE parted (LIKE plain) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (5000) SERVER arrow_fdw OPTIONS (file :'fields');
CREATE FOREIGN TABLE parted_2 PARTITION OF parted FOR VALUES FROM (5000) TO (10000) SERVER arrow_fdw OPTIONS (file :'batches');
SELECT hint('SELECT count(*), sum(i4) FROM parted WHERE i2 < -420');
SELECT hint('SELECT count(*), sum(i4) FROM parted JOIN days USING (d) WHERE month = 2');
SELECT count(*), sum(i4) FROM parted WHERE i2 < -420;
SELECT count(*), sum(i4) FROM parted JOIN days USING (d) WHERE month = 2;
SET pg_strom.enabled = off;
SELECT count(*), sum(i4) FROM parted WHERE i2 < -420;
SELECT count(*), sum(i4) FROM parted JOIN days USING (d) WHERE month = 2;
SET pg_strom.enabled = on;

-- Statistics that cannot be used.
SELECT hint('SELECT count(*) FROM odd WHERE few = 1');
SELECT count(*) FILTER (WHERE few = 2), count(*) FILTER (WHERE words = 2) FROM odd;
SELECT (SELECT count(*) FROM odd WHERE few = 2) AS few, (SELECT count(*) FROM odd WHERE words = 2) AS words,
       (SELECT count(*) FROM odd WHERE wide = 2) AS wide, (SELECT count(*) FROM odd WHERE swapped = 2) AS swapped,
       (SELECT count(*) FROM odd WHERE empty = 2) AS empty, (SELECT count(*) FROM odd WHERE one_side = 1) AS one_side,
       (SELECT count(*) FROM odd WHERE huge = 1) AS huge;

-- An error of a value that no row asks for is none.
SELECT count(*) FROM fields WHERE id > 5000 AND i2 < 10 / (SELECT 0);
SELECT count(*) FROM fields WHERE i2 < 10 / (SELECT 0);

-- Random conditions: pruning never changes an answer.
CREATE FUNCTION random_condition(depth int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  columns text[] := ARRAY['id', 'i1', 'i2', 'i4', 'i8', 'u4', 'f4', 'f8', 'n', 'd', 'd8', 'ts', 'tz', 't', 'lt', 'same'];
  operators text[] := ARRAY['<', '<=', '=', '>=', '>', '<>'];
  op text := operators[1 + floor(random() * 6)];
  col text := columns[1 + floor(random() * 16)];
  value text;
BEGIN
  IF depth > 0 AND random() < 0.6 THEN
    RETURN '(' || random_condition(depth - 1) || CASE WHEN random() < 0.6 THEN ' AND ' ELSE ' OR ' END || random_condition(depth - 1) || ')';
  ELSIF depth > 0 AND random() < 0.2 THEN
    RETURN 'NOT (' || random_condition(depth - 1) || ')';
  ELSIF random() < 0.1 THEN
    RETURN col || ' IS ' || CASE WHEN random() < 0.5 THEN 'NOT ' ELSE '' END || 'NULL';
  END IF;
  EXECUTE format('SELECT quote_literal(%I) FROM plain WHERE %I IS NOT NULL ORDER BY random() LIMIT 1', col, col) INTO value;
  IF col IN ('t', 'lt') AND random() < 0.4 THEN
    RETURN col || ' LIKE ' || quote_literal(substr(trim(value, ''''), 1, 1 + floor(random() * 20)::int) || '%');
  ELSIF col IN ('t', 'lt') THEN
    RETURN col || ' COLLATE "C" ' || op || ' ' || value;
  ELSIF random() < 0.2 THEN
    RETURN col || ' IN (' || value || ', ' || value || ')';
  END IF;
  RETURN col || ' ' || op || ' ' || value;
END $$;
SELECT setseed(0.5);
DO $$
DECLARE condition text; expected text; tab text; engine text;
BEGIN
  FOR i IN 1 .. 300 LOOP
    condition := random_condition(3);
    SET LOCAL pg_strom.enabled = off;
    expected := rows_of('plain', condition);
    FOREACH engine IN ARRAY ARRAY['on', 'off'] LOOP
      PERFORM set_config('pg_strom.enabled', engine, true);
      FOREACH tab IN ARRAY ARRAY['fields', 'batches'] LOOP
        IF rows_of(tab, condition) <> expected THEN
          RAISE WARNING '% with the engine %: % is % in place of %', tab, engine, condition, rows_of(tab, condition), expected;
        END IF;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;

-- Local times are compared with moments by bounds some days away, also at the ends of what PostgreSQL has.
SELECT current_setting('data_directory') || '/strom_pruning.arrow' AS extremes \gset
COPY (SELECT WHERE false) TO PROGRAM 'rm -f strom_pruning.arrow';
CREATE FOREIGN TABLE extremes (local timestamp, day date, moment timestamptz) SERVER arrow_fdw
  OPTIONS (file :'extremes', writable 'true');
INSERT INTO extremes VALUES ('4714-11-24 00:00:00 BC', '4714-11-24 BC', '4714-11-24 00:00:00+00 BC'), ('2000-01-01', '2000-01-01', '2000-01-01');
INSERT INTO extremes VALUES ('2000-01-01', '2000-01-01', '2000-01-01'), ('294246-12-31 23:59:59', '294246-12-31', '294246-12-31 23:59:59+00');
SET timezone = 'Pacific/Apia';
SELECT count(*) FILTER (WHERE local <> timestamptz '2000-01-01') AS ne, count(*) FILTER (WHERE local < timestamptz '1999-01-01') AS lt FROM extremes;
SELECT count(*) FROM extremes WHERE local <> timestamptz '1999-12-31+00';
SELECT count(*) FROM extremes WHERE local < timestamptz '1999-01-01+00';
SELECT count(*) FROM extremes WHERE local > timestamptz '2001-01-01+00';
SELECT count(*) FROM extremes WHERE day <> timestamptz '1999-12-31+00';
SELECT count(*) FROM extremes WHERE day > timestamptz '2001-01-01+00';
SELECT count(*) FROM extremes WHERE day IN (date '4714-11-24 BC', date '294246-12-31');
SET timezone = 'UTC';
DROP FOREIGN TABLE extremes;
COPY (SELECT WHERE false) TO PROGRAM 'rm -f strom_pruning.arrow';

\set VERBOSITY terse
DROP SCHEMA arrow_pruning CASCADE;
