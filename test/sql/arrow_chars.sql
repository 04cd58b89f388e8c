-- char(n) of Arrow files: FixedSizeBinary that does not say so, and texts of any length that do.
\getenv source_dir PG_ABS_SRCDIR
\set fixed :source_dir '/data/chars/fixed.arrow'
\set both :source_dir '/data/chars/fixed.arrow,' :source_dir '/data/chars/bytes.arrow'
\set named :source_dir '/data/chars/named.arrow'
\set long :source_dir '/data/chars/long.arrow'
LOAD 'pg_strom';
CREATE SCHEMA chars;
SET search_path = chars, engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.00001;
SET pg_strom.cpu_threads = 2;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;

-- Bytes are taken for char(n) where a sample is text: in all files.
IMPORT FOREIGN SCHEMA fixed FROM SERVER arrow_fdw INTO chars OPTIONS (file :'fixed');
IMPORT FOREIGN SCHEMA fixed_both FROM SERVER arrow_fdw INTO chars OPTIONS (files :'both');
SELECT pgstrom.arrow_fdw_import_file('fixed_file', :'fixed', 'chars');
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod)
  FROM pg_attribute WHERE attrelid IN ('fixed'::regclass, 'fixed_both'::regclass, 'fixed_file'::regclass) AND attnum > 1
  ORDER BY attrelid::regclass::text, attnum;
ANALYZE fixed;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fixed WHERE priority = '2-HIGH';
SELECT count(*) FROM fixed WHERE priority = '2-HIGH';
SELECT mode, octet_length(mode), count(*) FROM fixed GROUP BY 1, 2 ORDER BY 1;

-- Texts that are char(n), padded or not.
IMPORT FOREIGN SCHEMA named FROM SERVER arrow_fdw INTO chars OPTIONS (file :'named');
IMPORT FOREIGN SCHEMA long FROM SERVER arrow_fdw INTO chars OPTIONS (file :'long');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'named'::regclass AND attnum > 1 ORDER BY attnum;
ANALYZE named;
CREATE TABLE colors AS SELECT p::char(15) AS priority, p AS name, i FROM unnest('{1-URGENT,2-HIGH,3-MEDIUM,none}'::text[]) WITH ORDINALITY AS u(p, i);
ANALYZE colors;
EXPLAIN (COSTS OFF) SELECT count(*) FROM named WHERE padded = '2-HIGH';
EXPLAIN (COSTS OFF) SELECT bare, count(*) FROM named JOIN colors ON bare = priority GROUP BY 1;
-- In one node with a heap table.
CREATE TABLE parted (id int, bare char(15)) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE parted_file PARTITION OF parted FOR VALUES FROM (0) TO (600) SERVER arrow_fdw OPTIONS (file :'named');
CREATE TABLE parted_heap PARTITION OF parted FOR VALUES FROM (600) TO (2000);
INSERT INTO parted_heap SELECT g, 'heap ' || g % 3 FROM generate_series(600, 1999) g;
INSERT INTO parted_heap SELECT g, '2-HIGH' FROM generate_series(600, 650) g;
ANALYZE parted;
EXPLAIN (COSTS OFF) SELECT bare, count(*) FROM parted GROUP BY 1;
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' | '
CREATE TABLE char_queries (q text);
INSERT INTO char_queries VALUES
($$select id, padded, bare, wide, encoded, large, "any" from named$$),
($$select id, mode, priority, ship, digest, zeros from fixed where mode = 'FOB' or mode is null$$),
($$select id, mode from fixed where mode = 'Bär' and priority <> '2-HIGH'$$),
($$select count(*) from named where padded = '2-HIGH'$$),
($$select count(*) from named where bare = '2-HIGH      '$$),
($$select count(*) from named where "any" = '2-HIGH'$$),
($$select id from named where encoded in ('2-HIGH', '5-LOW') and large <> '5-LOW'$$),
($$select id, wide from named where wide = 'größe' or wide = '日本語  '$$),
($$select id from named where bare like '2%'$$),
($$select id from named where bare like '2-HIGH'$$),
($$select id from named where bare like '%   '$$),
($$select id from named where wide like '%  '$$),
($$select id, octet_length(wide), length(wide), octet_length(bare), length(bare) from named$$),
($$select id, bare || '|', wide::text || '|', upper(bare), substr(padded, 1, 3) from named$$),
($$select padded, bare, encoded, large, count(*) from named group by 1, 2, 3, 4$$),
($$select "any"::text, n from (select "any", count(*) as n from named group by 1) g$$),
($$select distinct wide from named$$),
($$select min(bare), max(bare), min(wide), count(distinct encoded) from named$$),
($$select c.name, count(*), min(n.bare) from named n join colors c on n.bare = c.priority group by 1$$),
($$select n.id, c.name, n.bare from named n left join colors c on n.large = c.priority$$),
($$select n.padded, m.bare from named n join named m on n.id = m.id and n.padded = m.bare where n.id < 100$$),
($$select f.priority, n.bare from fixed f join named n on f.id = n.id and f.priority = n.encoded where n.id < 100$$),
($$select id from named n where exists (select 1 from colors c where c.priority = n.bare and c.i > 1)$$),
($$select id from named n where bare not in (select priority from colors)$$),
($$select id, bare from named order by bare, id limit 20$$),
($$select n.bare, c.i from colors c left join (select * from named offset 0) n on n.bare = c.priority and n.id < 50$$),
($$select id, bare, octet_length(bare) from parted where bare <> '5-LOW'$$),
($$select bare, count(*) from parted where bare like '2-HIGH%' group by 1$$),
($$select case when id % 2 = 0 then bare else padded end, coalesce(wide, 'none') from named$$);
SELECT r.*, q FROM char_queries, run_both(q) r;
-- Too long is an error where the row is needed.
SELECT count(*) FROM long WHERE bare = '2-HIGH';
SELECT count(*) FROM long WHERE padded = '2-HIGH';
SET client_min_messages = warning;
DROP SCHEMA chars CASCADE;
