-- Block ranges that BRIN indexes rule out.
LOAD 'pg_strom';
CREATE SCHEMA ranges;
SET search_path = ranges;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.regression_test_mode = on;
SET pg_strom.enable_column_cache = off;
SET max_parallel_workers_per_gather = 0;
SET enable_bitmapscan = off;
CREATE TABLE event (id int NOT NULL, at timestamp, device int, price numeric(10,2), note text) WITH (autovacuum_enabled = off);
INSERT INTO event SELECT i, timestamp '2024-01-01' + i * interval '10 minutes', i / 10 % 1000, i / 7.0, 'note ' || lpad((i / 100)::text, 5, '0')
  FROM generate_series(1, 50000) i;
CREATE INDEX event_at ON event USING brin (at) WITH (pages_per_range = 4);
CREATE INDEX event_id_price ON event USING brin (id int4_minmax_multi_ops, price) WITH (pages_per_range = 8);
CREATE INDEX event_device ON event USING brin (device int4_bloom_ops) WITH (pages_per_range = 2);
CREATE INDEX event_note ON event USING brin (note COLLATE "C", (id + 1)) WITH (pages_per_range = 1);
CREATE TABLE kind (k int, first int, note text);
INSERT INTO kind SELECT i, i * 10000, 'note 0' || lpad((i * 50)::text, 4, '0') FROM generate_series(0, 4) i;
VACUUM ANALYZE event, kind;
CREATE FUNCTION brin_quals(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Brin Quals|Bitmap|Seq Scan on event|Custom Scan' THEN RETURN NEXT regexp_replace(line, ' \(actual.*', ''); END IF;
  END LOOP;
END $$;
SELECT brin_quals('SELECT count(*), sum(price) FROM event WHERE at BETWEEN ''2024-03-01'' AND ''2024-03-05''');
SELECT * FROM engine.run_both('SELECT count(*), sum(price) FROM event WHERE at BETWEEN ''2024-03-01'' AND ''2024-03-05''');
-- Several indexes and columns: AND, OR, IN, commuted operators, an expression, another type, text.
SELECT brin_quals('SELECT count(*) FROM event WHERE at >= ''2024-06-01'' AND 25000 > id');
SELECT * FROM engine.run_both('SELECT count(*) FROM event WHERE at >= ''2024-06-01'' AND 25000 > id');
SELECT brin_quals('SELECT count(*) FROM event WHERE id < 100 AND price < 3 OR at > ''2024-12-10'' AND id > 7');
SELECT * FROM engine.run_both('SELECT count(*) FROM event WHERE id < 100 AND price < 3 OR at > ''2024-12-10'' AND id > 7');
SELECT * FROM engine.run_both('SELECT count(*) FROM event WHERE id < 100 OR price IS NULL');
SELECT brin_quals('SELECT count(*) FROM event WHERE id IN (5, 20000, NULL, 49000)');
SELECT * FROM engine.run_both('SELECT id, note FROM event WHERE id IN (5, 20000, NULL, 49000)');
SELECT brin_quals('SELECT count(*) FROM event WHERE id + 1 = 777');
SELECT brin_quals('SELECT count(*) FROM event WHERE id > 49000::bigint');
SELECT brin_quals('SELECT count(*) FROM event WHERE note COLLATE "C" >= ''note 00490''');
SELECT * FROM engine.run_both('SELECT id FROM event WHERE note COLLATE "C" >= ''note 00490'' AND id + 1 < 49990');
-- A filter that stays with PostgreSQL has its index asked all the same.
SELECT brin_quals('SELECT id FROM event WHERE id < 500 AND format(''%s'', at) > ''2024''');
SELECT brin_quals('SELECT count(*) FROM event WHERE id > 10 OR format(''%s'', at) > ''2024''');
-- Nothing is ruled out by volatile or unselective filters, nor with the setting off.
SELECT brin_quals('SELECT count(*) FROM event WHERE id < random()');
SELECT brin_quals('SELECT count(*) FROM event WHERE id > 10');
SET pg_strom.enable_brin = off;
SELECT brin_quals('SELECT count(*) FROM event WHERE id < 500');
RESET pg_strom.enable_brin;
-- Bloom, and rows and ranges that came after the index was made: unsummarised ranges are read.
SET enable_seqscan = off;
SELECT bool_or(q ~ 'Brin Quals') AS bloom FROM brin_quals('SELECT count(*) FROM event WHERE device = 77') q;
RESET enable_seqscan;
SELECT * FROM engine.run_both('SELECT id FROM event WHERE device = 77 AND id < 9000');
INSERT INTO event SELECT i, timestamp '2024-01-01' + i * interval '10 minutes', 1, 0, 'new' FROM generate_series(-2000, 0) i;
UPDATE event SET at = '2030-01-01' WHERE id % 10000 = 1;
SELECT bool_or(q ~ 'skipped: [1-9]') AS skipped FROM brin_quals('SELECT count(*) FROM event WHERE at < ''2024-01-01''') q;
SELECT * FROM engine.run_both('SELECT id, at FROM event WHERE at < ''2024-01-01'' OR at > ''2029-01-01''');
SELECT brin_summarize_new_values('event_at') > 0 AS summarised;
SELECT * FROM engine.run_both('SELECT id, at FROM event WHERE at < ''2024-01-01'' OR at > ''2029-01-01''');
DELETE FROM event WHERE id BETWEEN 20000 AND 30000;
VACUUM event;
SELECT * FROM engine.run_both('SELECT count(*), min(id), max(id) FROM event WHERE at BETWEEN ''2024-05-01'' AND ''2024-08-01''');
BEGIN;
INSERT INTO event (id, at) VALUES (999999, '2024-05-05');
SELECT count(*), max(id) FROM event WHERE at BETWEEN '2024-05-05' AND '2024-05-06';
ROLLBACK;
-- Parameters: of a prepared statement, of a sub-query, changing with each row outside; init plans.
SET plan_cache_mode = force_generic_plan;
PREPARE since(int, int) AS SELECT count(*), min(id), sum(price) FROM event WHERE id >= $1 AND id < $2;
SET enable_seqscan = off;
EXECUTE since(100, 300);
EXECUTE since(40000, 40020);
EXECUTE since(NULL, 5);
SELECT bool_or(q ~ 'skipped: [1-9]') AS skipped FROM brin_quals('EXECUTE since(100, 300)') q;
RESET plan_cache_mode;
-- Whether the last blocks are summarised depends on when the table was vacuumed.
SELECT regexp_replace(q, '(fetched|skipped): \d+', '\1: N', 'g') FROM brin_quals('SELECT k, (SELECT count(*) FROM event WHERE id > first AND id < first + 100) FROM kind') q;
SELECT * FROM engine.run_both('SELECT k, (SELECT count(*) FROM event WHERE id > first AND id < first + 100) FROM kind');
SELECT * FROM engine.run_both('SELECT k, x.* FROM kind, LATERAL (SELECT count(*), min(at) FROM event WHERE id > first AND id = ANY (ARRAY[first + 1, k * 2, NULL])) x');
SELECT row_count, differences FROM engine.run_both('SELECT count(*) FROM event WHERE id > (SELECT max(first) + 9000 FROM kind)');
RESET enable_seqscan;
-- Inner sides of joins, sub-queries; many passes; fallback rows.
EXPLAIN (COSTS OFF) SELECT k.note, count(*) FROM kind k JOIN event e ON e.id = k.first + 1 WHERE e.id < 12000 GROUP BY 1;
SELECT * FROM engine.run_both('SELECT k.note, count(*) FROM kind k JOIN event e ON e.id = k.first + 1 WHERE e.id < 12000 GROUP BY 1');
EXPLAIN (COSTS OFF) SELECT count(*), max(b.at) FROM event a JOIN event b ON a.id = b.id WHERE b.at < '2024-01-20';
SELECT * FROM engine.run_both('SELECT count(*), max(b.at) FROM event a JOIN event b ON a.id = b.id WHERE b.at < ''2024-01-20''');
SELECT * FROM engine.run_both('SELECT id, price * 1000000000 * 1000000000 * 1000000000 * 1000000000 FROM event WHERE id BETWEEN 15000 AND 15100');
-- A partial index; a pseudoconstant filter; partitions; views with a security barrier.
CREATE INDEX event_late ON event USING brin (price) WITH (pages_per_range = 2) WHERE at > '2024-11-01';
SELECT * FROM engine.run_both('SELECT count(*) FROM event WHERE at > ''2024-11-15'' AND price BETWEEN 6800 AND 6900');
SELECT * FROM engine.run_both('SELECT count(*) FROM event WHERE current_user IS NOT NULL AND id < 300');
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM event WHERE device < 500;
SELECT brin_quals('SELECT count(*) FROM guarded WHERE id < 1000');
CREATE FUNCTION spying(int) RETURNS bool LANGUAGE plpgsql COST 0.01 AS $$ BEGIN RAISE NOTICE 'seen %', $1; RETURN true; END $$;
SELECT count(*) FROM guarded WHERE id BETWEEN 4998 AND 5000 AND spying(id);
-- Other formats.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT yaml) SELECT count(*) FROM event WHERE id < 300;
SET client_min_messages = warning;
DROP SCHEMA ranges CASCADE;
