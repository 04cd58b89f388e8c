#!/usr/bin/env python3
"""Join tables that stay in the GPU's memory between queries: answers from them while inner sides change, compared with
PostgreSQL's own; which queries find which; sessions and services that die; too little memory. Servers of its own, with the
device of test/modules/host_device.cpp, where memory that was released holds nonsense."""

import os
import random
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq

import gpu_cached
from gpu_cached import (SECONDS, SETTLED, agree, answer, both, crash_server, kill_services, pinned, share_little_memory,
                      warm)
from gpu_server import Cluster, device_session, plan_sums, readable_module
from server import TEST_DIR, done, equal, folder, ok, wait_until

ROWS = 60_000
INNER = 3000
module = readable_module("strom_host_device.so", copy="strom_host_device_joins.so")

# Inner sides: h and k are tables, f and p files.
QUERIES = (
    "SELECT count(*), sum(t.b), min(h.name), max(h.name) FROM t JOIN h ON h.id = t.a",
    "SELECT h.grp, count(*), sum(t.b) FROM t JOIN h ON h.id = t.a GROUP BY 1 ORDER BY 1",
    "SELECT h.name, count(*) FROM t JOIN h ON h.id = t.a WHERE t.b % 97 = 1 GROUP BY 1 ORDER BY 1",
    "SELECT t.b, h.name, h.n FROM t LEFT JOIN h ON h.id = t.a AND h.grp < 5 WHERE t.b % 311 = 7 ORDER BY 1, 2",
    "SELECT h.id, h.name, t.b FROM t RIGHT JOIN h ON h.id = t.a AND t.b % 50 = 3 ORDER BY 1, 3, 2",
    "SELECT h.id, h.name, t.b FROM (SELECT * FROM t WHERE b % 40 = 3) t FULL JOIN h ON h.id = t.a ORDER BY 1, 3, 2",
    "SELECT count(*), sum(b) FROM t WHERE a IN (SELECT id FROM h WHERE grp = 2)",
    "SELECT count(*), sum(b) FROM t WHERE NOT EXISTS (SELECT FROM h WHERE h.id = t.a AND h.grp <> 3)",
    "SELECT count(*), sum(t.b), sum(h.n), max(h.name) FROM t JOIN h ON h.name = t.s",
    "SELECT count(*), sum(t.b), max(k.word) FROM t JOIN k ON k.id = t.g AND k.word = t.s",
    "SELECT h.grp, k.word, count(*) FROM t JOIN h ON h.id = t.a JOIN k ON k.id = t.g GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT f.word, count(*), sum(f.v) FROM t JOIN f ON f.id = t.a GROUP BY 1 ORDER BY 1",
    "SELECT t.b, f.word, f.v FROM t LEFT JOIN f ON f.id = t.a AND f.v % 3 = 0 WHERE t.b % 301 = 7 ORDER BY 1, 2, 3",
    "SELECT count(*), max(p.word), sum(p.v), max(h.name) FROM t JOIN p ON p.id = t.a JOIN h ON h.id = p.id",
    "SELECT count(*), sum(t.b), max(x.name) FROM t JOIN (SELECT h.id, max(h.name || k.word) AS name FROM h JOIN k ON k.id = h.grp GROUP BY 1) x ON x.id = t.a",
    "SELECT count(*), sum(10000000 / (h.grp - 100)) FROM t JOIN h ON h.id = t.a",
    "SELECT count(*), sum(t.b) FROM t JOIN h ON h.id = t.a AND 1000 / (h.id - 7) > -500 WHERE h.id <> 7",
)
FOUND = QUERIES[:14]  # all of their inner sides are cached


def connect(device="gpu", **settings):
    # Prepared statements would keep the plans of other settings.
    session = device_session(server, device, prepare_threshold=None, **settings)
    session.execute("SET enable_mergejoin = off; SET enable_nestloop = off")
    return session


def tables_of(session, statement):
    """Join tables that were cached, and that were built."""
    return tuple(plan_sums(session, statement, "GPU Join Tables Kept", "GPU Join Tables Built"))


