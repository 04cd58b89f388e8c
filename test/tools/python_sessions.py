#!/usr/bin/env python3
"""The Python package's sessions: Arrow data into tables of each kind and back, plans as pictures, the notebook's magics, and the
tutorial's notebook."""
import datetime
import decimal
import os
import pathlib
import re
import shutil
import sys
import xml.dom.minidom

import nbclient
import nbformat
import numpy as np
import pandas
import polars
import psycopg
import psycopg.rows
import psycopg.sql
import pyarrow as pa

from checks import done, equal, folder, fresh_database, ok, query, raises

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import strom  # noqa: E402

DB = fresh_database("strom_python_sessions")
FILES = folder("python_sessions")
FILES.chmod(0o777)
DSN = f"dbname={DB}"


COLUMNS = "b bool, i2 smallint, i8 bigint, f4 real, f8 double precision, n numeric(20,3), s text, y bytea, d date, ts timestamp, tz timestamptz, t time"
utc = datetime.timezone.utc
tokyo = datetime.timezone(datetime.timedelta(hours=9))
ROWS = pa.table({
    "b": pa.array([True, False, None]),
    "i2": pa.array([1, None, -32768], pa.int16()),
    "i8": pa.array([2**63 - 1, -2**63, None]),
    "f4": pa.array([0.1, float("nan"), None], pa.float32()),
    "f8": pa.array([0.1 + 0.2, float("-inf"), 5e-324]),
    "n": pa.array([decimal.Decimal("12345678901234567.891"), None, decimal.Decimal("-0.001")], pa.decimal128(20, 3)),
    "s": pa.array(["", None, 'a "quoted", text\nof \\N lines 日本']),
    "y": pa.array([b"\x00\xff", b"", None]),
    "d": pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
    "ts": pa.array([datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), None, datetime.datetime(2030, 1, 1)], pa.timestamp("us")),
    "tz": pa.array([datetime.datetime(2020, 1, 1, 9, tzinfo=tokyo), None, datetime.datetime(1900, 1, 1, tzinfo=utc)], pa.timestamp("us", "Asia/Tokyo")),
    "t": pa.array([datetime.time(0), datetime.time(23, 59, 59, 999999), None], pa.time64("us")),
})


class Plpy:
    """What PL/Python's module of that name has, by a connection."""

    def __init__(self, connection):
        self.connection = connection

    def prepare(self, statement, types):
        return re.sub(r"\$(\d+)", lambda found: f"%s::{types[int(found[1]) - 1]}", statement.replace("%", "%%"))

    def execute(self, plan, values=None):
        cursor = self.connection.cursor(row_factory=psycopg.rows.dict_row)
        cursor.execute(plan, values)
        return cursor.fetchall() if cursor.description else []

    def quote_ident(self, name):
        return psycopg.sql.Identifier(name).as_string(self.connection)

    def subtransaction(self):
        return self.connection.transaction()


