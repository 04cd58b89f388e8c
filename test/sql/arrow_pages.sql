-- Arrow batches made of a table's pages, past the executor: the bytes are those of the executor's rows, which a condition
-- on ctid that is not of whole pages asks for.
CREATE SCHEMA arrow_pages;
SET search_path = arrow_pages;
SET timezone = 'UTC';
CREATE FUNCTION same(columns text, source text, options jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE pages bytea := pgstrom.arrow_ipc(format('SELECT %s FROM %s', columns, source), options);
        rows bytea := pgstrom.arrow_ipc(format('SELECT %s FROM %s WHERE ctid >= ''(0,1)''', columns, source), options);
BEGIN
  RETURN CASE WHEN pages = rows THEN 'same' ELSE 'other: ' || length(pages) || ' and ' || length(rows) END;
END $$;
-- Every way of storing a value, with nulls.
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0);
CREATE TABLE kinds (b bool, c "char", i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric(12,3), wide numeric(30,4), free numeric, t text,
  v varchar(20), p char(8), y bytea, d date, tm time, tz timetz, ts timestamp, tstz timestamptz, ts0 timestamp(0), iv interval, u uuid, ip inet, net cidr,
  m macaddr, m8 macaddr8, j json, jb jsonb, bits bit(5), vbits varbit, ia int[], ta text[], fa float8[], pr pair, e mood, ev even, r int4range, pt point,
  bx box, ci circle, nm name, o oid, rc regclass, x xid, mo money, ti tid, l pg_lsn, tv tsvector, h float2, i1 int1);
INSERT INTO kinds SELECT g % 2 = 0, chr(64 + g)::"char", g - 20, g * 1000003, g * 1000000000003, g / 3.0, g / 7.0, g * 1.125, g * 12345678901234.5, g / 8.0, repeat('t', g),
  'v' || g, 'p' || g, decode(repeat('0f', g), 'hex'), date '2000-01-01' + g * 1000, time '00:00' + g * interval '31 minutes 7 us', timetz '00:00+02' + g * interval '1 minute',
  timestamp '1999-01-01' + g * interval '40 days 3 us', timestamptz '1999-01-01 00:00+00' + g * interval '1 hour', timestamp '2020-01-01' + g * interval '1 second',
  g * interval '1 month 2 days 3 us', md5(g::text)::uuid, ('10.0.0.' || g)::inet, ('10.' || g || '.0.0/16')::cidr, '08:00:2b:01:02:03'::macaddr, '08:00:2b:01:02:03:04:05'::macaddr8,
  json_build_object('k', g), jsonb_build_object('k', g), (g % 32)::bit(5), g::bit(9)::varbit, ARRAY[g, NULL, g + 1], ARRAY['a' || g, NULL], ARRAY[g / 3.0], (g, 'x' || g)::pair,
  CASE WHEN g % 3 = 0 THEN 'low' ELSE 'high' END::mood, g * 2, int4range(g, g + 5), point(g, -g), box(point(g, g), point(0, 0)), circle(point(g, g), g), 'name' || g, g, 'pg_class'::regclass,
  g::text::xid, g::money, ('(' || g || ',1)')::tid, ('0/' || to_hex(g))::pg_lsn, ('word' || g)::tsvector, g, g FROM generate_series(1, 40) g;
INSERT INTO kinds DEFAULT VALUES;
INSERT INTO kinds (i4, t, n) SELECT g, CASE WHEN g % 2 = 0 THEN 'x' END, CASE WHEN g % 3 = 0 THEN -g END FROM generate_series(1, 300) g;
SELECT same('*', 'kinds');
SELECT same('*', 'kinds', '{"batch_rows": 7}');
SELECT same('*', 'kinds', '{"numeric": "text"}'), same('*', 'kinds', '{"numeric": "float8"}'), same('*', 'kinds', '{"numeric": "38,10"}');
SELECT same('t, i4, t, v::text, i8', 'kinds'), same('i1', 'kinds'), same('ev::int', 'kinds'), same('i4 + 1', 'kinds'), same('ctid, i4', 'kinds'), same('kinds', 'kinds'), same('', 'kinds');
-- Columns that were dropped, and added with values for the rows that are there.
CREATE TABLE altered (a int, gone text, b text, gone2 int8);
INSERT INTO altered SELECT g, 'x', 'b' || g, g FROM generate_series(1, 10) g;
ALTER TABLE altered DROP gone, ADD c int DEFAULT 7, ADD d text DEFAULT 'default', ADD e numeric(10,2) DEFAULT 1.25, ADD f uuid DEFAULT '00000000-0000-0000-0000-00000000000a', ADD g int2,
  ADD h bool DEFAULT true, ADD i int[] DEFAULT '{1,2}', ADD j "char" DEFAULT 'q', ADD k int8 DEFAULT -1, ADD l int2 DEFAULT -2, ADD m interval DEFAULT '1 day', ADD n text DEFAULT repeat('long', 1000);
