#!/usr/bin/env python3
"""Columns that stay in the GPU's memory between queries: answers from them while files and tables change, compared with
PostgreSQL's own; what is shown of them; sessions and services that die; too little memory. Servers of its own, with the
device of test/modules/host_device.cpp, where memory that was released holds nonsense."""

import os
import random
import threading
import time

import pyarrow as pa

import gpu_cached
from gpu_cached import (SECONDS, SETTLED, agree, answer, both, crash_server, kill_services, pinned, share_little_memory,
                      warm)
from gpu_server import Cluster, device_session, plan_sums, readable_module
from server import TEST_DIR, done, equal, folder, ok, wait_until

ROWS = 60_000
FILE_ROWS = 100_000
module = readable_module("strom_host_device.so", copy="strom_host_device_cache.so")

HEAP = (
    "SELECT count(*), sum(a), sum(b), min(n), max(n), count(s), min(d) FROM t",
    "SELECT g, count(*), sum(n), count(s), max(s) FROM t GROUP BY g ORDER BY g",
    "SELECT a, s, n FROM t WHERE s LIKE '%77' ORDER BY a, b",
    "SELECT s, count(*) FROM t WHERE a < 50 GROUP BY s ORDER BY s",
    "SELECT u.name, count(*), sum(t.b) FROM t JOIN u ON u.id = t.g WHERE t.a > 10 GROUP BY 1 ORDER BY 1",
    "SELECT sum(10000000 / (a - 77)) FROM t WHERE a <> 77",
)
FILES = (
    "SELECT count(*), sum(i), min(i), max(i), count(s), max(s), max(v) FROM f",
    "SELECT s, count(*), sum(i) FROM f GROUP BY s ORDER BY s",
    "SELECT v, d, count(*), sum(i) FROM f GROUP BY v, d ORDER BY v, d",
    "SELECT i, s, v, d FROM f WHERE i % 5000 < 3 ORDER BY i",
)


def connect(device="gpu", **settings):
    # Prepared statements would keep the plans of other settings.
    return device_session(server, device, prepare_threshold=None, **settings)


def columns_of(session, statement):
    """Bytes of columns that were cached, and that were copied."""
    return plan_sums(session, statement, "GPU Columns Kept", "GPU Columns Copied")


def file_table(version, rows=FILE_ROWS):
    return pa.table({"i": pa.array([(i * 7 + version) % rows for i in range(rows)], pa.int32()),
                     "s": pa.array([f"text {(i + version) % 37}" if i % 11 else None for i in range(rows)]),
                     "v": pa.array([f"a view of {(i + version) % 50} characters" for i in range(rows)], pa.string_view()),
                     "d": pa.array([f"word {(i * version) % 5}" for i in range(rows)]).dictionary_encode()})


def write_file(path, version, rows=FILE_ROWS):
    gpu_cached.write_file(path, file_table(version, rows), batch_rows=30_000)


def make_tables(session):
    session.execute(f"""
        CREATE TABLE t (a int NOT NULL, b int8, g int2, n numeric(12,2), s text, d date) WITH (autovacuum_enabled = off);
        INSERT INTO t SELECT i % 5000, i * 1000003::int8, i % 7, CASE WHEN i % 11 > 0 THEN (i % 90000) / 100.0 END,
            CASE WHEN i % 5 > 0 THEN 'text ' || i END, '2020-01-01'::date + i % 1000 FROM generate_series(1, {ROWS}) i;
        CREATE TABLE u AS SELECT i AS id, 'name ' || i AS name FROM generate_series(0, 5) i;
        CREATE FOREIGN TABLE f (i int, s text, v text, d text) SERVER arrow_fdw OPTIONS (file '{path}');
        CREATE FOREIGN TABLE w (i int, s text) SERVER arrow_fdw OPTIONS (file '{files}/written.arrow', writable 'true')""")
    for table in ("VACUUM (FREEZE, ANALYZE) t", "ANALYZE u"):
        session.execute(table)


