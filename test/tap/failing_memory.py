#!/usr/bin/env python3
"""The n-th allocation of a query fails, for n = 0, 1, 2 … until the query gets through: each time the answer is right or the
error is 53200, and the session goes on, with as much memory as before. First the allocations of the engine, then those of
PostgreSQL below it. A server of its own, whose backends have test/modules/failing_allocator.c."""

import os
import pathlib
import shutil
import subprocess
import sys

import psycopg

from server import TEST_DIR, done, equal, ok

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "test/diff"))

from cluster import Cluster  # noqa: E402

QUERIES = {
    "scan of a heap table": "SELECT id, t FROM heap WHERE n > 500 AND t LIKE '%7'",
    "grouping of a heap table": "SELECT k, count(*), sum(n), min(id) FROM heap GROUP BY k",
    "block ranges": "SELECT count(*), sum(n), min(t) FROM heap WHERE id BETWEEN 30000 AND 33000",
    "sample": "SELECT count(*), sum(n) FROM heap TABLESAMPLE system (30) REPEATABLE (1) WHERE k < 50",
    "rows that PostgreSQL decides": "SELECT id, left(long, 5) FROM wide WHERE long > 'a' AND id < 400",
    "join of heap tables": "SELECT d.name, sum(h.n) FROM heap h JOIN dim d ON h.k = d.id WHERE h.id < 30000 GROUP BY d.name",
    "join, row by row": "SELECT h.id, d.name FROM heap h JOIN dim d ON h.k = d.id WHERE h.n > 990",
    "grouping of an Arrow table": "SELECT k, count(*), sum(n), avg(i8) FROM facts GROUP BY k",
    "join with an Arrow table": "SELECT f.t, count(*) FROM facts f JOIN dim d ON f.k = d.id WHERE f.i4 > 0 GROUP BY f.t",
}
MOST_GROWTH = 6000  # kB; the allocator keeps some of what was freed
ALL_UNTIL = 150  # each n up to here; then steps that grow, since a query allocates for each chunk alike


def compiled():
    """The allocator, where the server can read it."""
    library = TEST_DIR / "failing_allocator.so"
    headers = subprocess.run([os.environ["STROM_PG_CONFIG"], "--includedir-server"], capture_output=True, text=True,
                             check=True).stdout.strip()
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-fno-builtin", "-D_GNU_SOURCE", "-isystem", headers,
                    "-o", library, ROOT / "test/modules/failing_allocator.c"], check=True)
    library.chmod(0o755)
    return library


def connect():
    session = psycopg.connect(cluster.conninfo("postgres"), autocommit=True)
    session.execute("LOAD 'pg_strom'")
    if session.info.server_version >= 180000:
        # Without pg_strom as well, the next look-up crashes after a failure while PostgreSQL 18 makes its cache of types.
        session.execute("SELECT DISTINCT 1")
    for name, value in {"cpu_setup_cost": "0", "cpu_tuple_cost": "0.000001", "cpu_threads": "2"}.items():
        session.execute(f"SET pg_strom.{name} = {value}")
    return session


def attempt(session, statement, n, of_server):
    """(rows or None, SQLSTATE or None, allocations that were left; negative if one failed)."""
    session.execute("SELECT fail_allocation(%s, %s)", (n, of_server))
    rows = state = None
    try:
        rows = session.execute(statement).fetchall()
    except psycopg.Error as error:
        state = error.sqlstate
    try:
        left = session.execute("SELECT allocations_left()").fetchone()[0]
    except psycopg.errors.OutOfMemory:  # the query left just enough for itself
        session.execute("SELECT allocations_left()")
        left = 0
    return rows, state, left


def memory_of(session):
    """What the backend has to itself, in kB."""
    with open(f"/proc/{session.info.backend_pid}/smaps_rollup", encoding="ascii") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))


