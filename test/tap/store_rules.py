#!/usr/bin/env python3
"""Rules that are added to store tables with rows: NOT NULL, CHECK, bounds of partitions. PostgreSQL does not look at the
rows of foreign tables; the extension does."""
import psycopg

from server import alive, done, equal, ok, query, state_of
from store_tables import StoreTables

TABLES = StoreTables("store_rules")
DB, FILES = TABLES.database, TABLES.folder
NO_NULL, CHECK = "23502", "23514"


def refused(statements, database=DB):
    """SQLSTATE, and which column or constraint the error names; None, if there is no error."""
    with psycopg.connect(dbname=database, autocommit=True) as session:
        try:
            session.execute(statements)
        except psycopg.Error as error:
            return error.sqlstate, error.diag.table_name, error.diag.column_name or error.diag.constraint_name
    return None


def columns():
    TABLES.make("points", "id int, x int, y int", kv_access="true")
    query("INSERT INTO points SELECT i, i, nullif(i, 70) FROM generate_series(1, 300) i", DB)
    alter = "ALTER FOREIGN TABLE points ALTER y SET NOT NULL"
    equal(refused(alter), (NO_NULL, "points", "y"), "NOT NULL of a column that has a NULL")
    equal(query("SELECT attnotnull FROM pg_attribute WHERE attrelid = 'points'::regclass AND attname = 'y'", DB), "f", "leaves the column as it was")
    equal(refused("ALTER FOREIGN TABLE points ALTER x SET NOT NULL"), None, "NOT NULL of a column without")
    equal(refused("INSERT INTO points VALUES (301, NULL, 1)"), (NO_NULL, "points", "x"), "is enforced")
    equal(refused("ALTER TABLE points ALTER y SET NOT NULL, ALTER x SET STATISTICS 10"), (NO_NULL, "points", "y"), "ALTER TABLE")
    equal(refused("BEGIN; DELETE FROM points WHERE y IS NULL; " + alter + "; ROLLBACK"), None, "the transaction's own changes count")
    equal(refused("BEGIN; DELETE FROM points WHERE y IS NULL; INSERT INTO points VALUES (400, 1, NULL); " + alter), (NO_NULL, "points", "y"), "new rows as well")
    query("UPDATE points SET y = 0 WHERE y IS NULL", DB)
    equal(refused(alter), None, "old versions do not count")


def constraints():
    TABLES.make("checked", "id int, n int, note text")
    query("INSERT INTO checked SELECT i, i, 'x' || i FROM generate_series(1, 200) i; INSERT INTO checked VALUES (1000, NULL, NULL)", DB)
    few = "ALTER FOREIGN TABLE checked ADD CONSTRAINT few CHECK (n < 150)"
    equal(refused(few), (CHECK, "checked", "few"), "CHECK that a row violates")
    equal(query("SELECT count(*) FROM pg_constraint WHERE conname = 'few'", DB), "0", "is not there afterwards")
    equal(refused(few + " NOT VALID"), None, "NOT VALID looks at no rows")
    equal(refused("INSERT INTO checked VALUES (2000, 150, 'y')"), (CHECK, "checked", "few"), "but it is enforced")
    equal(refused("ALTER FOREIGN TABLE checked ALTER id SET NOT NULL"), None, "nor does a later rule look at it")
    equal(refused("ALTER FOREIGN TABLE checked ADD CONSTRAINT long CHECK (length(note) > 1)"), None, "CHECK that all rows meet")
    equal(refused("ALTER FOREIGN TABLE checked VALIDATE CONSTRAINT few"), (CHECK, "checked", "few"), "VALIDATE with a row that violates it")
    query("DELETE FROM checked WHERE n >= 150", DB)
    equal(refused("ALTER FOREIGN TABLE checked VALIDATE CONSTRAINT few"), None, "VALIDATE")
    equal(query("SELECT convalidated FROM pg_constraint WHERE conname = 'few'", DB), "t", "it is valid then")
    equal(refused("ALTER FOREIGN TABLE checked ADD CHECK (tableoid = 'checked'::regclass), ADD CHECK (n > 1)")[:2], (CHECK, "checked"), "two at a time")


