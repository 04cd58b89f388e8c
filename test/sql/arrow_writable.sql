-- Arrow tables that are written to: INSERT, COPY, transactions, TRUNCATE.
SELECT current_setting('data_directory') || '/strom_writable' AS folder \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -rf strom_writable && mkdir strom_writable';
\set plain :folder '/plain.arrow'
\set rules :folder '/rules.arrow'
\set part2 :folder '/part2.arrow'
\set small :folder '/small.arrow'
\set types :folder '/types.arrow'
CREATE SCHEMA arrow_writable;
SET search_path = arrow_writable;
SET datestyle = 'ISO, YMD';
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ 'file0:' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;

-- The file need not exist.
CREATE FOREIGN TABLE ft (id int, x real, day date, amount numeric(10,2), note text)
  SERVER arrow_fdw OPTIONS (file :'plain', writable 'true');
SELECT count(*) FROM ft;
INSERT INTO ft SELECT i, i / 2.0, date '2020-01-01' + i, i * 1.25, 'note ' || i FROM generate_series(1, 1000) i;
SELECT count(*), sum(id), sum(x), max(day), sum(amount), max(note) FROM ft;
INSERT INTO ft (id) VALUES (-1), (-2) RETURNING *;
SELECT count(*), count(x), count(note), min(id) FROM ft;

-- A transaction sees its own rows; nobody else does, and none is left after ROLLBACK.
BEGIN;
INSERT INTO ft SELECT i FROM generate_series(1, 300) i;
SELECT count(*) FROM ft;
SAVEPOINT a;
INSERT INTO ft VALUES (5000);
SELECT count(*), max(id) FROM ft;
SAVEPOINT b;
INSERT INTO ft VALUES (6000), (6001);
RELEASE b;
SELECT count(*), max(id) FROM ft;
ROLLBACK TO a;
SELECT count(*), max(id) FROM ft;
INSERT INTO ft VALUES (7000);
SELECT count(*), max(id) FROM ft;
ROLLBACK;
SELECT count(*), max(id) FROM ft;

-- A statement does not see its own rows.
INSERT INTO ft SELECT * FROM ft;
SELECT count(*) FROM ft;
WITH w AS (INSERT INTO ft VALUES (8000) RETURNING id) SELECT w.id, (SELECT max(id) FROM ft) FROM w;
SELECT max(id) FROM ft;

-- An error in the middle of a statement, alone and inside of a block.
INSERT INTO ft SELECT 100 / (i - 500) FROM generate_series(1, 1000) i;
SELECT count(*) FROM ft;
DO $$
BEGIN
  INSERT INTO ft VALUES (9000);
  FOR i IN 1..20 LOOP
    BEGIN
      INSERT INTO ft SELECT 9000 + i FROM generate_series(1, 3);
      IF i % 2 = 0 THEN RAISE EXCEPTION 'back'; END IF;
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
  END LOOP;
END $$;
SELECT id, count(*) FROM ft WHERE id >= 9000 GROUP BY id ORDER BY id;

-- The engine reads what this transaction has written, and statistics are kept up.
SET pg_strom.cpu_setup_cost = 0;
BEGIN;
INSERT INTO ft VALUES (10000);
SELECT * FROM plan_of('SELECT sum(id) FROM ft WHERE id > 9999');
SELECT sum(id) FROM ft WHERE id > 9999;
COMMIT;
SELECT sum(id) FROM ft WHERE id > 9999;
SET pg_strom.enabled = off;
SELECT sum(id) FROM ft WHERE id > 9999;
RESET pg_strom.enabled;

-- COPY, defaults, constraints, triggers, generated columns.
CREATE FOREIGN TABLE rules (
  id int NOT NULL DEFAULT 42, twice int GENERATED ALWAYS AS (id * 2) STORED, tag text DEFAULT 'none' CHECK (tag <> 'bad')
) SERVER arrow_fdw OPTIONS (file :'rules', writable 'on', batch_rows '2', compression 'zstd');
CREATE FUNCTION upper_tag() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.tag := upper(NEW.tag); RETURN NEW; END $$;
COPY rules (id, tag) FROM stdin;
1	a
2	\N
3	c
\.
INSERT INTO rules DEFAULT VALUES RETURNING *;
\set VERBOSITY terse
INSERT INTO rules VALUES (NULL);
INSERT INTO rules VALUES (1, DEFAULT, 'bad');
COPY rules (id, tag) FROM stdin;
4	d
5	bad
\.
\set VERBOSITY default
CREATE TRIGGER upper_tag BEFORE INSERT ON rules FOR EACH ROW EXECUTE FUNCTION upper_tag();
INSERT INTO rules (tag) VALUES ('x') RETURNING tag;
TABLE rules;

