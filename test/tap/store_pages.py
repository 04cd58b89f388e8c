#!/usr/bin/env python3
"""Store tables whose rows take no memory for their versions: rows that everybody sees, after some rest. What happens to such
rows: they are changed, locked and read, by several sessions and beside whoever takes the memory away; there is none to be had.
A server of its own, whose device is full on demand (test/modules/full_device.c)."""
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

import psycopg

from server import TEST_DIR, done, equal, ok, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "test/diff"))

from cluster import Cluster  # noqa: E402

ROWS = 200_000
VERSIONS = 16 * ROWS  # bytes
SEED = int(os.environ.get("STROM_SEED", "1"))
SECONDS = float(os.environ.get("STROM_STORE_SECONDS", "8"))
cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "store_pages", os.environ["STROM_SERVER_USER"])
FILES, FULL = cluster.folder / "files", cluster.folder / "full"


def compiled():
    library = TEST_DIR / "full_device.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, ROOT / "test/modules/full_device.c", "-ldl"],
                   check=True)
    library.chmod(0o755)
    return library


def connect(level="READ COMMITTED"):
    session = psycopg.connect(cluster.conninfo("postgres"), autocommit=True, connect_timeout=30)
    session.execute(f"SET default_transaction_isolation = '{level}'")
    return session


def query(statement):
    with connect() as session:
        return session.execute(statement).fetchall()


