-- Partitioned and inherited tables in one node: plans, pruning, mixed leaves, privileges, DDL between executions.
\getenv source_dir PG_ABS_SRCDIR
\set facts :source_dir '/data/queries/facts.arrow'
\set duplicates :source_dir '/data/queries/duplicates.arrow'
LOAD 'pg_strom';
CREATE SCHEMA parts;
SET search_path = parts;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.cpu_operator_cost = 0;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
-- Ranges, a leaf with other columns that was attached, lists below a range, a default partition.
CREATE TABLE sales (id int, k int, price numeric(10,2), note text) PARTITION BY RANGE (id);
CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM (0) TO (1000);
CREATE TABLE sales_2 (gone int, note text, price numeric(10,2), also_gone text, k int, id int);
INSERT INTO sales_2 SELECT 1, 'old ' || i, i / 3.0, 'x', i % 10, i FROM generate_series(1000, 1499) i;
ALTER TABLE sales_2 DROP COLUMN gone;
ALTER TABLE sales_2 DROP COLUMN also_gone;
ALTER TABLE sales ATTACH PARTITION sales_2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE sales_3 PARTITION OF sales FOR VALUES FROM (2000) TO (3000) PARTITION BY LIST (k);
CREATE TABLE sales_3_low PARTITION OF sales_3 FOR VALUES IN (0, 1, 2);
CREATE TABLE sales_3_rest PARTITION OF sales_3 DEFAULT;
CREATE TABLE sales_rest PARTITION OF sales DEFAULT;
INSERT INTO sales SELECT i, i % 10, i / 7.0, 'note ' || i % 13 FROM generate_series(0, 3999) i WHERE i NOT BETWEEN 1000 AND 1499;
INSERT INTO sales VALUES (NULL, NULL, NULL, NULL);
CREATE TABLE kinds (k int, name text);
INSERT INTO kinds SELECT i, 'kind ' || i FROM generate_series(0, 9) i;
VACUUM ANALYZE sales, kinds;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sales;
EXPLAIN (COSTS OFF) SELECT k, count(*), sum(price), min(note) FROM sales WHERE id < 2500 GROUP BY k;
EXPLAIN (COSTS OFF) SELECT name, sum(price) FROM sales JOIN kinds USING (k) WHERE id BETWEEN 500 AND 1700 GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT a.note, count(*) FROM sales a JOIN sales b ON a.id = b.id + 1 WHERE b.id >= 3000 GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT id, note FROM sales ORDER BY price DESC NULLS LAST LIMIT 3;
EXPLAIN (COSTS OFF, VERBOSE) SELECT sum(price) FROM sales WHERE id = 2100 AND k = 1;
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT sum(price) FROM sales WHERE id < 1500;
SELECT * FROM engine.run_both('SELECT count(*) FROM sales');
SELECT * FROM engine.run_both('SELECT k, count(*), sum(price), min(note) FROM sales WHERE id < 2500 GROUP BY k');
SELECT * FROM engine.run_both('SELECT name, sum(price) FROM sales JOIN kinds USING (k) WHERE id BETWEEN 500 AND 1700 GROUP BY 1');
SELECT * FROM engine.run_both('SELECT a.note, count(*) FROM sales a JOIN sales b ON a.id = b.id + 1 WHERE b.id >= 3000 GROUP BY 1');
SELECT * FROM engine.run_both('SELECT id, note FROM sales ORDER BY price DESC NULLS LAST LIMIT 3');
SELECT * FROM engine.run_both('SELECT id, note FROM sales WHERE k = 3 AND price < 100');
EXPLAIN (COSTS OFF) SELECT id + 1 AS next, note FROM sales WHERE k = 3 ORDER BY note;
SELECT * FROM engine.run_both('SELECT id + 1 AS next, note FROM sales WHERE k = 3 ORDER BY note, id');
SELECT * FROM engine.run_both('SELECT id, note FROM sales WHERE k = 3 UNION ALL SELECT k, name FROM kinds');
SELECT * FROM engine.run_both('SELECT name, x.id FROM kinds, LATERAL (SELECT id FROM sales WHERE sales.k = kinds.k AND id < kinds.k * 300 ORDER BY id) x');
-- What PostgreSQL makes of the partitions' paths itself.
SELECT engine.nodes_of('SELECT id, note FROM sales WHERE k = 3 LIMIT 5'), engine.nodes_of('SELECT id, generate_series(1, 2) FROM sales WHERE k = 3');
SELECT * FROM engine.run_both('SELECT k, name, (SELECT count(*) FROM sales s WHERE s.k = kinds.k) FROM kinds');
-- Rows that PostgreSQL decides are those of the right leaf.
UPDATE sales SET price = 'NaN' WHERE id % 400 = 7;
UPDATE sales SET note = repeat('long', 20000) WHERE id % 700 = 3;
SET pg_strom.cpu_threads = 2;
SELECT * FROM engine.run_both('SELECT k, sum(price), max(price), min(price) FROM sales GROUP BY k');
SELECT * FROM engine.run_both('SELECT id, k, price FROM sales WHERE price > 500');
SELECT * FROM engine.run_both('SELECT note, count(*) FROM sales WHERE note LIKE ''%g'' OR id < 100 GROUP BY 1');
SELECT * FROM engine.run_both('SELECT name, sum(price), count(note) FROM sales JOIN kinds USING (k) GROUP BY 1');
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT sum(price) FROM sales;
SELECT count(*) FROM sales WHERE k * 300000000 > 5 AND id = 1009;
SELECT count(*) FROM sales WHERE k * 300000000 > 5;
RESET pg_strom.cpu_threads;