def parents():
    rest = f"SERVER gstore_fdw OPTIONS (base_file '{FILES}/%s.base', redo_log_file '{FILES}/%s.redo', max_num_rows '1000', primary_key 'id')"
    query(f"""CREATE TABLE parent (id int, n int) PARTITION BY RANGE (id);
              CREATE FOREIGN TABLE low PARTITION OF parent FOR VALUES FROM (0) TO (100) {rest % ('low', 'low')};
              CREATE FOREIGN TABLE high PARTITION OF parent FOR VALUES FROM (100) TO (200) {rest % ('high', 'high')};
              INSERT INTO parent SELECT i, nullif(i, 150) FROM generate_series(0, 199) i""", DB)
    equal(refused("ALTER TABLE parent ALTER n SET NOT NULL"), (NO_NULL, "high", "n"), "NOT NULL of a partitioned table")
    equal(refused("ALTER TABLE parent ADD CONSTRAINT small CHECK (n < 199)"), (CHECK, "high", "small"), "CHECK of a partitioned table")
    equal(refused("ALTER TABLE parent ADD CONSTRAINT small CHECK (n < 199) NOT VALID"), None, "NOT VALID")
    equal(refused("ALTER TABLE parent VALIDATE CONSTRAINT small"), (CHECK, "high", "small"), "VALIDATE")
    query("DELETE FROM parent WHERE id IN (150, 199)", DB)
    equal(refused("ALTER TABLE parent VALIDATE CONSTRAINT small; ALTER TABLE parent ALTER n SET NOT NULL"), None, "rows that meet all")
    query("ALTER TABLE parent DETACH PARTITION high", DB)
    attach = "ALTER TABLE parent ATTACH PARTITION high FOR VALUES FROM (%s) TO (200)"
    equal(refused(attach % 120), (CHECK, "high", None), "ATTACH with other bounds than those of the rows")
    equal(refused(attach % 100), None, "ATTACH with the rows' bounds")
    query("""CREATE TABLE top (id int, n int) PARTITION BY RANGE (id); CREATE TABLE plain (id int, n int); INSERT INTO plain VALUES (1, 1);
             ALTER TABLE parent ALTER n DROP NOT NULL, DROP CONSTRAINT small""", DB)
    equal(refused("ALTER TABLE top ATTACH PARTITION parent FOR VALUES FROM (0) TO (150)"), (CHECK, "high", None), "ATTACH of a tree")
    equal(refused("ALTER TABLE top ATTACH PARTITION parent FOR VALUES FROM (0) TO (200)"), None, "with the rows' bounds")
    query(f"CREATE FOREIGN TABLE heir () INHERITS (plain) {rest % ('heir', 'heir')}; INSERT INTO heir VALUES (2, NULL)", DB)
    equal(refused("ALTER TABLE plain ALTER n SET NOT NULL"), (NO_NULL, "heir", "n"), "NOT NULL of a table that others inherit from")
    equal(refused("ALTER TABLE plain ADD CONSTRAINT odd CHECK (id <> 2)"), (CHECK, "heir", "odd"), "and CHECK")
    equal(refused("ALTER TABLE plain ADD CONSTRAINT odd CHECK (id <> 2) NO INHERIT"), None, "but not what children do not inherit")


