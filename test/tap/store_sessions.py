#!/usr/bin/env python3
"""Store tables that several sessions change at the same time: what each one sees, waits for, and is refused."""
import os
import random
import signal
import threading
import time

import psycopg

from server import alive, done, equal, incarnation, ok, query, state_of, wait_for_restart, wait_until
from store_tables import Background, StoreTables

TABLES = StoreTables("store_sessions")
DB, FILES, connect, make_table = TABLES.database, TABLES.folder, TABLES.connect, TABLES.make
ACCOUNTS, PER_ACCOUNT = 200, 100
SEED = int(os.environ.get("STROM_SEED", "1"))


def lost_updates():
    """Every increment counts, whoever comes between."""
    make_table("counter", "id int, n int, note text", kv_access="true")
    query("INSERT INTO counter SELECT i, 0, 'a note that has no room in sixteen bytes' FROM generate_series(1, 3) i", DB)
    sessions, each = 6, 300
    errors = []

    def increment(seed):
        numbers = random.Random(seed)
        try:
            with connect() as session:
                for _ in range(each):
                    key = numbers.randint(1, 3)
                    statement = numbers.choice((
                        "UPDATE counter SET n = n + 1 WHERE id = %s",
                        "UPDATE counter c SET n = c.n + v.by FROM (VALUES (1)) v (by) WHERE c.id + 0 = %s",
                        "UPDATE counter SET n = n + 1, note = note || '' WHERE id = ANY (ARRAY[%s])"))
                    session.execute(statement, (key,))
        except psycopg.Error as error:
            errors.append(str(error))

    threads = [threading.Thread(target=increment, args=(SEED * 100 + i,)) for i in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(errors, [], "increments of six sessions raise no error")
    equal(query("SELECT sum(n), count(*) FROM counter", DB), f"{sessions * each}|3", "no increment is lost")


def transfers():
    """Readers see all of a transfer or nothing, by the key and as a whole, in every isolation level."""
    make_table("account", "id int, balance int", kv_access="true")
    query(f"INSERT INTO account SELECT i, {PER_ACCOUNT} FROM generate_series(1, {ACCOUNTS}) i", DB)
    stop = threading.Event()
    errors, sums, counts = [], set(), [0]

    def transfer(seed, level):
        numbers = random.Random(seed)
        with connect(level) as session:
            while not stop.is_set():
                source, target = numbers.sample(range(1, ACCOUNTS + 1), 2)
                try:
                    with session.transaction():
                        changed = session.execute("UPDATE account SET balance = balance - 7 WHERE id = %s", (source,)).rowcount
                        if numbers.random() < 0.2:
                            # A row that is gone for a moment, and another one with its key.
                            old = session.execute("DELETE FROM account WHERE id = %s RETURNING balance", (target,)).fetchall()
                            if old:
                                session.execute("INSERT INTO account VALUES (%s, %s)", (target, old[0][0] + 7))
                            changed += len(old)
                        else:
                            changed += session.execute("UPDATE account SET balance = balance + 7 WHERE id = %s", (target,)).rowcount
                        # READ COMMITTED misses a row that another transaction has taken away for a moment.
                        if changed != 2:
                            raise psycopg.Rollback
                        if numbers.random() < 0.1:
                            raise psycopg.Rollback
                    counts[0] += 1
                except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation):
                    pass
                except psycopg.Error as error:
                    errors.append(str(error))
                    return

    def read(level):
        with connect(level) as session:
            while not stop.is_set():
                with session.transaction():
                    sums.add(session.execute("SELECT sum(balance), count(*) FROM account").fetchone())
                    if level == "REPEATABLE READ":
                        by_key = session.execute(
                            "SELECT sum(a.balance), count(*) FROM generate_series(1, %s) k JOIN LATERAL "
                            "(SELECT balance FROM account WHERE id = k OFFSET 0) a ON true", (ACCOUNTS,)).fetchone()
                        sums.add(by_key)

    threads = [threading.Thread(target=transfer, args=(SEED * 100 + i, level))
               for i, level in enumerate(("READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"))]
    threads += [threading.Thread(target=read, args=(level,)) for level in ("READ COMMITTED", "REPEATABLE READ")]
    for thread in threads:
        thread.start()
    wait_until(lambda: counts[0] > 3000 or errors, 20)
    stop.set()
    for thread in threads:
        thread.join()
    equal(errors, [], "transfers raise no other error")
    equal(sums, {(ACCOUNTS * PER_ACCOUNT, ACCOUNTS)}, "every snapshot has the same sum")
    ok(counts[0] > 100, "there were transfers", counts[0])


