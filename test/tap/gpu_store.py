#!/usr/bin/env python3
"""Columns of store tables that stay in the GPU's memory while sessions change rows: each query sees its own snapshot, what was
not written to is not copied again. Servers of its own, with the device of test/modules/host_device.cpp, where memory that was
released holds nonsense."""
import os
import random
import re
import threading
import time

import psycopg

import gpu_cached
from gpu_cached import SECONDS, agree, answer, both, crash_server, kill_services, pinned, share_little_memory, warm
from gpu_server import Cluster, device_session, plan_sums, readable_module
from server import TEST_DIR, done, equal, folder, ok, wait_until

ROWS, BALANCE = 200_000, 1000
module = readable_module("strom_host_device.so", copy="strom_host_device_store.so")

FIXED = (
    "SELECT count(*), sum(balance), min(place), max(place), sum(speed), count(speed), count(DISTINCT kind) FROM s",
    "SELECT kind, count(*), sum(balance), max(mark) FROM s WHERE place < 150000 GROUP BY kind ORDER BY kind",
    "SELECT id, balance, mark FROM s WHERE place % 5000 = 77 ORDER BY id",
    "SELECT k.name, sum(s.balance) FROM s JOIN k ON k.kind = s.kind GROUP BY 1 ORDER BY 1",
)
ALL = FIXED + (
    "SELECT kind, min(note COLLATE \"C\"), max(note COLLATE \"C\"), sum(price), count(price) FROM s GROUP BY kind ORDER BY kind",
    "SELECT id, note, price FROM s WHERE place % 9000 = 5 ORDER BY id",
)


def connect(device="gpu", **settings):
    # Prepared statements would keep the plans of other settings.
    return device_session(server, device, prepare_threshold=None, **settings)


def columns_of(session, statement):
    """Bytes of columns that were cached, and that were copied."""
    return plan_sums(session, statement, "GPU Columns Kept", "GPU Columns Copied")


def create(session, version):
    session.execute(f"""
        CREATE FOREIGN TABLE s (id int8, balance int4, place int4, speed float8, kind int2, mark pg_lsn, note text, price numeric(12,2))
          SERVER gstore_fdw OPTIONS (base_file '{files}/s{version}.base', redo_log_file '{files}/s{version}.redo', primary_key 'id',
                                     max_num_rows '300000', durability 'async', gpu_update_interval '86400')""")
    fill(session, version)


def fill(session, version):
    session.execute(f"""
        INSERT INTO s SELECT i, {BALANCE}, (i * 7 + {version}) % {ROWS}, CASE WHEN i % 5 > 0 THEN i % 1000 / 8.0 END, i % 6,
            ('0/' || to_hex(i))::pg_lsn, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'short' ELSE 'a note of more than sixteen bytes ' || i END,
            CASE WHEN i % 4 > 0 THEN i / 100.0 END FROM generate_series(0, {ROWS} - 1) i""")
    session.execute("ANALYZE s")


def make_tables(session):
    session.execute("CREATE TABLE k AS SELECT i::int2 AS kind, 'kind ' || i AS name FROM generate_series(0, 4) i; ANALYZE k")
    create(session, 0)


def in_transaction(session, statement):
    """The answers of the engine and of PostgreSQL, in a transaction that goes on."""
    answers = []
    for enabled in ("on", "off"):
        session.execute(f"SET LOCAL pg_strom.enabled = {enabled}")
        answers.append(answer(session, statement))
    return answers


def what_stays():
    session, other = connect(), connect()
    warm(session, ALL)
    agree(session, ALL, "answers from columns that are kept")
    kept, copied = columns_of(session, FIXED[0])
    ok(kept > ROWS * 20 and copied < kept / 20, "columns of fixed width stay", kept, copied)
    kept, copied = columns_of(other, FIXED[0])
    ok(kept > ROWS * 20 and copied < kept / 20, "and another session finds them", kept, copied)
    equal(columns_of(session, "SELECT sum(length(note)) FROM s")[0], 0, "texts do not")
    rows = session.execute("SELECT relation::text, file, columns, bytes > 4000000, pinned FROM pgstrom.gpu_cache_info WHERE kind = 'columns'").fetchall()
    equal(rows, [("s", None, 6, True, 0)], "pgstrom.gpu_cache_info")
    session.execute("SET pg_strom.enable_gpu_cache = off")
    agree(session, ALL, "the same answers without")
    session.close()
    other.close()