def through_all_failures(name, statement, of_server):
    session = connect()
    name += ", the server's memory" if of_server else ""
    wanted = sorted(session.execute(statement).fetchall(), key=repr)
    ok("Custom Scan (Cpu" in str(session.execute("EXPLAIN " + statement).fetchall()), f"{name}: in the engine")
    n = failures = survived = first = 0
    wrong = []
    while True:
        try:
            if of_server:  # one that has not read any catalog yet allocates most
                session.close()
                session = connect()
            rows, state, left = attempt(session, statement, n, of_server)
            if rows is not None and sorted(rows, key=repr) != wanted:
                wrong.append(f"{n}: another answer, {len(rows)} rows")
            if state not in (None, "53200"):
                wrong.append(f"{n}: SQLSTATE {state}")
            if sorted(session.execute(statement).fetchall(), key=repr) != wanted:
                wrong.append(f"{n}: another answer in the next query of the session")
        except psycopg.OperationalError as error:
            wrong.append(f"{n}: the session died: {error}; {cluster.last_signals()}")
            break
        if n == 5 and not of_server:
            first = memory_of(session)
        failures += state is not None
        survived += state is None and left < 0
        if left >= 0 or len(wrong) > 5:
            break
        n += 1 if n < ALL_UNTIL else max(1, n // 12)
    ok(not wrong, f"{name}: {failures} failed allocations are errors 53200, {survived} made no difference", *wrong)
    ok(failures > 0, f"{name}: some failed")
    if not session.closed and first:
        grown = memory_of(session) - first
        ok(grown < MOST_GROWTH, f"{name}: {n} failures leave no memory behind", f"{grown} kB")


def limited():
    """Under a limit of the operating system the error names the settings to change, and the session goes on."""
    session = connect()
    statement = "SELECT id, n, t, count(*) FROM heap GROUP BY 1, 2, 3"
    wanted = len(session.execute(statement).fetchall())
    pid = session.info.backend_pid
    with open(f"/proc/{pid}/statm", encoding="ascii") as pages:
        size = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    failures = 0
    for room in range(0, 24 << 20, 1 << 20):
        cluster.as_user("prlimit", "--pid", pid, f"--as={size + room}:unlimited")
        try:
            equal(len(session.execute(statement).fetchall()), wanted, f"{room >> 20} MB more are enough")
            break
        except psycopg.errors.OutOfMemory as error:
            failures += "pg_strom.work_memory" in (error.diag.message_hint or "")
    ok(failures > 0, f"the error names the setting, {failures} times")
    cluster.as_user("prlimit", "--pid", pid, "--as=unlimited:unlimited")
    equal(len(session.execute(statement).fetchall()), wanted, "without the limit the session has its answer")


cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "failing_memory", os.environ["STROM_SERVER_USER"])
try:
    cluster.create()
    library = compiled()
    shutil.copy(ROOT / "test/data/queries/facts.arrow", cluster.folder)
    (cluster.folder / "facts.arrow").chmod(0o644)
    cluster.start({"LD_PRELOAD": str(library), "STROM_MORSEL_ROWS": "4096"})
    with psycopg.connect(cluster.conninfo("postgres"), autocommit=True) as setup:
        setup.execute(f"""
          CREATE EXTENSION pg_strom;
          CREATE FUNCTION fail_allocation(bigint, bool) RETURNS void STRICT LANGUAGE c AS '{library}';
          CREATE FUNCTION allocations_left() RETURNS bigint STRICT LANGUAGE c AS '{library}';
          IMPORT FOREIGN SCHEMA facts FROM SERVER arrow_fdw INTO public OPTIONS (file '{cluster.folder}/facts.arrow');
          CREATE TABLE heap (id int, k int, n int, t text);
          INSERT INTO heap SELECT i, i % 100, i % 1000, 'text ' || i FROM generate_series(1, 60000) i;
          CREATE INDEX ON heap USING brin (id) WITH (pages_per_range = 8);
          CREATE TABLE wide (id int, long text);
          INSERT INTO wide SELECT i, repeat('wide ', 1000 + i) FROM generate_series(1, 500) i;
          CREATE TABLE dim (id int, name text);
          INSERT INTO dim SELECT i, 'dim ' || i FROM generate_series(1, 90) i;
          ANALYZE""")
    for name, statement in QUERIES.items():
        through_all_failures(name, statement, False)
        through_all_failures(name, statement, True)
    limited()
    equal(cluster.last_signals(), [], "no process was killed by a signal")
finally:
    cluster.remove()
done()
