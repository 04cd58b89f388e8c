#!/usr/bin/env python3
"""The column cache while other sessions change the tables: every answer from it is compared with PostgreSQL's own scan
under the same snapshot. Also other layouts of a table, small budgets, rollbacks, killed sessions."""

import os
import random
import signal
import threading
import time

import psycopg
import pyarrow as pa
import pyarrow.ipc as ipc

from server import done, engine_session, equal, folder, fresh_database, ok, query, wait_until, with_and_without_engine

DB = fresh_database("strom_column_cache")
ROWS = 60000
SECONDS = 20
QUERIES = (
    "SELECT count(*) FROM t",
    "SELECT count(*), sum(a), sum(b), min(n), max(n), sum(m) FROM t",
    "SELECT g, count(*), sum(n), sum(length(s)), count(s) FROM t GROUP BY g ORDER BY g",
    "SELECT count(*), sum(a) FROM t WHERE s LIKE '%7%'",
    "SELECT sum(b) FROM t WHERE n BETWEEN 10 AND 500 AND a % 3 = 1",
    "SELECT count(*), min(ctid), max(ctid), count(DISTINCT ctid), sum(a) FROM t",
    "SELECT a, ctid FROM t WHERE a % 500 = 7 ORDER BY ctid",
    "SELECT count(z), min(z), max(d), count(f), count(u), count(c) FROM t",
    "SELECT sum(10000000 / (a - 77)) FROM t WHERE a <> 77",  # fallback rows without an error keep their tids
    "SELECT count(*) FROM t WHERE a * 100000 > 5",  # overflows: an error, or not, the same in both
)


def connect(**settings):
    return engine_session(DB, **settings)


def make_table(name="t", rows=ROWS):
    query(
        f"""
        DROP TABLE IF EXISTS {name} CASCADE;
        CREATE TABLE {name} (a int NOT NULL, b int8, g int2, n numeric(12,2), m numeric, s text, z timestamptz, d date,
                        f float8, u uuid, c "char") WITH (autovacuum_enabled = off);
        INSERT INTO {name} SELECT i % 5000, i * 1000003::int8, i % 7, CASE WHEN i % 11 > 0 THEN (i % 90000) / 100.0 END,
            (i % 100) / 8.0, CASE WHEN i % 5 > 0 THEN 'text ' || i END, '2020-01-01'::timestamptz + i * interval '1 minute',
            '2020-01-01'::date + i % 1000, i / 7.0, md5(i::text)::uuid, (ARRAY['a','b'])[1 + i % 2]
          FROM generate_series(1, {rows}) i""",
        DB,
    )
    query(f"VACUUM (FREEZE, ANALYZE) {name}", DB)


def comparable(value):
    return "NaN" if value != value else value  # which equals itself


def answer(session, statement):
    try:
        return [tuple(map(comparable, row)) for row in session.execute(statement).fetchall()]
    except psycopg.Error as error:
        return error.sqlstate


def both(session, statement):
    return with_and_without_engine(session, statement, answer)


def pages_kept(session, statement, name="Column Cache Pages Kept"):
    plan = session.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}").fetchone()[0][0]["Plan"]
    found = []

    def visit(node):
        found.append(node.get(name, 0))
        for child in node.get("Plans", []) + [n for v in node.values() if isinstance(v, list) for n in v if isinstance(n, dict)]:
            visit(child)

    visit(plan)
    return max(found)


def warm(session, statement="SELECT sum(a) FROM t", times=3):
    for _ in range(times):
        answer(session, statement)


