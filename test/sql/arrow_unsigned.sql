-- Positions, transaction ids, places of rows and hardware addresses in Arrow files: written by arrow_export and INSERT,
-- read by the engine and by PostgreSQL.
SELECT current_setting('data_directory') || '/strom_unsigned' AS folder \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -rf strom_unsigned && mkdir strom_unsigned';
\set file :folder '/p.arrow'
\set new :folder '/new.arrow'
\set old :folder '/old.arrow'
CREATE SCHEMA arrow_unsigned;
SET search_path = arrow_unsigned;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.cpu_operator_cost = 0;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE source (id int, at pg_lsn, change xid8, place tid, mac macaddr, mac8 macaddr8);
INSERT INTO source VALUES (1, '0/0', '0', '(0,0)', '00:00:00:00:00:00', '00:00:00:00:00:00:00:00'),
  (2, 'FFFFFFFF/FFFFFFFF', '18446744073709551615', '(4294967295,65535)', 'ff:ff:ff:ff:ff:ff', 'ff:ff:ff:ff:ff:ff:ff:ff'),
  (3, '7FFFFFFF/FFFFFFFF', '9223372036854775807', '(2147483647,32767)', '7f:ff:ff:ff:ff:ff', '7f:ff:ff:ff:ff:ff:ff:ff'),
  (4, '80000000/0', '9223372036854775808', '(2147483648,32768)', '80:00:00:00:00:00', '80:00:00:00:00:00:00:00'),
  (5, '16/B374D848', '700', '(258,772)', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05'), (6, NULL, NULL, NULL, NULL, NULL);
INSERT INTO source SELECT i, '1/0'::pg_lsn + i, i::text::xid8, format('(%s,%s)', i, i % 9)::tid, '08:00:2b:00:00:00', NULL FROM generate_series(7, 3000) i;
SELECT pgstrom.arrow_export('TABLE arrow_unsigned.source', :'file', '{"batch_rows": 500}');
IMPORT FOREIGN SCHEMA copy FROM SERVER arrow_fdw INTO arrow_unsigned OPTIONS (file :'file');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'copy'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) AS rows, count(at) AS not_null FROM copy;
SELECT * FROM copy WHERE id < 7 ORDER BY id;
EXPLAIN (COSTS OFF) SELECT at, change, place, mac, mac8 FROM copy WHERE at > '80000000/0' AND place > '(5,5)' AND mac8 > '7f:ff:ff:ff:ff:ff:ff:ff';
CREATE FUNCTION check_queries(name text) RETURNS TABLE (query text, nodes text, row_count bigint, differences bigint) LANGUAGE sql AS $$
  SELECT t, (engine.run_both(t)).* FROM unnest(ARRAY['TABLE %s',
    'SELECT id, at, change, place, mac, mac8 FROM %s WHERE id < 1000',
    'SELECT id FROM %s WHERE at > ''80000000/0'' OR change >= ''9223372036854775808'' OR place <= ''(258,772)'' OR mac8 > ''7f:ff:ff:ff:ff:ff:ff:ff''',
    'SELECT id FROM %s WHERE place BETWEEN ''(258,772)'' AND ''(2147483648,32768)'' AND mac <> ''80:00:00:00:00:00''',
    'SELECT min(at), max(at), min(change), max(change), min(place), max(place), count(DISTINCT place), count(mac8) FROM %s',
    'SELECT place, at, count(*) FROM %s GROUP BY 1, 2', 'SELECT mac, mac8, max(change) FROM %s GROUP BY 1, 2',
    'SELECT a.id, s.id FROM %s a JOIN source s ON a.at = s.at AND a.place = s.place AND s.id < 20',
    'SELECT a.id, s.id FROM %s a JOIN source s USING (change) WHERE s.id IN (2, 4, 9)',
    'SELECT a.id, s.id FROM %s a JOIN source s USING (mac8)',
    'SELECT id, change FROM %s ORDER BY change DESC NULLS LAST LIMIT 3']) q, LATERAL (SELECT format(q, name) AS t) f $$;
SELECT * FROM check_queries('copy');
SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE copy) d;
-- Statistics rule out record batches.
CREATE FUNCTION batches(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Batches|Stats-Hint' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SELECT batches('SELECT count(*) FROM copy WHERE change > ''18446744073709551000''');
SELECT batches('SELECT count(*) FROM copy WHERE at BETWEEN ''1/9C4'' AND ''1/A00''');
SELECT count(*) FROM copy WHERE change > '18446744073709551000';
SELECT count(*) FROM copy WHERE at BETWEEN '1/9C4' AND '1/A00';
SELECT batches('SELECT count(*) FROM copy c JOIN source s ON c.change = s.change WHERE s.id BETWEEN 2600 AND 2610');
-- INSERT, into a file of its own and into one whose positions are texts.
CREATE FOREIGN TABLE written (id int, at pg_lsn, change xid8, place tid, mac macaddr, mac8 macaddr8)
  SERVER arrow_fdw OPTIONS (file :'new', writable 'true');
INSERT INTO written TABLE source;
SELECT * FROM check_queries('written');
SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE written) d;
SELECT pgstrom.arrow_export('SELECT id, at::text AS at, change::text::numeric(20,0) AS change, place::text AS place FROM arrow_unsigned.source', :'old');
CREATE FOREIGN TABLE texts (id int, at pg_lsn, place tid) SERVER arrow_fdw OPTIONS (file :'old');
SELECT count(*) FROM (SELECT id, at, place FROM source EXCEPT ALL TABLE texts) d;
SET client_min_messages = warning;
DROP SCHEMA arrow_unsigned CASCADE;
:shell 'rm -rf strom_unsigned';
