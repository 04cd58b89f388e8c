#!/usr/bin/env python3
"""Blocks of heap tables that the GPU service reads from the table's files and that the device decodes: which ones, and
PostgreSQL's answers while tables change, end early or are damaged. Servers of its own."""

import os
import random
import re
import threading
import time

import psycopg

import gpu_server
from gpu_server import Cluster, readable_module, service_answers
from server import TEST_DIR, done, equal, folder, ok, wait_until, with_and_without_engine

ROWS = 40_000
SECONDS = 20
FILLERS = 8
MODULE = readable_module("strom_host_device.so", copy="strom_host_device_blocks.so")
CUFILE = readable_module("strom_fake_cufile.so", copy="strom_fake_cufile_blocks.so")
ENVIRONMENT = {"STROM_DEVICE_MODULE": str(MODULE)}

QUERIES = (
    "SELECT count(*), sum(a), sum(b), min(n), max(n), count(s), min(d), max(t), sum(f), count(o) FROM {t}",
    "SELECT count(*) FROM {t}",
    "SELECT g, count(*), sum(n), count(s), max(s), min(c) FROM {t} GROUP BY g ORDER BY g",
    "SELECT a, s, n, m, u, o, y FROM {t} WHERE s LIKE '%77' ORDER BY a, b, s, n",
    "SELECT s, count(*) FROM {t} WHERE a < 50 GROUP BY s ORDER BY s",
    "SELECT a, b, d, t, f, o, m, u FROM {t} WHERE b % 4999 < 3 ORDER BY a, b",
    "SELECT x.a, y.s FROM {t} x JOIN {t} y ON x.a = y.a + 1 WHERE x.b % 997 = 0 AND y.b % 3 = 0 ORDER BY 1, 2 LIMIT 500",
    "SELECT sum(10000000 / (a - 77)) FROM {t} WHERE a <> 77 OR g = 3",
    "SELECT s, n FROM {t} ORDER BY n DESC NULLS LAST, s LIMIT 25",
    "SELECT count(*), sum(length(s)), sum(a + 2147480000) FROM {t} WHERE g = 2 AND a < 100",
)
COLUMNS = ("a int NOT NULL, b int8, g int2, n numeric(12,2), s text, d date, t timestamptz, f float8, o boolean, c \"char\", "
           "u uuid, m macaddr, y bytea")
VALUES = """i % 5000, i * 1000003::int8, i % 7, CASE WHEN i % 11 > 0 THEN (i % 90000) / 100.0 END,
    CASE WHEN i % 5 > 0 THEN 'text ' || i END, '2020-01-01'::date + i % 1000, '2021-01-01 00:00:00+00'::timestamptz + i * interval '1 s',
    CASE WHEN i % 13 > 0 THEN i / 8.0 END, CASE WHEN i % 3 > 0 THEN i % 2 = 0 END, 'x', md5(i::text)::uuid,
    ('08:00:2b:01:02:' || lpad(to_hex(i % 256), 2, '0'))::macaddr, CASE WHEN i % 4 > 0 THEN decode(md5(i::text), 'hex') END"""


def connect(device="gpu", **settings):
    settings = {"enable_column_cache": "off", "cpu_threads": "4", **settings}
    return gpu_server.device_session(server, device, prepare_threshold=None, **settings)


def each(session, statements):
    """One after the other, where VACUUM may be among them."""
    for statement in statements.split(";"):
        session.execute(statement)


def answer(session, statement):
    try:
        return session.execute(statement).fetchall()
    except psycopg.Error as error:
        return error.sqlstate, str(error).splitlines()[0]


def agree(session, table, name, queries=QUERIES):
    differences = []
    for query in queries:
        found = with_and_without_engine(session, query.format(t=table), answer)
        if found[0] != found[1]:
            differences.append((query.format(t=table), *found))
    ok(not differences, name, *(repr(d)[:3000] for d in differences))


def in_transaction(session, statement):
    """The answers of the engine and of PostgreSQL alone within a transaction."""
    answers = []
    for enabled in ("on", "off"):
        session.execute("SAVEPOINT before")
        session.execute(f"SET LOCAL pg_strom.enabled = {enabled}")
        answers.append(answer(session, statement))
        session.execute("ROLLBACK TO before")
    return answers


