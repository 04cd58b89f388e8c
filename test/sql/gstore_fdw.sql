-- Store tables: rows in memory, by key and as a whole, under transactions.
SELECT current_setting('data_directory') || '/strom_store' AS folder \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -rf strom_store && mkdir strom_store';
CREATE SCHEMA gstore_fdw;
SET search_path = gstore_fdw;
SET datestyle = 'ISO, YMD';
SET timezone = 'UTC';
\set VERBOSITY terse
-- A store table of that name, with its files.
CREATE FUNCTION make(name text, columns text, options text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE path text := current_setting('data_directory') || '/strom_store/' || name;
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE %I (%s) SERVER gstore_fdw OPTIONS (base_file %L, redo_log_file %L, %s)',
                 name, columns, path || '.base', path || '.redo', options);
END $$;

-- As partitions, by their keys.
CREATE TABLE fpoints (dev_id int, ts timestamp, x float, y float) PARTITION BY HASH (dev_id);
\set base0 :folder '/p0.base'
\set redo0 :folder '/p0.redo'
\set base1 :folder '/p1.base'
\set redo1 :folder '/p1.redo'
CREATE FOREIGN TABLE fpoints_p0 PARTITION OF fpoints FOR VALUES WITH (modulus 2, remainder 0) SERVER gstore_fdw
  OPTIONS (base_file :'base0', redo_log_file :'redo0', gpu_device_id '0', max_num_rows '80000', primary_key 'dev_id');
CREATE FOREIGN TABLE fpoints_p1 PARTITION OF fpoints FOR VALUES WITH (modulus 2, remainder 1) SERVER gstore_fdw
  OPTIONS (base_file :'base1', redo_log_file :'redo1', gpu_device_id '1', max_num_rows '80000', primary_key 'dev_id');
INSERT INTO fpoints SELECT i, timestamp '2020-12-16' + i * interval '1 s', i / 4.0, -i FROM generate_series(0, 100000) i;
SELECT count(*), sum(dev_id), sum(x), min(ts), max(ts) FROM fpoints;
SELECT (SELECT count(*) FROM fpoints_p0) + (SELECT count(*) FROM fpoints_p1) AS both_parts;
EXPLAIN (COSTS OFF) SELECT * FROM fpoints WHERE dev_id = 17;
SELECT * FROM fpoints WHERE dev_id = 17;
SELECT * FROM fpoints WHERE dev_id = 17::bigint;
SELECT * FROM fpoints WHERE dev_id = 17000000000;
SELECT dev_id FROM fpoints WHERE dev_id = ANY (ARRAY[3, 5, 3, NULL, -1, 5, 100000]) ORDER BY 1;
SELECT dev_id FROM fpoints WHERE dev_id IN (SELECT i * 1000 FROM generate_series(98, 102) i) ORDER BY 1;
EXPLAIN (COSTS OFF) UPDATE fpoints SET x = 0 WHERE dev_id = (SELECT 5);
UPDATE fpoints SET ts = timestamp '2021-01-01', x = 1, y = 2 WHERE dev_id = (SELECT (4 + 1)::int) RETURNING *;
SELECT * FROM fpoints WHERE dev_id = 5;
SELECT count(*), count(DISTINCT dev_id), sum(x) FROM fpoints;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT k.i, p.x FROM (VALUES (1), (7), (7), (NULL)) k (i) JOIN fpoints_p0 p ON p.dev_id = k.i;
SELECT k.i, p.x FROM (VALUES (1), (7), (7), (NULL)) k (i) JOIN fpoints p ON p.dev_id = k.i ORDER BY 1;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material;
DELETE FROM fpoints WHERE dev_id % 1000 <> 0;
SELECT count(*), sum(dev_id) FROM fpoints;
DROP TABLE fpoints;
SELECT name FROM pg_ls_dir('strom_store') name ORDER BY name COLLATE "C";

