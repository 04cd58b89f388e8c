-- ALTER, TRUNCATE and savepoints in transactions that have written to an Arrow table; what a statement sees of its own rows.
SELECT current_setting('data_directory') || '/strom_alter' AS folder \gset
\set shell 'COPY (SELECT WHERE false) TO PROGRAM'
:shell 'rm -rf strom_alter && mkdir strom_alter';
\set t :folder '/t.arrow'
\set other :folder '/other.arrow'
\set part :folder '/part.arrow'
\set wide :folder '/wide.arrow'
\set missing :folder '/missing/t.arrow'
CREATE SCHEMA arrow_alter;
SET search_path = arrow_alter;
CREATE FOREIGN TABLE t (a int, b text) SERVER arrow_fdw OPTIONS (file :'t', writable 'true');
\set VERBOSITY sqlstate

-- The type of a column, both ways, by every kind of INSERT.
INSERT INTO t VALUES (0, 'zero');
BEGIN; TRUNCATE t; ALTER FOREIGN TABLE t ALTER b TYPE bigint; INSERT INTO t VALUES (2, 12345); SELECT * FROM t; COMMIT;
SELECT * FROM t;
BEGIN; TRUNCATE t; INSERT INTO t VALUES (3, 99);
ALTER FOREIGN TABLE t ALTER b TYPE text; INSERT INTO t VALUES (4, 'four');
ROLLBACK;
BEGIN; INSERT INTO t VALUES (3, 99); TRUNCATE t; ALTER FOREIGN TABLE t ALTER b TYPE text; INSERT INTO t VALUES (4, 'four') RETURNING *;
COPY t FROM stdin;
5	five
\.
INSERT INTO t SELECT i, 'row ' || i FROM generate_series(6, 7) i; COMMIT;
SELECT * FROM t;
PREPARE add(int) AS INSERT INTO t VALUES ($1, $1);
BEGIN; TRUNCATE t; EXECUTE add(1); EXECUTE add(2); ALTER FOREIGN TABLE t ALTER b TYPE bigint; EXECUTE add(3); ROLLBACK;
BEGIN; TRUNCATE t; EXECUTE add(1); TRUNCATE t; ALTER FOREIGN TABLE t ALTER b TYPE bigint; EXECUTE add(3); COMMIT;
SELECT * FROM t;
ALTER FOREIGN TABLE t ALTER b TYPE text;
SELECT * FROM t;
INSERT INTO t VALUES (4, 'four');
TRUNCATE t;
SELECT count(*) FROM t;
INSERT INTO t VALUES (4, 'four');
SELECT * FROM t;
-- A table that was emptied before: its file has no say.
TRUNCATE t;
ALTER FOREIGN TABLE t ALTER b TYPE date;
SELECT * FROM t;
INSERT INTO t VALUES (5, '2020-02-02');
SELECT * FROM t;
TRUNCATE t;
ALTER FOREIGN TABLE t ALTER b TYPE text;

-- Columns that are added, dropped and renamed.
BEGIN; INSERT INTO t VALUES (1, 'one'); ALTER FOREIGN TABLE t ADD c int; INSERT INTO t VALUES (2, 'two', 222); ROLLBACK;
BEGIN; INSERT INTO t VALUES (1, 'one'); TRUNCATE t; ALTER FOREIGN TABLE t ADD c int; INSERT INTO t VALUES (2, 'two', 222); COMMIT;
SELECT * FROM t;
BEGIN; INSERT INTO t VALUES (3, 'three', 333); ALTER FOREIGN TABLE t DROP b; INSERT INTO t VALUES (4, 444); SELECT * FROM t; COMMIT;
BEGIN; INSERT INTO t VALUES (5, 555); ALTER FOREIGN TABLE t RENAME c TO d; INSERT INTO t VALUES (6, 666); ROLLBACK;
BEGIN; INSERT INTO t VALUES (5, 555); ALTER FOREIGN TABLE t RENAME c TO d; ALTER FOREIGN TABLE t ALTER d OPTIONS (field 'c'); INSERT INTO t VALUES (6, 666); COMMIT;
SELECT * FROM t;
BEGIN; INSERT INTO t VALUES (7, 777); ALTER FOREIGN TABLE t ADD e text OPTIONS (field 'b'); INSERT INTO t VALUES (8, 888, 'eight'); COMMIT;
SELECT * FROM t;
BEGIN; INSERT INTO t VALUES (9); ALTER FOREIGN TABLE t ADD f text OPTIONS (virtual_metadata 'x'); INSERT INTO t VALUES (10); ROLLBACK;