-- Pruning when the execution starts: parameters and stable functions.
SET plan_cache_mode = force_generic_plan;
PREPARE at_start(int) AS SELECT count(*), sum(k) FROM sales WHERE id = $1;
PREPARE rows_at_start(int) AS SELECT id, k FROM sales WHERE id >= $1 AND k = 2;
EXPLAIN (COSTS OFF) EXECUTE rows_at_start(2900);
EXECUTE rows_at_start(3985);
EXECUTE rows_at_start(NULL);
EXPLAIN (COSTS OFF) EXECUTE at_start(1700);
EXPLAIN (COSTS OFF) EXECUTE at_start(2700);
EXECUTE at_start(1700);
EXECUTE at_start(2700);
EXECUTE at_start(NULL);
EXPLAIN (COSTS OFF) EXECUTE at_start(NULL);
PREPARE two(int, int) AS SELECT count(*), min(a.note) FROM sales a JOIN sales b ON a.k = b.k WHERE a.id = $1 AND b.id < $2;
EXPLAIN (COSTS OFF) EXECUTE two(1700, 5);
EXECUTE two(1700, 5);
CREATE FUNCTION limit_of_ids() RETURNS int STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 900; END $$;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sales WHERE id < limit_of_ids();
SELECT count(*) FROM sales WHERE id < limit_of_ids();
SET enable_partition_pruning = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sales WHERE id = 5;
RESET enable_partition_pruning;
-- Pruning before each scan: values of another node.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
  SELECT k, (SELECT sum(s.k) FROM sales s WHERE s.id = kinds.k * 200) FROM kinds WHERE k < 8;
SELECT k, (SELECT sum(s.k) FROM sales s WHERE s.id = kinds.k * 200) FROM kinds WHERE k < 8 ORDER BY k;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM sales WHERE id = (SELECT max(k) FROM kinds);
-- In a sub-query, whose range table moves.
EXPLAIN (COSTS OFF) SELECT k, n FROM kinds LEFT JOIN (SELECT s.k, count(*) AS n FROM sales s WHERE s.id < 1000 GROUP BY 1 OFFSET 0) c USING (k);
SELECT * FROM engine.run_both('SELECT k, n FROM kinds LEFT JOIN (SELECT s.k, count(*) AS n FROM sales s WHERE s.id < 1000 GROUP BY 1 OFFSET 0) c USING (k)');
SELECT * FROM engine.run_both('SELECT count(*) FROM sales UNION ALL SELECT sum(id) FROM sales WHERE id > 2990');