def changes():
    session, other = connect(), connect()
    # Those that write rows make new versions in free slots: only the blocks with these are copied again.
    looks = 0
    for change, keeps in (
            ("UPDATE s SET balance = balance + 5 WHERE id = 7", 0.96),
            ("UPDATE s SET place = place - 1, speed = NULL WHERE id % 50000 = 3", 0.96),
            ("DELETE FROM s WHERE id BETWEEN 1000 AND 1100", 0.96),
            ("BEGIN; UPDATE s SET balance = 0; {look}; ROLLBACK", 0),
            ("BEGIN; DELETE FROM s WHERE id < 90000; {look}; ROLLBACK", 0.96),
            ("INSERT INTO s (id, balance, place) VALUES (-1, 3, 77)", 0.5),
            ("BEGIN; INSERT INTO s (id, kind, place) SELECT -i, 3, i FROM generate_series(2, 400) i; SAVEPOINT a; "
             "UPDATE s SET kind = 4 WHERE id < 0; {look}; ROLLBACK TO a; {look}; COMMIT", 0),
            ("UPDATE s SET kind = kind + 1 WHERE id % 2 = 0", 0.2),
            ("DELETE FROM s WHERE id % 3 = 0", 0),
            ("INSERT INTO s SELECT id + 1, 9, 9, 9, 9, '9/9', 'nine', 9.99 FROM s WHERE id % 6 = 5", 0),
            ("SELECT pgstrom.store_compact('s')", 0),
            ("TRUNCATE s", 0),
            ("{fill 1}", 0),
            ("BEGIN; TRUNCATE s; {fill 2}; {look alone}; ROLLBACK", 0),
            ("DROP FOREIGN TABLE s; {create 3}", 0)):
        warm(session, FIXED[:2])
        whole = sum(columns_of(session, FIXED[0]))
        for part in change.split("; "):
            if part.startswith("{look"):
                warm(other, FIXED, 2)
                own = [(s, *found) for s in ALL if (found := in_transaction(other, s))[0] != found[1]]
                equal(own, [], "own changes of " + change[:60])
                if part == "{look}":  # TRUNCATE locks the table
                    agree(session, FIXED[:2], "which others do not see")
            elif part.startswith("{fill"):
                fill(other, int(part[6:-1]))
            elif part.startswith("{create"):
                create(other, int(part[8:-1]))
            else:
                other.execute(part)
        if keeps:
            kept, copied = columns_of(session, FIXED[0])
            ok(kept > whole * keeps, f"columns that are kept after {change[:60]}", kept, copied, whole)
            looks += 1
        agree(session, ALL, f"after {change[:60]}")
        agree(other, FIXED[:2], "in the session that did it")
    equal(looks, 6, "changes of some rows")
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    before = [answer(session, s) for s in ALL]
    for i in range(5):
        other.execute(f"UPDATE s SET balance = balance * 2, place = place + 1, note = 'x' WHERE id % 9 = {i}")
        warm(other, FIXED)
    equal([answer(session, s) for s in ALL], before, "an old snapshot sees what it saw")
    session.execute("COMMIT")
    agree(session, ALL, "and a new one what is there now")
    session.execute("TRUNCATE s")
    fill(session, 4)
    session.close()
    other.close()


