-- UPDATE and DELETE that the scan of a store table does itself, and those that it leaves to the executor. Those of one
-- row by its key are in gstore_keyed.
\set VERBOSITY terse
SELECT current_setting('data_directory') AS folder \gset
\set base :folder '/gstore_direct.base'
\set redo :folder '/gstore_direct.redo'
\set base0 :folder '/gstore_direct_0.base'
\set redo0 :folder '/gstore_direct_0.redo'
\set base1 :folder '/gstore_direct_1.base'
\set redo1 :folder '/gstore_direct_1.redo'
CREATE FOREIGN TABLE direct (id int, note text, n bigint NOT NULL DEFAULT 7 CHECK (n < 1000), d numeric(6, 2))
  SERVER gstore_fdw OPTIONS (base_file :'base', redo_log_file :'redo', max_num_rows '1000', primary_key 'id');
INSERT INTO direct SELECT i, repeat('long note ', i), i, i / 4.0 FROM generate_series(1, 20) i;

-- By the key, by several, by other conditions.
EXPLAIN (COSTS OFF) UPDATE direct SET n = n + 1 WHERE id = 3;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE direct SET note = NULL, n = DEFAULT WHERE id = ANY ('{1, 4, 1, 99}');
UPDATE direct SET n = n + 100 WHERE id = 3;
UPDATE direct SET note = NULL, n = DEFAULT WHERE id = ANY ('{1, 4, 1, 99}');
UPDATE direct SET d = d * n, n = id, note = left(note, 4) || '!' WHERE id IN (2, 5) AND note LIKE 'long%';
UPDATE direct SET id = id + 100 WHERE id = 6;
SELECT id, length(note), left(note, 10), n, d FROM direct WHERE id < 8 OR id > 100 ORDER BY id;
SET pg_strom.enabled = off;
EXPLAIN (COSTS OFF) DELETE FROM direct WHERE n > 17;
DELETE FROM direct WHERE n > 17;
UPDATE direct SET n = n + (SELECT count(*) FROM direct) WHERE id % 5 = 0;
RESET pg_strom.enabled;
SELECT id, n FROM direct ORDER BY id;
SELECT pgstrom.store_check('direct');

-- What is counted: the statement's own rows only.
DO $$
DECLARE counted int;
BEGIN
  WITH changed AS (UPDATE direct SET n = 1 WHERE id IN (1, 2) AND id > 0) UPDATE direct SET n = 2 WHERE id = 7;
  GET DIAGNOSTICS counted = ROW_COUNT;
  RAISE NOTICE 'counted: %', counted;
  DELETE FROM direct WHERE id IN (16, 17, 18);
  GET DIAGNOSTICS counted = ROW_COUNT;
  RAISE NOTICE 'counted: %', counted;
END $$;
PREPARE change(int, bigint) AS UPDATE direct SET n = $2 WHERE id = $1;
EXECUTE change(1, 11);
EXECUTE change(1000, 11);
EXECUTE change(NULL, 11);
SELECT id, n FROM direct WHERE id IN (1, 2, 7) ORDER BY id;

-- Constraints, keys, and a function that changes the row first.
UPDATE direct SET n = 1000 WHERE id = 1;
UPDATE direct SET n = NULL WHERE id = 1;
UPDATE direct SET d = 10000 WHERE id = 1;
UPDATE direct SET id = 2 WHERE id = 1;
UPDATE direct SET id = NULL WHERE id = 1;
CREATE FUNCTION changes_itself(i int) RETURNS bigint LANGUAGE plpgsql AS
  $$ BEGIN UPDATE direct SET n = 5 WHERE id = i; RETURN 6; END $$;
UPDATE direct SET n = changes_itself(id) WHERE id = 1;
SELECT id, n, d FROM direct WHERE id = 1;
DROP FUNCTION changes_itself;

