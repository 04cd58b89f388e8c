-- Columns whose values come from the names of files, from folders and from custom metadata.
\getenv source_dir PG_ABS_SRCDIR
\set sales :source_dir '/data/virtual/sales'
\set hive :source_dir '/data/virtual/hive'
\set listed :source_dir '/data/virtual/hive/year=2023/quarter=1/a.arrow,' :source_dir '/data/virtual/hive/top.arrow'
CREATE SCHEMA arrow_virtual;
SET search_path = arrow_virtual;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;

-- Patterns by themselves.
SELECT name, pattern, pgstrom.arrow_fdw_check_pattern(name, pattern) FROM (VALUES
  ('f_lineorder_199301_AIR.arrow', 'f_lineorder_@{year_month}_${shipmode}.arrow'),
  ('f_lineorder_x_AIR.arrow', 'f_lineorder_@{year_month}_${shipmode}.arrow'),
  ('/opt/arrow/f_1_b_c.arrow', 'f_@{n}_${rest}.arrow'), ('a_b_c', '${x}_${y}'), ('a*c', 'a\*c'), ('abc', 'a\*c'), ('abc', 'a*'),
  ('/d/y=1/m=2/x.arrow', 'y=@{y}/m=@{m}/*.arrow'), ('/d/y=1/z/x.arrow', 'y=@{y}/**/*.arrow'), ('/d/x', '**/${name}'),
  ('x', '*/x'), ('x.parquet', '*.arrow')) AS p (name, pattern);