def blocks(session, statement):
    """Blocks of the statement's tables: read directly, and through shared buffers."""
    return gpu_server.plan_sums(session, statement, "GPU Blocks Direct", "GPU Blocks Buffers")


def size(session, table):
    return session.execute(f"SELECT pg_relation_size('{table}')::int8 / 8192").fetchone()[0]


def evict(session):
    """Takes tables out of shared buffers, by reading others, none of which is so large that it would be read past them."""
    each(session, "CHECKPOINT; SET pg_strom.enabled = off")
    for i in range(5 * FILLERS):
        session.execute(f"SELECT count(*) FROM filler{i % FILLERS}")
    session.execute("RESET pg_strom.enabled")


def make_table(session, name, options="", rows=ROWS):
    session.execute(f"CREATE TABLE {name} ({COLUMNS}) WITH (autovacuum_enabled = off) {options}")
    session.execute(f"INSERT INTO {name} SELECT {VALUES} FROM generate_series(1, {rows}) i")


def which_blocks():
    session = connect()
    make_table(session, "t")
    all_blocks = size(session, "t")
    equal(blocks(session, QUERIES[0].format(t="t")), [0, all_blocks], "a table that was not vacuumed: through shared buffers")
    session.execute("VACUUM (ANALYZE) t")
    equal(blocks(session, QUERIES[0].format(t="t"))[0], 0, "all-visible, but dirty: through shared buffers")
    session.execute("CHECKPOINT")
    for state in ("clean", "not in shared buffers"):
        equal(blocks(session, QUERIES[0].format(t="t")), [all_blocks, 0], f"all-visible and {state}: directly")
        agree(session, "t", f"answers of a table that is all-visible and {state}")
        evict(session)
        text = "".join(line for (line,) in session.execute("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) SELECT count(*) FROM t WHERE random() >= 0"))
        ok(re.search(r"shared read=\d{3}", text), "evicted", text)
        evict(session)
    text = "\n".join(line for (line,) in session.execute("EXPLAIN (ANALYZE, COSTS OFF) " + QUERIES[1].format(t="t")).fetchall())
    ok(f"GPU Blocks: [direct: {all_blocks}, buffers: 0]" in text and "GPU-Direct SQL: " in text, "EXPLAIN tells of it", text)
    ok("GPU Blocks" not in "\n".join(line for (line,) in connect("cpu").execute("EXPLAIN (ANALYZE, COSTS OFF) " + QUERIES[1].format(t="t")).fetchall()),
       "but not on the CPU")
    found = session.execute("SELECT \"check\", status FROM pgstrom.storage_check(current_setting('data_directory') || '/' || pg_relation_filepath('t'))").fetchall()
    ok(dict(found).get("way") in ("ok", "note"), "pgstrom.storage_check() of its file", found)
    off = connect(gpudirect_enabled="off")
    ok(blocks(off, QUERIES[0].format(t="t"))[0] == 0, "not with pg_strom.gpudirect_enabled = off")
    off.close()

    session.execute("UPDATE t SET a = a + 1 WHERE b % 4001 = 0; DELETE FROM t WHERE b % 5003 = 0")
    found = blocks(session, QUERIES[0].format(t="t"))
    ok(found[0] > 0 and found[1] > 0 and sum(found) == size(session, "t"), "a table of which some was changed: partly", found)
    agree(session, "t", "answers of a table of which some was changed")
    for isolation in ("REPEATABLE READ", "SERIALIZABLE"):
        session.execute(f"BEGIN ISOLATION LEVEL {isolation}")
        equal(*in_transaction(session, QUERIES[0].format(t="t")), f"answers of a {isolation} transaction")
        found = blocks(session, QUERIES[0].format(t="t"))
        equal(found[0] > 0, isolation != "SERIALIZABLE", f"blocks of a {isolation} transaction")
        session.execute("COMMIT")
    each(session, "VACUUM t; CHECKPOINT")
    equal(blocks(session, QUERIES[0].format(t="t")), [size(session, "t"), 0], "vacuumed again: all directly")
    agree(session, "t", "answers of a table with unused and redirected items")

    # What a device never reads by itself.
    each(session, f"CREATE TEMP TABLE tt AS SELECT * FROM t; CREATE UNLOGGED TABLE ut AS SELECT * FROM t; VACUUM tt; VACUUM ut; CHECKPOINT")
    for table in ("tt", "ut"):
        equal(blocks(session, QUERIES[0].format(t=table))[0], 0, f"not of {table}")
        agree(session, table, f"answers of {table}", QUERIES[:3])
    session.execute("BEGIN; CREATE TABLE nt AS SELECT * FROM t")
    equal(*in_transaction(session, QUERIES[0].format(t="nt")), "answers of a table of the transaction")
    session.execute("ROLLBACK")
    equal(blocks(session, "SELECT count(*) FROM t WHERE tableoid > 0 AND a > 3")[0], 0, "not with tableoid")
    session.execute("DROP TABLE tt, ut")
    session.close()


