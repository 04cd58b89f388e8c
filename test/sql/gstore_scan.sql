-- Scans of store tables by the engine: all types, NULLs, old versions, own changes, joins, groups, partitions.
-- Answers are compared with PostgreSQL's scan of the same table.
LOAD 'pg_strom';
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -rf strom_store_scan && mkdir strom_store_scan';
CREATE SCHEMA gstore_scan;
SET search_path = gstore_scan;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.cpu_operator_cost = 0;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
SET datestyle = 'ISO, YMD';
SET timezone = 'UTC';
CREATE FUNCTION make(name text, columns text, options text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE path text := current_setting('data_directory') || '/strom_store_scan/' || name;
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE %I (%s) SERVER gstore_fdw OPTIONS (base_file %L, redo_log_file %L, %s)',
                 name, columns, path || '.base', path || '.redo', options);
END $$;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN percent AS int CHECK (VALUE BETWEEN 0 AND 100);
-- Two chunks, the second with NULLs in most columns. Values of several lengths lie in the heap.
SELECT make('t', 'id bigint, a bool, b "char", c smallint, d int, e real, f float8, g oid, h date, i timestamp, '
                 'j timestamptz, k time, l timetz, m interval, n uuid, o macaddr, p inet, q text, r varchar(10), '
                 's char(5), u bytea, v numeric, w numeric(10,2), x json, y jsonb, z int[], aa mood, ab percent, '
                 'ac point, ad money', 'max_num_rows ''200000'', primary_key ''id''');
INSERT INTO t SELECT i, i % 3 = 0, chr(i % 90 + 33)::"char", i % 1000 - 500, i * 7, i / 3.0, -i / 8.0, i::oid, date '2020-01-01' + i % 800,
  timestamp '2020-01-01' + i * interval '1 min', timestamptz '2020-01-01' + i * interval '1 min', time '00:00' + i * interval '1 s',
  timetz '00:00+09' + i * interval '1 s', i * interval '1 hour', md5(i::text)::uuid, '08:00:2b:01:02:03', '10.0.0.0'::inet + i,
  CASE i % 4 WHEN 0 THEN 'short' WHEN 1 THEN 'twelve bytes' ELSE 'a longer text of row ' || i END, 'r' || i % 50, 's' || i % 7,
  decode(md5(i::text), 'hex'), i / 13.0, i / 3.0, '{"a": 1}', jsonb_build_object('k', i % 5), ARRAY[i % 10, i], 'ok', i % 101,
  '(1,2)', i
FROM generate_series(1, 25000) i;
INSERT INTO t (id, q, d) SELECT i, NULL, i FROM generate_series(25001, 75000) i;
INSERT INTO t (id, d, q) SELECT i, CASE WHEN i % 2 = 0 THEN i END, 'žluťoučký kůň ' || i FROM generate_series(75001, 90000) i;
INSERT INTO t (id, v, w, f) VALUES (140001, 'NaN', 'NaN', 'NaN'), (140002, 1e30, 99999999.99, '-Infinity'), (140003, -0.00, 0, '-0');
ANALYZE t;
EXPLAIN (COSTS OFF) SELECT count(*), sum(d), sum(w) FROM t WHERE id > 1000;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE id = 5;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE ac IS NOT NULL AND d > 3;
CREATE TABLE queries (number serial, query text);
INSERT INTO queries (query) VALUES
 ('SELECT count(*), count(a), count(q), count(d), count(w) FROM t'),
 ('SELECT a, count(*), sum(c), sum(d), sum(id), min(e), max(e), sum(f) FROM t WHERE id < 140000 GROUP BY a'),
 ('SELECT b, min(h), max(i), min(j), max(k), count(*) FROM t GROUP BY b'),
 ('SELECT id, a, b, c, d, e, f, g, h, i, j, k, l, m, n, u, v, w, y, z, aa, ab, ad FROM t WHERE id % 1000 = 7'),
 ('SELECT id, q, r, s, p FROM t WHERE q LIKE ''%text of row 1%'' AND r < ''r3'''),
 ('SELECT s, count(*), min(q COLLATE "C"), max(q COLLATE "C") FROM t GROUP BY s'),
 ('SELECT q, count(*) FROM t WHERE id % 7 = 0 GROUP BY q'),
 ('SELECT sum(v), sum(w), max(w), count(*) FROM t WHERE id <= 140000'),
 ('SELECT id, v, w, f FROM t WHERE id > 140000'),
 ('SELECT y, aa, ab, count(*) FROM t WHERE n IS NOT NULL AND m > interval ''1 day'' GROUP BY 1, 2, 3'),
 ('SELECT l, g FROM t WHERE d = 35'),
 ('SELECT id FROM t WHERE q IS NULL AND d IS NOT NULL AND id % 100 = 1'),
 ('SELECT count(*), sum(d + 2147000000) FROM t WHERE d < 400000'),
 ('SELECT a.q, count(*) FROM t a JOIN t b ON a.id = b.d WHERE a.id % 3 = 0 GROUP BY a.q'),
 ('SELECT x.i, count(t.id) FROM generate_series(1, 100) x (i) LEFT JOIN t ON t.c = x.i GROUP BY 1'),
 ('SELECT id, d FROM t ORDER BY d DESC NULLS LAST, id LIMIT 20'),
 ('SELECT count(*) FROM t WHERE id IN (SELECT d FROM t WHERE c = 3)');
