-- UPDATE and DELETE of one row by its key, which are planned without PostgreSQL's planner: what they do, for which
-- statements and tables, and that their answers are those of PostgreSQL's own tables.
\set VERBOSITY terse
CREATE SCHEMA keyed;
SET search_path = keyed, gstore_tools;
-- One table, and the three kinds of partitions.
SELECT make_store('single', '(id int, note text, n bigint NOT NULL DEFAULT 7 CHECK (n < 100000), d numeric)');
CREATE TABLE hashed (id int, note text, n bigint NOT NULL DEFAULT 7 CHECK (n < 100000), d numeric) PARTITION BY HASH (id);
SELECT make_store('hashed_' || i, format('PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER %s)', i)) FROM generate_series(0, 2) i;
CREATE TABLE listed (LIKE hashed INCLUDING ALL) PARTITION BY LIST (id);
SELECT make_store('listed_1', 'PARTITION OF listed FOR VALUES IN (1, 3, 5, 7, 9)'),
  make_store('listed_2', 'PARTITION OF listed FOR VALUES IN (2, 4, 6)'), make_store('listed_rest', 'PARTITION OF listed DEFAULT');
CREATE TABLE ranged (LIKE hashed INCLUDING ALL) PARTITION BY RANGE (id);
SELECT make_store('ranged_low', 'PARTITION OF ranged FOR VALUES FROM (MINVALUE) TO (10)'),
  make_store('ranged_high', 'PARTITION OF ranged FOR VALUES FROM (20) TO (60)');
CREATE TABLE own (LIKE hashed INCLUDING ALL, PRIMARY KEY (id));
INSERT INTO single SELECT i, 'note ' || i, i, i / 4.0 FROM generate_series(1, 60) i WHERE i NOT BETWEEN 10 AND 19 AND i < 60;
INSERT INTO hashed SELECT * FROM single;
INSERT INTO listed SELECT * FROM single;
INSERT INTO ranged SELECT * FROM single;
INSERT INTO own SELECT * FROM single;
-- Plans.
EXPLAIN (COSTS OFF) UPDATE single SET n = n + 1 WHERE id = 3;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE hashed SET n = DEFAULT, note = note || '!' WHERE 3::bigint = id AND d > 0;
EXPLAIN (COSTS OFF) DELETE FROM listed WHERE id = (SELECT (random() * 0)::int + 3) AND note IS NOT NULL;
EXPLAIN (COSTS OFF) DELETE FROM ranged r WHERE r.id = 3 AND r.id < 4;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) UPDATE single SET n = 5 WHERE id = 3 AND note = 'none';
EXPLAIN (COSTS OFF) UPDATE hashed_1 SET n = 5 WHERE id = 3;
-- What is left to PostgreSQL's planner.
SELECT statement, plan_of(statement) FROM (VALUES
  ('UPDATE single SET n = 1 WHERE id = 3 RETURNING id'), ('UPDATE single SET id = 4 WHERE id = 3'),
  ('UPDATE single SET n = 1 WHERE id IN (3, 4)'), ('UPDATE single SET n = 1 WHERE id = 3 OR n = 4'),
  ('UPDATE single SET n = 1 WHERE id = (random() * 3)::int'), ('UPDATE single SET n = 1 WHERE id = n'),
  ('UPDATE single SET n = (SELECT max(n) FROM single) WHERE id = 3'), ('UPDATE single SET n = 1 WHERE id = (SELECT max(id) FROM single)'),
  ('UPDATE single SET (n, d) = (SELECT 1, 2) WHERE id = 3'), ('UPDATE single s SET n = 1 FROM own o WHERE s.id = 3 AND o.id = 3'),
  ('WITH changed AS (UPDATE single SET n = 1 WHERE id = 3) SELECT 1'), ('DELETE FROM single WHERE id > 3'),
  ('DELETE FROM single s WHERE id = 3 AND s = s'), ('DELETE FROM single WHERE id = 3 AND ctid IS NOT NULL'),
  ('UPDATE ONLY hashed SET n = 1 WHERE id = 3'), ('UPDATE single SET n = 1 WHERE id = 3.0'),
  ('UPDATE single SET n = 1 WHERE id = 3 AND n = (SELECT 1 / (random() * 0)::int)'), ('UPDATE single SET n = 1 WHERE id = 3 AND false'),
  ('UPDATE own SET n = 1 WHERE id = 3'), ('DELETE FROM listed WHERE id = 3')) AS s(statement);