-- Options.
BEGIN; INSERT INTO t VALUES (11, 1, 'old'); ALTER FOREIGN TABLE t OPTIONS (SET file :'other'); INSERT INTO t VALUES (12, 2, 'new');
SELECT * FROM t; SAVEPOINT s;
ALTER FOREIGN TABLE t OPTIONS (SET file :'t'); INSERT INTO t VALUES (13, 3, 'old'); SELECT max(a) FROM t; ROLLBACK TO s;
INSERT INTO t VALUES (14, 4, 'new'); COMMIT;
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET file :'t');
SELECT a, e FROM t WHERE a > 10;
BEGIN; INSERT INTO t VALUES (15); ALTER FOREIGN TABLE t OPTIONS (SET writable 'false'); INSERT INTO t VALUES (16); ROLLBACK;
BEGIN; INSERT INTO t VALUES (15); ALTER FOREIGN TABLE t OPTIONS (ADD compression 'zstd', ADD batch_rows '2');
INSERT INTO t SELECT i, i FROM generate_series(16, 20) i; COMMIT;
SELECT count(*), max(a) FROM t;
CREATE ROLE regress_arrow_alter;
BEGIN; INSERT INTO t VALUES (21); ALTER FOREIGN TABLE t OWNER TO regress_arrow_alter; INSERT INTO t VALUES (22); ROLLBACK;
DROP ROLE regress_arrow_alter;

-- Savepoints between.
TRUNCATE t;
BEGIN; INSERT INTO t VALUES (1, 1, 'kept'); SAVEPOINT s; TRUNCATE t; ALTER FOREIGN TABLE t ALTER d TYPE text; INSERT INTO t VALUES (2, 'text', 'lost');
SELECT * FROM t; ROLLBACK TO s; INSERT INTO t VALUES (3, 3, 'kept'); SELECT * FROM t; COMMIT;
SELECT * FROM t;
BEGIN; INSERT INTO t VALUES (4, 4, 'kept'); SAVEPOINT s; ALTER FOREIGN TABLE t DROP d; INSERT INTO t VALUES (5, 'lost'); SAVEPOINT u;
ALTER FOREIGN TABLE t ADD d int; INSERT INTO t VALUES (6, 'lost', 6); ROLLBACK TO u; INSERT INTO t VALUES (7, 'lost'); ROLLBACK TO s;
INSERT INTO t VALUES (8, 8, 'kept'); RELEASE s; COMMIT;
SELECT * FROM t;
BEGIN; SAVEPOINT s; INSERT INTO t VALUES (9, 9, 'kept'); ALTER FOREIGN TABLE t DROP d; INSERT INTO t VALUES (10, 'kept'); RELEASE s; INSERT INTO t VALUES (11, 'kept'); COMMIT;
SELECT * FROM t;
TRUNCATE t;
BEGIN; SAVEPOINT s; ALTER FOREIGN TABLE t ADD d date; INSERT INTO t VALUES (1, 'lost', '2020-01-01'); ROLLBACK TO s; INSERT INTO t VALUES (2, 'kept'); COMMIT;
SELECT * FROM t;