CREATE FUNCTION compare() RETURNS TABLE (number int, nodes text, rows bigint, differences bigint) LANGUAGE sql AS $$
  SELECT number, r.* FROM queries, LATERAL (SELECT * FROM engine.run_both(query)) r ORDER BY 1 $$;
SELECT * FROM compare();
-- Old versions beside new ones, and slots that are used again.
UPDATE t SET d = d + 1, q = q || '!', w = w + 0.01 WHERE id % 5 = 0;
DELETE FROM t WHERE id % 11 = 0;
SELECT * FROM compare();
SELECT pgstrom.store_compact('t') > 0 AS compacted;
INSERT INTO t SELECT 1000000 + i, i % 2 = 0, 'z', 1, i FROM generate_series(1, 10000) i;
SELECT * FROM compare() WHERE differences <> 0;
SELECT count(*), count(d), sum(d), sum(id), count(q), sum(length(q)), sum(w) FROM t WHERE id NOT IN (140001);
-- What the own transaction has done, and taken back.
BEGIN;
UPDATE t SET c = 9 WHERE id < 50;
SAVEPOINT one;
DELETE FROM t WHERE id BETWEEN 60000 AND 70000;
INSERT INTO t (id, c) VALUES (-1, 9), (-2, 9);
SELECT * FROM engine.run_both('SELECT c, count(*), sum(id) FROM t WHERE c > -10 GROUP BY c');
DECLARE before CURSOR FOR SELECT count(*), sum(id) FROM t WHERE c = 9;
DELETE FROM t WHERE c = 9;
SELECT count(*), sum(id) FROM t WHERE c = 9;
FETCH ALL FROM before;
ROLLBACK TO one;
SELECT count(*), sum(id) FROM t WHERE c = 9;
SELECT * FROM engine.run_both('SELECT c, count(*), sum(id) FROM t WHERE c > -10 GROUP BY c');
ROLLBACK;
SELECT count(*), sum(id) FROM t WHERE c = 9;
-- A table fed from itself does not see its new rows.
INSERT INTO t (id, d) SELECT 2000000 + id, d FROM t WHERE id < 20;
SELECT count(*), sum(d) FROM t WHERE id >= 2000000;
-- Truncated, empty, and beside other kinds of partitions.
SELECT make('u', 'id int, k int, note text', 'max_num_rows ''1000''');
SELECT count(*), sum(k) FROM u WHERE k > 0;
INSERT INTO u SELECT i, i % 10, 'in memory ' || i FROM generate_series(1000, 1999) i;
CREATE TABLE parts (id int, k int, note text) PARTITION BY RANGE (id);
CREATE TABLE parts_heap PARTITION OF parts FOR VALUES FROM (0) TO (1000);
INSERT INTO parts SELECT i, i % 10, 'on disk ' || i FROM generate_series(0, 999) i;
ALTER TABLE parts ATTACH PARTITION u FOR VALUES FROM (1000) TO (2000);
ANALYZE parts;
EXPLAIN (COSTS OFF) SELECT k, count(*), min(note) FROM parts WHERE id >= 500 GROUP BY k;
SELECT * FROM engine.run_both('SELECT k, count(*), min(note) FROM parts WHERE id >= 500 GROUP BY k');
BEGIN;
TRUNCATE u;
SELECT count(*) FROM u WHERE k >= 0;
ROLLBACK;
SELECT count(*) FROM u WHERE k >= 0;
-- Numbers without a sign lie in cells as they are, and in registers otherwise.
SELECT make('unsigned', 'id int, at pg_lsn, change xid8', 'max_num_rows ''1000''');
INSERT INTO unsigned SELECT i, ('0/' || to_hex(i))::pg_lsn, (18446744073709551615 - i)::text::xid8 FROM generate_series(1, 500) i;
EXPLAIN (COSTS OFF) SELECT count(*), sum(id) FROM unsigned WHERE id > 100;
EXPLAIN (COSTS OFF) SELECT max(at), min(change), count(*) FROM unsigned WHERE id > 100;
SELECT max(at), min(change), count(*) FROM unsigned WHERE id > 100;
-- So do bytes by reference.
SELECT make('places', 'id int, at pg_lsn, change xid8, mac macaddr, mac8 macaddr8, place tid', 'max_num_rows ''1000'', primary_key ''id''');
INSERT INTO places SELECT i, ('FFFFFF' || lpad(to_hex(i % 256), 2, '0') || '/' || to_hex(i))::pg_lsn, (9223372036854775800 + i::numeric)::text::xid8,
  ('ff:00:00:00:00:' || lpad(to_hex(i % 256), 2, '0'))::macaddr,
  (CASE WHEN i % 2 = 0 THEN '80' ELSE '7f' END || ':00:00:00:00:00:00:' || lpad(to_hex(i % 256), 2, '0'))::macaddr8,
  format('(%s,%s)', i * 8589934::int8, i % 7 * 9362)::tid
  FROM generate_series(1, 500) i;
