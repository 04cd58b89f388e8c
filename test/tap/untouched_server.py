#!/usr/bin/env python3
"""The first minute of a new user: a server with the settings that it comes with, on which nobody has run ANALYZE. The first
scan of a table fills the column cache, doctor() says how large the cache is and what it lacked."""

import os
import re
import sys

import psycopg

from server import TEST_DIR, done, equal, ok, wait_until, with_and_without_engine

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

# What test/diff/cluster.py changes, as the server comes with it; autovacuum would analyse the table when it likes.
STOCK = ("session_preload_libraries = ''", "shared_buffers = 128MB", "max_connections = 100", "autovacuum = off",
         "max_parallel_workers_per_gather = 2", "log_error_verbosity = default")
ROWS = 1_200_000  # 164 MB
GROUP = 256  # pages that are cached together or not at all
QUERY = "SELECT region, year, count(*), sum(price), max(day) FROM sale GROUP BY region, year ORDER BY region, year"


def connect(cluster):
    session = psycopg.connect(cluster.conninfo("postgres"), autocommit=True, prepare_threshold=None)
    session.execute("LOAD 'pg_strom'")
    return session


def pages(session, statement=QUERY):
    """Pages whose columns were cached, and pages that were read beside them."""
    plan = session.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}").fetchone()[0][0]["Plan"]
    while "Column Cache Pages Kept" not in plan and "Plans" in plan:
        plan = plan["Plans"][0]
    return plan.get("Column Cache Pages Kept", 0), plan.get("Column Cache Pages Read", 0)


def spare_pages(session):
    """The most pages that are not cached before VACUUM: from PostgreSQL 16 on, COPY leaves empty ones behind the last row,
    64 at most, which nobody has marked as all-visible."""
    return 2 * GROUP if session.info.server_version >= 160000 else 0


def finding(session):
    return session.execute("SELECT status, detail, fix FROM pgstrom.doctor() WHERE \"check\" = 'column cache'").fetchone()


def megabytes(text):
    number, unit = re.fullmatch(r"(\d+)(MB|GB)", text).groups()
    return int(number) * (1024 if unit == "GB" else 1)


def first_scan(session):
    # The texts make the rows long: an all-visible table that is larger than shared_buffers, without any statistics.
    session.execute("BEGIN")
    session.execute("CREATE TABLE sale (id int, region text, year int, day date, price numeric(12,2), remark text)")
    with session.cursor().copy("COPY sale FROM STDIN (FREEZE)") as copy:
        for begin in range(0, ROWS, 1000):
            copy.write("".join(f"{i}\tregion {i % 7}\t{2000 + i % 5}\t2020-01-{i % 28 + 1:02}\t{i % 9999}.25\t{'x' * 80}\n"
                               for i in range(begin, begin + 1000)))
    session.execute("COMMIT")
    size = session.execute("SELECT pg_table_size('sale') / 8192").fetchone()[0]
    ok(size > 128 * 128, "the table is larger than shared_buffers", size)
    kept, read = pages(session)
    equal(kept, 0, "the first scan reads it")
    kept, read = pages(session)
    ok(kept > 128 * 128 and read <= spare_pages(session), "and has kept its columns", kept, read)
    ours, theirs = with_and_without_engine(session, QUERY, lambda s, q: s.execute(q).fetchall())
    equal(ours, theirs, "the answer")
    status, detail, fix = finding(session)
    found = re.match(r"It may take (\d+[MG]B) of shared memory, by default an eighth of the (?:machine|cgroup)'s (\d+[MG]B), "
                     r"and has taken (\d+[MG]B)", detail)
    ok(found and status in ("ok", "warning"), "doctor() says the cache's size, why, and what it has taken", status, detail, fix)
    if found:
        limit, machine, taken = (megabytes(text) for text in found.groups())
        ok(limit <= max((machine + 1024) // 8, 64) and 0 < taken <= limit, "which is at most an eighth", detail)


def what_more_would_gain(session):
    for _ in range(2):  # with nothing in shared_buffers, PostgreSQL's plan may come first
        pages(session)
    kept, read = pages(session)
    ok(kept > 0 and read > 0, "a cache that is too small serves a part", kept, read)
    status, detail, fix = finding(session)
    if "/dev/shm" not in detail:
        ok(status == "note" and re.search(r"The last scans found no room for \d+[kM]B of columns\.$", detail) is not None,
           "doctor() says what is lacking", status, detail)
        equal(re.sub(r"\d+", "N", fix), "ALTER SYSTEM SET pg_strom.column_cache_memory = 'NMB'; SELECT pg_reload_conf();", "and its cure")
        for statement in fix.split(";"):
            if statement.strip():
                session.execute(statement)
        ok(wait_until(lambda: session.execute("SHOW pg_strom.column_cache_memory").fetchone() != ("16MB",)), "which is followed")


def main():
    cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "untouched_cluster", os.environ["STROM_SERVER_USER"], keeps_columns=True)
    try:
        cluster.create()
        cluster.configure(*STOCK)
        cluster.start({})
        with connect(cluster) as session:
            session.execute("SET client_min_messages = warning")
            session.execute("CREATE EXTENSION pg_strom")
            first_scan(session)
        cluster.stop("fast")
        cluster.configure("pg_strom.column_cache_memory = 16MB")
        cluster.start({})
        with connect(cluster) as session:
            what_more_would_gain(session)
            for _ in range(2):
                pages(session)
            kept, read = pages(session)
            ok(kept > 128 * 128 and read <= spare_pages(session), "the cure is all that it takes", kept, read, finding(session))
            session.execute("VACUUM sale")
            for _ in range(2):
                pages(session)
            kept, read = pages(session)
            ok(kept > 128 * 128 and read == 0, "no page is read beside the cache after VACUUM", kept, read)
    finally:
        cluster.remove()
    done()


main()
