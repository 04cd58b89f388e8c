#!/usr/bin/env python3
"""The engine under stress: cancelled at every stage, crowded, with files that change or have bad text offsets.

Each query here is first shown to run in the engine. What plain scans do in such cases is in arrow_files.py, what the
nodes do with damaged files of all types in engine_queries.py.
"""

import os
import random
import threading
import time

import psycopg
import pyarrow as pa

from server import (alive, done, equal, folder, fresh_database, ok, query, set_timeout, simultaneous_threads, wait_for_query,
                    wait_until)

FILES = folder("stress")
DB = fresh_database("strom_stress")
SETTINGS = {
    "pg_strom.cpu_setup_cost": "0",
    "pg_strom.cpu_tuple_cost": "0.000001",
    "pg_strom.cpu_operator_cost": "0",
    "pg_strom.cpu_threads": "4",
    "pg_strom.work_memory": "1GB",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}
rng = random.Random(11)


def write(path, columns, batch_rows):
    """`columns`: {name: Arrow array}. Written under another name and renamed, as the manual asks for."""
    table = pa.table(columns)
    fresh = path.with_suffix(".new")
    with pa.OSFile(str(fresh), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch_rows)
    fresh.chmod(0o644)
    fresh.rename(path)


def import_table(name, path):
    query(f"IMPORT FOREIGN SCHEMA {name} FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}')", DB)


def connect(**settings):
    session = psycopg.connect(dbname=DB, autocommit=True)
    for name, value in {**SETTINGS, **settings}.items():
        session.execute(f"SET {name} = '{value}'")
    return session


def in_engine(statement, node):
    ok(node in str(session.execute("EXPLAIN (COSTS OFF) " + statement).fetchall()), f"{node} answers {statement[:70]}")


def state_of(run):
    """The SQLSTATE that `run` fails with, or None."""
    try:
        run()
        return None
    except psycopg.Error as error:
        return error.sqlstate