def levels():
    """What is refused, and what is looked at again."""
    make_table("t", "id int, n int, note text")
    query("INSERT INTO t VALUES (1, 0, 'a'), (2, 0, 'b'), (3, 0, 'c')", DB)
    one, two = connect(), connect("REPEATABLE READ")
    two.execute("BEGIN")
    equal(two.execute("SELECT n FROM t WHERE id = 1").fetchall(), [(0,)], "a snapshot is taken")
    one.execute("UPDATE t SET n = 1 WHERE id = 1")
    equal(two.execute("SELECT n FROM t WHERE id = 1").fetchall(), [(0,)], "an update after the snapshot is not seen")
    equal(state_of(lambda: two.execute("UPDATE t SET n = 2 WHERE id = 1")), "40001", "nor overwritten")
    two.execute("ROLLBACK")
    two.execute("BEGIN")
    two.execute("SELECT FROM t")
    one.execute("DELETE FROM t WHERE id = 2")
    equal(state_of(lambda: two.execute("DELETE FROM t WHERE id = 2")), "40001", "nor deleted when it is deleted")
    two.execute("ROLLBACK")

    # The new version of a row counts, and the condition is looked at again.
    two = connect()
    for change, statement, wanted, name in (
            ("UPDATE t SET n = 10 WHERE id = 1", "UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n", [(11,)], "an update"),
            ("UPDATE t SET n = 99 WHERE id = 1", "UPDATE t SET note = 'x' WHERE id = 1 AND n = 11 RETURNING n", [], "a condition"),
            ("UPDATE t SET id = 7 WHERE id = 1", "UPDATE t SET n = 5 WHERE n = 99 RETURNING id", [(7,)], "another key"),
            ("UPDATE t SET id = 1 WHERE id = 7", "DELETE FROM t WHERE id = 7 RETURNING id", [], "a key that is gone"),
            ("UPDATE t SET n = 3 WHERE id = 1", "DELETE FROM t WHERE n = 5 RETURNING n", [], "a deletion's condition"),
            ("DELETE FROM t WHERE id = 3", "UPDATE t SET n = 1 WHERE id = 3 RETURNING id", [], "a deleted row"),
            ("UPDATE t SET n = 8 WHERE id = 1",
             "UPDATE t SET n = t.n + v.a FROM (VALUES (1, 100)) v (k, a) WHERE t.id = v.k RETURNING t.n", [(108,)], "a join")):
        one.execute("BEGIN")
        one.execute(change)
        waiting = Background(two, statement)
        ok(waiting.waits(), f"{name}: waits")
        one.execute("COMMIT")
        equal(waiting.end(), wanted, f"{name}: goes on with the new version")
    one.execute("BEGIN")
    one.execute("UPDATE t SET n = 1000 WHERE id = 1")
    waiting = Background(two, "UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n")
    waiting.waits()
    one.execute("ROLLBACK")
    equal(waiting.end(), [(109,)], "after a rollback the old version counts")
    one.execute("BEGIN")
    one.execute("SAVEPOINT s")
    one.execute("UPDATE t SET n = 1000 WHERE id = 1")
    waiting = Background(two, "UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n")
    waiting.waits()
    one.execute("ROLLBACK TO s")
    equal(waiting.end(), [(110,)], "and after that of a savepoint, at once")
    one.execute("COMMIT")


