#!/usr/bin/env python3
"""Who needs a store table for a moment gets it, however many sessions write: checkpoints, and the freeing of pages."""
import threading
import time

from server import alive, done, equal, ok, query, state_of, wait_until
from store_tables import Background, StoreTables

TABLES = StoreTables("store_turns")
DB = TABLES.database
WRITERS, PATIENCE = 8, 5


class Writers:
    """Sessions that commit without a pause, each in rows of its own."""

    def __init__(self, statement, settings=""):
        self.stop, self.commits, self.errors = threading.Event(), [0] * WRITERS, []
        self._threads = [threading.Thread(target=self._run, args=(number, statement, settings)) for number in range(WRITERS)]
        for thread in self._threads:
            thread.start()

    def _run(self, number, statement, settings):
        try:
            with TABLES.connect() as session:
                session.execute(settings)
                while not self.stop.is_set():
                    session.execute(statement.format(number))
                    self.commits[number] += 1
        except Exception as error:
            self.errors.append(error)

    def end(self):
        self.stop.set()
        for thread in self._threads:
            thread.join()
        return self.errors


def longest_of(statement, times):
    """Runs a statement some times, unless one of them takes too long; the number of runs and the longest."""
    runs, longest, end = 0, 0.0, time.monotonic() + PATIENCE
    with TABLES.connect() as session:
        while runs < times and time.monotonic() < end:
            begin = time.monotonic()
            session.execute(statement)
            longest = max(longest, time.monotonic() - begin)
            runs += 1
    return runs, longest


def checkpoints_beside_commits():
    """Each commit takes some milliseconds, so that there is always one in work."""
    query("ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()")
    TABLES.make("busy", "id int, n int")
    query(f"INSERT INTO busy SELECT i, 0 FROM generate_series(0, {WRITERS}) i", DB)
    writers = Writers("UPDATE busy SET n = n + 1 WHERE id = {}", "SET commit_delay = 20000; SET commit_siblings = 0")
    time.sleep(0.5)
    found = []
    checkpoints = threading.Thread(target=lambda: found.append(longest_of("SELECT pgstrom.store_checkpoint('busy')", 10)))
    checkpoints.start()
    checkpoints.join(2 * PATIENCE)
    late = checkpoints.is_alive()
    equal(writers.end(), [], "many writers")
    checkpoints.join()
    query("ALTER SYSTEM RESET fsync; SELECT pg_reload_conf()")
    print("#", found, writers.commits)
    ok(not late and found[0][0] == 10, "checkpoints get their moment beside them", found)
    ok(min(writers.commits) > 5, "and the writers get on as well", writers.commits)
    equal(query("SELECT sum(n) FROM busy", DB), str(sum(writers.commits)), "with all of their changes")


def pages_beside_scans():
    """Scans that have to look at each version hold the lock of versions nearly always."""
    rows = 130_000
    TABLES.make("scanned", "id int, n int", max_num_rows=2 * rows)
    query(f"INSERT INTO scanned SELECT i, 0 FROM generate_series(1, {rows}) i", DB)
    old = TABLES.connect()
    old.execute("BEGIN; SELECT txid_current()")
    query("UPDATE scanned SET n = 1 WHERE id % 64 = 1", DB)
    scans = Writers("SELECT count(*) FROM scanned")
    time.sleep(0.5)
    runs, longest = longest_of("SELECT pgstrom.store_compact('scanned')", 3)
    equal(scans.end(), [], "many scans")
    old.close()
    print("#", runs, longest, scans.commits)
    ok(runs == 3 and longest < PATIENCE, "store_compact() beside them", f"{runs} runs, longest {longest:.1f} s, scans: {scans.commits}")
    equal(query("SELECT pgstrom.store_check('scanned'), sum(n) FROM scanned", DB), f"{rows}|{(rows + 63) // 64}", "the table is whole")


def checkpoint_beside_a_commit_that_waits():
    """A commit that waits for something else, here a lock of NOTIFY, holds up checkpoints, but nobody else for long."""
    TABLES.make("slow", "id int, n int")
    query("INSERT INTO slow SELECT i, 0 FROM generate_series(1, 9) i", DB)
    query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'; SELECT pg_reload_conf()")
    notifier, writer, other, checkpoint = (TABLES.connect() for _ in range(4))
    for session in (writer, other, checkpoint):
        session.execute("SET synchronous_commit = local")
    try:
        waiting = [Background(notifier, "BEGIN; CREATE TEMP TABLE made (a int); NOTIFY a; COMMIT")]
        ok(wait_until(lambda: query(f"SELECT wait_event FROM pg_stat_activity WHERE pid = {notifier.info.backend_pid}", DB) == "SyncRep"), "a commit waits for a standby")
        waiting.append(Background(writer, "BEGIN; UPDATE slow SET n = 2 WHERE id = 1; NOTIFY b; COMMIT"))
        ok(waiting[1].waits(), "and another one for its notifications")
        checkpoint.execute("SET statement_timeout = '2s'")
        equal(state_of(lambda: checkpoint.execute("SELECT pgstrom.store_checkpoint('slow')")), "57014", "a checkpoint can be cancelled")
        checkpoint.execute("SET statement_timeout = 0")
        waiting.append(Background(checkpoint, "SELECT pgstrom.store_checkpoint('slow')"))
        other.execute("SET statement_timeout = '10s'")
        begin = time.monotonic()
        for i in range(30):
            other.execute(f"UPDATE slow SET n = n + 1 WHERE id = {2 + i % 8}")
        print(f"# 30 commits in {time.monotonic() - begin:.1f} s")
        equal([each.runs() for each in waiting], [True] * 3, "others commit beside them")
    finally:
        query("ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()")
    equal([each.end() for each in waiting][2] is not None, True, "all of them end then")
    equal(query("SELECT sum(n), pgstrom.store_check('slow') FROM slow", DB), "32|9", "with their changes")
    for session in (notifier, writer, other, checkpoint):
        session.close()


checkpoints_beside_commits()
pages_beside_scans()
checkpoint_beside_a_commit_that_waits()
alive("the server runs")
done()