def what_stays():
    session, other = connect(), connect()
    for statements, name, table in ((FILES, "file", "f"), (HEAP, "table", "t")):
        warm(session, statements)
        agree(session, statements, f"answers of a {name} whose columns are kept")
        kept, copied = columns_of(session, statements[0])
        ok(kept > 500_000 and copied < kept / 20, f"columns of a {name} stay", kept, copied)
        kept, copied = columns_of(other, statements[0])
        ok(kept > 500_000 and copied < kept / 20, f"and another session finds those of the {name}", kept, copied)
    session.execute("SET pg_strom.enable_gpu_cache = off")
    kept, copied = columns_of(session, FILES[0])
    ok(kept == 0 and copied > 500_000, "not with pg_strom.enable_gpu_cache = off", kept, copied)
    agree(session, FILES + HEAP, "the same answers without")
    rows = session.execute("SELECT relation::text, file, columns, pieces, bytes > 500000, uses > 10, pinned FROM pgstrom.gpu_cache_info "
                           "WHERE kind = 'columns' ORDER BY 1").fetchall()
    equal([(r, f, c, b, u, p) for r, f, c, _, b, u, p in rows], [("t", None, 6, True, True, 0), (None, str(path), 4, True, True, 0)],
          "pgstrom.gpu_cache_info")
    text = "\n".join(line for (line,) in other.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + FILES[0]).fetchall())
    ok("GPU Columns: [kept: " in text, "EXPLAIN tells of it", text)
    freed = session.execute("SELECT pgstrom.gpu_cache_reset()").fetchone()[0]
    ok(freed > 1_000_000, "pgstrom.gpu_cache_reset()", freed)
    equal(session.execute("SELECT count(*) FROM pgstrom.gpu_cache_info").fetchone()[0], 0, "forgets all")
    equal(columns_of(other, FILES[0])[0], 0, "so that they are copied again")
    session.execute("CREATE ROLE nobody; SET ROLE nobody")
    equal([answer(session, s) for s in ("SELECT * FROM pgstrom.gpu_cache_info", "SELECT pgstrom.gpu_cache_reset()")],
          ["42501", "42501"], "not everyone may see and forget them")
    session.execute("RESET ROLE; DROP ROLE nobody")
    session.close()
    other.close()


def changing_files():
    session, other = connect(), connect()
    warm(other, FILES)
    before = os.stat(path)

    def replace(version):
        write_file(files / "new.arrow", version)
        os.replace(files / "new.arrow", path)

    def rewrite(version):
        write_file(path, version)

    def rewrite_with_old_times(version):
        times = os.stat(path)
        write_file(path, version)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def cut_and_write(version):
        os.truncate(path, 0)
        write_file(path, version)

    def another_size(version):
        write_file(path, version, FILE_ROWS + version)

    version = 10
    for change in (replace, rewrite, rewrite_with_old_times, cut_and_write, another_size, replace):
        for pause in (SETTLED, 0, 0, 0, SETTLED):
            version += 1
            change(version)
            time.sleep(pause)
            agree(session, FILES[:3], f"after {change.__name__}, {pause} s later")
            agree(other, FILES[:1], f"after {change.__name__}, {pause} s later, in another session")
    ok(columns_of(session, FILES[0])[0] > 0, "columns are kept again")
    equal(os.stat(path).st_size > 0, before.st_size > 0, "a file is there")

    # A file that grows by INSERT, and does not.
    session.execute("INSERT INTO w SELECT i, 'first ' || i % 3 FROM generate_series(1, 50000) i")
    statements = ("SELECT count(*), sum(i), min(s), max(s) FROM w", "SELECT s, count(*), sum(i) FROM w GROUP BY s ORDER BY s")
    time.sleep(SETTLED)
    warm(session, statements)
    ok(columns_of(session, statements[0])[0] > 0, "columns of a writable table are kept")
    for end in ("ROLLBACK", "COMMIT", "ROLLBACK", "COMMIT"):
        session.execute("BEGIN")
        session.execute(f"INSERT INTO w SELECT i, '{end} ' || i % 3 FROM generate_series(1, 40000) i")
        time.sleep(SETTLED)
        own = [answer(session, s) for s in statements for _ in range(2)]
        session.execute("SET LOCAL pg_strom.enabled = off")
        equal(own, [answer(session, s) for s in statements for _ in range(2)], f"own rows before {end}")
        warm(other, statements, 2)
        session.execute(end)
        agree(session, statements, f"after {end}")
        time.sleep(SETTLED)
        warm(other, statements, 2)
        agree(other, statements, f"after {end}, in another session")
    session.close()
    other.close()


