-- Functions of the engine that have no test of their own elsewhere: formats of dates, intervals times numbers, addresses as text, buckets,
-- paths of jsonb with indexes.
LOAD 'pg_strom';
CREATE SCHEMA calls;
SET search_path = calls;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE given (id int, ts timestamp, d date, s text, n numeric(12,3), free numeric, span interval, ip inet, j jsonb);
INSERT INTO given SELECT i, timestamp '2019-12-28 00:00:00.123456' + i * interval '7 hours 11 minutes', date '1999-12-25' + i, to_char(date '2020-01-01' + i, 'DD/MM/YYYY'),
  (i - 500) * 1.375, (i - 500) / 7.0, make_interval(i % 5, i % 14, 0, i % 33, i % 50, i % 61, (i % 100) * 0.37) * (1 - 2 * (i % 2)),
  (ARRAY['10.1.2.3/8', '::', '::1', '::ffff:10.1.2.3', '::10.2.3.4', '::2', '2001:db8::ff00:42:8329/64', '1:0:0:2::3', '1:2:3:4:5:6:7:8', 'fe80::', '::5:0:0:1'])[1 + i % 11]::inet,
  jsonb_build_object('list', jsonb_build_array(i, 'x' || i % 3, jsonb_build_object('7', i % 4)), '0', 'zero', '-1', i) FROM generate_series(1, 1000) i;
INSERT INTO given (id, s, j) VALUES (-1, '31/02/2020', '[1, [2, "b"], null]'), (-2, '1/1/2020', '5'), (-3, '01/01/2020 ', '"text"');
VACUUM ANALYZE given;
-- Whether a part of the query is left to PostgreSQL.
CREATE FUNCTION stays(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    IF line LIKE '%Not Offloaded%' THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

EXPLAIN (COSTS OFF) SELECT to_char(ts, 'Dy, DD Month YYYY HH12:MI AM'), count(*) FROM given WHERE text(ip) <> '::/128' AND j #>> '{list,2,7}' = '3' GROUP BY 1;
SELECT e, r.differences FROM (VALUES ('to_char(ts, ''Day Dy Month Mon'')'), ('to_char(d, ''DAY DY MONTH MON'')'), ('to_char(ts, ''day dy month mon'')'),
  ('to_char(ts, ''IYYY-IW-ID DDD D WW W Q YY'')'), ('to_char(ts, ''yyyy-mm-dd"T"hh24:mi:ss.us MS'')'), ('to_char(ts, ''HH:MI AM HH12 pm'')'),
  ('to_timestamp(to_char(ts, ''DD.MM.YYYY HH24:MI''), ''DD.MM.YYYY HH24:MI'')::timestamp'), ('to_date(to_char(d, ''YYYYMM''), ''YYYYMM'')'),
  ('CASE WHEN id > 0 THEN to_date(s, ''DD/MM/YYYY'') END'), ('span * 1.5'), ('span / 3'), ('0.1 * span'), ('span / -7.25'), ('span * 2'), ('make_interval(id, 1, 2, id, 3, 4, n::float8)'),
  ('make_interval(secs => n::float8)'), ('text(ip)'), ('host(ip)'), ('ip::text'), ('width_bucket(n, -100, 200.5, 7)'), ('width_bucket(free, -10.5, 33.25, 1000)'), ('width_bucket(id, 1, 1000, 10)'),
  ('j #> ''{list,1}'''), ('j #>> ''{list,2,7}'''), ('j #>> ''{0}'''), ('j #>> ''{-1}'''), ('j #> ''{1,-1}'''), ('j #>> ''{list,-3}'''), ('j #>> ''{1,1,0}'''), ('j #> ''{list,9}'''), ('j #>> ''{a1}''')) v (e),
  LATERAL engine.run_both(format('SELECT id, %s AS r FROM given', e)) r WHERE r.differences <> 0 OR stays(format('SELECT count(*) FROM given WHERE (%s) IS NOT NULL', e));
-- Errors are PostgreSQL's.
SELECT to_date(s, 'DD/MM/YYYY') FROM given WHERE id = -1;
SELECT to_date(s, 'DD/MM/YYYY') FROM given WHERE id < -1 ORDER BY id;
SELECT span / 0 FROM given WHERE id = 1;
SELECT span * 1e12 FROM given WHERE id = 7;
SELECT width_bucket(n, 10, 10, 5) FROM given WHERE id = 7;
-- Stays with PostgreSQL.
SELECT e, stays(format('SELECT count(*) FROM given WHERE (%s) IS NOT NULL', e)) FROM (VALUES ('to_char(ts, ''FMMonth'')'), ('to_char(ts, ''DDth'')'), ('to_char(ts, ''J'')'), ('to_char(ts, ''Y,YYY'')'),
  ('to_char(ts, ''SSSS'')'), ('to_date(s, ''DD/MM/YY'')'), ('to_date(s, ''DD Mon YYYY'')'), ('to_date(s, ''DD/DD/YYYY'')'), ('width_bucket(n, 5, 1, 3)'), ('j #>> ''{" 1"}''')) v (e);
SET client_min_messages = warning;
DROP SCHEMA calls CASCADE;