-- A subtransaction, and rows that one transaction changes twice.
BEGIN;
UPDATE direct SET n = 21 WHERE id = 1;
SAVEPOINT s;
UPDATE direct SET n = 22 WHERE id = 1;
DELETE FROM direct WHERE id = 2;
ROLLBACK TO s;
UPDATE direct SET n = n + 1 WHERE id IN (1, 2);
COMMIT;
SELECT id, n FROM direct WHERE id IN (1, 2) ORDER BY id;

-- Several columns from one sub-query, which may depend on the row.
UPDATE direct SET (note, n) = (SELECT 'depends on ' || o.id, o.n + 1 FROM direct o WHERE o.id = direct.id) WHERE id IN (2, 4);
UPDATE direct SET (note, n) = (SELECT max(o.note), min(o.n) FROM direct o) WHERE id IN (7, 8);
SELECT id, left(note, 12), n FROM direct WHERE id IN (2, 4, 7, 8) ORDER BY id;
-- NULL where it is allowed.
ALTER FOREIGN TABLE direct ALTER n DROP NOT NULL;
UPDATE direct SET n = NULL WHERE id = 1;
SELECT id, n FROM direct WHERE id = 1;

-- Left to the executor: RETURNING, triggers, joins, security barriers with checks.
EXPLAIN (COSTS OFF) UPDATE direct SET n = 1 WHERE id = 1 RETURNING id;
EXPLAIN (COSTS OFF) UPDATE direct SET n = 1 FROM generate_series(1, 2) g(i) WHERE id = g.i;
CREATE VIEW small AS SELECT * FROM direct WHERE n < 10 WITH CHECK OPTION;
EXPLAIN (COSTS OFF) UPDATE small SET n = 1 WHERE id = 1;
UPDATE small SET n = 500 WHERE id = 7;
DROP VIEW small;
CREATE FUNCTION doubled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := NEW.n * 2; RETURN NEW; END $$;
CREATE TRIGGER doubled BEFORE UPDATE ON direct FOR EACH ROW EXECUTE FUNCTION doubled();
EXPLAIN (COSTS OFF) UPDATE direct SET n = 30 WHERE id = 1;
UPDATE direct SET n = 30 WHERE id = 1;
SELECT id, n FROM direct WHERE id = 1;
DROP FOREIGN TABLE direct;
DROP FUNCTION doubled;

-- Partitions: a row does not leave its own.
CREATE TABLE parted (id int, n int) PARTITION BY LIST (id);
CREATE FOREIGN TABLE parted_0 PARTITION OF parted FOR VALUES IN (0, 2, 4)
  SERVER gstore_fdw OPTIONS (base_file :'base0', redo_log_file :'redo0', max_num_rows '1000', primary_key 'id');
CREATE FOREIGN TABLE parted_1 PARTITION OF parted FOR VALUES IN (1, 3, 5)
  SERVER gstore_fdw OPTIONS (base_file :'base1', redo_log_file :'redo1', max_num_rows '1000', primary_key 'id');
INSERT INTO parted VALUES (0, 0), (1, 1), (2, 2), (3, 3);
SET pg_strom.enabled = off;
EXPLAIN (COSTS OFF) UPDATE parted SET n = n + 10 WHERE id = (SELECT 2);
UPDATE parted SET n = n + 10 WHERE id = (SELECT 2);
RESET pg_strom.enabled;
UPDATE parted SET n = n + 10 WHERE id IN (1, 2);
EXPLAIN (COSTS OFF) UPDATE parted SET id = 5 WHERE id = 3;
UPDATE parted SET id = 5 WHERE id = 3;
UPDATE parted SET id = 4 WHERE id = 5;
UPDATE parted_1 SET id = 4 WHERE id = 5;
UPDATE parted_1 SET n = 50 WHERE id = 5;
DELETE FROM parted WHERE id = (SELECT 0);
SELECT tableoid::regclass, * FROM parted ORDER BY id;
DROP TABLE parted;