ALTER TABLE altered DROP gone2;
INSERT INTO altered (a, n) SELECT g, 'n' FROM generate_series(11, 20) g;
INSERT INTO altered SELECT g FROM generate_series(21, 30) g;
SELECT same('*', 'altered'), same('n, a', 'altered'), same('f', 'altered');
ALTER TABLE altered ADD sum int GENERATED ALWAYS AS (a + c) STORED;
SELECT same('*', 'altered'), same('sum', 'altered');
SET pg_strom.enabled = off;
CREATE TABLE by_executor AS SELECT pgstrom.arrow_ipc('SELECT * FROM arrow_pages.kinds') AS kinds, pgstrom.arrow_ipc('SELECT * FROM arrow_pages.altered') AS altered;
RESET pg_strom.enabled;
SELECT kinds = pgstrom.arrow_ipc('SELECT * FROM arrow_pages.kinds') AS kinds, altered = pgstrom.arrow_ipc('SELECT * FROM arrow_pages.altered') AS altered FROM by_executor;
-- Values out of line and compressed between others.
CREATE TABLE toasted (id int, t text, n numeric, j jsonb);
ALTER TABLE toasted ALTER t SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT g, CASE g % 4 WHEN 0 THEN repeat('0123456789', 5000) WHEN 1 THEN 'short' WHEN 2 THEN repeat('x', 1500) END, CASE WHEN g % 5 = 0 THEN repeat('9', 10)::numeric / 4 ELSE g END,
  CASE WHEN g % 3 = 0 THEN jsonb_build_object('k', repeat('y', 9000)) ELSE '1' END FROM generate_series(1, 200) g;
ALTER TABLE toasted ALTER t SET STORAGE EXTENDED;
INSERT INTO toasted SELECT g, repeat('abc', 2000 + g) FROM generate_series(201, 260) g;
SELECT same('*', 'toasted'), same('id', 'toasted'), same('t', 'toasted', '{"batch_rows": 3}');
SELECT max(length(b)) < 170000 AS small FROM pgstrom.arrow_ipc_stream('SELECT * FROM arrow_pages.toasted', 100000) b;
-- What the snapshot sees.
CREATE TABLE seen (id int, t text);
INSERT INTO seen SELECT g, 't' || g FROM generate_series(1, 3000) g;
VACUUM (FREEZE) seen;
SELECT same('*', 'seen');
DELETE FROM seen WHERE id % 3 = 0;
UPDATE seen SET t = 'new' WHERE id % 5 = 0;
SELECT same('*', 'seen');
BEGIN;
INSERT INTO seen VALUES (-1, 'mine');
SAVEPOINT s;
DELETE FROM seen WHERE id % 2 = 0;
SELECT same('*', 'seen');
ROLLBACK TO s;
SELECT same('*', 'seen');
DECLARE old CURSOR FOR SELECT length(b) > 0 AS some FROM pgstrom.arrow_ipc_stream('SELECT * FROM arrow_pages.seen', 5000) b;
TRUNCATE kinds;
DELETE FROM seen;
FETCH 2 FROM old;
SELECT same('*', 'seen');
ROLLBACK;
SELECT same('*', 'seen'), same('*', 'kinds');
VACUUM seen;
SELECT same('*', 'seen');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT same('*', 'seen');
COMMIT;
CREATE TEMP TABLE mine AS TABLE seen;
SELECT same('*', 'mine'), same('oid, proname', 'pg_catalog.pg_proc');
CREATE TABLE nothing (a int, b text);
SELECT same('*', 'nothing');
-- Ranges of pages are divided without gaps.
CREATE TABLE many AS SELECT g AS id, repeat('m', g % 50) AS t FROM generate_series(1, 20000) g;
CREATE FUNCTION rows_of(condition text) RETURNS bigint LANGUAGE sql AS $$
  SELECT length(pgstrom.arrow_ipc('SELECT id FROM arrow_pages.many WHERE ' || condition)) - length(pgstrom.arrow_ipc('SELECT id FROM arrow_pages.many WHERE false'))