def keeps(session, statement, wanted, name):
    found = tables_of(session, statement)
    ok(found == wanted, name, statement, f"found {found}, wanted {wanted}",
       *(line for (line,) in session.execute("EXPLAIN ANALYZE " + statement).fetchall()))


def table_of_words(version, rows=INNER):
    return pa.table({"id": pa.array(range(rows), pa.int32()),
                     "word": pa.array([f"word {(i + version) % 37} of {version}" if i % 11 else None for i in range(rows)]),
                     "v": pa.array([(i * 7 + version) % rows for i in range(rows)], pa.int32())})


def write_file(path, version, rows=INNER):
    gpu_cached.write_file(path, table_of_words(version, rows), batch_rows=700)


def make_tables(session):
    session.execute(f"""
        CREATE TABLE t (a int NOT NULL, b int8, g int2, s text) WITH (autovacuum_enabled = off);
        INSERT INTO t SELECT i % 5000, i, i % 7, CASE WHEN i % 5 > 0 THEN 'name ' || i % 4000 ELSE 'word ' || i % 7 END
            FROM generate_series(1, {ROWS}) i;
        CREATE TABLE h (id int, name text, grp int, n numeric(12,2)) WITH (autovacuum_enabled = off);
        INSERT INTO h SELECT i, CASE WHEN i % 13 > 0 THEN 'name ' || i END, i % 9, CASE WHEN i % 11 > 0 THEN i / 100.0 END
            FROM generate_series(1, {INNER}) i;
        CREATE TABLE k (id int2, word text) WITH (autovacuum_enabled = off);
        INSERT INTO k SELECT i, 'word ' || i FROM generate_series(0, 5) i;
        CREATE TABLE other (LIKE h) WITH (autovacuum_enabled = off);
        INSERT INTO other SELECT * FROM h;
        CREATE FOREIGN TABLE f (id int, word text, v int) SERVER arrow_fdw OPTIONS (file '{path}');
        CREATE FOREIGN TABLE p (id int, word text, v int) SERVER arrow_fdw OPTIONS (file '{parquet}')""")
    for table in ("t", "h", "k", "other"):
        session.execute(f"VACUUM (FREEZE, ANALYZE) {table}")


def what_stays():
    session, other = connect(), connect()
    first = QUERIES[0]
    keeps(session, first, (0, 1), "the first query builds")
    keeps(session, first, (1, 0), "the second query finds the table")
    keeps(other, first, (1, 0), "as that of another session does")
    text = "\n".join(line for (line,) in other.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + first).fetchall())
    ok("GPU Join Tables: [kept: 1, built: 0]" in text, "EXPLAIN tells of it", text)
    warm(session, QUERIES, 2)
    agree(session, QUERIES, "answers with kept join tables")
    agree(other, QUERIES, "and those of another session")
    for statement in FOUND:
        kept, built = tables_of(other, statement)
        ok(kept > 0 and built == 0, f"found: {statement}", kept, built)
    session.execute("SET pg_strom.enable_gpu_cache = off")
    keeps(session, first, (0, 1), "not with pg_strom.enable_gpu_cache = off")
    agree(session, QUERIES, "the same answers without")
    session.execute("RESET pg_strom.enable_gpu_cache")
    rows = session.execute("SELECT relation::text, file, columns, pieces > 1, bytes > 10000, uses > 1, pinned FROM pgstrom.gpu_cache_info "
                           "WHERE kind = 'join tables' ORDER BY 1, 2").fetchall()
    equal([r for r in rows if r[0] not in ("k", "t")], [("h", None, None, True, True, True, 0), (None, str(path), None, True, True, True, 0),
                                            (None, str(parquet), None, False, True, True, 0)], "pgstrom.gpu_cache_info")
    freed = session.execute("SELECT pgstrom.gpu_cache_reset()").fetchone()[0]
    ok(freed > 1_000_000, "pgstrom.gpu_cache_reset()", freed)
    keeps(other, first, (0, 1), "forgets them")
    session.close()
    other.close()