def default_partitions():
    """A new partition takes bounds from the default partition, which may have rows within them."""
    rest = f"SERVER gstore_fdw OPTIONS (base_file '{FILES}/%s.base', redo_log_file '{FILES}/%s.redo', max_num_rows '1000', primary_key 'id')"
    query(f"""CREATE TABLE whole (id int, n int) PARTITION BY LIST (id);
              CREATE FOREIGN TABLE others PARTITION OF whole DEFAULT {rest % ('others', 'others')};
              INSERT INTO whole SELECT i, i FROM generate_series(1, 9) i; CREATE TABLE apart (id int, n int)""", DB)
    made = f"CREATE FOREIGN TABLE five PARTITION OF whole FOR VALUES IN (%s) {rest % ('five', 'five')}"
    equal(refused(made % 5), (CHECK, "others", None), "a store table for rows of the default partition")
    equal(refused("CREATE TABLE heap PARTITION OF whole FOR VALUES IN (6)"), (CHECK, "others", None), "another table for such rows")
    equal(refused("ALTER TABLE whole ATTACH PARTITION apart FOR VALUES IN (7)"), (CHECK, "others", None), "ATTACH for such rows")
    equal(query("SELECT count(*), count(*) FILTER (WHERE id IN (5, 6, 7)), max(tableoid::regclass::text) FROM whole", DB), "9|3|others", "all rows are where they were")
    query("DELETE FROM whole WHERE id IN (5, 6, 7)", DB)
    equal(refused(made % 5), None, "a store table without such rows")
    equal(refused("CREATE TABLE heap PARTITION OF whole FOR VALUES IN (6)"), None, "another table without")
    equal(refused("ALTER TABLE whole ATTACH PARTITION apart FOR VALUES IN (7)"), None, "ATTACH without")
    query(f"""CREATE TABLE deep (id int, n int) PARTITION BY LIST (n); CREATE TABLE deep_rest PARTITION OF deep DEFAULT PARTITION BY LIST (id);
              CREATE FOREIGN TABLE deepest PARTITION OF deep_rest DEFAULT {rest % ('deepest', 'deepest')}; INSERT INTO deep VALUES (1, 1)""", DB)
    session = "UPDATE deepest SET n = n WHERE id = 1; "  # it knows the bounds then
    equal(refused(session + "CREATE TABLE deep_1 PARTITION OF deep FOR VALUES IN (1)"), (CHECK, "deepest", None), "a default partition with partitions")
    equal(refused(session + "CREATE TABLE deep_1 (LIKE deep); ALTER TABLE deep ATTACH PARTITION deep_1 FOR VALUES IN (1)"), (CHECK, "deepest", None), "ATTACH beside it")
    equal(refused(session + "CREATE SCHEMA deeper CREATE TABLE deep_1 PARTITION OF public.deep FOR VALUES IN (1)"), (CHECK, "deepest", None), "in CREATE SCHEMA")
    equal(refused("CREATE TABLE deep_2 PARTITION OF deep FOR VALUES IN (2)"), None, "without such rows")


def partitions_that_do_not_change():
    """A statement waits for no partition that gets none of its rows, as long as it has not been planned before."""
    rest = f"SERVER gstore_fdw OPTIONS (base_file '{FILES}/part%s.base', redo_log_file '{FILES}/part%s.redo', max_num_rows '1000', primary_key 'id')"
    query("CREATE TABLE parts (id int, n int) PARTITION BY LIST (id);" +
          "".join(f"CREATE FOREIGN TABLE part{i} PARTITION OF parts FOR VALUES IN ({i}) {rest % (i, i)};" for i in range(64)), DB)
    plans = "SELECT FROM parts; EXPLAIN (COSTS OFF) INSERT INTO parts VALUES (1, 1); EXPLAIN (COSTS OFF) UPDATE parts SET n = 2 WHERE id = 1"
    equal(query(plans, DB).count("Custom Scan (Store"), 2, "64 partitions are changed by the extension's nodes")
    with psycopg.connect(dbname=DB) as other, psycopg.connect(dbname=DB, autocommit=True) as session:
        other.execute("ALTER FOREIGN TABLE part2 ADD CHECK (n > 0)")
        session.execute("SET lock_timeout = '200ms'")
        changes = ("INSERT INTO parts VALUES (1, 1), (3, 1)", "UPDATE parts SET n = 2 WHERE id = 1", "DELETE FROM parts WHERE id = 3")
        equal([session.execute(text).rowcount for text in changes], [2, 1, 1], "changes of others beside a locked partition")
        equal(state_of(lambda: session.execute("INSERT INTO parts VALUES (2, 1)")), "55P03", "a change of the locked one waits")
    query(f"CREATE FOREIGN TABLE part64 PARTITION OF parts FOR VALUES IN (64) {rest % (64, 64)}", DB)
    equal(query(plans, DB).count("Custom Scan (Store"), 0, "more are left to PostgreSQL")
    query("INSERT INTO parts VALUES (64, 1); UPDATE parts SET n = 3 WHERE id = 64", DB)
    equal(query("SELECT * FROM parts ORDER BY id", DB), "1|2\n64|3", "which changes them as well")
    query("DROP TABLE parts", DB)


