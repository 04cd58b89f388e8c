#!/usr/bin/env python3
"""Messages about store tables that join a transaction which already runs. They see what was committed before they were
sent, and what one client gets wrong, or its end, is its own failure."""
import contextlib
import multiprocessing
import os
import pathlib
import random
import sys
import time
from datetime import datetime, timezone

import psycopg

from checks import BUILD_DIR, done, equal, folder, fresh_database, ok, query, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
os.environ["STROMKV_LIBRARY"] = str(BUILD_DIR / "src/kv/libstromkv.so")

import strom_kv  # noqa: E402

OUT = folder("strom_kv_groups")
os.chmod(OUT, 0o777)
DB = fresh_database("strom_kv_groups")
CONNINFO = f"dbname={DB}"
PROCESSES = multiprocessing.get_context("fork")
TOO_MUCH = 1000000


def make_table(name, more=""):
    """A row with a negative number keeps its transaction open for a part of the time that others have to join it."""
    query(f"CREATE FOREIGN TABLE {name} (id int, n int CHECK (n < {TOO_MUCH}), CHECK (n >= 0 OR lasts()){more}) SERVER gstore_fdw "
          f"OPTIONS (base_file '{OUT}/{name}.base', redo_log_file '{OUT}/{name}.redo', max_num_rows '20000', primary_key 'id', kv_access 'true', durability 'async')", DB)


@contextlib.contextmanager
def beside(*tasks):
    """Each task has a process of its own until the body ends."""
    stop = PROCESSES.Event()
    processes = [PROCESSES.Process(target=task, args=(stop,)) for task in tasks]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        stop.set()
        for process in processes:
            process.join(30)
    equal([process.exitcode for process in processes], [0] * len(processes), "nothing fails in the other processes")


def hold(table, role=None):
    """A task that keeps transactions open. Its role may lose its rights at times."""
    def task(stop):
        with psycopg.connect(CONNINFO, autocommit=True) as connection:
            if role:
                connection.execute(f"SET ROLE {role}")
            session = strom_kv.session(connection, table)
        with session:
            while not stop.is_set():
                with contextlib.suppress(strom_kv.Denied):
                    session.put({"id": -1, "n": -1})
    return task


def fill(table, first):
    """A task that puts many rows, the last one of each key being the one that counts."""
    def task(stop):
        numbers = random.Random(first)
        with strom_kv.session(CONNINFO, table) as session:
            while not stop.is_set():
                rows = [{"id": first + numbers.randrange(10), "n": numbers.randrange(TOO_MUCH)} for _ in range(numbers.randint(1, 20))]
                assert session.put_many(rows) == [None] * len(rows)
                last = {row["id"]: row for row in rows}
                assert [row["n"] for row in session.mget(last)] == [row["n"] for row in last.values()]
    return task


def count(table, key):
    """A task that counts in a row by CAS. No increment may be lost, nor made twice."""
    def task(stop):
        counted = 0
        with strom_kv.session(CONNINFO, table) as session:
            session.put({"id": key, "n": 0})
            while not stop.is_set():
                row, generation = session.get_versioned(key)
                assert row["n"] == counted, (row, counted)
                counted += 1
                session.compare_and_set({"id": key, "n": counted}, generation)
        assert query(f"SELECT n FROM {table} WHERE id = {key}", DB) == str(counted) and counted > 20, counted
    return task


def fail(table, value, error):
    """A task whose messages all fail."""
    def task(stop):
        with strom_kv.session(CONNINFO, table) as session:
            while not stop.is_set():
                try:
                    session.put({"id": 1, "n": value})
                    assert False, "it did not fail"
                except error:
                    pass
                time.sleep(0.002)
    return task


def is_swapped(session, row, generation):
    try:
        session.compare_and_set(row, generation)
        return True
    except strom_kv.Conflict:
        return False


def commits():
    """What SQL has committed before a message was sent, the message sees."""
    make_table("a")
    mistakes = dict.fromkeys(("delete", "put", "CAS", "get", "CAS of a deleted row", "delete of a deleted row", "of another client"), 0)
    row = {"id": 7, "n": 1}
    with beside(hold("a"), hold("a"), fill("a", 100)), psycopg.connect(CONNINFO, autocommit=True) as sql, \
            strom_kv.session(CONNINFO, "a") as one, strom_kv.session(CONNINFO, "a") as two:
        for _ in range(250):
            sql.execute("INSERT INTO a VALUES (7, 1)")
            if not one.delete(7):
                mistakes["delete"] += 1
                sql.execute("DELETE FROM a WHERE id = 7")
            sql.execute("INSERT INTO a VALUES (7, 1)")
            mistakes["put"] += one.put(row) is not False
            generation = two.get_versioned(7)[1]
            mistakes["of another client"] += not is_swapped(two, row, generation)
            sql.execute("UPDATE a SET n = 2 WHERE id = 7")
            mistakes["CAS"] += is_swapped(one, row, generation)
            mistakes["get"] += one.get(7) != {"id": 7, "n": 2}
            sql.execute("DELETE FROM a WHERE id = 7")
            mistakes["CAS of a deleted row"] += not is_swapped(one, row, 0)
            sql.execute("DELETE FROM a WHERE id = 7")
            mistakes["delete of a deleted row"] += one.delete(7)
    equal(mistakes, dict.fromkeys(mistakes, 0), "messages see what was committed before")


