-- Types that only heap tables have: what the engine computes with them, and the types int1 and float2.
LOAD 'pg_strom';
CREATE SCHEMA kinds;
SET search_path = kinds;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
SET pg_strom.cpu_fallback = off;
CREATE TYPE mood AS ENUM ('sad', 'calm', 'glad');
CREATE DOMAIN price AS numeric(10,2) CHECK (value >= 0);
CREATE TABLE visits AS SELECT i AS id, (ARRAY['sad', 'calm', 'glad']::mood[])[1 + i % 3] AS mood, (i * 0.25)::price AS paid,
    ('10.0.' || i % 5 || '.' || i % 250 || '/24')::inet AS host, (i % 200 - 100)::int1 AS small, (i / 8.0)::float8::float2 AS half,
    timestamptz '2024-01-01 00:00+00' + i * interval '1 hour' AS at, i::text AS word
  FROM generate_series(1, 5000) i;
ANALYZE visits;
EXPLAIN (COSTS OFF) SELECT mood, sum(paid), count(*) FROM visits WHERE host <<= '10.0.3.0/24' AND mood > 'sad' GROUP BY mood;
SELECT mood, sum(paid), count(*) FROM visits WHERE host <<= '10.0.3.0/24' AND mood > 'sad' GROUP BY mood ORDER BY mood;
SELECT host(network(host)) AS net, min(mood), max(mood), avg(paid / 3) FROM visits GROUP BY 1 ORDER BY 1;
SELECT small, sum(small), round(avg(half)::numeric, 3) AS half, sum(word::int) FROM visits WHERE small < -97 GROUP BY small ORDER BY small;
-- Values that were added between others have their order in a catalog; equality does not need it.
ALTER TYPE mood ADD VALUE 'tired' BEFORE 'calm';
EXPLAIN (COSTS OFF) SELECT count(*) FROM visits WHERE mood > 'sad';
EXPLAIN (COSTS OFF) SELECT count(*) FROM visits WHERE mood = 'sad';
INSERT INTO visits (id, mood) VALUES (0, 'tired');
SET pg_strom.cpu_fallback = on;
SELECT min(mood), max(mood) FROM visits WHERE mood > 'sad';
-- Local times of any zone; a comparison with a timestamp without one stays with PostgreSQL.
SET TimeZone = 'America/New_York';
EXPLAIN (COSTS OFF) SELECT date_trunc('month', at), count(*) FROM visits WHERE extract(hour FROM at) = 2 GROUP BY 1;
SELECT date_trunc('month', at), count(*) FROM visits WHERE extract(hour FROM at) = 2 GROUP BY 1 ORDER BY 1 LIMIT 4;
EXPLAIN (COSTS OFF) SELECT count(*) FROM visits WHERE at > timestamp '2024-03-10 02:30';
RESET TimeZone;
-- Numbers of 64 bits without a sign, about the middle of their range too
CREATE TABLE positions AS SELECT i AS id, '0/0'::pg_lsn + p AS at, p::text::xid8 AS change
  FROM generate_series(0, 4000) i, LATERAL (SELECT CASE WHEN i % 10 <> 3 THEN i::numeric * 4611686018427387 END AS p) q;
ALTER TABLE positions ADD COLUMN start pg_lsn DEFAULT 'FFFFFFFF/0', ADD COLUMN first xid8 DEFAULT '9223372036854775808';
INSERT INTO positions VALUES (4001, 'FFFFFFFF/FFFFFFFF', '18446744073709551615', '0/1', '0');
ANALYZE positions;
EXPLAIN (COSTS OFF) SELECT id % 3 AS g, count(*), min(at), max(at), min(change), max(change) FROM positions
  WHERE at > '7FFFFFFF/FFFFFFFF' AND change <= '18446744073709551615' GROUP BY 1;
SELECT id % 3 AS g, count(*), min(at), max(at), min(change), max(change) FROM positions
  WHERE at > '7FFFFFFF/FFFFFFFF' AND change <= '18446744073709551615' GROUP BY 1 ORDER BY 1;
SELECT min(at), max(at), min(change), max(change), count(at), count(DISTINCT change) FROM positions;
SELECT start, first, count(*), max(change) FROM positions GROUP BY 1, 2 ORDER BY 1;
SELECT count(*), max(a.at) FROM positions a JOIN positions b ON a.at = b.at JOIN positions c ON b.change = c.change AND c.id < 2500;
SELECT at, change FROM positions ORDER BY at DESC NULLS LAST LIMIT 3;
SELECT id, at, change, start FROM positions WHERE change = (SELECT max(change) FROM positions WHERE at < '80000000/0');
-- int1 and float2 by themselves
SELECT 127::int1 + 1::int1;
SELECT (-128)::int1 / (-1)::int1;
SELECT 1::int1 / 0::int1;
SELECT '128'::int1;
SELECT 300::int1;
SELECT 70000::float8::float2;
SELECT 1e-9::float8::float2;
SELECT 5::int1 + 2 AS sum, 5::int1 * 2.5 AS product, -5::int1 / 2::int1 AS quotient,
       (-1)::int1 << 3 AS shifted, ~ 5::int1 AS inverted, '0.1'::float2 AS tenth, '0.1'::float2 + 1::float8 AS more;
SELECT pg_typeof(1::int1 + 1::int1) AS a, pg_typeof(1::int1 + 1::int2) AS b, pg_typeof(1::float2 + 1::float2) AS c;
SELECT 'NaN'::float2 > 'Infinity'::float2 AS above, '-0'::float2 = '0'::float2 AS zeros, 1::int1 = 1::int8 AS widths;
CREATE INDEX ON visits (small);
SET enable_seqscan = off;
SET pg_strom.enabled = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM visits WHERE small = 5 AND half > 10;
SELECT count(*) FROM visits a JOIN visits b ON a.small = b.id;
SELECT count(DISTINCT small), min(small), max(half), stddev(small) FROM visits;
RESET enable_seqscan;
RESET pg_strom.enabled;
DROP SCHEMA kinds CASCADE;