def changing_tables():
    session, other = connect(), connect()
    changes = (
        "UPDATE t SET b = b + 1 WHERE a = 5",
        "VACUUM t",
        "DELETE FROM t WHERE a BETWEEN 100 AND 110",
        "VACUUM (FREEZE) t",
        "INSERT INTO t (a, b) VALUES (1, 1)",
        "VACUUM t",
        "BEGIN; DELETE FROM t; ROLLBACK",
        "VACUUM t",
        "BEGIN; ALTER TABLE t ADD COLUMN late int DEFAULT 7; {late}; ROLLBACK; ALTER TABLE t ADD COLUMN late int DEFAULT 8",
        "ALTER TABLE t DROP COLUMN late",
        "BEGIN; ALTER TABLE t ADD COLUMN late numeric DEFAULT 7; {late}; ROLLBACK; ALTER TABLE t ADD COLUMN late numeric DEFAULT 9.5",
        "ALTER TABLE t DROP COLUMN late; ALTER TABLE t ADD COLUMN late text DEFAULT 'eleven'",
        "VACUUM FULL t",
        "VACUUM t",
        "ALTER TABLE t ALTER n TYPE numeric(14,3)",
        "VACUUM t",
        "BEGIN; TRUNCATE t; INSERT INTO t (a) VALUES (3); {late}; ROLLBACK",
        "DELETE FROM t WHERE ctid >= '(300,1)'",
        "VACUUM t",
        "INSERT INTO t (a, b, g, s) SELECT i, i, i % 7, 'again ' || i FROM generate_series(1, 20000) i",
        "VACUUM t",
        "CREATE TABLE t2 (LIKE t); INSERT INTO t2 SELECT * FROM t WHERE a % 2 = 0; VACUUM t2; DROP TABLE t; ALTER TABLE t2 RENAME TO t",
        "TRUNCATE t; INSERT INTO t (a, b, g, s) SELECT i, -i, i % 7, 'last ' || i FROM generate_series(1, 40000) i; VACUUM t",
    )
    late = "SELECT count(late), min(late), max(late) FROM t"
    looks = 0
    for change in changes:
        warm(session, HEAP[:2])
        looks += columns_of(session, HEAP[0])[0] > 0
        for part in change.split("; "):
            if part == "{late}":
                warm(other, (late, HEAP[0]), 5)
            else:
                other.execute(part)
        agree(session, HEAP, f"after {change}")
        agree(other, HEAP[:2], f"after {change}, in the session that did it")
        if "late" in change and "DROP" not in change:
            warm(session, (late,))
            agree(session, (late,), f"the new column after {change}")
    ok(looks > 10, "columns were kept between the changes", looks)
    # A snapshot that is older than the cached columns.
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    before = answer(session, HEAP[0])
    other.execute("UPDATE t SET b = b * 2 WHERE a % 9 = 1")
    other.execute("VACUUM t")
    warm(other, HEAP)
    equal(answer(session, HEAP[0]), before, "an old snapshot sees what it saw")
    session.execute("COMMIT")
    agree(session, HEAP, "and a new one what is there now")
    warm(session, HEAP)
    session.close()
    other.close()


