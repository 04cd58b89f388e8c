#!/usr/bin/env python3
"""Exports and the Python package: matrices and columns are what the server's queries give, in PL/Python too; who may do what;
how long exports live; bad input."""
import datetime
import decimal
import pathlib
import shutil
import subprocess
import sys
import threading

import numpy as np
import polars
import psycopg
import pyarrow as pa

from checks import done, equal, folder, fresh_database, ok, psql, query, raises, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import cupy_strom  # noqa: E402
import strom  # noqa: E402

DB = fresh_database("strom_python")
FILES = folder("python_exports")
FILES.chmod(0o777)
PACKAGE = FILES / "python"
shutil.copytree(pathlib.Path(strom.__file__).parents[1], PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))


def session(**options):
    return psycopg.connect(dbname=DB, autocommit=True, **options)


def scalar(at, statement, *parameters):
    return at.execute(statement, parameters or None).fetchone()[0]


def error_of(at, statement, *parameters):
    """(SQLSTATE, message, hint) of a statement that fails."""
    try:
        at.execute(statement, parameters or None)
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary, error.diag.message_hint or ""
    return None, "no error", ""


main = session()
main.execute(f"""
CREATE FOREIGN TABLE ft (id int, x float4, y float4, z float4) SERVER arrow_fdw
  OPTIONS (file '{FILES}/ft.arrow', writable 'true');
INSERT INTO ft (SELECT x, pgstrom.random_int(0,1,10000)::float/100.0, pgstrom.random_int(0,-7500,2500)::float/100.0,
                       pgstrom.random_int(0,5000,15000)::float/100.0 FROM generate_series(1,300000) x);
CREATE TABLE h (b bool, i1 int1, i2 int2, i4 int4, i8 int8, f2 float2, f4 float4, f8 float8, n numeric(12,2), d date, ts timestamp,
                tz timestamptz, t time, s text, y bytea, u uuid, k bigint);
INSERT INTO h SELECT g % 2 = 0, g % 100, g % 30000, g, g * 100000::bigint, g % 100, g / 3.0, g / 7.0, g / 4.0, date '2000-01-01' + g % 10000,
  timestamp '2020-01-01' + g * interval '1 s', timestamptz '2020-01-01 00:00+00' + g * interval '1 ms', time '00:00' + g * interval '1 us',
  CASE WHEN g % 3 = 0 THEN NULL ELSE repeat('ä', g % 20) || g END, decode(md5(g::text), 'hex'), md5(g::text)::uuid,
  CASE WHEN g > 70000 AND g % 5 = 0 THEN NULL ELSE g END
  FROM generate_series(1, 150001) g;
CREATE TABLE empty (x float8, s text);
CREATE TABLE "odd ""name" ("a ""b" int); INSERT INTO "odd ""name" VALUES (7);
""")

# ---- Matrices ----
identifier = scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy('ft', '{x,y,z}'::text[])")
matrix = cupy_strom.ipc_import(identifier)
equal((matrix.shape, matrix.dtype, matrix.flags.c_contiguous, matrix.flags.writeable), ((3, 300000), np.float32, True, False),
      "a matrix of columns, read-only")
equal([float(row.astype("f8").sum()) for row in matrix],
      list(main.execute("SELECT sum(x::float8), sum(y::float8), sum(z::float8) FROM ft").fetchone()), "sums of the matrix")
