-- Joins by numeric without a declared scale, and with such values handed on: equal values of different scales, and
-- values that the engine cannot hold, on either side and from either source.
\getenv source_dir PG_ABS_SRCDIR
\set facts :source_dir '/data/queries/facts.arrow'
LOAD 'pg_strom';
CREATE SCHEMA keys;
SET search_path = keys, engine;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.00001;
SET pg_strom.cpu_threads = 2;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_memoize = off;
CREATE TABLE orders AS
  SELECT g AS id, CASE WHEN g % 13 = 0 THEN NULL WHEN g % 3 = 0 THEN round((g % 200) / 8.0, 3) ELSE trim_scale(round((g % 200) / 8.0, 3)) END AS k,
         (g % 40)::numeric AS whole, (g % 40) AS number, (g % 30)::numeric(10,2) AS price, g % 7 AS v
  FROM generate_series(1, 4000) g;
CREATE TABLE items AS
  SELECT g AS id, CASE g % 3 WHEN 0 THEN trim_scale(g / 8.0) WHEN 1 THEN round(g / 8.0, 3) ELSE (g / 8.0)::numeric(20,10) END AS k,
         CASE WHEN g % 5 > 0 THEN round(g / 7.0, g % 4) END AS amount, 'item ' || g % 9 AS name, g % 4 AS v,
         (g % 35)::numeric AS whole, (g % 35)::numeric(9,3) AS price
  FROM generate_series(1, 300) g;
CREATE TABLE odd (id int, k numeric, amount numeric, name text);
-- The second one has too many digits to be held as it is, but equals one that has not.
INSERT INTO odd VALUES (1, 'NaN', 1), (2, 123456789012345678901234567890123456.000, 'NaN'), (3, 1e40, 2), (4, 'Infinity', 1e50),
  (5, 1e-70, 3.5), (6, 7, '-Infinity'), (7, NULL, 'NaN'), (8, 0, 4.0), (9, 0.00, NULL);
INSERT INTO items SELECT 1000 + id, k, amount, 'odd ' || id, id % 4, k, NULL FROM odd;
INSERT INTO orders SELECT 10000 + id, k, CASE WHEN id % 2 = 0 THEN k ELSE k * 1.0 END, id, NULL, id % 7 FROM odd;
INSERT INTO orders VALUES (20000, 123456789012345678901234567890123456, 1e40, 1, 2, 3), (20001, '1e40', 'NaN', 1, 2, 3), (20002, '-Infinity', 0.000, 1, 2, 3);
ANALYZE orders, items, odd;

EXPLAIN (COSTS OFF) SELECT count(*), sum(i.amount) FROM orders o JOIN items i ON o.k = i.k;
EXPLAIN (COSTS OFF) SELECT count(*) FROM orders o JOIN (SELECT * FROM items OFFSET 0) i ON o.k = i.k;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*), count(i.amount) FROM orders o JOIN items i ON o.k = i.k;

