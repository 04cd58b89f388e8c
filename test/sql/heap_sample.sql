-- TABLESAMPLE: the rows that PostgreSQL's methods choose.
LOAD 'pg_strom';
CREATE SCHEMA sample;
SET search_path = sample;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE event (id int NOT NULL, kind int, price numeric(10,2), note text) WITH (autovacuum_enabled = off);
INSERT INTO event SELECT i, i % 7, i / 7.0, 'note ' || i FROM generate_series(1, 30000) i;
CREATE TABLE kind AS SELECT i AS k, i * 10 AS share FROM generate_series(1, 4) i;
VACUUM ANALYZE event, kind;
EXPLAIN (COSTS OFF) SELECT kind, count(*) FROM event TABLESAMPLE bernoulli (20) REPEATABLE (5) WHERE price > 100 GROUP BY 1;
SELECT * FROM engine.run_both('SELECT id, note FROM event TABLESAMPLE bernoulli (20) REPEATABLE (5) WHERE price > 100');
SELECT * FROM engine.run_both('SELECT id, note FROM event TABLESAMPLE system (20) REPEATABLE (5) WHERE price > 100');
SELECT * FROM engine.run_both('SELECT kind, count(*), sum(price) FROM event TABLESAMPLE system (33.3) REPEATABLE (7.5) GROUP BY 1');
SELECT * FROM engine.run_both('SELECT count(*), sum(id) FROM event TABLESAMPLE bernoulli (0) REPEATABLE (1)');
SELECT * FROM engine.run_both('SELECT count(*), sum(id) FROM event TABLESAMPLE system (100)');
-- Dead and changed rows. How many there are in which block depends on when pages were pruned.
DELETE FROM event WHERE id % 11 = 0;
UPDATE event SET price = price + 1 WHERE id % 13 = 0;
SELECT nodes, row_count > 9000 AS many, differences FROM engine.run_both('SELECT id, price FROM event TABLESAMPLE bernoulli (40) REPEATABLE (2)');
VACUUM event;
INSERT INTO event SELECT i, 1, 1, 'later' FROM generate_series(1, 500) i;
SELECT nodes, row_count > 9000 AS many, differences FROM engine.run_both('SELECT id, price FROM event TABLESAMPLE bernoulli (40) REPEATABLE (2)');
SELECT * FROM engine.run_both('SELECT count(*), sum(price) FROM event TABLESAMPLE system (40) REPEATABLE (2) WHERE note > ''note 5''');
-- Of both sides of a join, of tables in sub-queries with parameters from outside, of prepared statements.
SELECT * FROM engine.run_both('SELECT a.kind, count(*) FROM event a TABLESAMPLE system (50) REPEATABLE (1) JOIN event b TABLESAMPLE bernoulli (30) REPEATABLE (3) ON a.id = b.id GROUP BY 1');
SELECT nodes LIKE '%CpuPreAgg%' AS sampled, row_count, differences FROM engine.run_both('SELECT k, (SELECT sum(id) FROM event TABLESAMPLE bernoulli (10) REPEATABLE (1) WHERE kind = k) FROM kind');
SELECT nodes LIKE '%CpuPreAgg%' AS sampled, row_count, differences FROM engine.run_both('SELECT k, x.n FROM kind, LATERAL (SELECT sum(id) AS n FROM event TABLESAMPLE bernoulli (share) REPEATABLE (k)) x');
SET plan_cache_mode = force_generic_plan;
PREPARE p(real, float8) AS SELECT count(*), sum(id) FROM event TABLESAMPLE bernoulli ($1) REPEATABLE ($2) WHERE kind < 5;
EXPLAIN (COSTS OFF) EXECUTE p(10, 1);
EXECUTE p(10, 1) \gset engine_
SET pg_strom.enabled = off;
EXECUTE p(10, 1) \gset plain_
SELECT :engine_count = :plain_count AND :engine_sum = :plain_sum AS same;
RESET pg_strom.enabled;
EXECUTE p(10, 2) \gset other_
SELECT :engine_sum <> :other_sum AS another;
-- A sample that is not repeatable is one within a statement.
SELECT count(*) BETWEEN 1 AND 29999 AS some, count(*) = sum(x) AS same FROM (SELECT 1 AS x FROM event TABLESAMPLE bernoulli (50) WHERE id > 0 OFFSET 0) s;
-- Errors; what stays with PostgreSQL.
EXECUTE p(-1, 1);
EXECUTE p(NULL, 1);
EXECUTE p(1, NULL);
SELECT count(*) FROM event TABLESAMPLE system (101);
SELECT nodes FROM engine.run_both('SELECT 1 FROM (SELECT count(*) FROM event TABLESAMPLE system (random() * 100)) x');
SET client_min_messages = warning;
DROP SCHEMA sample CASCADE;