def newest_versions():
    """What a statement that waited does to a row that was changed more than once meanwhile: as to a row of a heap table."""
    make_table("versions", "id int, n int, note text")
    query("CREATE TABLE versions_heap (id int PRIMARY KEY, n int, note text)", DB)
    one, two, three = connect(), connect(), connect()

    def waits_for(event):
        statement = f"SELECT wait_event FROM pg_stat_activity WHERE pid = {two.info.backend_pid}"
        ok(wait_until(lambda: one.execute(statement).fetchall() == [(event,)], 30), f"a wait: {event}")

    def outcome(table, changes, statement, level):
        """What the statement does, when its snapshot is older than `changes` and it gets to the row after them."""
        one.execute(f"DELETE FROM {table}")
        one.execute(f"INSERT INTO {table} VALUES (1, 1, 'a')")
        two.execute(f"SET default_transaction_isolation = '{level}'")
        three.execute("SELECT pg_advisory_lock(77)")
        waiting = Background(two, statement.format(table=table, late="(SELECT pg_advisory_xact_lock(77) IS NOT NULL)"))
        waits_for("advisory")
        for change in changes:
            one.execute(change.format(table=table))
        three.execute("SELECT pg_advisory_unlock(77)")
        rows = waiting.end()
        return rows, one.execute(f"SELECT id, n, note FROM {table} ORDER BY id").fetchall()

    twice = ("UPDATE {table} SET n = 100 WHERE id = 1", "UPDATE {table} SET n = 1 WHERE n = 100")
    one_transaction = ("BEGIN", *twice, "COMMIT")
    by_savepoints = ("BEGIN", "SAVEPOINT s", twice[0], "RELEASE s", "SAVEPOINT s", "DELETE FROM {table}", "ROLLBACK TO s", twice[1],
                     "COMMIT")
    for changes, name in ((one_transaction, "changed twice by a transaction"), (twice, "changed by two transactions"),
                          (by_savepoints, "changed twice in savepoints"),
                          ((twice[0], "UPDATE {table} SET n = 0 WHERE id = 1"), "changed to a value that does not pass"),
                          ((twice[0], "DELETE FROM {table}"), "changed and deleted"),
                          (("BEGIN", twice[0], "DELETE FROM {table}", "COMMIT"), "changed and deleted by a transaction"),
                          (("UPDATE {table} SET id = 2", "UPDATE {table} SET id = 1, note = 'b'"), "of another key for a while"),
                          (("UPDATE {table} SET note = 'b'", "UPDATE {table} SET id = 2"), "of another key in the end")):
        for statement in ("UPDATE {table} SET n = n + 10 WHERE id = 1 AND n = 1 AND {late}",
                          "UPDATE {table} SET n = n + 10 WHERE n = 1 AND {late} RETURNING id, n, note",
                          # An intermediate version would be divided by.
                          "UPDATE {table} SET n = 10 / (n - 100) WHERE id = 1 AND {late}",
                          "DELETE FROM {table} WHERE id = 1 AND n = 1 AND {late}",
                          "DELETE FROM {table} WHERE id = 1 AND 10 / (n - 100) < 1 AND {late} RETURNING n"):
            for level in ("READ COMMITTED", "REPEATABLE READ"):
                equal(outcome("versions", changes, statement, level), outcome("versions_heap", changes, statement, level),
                      f"a row {name}: {statement}: {level}")

    # The newest version is being changed.
    two.execute("SET default_transaction_isolation = 'READ COMMITTED'")
    for table in ("versions_heap", "versions"):
        for end, wanted in (("COMMIT", (0, 2)), ("ROLLBACK", (1, 11))):
            query(f"DELETE FROM {table}; INSERT INTO {table} VALUES (1, 1, 'a')", DB)
            three.execute("SELECT pg_advisory_lock(77)")
            waiting = Background(two, f"UPDATE {table} SET n = n + 10 WHERE n = 1 AND pg_advisory_xact_lock(77) IS NOT NULL")
            waits_for("advisory")
            one.execute(f"UPDATE {table} SET note = 'b'")
            one.execute("BEGIN")
            one.execute(f"UPDATE {table} SET n = 2")
            three.execute("SELECT pg_advisory_unlock(77)")
            waits_for("transactionid")
            one.execute(end)
            equal((waiting.end(), int(query(f"SELECT n FROM {table}", DB))), wanted, f"{table}: and does it after {end}")


