-- Compressed record batches: the rows of the same file without compression, read by PostgreSQL and by the engine.
\getenv source_dir PG_ABS_SRCDIR
\set plain :source_dir '/data/pruning/plain.arrow'
\set lz4 :source_dir '/data/compressed/lz4.arrow'
\set zstd :source_dir '/data/compressed/zstd.arrow'
CREATE SCHEMA arrow_compressed;
SET search_path = arrow_compressed;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
IMPORT FOREIGN SCHEMA plain FROM SERVER arrow_fdw INTO arrow_compressed OPTIONS (file :'plain');
IMPORT FOREIGN SCHEMA lz4 FROM SERVER arrow_fdw INTO arrow_compressed OPTIONS (file :'lz4');
IMPORT FOREIGN SCHEMA zstd FROM SERVER arrow_fdw INTO arrow_compressed OPTIONS (file :'zstd');
CREATE FUNCTION differences(tab text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM ((TABLE plain EXCEPT ALL TABLE %1$I) UNION ALL (TABLE %1$I EXCEPT ALL TABLE plain)) d', tab)
    INTO result;
  RETURN result;
END $$;
SET pg_strom.enabled = off;
SELECT differences('lz4'), differences('zstd'), (SELECT count(*) FROM lz4), (SELECT count(*) FROM zstd);
SET pg_strom.enabled = on;
SET pg_strom.cpu_setup_cost = 0;
SELECT differences('lz4'), differences('zstd'), (SELECT count(*) FROM lz4), (SELECT count(*) FROM zstd);
EXPLAIN (COSTS OFF) SELECT t, count(*), min(lt), sum(n) FROM lz4 GROUP BY t;

-- Texts outlive the batch that they came in: groups, inner sides, rows in order, first rows, fallback rows.
CREATE FUNCTION answers(tab text) RETURNS TABLE (n int, answer text) LANGUAGE plpgsql AS $$
DECLARE
  queries text[] := ARRAY[
    'SELECT t, count(*), min(lt) AS least, max(t), sum(n) FROM %I GROUP BY t ORDER BY t COLLATE "C"',
    'SELECT id, t, lt FROM %I WHERE id %% 97 = 0 ORDER BY t COLLATE "C", id',
    'SELECT id, t FROM %I ORDER BY lt COLLATE "C", id LIMIT 20',
    'SELECT a.id, a.t, b.lt FROM %1$I a JOIN %1$I b ON a.t = b.lt AND a.id + 50 = b.id ORDER BY 1',
    'SELECT a.id, b.t FROM plain a JOIN %1$I b ON a.id = b.id WHERE a.i4 < -1500 ORDER BY 1',
    'SELECT a.t, b.t, count(*) FROM %1$I a JOIN %1$I b ON a.id = b.i2 GROUP BY 1, 2 ORDER BY 1 COLLATE "C", 2 COLLATE "C"',
    'SELECT id, t, i8 * 10 AS wide FROM %I WHERE i8 * 10 > 0 OR t = ''apple'' ORDER BY id LIMIT 5',
    'SELECT count(*), sum(i4), max(d), min(tz), bool_or(b), round(avg(f8)::numeric, 6) FROM %I WHERE id > 10 AND f8 < 10'];
BEGIN
  FOR i IN 1 .. array_length(queries, 1) LOOP
    n := i;
    BEGIN
      EXECUTE format('SELECT md5(string_agg(q::text, ''/'')) || '' '' || count(*) FROM (' || queries[i] || ') q', tab) INTO answer;
    EXCEPTION WHEN OTHERS THEN answer := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END $$;
CREATE TABLE expected AS SELECT * FROM answers('plain');
SELECT n, answer LIKE '%range%' AS raises FROM expected ORDER BY n;
(SELECT 'lz4', * FROM answers('lz4') EXCEPT SELECT 'lz4', * FROM expected)
UNION ALL (SELECT 'zstd', * FROM answers('zstd') EXCEPT SELECT 'zstd', * FROM expected);
SET pg_strom.work_memory = '64kB';
(SELECT 'lz4', * FROM answers('lz4') EXCEPT SELECT 'lz4', * FROM expected)
UNION ALL (SELECT 'zstd', * FROM answers('zstd') EXCEPT SELECT 'zstd', * FROM expected);
RESET pg_strom.work_memory;
ANALYZE lz4;
SELECT attname, n_distinct FROM pg_stats WHERE schemaname = 'arrow_compressed' AND tablename = 'lz4' AND attname IN ('id', 't', 'same') ORDER BY 1;
-- Columns are kept decompressed: the first scan of a table decompresses them, the second keeps, the third finds.
SELECT pgstrom.column_cache_reset();
SELECT pg_sleep(2.1);  -- files that were just changed are not kept
CREATE FUNCTION columns_kept(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || statement INTO plan;
  RETURN coalesce(substring(plan::text FROM '"Column Cache Columns Kept": (\d+)'), '0') || ' ' ||
         coalesce(substring(plan::text FROM '"Column Cache Columns Decompressed": (\d+)'), '-');
END $$;
SET pg_strom.regression_test_mode = off;
SELECT columns_kept('SELECT t, sum(n), count(b) FROM lz4 GROUP BY t') FROM generate_series(1, 3);
SELECT columns_kept('SELECT t, sum(n), count(b), max(f8) FROM lz4 GROUP BY t') FROM generate_series(1, 2);
SELECT attribute, rows FROM pgstrom.column_cache_info() WHERE relation = 'lz4'::regclass ORDER BY 1;
SET pg_strom.enable_column_cache = off;
SELECT columns_kept('SELECT t, sum(n), count(b) FROM lz4 GROUP BY t');
RESET pg_strom.enable_column_cache;
SET pg_strom.regression_test_mode = on;
SELECT differences('lz4'), differences('zstd') FROM generate_series(1, 3);
(SELECT 'lz4', * FROM answers('lz4') EXCEPT SELECT 'lz4', * FROM expected)
UNION ALL (SELECT 'zstd', * FROM answers('zstd') EXCEPT SELECT 'zstd', * FROM expected);
-- A mixed table: one file is compressed.
\set both :plain ',' :lz4 ',' :zstd
CREATE FOREIGN TABLE mixed (id int, t text, n numeric(12,2)) SERVER arrow_fdw OPTIONS (files :'both');
SELECT count(*), count(DISTINCT id), sum(n), count(DISTINCT t) FROM mixed;

-- Damage: file, record batch and column are named; columns that are whole can be read.
CREATE FUNCTION failure(path text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; state text; result text;
BEGIN
  DROP FOREIGN TABLE IF EXISTS damaged;
  EXECUTE format('CREATE FOREIGN TABLE damaged (x int, words text) SERVER arrow_fdw OPTIONS (file %L)', path);
  EXECUTE query INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
  RETURN state || ' ' || regexp_replace(message, '"/.*/', '"') || ' ' || regexp_replace(detail, 'data: [^t].*', 'data');
END $$;
SET client_min_messages = warning;
\set folder :source_dir '/data/compressed/'
SELECT f, enabled, failure(:'folder' || f || '.arrow', 'SELECT sum(x) FROM damaged')
  FROM unnest(ARRAY['lz4_small', 'lz4_scrambled', 'lz4_bomb', 'lz4_larger', 'lz4_smaller', 'lz4_negative',
                    'zstd_small', 'zstd_scrambled', 'zstd_bomb', 'zstd_larger', 'zstd_smaller', 'zstd_negative']) f,
       LATERAL (SELECT e, set_config('pg_strom.enabled', e, false) FROM (VALUES ('on'), ('off')) v(e)) s(enabled, x);
SET pg_strom.enabled = on;
SELECT failure(:'folder' || 'lz4_scrambled.arrow', 'SELECT max(words) FROM damaged');
\set VERBOSITY terse
DROP SCHEMA arrow_compressed CASCADE;
