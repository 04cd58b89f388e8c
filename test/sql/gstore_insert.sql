-- INSERT into store tables by one node: for which statements and tables, and that the rows are those of PostgreSQL's
-- own tables.
\set VERBOSITY terse
CREATE SCHEMA inserted;
SET search_path = inserted, gstore_tools;
-- Kinds of tables, with columns of all forms.
CREATE TABLE own (id int, note text, n bigint NOT NULL DEFAULT 7 CHECK (n < 100000), d numeric, u uuid, s smallint, t timestamptz, b bool, f float8, PRIMARY KEY (id));
SELECT make_store('single', '(id int, note text, n bigint NOT NULL DEFAULT 7 CHECK (n < 100000), d numeric, u uuid, s smallint, t timestamptz, b bool, f float8)');
CREATE TABLE hashed (LIKE own INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY HASH (id);
ALTER TABLE hashed ALTER id DROP NOT NULL;
SELECT make_store('hashed_' || i, format('PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER %s)', i)) FROM generate_series(0, 2) i;
CREATE TABLE listed (LIKE hashed INCLUDING ALL) PARTITION BY LIST (s);
SELECT make_store('listed_1', 'PARTITION OF listed FOR VALUES IN (1, 3, NULL)'), make_store('listed_2', 'PARTITION OF listed FOR VALUES IN (2)'),
  make_store('listed_rest', 'PARTITION OF listed DEFAULT');
CREATE TABLE ranged (LIKE hashed INCLUDING ALL) PARTITION BY RANGE (id);
SELECT make_store('ranged_low', 'PARTITION OF ranged FOR VALUES FROM (MINVALUE) TO (500)'),
  make_store('ranged_high', 'PARTITION OF ranged FOR VALUES FROM (500) TO (100000)');
CREATE VIEW made AS SELECT i AS id, repeat('note ' || i, i % 7) AS note, i::bigint AS n, CASE WHEN i % 5 <> 0 THEN i / 3.0 END AS d,
    md5(i::text)::uuid AS u, (i % 6)::smallint AS s, timestamptz '2024-02-29 12:00+00' + i * interval '1 hour' AS t, i % 3 = 0 AS b, sqrt(i) AS f
  FROM generate_series(1, 5000) i;
-- Plans.
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO single (id, note) SELECT id, note FROM made WHERE id < 3;
EXPLAIN (COSTS OFF) INSERT INTO hashed VALUES (1);
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) INSERT INTO ranged (id) VALUES (90000), (90001);
DELETE FROM ranged;
SELECT statement, plan_of(statement) FROM (VALUES
  ('INSERT INTO single (id) VALUES (1) RETURNING id'), ('INSERT INTO single (id) VALUES (1) ON CONFLICT DO NOTHING'),
  ('WITH i AS (INSERT INTO single (id) VALUES (1)) SELECT 1'), ('WITH i AS (INSERT INTO single (id) VALUES (1)) INSERT INTO hashed (id) VALUES (1)'),
  ('INSERT INTO own (id) VALUES (1)'), ('INSERT INTO listed DEFAULT VALUES'), ('INSERT INTO hashed_1 (id) VALUES (1)')) AS s(statement);
SET pg_strom.enabled = off;
SELECT plan_of('INSERT INTO single (id) VALUES (1)');
RESET pg_strom.enabled;
-- The same rows, also from own tables and from store tables.
INSERT INTO own SELECT * FROM made;
INSERT INTO single SELECT * FROM made;
INSERT INTO hashed SELECT * FROM own;
INSERT INTO listed SELECT * FROM single ORDER BY id DESC;
INSERT INTO ranged SELECT * FROM hashed;
SELECT name, differences(name) FROM unnest(ARRAY['single', 'hashed', 'listed', 'ranged']) name;
SELECT pgstrom.store_check('single'), pgstrom.store_check('hashed_0') + pgstrom.store_check('hashed_1') + pgstrom.store_check('hashed_2') AS hashed,
  pgstrom.store_check('listed_1') + pgstrom.store_check('listed_2') + pgstrom.store_check('listed_rest') AS listed;
