-- PostgreSQL's own tables in the engine: plans, visibility, storage, privileges.
LOAD 'pg_strom';
CREATE SCHEMA heap;
SET search_path = heap;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE orders (id int NOT NULL, customer int, price numeric(12,2), placed date, note text, flag bool, big bigint, ratio float8);
INSERT INTO orders SELECT i, CASE WHEN i % 10 > 0 THEN i % 97 END, (i % 1000) / 7.0, date '2024-01-01' + i % 366,
  CASE WHEN i % 13 > 0 THEN 'note ' || i % 29 END, i % 3 = 0, i::bigint * 1000003, i / 8.0 FROM generate_series(1, 20000) i;
CREATE TABLE customers (id int PRIMARY KEY, name text, region char(6));
INSERT INTO customers SELECT i, 'customer ' || i, 'r' || i % 5 FROM generate_series(0, 96) i;
VACUUM ANALYZE orders, customers;

-- Plans.
EXPLAIN (COSTS OFF) SELECT count(*), sum(price) FROM orders WHERE flag AND price > 50;
EXPLAIN (COSTS OFF) SELECT c.region, count(*), avg(o.price) FROM orders o JOIN customers c ON c.id = o.customer
  WHERE o.placed >= '2024-06-01' AND c.name LIKE '%1%' GROUP BY 1;
SELECT * FROM engine.run_both('SELECT count(*), sum(price), min(placed), max(ratio), avg(big) FROM orders WHERE flag AND price > 50');
SELECT * FROM engine.run_both('SELECT note, customer, count(*), sum(big) FROM orders GROUP BY 1, 2');
SELECT * FROM engine.run_both('SELECT id, note, price FROM orders WHERE note LIKE ''%2%'' AND ratio < 700');
SELECT * FROM engine.run_both('SELECT c.name, c.region, sum(o.price) FROM orders o JOIN customers c ON c.id = o.customer WHERE c.id < 50 GROUP BY 1, 2');
SELECT * FROM engine.run_both('SELECT count(*) FROM orders');
SELECT * FROM engine.run_both('SELECT id FROM orders ORDER BY id LIMIT 5');
-- An index answers better.
SET pg_strom.cpu_setup_cost = 100;
CREATE INDEX orders_id ON orders (id);
SELECT nodes FROM engine.run_both('SELECT * FROM orders WHERE id = 77');
SELECT nodes FROM engine.run_both('SELECT * FROM customers WHERE id = 7');
DROP INDEX orders_id;
SET pg_strom.cpu_setup_cost = 0;

-- What a transaction sees: its own changes, not those it rolled back, not those of later commands.
BEGIN;
DELETE FROM orders WHERE id <= 100;
UPDATE orders SET price = -1 WHERE id BETWEEN 101 AND 110;
SAVEPOINT before;
INSERT INTO orders (id, price) SELECT 100000 + i, 1000000 FROM generate_series(1, 50) i;
SELECT count(*), min(price), max(price) FROM orders WHERE price IS NOT NULL;
ROLLBACK TO before;
SELECT count(*), min(price), max(price) FROM orders WHERE price IS NOT NULL;
DECLARE early CURSOR FOR SELECT id FROM orders WHERE price < 0;
DELETE FROM orders WHERE price < 0;
FETCH 3 FROM early;
SELECT count(*) FROM orders WHERE price < 0;
MOVE ALL IN early;
ROLLBACK;
SELECT count(*), min(price), max(price) FROM orders WHERE price IS NOT NULL;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM engine.run_both('SELECT count(*), sum(price) FROM orders WHERE flag');
COMMIT;
INSERT INTO customers SELECT id + 1000, name, region FROM customers WHERE id < 3;
SELECT * FROM engine.run_both('SELECT id, name FROM customers WHERE region <> ''r4''');

-- Storage: compressed and long values, dropped and added columns, wide rows, many nulls, the smallest and the largest.
CREATE TABLE stored (gone int, a int, t text, dropped text, n numeric(38,10), b smallint, d timestamp);
ALTER TABLE stored ALTER t SET STORAGE EXTENDED;
INSERT INTO stored SELECT 1, i, CASE i % 4 WHEN 0 THEN repeat('abc', 1000) WHEN 1 THEN (SELECT string_agg(md5((i * 1000 + k)::text), '')
  FROM generate_series(1, 300) k) WHEN 2 THEN '' ELSE NULL END, 'x', CASE WHEN i % 5 > 0 THEN i::numeric / 3 ELSE 'NaN' END, i % 100,
  CASE WHEN i % 7 = 0 THEN 'infinity' ELSE timestamp '2000-01-01' + i * interval '1 hour' END FROM generate_series(1, 2000) i;