def with_the_column_cache():
    session = connect(enable_column_cache="on", enable_gpu_cache="off")
    found = []
    for _ in range(4):
        agree(session, "t", "answers with the column cache", QUERIES[:4])
        found.append(blocks(session, QUERIES[0].format(t="t")))
    ok(found[-1] == [0, 0], "what the column cache has is read from there", found)
    session.execute("UPDATE t SET g = g WHERE b = 1000003 * 20000::int8")
    for _ in range(3):
        agree(session, "t", "answers of groups that are kept and of some that are not", QUERIES[:4])
    session.execute("SELECT pgstrom.column_cache_reset()")
    session.close()


def columns_that_change():
    session = connect()
    each(session, """CREATE TABLE c (dropped text, a int, gone int8, s text) WITH (autovacuum_enabled = off);
        INSERT INTO c SELECT repeat('x', i % 17), i, i * 3, CASE WHEN i % 3 > 0 THEN 'text ' || i END FROM generate_series(1, 40000) i;
        ALTER TABLE c DROP COLUMN dropped, ADD COLUMN k int8 DEFAULT 4711, ADD COLUMN w text DEFAULT 'a missing text',
            ADD COLUMN z numeric DEFAULT 12.345, ADD COLUMN q numeric(10,3) DEFAULT 1.5, ADD COLUMN e int, ADD COLUMN v uuid DEFAULT md5('v')::uuid;
        INSERT INTO c SELECT i, -i, NULL, i * 7, 'own ' || i, i / 7.0, i / 1000.0, i, NULL FROM generate_series(40001, 60000) i;
        ALTER TABLE c DROP COLUMN gone; VACUUM (ANALYZE) c; CHECKPOINT""")
    statements = ("SELECT count(*), sum(a), sum(k), min(z), max(q), count(e), count(v), count(s) FROM c",
                  "SELECT w, count(*), sum(k), sum(z) FROM c WHERE a % 10007 < 9 OR a < 39000 GROUP BY w ORDER BY w LIMIT 50",
                  "SELECT a, s, k, w, z, q, e, v FROM c WHERE a % 3001 < 2 ORDER BY a",
                  "SELECT w || s, count(*) FROM c GROUP BY 1 ORDER BY 1 LIMIT 40", "SELECT count(*) FROM c WHERE w = 'a missing text'")
    agree(session, "c", "answers of a table with dropped and added columns", statements)
    equal(blocks(session, statements[0]), [size(session, "c"), 0], "which are read directly")

    each(session, """CREATE TABLE l (a int, s text, p text, z numeric) WITH (autovacuum_enabled = off);
        ALTER TABLE l ALTER p SET STORAGE EXTERNAL;
        INSERT INTO l SELECT i, CASE i % 3 WHEN 0 THEN repeat('compressed ' || i, 300) ELSE 'plain ' || i END,
            CASE WHEN i % 50 = 0 THEN repeat(md5(i::text), 120) ELSE 'inline ' || i END,
            CASE i % 97 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN power(10::numeric, 60) + i ELSE i / 3.0 END FROM generate_series(1, 20000) i;
        VACUUM (ANALYZE) l; CHECKPOINT""")
    statements = ("SELECT count(*), sum(a), sum(length(s)), sum(length(p)), max(z)::text FROM l",
                  "SELECT a, md5(s), md5(p), z::text FROM l WHERE a % 301 = 0 ORDER BY a",
                  "SELECT count(*) FROM l WHERE p LIKE '%abc%'", "SELECT s, count(*) FROM l WHERE a < 300 GROUP BY s ORDER BY s")
    agree(session, "l", "answers of a table with compressed and external values", statements)
    ok(blocks(session, "SELECT sum(a) FROM l")[0] == size(session, "l"), "which is read directly")

    each(session, """CREATE TABLE w0 (a int) WITH (autovacuum_enabled = off); INSERT INTO w0 SELECT i FROM generate_series(1, 200000) i;
        CREATE TABLE e (a int) WITH (autovacuum_enabled = off); INSERT INTO e SELECT i FROM generate_series(1, 200000) i;
        DELETE FROM e WHERE a BETWEEN 1000 AND 150000; VACUUM w0; VACUUM e; CHECKPOINT""")
    for table in ("w0", "e"):
        agree(session, table, f"answers of {table}", ("SELECT count(*), sum(a), min(a), max(a) FROM {t}", "SELECT a FROM {t} WHERE a % 50021 = 0 ORDER BY a"))
        equal(blocks(session, f"SELECT sum(a) FROM {table}")[0], size(session, table), f"{table} is read directly")
    session.execute("DROP TABLE c, l, w0, e")
    session.close()