def which_table():
    """What is another table, and what is not."""
    session = connect()
    session.execute("SELECT pgstrom.gpu_cache_reset()")
    one = "SELECT count(*), sum(t.b) FROM t JOIN h ON h.id = t.a WHERE h.grp < {}"
    keeps(session, one.format(3), (0, 1), "a filter with a constant")
    keeps(session, one.format(4), (0, 1), "with another one")
    keeps(session, one.format(3), (1, 0), "with the first again")
    equal([answer(session, one.format(i)) for i in (3, 4)], [both(session, one.format(i))[1] for i in (3, 4)], "each has its answer")
    keeps(session, "SELECT t.g, count(*) FROM t JOIN h ON h.id = t.a WHERE h.grp < 3 GROUP BY 1", (1, 0), "the same inner side of another query")
    keeps(session, "SELECT count(*), sum(t.b), max(h.name) FROM t JOIN h ON h.id = t.a WHERE h.grp < 3", (0, 1), "another payload")
    keeps(session, one.format(3).replace("h.", "other.").replace("JOIN h", "JOIN other"), (0, 1), "another table with the same rows")
    session.execute("PREPARE q (int, text) AS SELECT count(*), sum(t.b) FROM t JOIN h ON h.id = t.a WHERE h.grp < $1 AND h.name <> $2")
    session.execute("SET plan_cache_mode = force_generic_plan")
    answers = []
    for arguments, wanted in (("3, 'name 5'", (0, 1)), ("3, 'name 5'", (1, 0)), ("5, 'name 5'", (0, 1)), ("3, 'name 6'", (0, 1)), ("3, NULL", (0, 1))):
        keeps(session, f"EXECUTE q ({arguments})", wanted, f"parameters {arguments}")
        answers.append(answer(session, f"EXECUTE q ({arguments})"))
    session.execute("DEALLOCATE q; RESET plan_cache_mode")
    equal(answers, [both(session, f"SELECT count(*), sum(t.b) FROM t JOIN h ON h.id = t.a WHERE h.grp < {g} AND h.name <> {n}")[1]
                    for g, n in ((3, "'name 5'"), (3, "'name 5'"), (5, "'name 5'"), (3, "'name 6'"), (3, "NULL"))], "with their answers")
    # A rescan for each row of an outer query.
    rescans = "SELECT g, (SELECT count(*) FROM t JOIN h ON h.id = t.a WHERE h.grp = x.g) FROM generate_series(1, 4) x(g)"
    for _ in range(2):
        equal(*both(session, rescans), "with parameters of an outer query")
    # Rows that PostgreSQL decides, and tables in several passes, are built each time.
    fallback = "SELECT count(*), sum(t.b) FROM t JOIN h ON h.id = t.a AND 1000 / (h.id - 7) > -500"
    for _ in range(2):
        equal(*both(session, fallback), "an error of the inner side")
    fallback = QUERIES[16]
    warm(session, (fallback,), 2)
    ok(tables_of(session, fallback)[0] == 0 or both(session, fallback)[0] == both(session, fallback)[1], "fallback rows of the inner side")
    session.execute("SET pg_strom.work_memory = '64kB'")
    passes = "SELECT count(*), sum(t.b), max(x.s) FROM t JOIN t x ON x.b = t.b"
    for _ in range(2):
        equal(*both(session, passes), "an inner side in several passes")
        equal(tables_of(session, passes)[0], 0, "is not kept")
    session.execute("RESET pg_strom.work_memory")
    session.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
    keeps(session, one.format(3), (0, 1), "a serializable transaction reads what it depends on")
    session.execute("COMMIT")
    session.execute("SET pg_strom.enable_column_cache = off")
    keeps(session, one.format(3), (0, 1), "not without the column cache")
    keeps(session, QUERIES[11], (0, 1), "but of files")
    keeps(session, QUERIES[11], (1, 0), "which need none")
    session.close()