def regions():
    """A published region that is made anew between two changes of a transaction."""
    make_table("regions", "id int, n int", kv_access="true")
    one, two = connect(), connect()
    one.execute("""CREATE PROCEDURE change_and_fail() LANGUAGE plpgsql AS $$ BEGIN
                   INSERT INTO regions SELECT i, 0 FROM generate_series(1000, 1500) i; RAISE division_by_zero;
                   EXCEPTION WHEN division_by_zero THEN NULL; END $$""")
    in_savepoint = ("SAVEPOINT s", "INSERT INTO regions VALUES (-5, 5)", "ROLLBACK TO s")
    for i, (before, name) in enumerate(((in_savepoint, "a savepoint"), (("CALL change_and_fail()",), "an EXCEPTION block"),
                                        (("SAVEPOINT r", *in_savepoint, "RELEASE r"), "a savepoint in another one"))):
        one.execute("BEGIN")
        for statement in before:
            one.execute(statement)
        # Two of them, so that the memory of the first one is gone.
        two.execute("SET statement_timeout = '60s'")
        two.execute("SELECT pgstrom.kv_rotate('regions')")
        two.execute("SELECT pgstrom.kv_rotate('regions')")
        one.execute(f"INSERT INTO regions SELECT i, 0 FROM generate_series({i * 100}, {i * 100 + 9}) i")
        one.execute("COMMIT")
        equal(state_of(lambda: two.execute("SELECT pgstrom.store_check('regions')")), None,
              f"rows after a new region behind {name} are published")
    # The same session makes the region anew.
    one.execute("BEGIN")
    one.execute("INSERT INTO regions VALUES (0, 1) ON CONFLICT DO NOTHING")
    one.execute("SELECT pgstrom.kv_rotate('regions')")
    one.execute("INSERT INTO regions SELECT i, 0 FROM generate_series(500, 600) i")
    one.execute("COMMIT")
    equal(state_of(lambda: two.execute("SELECT pgstrom.store_check('regions')")), None, "and those after a row that was there already")
    equal(query("SELECT count(*) FROM regions", DB), "131", "all rows are there")


def keys():
    """Who may have a key is known when the other transaction has ended."""
    one, two = connect(), connect()
    for end, wanted in (("COMMIT", "23505"), ("ROLLBACK", 1)):
        one.execute("BEGIN")
        one.execute("INSERT INTO t VALUES (50, 1)")
        waiting = Background(two, "INSERT INTO t VALUES (50, 2)")
        ok(waiting.waits(), f"an insertion waits for the other one's {end}")
        one.execute(end)
        equal(waiting.end(), wanted, f"insertion after {end}")
        one.execute("DELETE FROM t WHERE id = 50")
    one.execute("INSERT INTO t VALUES (50, 1)")
    for end, wanted in (("ROLLBACK", "23505"), ("COMMIT", 1)):
        one.execute("BEGIN")
        one.execute("DELETE FROM t WHERE id = 50")
        waiting = Background(two, "INSERT INTO t VALUES (50, 2)")
        ok(waiting.waits(), f"an insertion waits for the deletion's {end}")
        one.execute(end)
        equal(waiting.end(), wanted, f"insertion after the deletion's {end}")
    one.execute("BEGIN")
    one.execute("INSERT INTO t VALUES (60, 1)")
    waiting = Background(two, "INSERT INTO t VALUES (60, 2) ON CONFLICT DO NOTHING")
    waiting.waits()
    one.execute("COMMIT")
    equal(waiting.end(), 0, "ON CONFLICT DO NOTHING waits, and does nothing")
    snapshot = connect("REPEATABLE READ")
    snapshot.execute("BEGIN")
    snapshot.execute("SELECT FROM t")
    one.execute("INSERT INTO t VALUES (61, 1)")
    equal(state_of(lambda: snapshot.execute("INSERT INTO t VALUES (61, 1) ON CONFLICT DO NOTHING")), "40001",
          "and is refused for a row that the snapshot does not see")
    snapshot.execute("ROLLBACK")


