-- Columns of tables that are kept between queries: what is kept, what EXPLAIN and the functions tell, who may ask. How they
-- hold while tables change is tested by test/tap/column_cache.py.
LOAD 'pg_strom';
CREATE SCHEMA kept;
SET search_path = kept;
SET pg_strom.cpu_setup_cost = 0;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE TABLE sale (id int NOT NULL, price numeric(10,2), shop text, at timestamp) WITH (autovacuum_enabled = off);
INSERT INTO sale SELECT i, CASE WHEN i % 10 > 0 THEN i / 4.0 END, 'shop ' || i % 20, timestamp '2024-01-01' + i * interval '1 minute'
  FROM generate_series(1, 30000) i;
VACUUM (FREEZE, ANALYZE) sale;
-- The first scan keeps, the others find.
CREATE FUNCTION pages_kept(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || statement INTO plan;
  RETURN plan::text ~ '"Column Cache Pages Kept": [1-9]' AND plan::text ~ '"Column Cache Pages Read": 0';
END $$;
CREATE FUNCTION cache_line(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || statement LOOP
    IF line ~ 'Column Cache' THEN RETURN trim(regexp_replace(line, '[1-9]\d*', 'n', 'g')); END IF;
  END LOOP;
  RETURN NULL;
END $$;
SELECT cache_line('SELECT count(id) FROM sale') FROM generate_series(1, 2);
SELECT pages_kept('SELECT shop, sum(price) FROM sale GROUP BY shop') FROM generate_series(1, 3);
-- Columns are kept one by one.
SELECT pages_kept('SELECT count(price) FROM sale'), pages_kept('SELECT count(at) FROM sale');
SELECT pages_kept('SELECT count(at) FROM sale');
SELECT attribute, rows FROM pgstrom.column_cache_info() WHERE relation = 'sale'::regclass ORDER BY 1;
SELECT shop, count(*), count(price), sum(price), max(at) FROM sale GROUP BY shop ORDER BY shop LIMIT 3;
-- Not when it is off, in serializable transactions, or once a row has changed.
SET pg_strom.enable_column_cache = off;
SELECT pages_kept('SELECT count(price) FROM sale');
RESET pg_strom.enable_column_cache;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT pages_kept('SELECT count(price) FROM sale');
COMMIT;
UPDATE sale SET price = price + 1 WHERE id = 77;
SELECT pages_kept('SELECT count(price) FROM sale');
SELECT sum(price) FROM sale;
SET pg_strom.enabled = off;
SELECT sum(price) FROM sale;
RESET pg_strom.enabled;
-- VACUUM makes the pages all-visible again.
VACUUM sale;
SELECT pages_kept('SELECT count(price) FROM sale') FROM generate_series(1, 2);
SELECT sum(price) FROM sale;
SELECT pgstrom.column_cache_reset();
SELECT count(*) FROM pgstrom.column_cache_info() WHERE relation = 'sale'::regclass;
-- A small table that was never vacuumed or analysed may be a passing one: its second scan keeps. One of COPY FREEZE is
-- all-visible from its beginning, but for empty pages that PostgreSQL 16 and later put behind its rows.
CREATE FUNCTION has_kept_pages(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || statement INTO plan;
  RETURN plan::text ~ '"Column Cache Pages Kept": [1-9]';
END $$;
BEGIN;
CREATE TABLE passing (a int) WITH (autovacuum_enabled = off);
COPY passing FROM PROGRAM 'seq 100000' (FREEZE);
COMMIT;
SELECT has_kept_pages('SELECT sum(a) FROM passing') FROM generate_series(1, 3);
-- Tables that leave no traces in the WAL.
CREATE UNLOGGED TABLE unlogged_sale AS SELECT * FROM sale;
CREATE TEMP TABLE temporary_sale AS SELECT * FROM sale;
VACUUM unlogged_sale, temporary_sale;
SELECT pages_kept('SELECT count(price) FROM unlogged_sale'), pages_kept('SELECT count(price) FROM temporary_sale')
  FROM generate_series(1, 3);
-- Who may ask.
CREATE ROLE regress_strom_nobody;
GRANT USAGE ON SCHEMA pgstrom TO regress_strom_nobody;
SET ROLE regress_strom_nobody;
SELECT * FROM pgstrom.column_cache_info();
SELECT pgstrom.column_cache_reset();
RESET ROLE;
DROP OWNED BY regress_strom_nobody;
DROP ROLE regress_strom_nobody;
SET client_min_messages = warning;
DROP SCHEMA kept CASCADE;