-- DDL between executions.
PREPARE whole AS SELECT count(*), sum(k) FROM sales;
EXECUTE whole;
CREATE TABLE sales_4 PARTITION OF sales FOR VALUES FROM (10000) TO (20000);
INSERT INTO sales VALUES (10001, 100, 1, 'new');
EXECUTE whole;
ALTER TABLE sales DETACH PARTITION sales_2;
EXECUTE whole;
DROP TABLE sales_4;
EXECUTE whole;
EXPLAIN (COSTS OFF) EXECUTE whole;
ALTER TABLE sales_1 ALTER note SET STORAGE EXTERNAL;
TRUNCATE sales_1;
EXECUTE whole;
ALTER TABLE sales ATTACH PARTITION sales_2 FOR VALUES FROM (1000) TO (2000);
EXECUTE at_start(1700);
DEALLOCATE ALL;
RESET plan_cache_mode;
-- A cursor keeps what it began to read.
BEGIN;
DECLARE c CURSOR FOR SELECT a.id FROM sales a JOIN kinds USING (k) WHERE a.id BETWEEN 1990 AND 2010;
SELECT 1 FROM sales LIMIT 1;
FETCH 1 FROM c \gset
DROP TABLE sales_1;
ROLLBACK;

-- Changes are PostgreSQL's.
EXPLAIN (COSTS OFF) UPDATE sales SET k = k WHERE id = 1200;
UPDATE sales SET note = 'changed' WHERE id IN (1200, 2200);
DELETE FROM sales WHERE id = 2201;
SELECT count(*), count(*) FILTER (WHERE note = 'changed') FROM sales;
SELECT engine.nodes_of('SELECT id FROM sales WHERE k = 1 FOR UPDATE');
-- System columns: tableoid is the leaf's, also of rows that PostgreSQL decides.
SELECT * FROM engine.run_both('SELECT tableoid, count(*), sum(price) FROM sales GROUP BY 1');
SELECT * FROM engine.run_both('SELECT tableoid::regclass, ctid, id FROM sales WHERE k <> 3');
SELECT * FROM engine.run_both('SELECT tableoid, max(ctid) FROM sales GROUP BY 1');
SELECT * FROM engine.run_both('SELECT tableoid::regclass, id FROM sales WHERE tableoid <> ''sales_1''::regclass AND k = 3');
SELECT * FROM engine.run_both('SELECT tableoid, count(*) FROM sales WHERE CASE WHEN k <> 3 THEN 100 / (k - 3) END > 10 GROUP BY 1');
SELECT engine.nodes_of('SELECT xmin FROM sales WHERE k = 1');
SELECT engine.nodes_of('SELECT count(*) FROM sales TABLESAMPLE BERNOULLI (50)');
CREATE TABLE copied AS SELECT k, sum(price) AS total FROM sales GROUP BY k;
INSERT INTO sales SELECT 5000 + k, k, total, 'sum' FROM copied WHERE k IS NOT NULL;
SELECT count(*), sum(k) FROM sales WHERE id >= 5000;

