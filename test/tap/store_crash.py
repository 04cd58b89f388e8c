#!/usr/bin/env python3
"""Store tables survive what ends a server: processes that are killed at random moments, and files that are damaged.

Writers change several rows to the same number in each transaction. After each crash all rows of a writer have one number:
the last one that was committed, or the next. STROM_STORE_ROUNDS crashes, 8 by default. A server of its own.
"""
import os
import pathlib
import random
import shutil
import signal
import struct
import sys
import threading
import time

import psycopg

from server import TEST_DIR, done, equal, ok, state_of, wait_until

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

ROUNDS = int(os.environ.get("STROM_STORE_ROUNDS", "8"))
SEED = int(os.environ.get("STROM_SEED", "1"))
WRITERS, ROWS = 4, 5
cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "store_crash", os.environ["STROM_SERVER_USER"])
FILES = cluster.folder / "files"


def connect():
    return psycopg.connect(cluster.conninfo("postgres"), autocommit=True, connect_timeout=10)


def query(statement):
    with connect() as session:
        return session.execute(statement).fetchall()


def query_all(statements):
    with connect() as session:
        session.execute(statements)


def make_table(name, columns, **options):
    options = {"max_num_rows": 10000, "primary_key": "id", "redo_log_limit": "16MB", **options}
    rest = "".join(f", {key} '{value}'" for key, value in options.items())
    with connect() as session:
        session.execute(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER gstore_fdw "
                        f"OPTIONS (base_file '{FILES}/{name}.base', redo_log_file '{FILES}/{name}.redo'{rest})")


class Writer(threading.Thread):
    """Until its session is lost. `done`: the last number that was committed; `begun`: the last that was begun."""

    def __init__(self, number, first):
        super().__init__()
        self.number, self.done, self.begun = number, first, first
        self._random = random.Random(f"{SEED}.{number}.{first}")
        self.start()

    def run(self):
        try:
            with connect() as session:
                while True:
                    self.begun = self.done + 1
                    self._change(session, self.begun)
                    self.done = self.begun
        except psycopg.Error:
            pass

    def _change(self, session, value):
        keys = [self.number * 100 + i for i in range(ROWS)]
        note = "x" * self._random.randint(0, 300)
        session.execute("BEGIN")
        for key in keys:
            way = self._random.random()
            if way < 0.6:
                session.execute("UPDATE rows SET n = %s, note = %s WHERE id = %s", (value, note, key))
            else:
                session.execute("DELETE FROM rows WHERE id = %s", (key,))
                session.execute("INSERT INTO rows VALUES (%s, %s, %s)", (key, value, note))
            if way > 0.9:
                session.execute("SAVEPOINT s")
                session.execute("UPDATE rows SET n = -1 WHERE id = ANY (%s)", (keys,))
                session.execute("ROLLBACK TO s")
        if self._random.random() < 0.1:
            session.execute("ROLLBACK")
            raise_if_closed(session)
            return self._change(session, value)
        session.execute("COMMIT")


def raise_if_closed(session):
    if session.closed:
        raise psycopg.OperationalError("closed")


def store_worker():
    found = query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_strom memory store'")
    return found[0][0] if found else None


