#!/usr/bin/env python3
"""1 to 64 sessions of mixed queries over heap tables in a small buffer pool: answers are right, the throughput does not fall,
no session starves, memory and threads stay within their limits. A server of its own."""

import os
import random
import sys
import threading
import time

import psycopg

from server import TEST_DIR, done, equal, ok, simultaneous_threads

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

SESSIONS = (1, 8, 64)
SECONDS = 6
LEAST_SHARE = 0.5  # of one session's throughput; the machine may do other things besides
MOST_MEMORY = 48 << 20  # of one backend, its own
THREAD_LIMIT = 6  # of all sessions, besides their own
QUERIES = [
    "SELECT count(*), sum(n) FROM fact WHERE k < 50",
    "SELECT k % 10, count(*), sum(price), min(t) FROM fact GROUP BY 1 ORDER BY 1",
    "SELECT d.name, sum(f.price) FROM fact f JOIN dim d ON d.id = f.k WHERE f.n > 500 GROUP BY 1 ORDER BY 1",
    "SELECT count(*), max(t) FROM fact WHERE id BETWEEN 50000 AND 60000",
    "SELECT id, t FROM fact WHERE n = 77 AND k > 90 ORDER BY id",
    "SELECT a.name, count(*) FROM fact f JOIN dim d ON d.id = f.k LEFT JOIN dim a ON a.id = d.id + 50 GROUP BY 1 ORDER BY 1",
    "SELECT count(*), sum(id) FROM fact TABLESAMPLE system (20) REPEATABLE (3)",
]


def connect():
    session = psycopg.connect(cluster.conninfo("postgres"), autocommit=True)
    for name, value in {"cpu_setup_cost": "0", "cpu_tuple_cost": "0.000001", "cpu_threads": "2", "work_memory": "'1MB'"}.items():
        session.execute(f"SET pg_strom.{name} = {value}")
    return session


def own_memory(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) * 1024


def crowd(count, wanted):
    """Queries that `count` sessions answer in SECONDS, all together; (of each, errors, memory, threads)."""
    sessions = [connect() for _ in range(count)]
    answered, errors = [0] * count, []
    begin = time.monotonic()

    def work(number):
        rng = random.Random(number)
        while answered[number] == 0 or time.monotonic() < begin + SECONDS:
            query = rng.randrange(len(QUERIES))
            try:
                if sessions[number].execute(QUERIES[query]).fetchall() != wanted[query]:
                    errors.append(f"another answer: {QUERIES[query]}")
            except psycopg.Error as error:
                errors.append(f"{error.sqlstate}: {error}")
                return
            answered[number] += 1

    workers = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for worker in workers:
        worker.start()
    memory = threads = 0
    while any(worker.is_alive() for worker in workers):
        pids = [session.info.backend_pid for session in sessions]
        threads = max(threads, simultaneous_threads(pids))
        memory = max(memory, own_memory(random.choice(pids)))
        time.sleep(0.05)
    took = time.monotonic() - begin
    for session in sessions:
        session.close()
    return [n / took for n in answered], errors, memory, threads


cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "heap_crowd", os.environ["STROM_SERVER_USER"])
try:
    cluster.create()
    with open(cluster.data / "postgresql.conf", "a", encoding="ascii") as conf:
        conf.write(f"shared_buffers = 16MB\nmax_connections = 80\npg_strom.max_engine_threads = {THREAD_LIMIT}\n")
    cluster.start({})
    with psycopg.connect(cluster.conninfo("postgres"), autocommit=True) as setup:
        setup.execute("""
          CREATE EXTENSION pg_strom;
          CREATE TABLE fact (id int NOT NULL, k int, n int, price numeric(10,2), t text);
          INSERT INTO fact SELECT i, i % 100, i % 1000, i / 7.0, 'text ' || i FROM generate_series(1, 100000) i;
          UPDATE fact SET n = n WHERE id % 7 = 0;
          CREATE INDEX ON fact USING brin (id) WITH (pages_per_range = 8);
          CREATE TABLE dim (id int, name text);
          INSERT INTO dim SELECT i, 'dim ' || i FROM generate_series(0, 99) i;
          ANALYZE""")
        setup.execute("SET pg_strom.enabled = off")
        wanted = [setup.execute(query).fetchall() for query in QUERIES]
    session = connect()
    for query in QUERIES:
        plan = str(session.execute("EXPLAIN " + query).fetchall())
        ok("Custom Scan (Cpu" in plan, f"in the engine: {query}", plan)
    session.close()
    alone = None
    for count in SESSIONS:
        rates, errors, memory, threads = crowd(count, wanted)
        total = sum(rates)
        equal(errors[:3], [], f"{count} sessions: all answers are right")
        alone = alone or total
        ok(total > LEAST_SHARE * alone, f"{count} sessions: {total:.0f} queries a second; one session: {alone:.0f}")
        ok(min(rates) > 0.1 * total / count, f"{count} sessions: none starves", f"{min(rates):.2f} of {total:.2f} a second")
        ok(memory < MOST_MEMORY, f"{count} sessions: memory stays within limits", f"{memory >> 20} MB")
        ok(threads <= THREAD_LIMIT, f"{count} sessions: at most {THREAD_LIMIT} threads besides their own", threads)
    equal(cluster.last_signals(), [], "no process was killed by a signal")
finally:
    cluster.remove()
done()