def changing_files():
    session, other = connect(), connect()
    statements = QUERIES[11:14]

    def replace(version):
        write_file(files / "new.arrow", version)
        os.replace(files / "new.arrow", path)

    def rewrite(version):
        write_file(path, version)

    def rewrite_with_old_times(version):
        times = os.stat(path)
        write_file(path, version)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def another_parquet(version):
        pq.write_table(table_of_words(version), files / "new.parquet")
        os.replace(files / "new.parquet", parquet)

    version = 10
    for change in (replace, rewrite, rewrite_with_old_times, another_parquet, replace):
        for pause in (SETTLED, 0, 0, SETTLED):
            version += 1
            change(version)
            time.sleep(pause)
            agree(session, statements, f"after {change.__name__}, {pause} s later")
            agree(other, statements, f"after {change.__name__}, {pause} s later, in another session")
    warm(session, statements, 2)
    for statement in statements:
        equal(tables_of(other, statement)[1], 0, "tables are kept again")
    session.close()
    other.close()


def changing_tables():
    session, other = connect(), connect()
    changes = (
        "UPDATE h SET name = 'changed' WHERE id = 5",
        "VACUUM h",
        "DELETE FROM h WHERE id BETWEEN 100 AND 110",
        "VACUUM (FREEZE) h",
        "INSERT INTO h (id, grp) VALUES (4999, 1)",
        "VACUUM h",
        "BEGIN; UPDATE h SET grp = grp + 1; {look}; ROLLBACK",
        "VACUUM h",
        "BEGIN; DELETE FROM h; {look}; ROLLBACK",
        "VACUUM h",
        "BEGIN; ALTER TABLE h ALTER grp TYPE int8; {look}; ROLLBACK",
        "VACUUM FULL h",
        "VACUUM h",
        "ALTER TABLE h ALTER n TYPE numeric(14,3)",
        "VACUUM h",
        "BEGIN; TRUNCATE h; INSERT INTO h (id, grp) VALUES (3, 3); {look}; ROLLBACK",
        "INSERT INTO h SELECT i, 'name ' || i, i % 9, i FROM generate_series(5000, 9000) i",
        "VACUUM h",
        "UPDATE h SET name = repeat('long ', 2000) || id WHERE id = 17",
        "VACUUM h",
        "UPDATE h SET name = NULL WHERE id = 17",
        "VACUUM h",
        "CREATE TABLE h2 (LIKE h); INSERT INTO h2 SELECT * FROM h WHERE id % 2 = 0; VACUUM h2; DROP TABLE h; ALTER TABLE h2 RENAME TO h",
        "TRUNCATE h",
        f"INSERT INTO h SELECT i, 'name ' || i, i % 9, i / 100.0 FROM generate_series(1, {INNER}) i; VACUUM (FREEZE, ANALYZE) h",
    )
    looks = 0
    for change in changes:
        warm(session, QUERIES[:6], 2)
        looks += tables_of(session, QUERIES[0]) == (1, 0)
        for part in change.split("; "):
            if part == "{look}":
                warm(other, QUERIES[:3], 2)
            else:
                other.execute(part)
        agree(session, QUERIES[:11], f"after {change}")
        agree(other, QUERIES[:3], f"after {change}, in the session that did it")
    ok(looks > 8, "tables were kept between the changes", looks)
    # A snapshot that is older than the cached tables.
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    before = [answer(session, s) for s in QUERIES[:6]]
    other.execute("UPDATE h SET grp = grp + 2, name = 'new ' || id WHERE id % 9 = 1")
    other.execute("VACUUM h")
    warm(other, QUERIES[:6], 2)
    equal([answer(session, s) for s in QUERIES[:6]], before, "an old snapshot sees what it saw")
    session.execute("COMMIT")
    other.execute("VACUUM h")
    warm(other, QUERIES[:6], 2)
    agree(session, QUERIES, "and a new one what is there now")
    keeps(session, QUERIES[0], (1, 0), "from the table that was kept meanwhile")
    # An old one again, that finds a table that was built before it.
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    before = [answer(session, s) for s in QUERIES[:6]]
    other.execute("DELETE FROM h WHERE id % 100 = 3")
    equal([answer(session, s) for s in QUERIES[:6]], before, "a deletion behind a snapshot")
    session.execute("ROLLBACK")
    agree(session, QUERIES[:6], "and before the next")
    other.execute("VACUUM h")
    session.close()
    other.close()