-- All kinds of columns, and of values.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN percent AS int CHECK (VALUE BETWEEN 0 AND 100);
SELECT make('t', 'id bigint, a bool, b "char", c smallint, d int, e real, f float8, g oid, h date, i timestamp, '
                 'j timestamptz, k time, l timetz, m interval, n uuid, o macaddr, p inet, q text, r varchar(10), '
                 's char(5), u bytea, v numeric, w numeric(10,2), x json, y jsonb, z int[], aa text[], ab mood, ac pair, '
                 'ad percent, ae point, af int4range, ag money, ah name', 'max_num_rows ''1000'', primary_key ''id''');
CREATE TABLE heap AS SELECT * FROM t;
INSERT INTO heap VALUES
 (1, true, 'x', -32768, 2147483647, 1.5, -0.0, 4294967295, '2020-02-29', '2020-02-29 12:34:56.789', 'infinity',
  '23:59:59.999999', '12:00:00+09', '1 year -2 mons 3 days 04:05:06', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
  '08:00:2b:01:02:03', '192.168.0.1/24', 'short', 'varchar', 'abc', '\x00ff', 12345678901234567890.123456789, 99.99,
  '{"a": [1, 2]}', '{"b": {"c": null}}', '{1,2,NULL}', '{"",NULL,x}', 'happy', '(1,"two, 3")', 50, '(1,2)', '[1,5)',
  12.34, 'a name'),
 (2, false, '', 0, 0, 'NaN', '-Infinity', 0, '-infinity', 'infinity', '2000-01-01 00:00:00+00', '0:0', '0:0-08', '-1 s',
  '00000000-0000-0000-0000-000000000000', '00:00:00:00:00:00', '::1', '', '', '', '', 'NaN', 0, '1', '""', '{}', '{}',
  'sad', '(,)', 0, '(0,0)', 'empty', -1, '');
INSERT INTO heap VALUES (3), (-9223372036854775808);
INSERT INTO heap (id, q, u, z) VALUES
 (4, repeat('0123456789', 1000), decode(repeat('ab', 3000), 'hex'), ARRAY(SELECT generate_series(1, 5000))),
 (5, 'twelve bytes', 'twelve bytes', '{1}'), (6, 'and thirteen.', 'and thirteen.', '{1,2}'), (7, 'žluťoučký kůň', '', NULL);
INSERT INTO t SELECT * FROM heap;
SELECT * FROM t WHERE id IN (1, 2) ORDER BY id;
SELECT (SELECT count(*) FROM (SELECT t::text FROM t EXCEPT SELECT heap::text FROM heap) q) AS other_rows,
       (SELECT count(*) FROM t) AS rows;
UPDATE t SET q = q || q, v = id, ab = 'ok' WHERE id > 3;
UPDATE heap SET q = q || q, v = id, ab = 'ok' WHERE id > 3;
SELECT count(*) FROM (SELECT t::text FROM t EXCEPT SELECT heap::text FROM heap) q;
SELECT id, length(q), v FROM t WHERE ab = 'ok' ORDER BY 1;
INSERT INTO t (id, ad) VALUES (50, 101);
-- ANALYZE, and what follows from it.
ANALYZE t;
SELECT attname, null_frac, n_distinct FROM pg_stats WHERE tablename = 't' AND attname IN ('id', 'q') ORDER BY 1;
DROP FOREIGN TABLE t;

-- Rules of keys.
SELECT make('k', 'name text, value int NOT NULL CHECK (value < 1000)', 'max_num_rows ''5'', primary_key ''name''');
INSERT INTO k VALUES ('a', 1), ('b', 2), ('a long key that has no room in sixteen bytes', 3);
\set VERBOSITY default
INSERT INTO k VALUES ('c', 4), ('b', 5);
INSERT INTO k VALUES (NULL, 5);
INSERT INTO k VALUES ('c', NULL);
INSERT INTO k VALUES ('c', 1000);
UPDATE k SET value = 2000 WHERE name = 'a';
UPDATE k SET name = 'b' WHERE name = 'a';
INSERT INTO k SELECT i::text, i FROM generate_series(1, 3) i;
\set VERBOSITY terse
INSERT INTO k VALUES ('b', 6), ('c', 7) ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO k VALUES ('b', 6) ON CONFLICT (name) DO UPDATE SET value = 0;
SELECT * FROM k ORDER BY value;
UPDATE k SET name = name || '!' WHERE name = 'a long key that has no room in sixteen bytes' RETURNING *;
UPDATE k SET name = CASE name WHEN 'a' THEN 'z' ELSE 'a' END WHERE name IN ('a', 'b');
SELECT * FROM k WHERE name = 'b';
DELETE FROM k WHERE name = 'c' RETURNING value;
DELETE FROM k USING (VALUES ('a'), ('b')) v (n) WHERE name = n RETURNING k.*;
INSERT INTO k VALUES ('a', 1);
SELECT * FROM k WHERE name = 'a' AND value = 2;
SELECT * FROM k WHERE name > 'a' ORDER BY name;
-- A row is found by its key while the statement that changes it runs.
UPDATE k SET value = value + 1 WHERE name IN (SELECT name FROM k);
SELECT * FROM k ORDER BY name;

