-- Types of Arrow beyond those that the engine loads: flat ones, nested ones, and those that metadata name.
\getenv source_dir PG_ABS_SRCDIR
\set data :source_dir '/data/all_types'
\set flat :data '/flat.arrow'
\set nested :data '/nested.arrow'
SELECT set_config('test.data', :'data', false) <> '' AS data_dir_known;
CREATE SCHEMA arrow_types_all;
SET search_path = arrow_types_all;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
SET extra_float_digits = 1;
CREATE FUNCTION import_file(name text, file text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('IMPORT FOREIGN SCHEMA %I FROM SERVER arrow_fdw INTO arrow_types_all OPTIONS (file %L)',
                 name, current_setting('test.data') || '/' || file);
END $$;
CREATE FUNCTION columns_of(tab regclass) RETURNS TABLE (name name, type text) LANGUAGE sql AS $$
  SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = tab AND attnum > 0 ORDER BY attnum
$$;

-- Flat types.
SELECT import_file('flat', 'flat.arrow'), import_file('flat_zstd', 'flat_zstd.arrow'), import_file('flat_stream', 'flat.stream');
SELECT * FROM columns_of('flat');
\x on
SELECT * FROM flat;
\x off
SELECT count(*) FROM flat a JOIN flat_zstd b ON a::text = b::text;
SELECT count(*) FROM flat a JOIN flat_stream b ON a::text = b::text;
SELECT count(*), count(u64), count(nul), count(dict_bool), count(ree), sum(u64), max(t64us), min(dur_ns), sum(mdn), sum(ree) FROM flat;
SELECT u64 FROM flat WHERE nul IS NULL AND u64 > 0 ORDER BY u64;
ANALYZE flat;
-- Declared otherwise.
CREATE FOREIGN TABLE declared (u64 int8, f16 float4, d256 numeric, fbin char(3), bin bytea, nul int, ree_text varchar(10),
  dneg numeric, nul_point point OPTIONS (field 'nul')) SERVER arrow_fdw OPTIONS (file :'flat');
SELECT f16, d256, bin, nul, ree_text, dneg, nul_point FROM declared;
SELECT u64 FROM declared LIMIT 1;

-- Nested types.
SELECT import_file('nested', 'nested.arrow'), import_file('nested_stream', 'nested_lz4.stream'),
       import_file('nested_old', 'old.stream'), import_file('unions_v4', 'unions_v4.arrow');
SELECT * FROM columns_of('nested');
\x on
SELECT * FROM nested;
\x off
SELECT count(*) FROM nested a JOIN nested_stream b ON a::text = b::text;
SELECT count(*) FROM (SELECT li, ls, fl, ll, ragged, st, lst, deep, map, imap, dict_list, list_dict, leaves FROM nested) a
  JOIN nested_old b ON a::text = b::text;
SELECT count(*) FROM nested a JOIN unions_v4 b ON (a.du, a.su)::text = (b.du, b.su)::text;
CREATE TYPE pair AS (a int, b text);
CREATE TYPE other_pair AS (x int, y text);
CREATE TYPE swapped AS (b text, a int);
CREATE TYPE wrong_pair AS (a int, b date);
CREATE DOMAIN small AS int CHECK (VALUE < 100);
CREATE DOMAIN present AS text NOT NULL;
CREATE TYPE mood AS ENUM ('ok', 'sad');
CREATE FOREIGN TABLE typed (li small[], ls json, fl float8[], ll int[], ragged json, st pair, lst pair[], map json,
  du json, st2 other_pair OPTIONS (field 'st'), st3 swapped OPTIONS (field 'st'), lst2 jsonb[] OPTIONS (field 'lst'),
  dict_list text[], li2 jsonb OPTIONS (field 'li')) SERVER arrow_fdw OPTIONS (file :'nested');
\x on
SELECT * FROM typed;
\x off
SELECT (st).a, (st3).b, array_dims(ll), array_length(li, 1) FROM typed;
SELECT count(*) FROM typed WHERE st IS NULL;
SELECT count(*) FROM typed WHERE st IS NOT NULL;
SELECT li2 -> 0 AS first, count(*) FROM typed GROUP BY 1 ORDER BY 1;

-- Types that metadata name.
\set named :data '/named.arrow'
IMPORT FOREIGN SCHEMA named FROM SERVER arrow_fdw INTO arrow_types_all OPTIONS (file :'named', named_types 'any');
SELECT * FROM columns_of('named');
\x on
SELECT * FROM named;
\x off

-- The streaming format.
SELECT import_file('replaced', 'replaced.stream'), import_file('delta', 'delta.stream');
SELECT * FROM replaced ORDER BY id;
SELECT * FROM delta ORDER BY id;
SELECT t, count(*) FROM replaced GROUP BY t ORDER BY t;
SET pg_strom.enabled = off;
SELECT t, count(*) FROM replaced GROUP BY t ORDER BY t;
RESET pg_strom.enabled;

-- Values that there is no room for, and files that are damaged.
CREATE FUNCTION error_of(columns text, file text, query text, OUT state text, OUT message text, OUT detail text,
                         OUT hint text, OUT context text) LANGUAGE plpgsql AS $$
DECLARE data constant text := current_setting('test.data');
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE t (%s) SERVER arrow_fdw OPTIONS (file %L)', columns, data || '/' || file);
  BEGIN
    EXECUTE query;
    message := 'no error';
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
      hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
    message := replace(message, data, '@');
    context := replace(substring(context, '(?n)^column.*$'), data, '@');
  END;
  DROP FOREIGN TABLE t;
END $$;
\x on
\pset format unaligned
SELECT * FROM error_of('late time', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('negative time', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('long interval', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('big int8', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('ragged int[]', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('missing int[]', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('json json', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('json int4range', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('domain small', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('json int', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('ragged int', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('ragged date[]', 'bad_values.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('nul present', 'flat.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('st wrong_pair', 'nested.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('st int[]', 'nested.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('map jsonb, t32s time', 'nested.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('l int[]', 'bad_list.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('l jsonb', 'bad_list_order.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('u jsonb', 'bad_union.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('u jsonb', 'bad_union_type.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('r int', 'bad_runs.arrow', 'SELECT * FROM t');
SELECT * FROM error_of('u64 numeric', 'cut.stream', 'SELECT * FROM t');
\pset format aligned
\x off
\set VERBOSITY terse
DROP SCHEMA arrow_types_all CASCADE;
