#!/usr/bin/env python3
"""Engine scans of heap tables while other sessions change them: updates, VACUUM, DDL, backends that are killed.

Half-read scans are cursors over a join, which the engine answers row by row.
"""

import contextlib
import os
import pathlib
import signal
import threading
import time

import psycopg

from server import done, engine_session, equal, fresh_database, incarnation, ok, query, state_of, wait_for_query, wait_for_restart, wait_until

DB = fresh_database("strom_heap_sessions")
ACCOUNTS, PER_ACCOUNT = 200000, 100
JOIN = "SELECT a.id, a.balance, k.name FROM account a JOIN kind k ON a.kind = k.id"


def connect(**settings):
    return engine_session(DB, **settings)


def make_tables():
    query(
        f"""
        DROP TABLE IF EXISTS account, kind CASCADE;
        CREATE TABLE account (id int PRIMARY KEY, kind int, balance int NOT NULL, note text);
        INSERT INTO account SELECT i, i % 5, {PER_ACCOUNT}, 'note ' || i FROM generate_series(1, {ACCOUNTS}) i;
        CREATE TABLE kind (id int, name text);
        INSERT INTO kind SELECT i, 'kind ' || i FROM generate_series(0, 4) i""",
        DB,
    )
    query("VACUUM ANALYZE account, kind", DB)


def in_engine(session, statement):
    ok("Custom Scan (Cpu" in str(session.execute("EXPLAIN " + statement).fetchall()), f"the engine answers {statement[:60]}")


def half_read_cursors():
    """Rows are those of the snapshot, whatever happens to the table behind it; DDL waits for the reader."""
    changes = {
        "updates": "UPDATE account SET balance = balance + 1, note = 'changed'",
        "deletes": "DELETE FROM account WHERE id % 2 = 0",
        "inserts": "INSERT INTO account SELECT -i, 1, 1 FROM generate_series(1, 50000) i",
        "updates and VACUUM": "UPDATE account SET balance = 0; VACUUM account",
    }
    for name, change in changes.items():
        make_tables()
        reader, writer = connect(), connect()
        in_engine(reader, JOIN)
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute(f"DECLARE c CURSOR FOR {JOIN}")
        rows = reader.execute("FETCH 1000 FROM c").fetchall()
        for statement in change.split("; "):
            writer.execute(statement)
        rows += reader.execute("FETCH ALL FROM c").fetchall()
        equal((len(rows), len({row[0] for row in rows}), sum(row[1] for row in rows)),
              (ACCOUNTS, ACCOUNTS, ACCOUNTS * PER_ACCOUNT), f"a half-read scan does not see {name}")
        reader.close()
        writer.close()
    make_tables()
    for ddl in ("TRUNCATE account", "DROP TABLE account", "ALTER TABLE account DROP COLUMN note", "VACUUM FULL account"):
        reader, writer = connect(), connect(lock_timeout="200ms")
        reader.execute("BEGIN")
        reader.execute(f"DECLARE c CURSOR FOR {JOIN}")
        count = len(reader.execute("FETCH 10 FROM c").fetchall())
        equal(state_of(lambda: writer.execute(ddl)), "55P03", f"{ddl} waits for a half-read scan")
        count += len(reader.execute("FETCH ALL FROM c").fetchall())
        equal(count, ACCOUNTS, f"the scan ends in spite of {ddl}")
        reader.close()
        writer.close()


