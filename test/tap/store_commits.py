#!/usr/bin/env python3
"""Commits of store tables: large ones, many tables in one, and what others do while one is being published."""
import time

import psycopg

from server import alive, done, equal, ok, query
from store_tables import Background, StoreTables

TABLES = StoreTables("store_commits")
DB, FILES, connect, make_table = TABLES.database, TABLES.folder, TABLES.connect, TABLES.make


def large_redo():
    """Rows as large as rows may be, together in one transaction: their redo does not fit into small buffers."""
    make_table("large", "id int, note text", durability="async")
    one = connect()
    one.execute("SET statement_timeout = '60s'")
    most = 1 << 20
    for sizes in ((200_000, 1_000_000), (most - 100,), (250_000, 1_000_000, 1_000_000, 10, 1_000_000)):
        one.execute("BEGIN")
        one.execute("INSERT INTO large SELECT n, repeat('x', size) FROM unnest(%s::int[]) WITH ORDINALITY AS s(size, n)", [list(sizes)])
        commit = Background(one, "COMMIT")
        ok(commit.end() != "connection lost" and not commit.runs(), f"a commit of rows of {sizes} bytes ends")
        equal(query("SELECT array_agg(length(note) ORDER BY id)::text FROM large", DB), "{" + ",".join(map(str, sizes)) + "}", "and its rows are there")
        one.execute("TRUNCATE large")
    one.close()


def attach_beside_checkpoint():
    """A session that attaches a client and stays in its transaction is in nobody's way."""
    make_table("attached", "id int, n int", kv_access="true")
    query("INSERT INTO attached VALUES (1, 1)", DB)
    one, other = connect(), connect()
    one.execute("BEGIN")
    one.execute("SELECT pgstrom.kv_attach('attached')")
    other.execute("SET lock_timeout = '10s'")
    try:
        other.execute("SELECT pgstrom.store_checkpoint('attached')")
        other.execute("UPDATE attached SET n = 2")
        ok(True, "a checkpoint beside an open kv_attach()")
    except psycopg.Error as error:
        ok(False, "a checkpoint beside an open kv_attach()", str(error))
    one.close()
    other.close()


def undone_before_published():
    """A row is changed by others, who change their mind, while its maker is still publishing it."""
    rows = 300_000
    make_table("late", "id int, n int", max_num_rows=2 * rows, kv_access="true")
    query(f"INSERT INTO late SELECT i, 0 FROM generate_series(1, {rows}) i", DB)
    one, other, checker, observer = connect(), connect(), connect(), connect()
    # Checks hold the region's lock nearly always, so that a commit waits for it.
    checks = Background(checker, "SELECT pgstrom.store_check('late') FROM generate_series(1, 10000)")
    waits = "SELECT wait_event_type = 'LWLock' FROM pg_stat_activity WHERE pid = %s"
    hits, key, end = 0, rows, time.monotonic() + 60
    while hits < 3 and checks.runs() and time.monotonic() < end:
        key += 1
        one.execute("BEGIN")
        one.execute("INSERT INTO late VALUES (%s, 0)", [key])
        commit = Background(one, "COMMIT")
        while commit.runs() and not observer.execute(waits, [one.info.backend_pid]).fetchone()[0]:
            pass
        other.execute("BEGIN")
        changed = other.execute("UPDATE late SET n = 1 WHERE id = %s", [key]).rowcount
        hits += changed == 1 and commit.runs()
        commit.end()
        other.execute("ROLLBACK")
    checker.cancel()
    ok(checks.end() == "57014", "the checks end when they are cancelled", checks.error)
    ok(hits > 0, "rows were changed before they were published", key - rows)
    equal(query("SELECT pgstrom.store_check('late')", DB), str(key), "what is published is what is committed")
    query(f"DELETE FROM late WHERE id > {rows}", DB)
    query("SELECT pgstrom.store_compact('late'); SELECT pgstrom.store_compact('late')", DB)
    equal(query("SELECT ended_versions FROM pgstrom.store_info() WHERE relation = 'late'::regclass", DB), "0", "no version stays for ever")
    for session in (one, other, checker, observer):
        session.close()


def many_tables():
    """A transaction changes as many tables as it can publish together, and is refused more while it can still fail."""
    count = 101
    query(f"""DO $$ BEGIN FOR i IN 1..{count} LOOP
                EXECUTE format('CREATE FOREIGN TABLE many_%s (a int) SERVER gstore_fdw OPTIONS (max_num_rows ''10'', redo_log_limit ''16MB'', '
                               'base_file ''{FILES}/many_%s.base'', redo_log_file ''{FILES}/many_%s.redo'')', i, i, i); END LOOP; END $$""", DB)
    insert = "DO $$ BEGIN FOR i IN 1..{} LOOP EXECUTE format('INSERT INTO many_%s VALUES (1)', i); END LOOP; END $$"
    one = connect()
    one.execute(insert.format(count - 1))
    equal(one.execute(f"SELECT count(*) FROM many_{count - 1}").fetchone()[0], 1, f"{count - 1} tables in one transaction")
    try:
        one.execute(insert.format(count))
        ok(False, f"{count} tables in one transaction")
    except psycopg.errors.ProgramLimitExceeded as error:
        ok("at most 100 store tables" in str(error), f"{count} tables in one transaction", str(error))
    equal(one.execute("SELECT count(*) FROM many_1").fetchone()[0], 1, "nothing of what was refused is there")
    one.close()
    query(f"DO $$ BEGIN FOR i IN 1..{count} LOOP EXECUTE format('DROP FOREIGN TABLE many_%s', i); END LOOP; END $$", DB)


large_redo()
attach_beside_checkpoint()
undone_before_published()
many_tables()
alive("commits of store tables")
done()