def blocks():
    """What k changed rows cost: k blocks of each column, and no new place on the device."""
    session, other = connect(), connect("cpu", enabled="off")
    rng = random.Random(5)
    warm(session, FIXED[:1])
    where = session.execute("SELECT pieces, bytes FROM pgstrom.gpu_cache_info WHERE kind = 'columns'").fetchall()
    least = columns_of(session, FIXED[0])[1]
    block = 64 * (4 + 4 + 8 + 2 + 4) + 8 * 24  # of all columns, with flags
    for rows in (1, 3, 20, 100):
        for i in rng.sample(range(ROWS), rows):
            other.execute("UPDATE s SET balance = balance + 1, place = place - 1 WHERE id = %s", (i,))
        kept, copied = columns_of(session, FIXED[0])
        ok(least < copied <= least + rows * block, f"bytes that {rows} changed rows cost", copied - least, rows * block, kept)
        equal(columns_of(session, FIXED[0])[1], least, "and nothing without a change")
        agree(session, FIXED, f"after {rows} changes")
    # A snapshot that is older than what the copy has been brought to reads the same copy.
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    before = [answer(session, s) for s in FIXED]
    reader = connect()
    for i in range(20):
        other.execute("UPDATE s SET balance = balance + 1, speed = NULL WHERE id %% 1000 = %s", (i,))
        agree(reader, FIXED[:2], "the newest rows")
        if i % 5 == 0:
            equal([answer(session, s) for s in FIXED], before, "the old snapshot beside it")
            kept, copied = columns_of(session, FIXED[0])
            equal(copied, least, "without copies")
    session.execute("COMMIT")
    agree(session, ALL, "and afterwards")
    equal(session.execute("SELECT pieces, bytes FROM pgstrom.gpu_cache_info WHERE kind = 'columns'").fetchall(), where,
          "columns are brought up to date in their places")
    # A query that is cancelled at any moment leaves the copies right.
    cancelled = 0
    for i in range(30):
        other.execute("UPDATE s SET balance = balance + 1 WHERE id %% 50 = %s", (i,))
        session.execute(f"SET statement_timeout = {1 + i}")
        try:
            session.execute(FIXED[0])
        except psycopg.errors.QueryCanceled:
            cancelled += 1
        session.execute("RESET statement_timeout")
        if i % 5 == 4:
            agree(reader, FIXED[:2], "after queries that were cancelled")
    print(f"# {cancelled} of 30 queries were cancelled")
    for one in (session, other, reader):
        one.close()


def log_lines():
    """Items, bytes and positions of the log that each line tells of."""
    line = r"gstore_fdw: Log applied \(nitems=(\d+), length=(\d+), pos (\d+) => (\d+)\)"
    return [tuple(map(int, found)) for found in re.findall(line, (server.data / "server.log").read_text(errors="replace"))]


def renewals():
    """Changes come to the GPU while no query waits for them: after gpu_update_interval, or beyond gpu_update_threshold."""
    session, other = connect(), connect("cpu", enabled="off")
    warm(session, FIXED[:1])
    least = columns_of(session, FIXED[0])[1]

    def change(start, rows):
        other.execute("UPDATE s SET balance = balance + 1, place = place - 1 WHERE id BETWEEN %s AND %s", (start, start + rows - 1))

    change(100, 300)
    time.sleep(3)
    equal(log_lines(), [], "nothing comes before its time")
    ok(columns_of(session, FIXED[0])[1] > least + 10_000, "so a query brings it")
    session.execute("ALTER FOREIGN TABLE s OPTIONS (SET gpu_update_interval '1')")
    for i in range(5):
        before = len(log_lines())
        warm(session, FIXED[:1], 1)
        change(1000 * i, 500)
        appended = other.execute("SELECT redo_appended FROM pgstrom.store_info() WHERE relation = 's'::regclass").fetchone()[0]
        # Another round may have come while the change was being made.
        ok(wait_until(lambda: max((end for _, _, _, end in log_lines()[before:]), default=0) >= appended, 15), f"changes come after the interval: {i}", log_lines()[-2:], appended)
        items, lengths, _, _ = zip(*log_lines()[before:])
        ok(sum(items) >= 5 * 8 and sum(lengths) > 500 * 22, "as much as they are", items, lengths)
        equal(columns_of(session, FIXED[0])[1], least, "and the query brings nothing")
        agree(session, FIXED[:2], "its answers")
    positions = [(begin, end) for _, _, begin, end in log_lines()]
    equal([begin for begin, _ in positions[1:]], [end for _, end in positions[:-1]], "positions follow each other")
    # Nobody asks for the columns any more.
    time.sleep(10)
    before = len(log_lines())
    change(2000, 500)
    time.sleep(4)
    equal(len(log_lines()), before, "nothing comes when no query uses the columns")
    # 2 percent of 512 MB.
    session.execute("ALTER FOREIGN TABLE s OPTIONS (SET gpu_update_interval '3600', ADD gpu_update_threshold '2')")
    warm(session, FIXED[:1], 2)
    before = len(log_lines())
    change(5000, 200)
    time.sleep(3)
    equal(len(log_lines()), before, "little redo waits for the interval")
    for i in range(10):
        other.execute("UPDATE s SET balance = balance + 1 WHERE id %% 10 = %s", (i,))
    ok(wait_until(lambda: len(log_lines()) > before, 15), "much of it does not")
    agree(session, FIXED, "answers after it")
    # Somebody who has locked the table does not wait for this.
    session.execute("ALTER FOREIGN TABLE s OPTIONS (SET gpu_update_interval '1')")
    warm(session, FIXED[:1], 1)
    change(7000, 100)
    other.execute("BEGIN; ALTER FOREIGN TABLE s OPTIONS (SET gpu_update_interval '5')")
    time.sleep(3)
    processes = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pg_strom copies of store tables'"
    equal(other.execute(processes).fetchone()[0], 0, "and nobody waits for the lock")
    other.execute("ROLLBACK")
    agree(session, FIXED, "answers")
    session.execute("ALTER FOREIGN TABLE s OPTIONS (SET gpu_update_interval '86400', DROP gpu_update_threshold)")
    session.close()
    other.close()