-- A partition.
CREATE TABLE parted (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE FOREIGN TABLE parted2 PARTITION OF parted FOR VALUES FROM (10) TO (20)
  SERVER arrow_fdw OPTIONS (file :'part2', writable 'true');
INSERT INTO parted SELECT i, 'v' || i FROM generate_series(5, 14) i;
SELECT tableoid::regclass, count(*), min(v), max(v) FROM parted GROUP BY 1 ORDER BY 1;
INSERT INTO parted2 VALUES (1, 'elsewhere');
CREATE ROLE arrow_writer;
GRANT ALL ON parted TO arrow_writer;
ALTER TABLE parted ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON parted TO arrow_writer USING (true) WITH CHECK (v = 'own');
DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO arrow_writer', current_schema); END $$;
SET ROLE arrow_writer;
INSERT INTO parted VALUES (15, 'own');
INSERT INTO parted VALUES (16, 'other');
RESET ROLE;
SELECT count(*) FILTER (WHERE k = 15) AS own, count(*) FILTER (WHERE k = 16) AS other FROM parted2;
DROP OWNED BY arrow_writer;
DROP ROLE arrow_writer;

-- Many small transactions do not make as many record batches.
CREATE FOREIGN TABLE small (id int) SERVER arrow_fdw OPTIONS (file :'small', writable 'true');
CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..200 LOOP INSERT INTO small VALUES (i); COMMIT; END LOOP; END $$;
CALL fill();
SELECT count(*), sum(id), count(DISTINCT id) FROM small;
SELECT array_agg(id) = array_agg(id ORDER BY id) AS in_order FROM small;

-- TRUNCATE.
BEGIN;
TRUNCATE small;
SELECT count(*) FROM small;
INSERT INTO small VALUES (1);
SAVEPOINT s;
TRUNCATE small;
SELECT count(*) FROM small;
ROLLBACK TO s;
TABLE small;
ROLLBACK;
SELECT count(*) FROM small;
TRUNCATE small;
SELECT count(*) FROM small;
INSERT INTO small VALUES (3);
SELECT pgstrom.arrow_fdw_truncate('small');
INSERT INTO small VALUES (4);
TABLE small;

-- Each type that Arrow has a place for; what it has none for is an error.
CREATE FOREIGN TABLE types (b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric(20,3), d date,
  ts timestamp, tz timestamptz, t text, c char(3), v varchar) SERVER arrow_fdw OPTIONS (file :'types', writable 'true');
INSERT INTO types VALUES (true, -32768, 2147483647, -9223372036854775808, 'NaN', '-Infinity', -12345678901234567.891,
  '4713-01-01 BC', '294246-12-31 23:59:59.999999', '2000-01-01 00:00+00', '', 'ab', 'ä');
INSERT INTO types DEFAULT VALUES;
SET timezone = 'UTC';
SELECT * FROM types;
INSERT INTO types (d) VALUES ('infinity');
INSERT INTO types (ts) VALUES ('-infinity');
INSERT INTO types (ts) VALUES ('294276-12-31 23:59:59');
INSERT INTO types (n) VALUES ('NaN');
\set VERBOSITY terse
SELECT count(*) FROM types;

-- What is refused.
UPDATE ft SET id = 1;
DELETE FROM ft;
BEGIN;
INSERT INTO ft VALUES (1);
PREPARE TRANSACTION 'x';
CREATE FOREIGN TABLE same (id int, x real, day date, amount numeric(10,2), note text)
  SERVER arrow_fdw OPTIONS (file :'plain', writable 'true');
BEGIN;
INSERT INTO ft VALUES (1);
\set VERBOSITY sqlstate
INSERT INTO same VALUES (1);
\set VERBOSITY terse
ROLLBACK;
CREATE FOREIGN TABLE read_only (id int) SERVER arrow_fdw OPTIONS (file :'plain');
\set VERBOSITY default
INSERT INTO read_only VALUES (1);
INSERT INTO read_only VALUES (1) RETURNING id;
UPDATE read_only SET id = 2;
-- Who has no right to it learns that.
CREATE ROLE strom_no_writer;
GRANT USAGE ON SCHEMA arrow_writable TO strom_no_writer;
SET ROLE strom_no_writer;
DELETE FROM read_only;
RESET ROLE;
REVOKE USAGE ON SCHEMA arrow_writable FROM strom_no_writer;
DROP ROLE strom_no_writer;
\set VERBOSITY terse
TRUNCATE read_only;
\set VERBOSITY default
COPY read_only FROM PROGRAM 'echo 1';
CREATE TABLE routed (LIKE read_only) PARTITION BY LIST (id);
ALTER TABLE routed ATTACH PARTITION read_only DEFAULT;
INSERT INTO routed VALUES (1);
COPY routed FROM PROGRAM 'echo 1';
SELECT is_insertable_into FROM information_schema.tables WHERE table_name = 'read_only';
ALTER TABLE routed DETACH PARTITION read_only;
DROP TABLE routed;
\set VERBOSITY terse
ALTER FOREIGN TABLE read_only OPTIONS (ADD writable 'true');
INSERT INTO read_only VALUES (77);
SELECT count(*) FROM read_only WHERE id = 77;
CREATE FOREIGN TABLE other_type (id text) SERVER arrow_fdw OPTIONS (file :'plain', writable 'true');
INSERT INTO other_type VALUES ('1');
CREATE FOREIGN TABLE no_field (nowhere int) SERVER arrow_fdw OPTIONS (file :'plain', writable 'true');
\set VERBOSITY sqlstate
INSERT INTO no_field VALUES (1);
\set VERBOSITY terse
CREATE FOREIGN TABLE bad (id int) SERVER arrow_fdw OPTIONS (dir '/tmp', writable 'true');
CREATE FOREIGN TABLE bad (id int) SERVER arrow_fdw OPTIONS (file :'plain', writable 'maybe');
CREATE FOREIGN TABLE bad (id int) SERVER arrow_fdw OPTIONS (file :'plain', writable 'true', compression 'gzip');
CREATE FOREIGN TABLE bad (id int) SERVER arrow_fdw OPTIONS (file :'plain', writable 'true', batch_rows '0');
CREATE FOREIGN TABLE nowhere (id int) SERVER arrow_fdw OPTIONS (file '/nonexistent/x.arrow', writable 'true');
SELECT count(*) FROM nowhere;
INSERT INTO nowhere VALUES (1);
CREATE FOREIGN TABLE loose (n numeric) SERVER arrow_fdw OPTIONS (file '/nonexistent/y.arrow', writable 'true');
INSERT INTO loose VALUES (1);
CREATE ROLE regress_arrow_reader;
GRANT pg_read_server_files TO regress_arrow_reader;
GRANT ALL ON SCHEMA arrow_writable TO regress_arrow_reader;
GRANT USAGE ON FOREIGN SERVER arrow_fdw TO regress_arrow_reader;
GRANT INSERT ON ft TO regress_arrow_reader;
SET ROLE regress_arrow_reader;
CREATE FOREIGN TABLE mine (id int) SERVER arrow_fdw OPTIONS (file :'plain', writable 'true');
INSERT INTO ft VALUES (-3);
RESET ROLE;
SELECT count(*) FROM ft WHERE id = -3;
ALTER FOREIGN TABLE ft OWNER TO regress_arrow_reader;
INSERT INTO ft VALUES (-4);
ALTER FOREIGN TABLE ft OWNER TO CURRENT_USER;
BEGIN READ ONLY;
INSERT INTO ft VALUES (1);
ROLLBACK;
DROP SCHEMA arrow_writable CASCADE;
REVOKE ALL ON FOREIGN SERVER arrow_fdw FROM regress_arrow_reader;
DROP ROLE regress_arrow_reader;
:shell 'rm -rf strom_writable';