def moved_rows():
    """An UPDATE that moves rows of an ordinary partition to a store table that it updates as well."""
    rest = f"SERVER gstore_fdw OPTIONS (base_file '{FILES}/%s.base', redo_log_file '{FILES}/%s.redo', max_num_rows '1000')"
    query(f"""CREATE TABLE mixed (id int, x int, s text) PARTITION BY LIST (id); CREATE TABLE mixed1 PARTITION OF mixed FOR VALUES IN (1);
              CREATE FOREIGN TABLE mixed2 PARTITION OF mixed FOR VALUES IN (2) {rest % ('mixed2', 'mixed2')};
              CREATE TABLE mixed3 PARTITION OF mixed FOR VALUES IN (3);
              INSERT INTO mixed SELECT 1 + i % 3, i, 'x' FROM generate_series(0, 299) i""", DB)
    for round_ in range(3):
        query("UPDATE mixed SET id = 2, s = s || 'u' WHERE x % 2 = 0 OR id = 2", DB)
        equal(query("SELECT count(*), count(*) FILTER (WHERE id = 2), sum(length(s)), sum(x) FROM mixed", DB), f"300|200|{300 + 200 * (round_ + 1)}|44850", "rows that were moved and rows that were not")
    query("UPDATE mixed SET id = 2 RETURNING *", DB)
    equal(query("SELECT count(*), pgstrom.store_check('mixed2') FROM mixed2", DB), "300|300", "all of them")
    query("DROP TABLE mixed", DB)


def joins_of_partitions():
    """Rows by keys that another partitioned table gives, partition by partition."""
    rest = f"SERVER gstore_fdw OPTIONS (base_file '{FILES}/%s.base', redo_log_file '{FILES}/%s.redo', max_num_rows '1000', primary_key 'id')"
    query("CREATE TABLE stored (id int NOT NULL, x int) PARTITION BY RANGE (id); CREATE TABLE plain_parts (id int NOT NULL, x int) PARTITION BY RANGE (id);" +
          "".join(f"""CREATE FOREIGN TABLE stored{i} PARTITION OF stored FOR VALUES FROM ({i * 100}) TO ({i * 100 + 100}) {rest % (f'stored{i}', f'stored{i}')};
                      CREATE TABLE plain_part{i} PARTITION OF plain_parts FOR VALUES FROM ({i * 100}) TO ({i * 100 + 100});""" for i in range(2)) +
          """INSERT INTO stored SELECT i, i FROM generate_series(0, 199) i; INSERT INTO plain_parts SELECT i, i FROM generate_series(0, 199, 3) i;
             ANALYZE stored; ANALYZE plain_parts""", DB)
    joins = ("SELECT count(*), sum(a.x + b.x) FROM stored a JOIN stored b USING (id)", "SELECT count(*), sum(b.x) FROM plain_parts a JOIN stored b USING (id)",
             "SELECT count(*), sum(b.x) FROM plain_parts a LEFT JOIN stored b ON b.id = a.id AND a.x < 50", "SELECT count(*) FROM plain_parts a WHERE EXISTS (SELECT FROM stored b WHERE b.id = a.id)")
    by_key = 0
    for join in joins:
        wanted = query(join, DB)
        for way in ("on", "off"):
            settings = f"SET enable_partitionwise_join = on; SET enable_hashjoin = off; SET enable_mergejoin = off; SET pg_strom.enabled = {way}; "
            equal(query(settings + join, DB), wanted, f"partition by partition, pg_strom.enabled = {way}: {join}")
            by_key += "Store Key" in query(settings + "EXPLAIN " + join, DB)
    ok(by_key >= 4, "by key", by_key)
    query("DROP TABLE stored, plain_parts", DB)