query(f"""CREATE TABLE heap ({COLUMNS}); CREATE SCHEMA "odd one"; CREATE TABLE "odd one"."a b" (x int, y int NOT NULL);
CREATE FOREIGN TABLE arrow ({COLUMNS}) SERVER arrow_fdw OPTIONS (file '{FILES}/arrow.arrow', writable 'true')""", DB)
with strom.connect(DSN) as session:
    session.connection.execute("SET TimeZone = 'America/New_York'; SET DateStyle = 'German, DMY'; SET client_encoding = 'UTF8'")
    for table in ("heap", "arrow"):
        equal(session.write(table, ROWS), 3, f"{table}: rows written")
        found = session.query(f"SELECT * FROM {table} ORDER BY i8").read_all()
        wanted = ROWS.sort_by("i8")
        for name in ROWS.column_names:
            have, want = (column.cast(wanted.column(name).type).combine_chunks() for column in (found.column(name), wanted.column(name)))
            same = have.equals(want) or np.array_equal(np.array(have.to_pylist(), float), np.array(want.to_pylist(), float), equal_nan=True)
            ok(same, f"{table}: {name}", have, want)
    equal(session.write("heap", ROWS.slice(0, 1), append=False), 1, "instead of the rows that were there")
    equal(session.query("SELECT count(*) AS n FROM heap").read_all().to_pydict(), {"n": [1]}, "they are gone")
    equal(session.write("odd one.a b", pa.record_batch({"y": [1, 2]})), 2, "a schema, and some of the columns")
    equal(session.write("odd one.a b", pandas.DataFrame({"x": [1], "y": [2]})), 1, "a data frame of pandas")
    equal(session.write("odd one.a b", polars.DataFrame({"y": [4], "x": [3]})), 1, "of polars")
    equal(session.write("odd one.a b", iter([pa.record_batch({"y": [i]}) for i in range(10)])), 10, "an iterable of batches")
    equal(session.write("odd one.a b", ROWS.slice(0, 0).select([])), 0, "nothing")
    before = session.query('SELECT count(*) AS n, sum(y) AS s FROM "odd one"."a b"').read_all().to_pydict()
    raises(lambda: session.write("odd one.a b", pa.table({"y": [1, None]}), append=False), psycopg.errors.NotNullViolation, "y", "a row that is refused")
    raises(lambda: session.write("odd one.a b", iter([pa.record_batch({"y": [1]}), pa.record_batch({"y": [[2]]})])), strom.StromError, "cannot be written", "a type that is refused")
    raises(lambda: session.write("nope", pa.table({"y": [1]})), psycopg.errors.UndefinedTable, "nope", "a table that is not there")
    raises(lambda: session.write("heap", pa.table({"nope": [1]})), psycopg.errors.UndefinedColumn, "nope", "a column that is not there")
    raises(lambda: session.write("heap", 5), strom.StromError, "no Arrow data", "no data")
    equal(session.query('SELECT count(*) AS n, sum(y) AS s FROM "odd one"."a b"').read_all().to_pydict(), before, "all of it, or nothing")
    big = pa.table({"y": np.arange(300000, dtype="i4"), "x": np.arange(300000, dtype="i4")})
    equal((session.write("odd one.a b", big, append=False), session.query('SELECT sum(x) AS x, count(*) AS n FROM "odd one"."a b" WHERE x = y').read_all().to_pydict()),
          (300000, {"x": [300000 * 299999 // 2], "n": [300000]}), "many rows")

    # ---- Numbers and times go in COPY's binary form: the same rows as by CSV, which a column of text demands ----
    session.connection.execute("""CREATE TABLE numbers (b bool, i2 smallint, i4 int, i8 bigint, f4 real, f8 float8, d date, ts timestamp, tz timestamptz, t time);
      CREATE TABLE texts (LIKE numbers, s text); CREATE TABLE "odd one"."c d" (y int)""")
    random = np.random.default_rng(7)
    count = 150000
    numbers = {"b": random.random(count) < 0.5, "i2": random.integers(-2**15, 2**15, count, "i2"), "i4": random.integers(-2**31, 2**31, count, "i4"),
               "i8": random.integers(-2**63, 2**63, count, "i8"), "f4": random.normal(size=count).astype("f4"), "f8": random.normal(size=count) * 1e300}
    times = {"d": (pa.date32(), random.integers(-700000, 2900000, count, "i4")), "ts": (pa.timestamp("us"), random.integers(-6 * 10**16, 2 * 10**17, count)),
             "tz": (pa.timestamp("us", "Asia/Tokyo"), random.integers(-6 * 10**16, 2 * 10**17, count)), "t": (pa.time64("us"), random.integers(0, 86400 * 10**6, count))}
    for has_nulls in (False, True):
        masks = [random.random(count) < 0.1 if has_nulls else None for _ in range(10)]
        columns = [pa.array(values, mask=mask) for values, mask in zip(numbers.values(), masks)]
        columns += [pa.array(values, pa.int32() if kind == pa.date32() else pa.int64(), mask=mask).cast(kind) for (kind, values), mask in zip(times.values(), masks[6:])]
        rows = pa.table(columns, [*numbers, *times])
        equal(session.write("numbers", rows, append=False), count, "rows in binary form")
        session.write("texts", rows.append_column("s", pa.array(["x"] * count)), append=False)
        same = session.query("SELECT count(*) AS n FROM ((TABLE numbers EXCEPT ALL SELECT b, i2, i4, i8, f4, f8, d, ts, tz, t FROM texts) UNION ALL "
                             "(SELECT b, i2, i4, i8, f4, f8, d, ts, tz, t FROM texts EXCEPT ALL TABLE numbers)) x").read_all()
        equal((same["n"].to_pylist(), session.query("SELECT count(*) AS n FROM numbers").read_all()["n"].to_pylist()), ([0], [count]), f"are those of CSV, NULLs: {has_nulls}")
    session.write("numbers", pa.table({"i8": pa.array([1, None], pa.int8()), "f4": pa.array([float("nan"), float("-inf")], pa.float32())}), append=False)
    equal(session.connection.execute("SELECT i8, f4::text, i2 FROM numbers ORDER BY f4").fetchall(), [(None, "-Infinity", None), (1, "NaN", None)], "narrower integers, and what is no number")
    equal(session.write("numbers", iter([pa.record_batch({"i4": pa.array([1], pa.int32())}), pa.record_batch({"i4": pa.array([2], pa.int64())})]), append=False), 2, "batches of other types")
    equal(session.query("SELECT sum(i4) AS s FROM numbers").read_all().to_pydict(), {"s": [3]}, "have their values")
    raises(lambda: session.write("numbers", iter([pa.record_batch({"i4": [1]}), pa.record_batch({"i8": [1]})])), strom.StromError, "differ in their columns", "batches of other columns")
    raises(lambda: session.write("numbers", pa.table({"ts": pa.array([-2**63], pa.int64()).cast(pa.timestamp("us"))})), strom.StromError, "out of PostgreSQL's range", "a time that is none")
    raises(lambda: session.write("numbers", pa.table({"ts": pa.array([-2**62], pa.int64()).cast(pa.timestamp("us"))})), psycopg.Error, "timestamp out of range", "a time that the server refuses")
    raises(lambda: session.write("numbers", pa.table({"i4": [2**40]})), psycopg.Error, "out of range", "a number that is too large")

    # ---- In PL/Python's session: here a double of its module, over this connection ----
    server = strom.ServerSession(Plpy(session.connection))
    equal(server.query("SELECT sum(i4) AS s FROM numbers").read_all().to_pydict(), {"s": [3]}, "a query of a function's session")
    equal(server.export("SELECT i4 FROM numbers", form="matrix").matrix().tolist(), [[1, 2]], "an export")
    equal(query("SELECT count(*) FROM pgstrom.export_info", DB), "0", "nothing stays exported")
    equal(server.write("odd one.c d", pa.table({"y": list(range(70000))}), append=False), 70000, "rows by INSERT")
    equal(server.query('SELECT sum(y) AS s FROM "odd one"."c d"').read_all().to_pydict(), {"s": [69999 * 35000]}, "are there")
    equal((server.write("texts", ROWS.select(["b", "i2", "i8", "f4", "d", "ts", "tz", "t", "s"]), append=False), session.query("SELECT count(tz) AS n, min(ts) AS t FROM texts").read_all().to_pydict()),
          (3, {"n": [2], "t": [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)]}), "values of all kinds")
    raises(lambda: server.write("texts", pa.table({"nope": [1]})), strom.StromError, 'no column "nope"', "a column that is not there")
    raises(lambda: server.write("texts", pa.table({"i4": [[1]]})), strom.StromError, "cannot be written", "a type that is refused")
    ok(server.plan("SELECT 1").execution_ms is not None, "a plan")
raises(strom.here, strom.StromError, "no PL/Python function", "outside of PL/Python")
with strom.connect(DSN) as session:

    # ---- Results that the server shares, and that it sends ----
    many = "SELECT i, i::text AS t, ARRAY[i, NULL] AS a, ROW(i, 'x'::text) AS r, NULLIF(i % 3, 0)::float8 AS f, i::numeric(9, 2) AS n FROM generate_series(1, 200000) i"
    shared, sent = session.query(many), session.query(many, shared=False)
    ok(shared.is_shared and not sent.is_shared, "results of both kinds")
    equal(shared.schema, sent.schema, "one schema")
    ok(shared.read_all().equals(sent.read_all()), "the same rows of all types, lists and composite ones too")
    equal(query("SELECT count(*) FROM pgstrom.export_info", DB), "0", "nothing stays exported")
    kept = session.query("SELECT i FROM generate_series(1, 1000) i").read_all()
    session.query("SELECT -i AS i FROM generate_series(1, 1000) i").read_all()
    equal(sum(kept["i"].to_pylist()), 500500, "rows stay what they were")
    equal(sum(batch.num_rows for batch in session.query(many)), 200000, "batch by batch")
    equal(session.query("SELECT 1 AS i WHERE false").read_all().num_rows, 0, "no rows")
    session.connection.execute("SET pg_strom.export_memory = '1MB'")
    large = session.query(many)
    equal((large.is_shared, large.read_all().num_rows), (False, 200000), "a result above the limit is sent")
    raises(lambda: session.query(many, shared=True), psycopg.Error, "export_memory", "not when it has to be shared")
    session.connection.execute("RESET pg_strom.export_memory")
    ok(session.query("SELECT 1 AS i").is_shared, "the next one is shared again")
    told = []
    ok(not session.query("SELECT 1 AS i", progress=told.append).is_shared, "progress is of what is sent")
    raises(lambda: session.query("SELECT 1 / (i - 5) AS x FROM generate_series(1, 9) i"), psycopg.errors.DivisionByZero, "division", "an error of the query")
    with session.connection.transaction():
        session.connection.execute("CREATE TEMP TABLE mine ON COMMIT DROP AS SELECT 7 AS x")
        unfinished = session.query("TABLE mine")
        equal((unfinished.is_shared, unfinished.read_all().to_pydict()), (False, {"x": [7]}), "within a transaction")
    part = session.query(many, shared=False, batch_bytes=100000)
    equal(next(iter(part)).num_rows > 0, True, "a part of what is sent")
    part.close()
    equal(session.query("SELECT 2 AS x").read_all().to_pydict(), {"x": [2]}, "the rest is not waited for")
    stream = strom.open_export(session.connection.execute("SELECT pgstrom.export_query('SELECT 5 AS x', '{\"form\": \"stream\"}')").fetchone()[0])
    equal((stream.form, stream.rows, pa.table(stream).to_pydict(), polars.from_arrow(stream.arrow()).to_dict(as_series=False)),
          ("stream", 1, {"x": [5]}, {"x": [5]}), "an export of this form")
    raises(stream.matrix, strom.ExportError, "no matrix", "which is no matrix")
    raises(lambda: stream.__arrow_c_array__(), strom.ExportError, "stream", "nor one array")

    # ---- Plans ----
    plan = session.plan('SELECT a.x % 7, count(*) FROM "odd one"."a b" a JOIN "odd one"."a b" b USING (y) WHERE a.x > 5 GROUP BY 1')
    picture = plan.svg()
    xml.dom.minidom.parseString(picture)
    ok(plan.execution_ms > 0, "a plan that has run")
    ok(picture.count("<rect") >= 2, "boxes", picture[:500])
    session.connection.execute("SET pg_strom.enabled = off")
    ok("300.0 k rows" in session.plan('SELECT x + 1 FROM "odd one"."a b"').svg(), "rows of a box")
    session.connection.execute("RESET pg_strom.enabled")
    ok(session.plan("SELECT 1", analyze=False).execution_ms is None, "a plan that does not run")
    raises(lambda: session.plan("SELECT nope"), psycopg.errors.UndefinedColumn, "nope", "a statement that is wrong")

# ---- Notebooks ----
for name in ("magics", "tutorial"):
    if name == "magics":
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (
            "%load_ext strom", f"%strom {DSN}", "%%strom --plan numbers\nSELECT g AS x FROM generate_series(1, 10) g", "sum(numbers.column('x').to_pylist())",
            "%%strom --df\nSELECT 5 AS five")])
    else:
        notebook = nbformat.read(ROOT / "docs" / "user" / "tutorial.ipynb", 4)
    work = folder(f"python_{name}")
    work.chmod(0o777)
    shutil.copytree(ROOT / "python", work / "python", ignore=shutil.ignore_patterns("__pycache__"))
    os.environ["PYTHONPATH"] = str(work / "python")
    os.environ["PGDATABASE"] = DB
    try:
        nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(work)}}).execute()
        ok(True, f"notebook {name}")
    except nbclient.exceptions.CellExecutionError as error:
        ok(False, f"notebook {name}", error)
        continue
    if name == "magics":
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
        texts = [str(output.get("data", {})) for output in outputs]
        ok(any("image/svg" in text for text in texts) and any("55" in text for text in texts) and any("five" in text for text in texts), "what the magics show", texts)
done()