-- Inheritance children with further columns; the parent has rows of its own.
CREATE TABLE place (name text, height int);
CREATE TABLE town (mayor text) INHERITS (place);
CREATE TABLE capital (country text) INHERITS (town);
INSERT INTO place SELECT 'place ' || i, i FROM generate_series(1, 10) i;
INSERT INTO town SELECT 'town ' || i, i * 10, 'm' FROM generate_series(1, 20) i;
INSERT INTO capital SELECT 'capital ' || i, i * 100, 'm', 'c' FROM generate_series(1, 30) i;
EXPLAIN (COSTS OFF) SELECT count(*), sum(height) FROM place WHERE name LIKE '%1%';
SELECT * FROM engine.run_both('SELECT count(*), sum(height) FROM place WHERE name LIKE ''%1%''');
SELECT * FROM engine.run_both('SELECT count(*), sum(height) FROM ONLY place');
SELECT * FROM engine.run_both('SELECT mayor, max(height) FROM town GROUP BY 1');
ALTER TABLE capital ADD CHECK (height > 50);
SET constraint_exclusion = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM place WHERE height < 20;
RESET constraint_exclusion;

-- Files and heap tables together; files alone.
CREATE TABLE mixed (k bigint, v int) PARTITION BY RANGE (v);
CREATE TABLE mixed_heap PARTITION OF mixed DEFAULT;
CREATE FOREIGN TABLE mixed_file (v int, k bigint) SERVER arrow_fdw OPTIONS (file :'duplicates');
INSERT INTO mixed SELECT i, 1000 + i % 3 FROM generate_series(1, 3000) i;
ALTER TABLE mixed ATTACH PARTITION mixed_file FOR VALUES FROM (0) TO (100);
EXPLAIN (COSTS OFF) SELECT v, count(*), sum(k) FROM mixed GROUP BY v;
SELECT * FROM engine.run_both('SELECT v, count(*), sum(k) FROM mixed GROUP BY v');
SELECT * FROM engine.run_both('SELECT v, count(*), sum(k::int * 1000000) FROM mixed WHERE k > 0 AND k < 100 GROUP BY v');
SELECT * FROM engine.run_both('SELECT a.v, count(*) FROM mixed a JOIN mixed b ON a.k = b.k WHERE b.v < 1000 GROUP BY a.v');
CREATE TABLE shop (id int, k int, t text);
CREATE FOREIGN TABLE shop_file (n numeric(15,2)) INHERITS (shop) SERVER arrow_fdw OPTIONS (file :'facts');
INSERT INTO shop VALUES (1, NULL, 'heap'), (2, 2, repeat('long', 20000));
SELECT * FROM engine.run_both('SELECT t, count(*), max(k) FROM shop GROUP BY t');
SELECT * FROM engine.run_both('SELECT id, k FROM shop WHERE t LIKE ''%a'' OR t LIKE ''longlong%''');
CREATE TABLE files (t text, id int) PARTITION BY HASH (id);
CREATE FOREIGN TABLE files_0 PARTITION OF files FOR VALUES WITH (MODULUS 2, REMAINDER 0) SERVER arrow_fdw OPTIONS (file :'facts');
CREATE FOREIGN TABLE files_1 PARTITION OF files FOR VALUES WITH (MODULUS 2, REMAINDER 1) SERVER arrow_fdw OPTIONS (file :'facts');
EXPLAIN (COSTS OFF) SELECT t, count(*), sum(id) FROM files GROUP BY t;
SELECT * FROM engine.run_both('SELECT t, count(*), sum(id) FROM files GROUP BY t');
SELECT * FROM engine.run_both('SELECT f.t, k, count(*) FROM files f JOIN shop USING (id) GROUP BY 1, 2');