def waits():
    """Deadlocks, cancelled and terminated waits."""
    one, two = connect(), connect()
    query("INSERT INTO t VALUES (71, 0), (72, 0)", DB)
    for session in (one, two):
        session.execute("SET deadlock_timeout = '100ms'")
        session.execute("BEGIN")
    one.execute("UPDATE t SET n = 1 WHERE id = 71")
    two.execute("UPDATE t SET n = 2 WHERE id = 72")
    waiting = Background(two, "UPDATE t SET n = 2 WHERE id = 71")
    waiting.waits()
    first = state_of(lambda: one.execute("UPDATE t SET n = 1 WHERE id = 72"))
    second = None
    if first is None:
        second = waiting.end()
    else:
        one.execute("ROLLBACK")
        second = waiting.end()
    ok("40P01" in (first, second), "a deadlock is found", first, second)
    one.execute("ROLLBACK")
    two.execute("ROLLBACK")
    one.execute("BEGIN")
    one.execute("UPDATE t SET n = 5 WHERE id = 71")
    two.execute("SET statement_timeout = 200")
    equal(state_of(lambda: two.execute("UPDATE t SET n = 6 WHERE id = 71")), "57014", "a wait is cancelled")
    equal(state_of(lambda: two.execute("INSERT INTO t VALUES (71, 1) ON CONFLICT DO NOTHING")), "57014", "that of an insertion, too")
    two.execute("SET statement_timeout = 0")
    waiting = Background(two, "UPDATE t SET n = 6 WHERE id = 71")
    waiting.waits()
    query(f"SELECT pg_terminate_backend({two.info.backend_pid})", DB)
    ok(waiting.end() in ("57P01", "connection lost"), "a session that waits is terminated", waiting.state)
    one.execute("COMMIT")
    equal(query("SELECT n FROM t WHERE id = 71", DB), "5", "the row is that of the other one")