\set VERBOSITY terse
SELECT pgstrom.arrow_fdw_check_pattern('x', 'a${b');
SELECT pgstrom.arrow_fdw_check_pattern('x', '@{}');
SELECT pgstrom.arrow_fdw_check_pattern('x', 'x\');
SELECT pgstrom.arrow_fdw_check_pattern('x', '${a}/@{a}');
SELECT pgstrom.arrow_fdw_check_pattern('x', 'a//b');
SELECT pgstrom.arrow_fdw_check_pattern('x', '');
SELECT pgstrom.arrow_fdw_check_pattern('x', '**');
SELECT pgstrom.arrow_fdw_check_pattern('x', '**/**/x');
\set VERBOSITY default

IMPORT FOREIGN SCHEMA sales FROM SERVER arrow_fdw INTO arrow_virtual
  OPTIONS (dir :'sales', pattern 'sales_@{month}_${region}.arrow');
SELECT attname, format_type(atttypid, atttypmod), attfdwoptions FROM pg_attribute WHERE attrelid = 'sales'::regclass AND attnum > 0;
ALTER FOREIGN TABLE sales ADD COLUMN path varchar OPTIONS (virtual '@pathname'),
  ADD COLUMN file text OPTIONS (virtual '@filename'), ADD COLUMN nothing date OPTIONS (virtual 'nothing'),
  ADD COLUMN owner text OPTIONS (virtual_metadata 'owner'), ADD COLUMN stamp date OPTIONS (virtual_metadata 'stamp'),
  ADD COLUMN unit text OPTIONS (virtual_metadata 'n.unit'), ADD COLUMN seen numeric(6,2) OPTIONS (virtual_metadata 'n.seen'),
  ADD COLUMN late int OPTIONS (virtual_metadata 'late'), ADD COLUMN shard text OPTIONS (virtual_metadata_split 'shard'),
  ADD COLUMN real float8 OPTIONS (virtual_metadata 'n.seen'), ADD COLUMN id uuid OPTIONS (virtual 'nothing'),
  ADD COLUMN stamped timestamptz OPTIONS (virtual_metadata 'stamp'), ADD COLUMN loose numeric OPTIONS (virtual_metadata 'n.seen'),
  ADD COLUMN padded char(12) OPTIONS (virtual 'region');

-- Both ways: the foreign scan, and the engine.
CREATE TABLE answers (n int, enabled bool, answer text);
CREATE TABLE queries (n serial, query text);
INSERT INTO queries (query) VALUES
  ('SELECT item, n, month, region, file, nothing, owner, stamp, unit, seen, late, shard FROM sales'),
  ('SELECT month, region, count(*), sum(n), min(shard), max(late) FROM sales GROUP BY 1, 2'),
  ('SELECT region, count(*) FROM sales WHERE month = 202401 GROUP BY 1'),
  ('SELECT n, region FROM sales WHERE region = ''north'' AND n > 1'),
  ('SELECT n, late FROM sales WHERE late IS NULL'), ('SELECT n, late FROM sales WHERE late IS NOT NULL'),
  ('SELECT shard, sum(n) FROM sales GROUP BY 1'), ('SELECT n FROM sales WHERE shard IN (''x2'', ''3'')'),
  ('SELECT s.region, d.name, sum(n) FROM sales s JOIN (VALUES (202401, ''jan''), (202403, ''mar'')) AS d (month, name) ON d.month = s.month GROUP BY 1, 2'),
  ('SELECT a.region, count(*) FROM sales a JOIN sales b ON a.region = b.region AND a.n < b.n GROUP BY 1'),
  ('SELECT month + n, upper(region), seen * 2, stamp + 1, owner || unit FROM sales WHERE n IS NOT NULL'),
  ('SELECT real, stamped, count(*) FROM sales WHERE real > 1 AND stamped > ''2024-01-02'' GROUP BY 1, 2'),
  ('SELECT loose, id, padded, n FROM sales WHERE loose > 1.5 OR padded = ''north'''),
  ('SELECT count(*), count(nothing), count(DISTINCT region) FROM sales WHERE path LIKE ''%sales%'''),
  ('SELECT count(*) FROM sales WHERE month > ALL (SELECT month FROM sales WHERE region = ''south'')'),
  ('SELECT region, n FROM sales ORDER BY month DESC, n DESC NULLS LAST, item LIMIT 4');
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0;
DO $$
DECLARE q record; e bool; row text;
BEGIN
  FOR q IN SELECT * FROM queries LOOP
    FOREACH e IN ARRAY ARRAY[true, false] LOOP
      PERFORM set_config('pg_strom.enabled', e::text, true);
      FOR row IN EXECUTE 'SELECT r::text FROM (' || q.query || ') r' LOOP
        INSERT INTO answers VALUES (q.n, e, row);
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
SELECT n, count(*) FILTER (WHERE enabled) AS rows, query FROM answers JOIN queries USING (n) GROUP BY n, query ORDER BY n;
SELECT n, answer, count(*) FILTER (WHERE enabled), count(*) FILTER (WHERE NOT enabled) FROM answers GROUP BY 1, 2
  HAVING count(*) FILTER (WHERE enabled) <> count(*) FILTER (WHERE NOT enabled);
SELECT answer FROM answers WHERE enabled AND n IN (2, 7, 9, 11, 13) ORDER BY n, answer COLLATE "C";
EXPLAIN (COSTS OFF) SELECT month, region, seen, sum(n) FROM sales WHERE stamp > '2024-01-01' GROUP BY 1, 2, 3;

-- Record batches that the values rule out.
CREATE FUNCTION hint(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line LIKE '%Stats-Hint%' THEN RETURN NEXT ltrim(line); END IF;
  END LOOP;
END $$;
SELECT hint('SELECT n FROM sales WHERE month = 202401');
SELECT hint('SELECT sum(n) FROM sales WHERE month BETWEEN 202402 AND 202499 AND region = ''north''');
SELECT hint('SELECT n FROM sales WHERE shard = ''x2''');
SELECT hint('SELECT n FROM sales WHERE late IS NULL');
SELECT hint('SELECT n FROM sales WHERE late > 7');
SELECT hint('SELECT n FROM sales WHERE seen = 2.5');
SELECT hint('SELECT n FROM sales WHERE stamp >= ''2024-01-03''');
SELECT hint('SELECT n FROM sales WHERE nothing IS NOT NULL');
SELECT hint('SELECT count(*) FROM sales s JOIN (VALUES (202403)) AS d (month) ON s.month = d.month');
SET pg_strom.enabled = off;
SELECT hint('SELECT n FROM sales WHERE month = 202401');
RESET pg_strom.enabled;
PREPARE by_month(bigint) AS SELECT count(*) FROM sales WHERE month = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_month(202401);
EXECUTE by_month(202403);
RESET plan_cache_mode;

-- Rows before and behind the filters, planned and found.
CREATE FUNCTION quals(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line LIKE '%Scan Quals%' THEN RETURN NEXT ltrim(line); END IF;
  END LOOP;
END $$;
SELECT quals('SELECT n FROM sales WHERE region = ''north'' AND n > 1');
SELECT quals('SELECT sum(n) FROM sales WHERE month = 202401');

-- Folders called key=value.
IMPORT FOREIGN SCHEMA hive FROM SERVER arrow_fdw INTO arrow_virtual OPTIONS (dir :'hive', pattern '**/*.arrow');
SELECT attname, format_type(atttypid, atttypmod), attfdwoptions FROM pg_attribute WHERE attrelid = 'hive'::regclass AND attnum > 0;
SELECT year, quarter, n FROM hive ORDER BY 3;
SELECT hint('SELECT n FROM hive WHERE year = 2023');
IMPORT FOREIGN SCHEMA two FROM SERVER arrow_fdw INTO arrow_virtual OPTIONS (dir :'hive', pattern 'year=@{y}/quarter=@{q}/*.arrow', suffix 'arrow');
SELECT * FROM two ORDER BY n;
CREATE FOREIGN TABLE flat (n int, year int OPTIONS (virtual 'year')) SERVER arrow_fdw OPTIONS (dir :'hive');
SELECT * FROM flat;
CREATE FOREIGN TABLE listed (n int, year int OPTIONS (virtual 'year')) SERVER arrow_fdw OPTIONS (files :'listed');
SELECT * FROM listed ORDER BY n;
ALTER FOREIGN TABLE listed OPTIONS (ADD pattern 'quarter=*/${f}.arrow');
SELECT * FROM listed;
ANALYZE sales, hive;
SELECT tablename, attname, null_frac, n_distinct FROM pg_stats WHERE schemaname = 'arrow_virtual' AND attname IN ('year', 'month', 'region', 'late') ORDER BY 1, 2;

-- Metadata, as it stands in the files.
SELECT relid, regexp_replace(filename, '.*/', '') AS file, field, key, value FROM pgstrom.arrow_fdw_metadata_info('sales')
  WHERE filename LIKE '%202401_n%' ORDER BY field, key COLLATE "C";

-- What is refused.
ALTER FOREIGN TABLE sales ALTER region TYPE int;
\set VERBOSITY terse
DO $$
DECLARE message text; context text; state text;
BEGIN
  PERFORM region FROM arrow_virtual.sales;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT, state = RETURNED_SQLSTATE;
  RAISE NOTICE '% % %', state, message, regexp_replace(split_part(context, E'\n', 1), '"/.*/', '"');
END $$;
CREATE FOREIGN TABLE bad (a int OPTIONS (virtual 'a', field 'b')) SERVER arrow_fdw OPTIONS (dir :'sales');
CREATE FOREIGN TABLE bad (a int OPTIONS (virtual 'a', virtual_metadata 'b')) SERVER arrow_fdw OPTIONS (dir :'sales');
CREATE FOREIGN TABLE bad (a int OPTIONS (virtual '')) SERVER arrow_fdw OPTIONS (dir :'sales');
CREATE FOREIGN TABLE bad (a int OPTIONS (virtual '@path')) SERVER arrow_fdw OPTIONS (dir :'sales');
CREATE FOREIGN TABLE bad (a int OPTIONS (virtul 'a')) SERVER arrow_fdw OPTIONS (dir :'sales');
CREATE FOREIGN TABLE bad (a int) SERVER arrow_fdw OPTIONS (dir :'sales', pattern 'a${');
IMPORT FOREIGN SCHEMA bad FROM SERVER arrow_fdw INTO arrow_virtual OPTIONS (files :'listed', pattern 'nothing*');
SELECT * FROM pgstrom.arrow_fdw_metadata_info('answers');
CREATE ROLE arrow_virtual_reader;
GRANT USAGE ON SCHEMA arrow_virtual, pgstrom TO arrow_virtual_reader;
SET ROLE arrow_virtual_reader;
SELECT * FROM pgstrom.arrow_fdw_metadata_info('sales');
RESET ROLE;
REVOKE USAGE ON SCHEMA pgstrom FROM arrow_virtual_reader;
DROP SCHEMA arrow_virtual CASCADE;
DROP ROLE arrow_virtual_reader;
