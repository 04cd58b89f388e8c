-- IMPORT FOREIGN SCHEMA: the "remote schema" names the table.
\getenv source_dir PG_ABS_SRCDIR
\set data :source_dir '/data'
\set odd :data '/odd_names.arrow'
\set part1 :data '/parts/part1.arrow'
\set parts :data '/parts'
\set both :data '/parts/part1.arrow,' :data '/large_text.arrow'
CREATE SCHEMA "Import Here";
SET search_path = "Import Here";
IMPORT FOREIGN SCHEMA odd FROM SERVER arrow_fdw INTO "Import Here" OPTIONS (file :'odd');
SELECT attname, format_type(atttypid, atttypmod), attnotnull, attfdwoptions
  FROM pg_attribute WHERE attrelid = 'odd'::regclass AND attnum > 0 ORDER BY attnum;
SELECT x, x_1, "X", "column", ctid_1 FROM odd;
SELECT o::text FROM odd o;
-- A column is NOT NULL where the fields of all files are.
IMPORT FOREIGN SCHEMA "Some Parts" FROM SERVER arrow_fdw INTO "Import Here" OPTIONS (dir :'parts', suffix 'arrow');
IMPORT FOREIGN SCHEMA mixed FROM SERVER arrow_fdw INTO "Import Here" OPTIONS (files :'both', parallel_workers '1');
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull
  FROM pg_attribute WHERE attrelid IN ('"Some Parts"'::regclass, 'mixed'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
TABLE "Some Parts";
SELECT count(*) FROM mixed;
IMPORT FOREIGN SCHEMA t LIMIT TO (a) FROM SERVER arrow_fdw INTO "Import Here" OPTIONS (file :'part1');
IMPORT FOREIGN SCHEMA t EXCEPT (a) FROM SERVER arrow_fdw INTO "Import Here" OPTIONS (file :'part1');
\set VERBOSITY terse
IMPORT FOREIGN SCHEMA odd FROM SERVER arrow_fdw INTO "Import Here" OPTIONS (file :'odd');
DROP SCHEMA "Import Here" CASCADE;