-- Transactions.
BEGIN;
UPDATE k SET value = 100 WHERE name = 'a';
DECLARE c CURSOR FOR SELECT * FROM k ORDER BY name;
SAVEPOINT one;
DELETE FROM k WHERE name = 'a';
INSERT INTO k VALUES ('a', 101);
SAVEPOINT two;
UPDATE k SET value = 102 WHERE name = 'a';
INSERT INTO k VALUES ('n', 1);
SELECT * FROM k ORDER BY name;
ROLLBACK TO two;
SELECT * FROM k ORDER BY name;
RELEASE one;
FETCH ALL FROM c;
UPDATE k SET value = 103 WHERE name = 'a';
SELECT * FROM k ORDER BY name;
ROLLBACK;
SELECT * FROM k ORDER BY name;
BEGIN;
SAVEPOINT one;
INSERT INTO k VALUES ('s', 1);
SAVEPOINT two;
INSERT INTO k VALUES ('s2', 1);
DELETE FROM k WHERE name = 's';
RELEASE two;
ROLLBACK TO one;
INSERT INTO k VALUES ('s', 2);
COMMIT;
SELECT * FROM k WHERE name IN ('s', 's2');
DO $$
BEGIN
  FOR i IN 1 .. 5 LOOP
    BEGIN
      UPDATE k SET value = value + i WHERE name = 's';
      IF i % 2 = 0 THEN RAISE EXCEPTION 'no'; END IF;
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
  END LOOP;
END $$;
SELECT * FROM k WHERE name = 's';
BEGIN;
INSERT INTO k VALUES ('p', 1);
PREPARE TRANSACTION 'store';
ROLLBACK;
-- Statements that run many times.
PREPARE look (text) AS SELECT value FROM k WHERE name = $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE look('a');
EXECUTE look('a');
EXECUTE look('none');
EXECUTE look(NULL);
RESET plan_cache_mode;
-- TRUNCATE is a part of its transaction.
BEGIN;
TRUNCATE k;
SELECT count(*) FROM k;
INSERT INTO k VALUES ('after', 1);
SELECT * FROM k;
ROLLBACK;
SELECT count(*) FROM k;
TRUNCATE k;
INSERT INTO k SELECT 'n' || i, i FROM generate_series(1, 5) i;
SELECT count(*) FROM k;
-- Every row can change in one transaction, again and again.
UPDATE k SET value = value + 1;
UPDATE k SET value = value + 1;
DELETE FROM k;
INSERT INTO k SELECT 'm' || i, i FROM generate_series(1, 5) i;
SELECT sum(value) FROM k;
COPY k FROM stdin;
m1	9
\.
DELETE FROM k WHERE name = 'm5';
COPY k FROM stdin;
a	9
\.
SELECT * FROM k ORDER BY 1;
-- What the table is made of.
SELECT pgstrom.store_check('k'), pgstrom.store_compact('k') >= 0 AS has_freed;
SELECT relation, rows, max_rows, memory_bytes > 0 AS has_memory, redo_appended = redo_base AS is_log_empty, redo_limit
  FROM pgstrom.store_info();