def own_memory(pid):
    """Bytes of memory of the process's own, without mapped files and shared memory."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


def settled(pid):
    """Threads of the backend besides its own, as soon as there are none, or a few seconds later."""
    wait_until(lambda: simultaneous_threads([pid]) == 0, 5)
    return simultaneous_threads([pid])


ROWS = 1_200_000
numbers = pa.array(range(ROWS), pa.int64())
write(
    FILES / "big.arrow",
    {
        "k": numbers,
        "v": pa.array([i * 7919 % 100_003 for i in range(ROWS)], pa.int64()),
        "t": pa.array([f"text {i % 5000}" for i in range(ROWS)]),
    },
    100_000,
)
import_table("big", FILES / "big.arrow")
query("CREATE TABLE heap AS SELECT g::int8 AS k, g % 10 AS d FROM generate_series(1, 200000) g; ANALYZE heap", DB)
session = connect()

# Cancelled at random moments of each stage. The stage that a statement is named after takes most of its time.
STAGES = {
    "planning": (
        "SELECT 1 FROM "
        + ", ".join(f"big b{i}" for i in range(11))
        + " WHERE "
        + " AND ".join(f"b0.k = b{i}.k" for i in range(1, 11))
        + " LIMIT 1",
        "CpuJoin",
    ),
    "rows of a heap table": (
        "SELECT sum(b.v) FROM big b JOIN (SELECT k + d * 0 AS k FROM heap, generate_series(1, 20) "
        "OFFSET 0) h ON b.k = h.k",
        "CpuPreAgg",
    ),
    "inner side": ("SELECT count(*) FROM big a JOIN big b ON a.v = b.k JOIN big c ON b.v = c.k", "CpuPreAgg"),
    "scan": (
        "SELECT k FROM big WHERE " + " OR ".join(f"t LIKE '%e%x%t%{i}x'" for i in range(40)),
        "CpuScan",
    ),
    "groups": ("SELECT k, v, t, count(*), sum(v) FROM big GROUP BY k, v, t ORDER BY k LIMIT 1", "CpuPreAgg"),
    "fan-out": ("SELECT count(*) FROM big a JOIN big b ON a.v % 1000 = b.v % 1000", "CpuPreAgg"),
    "result": ("SELECT k, v, t FROM big WHERE v >= 0", "CpuScan"),
}
session.execute("SET geqo = off")
session.execute("SET join_collapse_limit = 11")
session.execute("SET from_collapse_limit = 11")
pid = session.info.backend_pid
for stage, (statement, node) in STAGES.items():
    if stage != "planning":
        in_engine(statement, node)
    delays, threads, cancelled = [], [], 0
    for _ in range(30):
        stamp = []
        timer = threading.Timer(
            rng.choice([0.001, 0.01, 0.05, 0.1, 0.3]) * rng.random() * 2,
            lambda stamp=stamp: (stamp.append(time.monotonic()), session.cancel_safe()),
        )
        timer.start()
        state = state_of(lambda: session.execute(statement))
        ended = time.monotonic()
        timer.join()
        cancelled += state == "57014"
        if state not in (None, "57014"):
            threads.append(state)
        if stamp and state == "57014":
            delays.append(ended - stamp[0])
        threads.append(settled(pid))
    ok(cancelled >= 5, f"cancelled in {stage}: often enough", cancelled)
    # A machine that does much else may hold one of them up.
    delays.sort()
    ok(not delays or delays[-1] < 5 and delays[-2:][0] < 1, f"cancelled in {stage}: within a second", delays[-3:])
    ok(set(threads) == {0}, f"cancelled in {stage}: no thread left, no other error", threads)
    # A cancel request that came too late must not hit what follows.
    state_of(lambda: session.execute("SELECT pg_sleep(0.05)"))
    equal(session.execute("SELECT count(*) FROM big WHERE k >= 0").fetchone()[0], ROWS, f"cancelled in {stage}: usable")
alive("cancelled")

# The same by statement_timeout, two hundred times: the memory stays where it was.
memory = []
for round_number in range(5):
    for _ in range(40):
        statement = rng.choice([s for name, (s, _) in STAGES.items() if name not in ("planning", "result")])
        set_timeout(session, rng.randint(1, 40))
        state = state_of(lambda: session.execute(statement))
        if state not in (None, "57014"):
            ok(False, "only timeouts", state)
    set_timeout(session, 0)
    session.execute("SELECT count(*) FROM big WHERE k >= 0")
    memory.append(own_memory(pid))
ok(memory[-1] < memory[0] + 20_000_000, "200 timeouts: no memory is kept", memory)
equal(settled(pid), 0, "200 timeouts: no thread is left")

# And with queries that end well, among them re-scans.
RESCAN = (
    "SELECT sum(q.n), count(q.n) FROM generate_series(0, 299) g, "
    "LATERAL (SELECT count(*) AS n FROM many WHERE k % 300 = g OFFSET 0) q"
)
write(
    FILES / "many.arrow",
    {"k": pa.array(range(30_000), pa.int64()), "s": pa.array([str(i % 9) for i in range(30_000)])},
    3,
)
import_table("many", FILES / "many.arrow")
in_engine(RESCAN, "CpuPreAgg")
memory = []
for _ in range(3):
    equal(session.execute(RESCAN).fetchone(), (30_000, 300), "300 re-scans of 10 000 record batches")
    memory.append(own_memory(pid))
ok(memory[-1] < memory[0] + 10_000_000, "re-scans keep no memory", memory)
# Re-scans that end while threads are still starting.
EARLY = ("SELECT count(q.k) FROM generate_series(1, 20000) g, "
         "LATERAL (SELECT k FROM many WHERE k >= 0 LIMIT 1 OFFSET g % 3) q")
in_engine(EARLY, "CpuScan")
session.execute("SET pg_strom.cpu_threads = 16")
equal(session.execute(EARLY).fetchone(), (20_000,), "20 000 re-scans that end early")
equal(settled(pid), 0, "re-scans leave no thread")
session.execute("SET pg_strom.cpu_threads = 4")
JOIN = "SELECT m.s, count(*), sum(b.k) FROM many m JOIN big b ON m.k = b.k WHERE b.k < 20000 GROUP BY m.s ORDER BY m.s"
in_engine(JOIN, "CpuPreAgg")
found = session.execute(JOIN).fetchall()
session.execute("SET pg_strom.enabled = off")
equal(found, session.execute(JOIN).fetchall(), "10 000 record batches joined and grouped")
session.execute("SET pg_strom.enabled = on")

# LIMIT ends early: a thousandth of the file must not take a tenth of the time of all of it.
FULL = "SELECT count(*) FROM (SELECT k, v FROM big WHERE t LIKE '%1%' OFFSET 0) q"
FEW = "SELECT k, v FROM big WHERE t LIKE '%1%' LIMIT 5"
in_engine(FEW, "CpuScan")


def seconds(statement):
    taken = []
    for _ in range(5):
        begin = time.monotonic()
        session.execute(statement).fetchall()
        taken.append(time.monotonic() - begin)
    return min(taken)


ok(seconds(FEW) < seconds(FULL) / 2 + 0.005, "LIMIT ends a scan early", seconds(FEW), seconds(FULL))

# A backend that is terminated in the middle of a query.
for stage in ("inner side", "fan-out", "groups"):
    victim = connect()
    worker = threading.Thread(target=lambda: state_of(lambda: victim.execute(STAGES[stage][0])))
    worker.start()
    wait_for_query(victim.info.backend_pid)
    time.sleep(0.15)
    begin = time.monotonic()
    query(f"SELECT pg_terminate_backend({victim.info.backend_pid})")
    worker.join()
    wait_until(lambda: not os.path.exists(f"/proc/{victim.info.backend_pid}"), 10)
    ok(time.monotonic() - begin < 5, f"terminated in {stage}", time.monotonic() - begin)
alive("terminated")

# Files that change while the engine reads them: under a query, and under a cursor that is half read.
CHANGING = FILES / "changing.arrow"
COLUMNS = {"k": pa.array(range(600_000), pa.int64()), "s": pa.array([f"value {i % 1000}" for i in range(600_000)])}


def fresh_file():
    write(CHANGING, COLUMNS, 50_000)


def overwrite():
    with open(CHANGING, "r+b") as file:
        file.seek(100_000)
        file.write(b"\xff" * 100_000)


fresh_file()
import_table("changing", CHANGING)
TOTAL = (600_000, sum(range(600_000)))
SUM = "SELECT count(*), sum(k) FROM changing WHERE s LIKE '%'"
in_engine(SUM, "CpuPreAgg")
CHANGES = {
    "truncated": lambda: os.truncate(CHANGING, 100_000),
    "emptied": lambda: os.truncate(CHANGING, 0),
    "overwritten": overwrite,
    "unlinked": CHANGING.unlink,
    "replaced": lambda: write(CHANGING, {"k": pa.array([1], pa.int64()), "s": pa.array(["x"])}, 10),
}
for name, change in CHANGES.items():
    stays = name in ("unlinked", "replaced")
    fresh_file()
    with session.transaction():
        session.execute("DECLARE c CURSOR FOR SELECT k, s FROM changing WHERE s LIKE '%'")
        rows = session.execute("FETCH 1000 FROM c").fetchall()
        change()
        state = state_of(lambda: rows.extend(session.execute("FETCH ALL FROM c").fetchall()))
        raise psycopg.Rollback()
    if stays:
        ok(
            state is None and (len(rows), sum(r[0] for r in rows)) == TOTAL,
            f"a file that is {name} under a cursor",
            state,
        )
    else:
        equal(state, "XX001", f"a file that is {name} under a cursor")
    fresh_file()
    equal(session.execute(SUM).fetchone(), TOTAL, f"a file that was {name} and is there again")
    # Under a query in another thread; it may have ended before the change.
    answers, changed = [], []
    for delay in (0.0, 0.002, 0.005, 0.01, 0.02):
        fresh_file()
        worker = threading.Thread(
            target=lambda: answers.append(
                state_of(
                    lambda: answers.append(
                        session.execute(
                            SUM + " AND " + " AND ".join(f"s NOT LIKE '%x{i}%'" for i in range(5))
                        ).fetchone()
                    )
                )
            )
        )
        worker.start()
        time.sleep(delay)
        change()
        worker.join()
    # What had changed before the query began is what it reads.
    now = state_of(lambda: changed.append(session.execute(SUM).fetchone()))
    fits = [a in (None, TOTAL, "XX001", now, *changed) for a in answers]
    ok(all(fits), f"a file that is {name} under a query: the whole answer or an error", answers)
    alive(f"a file that is {name}")

# Text offsets that are wrong: an error with the file's name, or what plain PostgreSQL says.
TEXTS = [f"text number {i}" for i in range(3000)]
BAD = FILES / "bad.arrow"
STATEMENTS = [
    "SELECT count(*) FROM bad WHERE s LIKE '%9%'",
    "SELECT s, count(*) FROM bad GROUP BY s",
    "SELECT max(length(s)) FROM bad",
    "SELECT s FROM bad WHERE n > 2990",
    "SELECT count(*) FROM bad a JOIN bad b ON a.s = b.s",
]
plain = connect(**{"pg_strom.enabled": "off"})


def outcome(connection, statement):
    try:
        return sorted(connection.execute(statement).fetchall())
    except psycopg.Error as error:
        return error.sqlstate


for kind, width in ((pa.string(), 4), (pa.large_string(), 8), (pa.string_view(), 16)):
    write(BAD, {"n": pa.array(range(3000), pa.int64()), "s": pa.array(TEXTS).cast(kind)}, 3000)
    source = BAD.read_bytes()
    query("DROP FOREIGN TABLE IF EXISTS bad", DB)
    import_table("bad", BAD)
    for statement in STATEMENTS:
        in_engine(statement, "Cpu")
    batch = pa.ipc.open_file(str(BAD)).get_batch(0)
    offsets = batch.column(1).buffers()[1].to_pybytes()
    place = source.index(offsets[:400])
    right = {statement: outcome(plain, statement) for statement in STATEMENTS}
    different, noticed = [], 0
    for trial in range(40):
        damaged = bytearray(source)
        for _ in range(rng.choice([1, 1, 3])):
            damaged[place + rng.randrange(3000 * width)] ^= 1 << rng.randrange(8)
        BAD.write_bytes(damaged)
        for statement in STATEMENTS:
            pair = outcome(session, statement), outcome(plain, statement)
            noticed += "XX001" in pair
            # The engine does not look at texts that it does not need.
            if pair[0] not in (pair[1], "XX001", right[statement]):
                different.append((statement, trial, str(pair)[:200]))
    ok(not different, f"bad offsets of {kind}: as plain PostgreSQL", *different[:3])
    ok(noticed > 10, f"bad offsets of {kind}: noticed", noticed)
    alive(f"bad offsets of {kind}")

# Rights: reading needs SELECT on the table alone, naming a file more.
query(
    "DROP ROLE IF EXISTS strom_stress_reader; CREATE ROLE strom_stress_reader; "
    "GRANT USAGE ON FOREIGN SERVER arrow_fdw TO strom_stress_reader; "
    "GRANT CREATE ON SCHEMA public TO strom_stress_reader; GRANT SELECT ON big TO strom_stress_reader",
    DB,
)
session.execute("SET ROLE strom_stress_reader")
equal(session.execute("SELECT count(*) FROM big WHERE k >= 0").fetchone()[0], ROWS, "a role with SELECT reads the file")
equal(
    state_of(lambda: session.execute("SELECT count(*) FROM many WHERE k >= 0")), "42501", "but no table without SELECT"
)
equal(
    state_of(lambda: session.execute(f"CREATE FOREIGN TABLE mine (k int8) SERVER arrow_fdw OPTIONS (file '{BAD}')")),
    "42501",
    "and names no file",
)
session.execute("RESET ROLE")
query("DROP OWNED BY strom_stress_reader; DROP ROLE strom_stress_reader", DB)

# A hundred sessions with joins and groups. The cap is the default of max_engine_threads.
SESSIONS = 95
CROWD = (
    "SELECT h.d, count(*), sum(b.v), max(b.k) FROM big b JOIN heap h ON b.k = h.k JOIN many m ON m.k = h.k "
    "GROUP BY h.d ORDER BY h.d"
)
in_engine(CROWD, "CpuPreAgg")
wanted = session.execute(CROWD).fetchall()
# Long enough for its threads to be seen.
LONG = "SELECT k % 7, count(*), sum(v) FROM big WHERE t LIKE '%e%x%t%5%' GROUP BY 1 ORDER BY 1"
in_engine(LONG, "CpuPreAgg")
wanted_long = session.execute(LONG).fetchall()
session.close()
plain.close()
answers, most = [], 0


def one_of_many():
    try:
        with connect() as mine:
            for _ in range(2):
                answers.append((mine.execute(CROWD).fetchall(), mine.execute(LONG).fetchall()))
    except psycopg.Error as error:
        answers.append(str(error))


workers = [threading.Thread(target=one_of_many) for _ in range(SESSIONS)]
for worker in workers:
    worker.start()
cap = 4 * os.cpu_count()
while any(worker.is_alive() for worker in workers):
    most = max(most, simultaneous_threads(query(f"SELECT pid FROM pg_stat_activity WHERE datname = '{DB}'").split()))
    time.sleep(0.005)  # threads live for milliseconds
ok(
    answers == [(wanted, wanted_long)] * (2 * SESSIONS),
    f"{SESSIONS} sessions at once: joins and groups",
    *[answer for answer in answers if answer != (wanted, wanted_long)][:3],
)
ok(0 < most <= cap, f"with at most {cap} threads besides the backends' own", most)
alive("many sessions")
query(f"DROP DATABASE {DB}")
done()
