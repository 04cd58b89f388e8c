#!/usr/bin/env python3
"""The engine's nodes when something goes wrong or is scarce: damaged and changing files, cancellation, many sessions."""
import os
import pathlib
import random
import re
import subprocess
import time

import psycopg
import pyarrow as pa

from server import (alive, done, engine_session, equal, folder, fresh_database, ok, psql, query, set_timeout, simultaneous_threads,
                    wait_until)

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
FILES = folder("engine_queries")
DB = fresh_database("strom_engine_queries")
ENGINE = "SET pg_strom.cpu_setup_cost = 0;\n"


def write(path, batches, rows):
    schema = pa.schema([("k", pa.int64()), ("v", pa.int64())])
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in range(batches):
            keys = range(batch * rows, (batch + 1) * rows)
            values = [pa.array(keys, pa.int64()), pa.array((k % 1000 for k in keys), pa.int64())]
            writer.write_batch(pa.record_batch(values, schema=schema))


def import_table(name, path):
    query(f"IMPORT FOREIGN SCHEMA {name} FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}')", DB)


# Flipped bits: whatever plain PostgreSQL answers or refuses, the engine does too.
rng = random.Random(7)
source = (DATA / "types.arrow").read_bytes()
flipped = FILES / "flipped.arrow"
flipped.write_bytes(source)
import_table("flipped", flipped)
columns = ["b", "i2", "i4", "i8", "f8", "d32", "ts_us", "s", "ls", "fb"]
statements = [f"SELECT {c} FROM flipped WHERE {c} IS NOT NULL ORDER BY 1" for c in columns]
statements.append("SELECT count(*), sum(i4), min(i8), max(f8) FROM flipped WHERE i2 IS NOT NULL")
equal(query(ENGINE + "EXPLAIN (COSTS OFF) " + statements[-1], DB).count("CpuPreAgg"), 1, "the engine reads the file")
differences = []
for i in range(120):
    damaged = bytearray(source)
    for _ in range(rng.randint(1, 3)):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    flipped.write_bytes(damaged)
    for statement in statements:
        both = [psql(f"{ENGINE}SET pg_strom.enabled = {enabled};\n{statement};", DB) for enabled in ("on", "off")]
        states = [err.split("ERROR:")[1].split(":")[0].strip() if "ERROR:" in err else "" for _, err in both]
        if states[0] != states[1] or (states[0] == "" and both[0][0] != both[1][0]):
            differences.append(f"variant {i}: {statement}: {both}")
ok(not differences, "flipped bits: the same rows or an error of the same kind", len(differences), *differences[:3])
alive("flipped bits")