def constant_sum():
    """Transfers keep the sum; each scan has to see it, with pages pruned and vacuumed below it."""
    make_tables()
    stop = threading.Event()

    def transfer(seed):
        session = connect()
        number = seed
        while not stop.is_set():
            number = (number * 48271) % 2147483647
            with contextlib.suppress(psycopg.errors.DeadlockDetected), session.transaction():
                session.execute("UPDATE account SET balance = balance - 7 WHERE id = %s", (number % ACCOUNTS + 1,))
                session.execute("UPDATE account SET balance = balance + 7 WHERE id = %s", (number // 7 % ACCOUNTS + 1,))
        session.close()

    def sweep():
        session = connect()
        while not stop.is_set():
            session.execute("VACUUM account")
        session.close()

    workers = [threading.Thread(target=transfer, args=(seed,)) for seed in (11, 17)] + [threading.Thread(target=sweep)]
    for worker in workers:
        worker.start()
    reader = connect()
    statement = "SELECT count(*), sum(balance) FROM account"
    in_engine(reader, statement)
    seen = set()
    deadline = time.monotonic() + 8
    scans = 0
    while time.monotonic() < deadline:
        seen.add(reader.execute(statement).fetchone())
        seen.add(reader.execute("SELECT count(*), sum(a.balance) FROM account a JOIN kind k ON a.kind = k.id").fetchone())
        scans += 2
    stop.set()
    for worker in workers:
        worker.join()
    equal(seen, {(ACCOUNTS, ACCOUNTS * PER_ACCOUNT)}, f"{scans} scans see whole transfers")
    reader.close()


def prepared_and_ddl():
    """A prepared statement after changes of its tables answers as a new one does."""
    make_tables()
    session, other = connect(plan_cache_mode="force_generic_plan"), connect()
    session.execute("PREPARE p AS SELECT kind, count(*), sum(balance), min(note) FROM account GROUP BY kind ORDER BY kind")
    first = session.execute("EXECUTE p").fetchall()
    equal(len(first), 5, "prepared")
    for ddl in ("ALTER TABLE account ADD COLUMN extra int DEFAULT 5", "ALTER TABLE account ALTER COLUMN balance TYPE smallint",
                "DELETE FROM account WHERE kind = 3", "CREATE INDEX ON account (kind)", "VACUUM FULL account",
                "TRUNCATE account"):
        other.execute(ddl)
        found = session.execute("EXECUTE p").fetchall()
        session.execute("SET pg_strom.enabled = off")
        wanted = session.execute("SELECT kind, count(*), sum(balance), min(note) FROM account GROUP BY kind ORDER BY kind").fetchall()
        session.execute("SET pg_strom.enabled = on")
        equal(found, wanted, f"prepared, and then {ddl}")
    other.execute("DROP TABLE account")
    equal(state_of(lambda: session.execute("EXECUTE p")), "42P01", "prepared, and then dropped")
    session.close()
    other.close()


def nested():
    """The engine inside functions that its own plans, triggers and cursors call."""
    make_tables()
    session = connect()
    session.execute("""
      CREATE FUNCTION total(k int) RETURNS bigint LANGUAGE plpgsql AS
        $$ BEGIN RETURN (SELECT sum(balance) FROM account WHERE kind = k); END $$;
      CREATE TABLE log (n bigint);
      CREATE FUNCTION note_total() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO log SELECT count(*) FROM account a JOIN kind k ON a.kind = k.id; RETURN new; END $$;
      CREATE TRIGGER t AFTER INSERT ON kind FOR EACH ROW EXECUTE FUNCTION note_total()""")
    equal(session.execute("SELECT count(*) FROM account WHERE id <= 20 AND total(kind) = 4000000").fetchone(), (20,),
          "a function called for each row of a scan scans the same table")
    session.execute("INSERT INTO kind SELECT i, 'new' FROM generate_series(10, 12) i")
    equal(session.execute("SELECT array_agg(n) FROM log").fetchone()[0], [ACCOUNTS] * 3, "in a trigger")
    session.execute("DO $$ BEGIN BEGIN PERFORM sum(1 / (kind - 4)) FROM account; EXCEPTION WHEN division_by_zero THEN NULL; "
                    "END; PERFORM count(*) FROM account; END $$")
    ok(True, "an error inside a subtransaction")
    session.close()


def constant_sum_of_ranges():
    """The same for rows of block ranges, which transfers move into unsummarised ones while those are being summarised."""
    make_tables()
    query("CREATE INDEX ON account USING brin (id) WITH (pages_per_range = 2); CREATE INDEX ON account (id); ANALYZE account", DB)
    low, high = 50000, 50400
    stop = threading.Event()

    def transfer(seed):
        session = connect(enable_indexscan="on", enable_seqscan="off", **{"pg_strom.enabled": "off"})
        number = seed
        while not stop.is_set():
            number = (number * 48271) % 2147483647
            with contextlib.suppress(psycopg.errors.DeadlockDetected), session.transaction():
                session.execute("UPDATE account SET balance = balance - 7, note = note || '.' WHERE id = %s", (low + number % (high - low),))
                session.execute("DELETE FROM account WHERE id = %s", (low - 1 - number % 50,))
                session.execute("INSERT INTO account SELECT -i, 1, 1 FROM generate_series(1, 50) i ON CONFLICT DO NOTHING")
                session.execute("UPDATE account SET balance = balance + 7 WHERE id = %s", (low + number // 7 % (high - low),))
        session.close()

    def summarise():
        session = connect()
        while not stop.is_set():
            session.execute("SELECT brin_summarize_new_values('account_id_idx')")
            session.execute("VACUUM account")
        session.close()

    workers = [threading.Thread(target=transfer, args=(seed,)) for seed in (11, 17)] + [threading.Thread(target=summarise)]
    for worker in workers:
        worker.start()
    reader = connect(enable_seqscan="off")
    statement = f"SELECT count(*), sum(balance) FROM account WHERE id >= {low} AND id < {high}"
    plan = str(reader.execute("EXPLAIN " + statement).fetchall())
    ok("Brin Quals" in plan, "block ranges are asked for", plan)
    seen, scans = set(), 0
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        seen.add(reader.execute(statement).fetchone())
        scans += 1
    stop.set()
    for worker in workers:
        worker.join()
    equal(seen, {(high - low, (high - low) * PER_ACCOUNT)}, f"{scans} scans of block ranges see whole transfers")
    reader.close()


def serializable():
    """Of two transactions that read what the other writes, one fails, as after PostgreSQL's own scans; also with a hot update."""
    for enabled in ("on", "off"):
        for reads in ("SELECT sum(balance) FROM account WHERE kind = 1", "SELECT count(*) FROM account a JOIN kind k ON a.kind = k.id"):
            make_tables()
            first, second = connect(**{"pg_strom.enabled": enabled}), connect(**{"pg_strom.enabled": enabled})
            if enabled == "on":
                in_engine(first, reads)
            for session in (first, second):
                session.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
                session.execute(reads)
            first.execute("INSERT INTO account VALUES (-1, 1, 5)")
            second.execute("UPDATE account SET balance = 5 WHERE id = 6")
            states = [state_of(lambda: first.execute("COMMIT")), state_of(lambda: second.execute("COMMIT"))]
            equal(sorted(states, key=str), ["40001", None], f"write skew is found, pg_strom.enabled = {enabled}")
            first.close()
            second.close()
        make_tables()
        reader, writer = connect(**{"pg_strom.enabled": enabled}), connect()
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        before = reader.execute("SELECT count(*), sum(balance) FROM account").fetchone()
        writer.execute("UPDATE account SET balance = 0 WHERE id % 3 = 0")
        writer.execute("DELETE FROM account WHERE id % 3 = 1")
        equal(reader.execute("SELECT count(*), sum(balance) FROM account").fetchone(), before, f"REPEATABLE READ, pg_strom.enabled = {enabled}")
        reader.execute("COMMIT")
        after = reader.execute("SELECT count(*), sum(balance) FROM account").fetchone()
        reader.execute("BEGIN")  # READ COMMITTED
        writer.execute("UPDATE account SET balance = 1 WHERE id % 3 = 0")
        equal(reader.execute("SELECT count(*), sum(balance) FROM account").fetchone(), (after[0], after[1] + ACCOUNTS // 3),
              f"READ COMMITTED, pg_strom.enabled = {enabled}")
        reader.close()
        writer.close()


def held_cursor():
    """A cursor WITH HOLD outlives its transaction, and what happens to the table then."""
    make_tables()
    reader, writer = connect(), connect()
    reader.execute("BEGIN")
    reader.execute(f"DECLARE c CURSOR WITH HOLD FOR {JOIN}")
    count = len(reader.execute("FETCH 10 FROM c").fetchall())
    reader.execute("COMMIT")
    writer.execute("DROP TABLE account")
    equal(count + len(reader.execute("FETCH ALL FROM c").fetchall()), ACCOUNTS, "a held cursor has its rows when the table is gone")
    reader.close()
    writer.close()
    make_tables()
    session = connect()
    session.execute("BEGIN")
    session.execute("INSERT INTO account SELECT -i, 1, 1 FROM generate_series(1, 10) i")
    equal(session.execute("SELECT count(*) FROM account").fetchone(), (ACCOUNTS + 10,), "own rows")
    session.execute("TRUNCATE account")
    equal(session.execute("SELECT count(*) FROM account WHERE kind >= 0").fetchone(), (0,), "after one's own TRUNCATE")
    session.execute("ROLLBACK")
    equal(session.execute("SELECT count(*) FROM account WHERE kind >= 0").fetchone(), (ACCOUNTS,), "after ROLLBACK")
    session.close()


def buffers():
    """EXPLAIN shows buffers and their times as for a sequential scan."""
    make_tables()
    query("CREATE INDEX account_brin ON account USING brin (id) WITH (pages_per_range = 4)", DB)
    pages = int(query("SELECT pg_relation_size('account') / 8192", DB))
    found = {}
    for name, settings in {"engine": {}, "PostgreSQL": {"pg_strom.enabled": "off"}}.items():
        session = connect(track_io_timing="on", **{"pg_strom.enable_column_cache": "off", **settings})
        total = {}
        for _ in range(2):
            explained = session.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT count(*), sum(balance) FROM account WHERE note > 'a'")
            top = explained.fetchone()[0][0]["Plan"]
            total = {key: total.get(key, 0) + value for key, value in top.items() if "Shared" in key or "I/O" in key}
        found[name] = total["Shared Hit Blocks"] + total["Shared Read Blocks"]
        equal(total["Shared Read Blocks"] > 0, total.get("I/O Read Time", total.get("Shared I/O Read Time", 0)) > 0,
              f"{name}: a time where blocks were read")
        session.close()
    equal(found, {"engine": 2 * pages, "PostgreSQL": 2 * pages}, "buffers of a scan")
    session = connect(effective_io_concurrency="16", enable_seqscan="off")
    statement = "SELECT count(*), sum(balance) FROM account WHERE id BETWEEN 1000 AND 1100 OR id BETWEEN 90000 AND 90100"
    node = session.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement).fetchone()[0][0]["Plan"]["Plans"][0]
    ok("Brin Quals" in node and 2 <= node["Brin Blocks Fetched"] <= 20, "block ranges are asked for", node)
    ok(node["Shared Hit Blocks"] + node["Shared Read Blocks"] < pages / 2, "blocks that are left out are not read", node)
    session.close()


def temporary_files():
    """Those of queries; the column cache has one by which sessions find each other."""
    folder = pathlib.Path(os.environ["STROM_DATA_DIR"]) / "base/pgsql_tmp"
    return sorted(str(path) for path in folder.glob("*") if path.name != "pgsql_tmp_strom_columns")


def killed_while_spilling():
    """A backend that is killed while it writes rows to a temporary file leaves none behind, and the server no PANIC."""
    make_tables()
    victim = connect(enable_hashjoin="off", enable_mergejoin="off", enable_nestloop="off", **{"pg_strom.work_memory": "64kB"})
    statement = ("SELECT count(*) FROM account a JOIN (SELECT i, repeat('x', 200) || i AS t FROM generate_series(1, 3000000) i "
                 "OFFSET 0) s ON s.i = a.id AND s.t > a.note")
    failed = []
    thread = threading.Thread(target=lambda: failed.append(state_of(lambda: victim.execute(statement))))
    thread.start()
    pid, before = victim.info.backend_pid, incarnation()
    seen = wait_until(lambda: not thread.is_alive() or any(f"pgsql_tmp{pid}." in path for path in temporary_files()))
    ok(seen and thread.is_alive(), "rows go to a temporary file", failed)
    os.kill(pid, signal.SIGKILL)
    thread.join(60)
    wait_for_restart(before)
    session = connect()
    equal(session.execute("SELECT count(*), sum(balance) FROM account").fetchone(), (ACCOUNTS, ACCOUNTS * PER_ACCOUNT),
          "after kill -9: all rows are there")
    equal(temporary_files(), [], "after kill -9: no temporary file is left")
    session.close()


def ended(name, end):
    """`end` is given the pid of a backend in the middle of a scan; afterwards the server answers."""
    make_tables()
    victim, watcher = connect(), connect()
    pid, before = victim.info.backend_pid, incarnation()
    failed = []
    body = "SELECT count(*) FROM account a JOIN account b ON a.kind = b.kind WHERE a.id % 7 <> b.id % 11"

    def run():
        failed.append(state_of(lambda: victim.execute(body)))

    thread = threading.Thread(target=run)
    thread.start()
    wait_for_query(pid)
    time.sleep(1.0)
    end(watcher, pid)
    thread.join(60)
    ok(not thread.is_alive() and failed[0] is not None, f"{name}: the query ends", failed)
    if name == "kill -9":
        wait_for_restart(before)
    session = connect()
    equal(session.execute("SELECT count(*), sum(balance) FROM account").fetchone(), (ACCOUNTS, ACCOUNTS * PER_ACCOUNT),
          f"{name}: the next session has its answer")
    session.close()


half_read_cursors()
constant_sum()
constant_sum_of_ranges()
serializable()
held_cursor()
buffers()
prepared_and_ddl()
nested()
ended("pg_terminate_backend", lambda watcher, pid: watcher.execute("SELECT pg_terminate_backend(%s)", (pid,)))
ended("pg_cancel_backend", lambda watcher, pid: watcher.execute("SELECT pg_cancel_backend(%s)", (pid,)))
if os.geteuid() == 0 or os.environ.get("STROM_SERVER_USER") == os.environ.get("USER"):
    ended("kill -9", lambda watcher, pid: os.kill(pid, signal.SIGKILL))
    killed_while_spilling()
done()
