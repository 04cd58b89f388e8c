#!/usr/bin/env python3
"""Engine scans on a hot standby: the same answers as without the engine while the primary changes the tables, and conflicts
with recovery end as PostgreSQL's do. Servers of its own."""

import os
import subprocess
import sys
import time

import psycopg

from server import TEST_DIR, done, equal, ok

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

PORT = 55998
ROWS = 60000
QUERIES = [
    "SELECT k, count(*), sum(n), min(t) FROM fact GROUP BY k ORDER BY k",
    "SELECT count(*), sum(n) FROM fact WHERE id BETWEEN 20000 AND 21000",
    "SELECT d.name, count(*) FROM fact f JOIN dim d ON d.id = f.k WHERE f.n > 100 GROUP BY 1 ORDER BY 1",
    "SELECT id, t FROM fact WHERE n = 7 ORDER BY id, t",
    "SELECT count(*), sum(id) FROM fact TABLESAMPLE system (30) REPEATABLE (4)",
]
CURSOR = "SELECT f.id, f.n, d.name FROM fact f JOIN dim d ON d.id = f.k"
CHANGES = [
    "UPDATE fact SET n = n + 1 WHERE id % 5 = 0",
    "DELETE FROM fact WHERE id % 7 = 3",
    "INSERT INTO fact SELECT i, i % 50, i % 1000, 'more' FROM generate_series(20500, 22000) i",
    "VACUUM fact",
    "SELECT brin_summarize_new_values('fact_id_idx')",
    "TRUNCATE dim",
]


def session_at(conninfo):
    session = psycopg.connect(conninfo, autocommit=True)
    for name, value in {"cpu_setup_cost": "0", "cpu_tuple_cost": "0.000001", "cpu_threads": "2"}.items():
        session.execute(f"SET pg_strom.{name} = {value}")
    return session


def replayed(primary, standby):
    wanted = primary.execute("SELECT pg_current_wal_insert_lsn()").fetchone()[0]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if standby.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (wanted,)).fetchone()[0]:
            return True
        time.sleep(0.05)
    return False


def compare(standby, name):
    wrong = []
    for query in QUERIES:
        found = standby.execute(query).fetchall()
        standby.execute("SET pg_strom.enabled = off")
        if standby.execute(query).fetchall() != found:
            wrong.append(query)
        standby.execute("SET pg_strom.enabled = on")
    equal(wrong, [], f"answers on the standby: {name}")


def conflict(primary, standby, enabled, remainder):
    """A scan that is half read keeps the primary's VACUUM from being replayed, until it is cancelled. Whether with its
    session, depends on whether that is idle just then."""
    primary.execute("INSERT INTO dim SELECT i, 'dim ' || i FROM generate_series(0, 49) i ON CONFLICT DO NOTHING")
    ok(replayed(primary, standby), "replayed")
    standby.execute(f"SET pg_strom.enabled = {enabled}")
    standby.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    standby.execute(f"DECLARE c CURSOR FOR {CURSOR}")
    standby.execute("FETCH 100 FROM c")
    primary.execute(f"DELETE FROM fact WHERE id % 11 = {remainder}")
    primary.execute("VACUUM fact")
    cancelled = False
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            standby.execute("SELECT 1 FROM generate_series(1, 100)")
            time.sleep(0.1)
    except psycopg.Error as error:
        cancelled = standby.closed or error.sqlstate == "40001"
    ok(cancelled, f"pg_strom.enabled = {enabled}: a conflict with recovery ends the transaction")
    if standby.closed:
        standby = session_at(standby_conninfo)
    else:
        standby.execute("ROLLBACK")
    standby.execute("SET pg_strom.enabled = on")
    ok(replayed(primary, standby), f"pg_strom.enabled = {enabled}: replay goes on")
    compare(standby, "after a conflict")
    return standby


cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "heap_standby", os.environ["STROM_SERVER_USER"])
data = cluster.folder / "standby"
pg_ctl = (cluster.bindir / "pg_ctl", "-D", data, "-s", "-w", "-t", "60")
standby_conninfo = cluster.conninfo("postgres").replace("port=55999", f"port={PORT}")
started = False
try:
    cluster.create()
    cluster.start({})
    primary = session_at(cluster.conninfo("postgres"))
    primary.execute("CREATE EXTENSION pg_strom")
    primary.execute("CREATE TABLE fact (id int NOT NULL, k int, n int, t text)")
    primary.execute(f"INSERT INTO fact SELECT i, i % 50, i % 1000, 'text ' || i FROM generate_series(1, {ROWS}) i")
    primary.execute("CREATE INDEX ON fact USING brin (id) WITH (pages_per_range = 4)")
    primary.execute("CREATE TABLE dim (id int PRIMARY KEY, name text)")
    primary.execute("INSERT INTO dim SELECT i, 'dim ' || i FROM generate_series(0, 49) i")
    primary.execute("VACUUM ANALYZE fact, dim")
    cluster.as_user(cluster.bindir / "pg_basebackup", "-h", cluster.socket, "-p", "55999", "-U", "postgres", "-D", data, "-R",
                    "-c", "fast")
    with open(data / "postgresql.conf", "a", encoding="ascii") as conf:
        conf.write(f"port = {PORT}\nmax_standby_streaming_delay = 300ms\n")
    cluster.as_user(*pg_ctl, "-l", data / "server.log", "start", stdout=subprocess.DEVNULL)
    started = True
    standby = session_at(standby_conninfo)
    equal(standby.execute("SELECT pg_is_in_recovery()").fetchone(), (True,), "the standby is one")
    for query in QUERIES:
        ok("Custom Scan (Cpu" in str(standby.execute("EXPLAIN " + query).fetchall()), f"in the engine: {query}")
    compare(standby, "at first")
    for change in CHANGES:
        primary.execute(change)
        ok(replayed(primary, standby), "replayed")
        compare(standby, change)
    standby = conflict(primary, standby, "on", 1)
    standby = conflict(primary, standby, "off", 2)
    standby.close()
    primary.close()
    log = (data / "server.log").read_text(errors="replace")
    ok("PANIC" not in log and "terminated by signal" not in log, "no process of the standby was killed by a signal")
    equal(cluster.last_signals(), [], "none of the primary")
finally:
    if started:
        cluster.as_user(*pg_ctl, "-m", "immediate", "stop", stdout=subprocess.DEVNULL)
    cluster.remove()
done()