$$;
SELECT rows_of($$ctid < '(50,0)'$$) > 0 AS first, rows_of($$ctid >= '(50,0)' AND ctid < '(50,0)'$$) AS none, rows_of($$ctid >= '(4000000,0)'$$) AS behind,
  rows_of($$ctid < '(0,0)'$$) AS before, rows_of($$ctid >= '(7,0)' AND ctid < '(3,0)'$$) AS reverse,
  rows_of($$ctid >= '(3,0)' AND ctid < '(9,0)' AND ctid >= '(5,0)'$$) = rows_of($$ctid >= '(5,1)' AND ctid < '(9,0)'$$) AS three,
  rows_of($$'(5,0)' <= ctid AND ctid < '(9,0)'$$) = rows_of($$ctid >= '(5,1)' AND ctid < '(9,0)'$$) AS turned;
SELECT pgstrom.arrow_ipc($$SELECT * FROM arrow_pages.many WHERE ctid >= '(50,0)' AND ctid < '(60,0)'$$)
     = pgstrom.arrow_ipc($$SELECT * FROM arrow_pages.many WHERE ctid >= '(50,1)' AND ctid < '(60,0)'$$) AS same;
-- What is not only a table's pages.
SELECT pgstrom.arrow_ipc('SELECT * FROM arrow_pages.many LIMIT 10') = pgstrom.arrow_ipc('SELECT * FROM arrow_pages.many WHERE id <= 10') AS limited;
CREATE VIEW a_few AS SELECT id, upper(t) AS t FROM many WHERE id < 100;
CREATE VIEW all_of_it AS SELECT t, id FROM many;
SELECT pgstrom.arrow_ipc('SELECT * FROM arrow_pages.a_few') = pgstrom.arrow_ipc('SELECT id, upper(t) AS t FROM arrow_pages.many WHERE id < 100') AS view,
  pgstrom.arrow_ipc('SELECT * FROM arrow_pages.all_of_it') = pgstrom.arrow_ipc('SELECT t, id FROM arrow_pages.many') AS all_of_it,
  pgstrom.arrow_ipc('SELECT * FROM arrow_pages.many TABLESAMPLE SYSTEM (100)') = pgstrom.arrow_ipc('SELECT * FROM arrow_pages.many') AS sample;