def tablespaces_and_partitions():
    space = folder("gpu_blocks_space")
    os.chown(space, *owner)
    session = connect()
    session.execute(f"CREATE TABLESPACE blocks_space LOCATION '{space}'")
    make_table(session, "ts", "TABLESPACE blocks_space")
    each(session, "VACUUM (ANALYZE) ts; CHECKPOINT")
    equal(blocks(session, QUERIES[0].format(t="ts")), [size(session, "ts"), 0], "a table of another tablespace")
    agree(session, "ts", "its answers")
    each(session, "ALTER TABLE ts SET TABLESPACE pg_default; VACUUM ts; CHECKPOINT")
    agree(session, "ts", "after it has moved")
    each(session, "DROP TABLE ts; DROP TABLESPACE blocks_space")

    session.execute(f"CREATE TABLE p ({COLUMNS}) PARTITION BY LIST (g)")
    for g in range(7):
        session.execute(f"CREATE TABLE p{g} PARTITION OF p FOR VALUES IN ({g}) WITH (autovacuum_enabled = off)")
    each(session, f"INSERT INTO p SELECT {VALUES} FROM generate_series(1, {ROWS}) i; VACUUM (ANALYZE) p; CHECKPOINT")
    agree(session, "p", "answers of a partitioned table")
    session.execute("UPDATE p SET b = b + 1 WHERE a % 501 = 0")
    agree(session, "p", "and when some of it was changed")
    session.execute("DROP TABLE p")
    session.close()