-- Not read as one: a column that the engine does not read in one leaf, another foreign-data wrapper.
CREATE TABLE odd (a int, at point) PARTITION BY LIST (a);
CREATE TABLE odd_1 PARTITION OF odd FOR VALUES IN (1);
INSERT INTO odd SELECT 1, point(i, i) FROM generate_series(1, 100) i;
SELECT engine.nodes_of('SELECT count(at) FROM odd');
SELECT engine.nodes_of('SELECT count(a) FROM odd');
CREATE TABLE small (id int, n numeric);
CREATE FOREIGN TABLE small_file () INHERITS (small) SERVER arrow_fdw OPTIONS (file :'facts');
INSERT INTO small SELECT i, i FROM generate_series(1, 1000) i;
SELECT * FROM engine.run_both('SELECT count(*), sum(n) FROM small');
SELECT * FROM engine.run_both('SELECT count(*), sum(id) FROM small');
CREATE TABLE late (a int, b int) PARTITION BY LIST (a);
CREATE TABLE late_1 PARTITION OF late FOR VALUES IN (1);
CREATE TABLE late_2 PARTITION OF late FOR VALUES IN (2);
INSERT INTO late SELECT 1 + i % 2, i FROM generate_series(1, 100) i;
-- Servers without contrib have no other wrapper to try.
DO $$
DECLARE pruned text; whole record;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'file_fdw') THEN RETURN; END IF;
  CREATE EXTENSION file_fdw;
  CREATE SERVER text_files FOREIGN DATA WRAPPER file_fdw;
  CREATE FOREIGN TABLE late_3 PARTITION OF late FOR VALUES IN (3) SERVER text_files OPTIONS (program 'echo 3,4', format 'csv');
  pruned := engine.nodes_of('SELECT a, sum(b) FROM late WHERE a < 3 GROUP BY a');
  SELECT * INTO whole FROM engine.run_both('SELECT a, sum(b) FROM late GROUP BY a');
  IF pruned <> 'CpuAgg CpuPreAgg' OR whole IS DISTINCT FROM ROW('CpuScan CpuScan'::text, 3::bigint, 0::bigint) THEN
    RAISE EXCEPTION 'pruned: %, whole: %', pruned, whole;
  END IF;
  DROP FOREIGN TABLE late_3;
  DROP SERVER text_files;
  DROP EXTENSION file_fdw;
END $$;

-- PostgreSQL's own ways to go partition by partition.
SET enable_partitionwise_aggregate = on;
SET enable_partitionwise_join = on;
SELECT * FROM engine.run_both('SELECT a, count(*), sum(b) FROM late GROUP BY a');
SELECT * FROM engine.run_both('SELECT x.a, count(*), sum(x.b) FROM late x JOIN late y USING (a) GROUP BY x.a');
RESET enable_partitionwise_aggregate;
RESET enable_partitionwise_join;

-- Privileges and row security are the parent's.
CREATE ROLE clerk;
GRANT USAGE ON SCHEMA parts TO clerk;
GRANT SELECT (id, k) ON sales TO clerk;
SET ROLE clerk;
SELECT count(*), sum(k) FROM sales WHERE id < 2000;
SELECT sum(price) FROM sales;
SELECT count(k) FROM sales_2;
RESET ROLE;
ALTER TABLE sales ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_kinds ON sales USING (k < 5);
ALTER TABLE sales_2 ENABLE ROW LEVEL SECURITY;
CREATE POLICY none ON sales_2 USING (false);
SET ROLE clerk;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sales WHERE id < 2000 AND 10 / k > 0;
SELECT k, count(*) FROM sales WHERE id < 2000 AND k > 0 GROUP BY k ORDER BY k;
RESET ROLE;
-- Of many leaves, the first and the last are named.
CREATE TABLE many (a int) PARTITION BY HASH (a);
DO $$ BEGIN FOR i IN 0..19 LOOP EXECUTE format('CREATE TABLE many_%s PARTITION OF many FOR VALUES WITH (MODULUS 20, REMAINDER %s)', i, i); END LOOP; END $$;
INSERT INTO many SELECT i FROM generate_series(1, 5000) i;
EXPLAIN (COSTS OFF) SELECT count(a) FROM many;
SELECT * FROM engine.run_both('SELECT count(a), sum(a), max(a) FROM many');
SELECT * FROM engine.run_both('SELECT count(a), sum(a), max(a) FROM many WHERE a IN (5, 77, 4000)');
DROP OWNED BY clerk;
DROP ROLE clerk;
SET client_min_messages = warning;
DROP SCHEMA parts CASCADE;
