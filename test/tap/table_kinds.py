#!/usr/bin/env python3
"""A module brings a kind of table of its own: the engine scans, joins and groups it, and sees the rows that are there.

The answers are compared with PostgreSQL's own scan of the same array."""
import shutil

from server import BUILD_DIR, done, equal, folder, fresh_database, ok, psql, query

module = folder("table_kinds") / "strom_table_kind_test.so"
shutil.copy(BUILD_DIR / "test/modules/strom_table_kind_test.so", module)
module.chmod(0o755)
DB = fresh_database("strom_table_kinds")
ROWS = 35000

# A module that brings a kind needs the extension in its session.
out, err = psql(f"LOAD '{module}'", DB)
ok("pg_strom is not loaded" in err, "the module says what it needs", err)

handle = query(f"""SELECT pgstrom.version_info() IS NULL;
  CREATE FUNCTION array_handler() RETURNS fdw_handler AS '{module}', 'strom_test_array_handler' LANGUAGE C;
  CREATE FUNCTION array_create(bigint) RETURNS bigint AS '{module}', 'strom_test_array_create' LANGUAGE C STRICT;
  CREATE FUNCTION array_hide(regclass, bigint, bigint) RETURNS void AS '{module}', 'strom_test_array_hide'
    LANGUAGE C STRICT;
  CREATE FOREIGN DATA WRAPPER arrays HANDLER array_handler;
  CREATE SERVER arrays FOREIGN DATA WRAPPER arrays;
  SELECT array_create({ROWS});""", DB).splitlines()[-1]
query(f"""CREATE FOREIGN TABLE rows_there (key int, value bigint, name text) SERVER arrays OPTIONS (handle '{handle}');
  CREATE TABLE dim AS SELECT i AS key, 'd' || i % 13 AS label FROM generate_series(0, 1200, 3) i;
  CREATE TABLE parts (key int, value bigint, name text) PARTITION BY RANGE (key);
  CREATE TABLE heap_part PARTITION OF parts FOR VALUES FROM (1000) TO (2000);
  INSERT INTO heap_part SELECT 1000 + i % 1000, i, 'h' || i % 7 FROM generate_series(1, 5000) i;
  ALTER TABLE parts ATTACH PARTITION rows_there FOR VALUES FROM (0) TO (1000);
  ANALYZE dim""", DB)

SETUP = ("LOAD 'pg_strom'; SET pg_strom.cpu_setup_cost = 0; SET pg_strom.cpu_tuple_cost = 0;"
         "SET max_parallel_workers_per_gather = 0;")
QUERIES = {
    "a scan": "SELECT count(*), sum(key + value), min(name) FROM rows_there WHERE value % 3 = 1",
    "its rows": "SELECT key, value, name FROM rows_there WHERE key < 20 AND name <> 'n3' ORDER BY value",
    "counted without columns": "SELECT count(*) FROM rows_there",
    "grouped": "SELECT name, count(*), count(value), sum(value) FROM rows_there GROUP BY name ORDER BY name",
    "joined outside": """SELECT label, count(*), sum(value) FROM rows_there JOIN dim USING (key)
        GROUP BY label ORDER BY label""",
    "joined inside": """SELECT d.label, count(*) FROM dim d JOIN rows_there r ON r.key = d.key AND r.value < 3000
        GROUP BY 1 ORDER BY 1""",
    "joined with itself": """SELECT count(*), sum(a.value) FROM rows_there a JOIN rows_there b ON a.value = b.value + 1""",
    "anti join": "SELECT count(*) FROM dim WHERE NOT EXISTS (SELECT FROM rows_there r WHERE r.key = dim.key)",
    "fallback rows": "SELECT sum((value + 9223372036854740000)::numeric) FROM rows_there WHERE value < 1000",
    "a partition beside a heap table": "SELECT name, count(*), sum(value) FROM parts GROUP BY name ORDER BY name",
}


def compare(when):
    for name, statement in QUERIES.items():
        wanted, err = psql(f"{SETUP} SET pg_strom.enabled = off; {statement}", DB)
        found, err = psql(f"{SETUP} {statement}", DB)
        equal(found, wanted, f"{name}, {when}")
        ok(err == "", f"{name}, {when}: no error", err)


compare("all rows there")
query(f"{SETUP} SELECT array_hide('rows_there', 3, 1); SELECT array_hide('rows_there', 1000, 0)", DB)
compare("a third hidden")
for name, statement in QUERIES.items():
    plan = query(f"{SETUP} EXPLAIN (COSTS OFF) {statement}", DB)
    ok("Cpu" in plan and "Foreign Scan" not in plan, f"the engine runs it: {name}", plan)

# EXPLAIN shows what the kind tells.
plan = query(f"{SETUP} EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT sum(value) FROM rows_there WHERE key >= 0", DB)
hidden = len({i for i in range(ROWS) if i % 3 == 1 or i % 1000 == 0})
ok(f"Array Rows: {ROWS}" in plan and f"Hidden Rows: {hidden}" in plan, "EXPLAIN has the kind's lines", plan)
ok(f"exec: {ROWS - hidden} -> {ROWS - hidden}" in plan, "rows that are not there are not counted", plan)

# What one session hides, another does not see any more.
query(f"{SETUP} SELECT array_hide('rows_there', 1, 0)", DB)
compare("nothing left")
done()
