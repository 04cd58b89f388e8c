-- Plans of the engine's nodes and what EXPLAIN says of them.
SET search_path = engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_threads = 2;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;

-- Scan: filters in the engine, and one that stays.
EXPLAIN (COSTS OFF) SELECT id, t FROM facts WHERE i4 > 500 AND t LIKE 'a%';
EXPLAIN (COSTS OFF) SELECT id FROM facts WHERE i4 > 500 AND format('%s', t) = 'beta' AND random() < 2;
EXPLAIN (COSTS OFF) SELECT id FROM facts WHERE i4 > 500 AND t > 'b' COLLATE "en-x-icu";
EXPLAIN (COSTS OFF) SELECT id FROM facts WHERE i4 > 500 AND t > 'b' COLLATE "C.utf8";
EXPLAIN (COSTS OFF) SELECT id FROM facts WHERE i4 > (SELECT avg(k) FROM dimension);
-- Joins with a table that the engine reads and with one that it does not.
EXPLAIN (COSTS OFF) SELECT f.id, d.name FROM facts f JOIN dimension d ON f.k = d.k WHERE f.i4 > 500 AND d.region = 'north';
EXPLAIN (COSTS OFF) SELECT f.id, h.name FROM facts f JOIN heap_dimension h ON f.k8 = h.k AND h.opened < f.d;
EXPLAIN (COSTS OFF) SELECT f.id FROM facts f JOIN dimension d ON f.k = d.k AND format('%s', f.t) = d.name WHERE f.i4 > 500;
-- Everything fused into the aggregation.
EXPLAIN (COSTS OFF) SELECT d.name, h.region, sum(f.n), count(*) FROM facts f, dimension d, heap_dimension h
  WHERE f.k = d.k AND f.k8 = h.k AND f.i4 > 0 GROUP BY d.name, h.region HAVING count(*) > 3 ORDER BY 3;
EXPLAIN (COSTS OFF) SELECT DISTINCT t FROM facts WHERE b;
EXPLAIN (COSTS OFF) SELECT k, count(DISTINCT i4), count(*) FROM facts GROUP BY k;
-- Aggregations that stay with PostgreSQL.
EXPLAIN (COSTS OFF) SELECT k, string_agg(t, ',' ORDER BY id) FROM facts GROUP BY k;
EXPLAIN (COSTS OFF) SELECT format('%s', t), count(*) FROM facts GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT json_agg(i4) FROM facts;
-- Op-codes, counts, other formats.
EXPLAIN (COSTS OFF, VERBOSE) SELECT d.region, sum(f.i4 * 2) FILTER (WHERE f.b), avg(f.n) FROM facts f
  JOIN dimension d ON f.k = d.k AND f.d > d.opened WHERE f.i2 BETWEEN 1 AND 40 GROUP BY d.region;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM facts f JOIN dimension d ON f.k = d.k
  WHERE f.i4 > 500 AND d.region = 'north';
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT sum(y) FROM edges WHERE n * 10 > 5;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) SELECT count(*) FROM facts f JOIN dimension d ON f.k = d.k
  WHERE f.i4 > 500;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM edges WHERE n * 10 > 5;
-- Settings that switch nodes off.
SELECT nodes_of('SELECT d.name, count(*) FROM facts f JOIN dimension d ON f.k = d.k WHERE f.i4 > 500 GROUP BY 1');
SET pg_strom.enable_gpupreagg = off;
SELECT nodes_of('SELECT d.name, count(*) FROM facts f JOIN dimension d ON f.k = d.k WHERE f.i4 > 500 GROUP BY 1');
SET pg_strom.enable_gpuhashjoin = off;
SELECT nodes_of('SELECT d.name, count(*) FROM facts f JOIN dimension d ON f.k = d.k WHERE f.i4 > 500 GROUP BY 1');
SET pg_strom.enable_gpuscan = off;
SELECT nodes_of('SELECT d.name, count(*) FROM facts f JOIN dimension d ON f.k = d.k WHERE f.i4 > 500 GROUP BY 1');
RESET pg_strom.enable_gpuscan;
RESET pg_strom.enable_gpuhashjoin;
SET pg_strom.enable_gpujoin = off;
SELECT nodes_of('SELECT d.name, count(*) FROM facts f JOIN dimension d ON f.k = d.k WHERE f.i4 > 500 GROUP BY 1');
RESET pg_strom.enable_gpujoin;
RESET pg_strom.enable_gpupreagg;
SET pg_strom.device = off;
SELECT nodes_of('SELECT d.name, count(*) FROM facts f JOIN dimension d ON f.k = d.k WHERE f.i4 > 500 GROUP BY 1');
SET pg_strom.device = cpu;
SELECT nodes_of('SELECT d.name, count(*) FROM facts f JOIN dimension d ON f.k = d.k WHERE f.i4 > 500 GROUP BY 1');
RESET pg_strom.device;
-- A table of a few rows is not worth starting the engine.
RESET pg_strom.cpu_setup_cost;
SELECT nodes_of('SELECT sum(v) FROM duplicates WHERE v > 5');
-- The genetic optimizer.
SET geqo_threshold = 2;
SET pg_strom.cpu_setup_cost = 0;
SELECT * FROM run_both('SELECT d.name, h.region, count(*) FROM facts f, dimension d, heap_dimension h WHERE f.k = d.k AND f.k8 = h.k GROUP BY 1, 2');
RESET geqo_threshold;
-- Text that the engine makes; the case of letters is ASCII's where the collation has it so.
EXPLAIN (COSTS OFF) SELECT upper(t), greatest(i4, i2), count(*) FROM facts WHERE t ILIKE 'b%' GROUP BY 1, 2;
EXPLAIN (COSTS OFF) SELECT id FROM facts WHERE lower(t COLLATE "tr-x-icu") = 'i' AND i4 > 500;
-- A plan made for UTC, kept when the time zone changes: its rows are then PostgreSQL's.
SET TimeZone = 'UTC';
SET plan_cache_mode = force_generic_plan;
PREPARE first_epoch AS SELECT min(extract(epoch FROM ts::timestamptz)) FROM facts;
EXPLAIN (COSTS OFF) EXECUTE first_epoch;
EXECUTE first_epoch;
SET TimeZone = 'Asia/Tokyo';
EXECUTE first_epoch;
SET pg_strom.enabled = off;
EXECUTE first_epoch;
RESET pg_strom.enabled;
EXPLAIN (COSTS OFF) SELECT id FROM facts WHERE d < ts::timestamptz AND i4 > 500;
RESET plan_cache_mode;
RESET TimeZone;