-- A sub-query is evaluated when its value is needed: for the key always, otherwise for a row.
UPDATE single SET n = 1 WHERE id = (SELECT 1 / (random() * 0)::int);
UPDATE single SET n = 1 WHERE id = 4711 AND n = (SELECT 1 / (random() * 0)::int);
SET pg_strom.enabled = off;
SELECT plan_of('UPDATE hashed SET n = 1 WHERE id = 3');
EXPLAIN (COSTS OFF) UPDATE hashed SET n = 1 WHERE id = (SELECT 3);
RESET pg_strom.enabled;
-- Prepared statements, with NULL and numbers that no key can be; then other plans when the table changes.
PREPARE change(bigint, text) AS UPDATE hashed SET note = $2, n = n + 1 WHERE id = $1;
EXECUTE change(1, 'first'); EXECUTE change(2, 'second'); EXECUTE change(3000000000, 'large'); EXECUTE change(NULL, 'none');
EXECUTE change(1, 'third'); EXECUTE change(77, 'missing'); EXECUTE change(2, NULL); EXECUTE change(1, 'fourth');
SELECT * FROM hashed WHERE id IN (1, 2) ORDER BY id;
CREATE FUNCTION doubled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := NEW.n * 2; RETURN NEW; END $$;
CREATE TRIGGER doubled BEFORE UPDATE ON hashed_0 FOR EACH ROW EXECUTE FUNCTION doubled();
CREATE TRIGGER doubled BEFORE UPDATE ON hashed_1 FOR EACH ROW EXECUTE FUNCTION doubled();
CREATE TRIGGER doubled BEFORE UPDATE ON hashed_2 FOR EACH ROW EXECUTE FUNCTION doubled();
EXECUTE change(1, 'with a trigger');
SELECT * FROM hashed WHERE id = 1;
DROP TRIGGER doubled ON hashed_0; DROP TRIGGER doubled ON hashed_1; DROP TRIGGER doubled ON hashed_2;
EXECUTE change(1, 'without');
SELECT * FROM hashed WHERE id = 1;
UPDATE own SET (note, n) = (SELECT note, n FROM hashed h WHERE h.id = own.id) WHERE id IN (1, 2);
UPDATE single SET (note, n) = (SELECT note, n FROM own o WHERE o.id = single.id) WHERE id IN (1, 2);
UPDATE listed SET (note, n) = (SELECT note, n FROM own o WHERE o.id = listed.id) WHERE id IN (1, 2);
UPDATE ranged SET (note, n) = (SELECT note, n FROM own o WHERE o.id = ranged.id) WHERE id IN (1, 2);
-- Constraints, rights, read-only transactions, and a row that the statement's own function changes.
UPDATE hashed SET n = 100000 + id WHERE id = 1;
UPDATE hashed SET n = NULL WHERE id = 1;
\set VERBOSITY default
UPDATE hashed SET n = 100000 + id, note = 'new' WHERE id = 1;
UPDATE single SET n = NULL WHERE id = 1;
\set VERBOSITY terse
CREATE ROLE keyed_reader;
GRANT USAGE ON SCHEMA keyed TO keyed_reader;
GRANT SELECT, UPDATE (note) ON hashed TO keyed_reader;
SET ROLE keyed_reader;
UPDATE hashed SET note = 'by the reader' WHERE id = 4;
UPDATE hashed SET n = 1 WHERE id = 4;
DELETE FROM hashed WHERE id = 4;
UPDATE hashed_1 SET note = 'x' WHERE id = 4;
RESET ROLE;
UPDATE hashed SET note = 'note 4' WHERE id = 4;
BEGIN READ ONLY;
UPDATE hashed SET n = 1 WHERE id = 4;
ROLLBACK;
CREATE FUNCTION changes_itself(i int) RETURNS bigint LANGUAGE plpgsql AS
  $$ BEGIN UPDATE hashed SET n = 5 WHERE id = i; RETURN 6; END $$;