\pset format unaligned
\pset tuples_only on
\pset fieldsep ' | '
CREATE TABLE key_queries (q text);
INSERT INTO key_queries VALUES
($$select o.id, i.id, o.k, i.k, i.amount from orders o join items i on o.k = i.k$$),
($$select o.id, i.id as other, i.amount, i.name from orders o left join items i on o.k = i.k$$),
($$select o.id, i.id as other, i.amount, i.name from orders o right join items i on o.k = i.k$$),
($$select o.id, i.id as other, o.k, i.k from orders o full join items i on o.k = i.k$$),
($$select o.id, o.k from orders o where exists (select 1 from items i where o.k = i.k)$$),
($$select o.id, o.k from orders o where not exists (select 1 from items i where o.k = i.k)$$),
($$select i.id, i.k from items i where exists (select 1 from orders o where o.k = i.k)$$),
($$select i.id, i.k from items i where not exists (select 1 from orders o where o.k = i.k)$$),
($$select o.id from orders o where k in (select k from items offset 0)$$),
($$select o.id from orders o where k not in (select k from items where k is not null offset 0)$$),
($$select o.id from orders o where k not in (select k from items offset 0)$$),
($$select o.id from orders o where v = 3 or k in (select k from odd)$$),
($$select o.id, i.id from orders o join items i on o.k = i.k and o.v = i.v$$),
($$select o.id, i.id from orders o join items i on o.whole = i.whole and o.k = i.k$$),
($$select o.id, i.id, i.name from orders o join items i on o.number = i.whole where o.id % 5 = 0$$),
($$select o.id, i.id, i.name from orders o join items i on o.price = i.whole where o.id % 5 = 0$$),
($$select o.id, i.id, i.name from orders o join items i on o.whole = i.price where o.id % 5 = 0$$),
($$select o.id, i.id, i.name from orders o join items i on o.k * 2 = i.whole where o.id % 3 = 0$$),
($$select trim_scale(amount), n, s from (select i.amount, count(*) as n, sum(o.k) as s from orders o join items i on o.k = i.k where o.id < 9000 group by 1) g$$),
($$select name, trim_scale(amount), n, m from (select i.name, i.amount, count(*) as n, max(o.id) as m from orders o join items i on o.k = i.k group by 1, 2) g$$),
($$select i.name, sum(i.amount), avg(i.amount), min(i.amount), max(i.amount) from orders o join items i on o.k = i.k group by 1$$),
($$select trim_scale(k), n from (select o.k, count(*) as n from orders o group by 1) g$$),
($$select trim_scale(amount) from (select distinct i.amount from orders o join items i on o.k = i.k) g$$),
($$select o.id, i.amount from orders o join items i on o.k = i.k where i.amount > 20 and i.amount <> o.k$$),
($$select o.id, i.amount from orders o left join items i on o.k = i.k and i.v = 2 where i.amount is null or i.amount > 10$$),
-- The inner side is a plan of PostgreSQL's.
($$select o.id, i.id, o.k, i.k, i.amount from orders o join (select * from items offset 0) i on o.k = i.k$$),
($$select o.id, i.id as other, i.amount, i.name from orders o left join (select * from items offset 0) i on o.k = i.k$$),
($$select o.id, i.id as other, i.amount, i.name from orders o right join (select * from items offset 0) i on o.k = i.k$$),
($$select o.id, i.id as other, o.k, i.k from orders o full join (select * from items offset 0) i on o.k = i.k$$),
($$select o.id, o.k from orders o where not exists (select 1 from (select * from items offset 0) i where o.k = i.k)$$),
($$select o.id, o.k from orders o where exists (select 1 from (select * from items offset 0) i where o.k = i.k)$$),
($$select o.id, i.amount, i.whole from orders o join (select * from items offset 0) i on o.v = i.v where o.id > 3900$$),
($$select trim_scale(amount), n from (select i.amount, count(*) as n from orders o join (select * from items offset 0) i on o.v = i.v where o.id > 3900 group by 1) g$$),
($$select o.id, i.id from orders o join (select * from items offset 0) i on o.price = i.price where i.price > 3 and o.id > 3000$$),
($$select o.id, i.total from orders o join (select k, sum(amount) as total from items group by k) i on o.k = i.k$$),
($$select o.id, i.k from orders o join (select k * 1.00 as k, v from items offset 0) i on o.k * 1.0 = i.k and o.v = i.v$$);
SELECT r.*, q FROM key_queries, run_both(q) r;
-- Numeric of files has their scale, whoever reads them.
CREATE FOREIGN TABLE bare (id int, k int, n numeric, t text, c char(4)) SERVER arrow_fdw OPTIONS (file :'facts');
ANALYZE bare;
CREATE TABLE file_queries (q text);
INSERT INTO file_queries VALUES
($$select a.id, b.id as other, b.n from bare a join bare b on a.n = b.n where md5(b.t) < '2'$$),
($$select a.id, b.id as other, b.c from bare a left join (select * from bare where md5(t) < '2') b on a.n = b.n and a.id > b.id$$),
($$select b.n, b.c, count(*), sum(a.n * b.n), avg(b.n) from bare a join bare b on a.n = b.n where md5(b.t) < '2' group by 1, 2$$),
($$select a.id, round(b.n, 1), b.n * 2 from bare a join bare b on a.k = b.k and a.id = b.id where md5(b.t) < '2' and b.n + a.n > 5$$),
($$select a.id from bare a where exists (select 1 from bare b where a.n * 0 + a.k = b.n * 0 + b.k and md5(b.t) < '2' and b.id <> a.id)$$),
($$select a.id, o.id as other from bare a join orders o on a.n * 0 + a.k = o.k$$),
($$select a.id, o.id as other, a.n from orders o join bare a on a.n * 0 + a.k = o.k where md5(a.t) < '2'$$),
($$select a.id from bare a where a.n * 0 + a.k in (select k from items where md5(name) < '8')$$);
SELECT r.*, q FROM file_queries, run_both(q) r;
-- Little memory: the inner side in parts.
SET pg_strom.work_memory = '1MB';
CREATE TABLE many AS SELECT CASE WHEN g % 3 = 0 THEN g::numeric ELSE g * 1.0 END AS k, repeat('x', 60) || g AS name,
  CASE WHEN g % 9000 = 0 THEN 'NaN' ELSE g / 4.0 END::numeric AS amount FROM generate_series(1, 30000) g;
INSERT INTO many VALUES ('NaN', 'not a number', 1), (1e40, 'long', 'NaN'), (NULL, 'null', 2);
ANALYZE many;
SELECT * FROM run_both('select o.id, m.name, m.amount from orders o join many m on o.id = m.k');
SELECT * FROM run_both('select o.id, m.name, m.amount from orders o join (select * from many offset 0) m on o.k = m.k');
SELECT * FROM run_both('select o.id, m.name, m.amount from orders o full join (select * from many offset 0) m on o.k = m.k');
RESET pg_strom.work_memory;
SET client_min_messages = warning;
DROP SCHEMA keys CASCADE;
