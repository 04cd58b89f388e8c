-- Types that files name in their metadata: only PostgreSQL's and extensions' count, since any other type runs code of
-- whoever made it, with the rights of who reads the file.
SELECT current_setting('data_directory') || '/strom_named' AS folder \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -rf strom_named && mkdir strom_named';
\set file :folder '/traps.arrow'
CREATE ROLE strom_low;
CREATE SCHEMA named_types;
CREATE SCHEMA low AUTHORIZATION strom_low;
SET search_path = named_types;
SET ROLE strom_low;
CREATE FUNCTION low.spring(anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
CREATE DOMAIN low.trap AS text CHECK (low.spring(VALUE));
CREATE DOMAIN low.number AS int CHECK (low.spring(VALUE));
CREATE TYPE low.mood AS ENUM ('sad', 'ok');
CREATE FUNCTION low.mood_text(low.mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM low.spring(1); RETURN 'x'; END $$;
CREATE CAST (low.mood AS text) WITH FUNCTION low.mood_text(low.mood) AS IMPLICIT;
CREATE TYPE low.pair AS (a low.number, t low.trap);
CREATE TYPE low.span AS RANGE (subtype = text);
CREATE DOMAIN low.spans AS low.span CHECK (low.spring(VALUE));
RESET ROLE;
CREATE TABLE source AS SELECT 'one'::low.trap AS t, 1::low.number AS n, 'ok'::low.mood AS m, ROW(1, 'two')::low.pair AS p,
  ARRAY['three']::low.trap[] AS l, ARRAY[ROW(2, 'four')::low.pair] AS pl, low.span('a', 'b') AS r, low.span('a', 'b')::low.spans AS rs,
  '{[a,b)}'::low.span_multirange AS mr, int1 '5' AS i1, float2 '1.5' AS f2, '1.1.1.1'::inet AS ip, '{"a": 1}'::json AS j,
  'a'::information_schema.sql_identifier AS s;
SELECT pgstrom.arrow_export('SELECT * FROM named_types.source', :'file');
-- From here on it bites.
SET ROLE strom_low;
CREATE OR REPLACE FUNCTION low.spring(anyelement) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN RAISE WARNING 'code of strom_low runs as %', current_user; RETURN true; END $$;
RESET ROLE;
\set VERBOSITY terse
IMPORT FOREIGN SCHEMA safe FROM SERVER arrow_fdw INTO named_types OPTIONS (file :'file');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'safe'::regclass AND attnum > 0 ORDER BY attnum;
SELECT * FROM safe;
SELECT count(*) FROM safe WHERE m = 'ok' AND t > 'a' AND n = 1 AND p ->> 't' = 'two';
ANALYZE safe;
SELECT pgstrom.arrow_fdw_import_file('safe_file', :'file', 'named_types');
SELECT t, m, p FROM safe_file;
-- Parts of jsonb columns, whatever the metadata of the parts are.
CREATE FOREIGN TABLE as_json (p jsonb, pl jsonb, l jsonb) SERVER arrow_fdw OPTIONS (file :'file');
SELECT * FROM as_json;
-- With the option the file's word counts, and the code runs.
IMPORT FOREIGN SCHEMA risky FROM SERVER arrow_fdw INTO named_types OPTIONS (file :'file', named_types 'any');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'risky'::regclass AND attnum > 0 ORDER BY attnum;
SELECT t, n FROM risky;
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'risky'::regclass AND array_to_string(ftoptions, ',') LIKE '%named_types%';
SELECT pgstrom.arrow_fdw_import_file('risky_file', :'file', 'named_types', 'any');
SELECT count(*) FROM pg_attribute WHERE attrelid = 'risky_file'::regclass AND atttypid = 'low.trap'::regtype;
IMPORT FOREIGN SCHEMA wrong FROM SERVER arrow_fdw INTO named_types OPTIONS (file :'file', named_types 'all');
SELECT pgstrom.arrow_fdw_import_file('wrong', :'file', 'named_types', 'all');
CREATE FOREIGN TABLE wrong (t text) SERVER arrow_fdw OPTIONS (file :'file', named_types 'any');
-- An extension's types count if they are a superuser's: who owns an extension can add his own to it.
\set one :folder '/one.arrow'
BEGIN;
ALTER EXTENSION pg_strom ADD DOMAIN low.trap;
ALTER EXTENSION pg_strom ADD TYPE low.mood;
CREATE TYPE named_types.outer_pair AS (x low.trap);
ALTER EXTENSION pg_strom ADD TYPE named_types.outer_pair;
CREATE TYPE named_types.honest AS ENUM ('yes');
ALTER EXTENSION pg_strom ADD TYPE named_types.honest;
CREATE TABLE members (t low.trap, m low.mood, o named_types.outer_pair, h named_types.honest, hl named_types.honest[]);
SELECT pgstrom.arrow_export('SELECT * FROM named_types.members', :'one');
IMPORT FOREIGN SCHEMA member_columns FROM SERVER arrow_fdw INTO named_types OPTIONS (file :'one');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'member_columns'::regclass AND attnum > 0 ORDER BY attnum;
ROLLBACK;
SET client_min_messages = warning;
DROP SCHEMA named_types CASCADE;
DROP SCHEMA low CASCADE;
DROP ROLE strom_low;
:shell 'rm -rf strom_named';