def holds_what_it_says():
    make_table()
    session = connect()
    for statement in QUERIES:
        warm(session, statement)
        ours, theirs = both(session, statement)
        equal(ours, theirs, f"kept: {statement}")
    ok(pages_kept(session, QUERIES[1]) > 0, "columns are kept")
    ok(pages_kept(session, "SELECT count(*) FROM t") > 0, "counting needs no columns")
    ok(pages_kept(connect(), QUERIES[1]) > 0, "another session finds them")
    info = dict(session.execute("SELECT attribute, rows FROM pgstrom.column_cache_info() WHERE relation = 't'::regclass").fetchall())
    equal(info.get("a"), ROWS, "pgstrom.column_cache_info() counts rows")
    session.execute("SELECT pgstrom.column_cache_reset()")
    pages = session.execute("SELECT pg_relation_size('t') / current_setting('block_size')::int").fetchone()[0]
    before = pages_kept(session, QUERIES[1], "Column Cache Pages Filled")
    equal(before, pages, "EXPLAIN ANALYZE counts the pages that a scan puts into the cache")
    equal(pages_kept(session, QUERIES[1], "Column Cache Pages Filled"), 0, "and the next scan puts none")
    session.execute("SELECT pgstrom.column_cache_reset()")
    equal(pages_kept(session, QUERIES[1]), 0, "pgstrom.column_cache_reset()")
    session.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
    warm(session, "SELECT sum(b) FROM t", 4)
    equal(pages_kept(session, "SELECT sum(b) FROM t"), 0, "serializable transactions read the pages")
    session.execute("ROLLBACK")
    session.execute("CREATE UNLOGGED TABLE un AS SELECT a FROM t")
    session.execute("VACUUM un")
    warm(session, "SELECT sum(a) FROM un")
    equal(pages_kept(session, "SELECT sum(a) FROM un"), 0, "unlogged tables are not kept")
    session.execute("CREATE ROLE nobody")
    session.execute("SET ROLE nobody")
    for function in ("info", "reset"):
        equal(answer(session, f"SELECT pgstrom.column_cache_{function}()"), "42501", f"not everyone may call {function}")
    session.execute("RESET ROLE")
    session.execute("DROP ROLE nobody")
    session.close()


def single_changes():
    """After each change the answer is the new one, in this and in another session."""
    make_table()
    session, other = connect(), connect()
    statement = "SELECT count(*), sum(a), sum(b), sum(n), count(s) FROM t"
    changes = (
        "UPDATE t SET b = b + 1 WHERE a = 5",
        "DELETE FROM t WHERE a BETWEEN 100 AND 110",
        "VACUUM t",
        "INSERT INTO t (a, b) VALUES (1, 1)",
        "VACUUM (FREEZE) t",
        "DELETE FROM t WHERE a > 4000",
        "VACUUM t",
        "INSERT INTO t (a, b, s) SELECT i, i, 'again' FROM generate_series(1, 9000) i",
        "VACUUM t",
        "ALTER TABLE t ADD COLUMN late int DEFAULT 7",
        "ALTER TABLE t DROP COLUMN c",
        "UPDATE t SET n = n * 2 WHERE a % 2 = 0",
        "VACUUM FULL t",
        "VACUUM t",
        "ALTER TABLE t ALTER n TYPE numeric(14,3)",
        "VACUUM t",
        "ALTER TABLE t ALTER n TYPE numeric(16,3)",
        "BEGIN; DELETE FROM t; ROLLBACK",
        "BEGIN; TRUNCATE t; INSERT INTO t (a) VALUES (3); ROLLBACK",
        "DELETE FROM t WHERE ctid >= '(300,1)'",
        "VACUUM t",
        "INSERT INTO t (a, b) SELECT i, i FROM generate_series(1, 20000) i",
        "VACUUM t",
        "TRUNCATE t",
        "INSERT INTO t (a, b) SELECT i, i FROM generate_series(1, 50000) i",
        "VACUUM t",
    )
    for change in changes:
        warm(session, statement)
        warm(session, "SELECT * FROM t LIMIT 0", 1)
        for part in change.split("; "):
            other.execute(part)
        ours, theirs = both(session, statement)
        equal(ours, theirs, f"after {change}")
        ours, theirs = both(other, statement)
        equal(ours, theirs, f"after {change}, in the session that did it")
    for kind, first, second in (("int", "7", "8"), ("int", "NULL", "5"), ("text", "'one'", "'another'")):
        statement = "SELECT count(again), min(again), max(again) FROM t"
        other.execute("BEGIN")
        other.execute(f"ALTER TABLE t ADD COLUMN again {kind} DEFAULT {first}")
        warm(other, statement, 4)
        other.execute("ROLLBACK")
        other.execute(f"ALTER TABLE t ADD COLUMN again {kind} DEFAULT {second}")
        ours, theirs = both(session, statement)
        equal(ours, theirs, f"a {kind} column that was rolled back and is added again")
        other.execute("ALTER TABLE t DROP COLUMN again")
    session.execute("BEGIN")
    session.execute("CREATE TABLE fresh (a int)")
    session.execute("INSERT INTO fresh SELECT generate_series(1, 20000)")
    session.execute("COMMIT")
    session.execute("BEGIN")
    session.execute("TRUNCATE fresh")
    with session.cursor().copy("COPY fresh FROM STDIN (FREEZE)") as copy:
        copy.write("".join(f"{i}\n" for i in range(30000)))
    warm(session, "SELECT sum(a) FROM fresh")
    with session.cursor().copy("COPY fresh FROM STDIN (FREEZE)") as copy:
        copy.write("".join(f"{i}\n" for i in range(10)))
    equal(answer(session, "SELECT sum(a) FROM fresh"), [(449985000 + 45,)], "a file of this transaction is not kept")
    session.execute("COMMIT")
    session.close()
    other.close()