def make_table(name, columns, rows, **options):
    options = {"max_num_rows": ROWS + ROWS // 10, "primary_key": "id", **options}
    rest = "".join(f", {key} '{value}'" for key, value in options.items() if value is not None)
    with connect() as session:
        session.execute(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER gstore_fdw "
                        f"OPTIONS (base_file '{FILES}/{name}.base', redo_log_file '{FILES}/{name}.redo'{rest})")
        session.execute(f"INSERT INTO {name} {rows}")


def memory(name):
    return query(f"SELECT memory_bytes FROM pgstrom.store_info() WHERE relation = '{name}'::regclass")[0][0]


def compact(name):
    """Until no more memory goes."""
    least = memory(name)
    for _ in range(100):
        query(f"SELECT pgstrom.store_compact('{name}')")
        now = memory(name)
        if now >= least:
            return least
        least = now
    return least


def state_of(call):
    try:
        call()
        return None
    except psycopg.Error as error:
        return error.sqlstate


def sums(name):
    return query(f"SELECT count(*), sum(n), count(DISTINCT id) FROM {name}")[0]


def rests(name, **options):
    """Memory goes, and nothing else does; and it comes back where it is needed."""
    make_table(name, "id int, n int", f"SELECT i, i FROM generate_series(1, {ROWS}) i", **options)
    before, wanted = memory(name), sums(name)
    after = compact(name)
    ok(before - after > 0.9 * VERSIONS, f"{name}: versions that everybody sees need no memory", before, after)
    equal(sums(name), wanted, f"{name}: the rows are as before")
    equal(query(f"SELECT pgstrom.store_check('{name}')"), [(ROWS,)], f"{name}: it is whole")
    old, session = connect("REPEATABLE READ"), connect()
    old.execute("BEGIN")
    equal(old.execute(f"SELECT n FROM {name} WHERE id = 4711").fetchone(), (4711,), f"{name}: a row")
    session.execute(f"UPDATE {name} SET n = 0 WHERE id IN (4711, 100000)")
    session.execute(f"DELETE FROM {name} WHERE id IN (4712, 150000)")
    ok(0 < memory(name) - after <= 32768, f"{name}: what is changed takes a few pages", memory(name) - after)
    compact(name)
    equal(old.execute(f"SELECT id, n FROM {name} WHERE id IN (4711, 4712, 100000, 150000) ORDER BY id").fetchall(),
          [(4711, 4711), (4712, 4712), (100000, 100000), (150000, 150000)], f"{name}: an older snapshot sees the old rows")
    equal(old.execute(f"SELECT count(*), sum(n) FROM {name}").fetchone(), wanted[:2], f"{name}: and the whole old table")
    equal(state_of(lambda: old.execute(f"UPDATE {name} SET n = 1 WHERE id = 4711")), "40001", f"{name}: but cannot change them")
    old.execute("ROLLBACK")
    wanted = (ROWS - 2, wanted[1] - 4711 - 100000 - 4712 - 150000, ROWS - 2)
    equal(sums(name), wanted, f"{name}: newer snapshots see the new ones")
    session.execute("BEGIN")
    session.execute(f"UPDATE {name} SET n = n + 1 WHERE id BETWEEN 1 AND 50000")
    session.execute("SAVEPOINT s")
    session.execute(f"DELETE FROM {name} WHERE id BETWEEN 20000 AND 60000")
    session.execute("ROLLBACK TO s")
    session.execute("ROLLBACK")
    equal(sums(name), wanted, f"{name}: rows whose changes were taken back")
    equal(query(f"SELECT pgstrom.store_check('{name}')"), [(ROWS - 2,)], f"{name}: whole after that")
    again = compact(name)
    ok(again - after <= 32768, f"{name}: memory goes again, with the slots of dead rows", again - after)
    session.execute(f"INSERT INTO {name} VALUES (4712, -1), (150000, -2)")
    equal(state_of(lambda: session.execute(f"INSERT INTO {name} VALUES (4713, 0)")), "23505", f"{name}: keys are looked at")
    equal(query(f"SELECT pgstrom.store_check('{name}')"), [(ROWS,)], f"{name}: free slots without memory are used again")
    for each in (old, session):
        each.close()


def row_locks():
    """Rows are locked while their versions have no memory, which comes for that and stays as long."""
    compact("plain")
    first, second = connect(), connect()
    second.execute("SET lock_timeout = '20s'")
    first.execute("BEGIN")
    first.execute("SELECT * FROM plain WHERE id = 77 FOR UPDATE")
    compact("plain")
    equal(state_of(lambda: second.execute("SELECT * FROM plain WHERE id = 77 FOR UPDATE NOWAIT")), "55P03", "a row is locked")
    equal(second.execute("SELECT id FROM plain WHERE id IN (77, 78) ORDER BY id FOR SHARE SKIP LOCKED").fetchall(), [(78,)],
          "others are not")
    found = []
    thread = threading.Thread(target=lambda: found.append(state_of(lambda: second.execute("UPDATE plain SET n = 5 WHERE id = 77"))))
    thread.start()
    time.sleep(0.3)
    equal(found, [], "a writer waits")
    first.execute("UPDATE plain SET n = 4 WHERE id = 77")
    first.execute("COMMIT")
    thread.join(60)
    equal((found, query("SELECT n FROM plain WHERE id = 77")), ([None], [(5,)]), "and comes after the owner of the lock")
    for each in (first, second):
        each.close()


def truncate():
    compact("plain")
    wanted = sums("plain")
    with connect() as session:
        session.execute("BEGIN")
        session.execute("TRUNCATE plain")
        equal(session.execute("SELECT count(*) FROM plain").fetchone(), (0,), "TRUNCATE")
        session.execute("ROLLBACK")
        equal(sums("plain"), wanted, "TRUNCATE, taken back")
        compact("plain")
        session.execute("TRUNCATE plain")
        session.execute("INSERT INTO plain SELECT i, 1 FROM generate_series(1, 1000) i")
        compact("plain")
        equal(sums("plain"), (1000, 1000, 1000), "TRUNCATE, and new rows")
        session.execute(f"INSERT INTO plain SELECT i, 1 FROM generate_series(1001, {ROWS}) i")


def full_device():
    """Memory that cannot be had is an error before anything has changed."""
    compact("plain")
    wanted = sums("plain")
    with connect() as session:
        session.execute("DELETE FROM plain WHERE id = 5")
        session.execute("INSERT INTO plain VALUES (5, 1)")
        compact("plain")
        FULL.touch()
        changes = ("UPDATE plain SET n = 9 WHERE id = 100", "DELETE FROM plain WHERE id = 100",
                   "SELECT * FROM plain WHERE id = 100 FOR UPDATE", "SELECT * FROM plain WHERE id = 100 FOR SHARE",
                   f"INSERT INTO plain VALUES ({ROWS + 1}, 1)", "TRUNCATE plain",
                   f"SELECT pgstrom.store_upsert('plain', ({ROWS + 2}, 1)::plain)", "UPDATE plain SET n = n + 1")
        for statement in changes:
            equal(state_of(lambda: session.execute(statement)), "53200", f"no memory: {statement}")
            equal(sums("plain"), wanted, "the rows are as before")
        session.execute("BEGIN")
        session.execute("SAVEPOINT s")
        equal(state_of(lambda: session.execute("UPDATE plain SET n = 9 WHERE id BETWEEN 100 AND 110")), "53200", "in a subtransaction")
        session.execute("ROLLBACK TO s")
        equal(session.execute("SELECT n FROM plain WHERE id = 105").fetchone(), (1,), "which goes on")
        FULL.unlink()
        session.execute("UPDATE plain SET n = 2 WHERE id BETWEEN 100 AND 110")
        session.execute("COMMIT")
        session.execute("UPDATE plain SET n = 1 WHERE id BETWEEN 100 AND 110")
    equal(sums("plain"), wanted, "with memory again, the same statements go through")
    equal(query("SELECT pgstrom.store_check('plain')"), [(ROWS,)], "the table is whole")


def lost_region():
    """A region that could not be made anew, since there was no memory, is made later."""
    attach = "SELECT count(*) FROM pgstrom.kv_attach('published')"
    equal(state_of(lambda: query(attach)), None, "there is a region")
    FULL.touch()
    equal(state_of(lambda: query("SELECT pgstrom.kv_rotate('published')")), "53200", "no memory for the next one")
    equal(state_of(lambda: query(attach)), "55000", "so there is none")
    log = cluster.data / "server.log"
    ok(wait_until(lambda: "could not make the published region again of" in log.read_text(errors="replace"), 60), "an attempt that fails")
    equal(state_of(lambda: query(attach)), "55000", "there still is none")
    with connect() as session:
        # Another session could make the region by the options that the table had before.
        session.execute("BEGIN")
        session.execute("ALTER FOREIGN TABLE published OPTIONS (SET kv_access 'false')")
        equal(state_of(lambda: session.execute("PREPARE TRANSACTION 'lost'")), "0A000", "PREPARE after ALTER of a table whose region is lost")
        session.execute("ROLLBACK")
    FULL.unlink()
    with connect() as session:
        session.execute("UPDATE published SET n = n WHERE id < 100")
    ok(wait_until(lambda: state_of(lambda: query(attach)) is None, 60), "it comes back by itself")
    equal(query("SELECT pgstrom.store_check('published')"), [(ROWS,)], "with all rows")
    # An option that is taken back takes the region with it.
    with connect() as session:
        session.execute("BEGIN")
        session.execute("ALTER FOREIGN TABLE published OPTIONS (SET kv_access 'false')")
        session.execute("ROLLBACK")
    ok(wait_until(lambda: state_of(lambda: query(attach)) is None, 60), "after ROLLBACK it comes back, too")


class Crowd:
    """Transfers between rows, whose sum stays; readers that look at it; and whoever takes memory away all the time."""

    def __init__(self, name, key):
        self.name, self.key, self.errors, self.seen = name, key, [], 0
        self.ends = time.time() + SECONDS

    def transfer(self, seed):
        numbers = random.Random(f"{SEED}.{seed}")
        with connect() as session:
            session.execute("SET synchronous_commit = off; SET deadlock_timeout = '20ms'")
            while time.time() < self.ends:
                try:
                    self._transfer(session, numbers)
                except psycopg.errors.DeadlockDetected:
                    session.execute("ROLLBACK")

    def _transfer(self, session, numbers):
        # Few rows of all, so that pages come to rest.
        one, other = (numbers.randint(0, 39) * 5000 + numbers.randint(1, 4) for _ in range(2))
        session.execute("BEGIN")
        if numbers.random() < 0.3:
            session.execute(f"SELECT FROM {self.name} WHERE {self.key} = %s FOR UPDATE", (one,))
        session.execute(f"UPDATE {self.name} SET n = n - 1 WHERE {self.key} = %s", (one,))
        if numbers.random() < 0.3:
            session.execute("SAVEPOINT s")
            session.execute(f"UPDATE {self.name} SET n = 0 WHERE {self.key} = %s", (other,))
            session.execute("ROLLBACK TO s")
        session.execute(f"UPDATE {self.name} SET n = n + 1 WHERE {self.key} = %s", (other,))
        session.execute("COMMIT" if numbers.random() < 0.8 else "ROLLBACK")

    def read(self, uses_engine):
        with connect("REPEATABLE READ") as session:
            session.execute(f"SET pg_strom.enabled = {uses_engine}")
            while time.time() < self.ends:
                found = session.execute(f"SELECT count(*), sum(n) FROM {self.name}").fetchone()
                self.seen += 1
                if found != self.wanted:
                    self.errors.append(found)

    def take_away(self):
        with connect() as session:
            while time.time() < self.ends:
                session.execute(f"SELECT pgstrom.store_compact('{self.name}')")

    def run(self):
        self.wanted = query(f"SELECT count(*), sum(n) FROM {self.name}")[0]
        calls = [lambda: self.transfer(1), lambda: self.transfer(2), lambda: self.transfer(3), lambda: self.read("on"),
                 lambda: self.read("off"), self.take_away]
        threads = [threading.Thread(target=self._guarded, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(self.errors[:3], [], f"{self.name}: {self.seen} snapshots beside writers have the same sum")
        equal(query(f"SELECT count(*), sum(n) FROM {self.name}")[0], self.wanted, f"{self.name}: the sum after all")
        equal(query(f"SELECT pgstrom.store_check('{self.name}')"), [(self.wanted[0],)], f"{self.name}: whole after all")

    def _guarded(self, call):
        try:
            call()
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(repr(error))


def worker_alone():
    """The worker takes memory away from tables at rest, and a server that starts makes none."""
    with connect() as session:
        session.execute("UPDATE plain SET n = n + 1")
    most = memory("plain")
    ok(wait_until(lambda: most - memory("plain") > 0.8 * VERSIONS, 60), "memory goes when a table is at rest", most, memory("plain"))
    wanted = sums("plain")
    cluster.stop("immediate")
    cluster.start(ENVIRONMENT)
    equal(sums("plain"), wanted, "the rows after a crash")
    ok(most - memory("plain") > 0.8 * VERSIONS, "loading them makes no memory for versions", most, memory("plain"))
    equal(query("SELECT pgstrom.store_check('plain')"), [(wanted[0],)], "it is whole")
    with connect() as session:
        session.execute("UPDATE plain SET n = n - 1 WHERE id % 2 = 0")
        session.execute("DELETE FROM plain WHERE id % 10 = 1")
    wanted = sums("plain")
    cluster.stop("immediate")
    cluster.start(ENVIRONMENT)
    equal(sums("plain"), wanted, "what was changed since, after a crash")
    with connect() as session:
        session.execute(f"INSERT INTO plain SELECT i, 0 FROM generate_series(1, {ROWS}) i WHERE i % 10 = 1")
    equal(query("SELECT count(*), pgstrom.store_check('plain') FROM plain"), [(ROWS, ROWS)], "free slots are used after a crash")


try:
    cluster.create()
    ENVIRONMENT = {"LD_PRELOAD": str(compiled()), "STROM_FULL": str(FULL)}
    cluster.configure("max_worker_processes = 8")
    cluster.start(ENVIRONMENT)
    cluster.make_folder(FILES)
    cluster.folder.chmod(0o755)
    with connect() as begin:
        begin.execute("CREATE EXTENSION pg_strom")
    rests("plain")
    rests("published", kv_access="true", durability="async")
    row_locks()
    truncate()
    full_device()
    lost_region()
    Crowd("plain", "id").run()
    Crowd("published", "id").run()
    make_table("keyless", "id int, n int", f"SELECT i, i FROM generate_series(1, {ROWS}) i", primary_key=None)
    Crowd("keyless", "id").run()
    worker_alone()
    equal(cluster.last_signals(), [], "no process was killed by a signal")
finally:
    cluster.stop()
    cluster.remove()
done()