for kind in ("i1", "i2", "i4", "i8", "f2", "f4", "f8", "b"):
    found = cupy_strom.ipc_import(scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy('h', %s)", [kind, kind]))
    cast = "int2" if kind == "i1" else "float4" if kind == "f2" else "text" if kind == "b" else kind.replace("i", "int").replace("f", "float")
    wanted = [value == "true" if kind == "b" else value for value, in main.execute(f"SELECT {kind}::{cast} FROM h").fetchall()]
    ok((np.sort(found) == np.sort(np.array([wanted, wanted]).astype(found.dtype))).all() and found.shape == (2, 150001), f"values of {kind}", found.dtype)
equal(int(cupy_strom.ipc_import(scalar(main, """SELECT pgstrom.arrow_fdw_export_cupy('"odd ""name"')"""))[0, 0]), 7,
      "all columns of a table with an odd name")
equal(cupy_strom.ipc_import(scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy('empty', '{x}')")).shape, (1, 0), "a table without rows")
masked = strom.open_export(scalar(main, "SELECT pgstrom.export_query('SELECT k FROM h', '{\"form\": \"matrix\", \"nulls\": \"mask\"}')")).matrix()
equal((int(masked.mask.sum()), int(masked.sum())), main.execute("SELECT count(*) - count(k), sum(k)::bigint FROM h").fetchone(), "a matrix with a mask")
filled = strom.open_export(scalar(main, "SELECT pgstrom.export_query('SELECT k FROM h', '{\"form\": \"matrix\", \"nulls\": \"fill\", \"fill\": -5}')")).matrix()
equal(int(filled.sum()), scalar(main, "SELECT sum(coalesce(k, -5))::bigint FROM h"), "a matrix with NULLs filled")
equal(np.asarray(strom.open_export(identifier)).shape, (3, 300000),
      "NumPy takes an export as it is")

# ---- Columns ----
export = strom.open_export(scalar(main, "SELECT pgstrom.export_query('SELECT * FROM h')"))
batch = export.arrow()
batch.validate(full=True)
# Scans may begin anywhere, so that rows have no order.
wanted = main.execute("SELECT i4, s, n, d, ts, tz, t, y, u, k, b FROM h ORDER BY i4").fetchall()
table = pa.table(batch)
found = sorted(zip(*(table.column(name).to_pylist() for name in ("i4", "s", "n", "d", "ts", "tz", "t", "y", "u", "k", "b"))), key=lambda row: row[0])
equal(len(found), len(wanted), "as many rows")
utc = datetime.timezone.utc
for have, want in ((found[i], wanted[i]) for i in (0, 1, 2, 65535, 65536, 70001, 70004, 131071, 131072, 150000)):
    want = list(want)
    want[5] = want[5].astimezone(utc)
    have = list(have)
    have[5] = have[5].astimezone(utc)
    have[8] = str(have[8] if not isinstance(have[8], bytes) else __import__("uuid").UUID(bytes=have[8]))
    want[8] = str(want[8])
    equal(have, want, f"row {want[0]}")
equal([row[1] for row in found], [row[1] for row in wanted], "texts")
equal([row[9] for row in found], [row[9] for row in wanted], "NULLs that begin late")
equal(export.column("k").numpy().sum(), scalar(main, "SELECT sum(k)::bigint FROM h"), "a column as an array")
equal(polars.from_arrow(batch).select(polars.col("n").sum()).item(), scalar(main, "SELECT sum(n) FROM h"), "polars takes it")
raises(lambda: export.column("s").numpy(), strom.ExportError, "use arrow()", "texts have no array")
raises(export.matrix, strom.ExportError, "no matrix", "columns are no matrix")
raises(lambda: export.column("nope"), strom.ExportError, 'no column "nope"', "a column that is not there")
nothing = strom.open_export(scalar(main, "SELECT pgstrom.export_query('SELECT * FROM empty')")).arrow()
equal((nothing.num_rows, nothing.num_columns), (0, 2), "columns without rows")
grouped = strom.open_export(scalar(main, "SELECT pgstrom.export_query($$SELECT mod(i2, 3::int2) AS g, count(*) AS n FROM h GROUP BY 1$$)")).arrow()
equal(sorted(zip(*grouped.to_pydict().values())), sorted(main.execute("SELECT mod(i2, 3::int2), count(*) FROM h GROUP BY 1").fetchall()), "any query")

# ---- PL/Python: the function of the article, by NumPy; the array comes to the session that has exported it ----
main.execute(f"""
CREATE EXTENSION plpython3u;
DO $$
import sys
sys.path.insert(0, {str(PACKAGE)!r})
$$ LANGUAGE plpython3u;
CREATE FUNCTION custom_average(x_ident text) RETURNS float[] AS $$
import cupy_strom

X = cupy_strom.ipc_import(x_ident)
nitems = X.shape[1]
Y = X.sum(axis=1, dtype='f8')
X = 0   # unmap the memory
return list(map(float, Y / nitems))
$$ LANGUAGE plpython3u;""")
average = scalar(main, "SELECT custom_average(pgstrom.arrow_fdw_export_cupy('ft','{x,y,z}'::text[]))")
ok(np.allclose(average, main.execute("SELECT avg(x), avg(y), avg(z) FROM ft").fetchone()), "averages in PL/Python", average)

main.execute("""CREATE FUNCTION own_session() RETURNS float[] AS $$
import strom

session = strom.here()
plpy.execute("CREATE TEMP TABLE mine ON COMMIT DROP AS SELECT g AS x FROM generate_series(1, 5) g")
export = session.export("SELECT x FROM mine", form="matrix")
return [float(export.matrix().sum()), session.plan("SELECT 1").execution_ms]
$$ LANGUAGE plpython3u;""")
found = scalar(main, "SELECT own_session()")
ok(found[0] == 15 and found[1] > 0, "the session of a function, with what its transaction has made", found)

# ---- A table in memory ----
main.execute(f"""CREATE FOREIGN TABLE store (k int NOT NULL, x float8) SERVER gstore_fdw
  OPTIONS (base_file '{FILES}/store.base', redo_log_file '{FILES}/store.redo', max_num_rows '10000', primary_key 'k')""")
main.execute("INSERT INTO store SELECT g, g / 2.0 FROM generate_series(1, 1000) g")
stored = cupy_strom.ipc_import(scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy('store', '{x}')"))
equal((stored.shape, float(stored.sum())), ((1, 1000), 250250.0), "a table of the memory store")

# ---- Interfaces ----
taken = strom.open_export(identifier)
equal((np.from_dlpack(taken).shape, taken.__dlpack_device__()), ((3, 300000), (1, 0)), "DLPack")
equal((taken.__array_interface__["shape"], taken.__array_interface__["data"][1]), ((3, 300000), True), "NumPy's interface, read-only")
ok(not hasattr(taken, "__cuda_array_interface__") and not hasattr(export, "__array_interface__"), "interfaces that an export has not")
ok(isinstance(np.asanyarray(strom.open_export(scalar(main, "SELECT pgstrom.export_query('SELECT k FROM h', '{\"form\": \"matrix\", \"nulls\": \"mask\"}')")).matrix()),
              np.ma.MaskedArray), "a matrix with NULLs stays masked")

# ---- Who may do what ----
main.execute("DROP ROLE IF EXISTS strom_reader; DROP ROLE IF EXISTS strom_other")
main.execute("CREATE ROLE strom_reader LOGIN; CREATE ROLE strom_other LOGIN; GRANT SELECT (i4) ON h TO strom_reader; GRANT USAGE ON SCHEMA public TO PUBLIC")
reader, other = session(user="strom_reader"), session(user="strom_other")
mine = scalar(reader, "SELECT pgstrom.arrow_fdw_export_cupy('h', '{i4}')")
equal(error_of(reader, "SELECT pgstrom.arrow_fdw_export_cupy('h', '{i8}')")[0], "42501", "a column that the role may not read")
equal(error_of(other, "SELECT pgstrom.arrow_fdw_export_cupy('h', '{i4}')")[0], "42501", "a table that the role may not read")
equal(error_of(other, "SELECT pgstrom.arrow_fdw_put_gpu_buffer(%s)", mine)[0], "42501", "an export of another role is not dropped")
equal((scalar(other, "SELECT count(*) FROM pgstrom.export_info"), scalar(reader, "SELECT count(*) FROM pgstrom.export_info")), (0, 1), "roles see their own exports")
ok(scalar(main, "SELECT count(*) > 5 AND count(DISTINCT owner) = 2 FROM pgstrom.export_info"), "a superuser sees all")
equal(scalar(reader, "SELECT pgstrom.arrow_fdw_put_gpu_buffer(%s)", mine), True, "its owner drops it")
equal(scalar(reader, "SELECT pgstrom.arrow_fdw_put_gpu_buffer(%s)", mine), False, "once")
raises(lambda: cupy_strom.ipc_import(mine), strom.ExportGone, "has been dropped", "a dropped export")
equal(error_of(reader, "SET pg_strom.export_memory = '100GB'")[0], "42501", "roles do not raise their limits")
main.execute("ALTER ROLE strom_reader SET pg_strom.export_memory = '400kB'")
limited = session(user="strom_reader")
state, message, hint = error_of(limited, "SELECT pgstrom.arrow_fdw_export_cupy('h', '{i4}')")
ok(state == "53400" and "pg_strom.export_memory" in hint, "one export above the limit", state, message, hint)
half = "SELECT pgstrom.export_query('SELECT i4 FROM h LIMIT 60000')"
limited.execute(half)
state, message, hint = error_of(limited, half)
ok(state == "53400" and "pg_strom.export_memory" in hint, "several exports above the limit", state, message, hint)
main.execute("ALTER ROLE strom_reader RESET ALL")

# ---- How long exports live ----
brief = session()
kept, pinned = (scalar(brief, f"SELECT pgstrom.arrow_fdw_export_cupy{name}('h', '{{i8}}')") for name in ("", "_pinned"))
mapped = cupy_strom.ipc_import(kept)
brief.close()


def is_gone(which):
    try:
        strom.open_export(which)
    except strom.ExportGone:
        return True
    return False


ok(wait_until(lambda: is_gone(kept)), "an export ends with its session")
equal(int(mapped.sum()), int(np.arange(1, 150002, dtype="i8").sum() * 100000),
      "who has mapped it keeps it")
ok(not is_gone(pinned), "one that is pinned stays")
main.execute("ALTER TABLE h DROP COLUMN i8")
ok(not is_gone(pinned) and int(strom.open_export(pinned).matrix().min()) == 100000, "also when its column is dropped")
equal(scalar(main, "SELECT pgstrom.arrow_fdw_unpin_gpu_buffer(%s)", pinned), True, "until it is unpinned")
ok(is_gone(pinned), "and then no longer")

# ---- Bad input ----
for text in ("", "strom1-", "strom1-" + "0" * 16 + "-" + "g" * 32, identifier + "0", identifier.upper(), "../../etc/passwd"):
    raises(lambda: strom.open_export(text), strom.ExportError, "not the identifier", f"identifier {text[:20]!r}")
    equal(error_of(main, "SELECT pgstrom.arrow_fdw_put_gpu_buffer(%s)", text)[0], "22023", f"identifier {text[:20]!r} in SQL")
raises(lambda: strom.open_export("strom1-" + "0" * 16 + "-" + "0" * 32), strom.ExportGone, "no server", "a keeper that is not there")
raises(lambda: strom.open_export(identifier[:-32] + "0" * 32), strom.ExportGone, "dropped", "a secret that is wrong")
raises(lambda: strom.open_export(None), strom.ExportError, "not the identifier", "no text")
for statement, state, text in (
        ("SELECT pgstrom.arrow_fdw_export_cupy('h', '{i4,f4}')", "42804", "one type"),
        ("SELECT pgstrom.arrow_fdw_export_cupy('h', '{s}')", "42804", "one type"),
        ("SELECT pgstrom.arrow_fdw_export_cupy('h', '{k}')", "22004", '"k" has NULL'),
        ("SELECT pgstrom.arrow_fdw_export_cupy('h', '{nope}')", "42703", '"nope"'),
        ("SELECT pgstrom.arrow_fdw_export_cupy('h', '{}')", "22023", "needs a column"),
        ("SELECT pgstrom.arrow_fdw_export_cupy('h', '{NULL}')", "22004", "NULL"),
        ("SELECT pgstrom.arrow_fdw_export_cupy('h', '{i4}', 3)", "22023", "no GPU 3"),
        ("SELECT pgstrom.export_query('SELECT ARRAY[1]')", "0A000", "integer[]"),
        ("SELECT pgstrom.export_query('DELETE FROM h')", "42P11", "returns rows"),
        ("SELECT pgstrom.export_query('SELECT 1', '{\"form\": \"x\"}')", "22023", "form"),
        ("SELECT pgstrom.export_query('SELECT 1', '{\"x\": 1}')", "22023", "unknown option"),
        ("SELECT pgstrom.export_query('SELECT NULL::int', '{\"nulls\": \"fill\", \"fill\": 1.5}')", "22023", "no value"),
        ("SELECT pgstrom.export_query('SELECT NULL::date', '{\"nulls\": \"fill\"}')", "22023", "for numbers"),
        ("SELECT pgstrom.export_query('SELECT 1/(i4-9) FROM h')", "22012", "zero")):
    found = error_of(main, statement)
    ok(found[0] == state and text in found[1], statement, found)
equal(scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy(NULL)"), None, "NULL")
before = scalar(main, "SELECT count(*) FROM pgstrom.export_info")
main.execute("SET statement_timeout = 300")
equal(error_of(main, "SELECT pgstrom.export_query('SELECT a.i4 FROM h a, h b, h c')")[0], "57014", "a query that is cancelled")
main.execute("RESET statement_timeout")
equal(scalar(main, "SELECT count(*) FROM pgstrom.export_info"), before, "leaves nothing")

# ---- Many at a time ----
crowd = [session() for _ in range(4)]
identifiers = [[] for _ in crowd]


def export_many(at, to):
    for i in range(500):
        to.append((i, scalar(at, "SELECT pgstrom.export_query('SELECT ' || %s || ' AS x')", i)))


threads = [threading.Thread(target=export_many, args=pair) for pair in zip(crowd, identifiers)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ok(all(strom.open_export(which).column("x").numpy()[0] == i for some in identifiers for i, which in some), "2000 exports of four sessions")
equal(scalar(main, "SELECT count(*) FROM pgstrom.export_info") - before, 2000, "all are listed")
for at in crowd:
    at.close()
ok(wait_until(lambda: scalar(main, "SELECT count(*) FROM pgstrom.export_info") == before), "and end with their sessions")

# ---- Queries ----
with strom.connect(f"dbname={DB}") as at:
    result = at.query("SELECT i4, s, n FROM h WHERE i4 % 2 = 1").read_all()
    equal((result.num_rows, pa.compute.sum(result.column("n")).as_py()), main.execute("SELECT count(*), sum(n) FROM h WHERE mod(i4, 2) = 1").fetchone(), "a query's table")
    seen = []
    batches = list(at.query("SELECT i4 FROM h", batch_bytes=100000, progress=seen.append))
    ok(len(batches) > 3 and sum(b.num_rows for b in batches) == 150001 and seen == sorted(seen) and seen[-1] > 600000, "record batches one by one")
    with at.query("SELECT i4 FROM h", batch_bytes=1000) as some:
        ok(0 < next(iter(some)).num_rows < 1000, "the first rows of a query that is left")
    equal(at.query("SELECT 'O''Brien' AS n WHERE false").read_all().num_rows, 0, "no rows")
    raises(lambda: at.query("SELECT 1/(i4-9) FROM h").read_all(), psycopg.Error, "zero", "an error in the middle")
    equal(at.query("SELECT 5 AS x").fetch_arrow_table().to_pydict(), {"x": [5]}, "the session goes on")
raises(lambda: strom.connect("dbname=template1"), strom.StromError, "CREATE EXTENSION", "a database without the extension")
code = "import sys; sys.modules['numpy'] = None; import strom; strom.open_export(sys.argv[1]).matrix()"
lacking = subprocess.run([sys.executable, "-c", code, identifier], capture_output=True, text=True, env={"PYTHONPATH": str(PACKAGE), "PATH": "/usr/bin"}, check=False)
ok("need NumPy" in lacking.stderr, "without NumPy", lacking.stderr)
query("DROP OWNED BY strom_reader, strom_other", DB)
psql("DROP ROLE strom_reader; DROP ROLE strom_other")
done()