SELECT pgstrom.store_checkpoint('k');
SELECT pgstrom.store_checkpoint('pg_class');
-- Triggers.
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE '% % %: % => %', TG_WHEN, TG_OP, TG_LEVEL, OLD, NEW;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  NEW.value = NEW.value + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER before BEFORE INSERT OR UPDATE OR DELETE ON k FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER after AFTER INSERT OR UPDATE OR DELETE ON k FOR EACH ROW EXECUTE FUNCTION tell();
UPDATE k SET value = 20 WHERE name = 'a';
DELETE FROM k WHERE name = 'a';
INSERT INTO k VALUES ('b', 1) RETURNING *;
DROP FOREIGN TABLE k;

-- Upserts.
SELECT make('u', 'id int, n int CHECK (n < 100), note text, twice int GENERATED ALWAYS AS (n * 2) STORED',
            'max_num_rows ''100'', primary_key ''id''');
SELECT pgstrom.store_upsert('u', ROW(1, 5, 'new', NULL)::u), pgstrom.store_upsert('u', ROW(1, 6, 'changed', NULL)::u);
SELECT pgstrom.store_upsert('u', ROW(i % 7, i, 'many', 0)::u) AS is_new, count(*) FROM generate_series(1, 50) i GROUP BY 1 ORDER BY 1;
SELECT * FROM u ORDER BY id;
CREATE TYPE other_order AS (note text, n smallint, id bigint);
SELECT pgstrom.store_upsert('u', ROW('by name', 7, 3)::other_order);
CREATE TYPE other_names AS (note text, n smallint, id bigint, twice int);
SELECT pgstrom.store_upsert('u', ROW('by name', 7, 3, 0)::other_names);
SELECT * FROM u WHERE id = 3;
SELECT pgstrom.store_upsert('u', ROW(3, 100, 'too large', NULL)::u);
SELECT pgstrom.store_upsert('u', ROW(NULL, 1, 'no key', NULL)::u);
SELECT pgstrom.store_upsert('u', ROW(3, 1, 'what', NULL));
SELECT pgstrom.store_upsert('u', 3);
SELECT pgstrom.store_upsert('u', ROW('happy', 1)::pair);
SELECT pgstrom.store_upsert('pg_class', ROW(3, 1, 'what', NULL)::u);
SELECT pgstrom.store_upsert(0::oid, ROW(3, 1, 'what', NULL)::u);
SELECT make('g', 'n int, id int GENERATED ALWAYS AS (n * 2) STORED', 'max_num_rows ''100'', primary_key ''id''');
INSERT INTO g (n) VALUES (1);
SELECT pgstrom.store_upsert('g', ROW(1, 2)::g);
DROP FOREIGN TABLE g;
ALTER FOREIGN TABLE u RENAME COLUMN note TO remark;
SELECT pgstrom.store_upsert('u', ROW(3, 8, 'renamed', NULL)::u);
SELECT * FROM u WHERE id = 3;
CREATE ROLE strom_store_user;
GRANT USAGE ON SCHEMA gstore_fdw, pgstrom TO strom_store_user;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER never BEFORE INSERT OR UPDATE ON u FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT pgstrom.store_upsert('u', ROW(3, 9, 'kept away', NULL)::u), pgstrom.store_upsert('u', ROW(30, 9, 'kept away', NULL)::u);
GRANT SELECT, INSERT ON u TO strom_store_user;
SET ROLE strom_store_user;
SELECT pgstrom.store_upsert('u', ROW(3, 9, 'not allowed', NULL)::u);
RESET ROLE;
DROP OWNED BY strom_store_user;
DROP ROLE strom_store_user;
DROP FOREIGN TABLE u;