def crowd():
    """Readers compare while writers change inner sides."""
    differences, looks = [], [0]
    end = time.monotonic() + SECONDS

    def write():
        rng = random.Random(1)
        session = connect("cpu")
        version = 1000
        while time.monotonic() < end:
            statement = rng.choice(("UPDATE h SET grp = (grp + 1) % 9 WHERE id % 1000 = {}", "DELETE FROM h WHERE id = {}", "VACUUM h",
                                    "VACUUM (FREEZE) h", "INSERT INTO h (id, grp, name) SELECT {}, 3, 'name ' || i FROM generate_series(1, 5) i"))
            session.execute(statement.format(rng.randrange(1000)))
            if rng.random() < 0.1:
                version += 1
                write_file(files / "new.arrow", version)
                os.replace(files / "new.arrow", path)
            time.sleep(rng.random() * 0.2)
        session.close()

    def read(number):
        rng = random.Random(100 + number)
        session = connect()
        while time.monotonic() < end:
            ours, theirs = both(session, statement := rng.choice(QUERIES[:11]))
            if ours != theirs:
                differences.append((statement, ours, theirs))
            found = answer(session, "SELECT count(*), count(DISTINCT f.v), count(DISTINCT f.word) >= 37 FROM t JOIN f ON f.id = t.a")
            if found != [(ROWS // 5000 * INNER, INNER, True)]:  # so it is in all versions
                differences.append(("file", found))
            looks[0] += tables_of(session, rng.choice(QUERIES[:12]))[0]
        session.close()

    threads = [threading.Thread(target=write)] + [threading.Thread(target=read, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(differences[:3], [], "answers while others write")
    print(f"# {looks[0]} tables were found in the GPU's memory")


def deaths():
    watcher = connect("cpu")
    watcher.execute("VACUUM h")
    session = connect()
    for i in range(8):  # while tables are built, copied or probed
        watcher.execute("SELECT pgstrom.gpu_cache_reset()")
        victim = connect()
        thread = threading.Thread(target=lambda v=victim: warm(v, (QUERIES[8], QUERIES[10]), 2))
        thread.start()
        time.sleep(random.random() * 0.1)
        if i % 2 == 0:
            watcher.execute("SELECT pg_terminate_backend(%s)", (victim.info.backend_pid,))
        else:
            victim.cancel()
        thread.join()
        victim.close()
    ok(wait_until(lambda: pinned(watcher) == 0, 10), "sessions that end let their tables go")
    agree(session, QUERIES, "answers after that")
    session.execute("BEGIN; DECLARE c CURSOR FOR SELECT t.b, h.name FROM t JOIN h ON h.id = t.a")
    session.execute("FETCH 10 FROM c")
    watcher.execute("SELECT pgstrom.gpu_cache_reset()")
    rest = session.execute("FETCH ALL FROM c").fetchall()
    session.execute("COMMIT")
    equal(len(rest), session.execute("SELECT count(*) - 10 FROM t JOIN h ON h.id = t.a").fetchone()[0], "a cursor goes on with a table that was forgotten")
    ok(wait_until(lambda: pinned(watcher) == 0, 10), "and lets it go")

    # The service, with tables, under load.
    kill_services(connect, module, watcher, {s: both(session, s)[1] for s in QUERIES[:6] + QUERIES[11:12]})
    session.close()
    session = connect()
    agree(session, QUERIES, "answers of the next service")
    warm(session, QUERIES[:1], 2)
    keeps(session, QUERIES[0], (1, 0), "which keeps tables again")

    session = crash_server(connect, module, session, watcher)
    warm(session, QUERIES, 2)
    agree(session, QUERIES, "answers after the crash")
    session.close()


def little_memory():
    found, total = share_little_memory(connect, QUERIES, 16, lambda session, statement: tables_of(session, statement)[0])
    print(f"# {found} tables were found in the GPU's memory, {total} bytes are there")


files = folder("gpu_joins")
os.chmod(files, 0o777)
path, parquet = files / "a.arrow", files / "b.parquet"
write_file(path, 1)
pq.write_table(table_of_words(2), parquet)
server = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "gpu_joins_cluster", os.environ["STROM_SERVER_USER"], keeps_columns=True)
gpu_cached.run(server, connect, module, make_tables, (what_stays, which_table, changing_files, changing_tables, crowd, deaths),
             little_memory, "gpu_joins.log")
done()