INSERT INTO listed (id, s) VALUES (9000, NULL), (9001, 77);
SELECT tableoid::regclass, count(*), min(s), max(s) FROM listed GROUP BY 1 ORDER BY 1;
-- One row, defaults, parameters, and the numbers of rows.
PREPARE add_row(int, text) AS INSERT INTO hashed (id, note, s) VALUES ($1, $2, 3);
EXECUTE add_row(10001, 'first'); EXECUTE add_row(10002, NULL); EXECUTE add_row(10003, repeat('long ', 100000));
EXECUTE add_row(10004, 'fourth'); EXECUTE add_row(10005, 'fifth'); EXECUTE add_row(10006, 'sixth'); EXECUTE add_row(10007, 'seventh');
SELECT id, length(note), n, s, d FROM hashed WHERE id > 10000 ORDER BY id;
DO $$
DECLARE counted int;
BEGIN
  INSERT INTO ranged (id, s) SELECT i, i % 9 FROM generate_series(20001, 20300) i;
  GET DIAGNOSTICS counted = ROW_COUNT;
  RAISE NOTICE 'counted: %', counted;
END $$;
-- Values that together take more than what waits for its insertion.
INSERT INTO single (id, note) SELECT i, repeat(md5(i::text), 5000) FROM generate_series(10001, 10100) i;
SELECT count(*), sum(length(note)), count(*) FILTER (WHERE note = repeat(md5(id::text), 5000)) FROM single WHERE id > 10000;
-- Errors: as of PostgreSQL's own tables, and nothing of the statement stays.
\set VERBOSITY default
INSERT INTO ranged (id) VALUES (200000);
INSERT INTO ranged (id) VALUES (NULL);
INSERT INTO hashed (id, n) SELECT 30000 + i, 99990 + i FROM generate_series(1, 20) i;
INSERT INTO hashed (id, n) VALUES (30000, NULL);
INSERT INTO hashed (id) VALUES (NULL);
INSERT INTO single (id) SELECT i FROM generate_series(5200, 4990, -1) i;
INSERT INTO single (id) SELECT i FROM generate_series(30000, 60000) i;
INSERT INTO ranged_low (id) VALUES (500);
\set VERBOSITY terse
BEGIN READ ONLY;
INSERT INTO hashed (id) VALUES (40000);
ROLLBACK;
CREATE ROLE inserted_writer;
GRANT USAGE ON SCHEMA inserted TO inserted_writer;
GRANT INSERT (id, s) ON ranged TO inserted_writer;
SET ROLE inserted_writer;
INSERT INTO ranged (id, s) VALUES (40000, 1);
INSERT INTO ranged (id, n) VALUES (40001, 1);
\set VERBOSITY default
INSERT INTO ranged (id, s) VALUES (400000, 1);
\set VERBOSITY terse
RESET ROLE;
SELECT count(*) FILTER (WHERE id >= 30000 AND id <> 40000), count(*) FILTER (WHERE id = 40000) FROM (SELECT id FROM single UNION ALL SELECT id FROM hashed UNION ALL SELECT id FROM ranged) ids;
-- Savepoints, and rows that the statement itself adds by a function.
BEGIN;
INSERT INTO single (id) SELECT i FROM generate_series(40001, 40100) i;
SAVEPOINT s;
INSERT INTO single (id) SELECT i FROM generate_series(40101, 40200) i;
ROLLBACK TO s;
INSERT INTO single (id) SELECT i FROM generate_series(40101, 40150) i;
COMMIT;
SELECT count(*), max(id) FROM single WHERE id > 40000;
CREATE FUNCTION adds(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO single (id) VALUES (i + 1000); RETURN i; END $$;
INSERT INTO single (id) SELECT adds(i) FROM generate_series(50001, 50100) i;
SELECT count(*), max(id) FROM single WHERE id > 50000;
-- Volatile functions see the rows that the statement has inserted before, also where PostgreSQL's node inserts.
CREATE FUNCTION next_id() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT coalesce(max(id), 0) + 1 FROM counted); END $$;
SELECT make_store('counted', '(id int DEFAULT next_id(), n int)');
INSERT INTO counted (n) VALUES (1), (2), (3);
INSERT INTO counted SELECT next_id(), i FROM generate_series(4, 6) i;
INSERT INTO counted SELECT (SELECT next_id() + 0 * i), i FROM generate_series(7, 9) i;
SELECT plan_of('INSERT INTO counted (n) VALUES (1)');
SET pg_strom.enabled = off;
INSERT INTO counted SELECT next_id(), i FROM generate_series(10, 12) i;
RESET pg_strom.enabled;
SELECT count(*), sum(id - n) FROM counted;
-- So do rules that look at the table.
CREATE FUNCTION has_room(i int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) < 5 FROM few); END $$;
SELECT make_store('few', '(id int, n int)');
ALTER FOREIGN TABLE few ADD CONSTRAINT has_room CHECK (has_room(id));
INSERT INTO few SELECT i, i FROM generate_series(1, 10) i;
INSERT INTO few SELECT i, i FROM generate_series(1, 5) i;
INSERT INTO few VALUES (6, 6);
SELECT plan_of('INSERT INTO few VALUES (6, 6)'), count(*) FROM few;
ALTER FOREIGN TABLE few DROP CONSTRAINT has_room;
DELETE FROM few;
CREATE DOMAIN roomy AS int CHECK (has_room(VALUE));
INSERT INTO few SELECT i, i::roomy FROM generate_series(1, 10) i;
SELECT count(*) FROM few;
-- Triggers, generated columns, other partitions and several levels are PostgreSQL's.
CREATE FUNCTION doubled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := NEW.n * 2; RETURN NEW; END $$;
PREPARE add_single(int) AS INSERT INTO single (id) VALUES ($1);
EXECUTE add_single(60001);
CREATE TRIGGER doubled BEFORE INSERT ON single FOR EACH ROW EXECUTE FUNCTION doubled();
EXECUTE add_single(60002);
DROP TRIGGER doubled ON single;
EXECUTE add_single(60003);
SELECT id, n FROM single WHERE id > 60000 ORDER BY id;
CREATE TABLE mixed (id int, n int) PARTITION BY LIST (n);
SELECT make_store('mixed_1', 'PARTITION OF mixed FOR VALUES IN (1)');
PREPARE add_mixed(int, int) AS INSERT INTO mixed VALUES ($1, $2);
EXECUTE add_mixed(1, 1);
CREATE TABLE mixed_2 PARTITION OF mixed FOR VALUES IN (2);
EXECUTE add_mixed(2, 2);
CREATE TABLE mixed_3 PARTITION OF mixed FOR VALUES IN (3) PARTITION BY HASH (id);
SELECT make_store('mixed_3_0', 'PARTITION OF mixed_3 FOR VALUES WITH (MODULUS 1, REMAINDER 0)');
EXECUTE add_mixed(3, 3);
INSERT INTO mixed_3 VALUES (4, 4);
SELECT tableoid::regclass, * FROM mixed ORDER BY id;
SELECT plan_of('INSERT INTO mixed VALUES (1, 1)'), plan_of('INSERT INTO mixed_3 VALUES (1, 3)'), plan_of('INSERT INTO mixed_3_0 VALUES (1, 3)');
INSERT INTO mixed_3_0 VALUES (5, 4);
-- Policies of row security: for rows that are read, and for rows that are written.
GRANT SELECT, INSERT, UPDATE, DELETE ON ranged TO inserted_writer;
ALTER TABLE ranged ENABLE ROW LEVEL SECURITY;
CREATE POLICY small ON ranged TO inserted_writer USING (n < 1000) WITH CHECK (n < 500);
SET ROLE inserted_writer;
INSERT INTO ranged (id, n) VALUES (50001, 499);
INSERT INTO ranged (id, n) VALUES (50002, 500);
INSERT INTO ranged (id, n) SELECT 50003 + i, 499 + i FROM generate_series(0, 1) i;
UPDATE ranged SET n = 498 WHERE id = 50001;
UPDATE ranged SET n = 500 WHERE id = 50001;
UPDATE ranged SET note = 'out of sight' WHERE id = 2000;
DELETE FROM ranged WHERE id IN (50001, 2000) RETURNING id, n;
RESET ROLE;
SELECT id, n FROM ranged WHERE id > 50000 OR note = 'out of sight' OR id = 2000;
DROP OWNED BY inserted_writer;
DROP ROLE inserted_writer;
SET client_min_messages = warning;
DROP SCHEMA inserted, gstore_tools CASCADE;