-- plpgsql keeps its statements; triggers run between rows.
CREATE FUNCTION alter_and_add() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..3 LOOP
    TRUNCATE t;
    ALTER FOREIGN TABLE t ALTER a TYPE bigint;
    INSERT INTO t VALUES (i, 'bigint');
    TRUNCATE t;
    ALTER FOREIGN TABLE t ALTER a TYPE text;
    INSERT INTO t VALUES (i, 'text');
  END LOOP;
END $$;
SELECT alter_and_add();
SELECT * FROM t;
TRUNCATE t;
ALTER FOREIGN TABLE t ALTER a TYPE int;
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ALTER FOREIGN TABLE t ALTER a TYPE text; RETURN NEW; END $$;
CREATE TRIGGER changes BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION change();
INSERT INTO t VALUES (1, 'x');
DROP TRIGGER changes ON t;

-- Types that change under their names.
CREATE TYPE pair AS (x int, y text);
CREATE FOREIGN TABLE w (p pair) SERVER arrow_fdw OPTIONS (file :'wide', writable 'true');
BEGIN; INSERT INTO w VALUES ((1, 'one')); ALTER TYPE pair ADD ATTRIBUTE z int; INSERT INTO w VALUES ((2, 'two', 22)); ROLLBACK;
BEGIN; INSERT INTO w VALUES ((1, 'one')); TRUNCATE w; ALTER TYPE pair ADD ATTRIBUTE z int; INSERT INTO w VALUES ((2, 'two', 22)); COMMIT;
SELECT (p).* FROM w;
DROP FOREIGN TABLE w;
DROP TYPE pair;
CREATE TYPE mood AS ENUM ('sad');
CREATE FOREIGN TABLE w (m mood, n numeric(77,2)) SERVER arrow_fdw OPTIONS (file :'wide', writable 'true');
:shell 'rm strom_alter/wide.arrow';
INSERT INTO w VALUES ('sad', 1);
ALTER FOREIGN TABLE w ALTER n TYPE numeric(76,2);
INSERT INTO w VALUES ('sad', 1);
ALTER TYPE mood ADD VALUE 'glad';
BEGIN; INSERT INTO w VALUES ('glad', 2); ALTER TYPE mood RENAME VALUE 'glad' TO 'happy'; INSERT INTO w VALUES ('happy', 3); ROLLBACK;
INSERT INTO w VALUES ('glad', 2);
SELECT * FROM w;
DROP FOREIGN TABLE w;

-- Partitions.
CREATE TABLE p (k int, v int) PARTITION BY LIST (k);
CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES IN (1) SERVER arrow_fdw OPTIONS (file :'part', writable 'true');
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
BEGIN; INSERT INTO p VALUES (1, 1), (2, 2); TRUNCATE p; ALTER TABLE p ALTER v TYPE bigint; INSERT INTO p VALUES (1, 11111111111), (2, 22); COMMIT;
SELECT * FROM p ORDER BY k;
BEGIN; INSERT INTO p VALUES (1, 12); ALTER TABLE p ADD w int; INSERT INTO p VALUES (1, 13, 14); ROLLBACK;
BEGIN; TRUNCATE p; ALTER TABLE p RENAME v TO u; ALTER TABLE p ADD w text; INSERT INTO p VALUES (1, 13, 'new'); COMMIT;
SELECT * FROM p;