def crowd():
    """Writers move amounts, replace pairs of rows, and take changes back: every snapshot has the same sums."""
    wrong, looks = [], [0, 0]
    end = time.monotonic() + SECONDS
    look = "SELECT count(*), sum(balance), sum(place), sum(place * 1.0 * kind) FROM s WHERE id >= 0"
    session = connect("cpu")
    session.execute("ALTER FOREIGN TABLE s OPTIONS (SET gpu_update_interval '1')")
    wanted = answer(session, look)

    def write(number):
        rng = random.Random(number)
        own = connect("cpu", enabled="off")
        while time.monotonic() < end:
            first, second = sorted(rng.sample(range(ROWS), 2))
            try:
                with own.transaction():
                    own.execute("UPDATE s SET balance = balance - 7 WHERE id = %s", (first,))
                    own.execute("UPDATE s SET balance = balance + 7 WHERE id = %s", (second,))
                    own.execute("INSERT INTO s (id, balance) VALUES (%s, 5)", (-number - 1,))
                    own.execute("DELETE FROM s WHERE id = %s", (-number - 1,))
                    if rng.random() < 0.3:
                        own.execute("UPDATE s SET balance = 0 WHERE id = %s", (first,))
                        raise psycopg.Rollback()
            except psycopg.errors.DeadlockDetected:
                pass
            time.sleep(rng.random() * 0.02)
        own.close()

    def read(number):
        own = connect()
        while time.monotonic() < end:
            found = answer(own, look)
            if found != wanted:
                wrong.append(found)
            kept, copied = columns_of(own, look)
            looks[0] += kept > 0
            looks[1] += copied > 0
        own.close()

    threads = [threading.Thread(target=write, args=(i,)) for i in range(3)] + [threading.Thread(target=read, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(wrong[:3], [], "sums of each snapshot while others write")
    ok(looks[0] > 5 and looks[1] > 5, "blocks without writes are kept, others are copied", looks)
    agree(connect(), ALL, "answers after it")
    session.execute("ALTER FOREIGN TABLE s OPTIONS (SET gpu_update_interval '86400')")
    session.close()


def deaths():
    watcher, session = connect("cpu"), connect()
    warm(session, FIXED, 3)
    kill_services(connect, module, watcher, {s: both(session, s)[1] for s in ALL[:2] + ALL[-1:]})
    session.close()
    session = connect()
    session.execute("UPDATE s SET balance = balance + 1 WHERE id < 100")
    session = crash_server(connect, module, session, watcher)
    warm(session, FIXED, 3)
    agree(session, ALL, "answers after the crash")
    ok(columns_of(session, FIXED[0])[0] > 0, "columns are kept again")
    ok(wait_until(lambda: pinned(session) == 0, 10), "nothing is held")
    session.close()


def little_memory():
    found, total = share_little_memory(connect, FIXED, 12, lambda session, statement: columns_of(session, statement)[0])
    print(f"# {found} bytes were found in the GPU's memory, {total} are there")


files = folder("gpu_store")
os.chmod(files, 0o777)
server = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "gpu_store_cluster", os.environ["STROM_SERVER_USER"], keeps_columns=True)
gpu_cached.run(server, connect, module, make_tables, (what_stays, changes, blocks, renewals, crowd, deaths), little_memory, "gpu_store.log")
done()
