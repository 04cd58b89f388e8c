-- The files of Arrow tables by their metadata, and what pgstrom.doctor() says of tables.
\getenv source_dir PG_ABS_SRCDIR
\set plain :source_dir '/data/pruning/plain.arrow'
\set both :source_dir '/data/pruning/fields.arrow,' :source_dir '/data/pruning/batches.arrow'
\set compressed :source_dir '/data/compressed'
\set missing :source_dir '/data/nothing.arrow'
CREATE SCHEMA arrow_files;
SET search_path = arrow_files;
IMPORT FOREIGN SCHEMA plain FROM SERVER arrow_fdw INTO arrow_files OPTIONS (file :'plain');
IMPORT FOREIGN SCHEMA stats FROM SERVER arrow_fdw INTO arrow_files OPTIONS (files :'both');
CREATE FUNCTION name_of(path text) RETURNS text LANGUAGE sql AS $$SELECT regexp_replace(path, '.*/', '')$$;
SELECT name_of(path), format, rows, batches, bytes = (pg_stat_file(path)).size AS bytes, codec, cardinality(statistics) AS statistics, sorted_by,
       changed = (pg_stat_file(path)).modification OR changed - (pg_stat_file(path)).modification < '1 s' AS changed, error
  FROM pgstrom.arrow_files('stats');
SELECT name_of(path), statistics, sorted_by FROM pgstrom.arrow_files('plain');
SELECT statistics @> '{id,f8,t}' AS has FROM pgstrom.arrow_files('stats');
-- Orders, and codecs.
SELECT current_setting('data_directory') || '/strom_files.arrow' AS file \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -f strom_files.arrow';
SELECT pgstrom.arrow_export($$SELECT i AS up, -i AS down, 5 AS same, i % 7 AS mixed, lpad(i::text, 6, '0') AS t, CASE WHEN i > 200 THEN i END AS nulls,
  i / 8.0::float8 AS f, i / 100 AS steps FROM generate_series(1, 1000) i$$, :'file', '{"batch_rows": 100, "compression": "zstd", "statistics": true}');
IMPORT FOREIGN SCHEMA orders FROM SERVER arrow_fdw INTO arrow_files OPTIONS (file :'file');
SELECT rows, batches, codec, statistics, sorted_by FROM pgstrom.arrow_files('orders');
-- The view: what cannot be read is a row, too; what may not be read is none.
CREATE FOREIGN TABLE missing (a int) SERVER arrow_fdw OPTIONS (file :'missing');
SELECT relation, name_of(path), rows, regexp_replace(error, '".*/', '"') AS error FROM pgstrom.arrow_files
  WHERE relation IN ('plain'::regclass, 'stats'::regclass, 'missing'::regclass) ORDER BY 1, 2;
CREATE ROLE regress_files;
GRANT USAGE ON SCHEMA arrow_files TO regress_files;
GRANT SELECT ON plain TO regress_files;
SET ROLE regress_files;
SELECT relation, rows FROM pgstrom.arrow_files;
SELECT * FROM pgstrom.arrow_files('stats');
RESET ROLE;
CREATE TABLE heap (a int);
SELECT * FROM pgstrom.arrow_files('heap');
SELECT * FROM pgstrom.arrow_files(0);
-- The doctor's words about tables.
DROP FOREIGN TABLE missing;
SELECT status, detail ~ '\mplain\M' AS plain, detail ~ '\mstats\M' AS stats, fix FROM pgstrom.doctor() WHERE "check" = 'skipping';
SELECT status, detail ~ 'plain' AS plain, detail ~ 'stats' AS stats, fix ~ '^ANALYZE .*;$' AS fix FROM pgstrom.doctor() WHERE "check" = 'Arrow statistics';
ANALYZE plain, stats;
SELECT detail ~ 'plain' AS plain, detail ~ 'stats' AS stats FROM pgstrom.doctor() WHERE "check" = 'Arrow statistics';
CREATE TABLE fresh WITH (autovacuum_enabled = off, fillfactor = 10) AS SELECT repeat('x', 500) AS t FROM generate_series(1, 2000);
SELECT status, detail ~ 'fresh' AS fresh, fix ~ 'VACUUM .*fresh.*;' AS fix FROM pgstrom.doctor() WHERE "check" = 'visibility';
VACUUM fresh;
SELECT detail ~ 'fresh' AS fresh FROM pgstrom.doctor() WHERE "check" = 'visibility';
REVOKE ALL ON SCHEMA arrow_files FROM regress_files;
SET client_min_messages = warning;
DROP SCHEMA arrow_files CASCADE;
DROP ROLE regress_files;
:shell 'rm -f strom_files.arrow';
