-- Arrow columns as SQL values.
\getenv source_dir PG_ABS_SRCDIR
\set types :source_dir '/data/types.arrow'
\set types_v4 :source_dir '/data/types_v4.arrow'
\set polars :source_dir '/data/polars.arrow'
CREATE SCHEMA arrow_types;
SET search_path = arrow_types;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

IMPORT FOREIGN SCHEMA types FROM SERVER arrow_fdw INTO arrow_types OPTIONS (file :'types');
IMPORT FOREIGN SCHEMA types_v4 FROM SERVER arrow_fdw INTO arrow_types OPTIONS (file :'types_v4');
IMPORT FOREIGN SCHEMA polars FROM SERVER arrow_fdw INTO arrow_types OPTIONS (file :'polars');
SELECT attname, format_type(atttypid, atttypmod), attnotnull
  FROM pg_attribute WHERE attrelid = 'types'::regclass AND attnum > 0 ORDER BY attnum;
\x on
SELECT * FROM types;
\x off
SELECT count(*) FROM (TABLE types EXCEPT ALL TABLE types_v4) d;
SELECT * FROM polars;

-- Decimals are the numeric that their text is, in the stored form too.
SELECT "dec" = "dec"::text::numeric AS same, numeric_send("dec") = numeric_send("dec"::text::numeric) AS same_bytes,
       scale("dec"), scale(dec0), numeric_send(dec0) = numeric_send(dec0::text::numeric) AS dec0_same_bytes
  FROM types WHERE i1 IS NOT NULL;
SELECT sum("dec"), avg(dec0), min("dec"), max(dec0) FROM types;

-- Columns may be declared otherwise where that cannot change a value.
CREATE FOREIGN TABLE declared (
  s varchar(10), ls char(8), sv varchar, "dec" numeric, dec0 numeric(30,0), fb char(4)
) SERVER arrow_fdw OPTIONS (file :'types');
SELECT s, ls || '|' AS ls, octet_length(ls), sv, "dec", dec0, octet_length(fb) FROM declared;
CREATE FOREIGN TABLE short_char (s char(5)) SERVER arrow_fdw OPTIONS (file :'types');
\set VERBOSITY sqlstate
SELECT s FROM short_char;
CREATE FOREIGN TABLE other_scale ("dec" numeric(38,2)) SERVER arrow_fdw OPTIONS (file :'types');
SELECT * FROM other_scale;
CREATE FOREIGN TABLE less_precise ("dec" numeric(20,4)) SERVER arrow_fdw OPTIONS (file :'types');
SELECT * FROM less_precise;
CREATE FOREIGN TABLE wider (i4 bigint) SERVER arrow_fdw OPTIONS (file :'types');
SELECT * FROM wider;
CREATE FOREIGN TABLE zoned (tstz timestamp) SERVER arrow_fdw OPTIONS (file :'types');
SELECT * FROM zoned;
CREATE FOREIGN TABLE other_char (fb char(5)) SERVER arrow_fdw OPTIONS (file :'types');
SELECT * FROM other_char;
\set VERBOSITY default

-- NULLs, NaN and zeros take part in expressions as PostgreSQL has them.
SELECT i1, f4 = 'NaN' AS nan, f8 = 0 AS zero, s IS NULL AS s_null, fb = 'a   ' AS padded FROM types ORDER BY i1;
SELECT count(*), count(b), count(s), bool_or(b), max(sv), max(d32), min(ts_us), max(tstz) FROM types;

\set VERBOSITY terse
DROP SCHEMA arrow_types CASCADE;
