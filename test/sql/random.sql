-- Generators of random data: within their bounds, NULLs as often as asked for, repeatable.
CREATE SCHEMA random_data;
SET search_path = random_data, pgstrom, pg_catalog;
SELECT random_setseed(42);
CREATE TABLE sample AS
  SELECT i, random_int(0, 1, 10) AS small, random_int(25) AS quarter, random_int(0, -9223372036854775808, 9223372036854775807) AS any_int,
         random_float() AS unit, random_float(0, 123.0, 154.2) AS x, random_float(0, -1.7e308, 1.7e308) AS wide,
         random_date() AS d, random_time() AS t, random_timetz() AS tz, random_timestamp() AS ts, random_macaddr() AS mac,
         random_inet() AS host, random_inet(0, '2001:db8::/32') AS host6, random_text() AS word, random_text(0, 'é*\*') AS mixed,
         random_text_len(0, 5) AS len, random_int4range(10) AS r4, random_int8range() AS r8, random_tsrange() AS tsr,
         random_tstzrange() AS tzr, random_daterange(0, '2020-01-01', '2020-01-03') AS dr
    FROM generate_series(1, 4000) i;
SELECT min(small), max(small), count(DISTINCT small) FROM sample;
SELECT count(quarter) BETWEEN 2800 AND 3200 AS a_quarter_null, count(r4) BETWEEN 3450 AND 3750 AS a_tenth_null FROM sample;
SELECT min(any_int) < -8e18 AND max(any_int) > 8e18 AS whole_range, count(DISTINCT any_int) FROM sample;
SELECT min(unit) >= 0 AND max(unit) < 1 AND min(x) >= 123 AND max(x) <= 154.2 AND min(wide) < -1e307 AND max(wide) > 1e307 AS floats FROM sample;
SELECT min(d) >= '2015-01-01' AND max(d) <= '2025-12-31' AND min(t) < '00:10' AND max(t) > '23:50' AND
       min(ts) >= '2015-01-01' AND max(ts) <= '2025-01-01' AND count(DISTINCT extract(timezone FROM tz)) = 25 AS times FROM sample;
SELECT bool_and(mac BETWEEN 'ab:cd:00:00:00:00' AND 'ab:cd:ff:ff:ff:ff') AND bool_and(host << '192.168.0.0/16') AND
       bool_and(masklen(host) = 32) AND bool_and(host6 << '2001:db8::/32') AND count(DISTINCT host6) = count(*) AS addresses FROM sample;
SELECT bool_and(word ~ '^test_[a-zA-Z0-9]{2}$') AND bool_and(mixed ~ '^é[a-zA-Z0-9]\\[a-zA-Z0-9]$') AND
       min(length(len)) = 1 AND max(length(len)) = 5 AND bool_and(len ~ '^[a-zA-Z0-9]+$') AS texts FROM sample;
SELECT bool_and(upper(r4) >= lower(r4) OR isempty(r4)) AND bool_and(lower(tsr) >= '2015-01-01' OR isempty(tsr)) AND
       bool_and(dr <@ '[2020-01-01,2020-01-03]') AND count(upper(r8)) + count(*) FILTER (WHERE isempty(r8)) = count(*) AS ranges FROM sample;
SELECT random_setseed(42);
SELECT random_int(0, 1, 10) = small AS repeats FROM sample WHERE i = 1;
SELECT random_setseed(7);
CREATE TABLE runs AS SELECT random_int() AS one;
SELECT random_setseed(7);
SELECT random_int() = one AS same FROM runs;
SELECT random_int(100), random_int(NULL), random_int(0, NULL, 3), random_date(0, '2020-02-02', '2020-02-02');
SELECT random_int(101);
SELECT random_int(0, 5, 4);
SELECT random_float(0, 'NaN', 4);
SELECT random_timestamp(0, '-infinity', 'infinity');
SELECT random_text_len(0, 0);
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA random_data CASCADE;