def crowd():
    """Readers compare while writers change the table and the file."""
    differences, errors, looks = [], [], [0, 0]
    end = time.monotonic() + SECONDS

    def write():
        rng = random.Random(1)
        session = connect("cpu")
        version = 1000
        while time.monotonic() < end:
            statement = rng.choice(("UPDATE t SET b = b + 1 WHERE a % 1000 = {}", "DELETE FROM t WHERE a = {}", "VACUUM t",
                                    "VACUUM (FREEZE) t", "INSERT INTO t (a, b, g) SELECT {}, i, i % 7 FROM generate_series(1, 50) i"))
            session.execute(statement.format(rng.randrange(1000)))
            if rng.random() < 0.1:
                version += 1
                write_file(files / "new.arrow", version)
                os.replace(files / "new.arrow", path)
            time.sleep(rng.random() * 0.1)
        session.close()

    def read(number):
        rng = random.Random(100 + number)
        session = connect()
        while time.monotonic() < end:
            ours, theirs = both(session, statement := rng.choice(HEAP))
            if ours != theirs:
                differences.append((statement, ours, theirs))
            found = answer(session, "SELECT count(*), count(DISTINCT i), sum(i::int8) FROM f")
            if found != [(FILE_ROWS, FILE_ROWS, FILE_ROWS * (FILE_ROWS - 1) // 2)]:  # so it is in all versions
                differences.append(("file", found))
            for i, look in enumerate((HEAP[0], FILES[0])):
                looks[i] += columns_of(session, look)[0] > 0 if rng.random() < 0.2 else 0
        session.close()

    threads = [threading.Thread(target=write)] + [threading.Thread(target=read, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal((differences[:3], errors), ([], []), "answers while others write")
    print(f"# {looks} looks found columns in the GPU's memory")


def deaths():
    watcher = connect("cpu")
    session = connect()
    warm(session, HEAP + FILES, 3)
    long = "SELECT count(*) FROM t x JOIN t y ON x.g = y.g WHERE x.b + y.b = 12345"
    for _ in range(5):
        victim = connect()
        thread = threading.Thread(target=lambda v=victim: answer(v, long))
        thread.start()
        time.sleep(random.random() * 0.5)
        watcher.execute("SELECT pg_terminate_backend(%s)", (victim.info.backend_pid,))
        thread.join()
    ok(wait_until(lambda: pinned(watcher) == 0, 10), "sessions that end let their columns go")
    agree(session, HEAP + FILES, "answers after that")
    session.execute("BEGIN; DECLARE c CURSOR FOR SELECT i, s, v FROM f")
    session.execute("FETCH 10 FROM c")
    ok(wait_until(lambda: pinned(watcher) == 0, 10), "a cursor that waits holds none")
    watcher.execute("SELECT pgstrom.gpu_cache_reset()")
    rest = session.execute("FETCH ALL FROM c").fetchall()
    session.execute("COMMIT")
    equal(len(rest), session.execute("SELECT count(*) - 10 FROM f").fetchone()[0], "and goes on without")

    # The service, with columns, under load.
    warm(session, HEAP + FILES, 3)
    kill_services(connect, module, watcher, {s: both(session, s)[1] for s in HEAP[:2] + FILES[:2]})
    session.close()
    session = connect()
    agree(session, HEAP + FILES, "answers of the next service")
    warm(session, HEAP[:1] + FILES[:1], 3)
    ok(columns_of(session, FILES[0])[0] > 0, "which keeps columns again")

    session = crash_server(connect, module, session, watcher)
    warm(session, HEAP[:1] + FILES[:1], 4)
    agree(session, HEAP + FILES, "answers after the crash")
    session.close()


def little_memory():
    found, total = share_little_memory(connect, HEAP + FILES, 24, lambda session, statement: columns_of(session, statement)[0])
    print(f"# {found} bytes were found in the GPU's memory, {total} are there")


files = folder("gpu_cache")
os.chmod(files, 0o777)
path = files / "a.arrow"
write_file(path, 1)
server = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "gpu_cache_cluster", os.environ["STROM_SERVER_USER"], keeps_columns=True)
gpu_cached.run(server, connect, module, make_tables, (what_stays, changing_files, changing_tables, crowd, deaths), little_memory,
             "gpu_cache.log")
done()
