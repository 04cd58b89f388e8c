#!/usr/bin/env python3
"""Exports of the same columns share their memory, as long as these are the same: after every change, with other options and with
other rows an export has memory of its own, and who may not read the columns gets none."""
import os
import pathlib
import sys

import psycopg
import pyarrow as pa

from checks import done, equal, folder, fresh_database, ok, psql, query, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import strom  # noqa: E402
from strom import exports  # noqa: E402

DB = fresh_database("strom_python_shared")
FILES = folder("python_shared")
FILES.chmod(0o777)
ROWS = 200000


def session(**options):
    return psycopg.connect(dbname=DB, autocommit=True, **options)


def scalar(at, statement, *parameters):
    return at.execute(statement, parameters or None).fetchone()[0]


def memory_of(identifier):
    """The number of the memory file."""
    descriptor, = exports._receive(*exports._IDENTIFIER.fullmatch(identifier).groups())
    try:
        return os.fstat(descriptor).st_ino
    finally:
        os.close(descriptor)


def export(at, statement, options="{}"):
    return scalar(at, "SELECT pgstrom.export_query(%s, %s)", statement, options)


def matrix(at, table, columns):
    return scalar(at, "SELECT pgstrom.arrow_fdw_export_cupy(%s, %s)", table, columns)


def rows_of(identifier):
    return sorted(strom.open_export(identifier).columns[0].numpy().tolist())


def shares(first, second, at=None):
    """Whether two statements' exports, which both live, share memory. `at`: the session of the second."""
    kept = export(main, *first)
    return memory_of(kept) == memory_of(export(at or main, *second))


query("DROP ROLE IF EXISTS strom_sharer; DROP ROLE IF EXISTS strom_stranger; CREATE ROLE strom_sharer LOGIN; CREATE ROLE strom_stranger LOGIN")
main, second = session(), session()
main.execute(f"""
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE h (x int, y int, t text, m mood);
INSERT INTO h SELECT g, -g, 't' || g, CASE WHEN g % 2 = 0 THEN 'sad' ELSE 'glad' END::mood FROM generate_series(1, {ROWS}) g;
GRANT USAGE ON SCHEMA public TO PUBLIC;
GRANT SELECT (x, t) ON h TO strom_sharer;
CREATE FOREIGN TABLE a (x int, y int) SERVER arrow_fdw OPTIONS (file '{FILES}/a.arrow', writable 'true');
INSERT INTO a SELECT g, -g FROM generate_series(1, {ROWS}) g;
""")
main.execute("VACUUM ANALYZE h")
X = ("SELECT x FROM h",)

# ---- A heap table ----
kept = export(main, *X)
same = export(second, *X)
ok(kept != same and memory_of(kept) == memory_of(same), "two sessions' exports of a column share their memory")
equal(rows_of(same), list(range(1, ROWS + 1)), "the rows")
equal(main.execute("SELECT count(*), count(DISTINCT pid), count(DISTINCT bytes), min(rows), max(columns) FROM pgstrom.export_info").fetchone(),
      (2, 2, 1, ROWS, 1), "both are listed")
equal(scalar(main, "SELECT pgstrom.arrow_fdw_put_gpu_buffer(%s)", kept), True, "one is dropped")
equal((rows_of(same)[-1], shares(X, X)), (ROWS, True), "the other stays, and others share with it")
second.close()
second = session()
ok(memory_of(matrix(main, "h", "{x,y}")) == memory_of(matrix(second, "h", "{x,y}")), "matrices")
ok(shares(("SELECT x, t FROM h",), ("SELECT x, t FROM h",)), "texts")
for name, other in (("another column", ("SELECT y FROM h",)), ("another order", ("SELECT y, x FROM h",)), ("another name", ("SELECT x AS z FROM h",)),
                    ("another type", ("SELECT x::bigint FROM h",)), ("another form", (X[0], '{"form": "matrix"}')), ("filled", (X[0], '{"nulls": "fill"}')),
                    ("a condition", ("SELECT x FROM h WHERE x > 0",)), ("a limit", ("SELECT x FROM h LIMIT 200000",)), ("an expression", ("SELECT x + 0 AS x FROM h",)),
                    ("a sample", ("SELECT x FROM h TABLESAMPLE SYSTEM (100)",)), ("a range of pages", ("SELECT x FROM h WHERE ctid >= '(0,0)'",))):
    ok(not shares(X, other), f"{name} has memory of its own")
ok(not shares(("SELECT x, y FROM h",), ("SELECT y, x FROM h",)), "the order of columns")
ok(not shares(("SELECT x, m FROM h",), ("SELECT x, m FROM h",)), "names of an enum's values may change: not shared")
ok(not shares((X[0], '{"nulls": "fill", "fill": 1}'), (X[0], '{"nulls": "fill", "fill": 2}')), "another value for NULLs")