def row_locks():
    """SELECT ... FOR UPDATE and its kin: who waits for whom, and what is seen then."""
    make_table("l", "id int, n int, note text", kv_access="true")
    query("INSERT INTO l SELECT i, 0, 'a note of more than sixteen bytes' FROM generate_series(1, 20) i", DB)
    one, two = connect(), connect()
    one.execute("BEGIN")
    equal(one.execute("SELECT n, note FROM l WHERE id = 1 FOR UPDATE").fetchall(), [(0, "a note of more than sixteen bytes")], "a row is locked")
    for statement, wanted in (("UPDATE l SET n = n + 1 WHERE id = 1 RETURNING n", [(1,)]),
                              ("SELECT n FROM l WHERE id = 1 FOR SHARE", [(1,)]),
                              ("SELECT n FROM l WHERE id = 1 FOR NO KEY UPDATE", [(1,)]),
                              ("DELETE FROM l WHERE id = 1 RETURNING n", [(1,)])):
        waiting = Background(two, statement)
        ok(waiting.waits(), f"waits for the lock: {statement}")
        equal(one.execute("SELECT n FROM l WHERE id = 1 FOR UPDATE").rowcount, 1, "the owner can lock again")
        one.execute("COMMIT")
        equal(waiting.end(), wanted, f"and goes on: {statement}")
        two.execute("INSERT INTO l VALUES (1, 1) ON CONFLICT DO NOTHING")
        one.execute("BEGIN")
        one.execute("SELECT FROM l WHERE id = 1 FOR UPDATE")
    # Without waiting.
    equal(state_of(lambda: two.execute("SELECT FROM l WHERE id = 1 FOR UPDATE NOWAIT")), "55P03", "NOWAIT")
    equal(state_of(lambda: two.execute("SELECT FROM l WHERE id = 1 FOR KEY SHARE NOWAIT")), "55P03", "NOWAIT for sharing")
    equal(two.execute("SELECT id FROM l WHERE id < 4 ORDER BY id FOR UPDATE SKIP LOCKED").fetchall(), [(2,), (3,)], "SKIP LOCKED")
    one.execute("UPDATE l SET n = 50 WHERE id = 2")
    equal(two.execute("SELECT id FROM l WHERE id < 4 FOR SHARE SKIP LOCKED").fetchall(), [(3,)], "a row that is being changed is skipped")
    equal(state_of(lambda: two.execute("SELECT FROM l WHERE id = 2 FOR UPDATE NOWAIT")), "55P03", "NOWAIT for one that is being changed")
    waiting = Background(two, "SELECT n FROM l WHERE id = 2 AND n = 0 FOR UPDATE")
    ok(waiting.waits(), "waits for an update")
    one.execute("COMMIT")
    equal(waiting.end(), [], "looks at the condition again")
    # Locks that are shared, deadlocks, savepoints.
    for session in (one, two):
        session.execute("BEGIN")
        equal(session.execute("SELECT id FROM l WHERE id = 3 FOR SHARE").fetchall(), [(3,)], "a lock is shared")
        session.execute("SET deadlock_timeout = '100ms'")
    waiting = Background(two, "UPDATE l SET n = 7 WHERE id = 3")
    ok(waiting.waits(), "an update waits for the other one's share")
    first = state_of(lambda: one.execute("UPDATE l SET n = 8 WHERE id = 3"))
    one.execute("ROLLBACK" if first else "COMMIT")
    ok("40P01" in (first, waiting.end()), "two that share and then update are a deadlock", first, waiting.state)
    two.execute("ROLLBACK")
    one.execute("BEGIN")
    one.execute("SAVEPOINT s")
    one.execute("SELECT FROM l WHERE id = 4 FOR UPDATE")
    one.execute("UPDATE l SET n = 1 WHERE id = 4")
    one.execute("ROLLBACK TO s")
    equal(two.execute("SELECT n FROM l WHERE id = 4 FOR UPDATE NOWAIT").fetchall(), [(0,)], "a savepoint's locks end with it")
    one.execute("COMMIT")
    one.execute("BEGIN")
    one.execute("UPDATE l SET n = 9 WHERE id = 5")
    equal(one.execute("SELECT n FROM l WHERE id = 5 FOR UPDATE").fetchall(), [(9,)], "an own new version is locked as it is")
    one.execute("COMMIT")
    # Other levels, joins, deletions.
    old = connect("REPEATABLE READ")
    old.execute("BEGIN")
    old.execute("SELECT FROM l")
    one.execute("UPDATE l SET n = 10 WHERE id = 5")
    one.execute("DELETE FROM l WHERE id = 6")
    equal(state_of(lambda: old.execute("SELECT FROM l WHERE id = 5 FOR UPDATE")), "40001", "REPEATABLE READ: a changed row")
    old.execute("ROLLBACK")
    old.execute("BEGIN")
    old.execute("SELECT FROM l")
    one.execute("DELETE FROM l WHERE id = 7")
    equal(state_of(lambda: old.execute("SELECT FROM l WHERE id = 7 FOR SHARE")), "40001", "REPEATABLE READ: a deleted row")
    old.execute("ROLLBACK")
    one.execute("BEGIN")
    one.execute("UPDATE l SET n = 100, id = 30 WHERE id = 8")
    one.execute("DELETE FROM l WHERE id = 9")
    waiting = Background(two, "SELECT l.id, l.n, v.k FROM l, (VALUES (0), (1)) v (k) WHERE l.n IN (0, 100) AND l.note > '' "
                              "AND l.id IN (8, 9, 10, 30) ORDER BY l.id, v.k FOR UPDATE OF l")
    ok(waiting.waits(), "a join waits")
    one.execute("COMMIT")
    equal(sorted(waiting.end()), [(10, 0, 0), (10, 0, 1), (30, 100, 0), (30, 100, 1)], "a join looks at new versions, and not at deleted rows")
    equal(query("SELECT count(*) FROM pg_locks WHERE locktype = 'tuple'", DB), "0", "no lock is left")
    # A queue: each row goes to one worker.
    query("CREATE TABLE done (id int); INSERT INTO l SELECT i, 0 FROM generate_series(101, 500) i", DB)

    def work():
        with connect() as session:
            while session.execute("WITH job AS (SELECT id FROM l WHERE id > 100 LIMIT 1 FOR UPDATE SKIP LOCKED), "
                                  "gone AS (DELETE FROM l USING job WHERE l.id = job.id RETURNING l.id) "
                                  "INSERT INTO done SELECT id FROM gone").rowcount == 1:
                pass

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    equal(query("SELECT count(*), count(DISTINCT id) FROM done", DB), "400|400", "a queue gives each row to one")