-- A published region beside the rows, which follows what is committed. store_check() compares them.
SELECT make('kv', 'id int, n int, note text', 'max_num_rows ''1000'', primary_key ''id'', kv_access ''true''');
INSERT INTO kv SELECT i, i, 'note ' || i FROM generate_series(1, 900) i;
UPDATE kv SET n = n + 1, note = repeat(note, 1 + n % 50);
SELECT pgstrom.store_check('kv');
BEGIN;
DELETE FROM kv WHERE id % 3 = 0;
INSERT INTO kv SELECT i, -i FROM generate_series(3, 300, 6) i;
SAVEPOINT s;
UPDATE kv SET id = id + 2000 WHERE id % 5 = 0;
UPDATE kv SET id = id - 2000, n = 7 WHERE id > 2000 AND id % 2 = 0;
ROLLBACK TO s;
UPDATE kv SET id = 1000 - id WHERE id % 7 = 0 AND 1000 - id NOT IN (SELECT id FROM kv);
INSERT INTO kv VALUES (2, 0) ON CONFLICT DO NOTHING;
DELETE FROM kv WHERE id = 1;
INSERT INTO kv VALUES (1, 1);
DELETE FROM kv WHERE id = 1;
COMMIT;
SELECT count(*), sum(n), pgstrom.store_check('kv') FROM kv;
ALTER FOREIGN TABLE kv OPTIONS (SET kv_access 'false');
UPDATE kv SET n = 0 WHERE id = 4;
BEGIN;
UPDATE kv SET n = 1 WHERE id = 4;
ALTER FOREIGN TABLE kv OPTIONS (SET kv_access 'true');
ROLLBACK;
ALTER FOREIGN TABLE kv OPTIONS (SET kv_access 'true');
ALTER FOREIGN TABLE kv RENAME COLUMN note TO remark;
UPDATE kv SET n = 5 WHERE id = 5;
TRUNCATE kv;
INSERT INTO kv SELECT i FROM generate_series(1, 1000) i;
SELECT pgstrom.store_check('kv');
DROP FOREIGN TABLE kv;
SELECT make('bad', 'a int', 'max_num_rows ''10'', kv_access ''true''');
SELECT make('bad', 'a int', 'max_num_rows ''10'', checksum ''md5''');
SELECT make('kv', 'id int, note text', 'max_num_rows ''1000'', primary_key ''id'', kv_access ''true'', checksum ''xxh3''');
INSERT INTO kv SELECT i, repeat('note ', i) FROM generate_series(1, 900) i;
SELECT pgstrom.store_check('kv');
ALTER FOREIGN TABLE kv OPTIONS (SET checksum 'crc64');
UPDATE kv SET note = 'other' WHERE id < 20;
SELECT pgstrom.store_check('kv');
DROP FOREIGN TABLE kv;

-- Without a key, rows are rows.
SELECT make('plain', 'a int, b text, c int GENERATED ALWAYS AS (a * 2) STORED', 'max_num_rows ''100''');
INSERT INTO plain SELECT i % 3, 'b' || i FROM generate_series(1, 10) i;
INSERT INTO plain SELECT a, b FROM plain;
UPDATE plain SET a = a + 1 WHERE b = 'b3';
SELECT a, c, count(*) FROM plain GROUP BY 1, 2 ORDER BY 1;
DELETE FROM plain WHERE ctid IN (SELECT min(ctid) FROM plain GROUP BY b);
SELECT count(*), count(DISTINCT b) FROM plain;
ALTER FOREIGN TABLE plain DROP COLUMN b;
ALTER FOREIGN TABLE plain ADD COLUMN d int;
ALTER TABLE plain ALTER COLUMN a TYPE bigint;
ALTER FOREIGN TABLE plain OPTIONS (SET max_num_rows '200');
ALTER FOREIGN TABLE plain OPTIONS (ADD primary_key 'a');
ALTER FOREIGN TABLE plain RENAME COLUMN a TO aa;
ALTER FOREIGN TABLE plain OPTIONS (ADD durability 'async');
ALTER FOREIGN TABLE plain RENAME TO plainer;
SELECT count(*), sum(aa) FROM plainer;
DROP FOREIGN TABLE plainer;

-- Files belong to one table, and come and go by transactions.
BEGIN;
SELECT make('gone', 'a int', 'max_num_rows ''10''');
INSERT INTO gone VALUES (1);
SELECT name FROM pg_ls_dir('strom_store') name ORDER BY name COLLATE "C";
ROLLBACK;
SELECT name FROM pg_ls_dir('strom_store') name ORDER BY name COLLATE "C";
SELECT make('stays', 'a int, b int', 'max_num_rows ''10'', preserve_files ''true''');
BEGIN;
DROP FOREIGN TABLE stays;
ROLLBACK;
INSERT INTO stays VALUES (1, 2);
SELECT * FROM stays;
DROP FOREIGN TABLE stays;
SELECT name FROM pg_ls_dir('strom_store') name ORDER BY name COLLATE "C";
DO $$
BEGIN
  PERFORM make('stays', 'a int, b int', 'max_num_rows ''10''');
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE '% %', SQLSTATE, replace(SQLERRM, current_setting('data_directory'), '');
END $$;
:shell 'rm strom_store/*';

