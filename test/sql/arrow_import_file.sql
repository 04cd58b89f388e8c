-- pgstrom.arrow_fdw_import_file(): as IMPORT FOREIGN SCHEMA for one file. Files with thousands of columns: test/tap.
\getenv source_dir PG_ABS_SRCDIR
\set part1 :source_dir '/data/parts/part1.arrow'
\set odd :source_dir '/data/odd_names.arrow'
CREATE SCHEMA "Import File";
SET search_path = "Import File";
SELECT pgstrom.arrow_fdw_import_file('One "Part"', :'part1');
TABLE "One ""Part""";
CREATE SCHEMA import_other;
SELECT pgstrom.arrow_fdw_import_file(relname => 'odd', file => :'odd', schema => 'import_other');
SELECT attname, format_type(atttypid, atttypmod), attfdwoptions FROM pg_attribute WHERE attrelid = 'import_other.odd'::regclass AND attnum > 0;
SELECT c.reltype <> 0 AS has_type, o.ftoptions IS NOT NULL AS has_file FROM pg_class c JOIN pg_foreign_table o ON o.ftrelid = c.oid WHERE relname = 'odd';
\set VERBOSITY terse
SELECT pgstrom.arrow_fdw_import_file('One "Part"', :'part1');
SELECT pgstrom.arrow_fdw_import_file('t', 'relative.arrow');
SELECT pgstrom.arrow_fdw_import_file('t', '/nowhere/at all.arrow');
SELECT pgstrom.arrow_fdw_import_file(NULL, '/nowhere');
SELECT pgstrom.arrow_fdw_import_file('t', '/nowhere', 'no schema');
SELECT pgstrom.arrow_fdw_import_file('t', :'part1', 'no schema');
CREATE ROLE arrow_import_stranger;
GRANT USAGE ON SCHEMA pgstrom TO arrow_import_stranger;
GRANT ALL ON SCHEMA import_other TO arrow_import_stranger;
GRANT USAGE ON FOREIGN SERVER arrow_fdw TO arrow_import_stranger;
SET ROLE arrow_import_stranger;
SELECT pgstrom.arrow_fdw_import_file('t', '/etc/passwd', 'import_other');
RESET ROLE;
GRANT pg_read_server_files TO arrow_import_stranger;
SET ROLE arrow_import_stranger;
SELECT pgstrom.arrow_fdw_import_file('t', :'part1', 'import_other');
SELECT count(*) FROM import_other.t;
RESET ROLE;
REVOKE USAGE ON FOREIGN SERVER arrow_fdw FROM arrow_import_stranger;
SET ROLE arrow_import_stranger;
SELECT pgstrom.arrow_fdw_import_file('u', :'part1', 'import_other');
RESET ROLE;
DROP SCHEMA "Import File", import_other CASCADE;
REVOKE USAGE ON SCHEMA pgstrom FROM arrow_import_stranger;
DROP ROLE arrow_import_stranger;
