-- Dictionary-encoded columns: the rows of the same file without dictionaries, read by PostgreSQL and by the engine.
\getenv source_dir PG_ABS_SRCDIR
\set plain :source_dir '/data/dictionaries/plain.arrow'
\set encoded :source_dir '/data/dictionaries/encoded.arrow'
\set compressed :source_dir '/data/dictionaries/compressed.arrow'
\set nulls :source_dir '/data/dictionaries/nulls.arrow'
\set delta :source_dir '/data/dictionaries/delta.arrow'
\set out_of_range :source_dir '/data/dictionaries/out_of_range.arrow'
\set mixed :plain ',' :encoded
CREATE SCHEMA arrow_dictionary;
SET search_path = arrow_dictionary;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
IMPORT FOREIGN SCHEMA plain FROM SERVER arrow_fdw INTO arrow_dictionary OPTIONS (file :'plain');
IMPORT FOREIGN SCHEMA encoded FROM SERVER arrow_fdw INTO arrow_dictionary OPTIONS (file :'encoded');
IMPORT FOREIGN SCHEMA compressed FROM SERVER arrow_fdw INTO arrow_dictionary OPTIONS (file :'compressed');
IMPORT FOREIGN SCHEMA mixed FROM SERVER arrow_fdw INTO arrow_dictionary OPTIONS (files :'mixed');
IMPORT FOREIGN SCHEMA nulls FROM SERVER arrow_fdw INTO arrow_dictionary OPTIONS (file :'nulls');
IMPORT FOREIGN SCHEMA delta FROM SERVER arrow_fdw INTO arrow_dictionary OPTIONS (file :'delta');
IMPORT FOREIGN SCHEMA out_of_range FROM SERVER arrow_fdw INTO arrow_dictionary OPTIONS (file :'out_of_range');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'encoded'::regclass AND attnum > 0 ORDER BY attnum;
CREATE FUNCTION failure(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; state text; result text;
BEGIN
  EXECUTE query INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
  RETURN state || ' ' || regexp_replace(message, '"/.*/', '"') || ' ' || detail;
END $$;
CREATE FUNCTION differences(tab text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM ((TABLE plain EXCEPT ALL TABLE %1$I) UNION ALL (TABLE %1$I EXCEPT ALL TABLE plain)) d', tab)
    INTO result;
  RETURN result;
END $$;
SET pg_strom.enabled = off;
SELECT differences('encoded'), differences('compressed');
TABLE nulls;
SELECT count(*), count(DISTINCT t), min(t), max(t), sum(id) FILTER (WHERE t = 'word 15') FROM delta;
SELECT failure('SELECT max(t) FROM out_of_range');
SELECT failure('SELECT max(x) FROM out_of_range');
SET pg_strom.enabled = on;
SET pg_strom.cpu_setup_cost = 0;
SELECT differences('encoded'), differences('compressed');
SET datestyle = 'ISO';
EXPLAIN (COSTS OFF) SELECT t1, count(*), sum(i) FROM encoded WHERE t2 LIKE '%an%' GROUP BY t1;
SELECT t1, count(*), sum(i), max(d), min(t8 COLLATE "C") FROM encoded WHERE t2 LIKE '%an%' GROUP BY t1 ORDER BY t1 COLLATE "C";
SELECT t1, count(*), sum(i), max(d), min(t8 COLLATE "C") FROM compressed WHERE t2 LIKE '%an%' GROUP BY t1 ORDER BY t1 COLLATE "C";
SELECT t1, count(*), sum(i), max(d), min(t8 COLLATE "C") FROM plain WHERE t2 LIKE '%an%' GROUP BY t1 ORDER BY t1 COLLATE "C";
SELECT count(*), count(a.t1), sum(length(b.t4)) FROM encoded a JOIN compressed b ON a.t4 = b.t4 AND a.t1 = b.t2;
SELECT count(*), count(a.t1), sum(length(b.t4)) FROM plain a JOIN plain b ON a.t4 = b.t4 AND a.t1 = b.t2;
SELECT id, t4, f FROM encoded WHERE i = 3 ORDER BY t4 COLLATE "C" DESC NULLS LAST, id LIMIT 5;
SELECT id, t4, f FROM plain WHERE i = 3 ORDER BY t4 COLLATE "C" DESC NULLS LAST, id LIMIT 5;
-- A file without dictionaries beside one with.
SELECT t1, count(*), sum(id) FROM mixed GROUP BY t1 ORDER BY t1 COLLATE "C";
SELECT n, t, x FROM nulls WHERE n >= 0;
SELECT t IS NULL AS unknown, count(*), sum(x) FROM nulls GROUP BY 1 ORDER BY 1;
SELECT count(*), count(DISTINCT t), min(t), max(t), sum(id) FILTER (WHERE t = 'word 15') FROM delta;
SELECT failure('SELECT max(t) FROM out_of_range');
SELECT failure('SELECT max(x) FROM out_of_range');
\set VERBOSITY terse
DROP SCHEMA arrow_dictionary CASCADE;