def changes():
    """Other sessions change the table; some roll back, and VACUUM removes what they have left."""
    session = connect()
    session.execute("DROP TABLE IF EXISTS t")
    make_table(session, "t")
    each(session, "CREATE INDEX ON t (a); VACUUM (ANALYZE) t; CHECKPOINT")
    end = time.time() + SECONDS
    problems = []
    direct = [0]

    def run(work):
        def loop():
            own = psycopg.connect(server.conninfo("postgres"), autocommit=True)
            own.execute("SET pg_strom.enabled = off")
            while time.time() < end and not problems:
                try:
                    work(own)
                except psycopg.errors.LockNotAvailable:
                    pass
                except psycopg.Error as error:
                    problems.append(repr(error))
            own.close()

        thread = threading.Thread(target=loop)
        thread.start()
        return thread

    def write(own):
        own.execute("BEGIN")
        start = random.randrange(5000)
        own.execute(random.choice((
            f"UPDATE t SET s = s || 'u', n = n + 1 WHERE a BETWEEN {start} AND {start + 3}",
            f"UPDATE t SET b = b + 1 WHERE a = {start}",
            f"DELETE FROM t WHERE a = {start}",
            f"INSERT INTO t SELECT {VALUES} FROM generate_series(1, 300) i",
            f"SELECT count(*) FROM (SELECT FROM t WHERE a = {start} FOR UPDATE) x")))
        own.execute(random.choice(("COMMIT", "ROLLBACK")))
        time.sleep(random.random() / 20)

    def clean(own):
        own.execute(random.choice(("VACUUM t", "VACUUM (FREEZE) t", "VACUUM (TRUNCATE) t", "CHECKPOINT", "CHECKPOINT",
                                   "VACUUM (DISABLE_PAGE_SKIPPING) t")))
        time.sleep(random.random() / 10)

    def scan(_):
        own = connect(enable_column_cache=random.choice(("on", "off")))
        try:
            own.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM t LIMIT 1")
            for _ in range(3):
                time.sleep(random.random() / 5)
                for query in random.sample(QUERIES, 4):
                    query = query.format(t="t")
                    found, wanted = in_transaction(own, query)
                    if found != wanted:
                        problems.append(f"{query}: {found!r:.500} instead of {wanted!r:.500}")
                direct[0] += blocks(own, QUERIES[1].format(t="t"))[0]
            own.execute("COMMIT")
        finally:
            own.close()

    threads = [run(write), run(write), run(clean), run(scan), run(scan)]
    for thread in threads:
        thread.join()
    ok(not problems, "answers while others insert, update, delete, roll back and vacuum", *problems[:5])
    ok(direct[0] > 0, "some of it was read directly", direct)

    each(session, "DELETE FROM t WHERE b > 1000003::int8 * 20000; VACUUM (TRUNCATE) t; CHECKPOINT")
    agree(session, "t", "after the end of the table was cut off")
    ok(blocks(session, QUERIES[1].format(t="t"))[0] > 0, "which is read directly")
    session.close()


def held_up():
    """The first launches hang, so that blocks are read long after it was looked which may be."""
    session, other = connect(), connect("cpu", enabled="off")
    statement = "SELECT count(*), sum(a), count(s), min(s), max(s) FROM t"
    for what, change in (
            ("rows that come", lambda: other.execute(f"INSERT INTO t SELECT {VALUES} FROM generate_series(1, 9000) i")),
            ("rows that go", lambda: other.execute("DELETE FROM t WHERE a % 3 = 0")),
            ("rows that change", lambda: other.execute("UPDATE t SET s = 'changed' WHERE a % 7 = 0")),
            ("rows that came and went", lambda: each(other, f"BEGIN; INSERT INTO t SELECT {VALUES} FROM generate_series(1, 9000) i; CHECKPOINT; ROLLBACK; VACUUM t")),
            ("frozen rows", lambda: other.execute("VACUUM (FREEZE) t")),
            ("locked rows", lambda: each(other, "BEGIN; SELECT count(*) FROM (SELECT FROM t WHERE a % 5 = 0 FOR UPDATE) x; COMMIT")),
            ("nothing", lambda: None)):
        other.execute("DROP TABLE IF EXISTS t")
        make_table(other, "t")
        each(other, "DELETE FROM t WHERE b % 4 = 0; VACUUM (ANALYZE) t; CHECKPOINT")
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM t LIMIT 1")
        found = []
        HANG.touch()
        thread = threading.Thread(target=lambda: found.extend((answer(session, statement), blocks(session, statement))))
        thread.start()
        time.sleep(0.7)
        change()
        other.execute("CHECKPOINT")
        HANG.unlink()
        thread.join()
        wanted = in_transaction(session, statement)[1]
        session.execute("COMMIT")
        equal(found[0], wanted, f"{what} meanwhile: the answer")
        if what == "nothing":
            ok(found[1][0] > 0 and found[1][1] == 0, "all of it was read directly", found[1])
    session.close()
    other.close()


