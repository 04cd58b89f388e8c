-- INSERT … SELECT into Arrow tables: rows past ModifyTable, and the engine's results as columns.
SELECT current_setting('data_directory') || '/strom_insert' AS folder \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -rf strom_insert && mkdir strom_insert';
\set one :folder '/one.arrow'
\set two :folder '/two.arrow'
\set few :folder '/few.arrow'
\set checked :folder '/checked.arrow'
CREATE SCHEMA arrow_insert;
SET search_path = arrow_insert;
SET datestyle = 'ISO, YMD';
SET timezone = 'UTC';
SET pg_strom.cpu_setup_cost = 0;
SET cpu_operator_cost = 1;
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'Insert|Scan|Limit|Result|Sort|Values' AND line !~ 'Quals|Projection' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE src AS SELECT i AS id, i % 3 = 0 AS b, (i % 30000)::int2 AS i2, i * 100000000::int8 AS i8, i / 7::float4 AS f4, i / 7::float8 AS f8,
  (i / 8.0)::numeric(20,3) AS n, (i / 8.0)::numeric AS loose, date '2000-01-01' + i % 5000 AS d, timestamp '2001-01-01' + i * interval '1 min' AS ts,
  timestamptz '2001-01-01 UTC' + i * interval '1 min' AS tz, repeat('t', i % 40) || i AS t, ('c' || i % 90)::char(4) AS c,
  ('é' || i)::varchar AS v, decode(lpad(to_hex(i), 6, '0'), 'hex') AS bin, lpad(to_hex(i), 32, '0')::uuid AS u, time '00:00' + i * interval '1 s' AS tm,
  i * interval '1 hour' AS iv, (i || '.5')::money AS m, (ARRAY['sad', 'glad']::mood[])[i % 2 + 1] AS e, ARRAY[i, i + 1] AS a, i::oid AS o
  FROM generate_series(1, 20000) i;
DO $$
DECLARE c text;
BEGIN
  FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = 'src'::regclass AND attnum > 1 LOOP
    EXECUTE format('UPDATE src SET %I = NULL WHERE id %% 100 = %s', c, 1 + length(c) * 7);
  END LOOP;
END $$;
VACUUM ANALYZE src;
SELECT string_agg(format('%I %s', attname, CASE attname WHEN 'loose' THEN 'numeric(30,6)' ELSE format_type(atttypid, atttypmod) END), ', ' ORDER BY attnum) AS columns
  FROM pg_attribute WHERE attrelid = 'src'::regclass AND attnum > 0 \gset
CREATE FOREIGN TABLE one (:columns) SERVER arrow_fdw OPTIONS (file :'one', writable 'true', batch_rows '3000');
CREATE FOREIGN TABLE two (:columns) SERVER arrow_fdw OPTIONS (file :'two', writable 'true', batch_size '256', compression 'lz4');

-- Columns of every type, from a heap table and from an Arrow table; what differs is shown.
SELECT * FROM plan_of('INSERT INTO one SELECT * FROM src WHERE id > 0');
INSERT INTO one SELECT * FROM src WHERE id > 0;
(SELECT * FROM src EXCEPT ALL SELECT * FROM one) UNION ALL (SELECT * FROM one EXCEPT ALL SELECT * FROM src);
SELECT * FROM plan_of('INSERT INTO two SELECT * FROM one WHERE id % 2 = 0');
INSERT INTO two SELECT * FROM one WHERE id % 2 = 0;
SET pg_strom.enabled = off;
INSERT INTO two SELECT * FROM one WHERE id % 2 = 1;
RESET pg_strom.enabled;
(SELECT * FROM src EXCEPT ALL SELECT * FROM two) UNION ALL (SELECT * FROM two EXCEPT ALL SELECT * FROM src);
SELECT * FROM plan_of('INSERT INTO two (id, t, n, d, ts, tz, f8, i2, b, c) SELECT -id, t, n, d, ts, tz, f8, i2, b, c FROM one WHERE id > 7');
INSERT INTO two (id, i8, t, n, d, ts, tz, f8, i2, b, c) SELECT -id, i8, t, n, d, ts, tz, f8, i2, b, c FROM one WHERE id > 7;
SELECT -id, i8, t, n, d, ts, tz, f8, i2, b, c FROM one WHERE id > 7 EXCEPT ALL SELECT id, i8, t, n, d, ts, tz, f8, i2, b, c FROM two;
SELECT count(*) FROM one WHERE id BETWEEN 3500 AND 3600;