def keys_that_are_secret():
    """An error tells the key only to those who may read it, as PostgreSQL's unique indexes do."""
    TABLES.make("secrets", "id int DEFAULT 7, x int")
    query("""CREATE ROLE rules_writer; GRANT INSERT, SELECT (x) ON secrets TO rules_writer; CREATE TABLE secret_heap (id int DEFAULT 7 PRIMARY KEY, x int);
             GRANT INSERT, SELECT (x) ON secret_heap TO rules_writer; INSERT INTO secrets VALUES (7, 1); INSERT INTO secret_heap VALUES (7, 1)""", DB)

    def details(before):
        found = []
        for table in ("secrets", "secret_heap"):
            with psycopg.connect(dbname=DB, autocommit=True) as session:
                session.execute(before)
                try:
                    session.execute(f"INSERT INTO {table} (x) VALUES (2)")
                except psycopg.errors.UniqueViolation as error:
                    found.append((error.diag.message_detail, error.diag.table_name))
        return found

    told = "Key (id)=(7) already exists."
    equal(details("SET ROLE rules_writer"), [(None, "secrets"), (None, "secret_heap")], "a role that may not read the key")
    query("GRANT SELECT (id) ON secrets, secret_heap TO rules_writer", DB)
    equal(details("SET ROLE rules_writer"), [(told, "secrets"), (told, "secret_heap")], "one that may read the key")
    query("REVOKE SELECT (id) ON secrets, secret_heap FROM rules_writer", DB)
    equal(details("SELECT 1"), [(told, "secrets"), (told, "secret_heap")], "the owner")
    equal(refused("INSERT INTO secrets VALUES (NULL, 1)"), (NO_NULL, "secrets", "id"), "a key that is NULL")
    query("DROP OWNED BY rules_writer; DROP ROLE rules_writer", DB)


def keys_of_two_versions():
    """A transaction whose snapshot still sees a row, and that has inserted the key again since another one deleted it."""
    TABLES.make("twice", "id int, n int")
    query("CREATE TABLE twice_heap (id int PRIMARY KEY, n int)", DB)
    changes = ("SELECT * FROM {} WHERE id = 4 ORDER BY n", "SELECT * FROM {} WHERE id = ANY ('{{4,5}}') ORDER BY id, n", "UPDATE {} SET n = n + 10 WHERE id = 4",
               "UPDATE {} SET n = n + 10 WHERE id = 4 RETURNING *", "DELETE FROM {} WHERE id = 4", "SELECT * FROM {} WHERE id = 4 FOR UPDATE",
               "SELECT t.n FROM (VALUES (4), (4)) v (i) JOIN {} t ON t.id = v.i ORDER BY 1")
    for change in changes:
        found = []
        for table in ("twice", "twice_heap"):
            query(f"DELETE FROM {table}; INSERT INTO {table} SELECT g, 1 FROM generate_series(1, 300) g; ANALYZE {table}", DB)
            with TABLES.connect("REPEATABLE READ") as session:
                session.execute("BEGIN")
                session.execute(f"SELECT FROM {table}")
                query(f"DELETE FROM {table} WHERE id = 4", DB)
                session.execute(f"INSERT INTO {table} VALUES (4, 2)")
                try:
                    found.append(session.execute(change.format(table)).fetchall())
                except psycopg.Error as error:
                    found.append(error.sqlstate)
        equal(found[0], found[1], change)


def aggregates_that_look():
    """An aggregate is called immutable, whatever its functions are: here one that counts the rows that are being inserted."""
    TABLES.make("looked", "id int, n int")
    query("""CREATE TABLE looked_heap (id int PRIMARY KEY, n int);
             CREATE FUNCTION rows_of(before int, name text) RETURNS int LANGUAGE plpgsql VOLATILE AS
             $$ DECLARE found int; BEGIN EXECUTE 'SELECT count(*) FROM ' || name INTO found; RETURN found; END $$;
             CREATE AGGREGATE looks(text) (sfunc = rows_of, stype = int, initcond = '0')""", DB)
    found = []
    for table in ("looked", "looked_heap"):
        query(f"INSERT INTO {table} SELECT g, (SELECT looks('{table}') FROM generate_series(1, 1) WHERE g > 0) FROM generate_series(1, 5) g", DB)
        found.append(query(f"SELECT array_agg(n ORDER BY id) FROM {table}", DB))
    equal(found, ["{0,1,2,3,4}"] * 2, "each row sees those before it")


columns()
constraints()
parents()
default_partitions()
partitions_that_do_not_change()
keys_that_are_secret()
moved_rows()
joins_of_partitions()
keys_of_two_versions()
aggregates_that_look()
alive("the server runs")
done()