def little_memory():
    session = connect()
    session.execute("DROP TABLE IF EXISTS t")
    make_table(session, "t")
    each(session, "VACUUM (ANALYZE) t; CHECKPOINT")
    agree(session, "t", "answers of a device with little memory")
    others = [connect() for _ in range(4)]
    problems = []

    def ask(own):
        for query in QUERIES[:6]:
            found, wanted = with_and_without_engine(own, query.format(t="t"), answer)
            if found != wanted:
                problems.append((query, found, wanted))

    threads = [threading.Thread(target=ask, args=(other,)) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok(not problems, "and of one that several sessions share", *problems[:3])


def damage(checksums):
    """A page that is damaged on the disk: PostgreSQL's own error, or its answer."""
    session = connect()
    session.execute("DROP TABLE IF EXISTS x")
    make_table(session, "x")
    each(session, "VACUUM (ANALYZE) x; CHECKPOINT")
    path = server.data / session.execute("SELECT pg_relation_filepath('x')").fetchone()[0]
    statement = "SELECT count(*), sum(a), count(s) FROM x"
    agree(session, "x", f"before it is damaged, checksums {checksums}", QUERIES[:3])
    kept = path.read_bytes()

    def damaged(what, change, same=True):
        evict(session)
        with open(path, "r+b") as file:
            change(file)
        os.sync()
        found = with_and_without_engine(session, statement, answer)
        ok(found[0] == found[1] or not same and found[0][0] == "XX001", f"{what}, checksums {checksums}", found)
        evict(session)
        path.write_bytes(kept)
        return found

    def put(place, content):
        def change(file):
            file.seek(5 * 8192 + place)
            file.write(content)
        return change

    error = damaged("a header that cannot be", put(12, b"\xff\xff"))
    equal(error[0][0], "XX001", "is an error")
    damaged("a page of zeros", put(0, b"\0" * 8192))
    damaged("a tuple behind the page", put(24, b"\xf0\x9f\xff\x01"), same=False)
    found = damaged("bytes of a value", put(8180, b"\x5a" * 4))
    if checksums == "on":
        equal(found[0][0], "XX001", "a wrong checksum is an error")
        session.execute("SET ignore_checksum_failure = on")
        damaged("a wrong checksum that is ignored", put(8191, b"\x01"))
        session.execute("RESET ignore_checksum_failure")
    damaged("a file that is cut", lambda file: file.truncate(len(kept) - 3 * 8192 - 100), same=False)
    agree(session, "x", f"mended, checksums {checksums}", QUERIES[:3])
    session.execute("DROP TABLE x")
    session.close()


HANG = TEST_DIR / "gpu_blocks_hang"
# A server without checksums; one with them, where the library in cuFile's place reads, which fills no mirrors; one whose
# device has little memory.
for checksums, faults, memory in (("off", None, 2048), ("on", "", 2048), ("on", "short", 2048), ("off", None, 12)):
    server = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "gpu_blocks_cluster", os.environ["STROM_SERVER_USER"], keeps_columns=True)
    server.create(("-k",) if checksums == "on" else ())
    owner = (server.data.stat().st_uid, server.data.stat().st_gid)
    server.configure("shared_preload_libraries = 'pg_strom'", "shared_buffers = 16MB", "wal_level = replica")
    try:
        cufile = {} if faults is None else {"STROM_CUFILE_LIBRARY": str(CUFILE), "STROM_FAKE_CUFILE": faults}
        server.start({**ENVIRONMENT, **cufile, "STROM_HOST_DEVICE_MB": str(memory), "STROM_HOST_DEVICE_HANG": str(HANG),
                      **({"STROM_DEVICE_MORSEL_ROWS": "5000"} if faults != "short" else {})})
        with gpu_server.device_session(server, "cpu") as first:
            first.execute("SET client_min_messages = warning; CREATE EXTENSION pg_strom")
            for i in range(FILLERS):
                first.execute(f"CREATE TABLE filler{i} WITH (autovacuum_enabled = off) AS SELECT i, repeat('f', 1000) FROM generate_series(1, 2500) i")
            ok(wait_until(lambda: service_answers(first), seconds=10), f"a service, checksums {checksums}, {faults}, {memory} MB")
        if memory < 100:
            little_memory()
        elif faults == "short":
            held_up()
        elif checksums == "off":
            which_blocks()
            with_the_column_cache()
            columns_that_change()
            tablespaces_and_partitions()
            changes()
        else:
            session = connect()
            make_table(session, "t")
            each(session, "VACUUM (ANALYZE) t; CHECKPOINT")
            evict(session)
            equal(blocks(session, QUERIES[0].format(t="t")), [size(session, "t"), 0], "checksums are right")
            agree(session, "t", "answers with checksums")
            session.close()
        if memory > 100:
            damage(checksums)
        equal(server.last_signals(), [], "no process has died")
    finally:
        server.remove()
done()
