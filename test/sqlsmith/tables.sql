-- What sqlsmith asks about: heap tables of all types, partitions, the test suite's Arrow and Parquet files (:data is
-- their folder), and a table of a file that is written.
\set facts_file :data '/queries/facts.arrow'
\set dimension_file :data '/queries/dimension.arrow'
\set edges_file :data '/queries/edges.arrow'
\set types_file :data '/types.arrow'
\set flat_file :data '/all_types/flat.arrow'
\set nested_file :data '/all_types/nested.arrow'
\set encoded_file :data '/dictionaries/encoded.arrow'
\set compressed_file :data '/compressed.arrow'
\set parquet_file :data '/parquet/types.parquet'
\set parquet_nested_file :data '/parquet/nested.parquet'
\set sales_dir :data '/virtual/sales'
\set drift_dir :data '/drift'
\set written_file :data '/../written.arrow'
CREATE EXTENSION pg_strom;
CREATE ROLE smith LOGIN;
CREATE SCHEMA play;
SET search_path = play;
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');

CREATE TABLE wide (
  id int PRIMARY KEY, b bool, i2 smallint, i4 int, i8 bigint, f4 real, f8 float8, n numeric, n2 numeric(15,2),
  d date, ts timestamp, tz timestamptz, tm time, iv interval, t text, v varchar(20), c char(6), by bytea, u uuid,
  j jsonb, net inet, cidr cidr, mac macaddr, e colour, ia int[], ta text[], r int4range, bits bit varying(8), o oid,
  m money);
INSERT INTO wide
SELECT i, nullif(i % 3, 0) > 1, i % 100 - 50, i * 7919 % 100003, i::bigint * 1234567890123 % 9876543210, i / 7.0, sin(i),
  CASE i % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN 1e30 ELSE i / 3.0 END, (i * 31 % 100000) / 100.0,
  date '1992-01-01' + i, timestamp '2000-01-01' + i * interval '17 minutes',
  CASE WHEN i % 11 = 0 THEN 'infinity' ELSE timestamptz '2010-06-01 00:00+00' - i * interval '1 day' END,
  time '00:00' + i * interval '13 s', i * interval '1 hour', nullif(repeat(chr(97 + i % 26), i % 9), ''),
  CASE WHEN i % 5 > 0 THEN 'v' || i % 40 END, 'c' || i % 9, decode(lpad(to_hex(i), 8, '0'), 'hex'), md5(i::text)::uuid,
  jsonb_build_object('a', i % 10, 'b', array[i, i + 1]), ('10.0.' || i % 256 || '.1')::inet, '10.0.0.0/8'::cidr,
  '08:00:2b:01:02:03', (enum_range(NULL::colour))[1 + i % 3], ARRAY[i, NULL, -i], ARRAY['x', i::text],
  int4range(i, i + 10), (i % 8)::bit(8)::varbit, i, i::money
FROM generate_series(1, 3000) i;
INSERT INTO wide (id) SELECT -i FROM generate_series(1, 100) i;
INSERT INTO wide (id, t, n) SELECT 10000 + i, repeat(md5(i::text), 400), repeat('9', 200)::numeric FROM generate_series(1, 20) i;
DELETE FROM wide WHERE id % 17 = 0;
UPDATE wide SET i4 = -i4 WHERE id % 19 = 0;
ALTER TABLE wide ADD COLUMN late int DEFAULT 42;
ALTER TABLE wide DROP COLUMN m;

CREATE TABLE narrow (k int, x int NOT NULL, y bigint, s text);
INSERT INTO narrow SELECT i % 50, i, i * i, 'k' || i % 7 FROM generate_series(1, 2000) i;
CREATE INDEX ON narrow (k);
CREATE TABLE empty (a int, z text);
CREATE TABLE parted (k int, at date, v numeric(12,3), t text) PARTITION BY RANGE (at);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (MINVALUE) TO ('2000-01-01');
CREATE TABLE parted_2 (t text, gone int, v numeric(12,3), at date, k int);
ALTER TABLE parted_2 DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM ('2000-01-01') TO (MAXVALUE);
INSERT INTO parted SELECT i % 30, date '1998-01-01' + i, i / 8.0, 't' || i % 11 FROM generate_series(1, 1500) i;
CREATE VIEW joined AS SELECT w.id, w.t, n.x, n.y, w.n2 FROM wide w JOIN narrow n ON w.id = n.x WHERE w.i4 > 0;
CREATE MATERIALIZED VIEW counted AS SELECT k, count(*) AS c, sum(y) AS s FROM narrow GROUP BY k;

CREATE FOREIGN TABLE facts (id int, k int, k8 bigint, i2 smallint, i4 int, i8 bigint, f4 real, f8 float8,
  n numeric(15,2), d date, ts timestamp, t text, c char(4), b bool)
  SERVER arrow_fdw OPTIONS (file :'facts_file');
CREATE FOREIGN TABLE dimension (k int, name text, region text, weight numeric(6,3), opened date)
  SERVER arrow_fdw OPTIONS (file :'dimension_file');
CREATE FOREIGN TABLE edges (id int, x int, y int, z bigint, n numeric(38,0))
  SERVER arrow_fdw OPTIONS (file :'edges_file');
IMPORT FOREIGN SCHEMA all_types FROM SERVER arrow_fdw INTO play OPTIONS (file :'types_file');
IMPORT FOREIGN SCHEMA flat FROM SERVER arrow_fdw INTO play OPTIONS (file :'flat_file');
IMPORT FOREIGN SCHEMA nested FROM SERVER arrow_fdw INTO play OPTIONS (file :'nested_file');
IMPORT FOREIGN SCHEMA encoded FROM SERVER arrow_fdw INTO play OPTIONS (file :'encoded_file');
IMPORT FOREIGN SCHEMA compressed FROM SERVER arrow_fdw INTO play OPTIONS (file :'compressed_file');
IMPORT FOREIGN SCHEMA sales FROM SERVER arrow_fdw INTO play OPTIONS (dir :'sales_dir', pattern 'sales_@{month}_${region}.arrow');
CREATE FOREIGN TABLE drift (k bigint, v text, extra float8, nowhere date)
  SERVER arrow_fdw OPTIONS (dir :'drift_dir', pattern 'v*.arrow', missing_columns 'null');
CREATE FOREIGN TABLE written (id int, x real, i8 bigint, n numeric(12,2), d date, ts timestamp, t text, a int[], e colour)
  SERVER arrow_fdw OPTIONS (file :'written_file', writable 'true', batch_rows '100');
INSERT INTO written SELECT i, i / 3.0, i::bigint * i, i / 4.0, date '2000-01-01' + i, timestamp '2001-01-01' + i * interval '1 minute', 'w' || i % 30,
  ARRAY[i, NULL], (enum_range(NULL::colour))[1 + i % 3] FROM generate_series(1, 700) i;
\if :with_parquet
IMPORT FOREIGN SCHEMA parquet FROM SERVER arrow_fdw INTO play OPTIONS (file :'parquet_file');
IMPORT FOREIGN SCHEMA parquet_nested FROM SERVER arrow_fdw INTO play OPTIONS (file :'parquet_nested_file');
\endif

GRANT USAGE ON SCHEMA play TO smith;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA play TO smith;
ANALYZE;