CREATE TABLE parent (id int, t text);
CREATE TABLE child (extra int) INHERITS (parent);
INSERT INTO parent VALUES (1, 'p');
INSERT INTO child VALUES (2, 'c', 3);
SELECT length(pgstrom.arrow_ipc('SELECT * FROM arrow_pages.parent')) > length(pgstrom.arrow_ipc('SELECT * FROM ONLY arrow_pages.parent WHERE false')) AS inherited, same('*', 'ONLY parent');
CREATE SEQUENCE numbers;
SELECT pgstrom.arrow_ipc('SELECT last_value FROM arrow_pages.numbers') = pgstrom.arrow_ipc('SELECT 1::bigint AS last_value') AS sequence;
-- Rights and row security.
CREATE ROLE regress_arrow_pages;
GRANT USAGE ON SCHEMA pgstrom, arrow_pages TO regress_arrow_pages;
GRANT SELECT (id) ON many TO regress_arrow_pages;
GRANT SELECT ON seen TO regress_arrow_pages;
ALTER TABLE seen ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON seen USING (id < 20);
SET ROLE regress_arrow_pages;
SELECT same('id', 'seen'), pgstrom.arrow_ipc('SELECT id FROM arrow_pages.seen') = pgstrom.arrow_ipc('SELECT id FROM arrow_pages.seen WHERE id < 20') AS few;
SELECT length(pgstrom.arrow_ipc('SELECT id FROM arrow_pages.many')) > 0 AS one_column;
SELECT pgstrom.arrow_ipc('SELECT t FROM arrow_pages.many');
RESET ROLE;
-- Streams that nobody reads to their end hold nothing.
SELECT count(*) FROM (SELECT pgstrom.arrow_ipc_stream('SELECT * FROM arrow_pages.many', 1000) LIMIT 3) x;
BEGIN;
DECLARE left_open CURSOR FOR SELECT pgstrom.arrow_ipc_stream('SELECT * FROM arrow_pages.many', 1000);
MOVE 5 FROM left_open;
SAVEPOINT s;
MOVE 5 FROM left_open;
ROLLBACK TO s;
MOVE 5 FROM left_open;
COMMIT;
BEGIN;
DECLARE closed CURSOR FOR SELECT pgstrom.arrow_ipc_stream('SELECT * FROM arrow_pages.many', 1000);
MOVE 5 FROM closed;
CLOSE closed;
DROP TABLE nothing;
COMMIT;
-- Errors in the middle name the column, and leave a transaction that goes on.
INSERT INTO kinds (n, free) SELECT g, CASE WHEN g = 500 THEN 'NaN'::numeric ELSE g END FROM generate_series(1, 1000) g;
INSERT INTO kinds (d) VALUES ('infinity');
SELECT pgstrom.arrow_ipc('SELECT free FROM arrow_pages.kinds');
SELECT pgstrom.arrow_ipc('SELECT d FROM arrow_pages.kinds');
DO $$
BEGIN
  FOR i IN 1..3 LOOP
    BEGIN
      PERFORM length(b) FROM pgstrom.arrow_ipc_stream('SELECT free, t FROM arrow_pages.kinds', 1000) b;
    EXCEPTION WHEN numeric_value_out_of_range THEN RAISE NOTICE '%', SQLERRM;
    END;
  END LOOP;
END $$;
BEGIN;
DECLARE failing CURSOR FOR SELECT length(b) > 0 FROM pgstrom.arrow_ipc_stream('SELECT free FROM arrow_pages.kinds', 1000) b;
SAVEPOINT s;
MOVE ALL FROM failing;
ROLLBACK TO s;
SELECT same('i4', 'kinds');
COMMIT;
-- Rows that the engine has found are not made into tuples in between.
CREATE TABLE filtered AS SELECT g AS id, g % 10 AS k, (g * 1.25)::numeric(10,2) AS n, 'text ' || g AS t FROM generate_series(1, 1000) g;
ANALYZE filtered;
SET pg_strom.enabled = on;
CREATE TABLE answers AS SELECT pgstrom.arrow_ipc($$SELECT id, n, t, 1 AS one FROM arrow_pages.filtered WHERE k = 3$$) AS a,
  pgstrom.arrow_ipc($$SELECT k, count(*), sum(n) FROM arrow_pages.filtered GROUP BY k ORDER BY k$$) AS b,
  pgstrom.arrow_ipc($$SELECT id FROM arrow_pages.filtered WHERE k = 3 LIMIT 7$$) AS c;
SET pg_strom.enabled = off;
SELECT a = pgstrom.arrow_ipc($$SELECT id, n, t, 1 AS one FROM arrow_pages.filtered WHERE k = 3$$) AS filtered,
  b = pgstrom.arrow_ipc($$SELECT k, count(*), sum(n) FROM arrow_pages.filtered GROUP BY k ORDER BY k$$) AS grouped,
  c = pgstrom.arrow_ipc($$SELECT id FROM arrow_pages.filtered WHERE k = 3 LIMIT 7$$) AS limited FROM answers;
RESET pg_strom.enabled;
DROP OWNED BY regress_arrow_pages;
DROP ROLE regress_arrow_pages;
SET client_min_messages = warning;
DROP SCHEMA arrow_pages CASCADE;
