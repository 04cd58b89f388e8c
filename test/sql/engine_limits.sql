-- What the engine leaves to PostgreSQL so that statements mean the same: found by PostgreSQL's own regression suite.
LOAD 'pg_strom';
CREATE SCHEMA limits;
SET search_path = limits;
SET client_min_messages = notice;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.0000001;
CREATE TABLE secrets (id int, owner text);
INSERT INTO secrets VALUES (1, 'ann'), (2, 'bob'), (3, 'cid'), (4, 'dan');
CREATE TABLE banned (id int);
INSERT INTO banned VALUES (3), (4);
ANALYZE secrets, banned;
-- A leaky function sees no row that a policy hides, also if a lower policy is not lowered.
CREATE FUNCTION leak(text) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS
  $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
CREATE ROLE regress_strom_reader;
GRANT USAGE ON SCHEMA limits TO regress_strom_reader;
GRANT SELECT ON secrets, banned TO regress_strom_reader;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON secrets USING (id % 2 = 0);
CREATE POLICY allowed ON secrets AS RESTRICTIVE USING (id NOT IN (SELECT id FROM banned));
SET ROLE regress_strom_reader;
SELECT * FROM secrets WHERE leak(owner);
RESET ROLE;
-- Set-returning functions beside and in GROUP BY.
CREATE TABLE few (id int, t text);
INSERT INTO few VALUES (1, 'a'), (2, 'a'), (3, 'b');
ANALYZE few;
SELECT t, generate_series(1, 2) AS g, count(*) FROM few GROUP BY 1, 2 ORDER BY 1, 2;
SELECT t, count(*) FROM few GROUP BY t, unnest('{1,1,3}'::int[]) ORDER BY 1, 2;
-- Columns that expressions over a key are computed from are no keys.
SELECT id / 2, id / 2 FROM few GROUP BY id / 2 ORDER BY 1;
SELECT id / 2 + 1, count(*) FROM few GROUP BY id / 2 ORDER BY 1;
-- A cursor over one table moves backwards, and its row can be updated.
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM few;
FETCH 2 FROM c;
UPDATE few SET t = 'updated' WHERE CURRENT OF c;
FETCH BACKWARD 1 FROM c;
SELECT * FROM few ORDER BY id;
ROLLBACK;
-- So does one over a statement that the planner puts in the place of a function or a CTE.
CREATE FUNCTION few_rows() RETURNS SETOF few LANGUAGE sql STABLE AS 'SELECT * FROM limits.few WHERE id > 0';
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM few_rows();
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
DECLARE d CURSOR FOR WITH w AS (SELECT * FROM few) SELECT * FROM w WHERE id < 3;
FETCH 2 FROM d;
FETCH BACKWARD 1 FROM d;
ROLLBACK;
-- One over a join is over no table.
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM few a, few b WHERE a.id = b.id + 1;
FETCH 1 FROM c;
UPDATE few SET t = 'updated' WHERE CURRENT OF c;
ROLLBACK;
-- How values are stored is not known behind the engine.
CREATE TABLE stored AS SELECT g AS id, repeat('stored ' || g, 500) AS t, g / 4.0 AS n FROM generate_series(1, 3) g;
ANALYZE stored;
SELECT id, pg_column_compression(t), pg_column_size(t), pg_column_size(n) FROM stored ORDER BY id;
SELECT s.size, s.n FROM stored, LATERAL (SELECT pg_column_size(stored.t) AS size, count(*) AS n FROM few) s ORDER BY 1;
SELECT max((SELECT pg_column_size(v.t) FROM few WHERE few.id = v.id)) FROM stored v;
-- EXPLAIN of an expression with a placeholder that is not offloaded.
CREATE DOMAIN number AS int;
DO $do$
BEGIN
  EXECUTE $$ EXPLAIN SELECT s.d FROM few a JOIN few b ON a.id = b.id JOIN (few c LEFT JOIN few e
    JOIN (SELECT 2::number AS d FROM few f, LATERAL (SELECT abs(f.id) + random()) l (x) WHERE f.id < 2) s ON e.id = s.d
    ON c.id = e.id) ON a.id = s.d WHERE a.id < e.id + 1 $$;
END $do$;
SET client_min_messages = warning;
DROP OWNED BY regress_strom_reader;
DROP ROLE regress_strom_reader;
DROP SCHEMA limits CASCADE;