UPDATE hashed SET n = changes_itself(id) WHERE id = 1;
-- Random statements, in transactions of which some roll back: the same for store tables and for PostgreSQL's own.
CREATE FUNCTION same_everywhere(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE counted bigint; first bigint; name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['own', 'single', 'hashed', 'listed', 'ranged'] LOOP
    EXECUTE replace(statement, 'TABLE', name);
    GET DIAGNOSTICS counted = ROW_COUNT;
    IF counted <> coalesce(first, counted) THEN RAISE 'counts of %: % for %, % for own', statement, counted, name, first; END IF;
    first := counted;
  END LOOP;
  RETURN first;
END $$;
CREATE FUNCTION random_changes(count int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE key text; condition text; statement text; changed bigint := 0; one bigint;
BEGIN
  FOR i IN 1 .. count LOOP
    key := (ARRAY['K', '(SELECT K)', 'K::bigint', 'K::smallint', '(SELECT K + 0 * length(''x''))', 'NULL::int'])[1 + floor(random() * 5.2)::int];
    key := replace(key, 'K', (floor(random() * 65)::int)::text);
    condition := (ARRAY['', ' AND n % 2 = 0', ' AND note IS NOT NULL', ' AND id > 30', ' AND d < n'])[1 + floor(random() * 5)::int];
    statement := (ARRAY['UPDATE TABLE SET n = n + 1', 'UPDATE TABLE SET n = DEFAULT, d = d * 2', 'UPDATE TABLE SET note = ''changed '' || id || coalesce(note, '''')',
                        'UPDATE TABLE SET note = NULL', 'UPDATE TABLE SET d = n, n = d', 'DELETE FROM TABLE'])[1 + floor(random() * 5.3)::int];
    BEGIN
      one := same_everywhere(statement || ' WHERE id = ' || key || condition);
      IF random() < 0.1 THEN RAISE EXCEPTION USING ERRCODE = 'P0099'; END IF;
      changed := changed + one;
    EXCEPTION WHEN SQLSTATE 'P0099' THEN NULL;
    END;
  END LOOP;
  RETURN changed;
END $$;
SELECT random_changes(1500) > 100 AS changed;
SELECT name, differences(name) FROM unnest(ARRAY['single', 'hashed', 'listed', 'ranged']) name;
-- Keys of other types.
CREATE TABLE named (name text COLLATE "C", n int) PARTITION BY HASH (name);
SELECT make_store('named_' || i, format('PARTITION OF named FOR VALUES WITH (MODULUS 2, REMAINDER %s)', i), 'name') FROM generate_series(0, 1) i;
INSERT INTO named SELECT 'name ' || i, i FROM generate_series(1, 40) i;
UPDATE named SET n = n + 100 WHERE name = 'name ' || (SELECT 17);
UPDATE named SET n = n + 100 WHERE name = 'name 18'::varchar;
DELETE FROM named WHERE name = lower('NAME 19');
SELECT count(*), sum(n), string_agg(name, ', ' ORDER BY name) FILTER (WHERE n > 100) FROM named;
SELECT pgstrom.store_check('named_0') + pgstrom.store_check('named_1') AS rows;
-- Partitions whose columns are in another order, and other kinds of partitions.
CREATE TABLE mixed (id int, n int) PARTITION BY LIST (id);
SELECT make_store('mixed_1', '(n int, id int)');
ALTER TABLE mixed ATTACH PARTITION mixed_1 FOR VALUES IN (1);
CREATE TABLE mixed_2 PARTITION OF mixed FOR VALUES IN (2);
INSERT INTO mixed VALUES (1, 1), (2, 2);
SELECT plan_of('UPDATE mixed SET n = 3 WHERE id = 1'), plan_of('UPDATE mixed_1 SET n = 3 WHERE id = 1');
UPDATE mixed SET n = n + 10 WHERE id = 1;
SELECT * FROM mixed ORDER BY id;
-- Columns in the bounds of the statement's own table: a row must not leave it.
CREATE TABLE regions (id int, region int, n int) PARTITION BY LIST (region);
SELECT make_store('region_1', 'PARTITION OF regions FOR VALUES IN (1)');
CREATE TABLE region_2 PARTITION OF regions FOR VALUES IN (2) PARTITION BY HASH (id);
SELECT make_store('region_2_0', 'PARTITION OF region_2 FOR VALUES WITH (MODULUS 1, REMAINDER 0)');
INSERT INTO regions VALUES (1, 1, 1), (2, 2, 2);
SELECT plan_of('UPDATE region_1 SET n = 3 WHERE id = 1'), plan_of('UPDATE region_2 SET n = 3 WHERE id = 2'),
  plan_of('UPDATE region_1 SET region = 1 WHERE id = 1'), plan_of('UPDATE region_2 SET region = 2 WHERE id = 2');
UPDATE region_1 SET region = 2 WHERE id = 1;
UPDATE region_2 SET region = 1 WHERE id = 2;
UPDATE region_2_0 SET region = 1 WHERE id = 2;
SELECT * FROM regions ORDER BY id;
-- A sub-query in the key whose value may not be needed.
CREATE SEQUENCE looked_up;
PREPARE maybe(bool) AS UPDATE single SET n = 2 WHERE id = CASE WHEN $1 THEN (SELECT nextval('looked_up')::int) ELSE 2 END;
SET plan_cache_mode = force_generic_plan;
EXECUTE maybe(false);
SELECT is_called FROM looked_up;
EXECUTE maybe(true);
SELECT is_called FROM looked_up;
RESET plan_cache_mode;
-- In a function of the language SQL.
CREATE FUNCTION in_function(i int) RETURNS bigint LANGUAGE sql AS
  'UPDATE single SET n = 1000 + i WHERE id = i; DELETE FROM hashed WHERE id = i; SELECT n FROM single WHERE id = i';
INSERT INTO single SELECT 100, 'new', 100 UNION ALL SELECT 101, 'new', 101;
INSERT INTO hashed SELECT * FROM single WHERE id >= 100;
SELECT in_function(100), in_function(101), in_function(102);
SELECT count(*) FROM hashed WHERE id >= 100;
DROP OWNED BY keyed_reader;
DROP ROLE keyed_reader;
SET client_min_messages = warning;
DROP SCHEMA keyed CASCADE;