-- What a statement sees of its own rows: none, whoever asks.
TRUNCATE t;
INSERT INTO t VALUES (1, 'before');
WITH x AS (INSERT INTO t VALUES (2, 'own') RETURNING *) SELECT * FROM t;
WITH x AS (INSERT INTO t VALUES (3, 'own') RETURNING *) SELECT x.a, t.a FROM x, t ORDER BY 2;
SET pg_strom.cpu_setup_cost = 0;
SET cpu_operator_cost = 1;
WITH x AS (INSERT INTO t VALUES (4, 'own') RETURNING *) SELECT count(*), sum(a) FROM t;
WITH x AS (INSERT INTO t VALUES (5, 'own') RETURNING *) SELECT count(*), sum(t.a) FROM t, x;
WITH x AS (INSERT INTO t VALUES (6, 'own')) SELECT count(*), sum(a) FROM t;
RESET cpu_operator_cost;
CREATE FUNCTION seen_stable() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM t';
CREATE FUNCTION seen_volatile() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM t';
CREATE FUNCTION add_row(int) RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES ($1, ''nested'') RETURNING a';
BEGIN;
INSERT INTO t SELECT i, seen_stable() || ' ' || seen_volatile() FROM generate_series(7, 9) i RETURNING *;
INSERT INTO t SELECT i, seen_stable() || ' ' || seen_volatile() FROM generate_series(10, 11) i;
SELECT * FROM t WHERE a > 9;
SELECT add_row(i), seen_stable(), seen_volatile() FROM generate_series(12, 13) i;
DECLARE c CURSOR FOR SELECT count(*), seen_stable() FROM t;
INSERT INTO t VALUES (14, 'after the cursor');
FETCH c;
CLOSE c;
SELECT count(*) FROM t;
INSERT INTO t SELECT a + 100, e FROM t;
COMMIT;
SELECT count(*), sum(a) FROM t;

-- A file that is not there is an empty table; a folder that is not there is not.
CREATE FOREIGN TABLE m (a int) SERVER arrow_fdw OPTIONS (file :'missing', writable 'true');
SELECT * FROM m;
INSERT INTO m VALUES (1);
:shell 'mkdir strom_alter/missing';
SELECT * FROM m;
:shell 'ln -s nowhere/t.arrow strom_alter/missing/t.arrow';
SELECT * FROM m;
:shell 'rm strom_alter/missing/t.arrow';
INSERT INTO m VALUES (1);
SELECT * FROM m;

-- Texts in a file are the same whatever the settings of who writes and who reads.
:shell 'rm -f strom_alter/wide.arrow';
CREATE TYPE stay AS (at daterange, what regclass);
CREATE FOREIGN TABLE w (r daterange, m tsmultirange, c regclass, p point, s stay, a regtype[]) SERVER arrow_fdw OPTIONS (file :'wide', writable 'true');
SET datestyle = 'SQL, DMY';
SET extra_float_digits = -10;
INSERT INTO w VALUES ('[2024-02-01,2024-03-05)', '{[2024-02-01 10:00, 2024-03-05 11:00)}', 't', '(0.12345678901234, 1)',
  ('[2024-02-01,2024-03-05)', 't'), '{stay,int}');
SET datestyle = 'ISO, MDY';
RESET extra_float_digits;
SET search_path = pg_catalog;
SELECT r, m, c, p, s, a, c = 'arrow_alter.t'::regclass AS same FROM arrow_alter.w;
SET search_path = arrow_alter;

-- Virtual columns tell of paths: only those who may name files have them.
CREATE ROLE regress_arrow_alter;
GRANT USAGE, CREATE ON SCHEMA arrow_alter TO regress_arrow_alter;
ALTER FOREIGN TABLE m OWNER TO regress_arrow_alter;
SET ROLE regress_arrow_alter;
ALTER FOREIGN TABLE m ADD p text OPTIONS (virtual '@pathname');
ALTER FOREIGN TABLE m ADD p text OPTIONS (virtual '@filename');
ALTER FOREIGN TABLE m ADD p text OPTIONS (virtual 'key');
ALTER FOREIGN TABLE m ADD p text;
ALTER FOREIGN TABLE m ALTER p OPTIONS (virtual '@pathname');
ALTER FOREIGN TABLE m ALTER p OPTIONS (field 'a');
RESET ROLE;
\set VERBOSITY default
SET client_min_messages = warning;
DROP SCHEMA arrow_alter CASCADE;
DROP ROLE regress_arrow_alter;
:shell 'rm -rf strom_alter';