# ---- Rights ----
mine = export(main, *X)
sharer, stranger = session(user="strom_sharer"), session(user="strom_stranger")
ok(memory_of(mine) == memory_of(export(sharer, *X)), "another role that may read the column")
for at, statement in ((stranger, X[0]), (sharer, "SELECT y FROM h")):
    export(main, statement)
    try:
        export(at, statement)
        ok(False, f"no right: {statement}")
    except psycopg.Error as error:
        equal(error.sqlstate, "42501", f"no right: {statement}")
sharer.close()
main.execute("ALTER ROLE strom_sharer SET pg_strom.export_memory = '1MB'")
sharer = session(user="strom_sharer")
export(sharer, *X)
try:
    export(sharer, *X)
    ok(False, "shared memory counts for its role")
except psycopg.Error as error:
    equal(error.sqlstate, "53400", "shared memory counts for its role")
main.execute("ALTER ROLE strom_sharer RESET ALL")
sharer.close()
main.execute("CREATE POLICY few ON h TO strom_sharer USING (x <= 5); ALTER TABLE h ENABLE ROW LEVEL SECURITY")
sharer = session(user="strom_sharer")
mine = export(main, *X)
equal(rows_of(export(sharer, *X)), [1, 2, 3, 4, 5], "row security")
main.execute("ALTER TABLE h DISABLE ROW LEVEL SECURITY")

# ---- Changes ----
mine = export(main, *X)
second.execute("BEGIN; DELETE FROM h WHERE x <= 10")
equal((rows_of(export(second, *X))[0], rows_of(export(main, *X))[0]), (11, 1), "what a transaction has deleted, for itself and for others")
second.execute("COMMIT")
equal(rows_of(export(main, *X))[0], 11, "for all, when it has ended")
equal(rows_of(mine)[0], 1, "the export of before has what it had")
main.execute("VACUUM h")
after = export(main, *X)
ok(memory_of(after) != memory_of(mine) and memory_of(after) == memory_of(export(second, *X)), "vacuumed, they share again")
second.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
equal(scalar(second, "SELECT count(*) FROM h"), ROWS - 10, "an old snapshot")
main.execute("INSERT INTO h VALUES (0, 0, '', 'sad')")
main.execute("VACUUM h")
kept = export(main, *X)
equal((rows_of(kept)[0], rows_of(export(second, *X))[0]), (0, 11), "has the rows of its time")
second.execute("COMMIT")
main.execute("VACUUM h")
kept = export(main, *X)
main.execute("ALTER TABLE h RENAME x TO z")
renamed = export(main, "SELECT * FROM h LIMIT 0")
equal(strom.open_export(renamed).columns[0].name, "z", "a column with another name")
main.execute("ALTER TABLE h RENAME z TO x")
main.execute("ALTER TABLE h DROP COLUMN y, ADD COLUMN y int DEFAULT 7")
kept = export(main, "SELECT y FROM h")
main.execute("ALTER TABLE h DROP COLUMN y, ADD COLUMN y int DEFAULT 8")
equal((rows_of(kept)[0], rows_of(export(main, "SELECT y FROM h"))[0]), (7, 8), "a column that is dropped and added with another default")
main.execute("TRUNCATE h")
equal(rows_of(export(main, *X)), [], "a table that is emptied")
main.execute("SET pg_strom.enable_column_cache = off")
main.execute("INSERT INTO h SELECT g, g FROM generate_series(1, 100000) g; ANALYZE h")
main.execute("VACUUM h")
ok(not shares(X, X), "without the column cache nothing is shared of heap tables")
main.execute("RESET pg_strom.enable_column_cache")

# ---- An Arrow table: a file that was changed just now might be changed again without a trace ----
A = ("SELECT x, y FROM a",)
ok(wait_until(lambda: shares(A, A)), "exports of an Arrow table share their memory")
ok(memory_of(matrix(main, "a", "{y}")) == memory_of(matrix(second, "a", "{y}")), "matrices of it")
ok(not shares(A, ("SELECT x, y FROM a WHERE y < 0",)), "but not with a condition")
kept = export(main, *A)
main.execute("INSERT INTO a VALUES (0, 0)")
equal((rows_of(export(main, *A))[0], rows_of(kept)[0]), (0, 1), "rows that are added")
with pa.OSFile(str(FILES / "b.arrow"), "wb") as file, pa.ipc.new_file(file, pa.schema([("x", pa.int32()), ("y", pa.int32())])) as writer:
    writer.write_batch(pa.record_batch({"x": pa.array([5], pa.int32()), "y": pa.array([6], pa.int32())}))
ok(wait_until(lambda: shares(A, A)), "they share again")
kept = export(main, *A)
os.replace(FILES / "b.arrow", FILES / "a.arrow")
equal((rows_of(export(main, *A)), rows_of(kept)[-1]), ([5], ROWS), "another file of the same name")
for at in (second, sharer, stranger):
    at.close()
main.execute("DROP OWNED BY strom_sharer, strom_stranger")
psql("DROP ROLE strom_sharer; DROP ROLE strom_stranger")
done()