-- Its own rows, joins, sorts, aggregates, limits.
CREATE FOREIGN TABLE few (k int NOT NULL, t text DEFAULT 'none', n numeric(10,2) DEFAULT 1.5) SERVER arrow_fdw OPTIONS (file :'few', writable 'true');
SELECT * FROM plan_of('INSERT INTO few (k) SELECT id FROM src WHERE id <= 10');
INSERT INTO few (k) SELECT id FROM src WHERE id <= 10;
SELECT count(*), sum(k), min(t), sum(n) FROM few;
INSERT INTO few SELECT * FROM few;
SELECT count(*), sum(k) FROM few;
SELECT * FROM plan_of('INSERT INTO few SELECT 0, ''limited'' FROM src WHERE id > 5 LIMIT 7');
INSERT INTO few SELECT 0, 'limited' FROM src WHERE id > 5 LIMIT 7;
INSERT INTO few SELECT 0, 'limited' FROM src WHERE id > 5 LIMIT 0;
INSERT INTO few SELECT id, v FROM src WHERE id > 19990 LIMIT NULL;
INSERT INTO few SELECT id, v FROM src WHERE id > 19990 LIMIT -1;
INSERT INTO few SELECT id, v FROM src WHERE id > 19990 OFFSET 3;
INSERT INTO few SELECT id, v FROM src WHERE id > 19990 ORDER BY i8 DESC LIMIT 2;
INSERT INTO few SELECT s.id, o.t, s.n FROM src s JOIN one o USING (id) WHERE s.id < 30 AND o.i2 > 10;
INSERT INTO few SELECT count(*), max(t), sum(n) FROM src WHERE id < 100 GROUP BY b;
INSERT INTO few SELECT id, upper(t) FROM src WHERE id < 4;
SELECT count(*), sum(k), count(DISTINCT t), sum(n) FROM few;
PREPARE add(int) AS INSERT INTO few SELECT id, 'prepared' FROM src WHERE id < $1 LIMIT $1 - 3;
SET plan_cache_mode = force_generic_plan;
EXECUTE add(6);
EXECUTE add(9);
SELECT k, count(*) FROM few WHERE t = 'prepared' GROUP BY k ORDER BY k;
RESET plan_cache_mode;

-- Rows that PostgreSQL decides.
INSERT INTO few SELECT id, t FROM src WHERE id < 50 AND (CASE WHEN id = 7 THEN 2147483647 ELSE 0 END)::int8 + i8 * 92233720368 > 0 AND id < 5;
INSERT INTO few SELECT id, 'wide' FROM src WHERE loose * 10::numeric ^ 40 > 0 AND id < 20;
SELECT count(*) FROM few WHERE t = 'wide';

-- Errors name what they always have.
\set VERBOSITY terse
INSERT INTO few SELECT nullif(id, 15000) FROM src;
INSERT INTO few SELECT CASE WHEN id <> 700 THEN id END, t FROM src;
INSERT INTO few SELECT id, t, 12345678901 FROM src WHERE id < 3;
INSERT INTO few SELECT id, t, loose FROM src WHERE id < 3;
CREATE TABLE bad AS SELECT CASE WHEN i = 2500 THEN date 'infinity' ELSE date '2020-01-01' END AS d, CASE WHEN i = 2600 THEN 'NaN' ELSE i::numeric(10,2) END AS n,
  CASE WHEN i = 2700 THEN timestamp '-infinity' ELSE timestamp '2020-01-01' END AS ts, i FROM generate_series(1, 3000) i;
VACUUM ANALYZE bad;
INSERT INTO one (d) SELECT d FROM bad WHERE i > 0;
INSERT INTO one (n) SELECT n FROM bad WHERE i > 0;
INSERT INTO one (ts) SELECT ts FROM bad WHERE i > 0;
INSERT INTO one (d, n, ts) SELECT d, n, ts FROM bad WHERE i < 2500;
SELECT count(*), count(d), count(n), sum(n) FROM one;
\set VERBOSITY default