ALTER TABLE stored DROP COLUMN gone, DROP COLUMN dropped;
ALTER TABLE stored ADD COLUMN later int, ADD COLUMN filled int DEFAULT 7;
INSERT INTO stored VALUES (5000, 'short', 1.5, 3, '2024-01-01', 11, 8);
SELECT * FROM engine.run_both('SELECT a, length(t), left(t, 5) FROM stored WHERE t > ''abc''');
SELECT * FROM engine.run_both('SELECT a, b, d, later FROM stored WHERE b < 5');
SELECT * FROM engine.run_both('SELECT count(*), sum(n), max(n), min(n) FROM stored WHERE a % 5 > 0');
SELECT * FROM engine.run_both('SELECT count(*), sum(n) FROM stored');
SELECT * FROM engine.run_both('SELECT t, count(*) FROM stored GROUP BY t');
SELECT * FROM engine.run_both('SELECT count(later), sum(later) FROM stored WHERE later IS NULL OR later > 5');
EXPLAIN (COSTS OFF) SELECT sum(filled) FROM stored WHERE filled > 7;
SET pg_strom.cpu_fallback = off;
SELECT count(*) FROM stored WHERE t LIKE 'abc%';
-- How many rows, and why, at the end.
SET pg_strom.cpu_fallback = notice;
SELECT count(*) FROM stored WHERE t LIKE 'abc%';
SELECT count(n), max(n) FROM stored WHERE a % 5 < 2 AND a < 100;
SELECT count(*) FROM stored WHERE b >= 0;
SELECT count(*) FROM stored WHERE 100 / (b - 3) > 0;
RESET pg_strom.cpu_fallback;

-- Values out of line: a plan of PostgreSQL's where most rows need one, but not for the rows that other filters leave.
CREATE TABLE archived (id int, k int, body text);
ALTER TABLE archived ALTER body SET STORAGE EXTERNAL;
INSERT INTO archived SELECT i, i % 10, repeat(md5(i::text), 200) FROM generate_series(1, 2000) i;
VACUUM ANALYZE archived;
SELECT * FROM engine.run_both('SELECT count(*) FROM archived WHERE body LIKE ''%abc%''');
SELECT * FROM engine.run_both('SELECT count(*) FROM archived WHERE body IS NOT NULL');
SELECT * FROM engine.run_both('SELECT count(*), sum(length(body)), min(left(body, 3)), max(body) FROM archived WHERE k = 3 AND body LIKE ''%a%''');
SELECT * FROM engine.run_both('SELECT left(body, 2), body, count(*) FROM archived WHERE k = 3 AND id < 500 GROUP BY 1, 2');
SELECT * FROM engine.run_both('SELECT id, body FROM archived WHERE k = 3');