class Writers:
    """Sessions that change table t until they are stopped."""

    def __init__(self, count):
        self.stop = False
        self.errors = []
        self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def work(self, number):
        rng = random.Random(number)
        session = psycopg.connect(dbname=DB, autocommit=True)
        statements = (
            lambda: f"UPDATE t SET b = b + 1 WHERE a = {rng.randrange(5000)}",
            lambda: f"DELETE FROM t WHERE a = {rng.randrange(5000)} AND g = {rng.randrange(7)}",
            lambda: f"INSERT INTO t (a, b, g, n, s) SELECT {rng.randrange(5000)}, i, i % 7, i / 4.0, 'new' FROM generate_series(1, 50) i",
            lambda: "VACUUM t",
            lambda: "VACUUM (FREEZE) t",
            lambda: f"SELECT count(*) FROM (SELECT * FROM t WHERE a = {rng.randrange(5000)} FOR UPDATE) q",
        )
        while not self.stop:
            try:
                session.execute(rng.choice(statements)())
            except psycopg.errors.DeadlockDetected:
                pass
            except psycopg.Error as error:
                self.errors.append(str(error))
            time.sleep(rng.random() * 0.05)
        session.close()

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join()


def crowd():
    """Readers compare both answers of one snapshot while writers change the table."""
    make_table()
    differences, kept = [], [0] * 3
    end = time.monotonic() + SECONDS

    def read(number):
        rng = random.Random(100 + number)
        session = connect()
        while time.monotonic() < end or not any(kept) and time.monotonic() < end + 120:
            statement = rng.choice(QUERIES)
            ours, theirs = both(session, statement)
            if ours != theirs:
                differences.append((statement, ours, theirs))
            if rng.random() < 0.1:
                kept[number] += pages_kept(session, "SELECT count(*), sum(b) FROM t") > 0
        session.close()

    writers = Writers(2)
    readers = [threading.Thread(target=read, args=(i,)) for i in range(len(kept))]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    writers.end()
    equal(writers.errors, [], "writers are not disturbed")
    equal(differences[:3], [], "answers while others write")
    print(f"# {sum(kept)} looks found pages in the cache")
    ok(sum(kept) > 0, "some answers came from the cache meanwhile")