-- Who wants the rows gets them.
SELECT * FROM plan_of('INSERT INTO few SELECT id, t FROM src WHERE id < 3 RETURNING k');
INSERT INTO few SELECT id, t FROM src WHERE id < 3 RETURNING k;
SELECT * FROM plan_of('INSERT INTO few SELECT id, t FROM src WHERE id < 3 ON CONFLICT DO NOTHING');
WITH w AS (INSERT INTO few SELECT id, 'cte' FROM src WHERE id < 8) SELECT count(*) FROM src WHERE id < 3;
SELECT count(*) FROM few WHERE t = 'cte';
CREATE VIEW low AS SELECT * FROM few WHERE k < 100 WITH CHECK OPTION;
INSERT INTO low SELECT id, 'view' FROM src WHERE id < 3;
INSERT INTO low SELECT id, 'view' FROM src WHERE id BETWEEN 99 AND 100;
SELECT count(*) FROM few WHERE t = 'view';
CREATE FUNCTION count_statements() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% %', TG_WHEN, TG_OP; RETURN NULL; END $$;
CREATE TRIGGER statements AFTER INSERT ON few FOR EACH STATEMENT EXECUTE FUNCTION count_statements();
SELECT * FROM plan_of('INSERT INTO few SELECT id, t FROM src WHERE id < 3');
INSERT INTO few SELECT id, t FROM src WHERE id < 3;
CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.t := 'marked'; RETURN NEW; END $$;
CREATE TRIGGER marks BEFORE INSERT ON few FOR EACH ROW EXECUTE FUNCTION mark();
INSERT INTO few SELECT id, t FROM src WHERE id < 3;
SELECT count(*) FROM few WHERE t = 'marked';
CREATE FOREIGN TABLE checked (k int CHECK (k <> 13), twice int GENERATED ALWAYS AS (k * 2) STORED) SERVER arrow_fdw OPTIONS (file :'checked', writable 'true');
INSERT INTO checked SELECT id FROM src WHERE id < 13;
\set VERBOSITY terse
INSERT INTO checked SELECT id FROM src WHERE id < 15;
\set VERBOSITY default
SELECT count(*), sum(twice) FROM checked;
ALTER FOREIGN TABLE two ADD CHECK (id > 0);
SELECT * FROM plan_of('INSERT INTO two SELECT * FROM src');
ALTER FOREIGN TABLE few DROP COLUMN n CASCADE;
DROP TRIGGER marks ON few;
INSERT INTO few SELECT id, 'dropped' FROM src WHERE id < 3;
SELECT k, t FROM few WHERE t = 'dropped' ORDER BY k;

-- Times have statistics, too.
\set hours :folder '/hours.arrow'
CREATE FOREIGN TABLE hours (t time, i int) SERVER arrow_fdw OPTIONS (file :'hours', writable 'true', batch_rows '100');
INSERT INTO hours SELECT time '00:00' + i * interval '1 min', i FROM generate_series(0, 999) i;
CREATE FUNCTION hints_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Stats-Hint' THEN RETURN NEXT ltrim(line); END IF;
  END LOOP;
END $$;
SELECT * FROM hints_of('SELECT i FROM hours WHERE t BETWEEN ''03:00'' AND ''03:30''');
SELECT count(*), min(i), max(i) FROM hours WHERE t BETWEEN '03:00' AND '03:30';
SELECT count(*), min(i), max(i) FROM hours WHERE t > '16:00' OR t = '24:00';
SET arrow_fdw.stats_hint_enabled = off;
SELECT count(*), min(i), max(i) FROM hours WHERE t BETWEEN '03:00' AND '03:30';
SELECT count(*), min(i), max(i) FROM hours WHERE t > '16:00' OR t = '24:00';
RESET arrow_fdw.stats_hint_enabled;

-- Batches that are being written, and savepoints.
BEGIN;
INSERT INTO one SELECT * FROM src WHERE id <= 10000;
SAVEPOINT a;
INSERT INTO one SELECT * FROM src WHERE id > 10000;
SELECT count(*) FROM one;
ROLLBACK TO a;
SELECT count(*) FROM one;
INSERT INTO one SELECT * FROM src WHERE id > 19000;
RELEASE a;
SAVEPOINT b;
INSERT INTO one SELECT * FROM src;
ROLLBACK TO b;
COMMIT;
SELECT count(*) - 2499 FROM one;
BEGIN;
INSERT INTO one SELECT * FROM src;
ROLLBACK;
SELECT count(*) - 2499 FROM one;
DROP SCHEMA arrow_insert CASCADE;
:shell 'rm -rf strom_insert';