INSERT INTO places (id) SELECT generate_series(501, 600);
DELETE FROM places WHERE id % 10 = 0;
UPDATE places SET at = '0/0', change = '0', place = '(0,0)' WHERE id % 11 = 0;
EXPLAIN (COSTS OFF) SELECT mac, mac8, at, change FROM places WHERE mac < 'ff:00:00:00:00:f0' AND mac8 > '7f:ff:ff:ff:ff:ff:ff:ff';
SELECT query, (engine.run_both(query)).* FROM (VALUES ('SELECT * FROM places WHERE id > 0'),
  ('SELECT id FROM places WHERE mac < ''ff:00:00:00:00:f0'' AND mac8 > ''7f:ff:ff:ff:ff:ff:ff:ff'''),
  ('SELECT mac, count(*), min(at), max(at), min(change), max(change) FROM places GROUP BY 1'),
  ('SELECT at, mac8, count(*) FROM places GROUP BY 1, 2'),
  ('SELECT id, place FROM places WHERE place > ''(2000000000,5)'' AND place <> ''(2147483500,9362)'''),
  ('SELECT place, count(*), min(place), max(place) FROM places GROUP BY 1'),
  ('SELECT a.id, b.id FROM places a JOIN places b ON a.place = b.place'),
  ('SELECT a.id, b.id FROM places a JOIN places b ON a.change = b.change JOIN places c ON c.at = b.at AND c.mac8 = a.mac8'),
  ('SELECT id FROM places WHERE at >= ''FFFFFFF0/0'' AND change >= ''9223372036854775808'''),
  ('SELECT id, change FROM places ORDER BY change DESC NULLS LAST, id LIMIT 9')) q (query);
-- Rows that are locked or changed are PostgreSQL's.
EXPLAIN (COSTS OFF) SELECT id FROM u WHERE k > 3 FOR UPDATE;
EXPLAIN (COSTS OFF) DELETE FROM u WHERE k > 3;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA gstore_scan CASCADE;