-- Options.
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw;
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_rows '10', base_file '/x');
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_rows '10', base_file '/x', redo_log_file '/x');
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_rows '10', base_file 'x', redo_log_file '/y');
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_rows '0', base_file '/x', redo_log_file '/y');
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_row '10', base_file '/x', redo_log_file '/y');
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_rows '10', base_file '/x', redo_log_file '/y', redo_log_limit '1MB');
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_rows '10', base_file '/x', redo_log_file '/y', durability 'some');
CREATE FOREIGN TABLE bad (a int OPTIONS (x 'y')) SERVER gstore_fdw OPTIONS (max_num_rows '10', base_file '/x', redo_log_file '/y');
SELECT make('bad', 'a int', 'max_num_rows ''10'', primary_key ''b''');
SELECT make('bad', 'a numeric', 'max_num_rows ''10'', primary_key ''a''');
SELECT make('bad', 'a float8', 'max_num_rows ''10'', primary_key ''a''');
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_rows '10', base_file '/no/such/folder/x', redo_log_file '/y');
SELECT name FROM pg_ls_dir('strom_store') name ORDER BY name COLLATE "C";
CREATE ROLE strom_store_user;
GRANT USAGE ON FOREIGN SERVER gstore_fdw TO strom_store_user;
GRANT ALL ON SCHEMA gstore_fdw TO strom_store_user;
SET ROLE strom_store_user;
CREATE FOREIGN TABLE bad (a int) SERVER gstore_fdw OPTIONS (max_num_rows '10', base_file '/x', redo_log_file '/y');
RESET ROLE;
SELECT make('r', 'a int', 'max_num_rows ''10''');
SET ROLE strom_store_user;
SELECT * FROM r;
INSERT INTO r VALUES (1);
RESET ROLE;
DROP OWNED BY strom_store_user;
DROP ROLE strom_store_user;
-- Rows that come in batches
SELECT make('batch', 'a int, b text', 'max_num_rows ''1000'', primary_key ''a''');
INSERT INTO batch SELECT i, 'x' FROM generate_series(1, 300) i;
INSERT INTO batch SELECT i % 250 + 301, 'y' FROM generate_series(0, 299) i;
INSERT INTO batch SELECT nullif(i, 400), 'z' FROM generate_series(301, 420) i;
INSERT INTO batch SELECT i FROM generate_series(301, 1400) i;
SELECT count(*), min(a), max(a), count(b) FROM batch;
INSERT INTO batch SELECT i % 150 + 200, 'c' FROM generate_series(0, 299) i ON CONFLICT DO NOTHING;
WITH made AS (INSERT INTO batch SELECT i, 'r' FROM generate_series(500, 600) i RETURNING a) SELECT count(*), sum(a) FROM made;
CREATE VIEW below AS SELECT * FROM batch WHERE a < 700 WITH CHECK OPTION;
INSERT INTO below SELECT i, 'v' FROM generate_series(650, 750) i;
CREATE FUNCTION count_batch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.b := (SELECT count(*) FROM batch);
  RETURN NEW;
END $$;
CREATE TRIGGER counts BEFORE INSERT ON batch FOR EACH ROW EXECUTE FUNCTION count_batch();
INSERT INTO batch SELECT i FROM generate_series(801, 900) i;
DROP TRIGGER counts ON batch;
SELECT b, count(*), min(a), max(a) FROM batch WHERE length(b) = 1 GROUP BY b ORDER BY b;
SELECT count(*), count(DISTINCT b), min(b), max(b) FROM batch WHERE a > 800;
INSERT INTO batch SELECT max(a) + 1, 'one' FROM batch;
SELECT count(*) FROM batch;
SET client_min_messages = warning;
DROP SCHEMA gstore_fdw CASCADE;
SELECT name FROM pg_ls_dir('strom_store') name ORDER BY name COLLATE "C";
:shell 'rm -rf strom_store';
