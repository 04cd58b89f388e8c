-- Who sees which rows of PostgreSQL's own tables: privileges, row security, security barriers, leakproof order.
LOAD 'pg_strom';
CREATE SCHEMA secure;
SET search_path = secure;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_threads = 2;
SET pg_strom.regression_test_mode = on;
SET pg_strom.enable_column_cache = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE account (id int NOT NULL, owner text NOT NULL, branch int, balance numeric(10,2));
INSERT INTO account SELECT i, 'owner_' || i % 3, i % 10, i / 4.0 FROM generate_series(1, 6000) i;
CREATE TABLE branch (b int PRIMARY KEY, name text, secret text);
INSERT INTO branch SELECT i, 'branch ' || i, 'secret ' || i FROM generate_series(0, 9) i;
CREATE INDEX account_id ON account USING brin (id) WITH (pages_per_range = 1);
VACUUM ANALYZE account, branch;
CREATE ROLE owner_1;
CREATE ROLE owner_2;
CREATE ROLE auditor;
GRANT USAGE ON SCHEMA secure TO owner_1, owner_2, auditor;
-- Tells what it has been called with.
CREATE FUNCTION spy(text, int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'spy: % %', $1, $2; RETURN true; END $$;

-- Privileges on tables and columns.
SET ROLE owner_1;
SELECT count(*) FROM account;
SELECT count(*) FROM account WHERE balance > 5;
RESET ROLE;
GRANT SELECT (id, owner) ON account TO owner_1;
SET ROLE owner_1;
SELECT owner, count(*) FROM account WHERE id > 100 GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM account WHERE balance > 5;
SELECT owner, sum(balance) FROM account GROUP BY 1;
SELECT count(*) FROM account a JOIN account b ON a.id = b.branch;
SELECT max(id) FROM account ORDER BY sum(branch);
RESET ROLE;
-- A view has its owner's privileges, or its user's.
CREATE VIEW of_owner AS SELECT id, balance FROM account;
CREATE VIEW of_user WITH (security_invoker) AS SELECT id, balance FROM account;
GRANT SELECT ON of_owner, of_user TO owner_1;
SET ROLE owner_1;
EXPLAIN (COSTS OFF) SELECT sum(balance) FROM of_owner WHERE id > 5990;
SELECT sum(balance) FROM of_owner WHERE id > 5990;
SELECT sum(balance) FROM of_user WHERE id > 5990;
SELECT count(*) FROM of_owner v JOIN branch ON b = id;
RESET ROLE;
-- A prepared statement asks again.
GRANT SELECT ON branch TO owner_1;
SET plan_cache_mode = force_generic_plan;
SET ROLE owner_1;
PREPARE names AS SELECT count(*), min(name) FROM branch WHERE b >= 0;
EXECUTE names;
RESET ROLE;
REVOKE SELECT ON branch FROM owner_1;
SET ROLE owner_1;
EXECUTE names;
RESET ROLE;
DEALLOCATE names;

-- Row security: of a scan, an aggregation, both sides of a join, sub-queries; for its users, not for owners unless forced.
GRANT SELECT ON account, branch TO owner_1, owner_2;
ALTER TABLE account ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON account FOR SELECT USING (owner = current_user);
SET ROLE owner_1;
EXPLAIN (COSTS OFF) SELECT count(*), sum(balance) FROM account WHERE id < 300;
SELECT count(*), sum(balance), min(owner), max(owner) FROM account WHERE id < 300;
SELECT name, count(*), min(owner), max(owner) FROM account JOIN branch ON b = branch WHERE b < 2 GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM branch WHERE EXISTS (SELECT FROM account WHERE branch = b AND owner <> 'owner_1');
SELECT count(*) FROM branch LEFT JOIN account ON branch = b AND owner <> 'owner_1' WHERE id IS NOT NULL;
SELECT owner, id FROM account WHERE id > 0 ORDER BY id DESC LIMIT 2;
-- Neither a cheap function nor an error tells of other rows; what the engine computes comes after the policy as well.
SELECT count(*) FROM account WHERE spy(owner, id) AND id < 5;
SELECT count(*) FROM account WHERE 1 / (id - 2) < 5 AND id < 5;
SELECT count(*) FROM account WHERE 1 / (id - 4) < 5 AND id < 5;
SELECT sum(1 / (id - 2)) FROM account WHERE id < 50;
SELECT count(*) FROM account a JOIN branch ON b = 10 / (id - 3) WHERE id < 10;
-- One plan for several roles.
PREPARE mine AS SELECT current_user, count(*), min(owner), max(owner) FROM account WHERE id > 0;
EXECUTE mine;
SET ROLE owner_2;
EXECUTE mine;
RESET ROLE;
EXECUTE mine;
ALTER TABLE account FORCE ROW LEVEL SECURITY;
CREATE ROLE holder;
GRANT USAGE, CREATE ON SCHEMA secure TO holder;
ALTER TABLE account OWNER TO holder;
SET ROLE holder;
SELECT count(*) FROM account WHERE id > 0;
SET row_security = off;
SELECT count(*) FROM account WHERE id > 0;
RESET row_security;
RESET ROLE;
-- Several policies: permissive ones are alternatives, restrictive ones come on top; one with a sub-query stays with PostgreSQL.
CREATE POLICY low ON account FOR SELECT TO auditor USING (id <= 100);
CREATE POLICY odd ON account AS RESTRICTIVE FOR SELECT TO auditor USING (id % 2 = 1);
GRANT SELECT ON account, branch TO auditor;
SET ROLE auditor;
SELECT count(*), sum(id), count(DISTINCT owner) FROM account WHERE balance >= 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM account WHERE balance >= 0;
RESET ROLE;
CREATE POLICY by_branch ON branch FOR SELECT TO auditor USING (b IN (SELECT branch FROM secure.account WHERE id < 8));
ALTER TABLE branch ENABLE ROW LEVEL SECURITY;
SET ROLE auditor;
SELECT count(*), max(name) FROM branch WHERE name > 'a';
RESET ROLE;

-- Security barriers: of a view below a join and an aggregation; functions that are leakproof may come first.
ALTER TABLE account DISABLE ROW LEVEL SECURITY;
ALTER TABLE account OWNER TO CURRENT_USER;
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM account WHERE branch = 3;
SELECT count(*) FROM guarded WHERE spy(owner, id) AND id < 20;
SELECT count(*) FROM guarded WHERE 1 / (id - 4) < 5;
SELECT count(*) FROM guarded WHERE 1 / (id - 13) < 5;
SELECT count(*) FROM guarded g JOIN branch ON b = 5 / (g.id - 4) WHERE g.id < 30;
EXPLAIN (COSTS OFF) SELECT count(*) FROM guarded WHERE id < 20 AND balance / 2 > 1;
CREATE FUNCTION hidden(int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RETURN $1 = 3; END $$;
CREATE VIEW unknown_barrier WITH (security_barrier) AS SELECT * FROM account WHERE hidden(branch);
EXPLAIN (COSTS OFF) SELECT count(*) FROM unknown_barrier WHERE id < 20 AND balance / 2 > 1;
SELECT count(*) FROM unknown_barrier WHERE 1 / (id - 4) < 5 AND id < 20;
SELECT count(*) FROM unknown_barrier WHERE spy(owner, id) AND id < 20;
SET client_min_messages = warning;
DROP SCHEMA secure CASCADE;
DROP OWNED BY owner_1, owner_2, auditor, holder;
DROP ROLE owner_1, owner_2, auditor, holder;