def crash(way, numbers):
    """Ends the server's processes, and waits until it is back."""
    if way == "immediate stop":
        cluster.stop("immediate")
        return cluster.start({})
    if way == "fast stop":
        cluster.stop("fast")
        return cluster.start({})
    if way == "worker killed":
        victim = store_worker()
    else:
        victim = numbers.choice(query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"))[0]
    up = query("SELECT backend_start FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
    if victim is None:
        return None
    os.kill(victim, signal.SIGKILL)

    def is_back():
        try:
            return query("SELECT backend_start FROM pg_stat_activity WHERE backend_type = 'checkpointer'") not in (up, [])
        except psycopg.Error:
            return False

    if not wait_until(is_back):
        raise RuntimeError("the server does not come back")
    return None


def rounds():
    numbers = random.Random(SEED)
    make_table("rows", "id int, n bigint, note text", kv_access="true")
    with connect() as session:
        session.execute("INSERT INTO rows SELECT w * 100 + i, 0, 'first' FROM generate_series(0, %s) w, generate_series(0, %s) i",
                        (WRITERS - 1, ROWS - 1))
    last = [0] * WRITERS
    wrong = []
    for number in range(ROUNDS):
        writers = [Writer(i, last[i]) for i in range(WRITERS)]
        time.sleep(numbers.uniform(0.2, 1.5))
        way = numbers.choice(("backend killed", "backend killed", "worker killed", "immediate stop", "fast stop"))
        if numbers.random() < 0.3:
            with connect() as session:
                session.execute("SELECT pgstrom.store_checkpoint('rows')")
        crash(way, numbers)
        for writer in writers:
            writer.join()
        for i, writer in enumerate(writers):
            found = query(f"SELECT n, count(*) FROM rows WHERE id / 100 = {i} GROUP BY n")
            if len(found) != 1 or found[0][1] != ROWS or found[0][0] not in (writer.done, writer.begun):
                wrong.append((number, way, i, found, writer.done, writer.begun))
            else:
                last[i] = found[0][0]
        by_key = query(f"SELECT count(*) FROM generate_series(0, {WRITERS * 100 - 1}) k JOIN LATERAL (SELECT FROM rows WHERE id = k OFFSET 0) r ON true")
        if query("SELECT pgstrom.store_check('rows')") != [(WRITERS * ROWS,)]:
            wrong.append((number, way, "published rows"))
        if by_key != [(WRITERS * ROWS,)]:
            wrong.append((number, way, "by key", by_key))
    equal(wrong, [], f"rows after {ROUNDS} crashes")
    ok(sum(last) > ROUNDS, "there were transactions", last)


def large_transactions():
    """More than the log can hold: the rows go to the base file, and count only if they are committed."""
    make_table("large", "id int, n int, note text", max_num_rows=300000, durability="async", kv_access="true")
    with connect() as session:
        session.execute("INSERT INTO large SELECT i, 0, 'note number ' || i FROM generate_series(1, 200000) i")
        session.execute("UPDATE large SET n = 1")
        session.execute("BEGIN")
        session.execute("UPDATE large SET n = 2")
        session.execute("ROLLBACK")
        session.execute("DELETE FROM large WHERE id % 2 = 0")
        session.execute("SELECT pgstrom.store_checkpoint('large')")
    cluster.stop("immediate")
    cluster.start({})
    equal(query("SELECT count(*), sum(n), sum(id), max(note) FROM large"), [(100000, 100000, 10000000000, "note number 99999")],
          "large transactions after a crash")
    # The server's own log may lose the commit. The rows are in the base file by then, and count wholly or not at all.
    for n in range(100, 103):
        session = connect()
        session.execute("SET synchronous_commit = off")
        session.execute("UPDATE large SET n = %s", (n,))
        cluster.stop("immediate")
        cluster.start({})
        found = query("SELECT count(DISTINCT n), count(*), max(n) FROM large")
        ok(found[0][:2] == (1, 100000) and found[0][2] <= n, "a large transaction whose commit was not flushed", found)
    # Nor is there anything of one that did not commit.
    before = query("SELECT max(n) FROM large")
    session = connect()
    session.execute("BEGIN")
    session.execute("UPDATE large SET n = -1")
    cluster.stop("immediate")
    cluster.start({})
    equal(query("SELECT max(n) FROM large"), before, "a large transaction that did not commit")
    equal(query("SELECT pgstrom.store_check('large')"), [(100000,)], "the table is whole")


CRC_TABLE = []
for value in range(256):
    for _ in range(8):
        value = value >> 1 ^ (0xC96C5795D7870F42 if value & 1 else 0)
    CRC_TABLE.append(value)


def crc64(content):
    crc = (1 << 64) - 1
    for byte in content:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ (1 << 64) - 1


def records_of(name):
    """The place of each record in the redo log that the base file does not include: (offset, bytes, magic)."""
    log = (FILES / f"{name}.redo").read_bytes()
    position, = struct.unpack_from("<Q", (FILES / f"{name}.base").read_bytes(), 40)
    ring, = struct.unpack_from("<Q", log, 40)
    found = []
    while len(log) >= 4096 + position % ring + 40:
        at = 4096 + position % ring
        magic, size, own = struct.unpack_from("<4sIQ", log, at)
        if magic not in (b"REDO", b"PART") or own != position:
            break
        found.append((at, size, magic))
        position += size
    return found


def restart(files):
    """Ends the server as a crash does, and starts it with these files: (name, content)."""
    cluster.stop("immediate")
    for name, content in files:
        (FILES / name).write_bytes(content)
    cluster.start({})


def cut_transactions():
    """Without waiting for the device, the log may end within a transaction that has committed: all of it, or nothing."""
    make_table("cut", "id int, note text", max_num_rows=100000, durability="async")
    with connect() as session:
        session.execute("INSERT INTO cut SELECT i, repeat('x', 50) FROM generate_series(1, 20000) i")
        session.execute("INSERT INTO cut VALUES (0, 'another one')")
        session.execute("UPDATE cut SET note = 'new' WHERE id BETWEEN 1 AND 15000")
    ok(wait_until(lambda: [magic for _, _, magic in records_of("cut")].count(b"REDO") == 3), "the worker writes the log", records_of("cut"))
    cluster.stop("immediate")
    log, records = (FILES / "cut.redo").read_bytes(), records_of("cut")
    first = [magic for _, _, magic in records].index(b"REDO") + 1
    ok(first > 3 and len(records) > first + 2, "both large transactions have several records", records)
    wrong = []
    for kept in sorted({0, 1, first - 1, first, first + 1, len(records) - 1, len(records)}):
        content = bytearray(log)
        for at, size, _ in records[kept:]:
            content[at:at + size] = bytes(size)
        restart([("cut.redo", bytes(content))])
        wanted = (0, 0) if kept < first else (20000, 0) if kept == first else (20001, 0) if kept < len(records) else (20001, 15000)
        if query("SELECT count(*), count(*) FILTER (WHERE note = 'new') FROM cut") != [wanted]:
            wrong.append((kept, wanted, query("SELECT count(*), count(*) FILTER (WHERE note = 'new') FROM cut")))
    equal(wrong, [], "logs that end within transactions, and between them")

    def of_version(version):
        content = bytearray(log)
        struct.pack_into("<I", content, 8, version)
        struct.pack_into("<Q", content, 48, crc64(content[:48]))
        return content

    # In version 1 a record does not tell whether others follow.
    old = of_version(1)
    for at, size, _ in records:
        old[at:at + 4] = b"REDO"
        old[at + 32:at + 40] = bytes(8)
        struct.pack_into("<Q", old, at + 32, crc64(old[at:at + size]))
    restart([("cut.redo", bytes(old))])
    equal(query("SELECT count(*), count(*) FILTER (WHERE note = 'new') FROM cut"), [(20001, 15000)], "a log of version 1 is read")
    equal((FILES / "cut.redo").read_bytes()[8], 2, "and becomes one of version 2")
    restart([("cut.redo", bytes(of_version(3)))])
    equal(state_of(lambda: query("SELECT FROM cut")), "0A000", "a log of version 3 is refused")
    restart([("cut.redo", log)])
    equal(query("SELECT count(*), count(*) FILTER (WHERE note = 'new') FROM cut"), [(20001, 15000)], "the whole log")


def old_ids():
    """No transaction id stays in the files until the server has forgotten it."""
    make_table("aged", "id int, n int")
    with connect() as session:
        session.execute("INSERT INTO aged SELECT i, 0 FROM generate_series(1, 100) i")
        session.execute("UPDATE aged SET n = 1")
        session.execute("UPDATE large SET n = 1")
    ok(records_of("aged") != [], "there is redo")
    in_doubt = (FILES / "large.base").stat().st_ino
    equal(records_of("large"), [], "a large transaction has none, but its id is in the base file")
    cluster.stop("fast")
    ok((FILES / "large.base").stat().st_ino != in_doubt, "a server that stops writes another one")
    equal(records_of("aged"), [], "a server that stops leaves no redo")
    cluster.configure("autovacuum_freeze_max_age = 100000")
    cluster.start({})
    with connect() as session:
        session.execute("UPDATE aged SET n = 2")
        use_ids(session, 15000)
    cluster.stop("immediate")
    cluster.start({})
    with connect() as session:
        equal(session.execute("SELECT count(*), sum(n) FROM aged").fetchall(), [(100, 200)], "rows after a crash")
        time.sleep(2)
        ok(records_of("aged") != [], "a young log is left alone")
        # A quarter of the setting, counted from the ids in the log.
        use_ids(session, 11000)
    ok(wait_until(lambda: records_of("aged") == [], 30), "the worker writes the base file when the ids are old")
    equal(query("SELECT count(*), sum(n) FROM aged"), [(100, 200)], "the rows are there")
    cluster.configure("autovacuum_freeze_max_age = 200000000")


def use_ids(session, count):
    session.execute("SET synchronous_commit = off")
    session.execute(f"DO $$ BEGIN FOR i IN 1..{count} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")


def worker_checkpoints():
    """Sessions change the same rows again and again while the worker writes them to the base file."""
    make_table("busy", "id int, n int", max_num_rows=400000, durability="async", redo_log_limit="48MB")
    with connect() as session:
        session.execute("INSERT INTO busy SELECT i, 0 FROM generate_series(1, 300000) i")
        session.execute("SELECT pgstrom.store_checkpoint('busy')")
        session.execute("""CREATE PROCEDURE change(seconds float8) LANGUAGE plpgsql AS $$
                           DECLARE ends timestamptz := clock_timestamp() + seconds * interval '1 second'; BEGIN
                           WHILE clock_timestamp() < ends LOOP
                               UPDATE busy SET n = n + 1 WHERE id = ANY (ARRAY(SELECT DISTINCT 1 + (random() * 299999)::int FROM generate_series(1, 300)));
                               COMMIT;
                           END LOOP; END $$""")
    base = FILES / "busy.base"

    def change():
        with connect() as session:
            session.execute("SET synchronous_commit = off; SET deadlock_timeout = '20ms'")
            while len(files) < 4 and time.time() < ends:
                try:
                    session.execute("CALL change(1)")
                except psycopg.errors.DeadlockDetected:
                    pass

    files, ends = set(), time.time() + 120
    threads = [threading.Thread(target=change) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        files.add(base.stat().st_mtime_ns)
        time.sleep(0.05)
    ok(len(files) > 3, "there were checkpoints meanwhile", len(files))
    before = query("SELECT count(*), count(DISTINCT id), sum(n) FROM busy")
    equal(before[0][:2], (300000, 300000), "all rows are there")
    cluster.stop("fast")
    cluster.start({})
    equal(query("SELECT count(*), count(DISTINCT id), sum(n) FROM busy"), before, "the rows after checkpoints beside writers")
    equal(query("SELECT pgstrom.store_check('busy')"), [(300000,)], "the table is whole")
    query_all("DROP PROCEDURE change; DROP FOREIGN TABLE busy")


def damage():
    """Flipped bytes and files that are cut: an error that names the file, or the rows; never a crash or other rows."""
    make_table("d", "id int, n int, note text")
    with connect() as session:
        session.execute("INSERT INTO d SELECT i, i, 'note ' || i FROM generate_series(1, 1000) i")
        session.execute("SELECT pgstrom.store_checkpoint('d')")
        for i in range(20):
            session.execute("UPDATE d SET n = n + 1 WHERE id %% 20 = %s", (i,))
    wanted = query("SELECT md5(string_agg(d::text, ',' ORDER BY id)) FROM d")
    cluster.stop("immediate")
    numbers = random.Random(SEED)
    files = {name: (FILES / f"d.{name}").read_bytes() for name in ("base", "redo")}
    used = {"base": len(files["base"]), "redo": len(files["redo"].rstrip(b"\0"))}
    wrong, errors = [], 0
    for number in range(16):
        name = numbers.choice(("base", "redo"))
        bytes_ = bytearray(files[name])
        if numbers.random() < 0.3:
            at = numbers.randrange(used[name])
            del bytes_[at:]
        else:
            at = numbers.randrange(used[name])
            bytes_[at] ^= 1 << numbers.randrange(8)
        for other, content in files.items():
            (FILES / f"d.{other}").write_bytes(content)
        (FILES / f"d.{name}").write_bytes(bytes(bytes_))
        cluster.start({})
        try:
            with connect() as session:
                found = session.execute("SELECT md5(string_agg(d::text, ',' ORDER BY id)) FROM d").fetchall()
            # Without its last records the log is one that a crash has cut.
            if found != wanted and not (name == "redo" and is_cut(numbers)):
                wrong.append((number, name, at, found))
        except psycopg.Error as error:
            errors += 1
            if error.sqlstate not in ("XX001", "58P01", "0A000") or f"d.{name}" not in str(error) and "store table" not in str(error):
                wrong.append((number, name, at, error.sqlstate, str(error)))
        cluster.stop("fast")
    equal(wrong, [], "damaged files are noticed")
    ok(errors > 5, "most damages are errors", errors)
    for other, content in files.items():
        (FILES / f"d.{other}").write_bytes(content)
    cluster.start({})
    equal(query("SELECT md5(string_agg(d::text, ',' ORDER BY id)) FROM d"), wanted, "whole files again")


def is_cut(_):
    """Rows of some committed prefix of the log."""
    with connect() as session:
        counts = session.execute("SELECT id % 20, n - id, count(*) FROM d GROUP BY 1, 2 ORDER BY 1").fetchall()
    steps = [step for _, step, _ in counts]
    return [c for _, _, c in counts] == [50] * 20 and steps == sorted(steps, reverse=True) and set(steps) <= {0, 1}


def foreign_files():
    """Files that are missing, of another table, or newer than the cluster."""
    make_table("e", "id int, n int")
    make_table("f", "id int, n int")
    cluster.stop("fast")
    shutil.move(FILES / "e.base", FILES / "e.gone")
    cluster.start({})
    equal(state_of(lambda: query("SELECT * FROM e")), "58P01", "a missing base file")
    cluster.stop("fast")
    shutil.copy(FILES / "f.base", FILES / "e.base")
    shutil.chown(FILES / "e.base", cluster.user) if os.geteuid() == 0 else None
    cluster.start({})
    equal(state_of(lambda: query("SELECT * FROM e")), "XX001", "the base file of another table")
    cluster.stop("fast")
    shutil.move(FILES / "e.gone", FILES / "e.base")
    shutil.copy(FILES / "f.redo", FILES / "e.redo")
    cluster.start({})
    equal(state_of(lambda: query("SELECT * FROM e")), "XX001", "the log of another table")
    equal([path for path in memory_of_cluster() if path.suffix == ".new"], [], "nothing unfinished is left in memory")


def preloaded():
    """The worker that starts with the server answers other processes, settings, and what becomes of databases."""
    cluster.stop("fast")
    cluster.configure("shared_preload_libraries = 'pg_strom'")
    cluster.start({})
    ok(wait_until(lambda: store_worker() is not None), "the worker starts with the server")
    worker = store_worker()
    query_in("postgres", "CREATE DATABASE dropped")
    query_in("dropped", "CREATE EXTENSION pg_strom")
    query_in("dropped", f"CREATE FOREIGN TABLE g (id int, n int) SERVER gstore_fdw OPTIONS (base_file '{FILES}/g.base', "
                        f"redo_log_file '{FILES}/g.redo', max_num_rows '1000', primary_key 'id', durability 'async')")
    before = memory_of_cluster()
    query_in("dropped", "INSERT INTO g SELECT i, i FROM generate_series(1, 100) i")
    made = set(memory_of_cluster()) - set(before)
    equal(len(made), 1, "a table has its memory")
    # A process that does not answer barriers holds up DROP DATABASE for ever.
    query_in("postgres", "SET statement_timeout = '60s'; DROP DATABASE dropped")
    ok(wait_until(lambda: not made & set(memory_of_cluster()), 30), "the memory goes with the database")
    query_in("postgres", "ALTER SYSTEM SET log_min_messages = 'debug5'")
    query_in("postgres", "SELECT pg_reload_conf()")
    log = cluster.data / "server.log"
    ok(wait_until(lambda: "DEBUG" in log.read_text(errors="replace"), 30), "settings are read again")
    query_in("postgres", "ALTER SYSTEM RESET log_min_messages")
    query_in("postgres", "SELECT pg_reload_conf()")
    query_in("postgres", f"SELECT pg_terminate_backend({worker})")
    ok(wait_until(lambda: store_worker() not in (None, worker), 30), "the worker comes back when it has been ended")
    equal(query("SELECT count(*) > 0 FROM rows"), [(True,)], "tables are there with it")


def opened_after_crash():
    """Tables whose log names transactions are opened when the server is back, though nobody uses them. Others are not."""
    cluster.stop("fast")
    cluster.configure("autovacuum_freeze_max_age = 100000")
    cluster.start({})
    query_in("postgres", "CREATE DATABASE unused")
    with psycopg.connect(cluster.conninfo("unused"), autocommit=True) as session:
        session.execute("CREATE EXTENSION pg_strom")
        for name in ("left_alone", "folded"):
            session.execute(f"CREATE FOREIGN TABLE {name} (id int, n int) SERVER gstore_fdw OPTIONS (base_file '{FILES}/{name}.base', "
                            f"redo_log_file '{FILES}/{name}.redo', max_num_rows '1000', primary_key 'id')")
            session.execute(f"INSERT INTO {name} SELECT i, i FROM generate_series(1, 100) i")
        session.execute("SELECT pgstrom.store_checkpoint('folded')")
        oids = session.execute("SELECT 'left_alone'::regclass::oid, 'folded'::regclass::oid").fetchone()
    cluster.stop("immediate")
    cluster.start({})

    def is_open(oid):
        return any(path.name.endswith(f".{oid}") for path in memory_of_cluster())

    ok(wait_until(lambda: is_open(oids[0]), 30), "a table that has a log is opened after a crash")
    time.sleep(3)
    ok(not is_open(oids[1]), "one that has none is not")
    with connect() as session:
        use_ids(session, 26000)
    ok(wait_until(lambda: records_of("left_alone") == [], 30), "the log goes when its transactions are old")
    with psycopg.connect(cluster.conninfo("unused"), autocommit=True) as session:
        equal(session.execute("SELECT count(*), sum(n), pgstrom.store_check('left_alone') FROM left_alone").fetchall(), [(100, 5050, 100)], "the rows are there")
    query_in("postgres", "DROP DATABASE unused")


def ids_without_log():
    """A checkpoint while transactions run whose ids no log has: a crash gives these ids back."""
    make_table("counted", "id int, n int")
    running, session = connect(), connect()
    session.execute("INSERT INTO counted VALUES (1, 1)")
    running.execute("BEGIN")
    running.execute("SELECT pg_current_xact_id()")
    session.execute("SELECT pgstrom.store_checkpoint('counted')")
    cluster.stop("immediate")
    for each in (running, session):
        each.close()
    cluster.start({})
    equal(query("SELECT id, n FROM counted"), [(1, 1)], "a base file is not taken for a newer one after a crash")


def query_in(database, statements):
    with psycopg.connect(cluster.conninfo(database), autocommit=True, connect_timeout=10) as session:
        for statement in statements.split("; "):
            session.execute(statement)


def memory_of_cluster():
    if not cluster.data.exists():
        return []
    folder = cluster.data.stat()
    return list(pathlib.Path("/dev/shm").glob(f"pg_strom.*.{folder.st_dev:x}.{folder.st_ino:x}.*"))


def two_servers():
    """A second server, on a copy of the first one's data, is told that the files are in use."""
    make_table("shared_files", "id int, n int")
    make_table("of_primary", "id int, n int")
    query_all("INSERT INTO shared_files VALUES (1, 1)")
    cluster.stop("fast")
    copy = Cluster(cluster.bindir, cluster.folder / "copy", cluster.user)
    shutil.copytree(cluster.data, copy.data, copy_function=shutil.copy2)
    if os.geteuid() == 0:
        for path in (copy.socket, copy.folder, copy.data, *copy.data.rglob("*")):
            shutil.chown(path, cluster.user, cluster.user)
    copy.data.chmod(0o700)
    copy.configure(f"unix_socket_directories = '{copy.socket}'")
    cluster.start({})
    copy.start({})
    try:
        with connect() as one, psycopg.connect(copy.conninfo("postgres"), autocommit=True) as other:
            equal(one.execute("SELECT * FROM shared_files").fetchall(), [(1, 1)], "the first server reads its table")
            equal(state_of(lambda: other.execute("SELECT * FROM shared_files")), "55006", "the second one may not")
            one.execute("INSERT INTO shared_files VALUES (2, 2)")
        # Without sessions, the worker of the first server keeps the files.
        with psycopg.connect(copy.conninfo("postgres"), autocommit=True) as other:
            equal(state_of(lambda: other.execute("INSERT INTO shared_files VALUES (3, 3)")), "55006", "nor when nobody is connected to the first one")
        cluster.stop("fast")
        with psycopg.connect(copy.conninfo("postgres"), autocommit=True) as other:
            equal(state_of(lambda: other.execute("SELECT * FROM shared_files")), "XX001", "when the first one has stopped, the files are of a later time")
        # The second one drops its table, whose files are the first one's.
        cluster.start({})
        query("SELECT FROM shared_files")
        with psycopg.connect(copy.conninfo("postgres"), autocommit=True) as other:
            other.execute("DROP FOREIGN TABLE shared_files")
        copy.stop("fast")
        equal(query("SELECT count(*), pgstrom.store_check('shared_files') FROM shared_files"), [(2, 2)], "all rows are there")
        # The second one becomes a standby, which would not see what the first one writes.
        (copy.data / "standby.signal").touch()
        copy.start({})
        with psycopg.connect(copy.conninfo("postgres"), autocommit=True) as other:
            equal(other.execute("SELECT pg_is_in_recovery()").fetchone(), (True,), "a standby")
            for statement in ("SELECT * FROM of_primary", "SELECT * FROM of_primary WHERE id = 1", "SELECT pgstrom.store_check('of_primary')"):
                equal(state_of(lambda: other.execute(statement)), "0A000", f"may not: {statement}")
        query_all("INSERT INTO of_primary VALUES (1, 1)")
        equal(query("SELECT * FROM of_primary"), [(1, 1)], "the first server goes on")
    finally:
        copy.remove()


try:
    cluster.create()
    cluster.configure("fsync = on", "max_worker_processes = 8")
    cluster.start({})
    cluster.make_folder(FILES)
    with connect() as first:
        first.execute("CREATE EXTENSION pg_strom")
    ids_without_log()
    rounds()
    large_transactions()
    cut_transactions()
    old_ids()
    worker_checkpoints()
    damage()
    foreign_files()
    two_servers()
    preloaded()
    opened_after_crash()
    cluster.stop("fast")
    equal(memory_of_cluster(), [], "no memory is left when the server has stopped")
finally:
    cluster.stop()
    for path in memory_of_cluster():
        path.unlink()
    cluster.remove()
done()
