#!/usr/bin/env python3
"""pgstrom.store_check() beside writers: it finds nothing wrong where nothing is, and keeps no commit waiting for long."""
import mmap
import pathlib
import struct
import threading
import time

from server import alive, done, equal, ok, query, state_of
from store_tables import StoreTables

TABLES = StoreTables("store_checks")
DB = TABLES.database


class Writer(threading.Thread):
    """Commits one statement after another, and notes how long the longest took."""

    def __init__(self, statement):
        super().__init__()
        self.statement, self.commits, self.longest, self.stop, self.error = statement, 0, 0.0, threading.Event(), None
        self.start()

    def run(self):
        try:
            with TABLES.connect() as session:
                while not self.stop.is_set():
                    begin = time.monotonic()
                    session.execute(self.statement)
                    self.longest = max(self.longest, time.monotonic() - begin)
                    self.commits += 1
        except Exception as error:
            self.error = error

    def end(self):
        self.stop.set()
        self.join()
        return self.error


def commits_go_on():
    """A check of a large region lets commits through."""
    rows = 400_000
    TABLES.make("large", "id int, note text", max_num_rows=2 * rows, kv_access="true", durability="async")
    query(f"INSERT INTO large SELECT i, repeat('x', 150) FROM generate_series(1, {rows}) i", DB)
    with TABLES.connect() as session:
        session.execute("SELECT pgstrom.store_check('large')")
        writer = Writer("UPDATE large SET note = note || 'y' WHERE id = 4711")
        time.sleep(0.2)
        writer.longest, before, begin = 0.0, writer.commits, time.monotonic()
        found = session.execute("SELECT pgstrom.store_check('large')").fetchone()[0]
        took, longest, commits = time.monotonic() - begin, writer.longest, writer.commits - before
        equal(writer.end(), None, "a writer beside the check")
    equal(found, rows, "the check counts the rows")
    ok(longest < took / 5, "no commit waits for the whole check", f"longest {longest:.3f} s, check {took:.3f} s, {commits} commits")
    print(f"# longest commit {longest:.3f} s, check {took:.3f} s, {commits} commits")


def keys_that_come_and_go():
    """Rows come and go, and entries move to other buckets, while their region is looked at."""
    rows = 20_000
    TABLES.make("moving", "id int, note text", max_num_rows=2 * rows, kv_access="true", durability="async")
    query(f"INSERT INTO moving SELECT i, repeat('x', i % 50) FROM generate_series(1, {rows}) i", DB)
    changes = [Writer(f"""DO $$ DECLARE n int := (random() * {rows})::int; BEGIN
                              DELETE FROM moving WHERE id = 2 * n + {odd};
                              UPDATE moving SET note = note || 'z' WHERE id = (2 * n + 2 + {odd}) % {rows};
                              INSERT INTO moving VALUES ((2 * n * 7) % {2 * rows} + {odd}, 'new') ON CONFLICT DO NOTHING; END $$""")
               for odd in (0, 1)]
    checks, end = 0, time.monotonic() + 4
    with TABLES.connect() as session:
        while time.monotonic() < end:
            session.execute("SELECT pgstrom.store_check('moving')")
            checks += 1
    commits = sum(one.commits for one in changes)
    equal([one.end() for one in changes], [None, None], "writers beside checks")
    ok(checks > 5 and commits > 100, "checks beside writers find nothing wrong", f"{checks} checks, {commits} commits")
    equal(query("SELECT pgstrom.store_check('moving') = count(*) FROM moving", DB), "t", "nor does one after them")


def log_that_grows():
    """Records are written behind what a check has taken for the log's end."""
    TABLES.make("grown", "id int, n int", max_num_rows=400_000)
    query("INSERT INTO grown SELECT i, 0 FROM generate_series(1, 4) i", DB)
    writers = [Writer(f"UPDATE grown SET n = n + 1 WHERE id = {number}") for number in range(1, 5)]
    states, checks, end = [], 0, time.monotonic() + 4
    with TABLES.connect() as session:
        while time.monotonic() < end:
            states.append(state_of(lambda: session.execute("SELECT pgstrom.store_check('grown')")))
            checks += 1
    equal([one.end() for one in writers], [None] * 4, "writers of small changes")
    equal(set(states), {None}, f"no record is missed, {checks} checks")


def ring_that_comes_round():
    """Checkpoints go by, and the log's ring comes round, while the log is read."""
    TABLES.make("ring", "id int, note text", max_num_rows=400_000, redo_log_limit="16MB")
    query("INSERT INTO ring SELECT i, repeat('x', 500) FROM generate_series(1, 2000) i", DB)
    place = "SELECT redo_base, redo_appended FROM pgstrom.store_info() WHERE relation = 'ring'::regclass"
    writer = Writer("UPDATE ring SET note = repeat(chr(97 + (random() * 20)::int), 500)")
    checks, end, bases = 0, time.monotonic() + 6, set()
    with TABLES.connect() as session:
        while time.monotonic() < end:
            session.execute("SELECT pgstrom.store_check('ring')")
            bases.add(session.execute(place).fetchone()[0])
            checks += 1
    equal(writer.end(), None, "a writer that fills the ring")
    appended = int(query(place, DB).split("|")[1])
    ok(len(bases) > 3 and appended > 3 * (16 << 20), "the ring comes round", f"{checks} checks, {len(bases)} checkpoints, {appended} bytes")


def damaged_regions():
    """An entry that is gone, a damaged one, and a value that the table does not have."""
    TABLES.make("hurt", "id int, note text", kv_access="true")
    query("INSERT INTO hurt SELECT i, 'something' FROM generate_series(1, 500) i", DB)
    relid = query("SELECT 'hurt'::regclass::oid", DB)
    count_at, entry_bytes, bucket_bytes = 56, 16, 64
    path = next(pathlib.Path("/dev/shm").glob(f"pg_strom.*.{relid}.kv.*"))
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), 1 << 20)
    buckets, at = struct.unpack_from("<QQ", memory, count_at)
    places = [place for place in range(at, at + buckets * bucket_bytes, entry_bytes) if any(memory[place:place + 8])]
    equal(len(places), 500, "the region has an entry for each row")
    for name, bytes_ in (("an entry that is gone", bytes(16)), ("a damaged entry", b"\1" * 16), ("half an entry", bytes(8) + b"\1" * 8)):
        before = memory[places[7]:places[7] + entry_bytes]
        memory[places[7]:places[7] + entry_bytes] = bytes_
        with TABLES.connect() as session:
            equal(state_of(lambda: session.execute("SELECT pgstrom.store_check('hurt')")), "XX001", name)
        memory[places[7]:places[7] + entry_bytes] = before
    equal(query("SELECT pgstrom.store_check('hurt')", DB), "500", "a region that is whole again")


commits_go_on()
damaged_regions()
keys_that_come_and_go()
log_that_grows()
ring_that_comes_round()
alive("the server runs")
done()