def wide_values():
    """Columns that cannot be cached, in part of a table's groups."""
    query(
        """DROP TABLE IF EXISTS wide;
        CREATE TABLE wide (i int, n numeric(38,3), x numeric, t text, p text) WITH (autovacuum_enabled = off);
        INSERT INTO wide SELECT i, CASE WHEN i % 20000 = 7 THEN 12345678901234567890123456789012345.678
            WHEN i % 3 = 0 THEN i * 1e10 ELSE i / 8.0 END, CASE WHEN i = 50001 THEN 'NaN' ELSE i / 4.0 END,
            CASE WHEN i = 3 THEN repeat('long', 5000) ELSE 'short' END, CASE WHEN i = 9 THEN repeat('p', 3000) ELSE 'q' END
          FROM generate_series(1, 60000) i;
        """,
        DB,
    )
    query("VACUUM ANALYZE wide", DB)
    session = connect()
    for columns in ("sum(i), sum(n)", "sum(i), max(x), count(x)", "count(*), sum(length(t))", "sum(length(p)), sum(i)", "sum(i)"):
        statement = f"SELECT {columns} FROM wide"
        warm(session, statement)
        ours, theirs = both(session, statement)
        equal(ours, theirs, statement)
    ok(pages_kept(session, "SELECT sum(i) FROM wide") > 0, "other columns are kept")
    session.close()


def rows_for_postgresql():
    """Fallback rows of cached groups are found again, also where items have gaps."""
    make_table("gaps", 30000)
    session = connect()
    session.execute("DELETE FROM gaps WHERE a % 3 = 0")
    session.execute("VACUUM gaps")
    session.execute("INSERT INTO gaps (a, n, s) VALUES (2147483647, 1, 'x')")
    session.execute("VACUUM gaps")
    statement = "SELECT count(*), sum(CASE WHEN a > 4990 THEN (a::int8 * 9000000000000 / 2)::numeric ELSE a END) FROM gaps"
    for statement in (statement, "SELECT count(*) FROM gaps WHERE a * 1000000::numeric ^ 2 > 5", "SELECT sum(a + 1) FROM gaps",
                      "SELECT s FROM gaps WHERE (a::int8 * 5000000000000000) > 0 ORDER BY s"):
        warm(session, statement)
        ours, theirs = both(session, statement)
        equal(ours, theirs, statement)
    session.close()


def killed():
    """Sessions that are killed while they fill or read leave the cache usable."""
    make_table("victim", 200000)
    for wait in (0.0, 0.02, 0.05, 0.1, 0.2):
        session = connect()
        pid = session.execute("SELECT pg_backend_pid()").fetchone()[0]

        def work(session=session):
            try:
                for _ in range(50):
                    session.execute("SELECT sum(a), sum(b), sum(n), sum(length(s)) FROM victim")
            except psycopg.Error:
                pass

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(wait)
        os.kill(pid, signal.SIGTERM)
        thread.join()
    session = connect()
    statement = "SELECT sum(a), sum(b), sum(n), sum(length(s)) FROM victim"
    warm(session, statement)
    ours, theirs = both(session, statement)
    equal(ours, theirs, "after sessions were terminated")
    ok(pages_kept(session, statement) > 0, "and columns are kept")
    session.close()