def upserts():
    """Sessions that make and change the same rows: nobody fails, and no row is there twice."""
    make_table("upserted", "id int, n int", kv_access="true")
    errors, made = [], []

    def upsert(number):
        try:
            with connect() as session:
                for i in range(400):
                    if session.execute("SELECT pgstrom.store_upsert('upserted', ROW(%s, %s)::upserted)", (i % 100, number)).fetchone()[0]:
                        made.append(i % 100)
                    if i % 10 == 0:
                        session.execute("DELETE FROM upserted WHERE id = 0")
        except psycopg.Error as error:
            errors.append(str(error))

    threads = [threading.Thread(target=upsert, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(errors, [], "upserts of four sessions raise no error")
    equal(sorted(key for key in made if key != 0), list(range(1, 100)), "each row was new once")
    equal(query("SELECT count(*) FROM upserted WHERE id > 0", DB), "99", "and is there")


def old_versions():
    """They go when nobody can see them, and the table says what keeps them."""
    make_table("small", "id int, n int, note text", max_num_rows=100)
    query("INSERT INTO small SELECT i, 0, repeat('x', 200) FROM generate_series(1, 100) i", DB)
    one, old = connect(), connect("REPEATABLE READ")
    for _ in range(200):
        one.execute("UPDATE small SET n = n + 1, note = note || ''")
    equal(query("SELECT count(*), sum(n), sum(length(note)) FROM small", DB), "100|20000|20000", "20000 updates of 100 rows")
    old.execute("BEGIN")
    equal(old.execute("SELECT sum(n) FROM small").fetchone(), (20000,), "an old snapshot")
    state = None
    for _ in range(100):
        state = state_of(lambda: one.execute("UPDATE small SET n = n + 1"))
        if state:
            break
    equal(state, "53400", "when no slot can be freed, an update is refused")
    equal(old.execute("SELECT sum(n), sum(length(note)) FROM small").fetchone(), (20000, 20000), "and the old snapshot still sees its rows")
    old.execute("COMMIT")
    for _ in range(100):
        one.execute("UPDATE small SET n = n + 1")
    ok(True, "updates go on when it has gone")
    old.close()
    # A table does not grow by updates of rows one by one: each session frees what it has ended.
    make_table("steady", "id int, n int", max_num_rows=5000)
    query("INSERT INTO steady SELECT i, 0 FROM generate_series(1, 5000) i", DB)
    one.execute("""CREATE PROCEDURE change_one_by_one() LANGUAGE plpgsql AS $$ BEGIN
                   FOR i IN 1..5000 LOOP UPDATE steady SET n = n + 1 WHERE id = i; COMMIT; END LOOP; END $$""")
    for _ in range(3):
        one.execute("CALL change_one_by_one()")
    slots = int(query("SELECT slots FROM pgstrom.store_info() WHERE relation = 'steady'::regclass", DB))
    ok(slots < 6000, "slots after 15000 updates of 5000 rows", slots)
    equal(query("SELECT count(*), sum(n) FROM steady", DB), "5000|15000", "and its rows")


def full_logs():
    """Commits that together have more redo than the log has room for wait for each other."""
    make_table("logged", "id int, note text", max_num_rows=100000, redo_log_limit="16MB")
    sessions, each, errors = 8, 3500, []
    start = threading.Barrier(sessions)

    def commit(number):
        with connect() as session:
            for _ in range(4):
                session.execute("BEGIN")
                session.execute("DELETE FROM logged WHERE id / 10000 = %s", (number,))
                session.execute("INSERT INTO logged SELECT %s * 10000 + i, repeat('x', 1000) FROM generate_series(1, %s) i", (number, each))
                start.wait(120)
                errors.append(state_of(lambda: session.execute("COMMIT")))

    threads = [threading.Thread(target=commit, args=(i,)) for i in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal([error for error in errors if error], [], "no commit finds the log full")
    equal(query("SELECT count(*) FROM logged", DB), str(sessions * each), "all rows are there")
    equal(query("SELECT pgstrom.store_check('logged')", DB), str(sessions * each), "and the log is whole")


def missing_log():
    """A redo log that is gone holds up no other table, and the worker takes nothing for it again and again."""
    for name in ("gone", "other"):
        make_table(name, "id int, n int", durability="async")
        query(f"INSERT INTO {name} VALUES (1, 1)", DB)
    worker = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_strom memory store'"
    before = query(worker, DB)
    (FILES / "gone.redo").rename(FILES / "gone.away")
    query(f"SELECT pg_terminate_backend({before})", DB)
    one = connect()

    def is_new():
        one.execute("UPDATE other SET n = n + 1")
        return query(worker, DB) not in ("", before)

    ok(wait_until(is_new), "there is another worker")
    pid = query(worker, DB)

    def held():
        return len(os.listdir(f"/proc/{pid}/fd"))

    log = FILES / "other.redo"
    for text in ("first", "second"):
        one.execute("UPDATE other SET n = 0")
        ended = log.read_bytes()
        ok(wait_until(lambda: log.read_bytes() != ended or query("SELECT count(*) FROM other", DB) != "1", 20), f"the other table's {text} redo is written")
    first = held()
    time.sleep(4)
    ok(held() <= first, "the worker opens no more and more files", first, held())
    equal(query(worker, DB), pid, "and lives")
    (FILES / "gone.away").rename(FILES / "gone.redo")
    equal(query("SELECT count(*) FROM gone", DB), "1", "the table is there")


def crashed_backend():
    """Another session's crash takes nothing that was committed."""
    before = query("SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM t", DB)
    one = connect()
    one.execute("BEGIN")
    one.execute("UPDATE t SET n = -1")
    up = incarnation()
    os.kill(one.info.backend_pid, signal.SIGKILL)
    wait_for_restart(up)
    equal(query("SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM t", DB), before, "rows after a crash")


lost_updates()
transfers()
levels()
regions()
newest_versions()
keys()
waits()
row_locks()
upserts()
old_versions()
full_logs()
missing_log()
alive("sessions of store tables")
for table in ("counter", "account", "l", "upserted"):
    equal(query(f"SELECT pgstrom.store_check('{table}') = count(*) FROM {table}", DB), "t", f"what is published of {table} is what is committed")
crashed_backend()
done()