-- Kinds of tables.
CREATE TEMP TABLE scratch AS SELECT i AS a, i % 7 AS b FROM generate_series(1, 5000) i;
SELECT * FROM engine.run_both('SELECT b, count(*), sum(a) FROM scratch GROUP BY b');
CREATE MATERIALIZED VIEW monthly AS SELECT date_trunc('month', placed)::date AS m, sum(price)::numeric(15,2) AS total FROM orders GROUP BY 1;
SELECT * FROM engine.run_both('SELECT count(*), sum(total) FROM monthly WHERE m > ''2024-03-01''');
CREATE TABLE parted (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE parted_low (v int, junk text, k int);
ALTER TABLE parted_low DROP COLUMN junk;
ALTER TABLE parted ATTACH PARTITION parted_low FOR VALUES FROM (0) TO (1000);
CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (1000) TO (2000);
INSERT INTO parted SELECT i, i * 2 FROM generate_series(0, 1999) i;
SELECT * FROM engine.run_both('SELECT count(*), sum(v) FROM parted WHERE k > 500');
SELECT * FROM engine.run_both('SELECT k, v FROM parted WHERE k < 10');
CREATE TABLE parent (a int, t text);
CREATE TABLE child (extra int) INHERITS (parent);
INSERT INTO parent SELECT i, 'p' FROM generate_series(1, 10) i;
INSERT INTO child SELECT i, 'c', i FROM generate_series(1, 20) i;
SELECT * FROM engine.run_both('SELECT t, count(*) FROM parent WHERE a > 3 GROUP BY t');
SELECT * FROM engine.run_both('SELECT * FROM ONLY parent WHERE a > 3');
CREATE TABLE empty_table (a int, t text);
SELECT * FROM engine.run_both('SELECT count(*), max(a) FROM empty_table WHERE a > 0');
-- Columns that rows are older than, and compressed text.
CREATE TABLE older AS SELECT i AS a, CASE WHEN i % 2 = 0 THEN repeat('long ' || i % 10 || ' ', 1000 + i) ELSE 'short' END AS t FROM generate_series(1, 500) i;
ALTER TABLE older ADD COLUMN n numeric DEFAULT 12.50, ADD COLUMN s text DEFAULT 'missing', ADD COLUMN d date DEFAULT '2024-02-29',
  ADD COLUMN b bool DEFAULT true, ADD COLUMN i2 int2 DEFAULT -5, ADD COLUMN f float8 DEFAULT 0.5, ADD COLUMN big numeric DEFAULT 1e60, ADD COLUMN none int;
INSERT INTO older SELECT a + 1000, t, NULL, 'own', NULL, false, 7, 1.5, 2, 3 FROM older WHERE a % 5 = 0;
SELECT * FROM engine.run_both('SELECT n, s, d, b, i2, f, none, count(*), sum(length(t)) FROM older GROUP BY 1, 2, 3, 4, 5, 6, 7');
SELECT * FROM engine.run_both('SELECT a, n, s FROM older WHERE n = 12.5 AND s <> ''own'' AND a < 100');
SELECT * FROM engine.run_both('SELECT sum(big), max(big) FROM older');
SELECT * FROM engine.run_both('SELECT a, md5(t) FROM older WHERE t LIKE ''%long 4%'' AND a > 100');
SELECT * FROM engine.run_both('SELECT t, count(*) FROM older GROUP BY t');
SELECT * FROM engine.run_both('SELECT o.a, p.t FROM older o JOIN older p ON o.a = p.a AND p.a < 50');
-- ctid, and columns of type tid: values, order, equality, groups, joins, also of rows that PostgreSQL decides.
SELECT * FROM engine.run_both('SELECT ctid, id FROM orders WHERE price > 50');
SELECT * FROM engine.run_both('SELECT max(ctid), min(ctid), count(ctid), count(DISTINCT ctid) FROM orders');
SELECT * FROM engine.run_both('SELECT customer, min(ctid), max(ctid) FROM orders GROUP BY 1');
SELECT * FROM engine.run_both('SELECT a.ctid, b.id FROM orders a JOIN orders b ON a.ctid = b.ctid WHERE a.price > 10');
SELECT * FROM engine.run_both('SELECT id FROM orders WHERE ctid IN (SELECT min(ctid) FROM orders GROUP BY customer)');
SELECT * FROM engine.run_both('SELECT ctid, id FROM orders ORDER BY ctid DESC LIMIT 7');
SELECT * FROM engine.run_both('SELECT ctid, tableoid::regclass, 1000 / (id % 7 - 3) FROM orders WHERE CASE WHEN id % 7 <> 3 THEN 100 / (id % 7 - 3) END > 10');
CREATE TABLE places AS SELECT i AS id, CASE WHEN i % 10 > 0 THEN format('(%s,%s)', i % 50 * 85899345::int8, i % 7 * 9362)::tid END AS place FROM generate_series(1, 3000) i;
VACUUM ANALYZE places;
SELECT * FROM engine.run_both('SELECT place, count(*) FROM places GROUP BY 1');
SELECT * FROM engine.run_both('SELECT min(place), max(place) FROM places WHERE place > ''(300000,5)'' AND place <> ''(4208967905,9362)''');
SELECT * FROM engine.run_both('SELECT id FROM places WHERE place IN (''(85899345,9362)'', ''(0,0)'') OR place <= ''(5,5)''');
SELECT * FROM engine.run_both('SELECT a.id, b.id FROM places a JOIN places b USING (place) WHERE a.id < 100');
SELECT * FROM engine.run_both('SELECT p.id, o.id FROM places p LEFT JOIN orders o ON p.place = o.ctid');
SELECT * FROM engine.run_both('SELECT id FROM places WHERE place BETWEEN ''(85899345,1)'' AND ''(2147483648,65535)''');
SELECT * FROM engine.run_both('SELECT id, place FROM places ORDER BY place, id LIMIT 5');
SELECT * FROM engine.run_both('SELECT DISTINCT place FROM places');
SELECT * FROM engine.run_both('SELECT p.id FROM places p WHERE p.place = p.ctid OR p.ctid <> ''(0,1)'' AND p.id < 5');
SELECT * FROM engine.run_both('SELECT ctid, id FROM orders TABLESAMPLE BERNOULLI (10) REPEATABLE (1) WHERE price > 50');
-- Rows that move, and pages of which some are visible to all.
UPDATE places SET id = id + 10000 WHERE id % 3 = 0;
SELECT * FROM engine.run_both('SELECT ctid, * FROM places WHERE id > 10');
DELETE FROM places WHERE id % 5 = 0;
VACUUM places;
INSERT INTO places SELECT i, '(1,1)' FROM generate_series(20000, 20100) i;
SELECT * FROM engine.run_both('SELECT ctid, * FROM places WHERE id > 10');
SELECT * FROM engine.run_both('SELECT a.id, b.place FROM places a JOIN places b ON a.ctid = b.ctid');
SELECT * FROM engine.run_both('SELECT place, min(ctid), max(ctid), count(*) FROM places GROUP BY 1');
SELECT * FROM engine.run_both('SELECT ctid, 1000 / (id % 7 - 3) FROM places WHERE CASE WHEN id % 7 <> 3 THEN 100 / (id % 7 - 3) END > 10');
DROP TABLE places;
-- Stays with PostgreSQL.
SELECT nodes FROM engine.run_both('SELECT id FROM orders WHERE ctid = ''(0,1)''');
SELECT nodes FROM engine.run_both('SELECT count(*) FROM orders WHERE ctid >= ''(1,0)'' AND ctid < ''(3,0)''');
SELECT nodes FROM engine.run_both('SELECT count(*) FROM orders WHERE ctid = ANY (''{"(0,1)","(0,2)"}''::tid[])');
SELECT * FROM engine.run_both('SELECT tableoid::regclass, id FROM orders WHERE price > 50 AND tableoid > 5');
SELECT * FROM engine.run_both('SELECT o.tableoid, c.tableoid::regclass, count(*) FROM orders o JOIN customers c ON o.customer = c.id GROUP BY 1, 2');
SELECT nodes FROM engine.run_both('SELECT count(*) FROM pg_class WHERE relname > ''a''');
EXPLAIN (COSTS OFF) SELECT id FROM customers WHERE name > 'c' FOR UPDATE;
EXPLAIN (COSTS OFF) UPDATE orders SET flag = NOT flag WHERE price > 50;

-- Privileges, row security, security barriers.
CREATE ROLE heap_reader;
GRANT USAGE ON SCHEMA heap TO heap_reader;
GRANT SELECT (id, customer) ON orders TO heap_reader;
SET ROLE heap_reader;
SELECT count(*) FROM orders WHERE customer > 5;
SELECT count(*) FROM orders WHERE price > 5;
RESET ROLE;
GRANT SELECT ON orders TO heap_reader;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON orders FOR SELECT TO heap_reader USING (customer = 5);
SET ROLE heap_reader;
SELECT count(*), min(customer), max(customer) FROM orders WHERE 100 / (customer - 6) < 1000;
EXPLAIN (COSTS OFF) SELECT count(*) FROM orders WHERE 100 / (customer - 6) < 1000;
RESET ROLE;
ALTER TABLE orders DISABLE ROW LEVEL SECURITY;
CREATE VIEW shown WITH (security_barrier) AS SELECT id, price FROM orders WHERE customer = 3;
SELECT count(*) FROM shown WHERE 1 / (id - 2) >= 0;
DROP OWNED BY heap_reader;
DROP ROLE heap_reader;

-- Prepared statements and DDL between their uses.
PREPARE counted(int) AS SELECT count(*), sum(big) FROM orders WHERE customer = $1;
EXECUTE counted(5);
ALTER TABLE orders ADD COLUMN extra text;
EXECUTE counted(5);
ALTER TABLE orders ALTER big TYPE numeric(20,1);
EXECUTE counted(6);
TRUNCATE customers;
SELECT count(*) FROM customers WHERE id > 0;
-- Statistics count the rows.
SELECT pg_stat_force_next_flush();
SELECT seq_scan > 0 AS scanned, seq_tup_read > 20000 AS read FROM pg_stat_user_tables WHERE relid = 'orders'::regclass;
-- An expression without columns raises its error for a row that asks for it, and for no other reason.
SELECT count(*) FROM orders WHERE id < 0 AND placed > to_date('2023-02-30', 'YYYY-MM-DD');
SELECT count(*), count(CASE WHEN id < 0 THEN to_date('2023-02-30', 'YYYY-MM-DD') END) FROM orders;
SELECT count(*) FROM orders WHERE id > 0 AND placed > to_date('2023-02-30', 'YYYY-MM-DD');
SELECT id FROM orders o WHERE EXISTS (SELECT FROM archived c WHERE c.id = o.id AND o.placed > to_date('2023-02-30', 'YYYY-MM-DD'));
SELECT count(*) FROM orders WHERE id < 0 AND id = (SELECT max(k) FROM archived) / 0;
CREATE FUNCTION half_of(n int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM orders WHERE id < 3 AND id > 10 / n);
EXCEPTION WHEN division_by_zero THEN RETURN -1;
END $$;
SELECT half_of(10), half_of(0), half_of(10);
-- Pages without rows.
CREATE TABLE holes AS SELECT i AS id, i / 4.0 AS n FROM generate_series(1, 100000) i;
DELETE FROM holes WHERE id < 99990;
VACUUM (ANALYZE) holes;
SELECT r.* FROM generate_series(1, 3) again, engine.run_both('SELECT count(*), sum(n), min(id) FROM holes') r;
SET client_min_messages = warning;
DROP SCHEMA heap CASCADE;