def compressed_files():
    """Columns of compressed files are cached as long as the file is the same: replaced, rewritten in place, set back in time."""
    place = folder("column_cache_files")
    path = place / "t.arrow"

    def content(seed, rows=50000):
        numbers = pa.array([None if (i + seed) % 13 == 0 else i * seed for i in range(rows)], pa.int64())
        texts = pa.array([f"text {(i * seed) % 97}" for i in range(rows)])
        return pa.record_batch([numbers, texts], ["a", "s"])

    def write(target, seed, **options):
        with ipc.new_file(target, content(seed).schema, options=ipc.IpcWriteOptions(compression="lz4")) as writer:
            for part in range(3):
                writer.write_batch(content(seed + part, **options))
        os.chmod(target, 0o644)

    def columns_kept(session, statement):
        return pages_kept(session, statement, "Column Cache Columns Kept")

    def columns_filled(session, statement):
        return pages_kept(session, statement, "Column Cache Columns Filled")

    session, other = connect(), connect()
    write(path, 1)
    session.execute("DROP FOREIGN TABLE IF EXISTS files")
    session.execute(f"IMPORT FOREIGN SCHEMA files FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}')")
    statement = "SELECT s, count(*), sum(a), count(a) FROM files GROUP BY s"
    for _ in range(20):  # a machine that does much else may need longer than the two seconds for which a file is new
        write(path, 1)
        begin = time.monotonic()
        warm(session, statement, 4)
        kept = columns_kept(session, statement)
        if time.monotonic() < begin + 1.5:
            break
    equal(kept, 0, "a file that was just written is not kept")
    time.sleep(2.1)
    filled = [columns_filled(session, statement) for _ in range(3)]
    equal(sorted(filled), [0, 0, 6], "one run puts two columns of three batches into the cache, and says so")
    for change in ("nothing", "another file of that name", "other content in place", "the old times", "one batch less"):
        if change == "another file of that name":
            write(place / "new", 5)
            os.rename(place / "new", path)
        elif change == "other content in place":
            write(place / "new", 7)
            path.write_bytes((place / "new").read_bytes())
        elif change == "the old times":
            before = path.stat()
            write(path, 8)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif change == "one batch less":
            write(path, 8, rows=40000)
        for reader in (session, other):
            sorted_answers = [sorted(rows, key=repr) for rows in both(reader, statement)]
            equal(sorted_answers[0], sorted_answers[1], f"compressed file after {change}")
        time.sleep(2.1)
        warm(session, statement)
        ok(columns_kept(session, statement) > 0, f"its columns are kept after {change}")
        sorted_answers = [sorted(rows, key=repr) for rows in both(other, statement)]
        equal(sorted_answers[0], sorted_answers[1], f"kept columns of a compressed file after {change}")
    found = session.execute("SELECT attribute, rows FROM pgstrom.column_cache_info() WHERE relation = 'files'::regclass ORDER BY 1")
    equal(found.fetchall(), [("a", 120000), ("s", 120000)], "only the file as it is counts as kept")
    session.close()
    other.close()


def budget(session, size):
    """Sets the cache's size, and waits until the server has heard of it."""
    session.execute(f"ALTER SYSTEM SET pg_strom.column_cache_memory = '{size}'")
    session.execute("SELECT pg_reload_conf()")
    heard = wait_until(lambda: session.execute("SHOW pg_strom.column_cache_memory").fetchone() == (size,))
    ok(heard, f"the column cache's size is set to {size}")


def budgets():
    """A cache smaller than the tables keeps part of them; 0 keeps nothing."""
    session = connect()
    try:
        budget(session, "8MB")
        session.execute("SELECT pgstrom.column_cache_reset()")
        for table in ("victim", "t", "wide", "victim", "gaps", "victim"):
            statement = f"SELECT count(*), sum({'i' if table == 'wide' else 'a + b'}) FROM {table}"
            warm(session, statement)
            ours, theirs = both(session, statement)
            equal(ours, theirs, f"small budget: {statement}")
        budget(session, "0")
        equal(pages_kept(session, "SELECT sum(i) FROM wide"), 0, "a budget of 0")
    finally:
        session.execute("ALTER SYSTEM RESET pg_strom.column_cache_memory")
        session.execute("SELECT pg_reload_conf()")
        session.close()


if __name__ == "__main__":
    holds_what_it_says()
    single_changes()
    wide_values()
    rows_for_postgresql()
    killed()
    compressed_files()
    crowd()
    budgets()
    done()