def rights():
    """A right that was taken away is gone for every message sent from then on."""
    query("CREATE ROLE strom_kv_grouped; GRANT USAGE ON SCHEMA pgstrom TO strom_kv_grouped", DB)
    make_table("b")
    query("GRANT SELECT, INSERT, UPDATE, DELETE ON b TO strom_kv_grouped", DB)
    allowed = denied = 0
    try:
        with beside(hold("b", "strom_kv_grouped"), hold("b", "strom_kv_grouped"), fill("b", 100)), \
                psycopg.connect(CONNINFO, autocommit=True) as sql, psycopg.connect(CONNINFO, autocommit=True) as user:
            user.execute("SET ROLE strom_kv_grouped")
            with strom_kv.session(user, "b") as session:
                for i in range(400):
                    sql.execute("REVOKE UPDATE ON b FROM strom_kv_grouped")
                    with contextlib.suppress(strom_kv.Denied):
                        session.put({"id": 1, "n": i})
                        allowed += 1
                    sql.execute("GRANT UPDATE ON b TO strom_kv_grouped")
                    try:
                        session.put({"id": 1, "n": i})
                    except strom_kv.Denied:
                        denied += 1
    finally:
        query("DROP OWNED BY strom_kv_grouped; DROP ROLE strom_kv_grouped", DB)
    equal((allowed, denied), (0, 0), "REVOKE and GRANT hold for the next message")


def failures():
    """Messages that fail make the others of their transaction begin again. Nothing of these is lost or made twice."""
    make_table("c")
    query("INSERT INTO c VALUES (1, 0), (2, 0)", DB)
    bad = fail("c", TOO_MUCH, strom_kv.ConstraintViolation), fail("c", "x", strom_kv.BadValue)
    with beside(*(count("c", key) for key in (10, 11, 12)), hold("c"), fill("c", 100), *bad), psycopg.connect(CONNINFO) as sql, \
            strom_kv.session(CONNINFO, "c") as session:
        time.sleep(2)
        for i in range(8):
            sql.execute("UPDATE c SET n = n + 1 WHERE id = 2")
            try:
                session.put({"id": 2, "n": -5})
                ok(False, "a row that SQL has for itself is busy")
            except strom_kv.Busy:
                pass
            sql.commit()
            time.sleep(random.Random(i).random() / 20)
    equal(query("SELECT n FROM c WHERE id IN (1, 2) ORDER BY id", DB), "0\n8", "what failed has changed nothing")
    equal(query("SELECT count(*) = pgstrom.store_check('c') FROM c", DB), "t", "all of it is sound")


def kills():
    """Clients that are killed amid their messages take no others with them."""
    make_table("d")
    with strom_kv.session(CONNINFO, "d") as session, beside(count("d", 10), count("d", 11), hold("d")):
        numbers = random.Random(1)
        for i in range(12):
            victims = [PROCESSES.Process(target=task, args=(PROCESSES.Event(),)) for task in (fill("d", 100), hold("d"), fill("d", 200))]
            for victim in victims:
                victim.start()
            time.sleep(0.1 + numbers.random() / 10)
            for victim in victims:
                victim.kill()
                victim.join()
            ok(session.put({"id": 50 + i, "n": i}), "a client that lives goes on")
        ok(wait_until(lambda: session.statistics()["clients"] == 4, 20), "the killed ones are forgotten", session.statistics())
    equal(query("SELECT count(*) = pgstrom.store_check('d') FROM d", DB), "t", "all of it is sound")


def times():
    """now() is not before a message was sent, whichever transaction the message joins."""
    make_table("e", ", t timestamptz CHECK (t <= now())")
    with strom_kv.session(CONNINFO, "e") as session:
        time.sleep(0.2)
        moment = query("SELECT clock_timestamp()", DB)
        for key, value in ((1, "now"), (2, moment)):
            equal(session.put_many([{"id": key, "t": value}]), [None], f"a row of now: {value}")
        equal(query(f"SELECT count(*) FROM e WHERE t >= '{moment}'", DB), "2", "now is now")
        with beside(hold("e"), hold("e"), fill("e", 100)):
            failed = [outcome for _ in range(300) for outcome in session.put_many([{"id": 3, "t": datetime.now(timezone.utc)}]) if outcome]
        equal(failed, [], "not in the future")


query("CREATE FUNCTION lasts() RETURNS boolean LANGUAGE plpgsql AS "
      "$$DECLARE final timestamptz := clock_timestamp() + '500 us'; BEGIN WHILE clock_timestamp() < final LOOP END LOOP; RETURN true; END$$", DB)
for part in (commits, rights, failures, kills, times):
    began = time.monotonic()
    part()
    print(f"{part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
time.sleep(3)
query(f"DROP DATABASE {DB}")
done()