# Files that change under a cursor.
BIG = FILES / "big.arrow"
write(BIG, 8, 250_000)
for name, change in (("cut short", lambda path: os.truncate(path, 4096)),
                     ("written to", lambda path: os.utime(path, (1, 1)))):
    path = FILES / "changing.arrow"
    path.write_bytes(BIG.read_bytes())
    query("DROP FOREIGN TABLE IF EXISTS changing", DB)
    import_table("changing", path)
    session = subprocess.Popen(["psql", "-XqAt", "-v", "VERBOSITY=verbose", "-d", DB], stdin=subprocess.PIPE, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    session.stdin.write(ENGINE + "BEGIN; DECLARE c CURSOR FOR SELECT k FROM changing WHERE v >= 0;\n"
                        "FETCH 10 FROM c; \\echo fetched\n")
    session.stdin.flush()
    for line in session.stdout:
        if line.strip() == "fetched":
            break
    change(path)
    _, err = session.communicate("MOVE ALL IN c;\n", timeout=60)
    ok("XX001" in err and "changing.arrow" in err, f"a file that is {name} while it is read: XX001", err)
    alive(f"a file {name}")

# Cancelled at any stage: soon, and without a thread left behind.
import_table("big", BIG)
query("CREATE TABLE some_keys AS SELECT g AS k FROM generate_series(1, 300000) g; ANALYZE some_keys", DB)
LONG = ("SELECT b.v, count(*), sum(a.k + b.k) FROM big a JOIN big b ON a.k = b.k JOIN some_keys s ON s.k = a.v + b.v "
        "GROUP BY b.v")
equal(query(f"{ENGINE}SET pg_strom.work_memory = '1GB'; EXPLAIN (COSTS OFF) {LONG}", DB).count("CpuPreAgg"), 1,
      "the query to cancel runs in the engine")
session = engine_session(DB, **{"pg_strom.work_memory": "1GB", "pg_strom.cpu_threads": "4"})
states, left = [], 0
for _ in range(25):
    set_timeout(session, rng.randint(1, 300))
    try:
        session.execute(LONG)
        states.append(None)
    except psycopg.Error as error:
        states.append(error.sqlstate)
    left += not wait_until(lambda: simultaneous_threads([session.info.backend_pid]) == 0, 5)
ok("57014" in states and set(states) <= {"57014", None}, "cancelled statements end with 57014", states)
equal(left, 0, "with no thread left")
set_timeout(session, 0)
equal(session.execute("SELECT count(*) FROM big").fetchone(), (2_000_000,), "and the session goes on")
session.close()

# Terminated in the middle.
victim = subprocess.Popen(["psql", "-XqAt", "-d", DB, "-c", f"{ENGINE}SET pg_strom.work_memory = '1GB'; {LONG}; {LONG}"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
RUNNING = "FROM pg_stat_activity WHERE query LIKE '%some_keys s%' AND pid <> pg_backend_pid()"
wait_until(lambda: query(f"SELECT count(*) {RUNNING}", DB) == "1")
time.sleep(0.2)
query(f"SELECT pg_terminate_backend(pid) {RUNNING}", DB)
victim.wait(timeout=120)
alive("a terminated session")

# Beside programs that want all processors, a query of one group has more threads, and sums the same bits.
ONE_GROUP = "SELECT sum(v / 7.0::float8), count(*) FROM big WHERE v < 900"


def threads_of(setting):
    with engine_session(DB, **{"pg_strom.cpu_threads": str(setting)}) as asking:
        text = "\n".join(line for line, in asking.execute(f"EXPLAIN (ANALYZE, COSTS OFF) {ONE_GROUP}").fetchall())
        return int(re.search(r"(\d+) threads?\)", text)[1]), asking.execute(ONE_GROUP).fetchone()


usual = min(os.cpu_count(), 16)
_, before = threads_of(0)
others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4 * os.cpu_count())]
try:
    time.sleep(0.5)
    threads, beside = threads_of(0)
    asked, _ = threads_of(2)
finally:
    for other in others:
        other.kill()
        other.wait()
ok(threads > usual or usual == 16, "beside busy programs a query of one group has more threads", threads)  # of 16 morsels
equal(beside, before, "and the same sum of floats")
equal(asked, 2, "but not more than pg_strom.cpu_threads says")

# Many sessions: all are answered, and the engine's threads stay within the limit.
SESSIONS, LIMIT = 80, 8
query(f"LOAD 'pg_strom'; ALTER SYSTEM SET pg_strom.max_engine_threads = {LIMIT}")
query("SELECT pg_reload_conf()")
while query("LOAD 'pg_strom'; SHOW pg_strom.max_engine_threads") != str(LIMIT):
    time.sleep(0.1)
query(f"LOAD 'pg_strom'; ALTER DATABASE {DB} SET pg_strom.cpu_threads = 4")
CROWD = "SELECT sum(a.k), count(*) FROM big a JOIN big b ON a.k = b.k WHERE a.v < 500"
wanted = query(CROWD, DB)
running = [subprocess.Popen(["psql", "-XqAt", "-d", DB], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True) for _ in range(SESSIONS)]
for session in running:
    session.stdin.write(ENGINE + f"{CROWD};\n" * 5)
    session.stdin.close()
most = 0
while any(session.poll() is None for session in running):
    pids = query(f"SELECT pid FROM pg_stat_activity WHERE datname = '{DB}'").split()
    for _ in range(20):
        most = max(most, simultaneous_threads(pids))
answers = [session.stdout.read().split() for session in running]
ok(all(answer == [wanted] * 5 for answer in answers), f"{SESSIONS} sessions at once are all answered",
   *[answer for answer in answers if answer != [wanted] * 5][:3])
ok(0 < most <= LIMIT, f"with at most {LIMIT} threads of the engine", most)
query("LOAD 'pg_strom'; ALTER SYSTEM RESET pg_strom.max_engine_threads")
query("SELECT pg_reload_conf()")
alive("many sessions")
query(f"DROP DATABASE {DB}")
done()
