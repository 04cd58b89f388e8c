#!/usr/bin/env python3
"""What is wrong with one store table, or with its definition, does no harm to others: files that cannot be written,
changes of types and parents, names of files. And sessions that drop tables give back what they had of them."""
import os
import pathlib
import socket
import struct
import threading
import time

import psycopg

from server import alive, done, equal, ok, query, state_of, wait_until
from store_tables import Background, StoreTables

TABLES = StoreTables("store_faults")
DB, FILES, connect, make_table = TABLES.database, pathlib.Path(TABLES.folder), TABLES.connect, TABLES.make
UNSUPPORTED, BAD_OPTION = "0A000", "HV00D"


def state_of_statement(statement):
    with connect() as session:
        return state_of(lambda: session.execute(statement))


def redo_of(name):
    return query(f"SELECT redo_appended - redo_durable FROM pgstrom.store_info() WHERE relation = '{name}'::regclass", DB)


def folder_that_goes_away():
    """The worker cannot write the base file of one table. The others have their log written all the same."""
    folder, away = FILES / "sub", FILES / "away"
    folder.mkdir()
    folder.chmod(0o777)
    for name, base in (("bad_first", folder), ("good", FILES), ("bad_last", folder)):
        query(f"CREATE FOREIGN TABLE {name} (id int, note text) SERVER gstore_fdw OPTIONS (base_file '{base}/{name}.base', redo_log_file '{FILES}/{name}.redo', "
              "max_num_rows '100000', primary_key 'id', durability 'async', kv_access 'true', redo_log_limit '16MB')", DB)
        query(f"INSERT INTO {name} VALUES (0, 'first')", DB)
    time.sleep(2)  # so that the worker knows all of them
    folder.rename(away)
    for part in range(10):
        for name in ("bad_first", "bad_last"):
            query(f"INSERT INTO {name} SELECT i, repeat('x', 1000) FROM generate_series({part * 1000} + 1, {part * 1000 + 1000}) i", DB)
    for round_ in range(3):
        query(f"INSERT INTO good VALUES ({round_} + 1, 'more')", DB)
        ok(wait_until(lambda: redo_of("good") == "0", 10), f"the log of another table is written, round {round_}")
        time.sleep(1)
    base = query("SELECT redo_base FROM pgstrom.store_info() WHERE relation = 'bad_first'::regclass", DB)
    away.rename(folder)
    ok(wait_until(lambda: query("SELECT redo_base FROM pgstrom.store_info() WHERE relation = 'bad_first'::regclass", DB) != base, 60),
       "and the base file is written when its folder is back")
    for name, rows in (("bad_first", 10001), ("bad_last", 10001), ("good", 4)):
        equal(query(f"SELECT pgstrom.store_check('{name}')", DB), str(rows), f"rows of {name}")


def info_without_one():
    """A table whose files are gone is left out with a warning."""
    make_table("info_lost", "id int")
    make_table("info_there", "id int")
    (FILES / "info_lost.redo").unlink()
    with connect() as session:
        notices = []
        session.add_notice_handler(lambda notice: notices.append((notice.severity, notice.message_primary)))
        names = [name for name, in session.execute("SELECT relation::text FROM pgstrom.store_info() ORDER BY 1").fetchall()]
        ok("info_there" in names and "info_lost" not in names, "store_info() shows the others", str(names))
        ok(any(severity == "WARNING" and "info_lost" in text for severity, text in notices), "and warns of the one", str(notices))
    query("DROP FOREIGN TABLE info_lost", DB)


def changed_definitions():
    """What would leave the files behind is refused, also where it comes by a parent or a type."""
    query("CREATE DOMAIN short AS text; CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE SCHEMA types; CREATE DOMAIN types.small AS int", DB)
    query("CREATE TABLE parent (id int, note short) PARTITION BY LIST (id)", DB)
    rest = f"SERVER gstore_fdw OPTIONS (base_file '{FILES}/%s.base', redo_log_file '{FILES}/%s.redo', max_num_rows '100', primary_key 'id')"
    query(f"CREATE FOREIGN TABLE child PARTITION OF parent FOR VALUES IN (1) {rest % ('child', 'child')}", DB)
    query("INSERT INTO parent VALUES (1, 'x')", DB)
    query("CREATE TABLE plain (id int, n int)", DB)
    query(f"CREATE FOREIGN TABLE heir () INHERITS (plain) {rest % ('heir', 'heir')}", DB)
    make_table("typed", "id int, a mood, b short, c types.small")
    query("INSERT INTO heir VALUES (1, 2); INSERT INTO typed VALUES (1, 'sad', 'x', 3)", DB)
    for statement in ("ALTER TABLE parent ADD COLUMN more int", "ALTER TABLE parent DROP COLUMN note", "ALTER TABLE parent ALTER COLUMN note TYPE varchar(5)",
                      "ALTER TABLE plain ADD COLUMN more int", "ALTER TABLE plain ALTER COLUMN n TYPE bigint", "DROP DOMAIN short CASCADE",
                      "DROP TYPE mood CASCADE", "DROP SCHEMA types CASCADE", "ALTER FOREIGN TABLE typed OPTIONS (ADD redo_log_limit '64MB')"):
        equal(state_of_statement(statement), UNSUPPORTED, statement)
    for statement in ("ALTER TABLE parent RENAME COLUMN note TO remark", "ALTER TABLE parent RENAME TO parents", "ALTER TABLE plain RENAME COLUMN n TO m",
                      "ALTER FOREIGN TABLE typed OPTIONS (ADD redo_log_limit '512MB')", "CREATE TYPE other AS ENUM ('a'); DROP TYPE other CASCADE",
                      "ALTER TABLE parents DETACH PARTITION child", "ALTER TABLE parents ATTACH PARTITION child FOR VALUES IN (1)"):
        equal(state_of_statement(statement), None, statement)
    equal(query("SELECT remark FROM parents", DB), "x", "rows of the partition")
    equal(query("SELECT m FROM plain", DB), "2", "rows of the child")
    equal(query("SELECT a, b, c FROM typed", DB), "sad|x|3", "rows of columns whose types stay")
    query("DROP TABLE parents; DROP TABLE plain CASCADE; DROP FOREIGN TABLE typed", DB)
    equal([path.name for path in FILES.glob("*") if path.name.split(".")[0] in ("child", "heir", "typed")], [], "their files go with them")


def changed_and_dropped():
    """In one transaction, of a session that has not made the table: nothing is published of rows that are gone already."""
    columns = ", ".join(f"c{number} bigint" for number in range(1000))
    for _ in range(3):
        make_table("brief", f"id int, {columns}", kv_access="true")
        with connect() as session:
            session.execute("BEGIN; INSERT INTO brief SELECT i FROM generate_series(1, 50) i; DROP FOREIGN TABLE brief; COMMIT")
            equal(session.execute("SELECT 1").fetchone(), (1,), "rows are inserted, and the table is dropped")


def moved_files():
    """The options follow files that were moved before the table is used. Later the worker would write to the old ones."""
    make_table("moved", "id int")
    (FILES / "moved.base").rename(FILES / "moved_to.base")
    to_base = f"ALTER FOREIGN TABLE moved OPTIONS (SET base_file '{FILES}/moved_to.base')"
    with connect() as session:
        session.execute(f"BEGIN; {to_base}; ROLLBACK; BEGIN; {to_base}; COMMIT")
        session.execute("INSERT INTO moved VALUES (1)")
    for option, path in (("base_file", "moved_to.base"), ("redo_log_file", "moved.redo")):
        copy = FILES / f"copy_of_{path}"
        copy.write_bytes((FILES / path).read_bytes())
        copy.chmod(0o666)
        equal(state_of_statement(f"ALTER FOREIGN TABLE moved OPTIONS (SET {option} '{copy}')"), UNSUPPORTED, f"another {option} of a table in memory")
    equal(query("SELECT id, pgstrom.store_check('moved') FROM moved", DB), "1|1", "the table is as it was")
    query("DROP FOREIGN TABLE moved", DB)
    equal([path.name for path in FILES.glob("moved*")], [], "its files go")


def dropped_dependencies():
    """Columns that go with other things are refused, and whole tables take their files along."""
    query("CREATE COLLATION plain_c (provider = libc, locale = 'C'); CREATE TABLE pair (a int, b int); CREATE VIEW seen AS SELECT 1 AS a; "
          "CREATE TEXT SEARCH CONFIGURATION words (COPY = pg_catalog.simple); "
          "CREATE FUNCTION twice(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 * 2'", DB)
    make_table("leaning", "id int, a text COLLATE plain_c, b pair, c seen, d int GENERATED ALWAYS AS (twice(id)) STORED, "
               "e tsvector GENERATED ALWAYS AS (to_tsvector('words', id::text)) STORED")
    query("INSERT INTO leaning VALUES (1, 'x', ROW(1, 2), ROW(3))", DB)
    for what in ("COLLATION plain_c", "TABLE pair", "VIEW seen", "FUNCTION twice(int)", "ROUTINE twice(int)", "TEXT SEARCH CONFIGURATION words"):
        equal(state_of_statement(f"DROP {what} CASCADE"), UNSUPPORTED, f"DROP {what}")
    equal(query("SELECT * FROM leaning", DB), "1|x|(1,2)|(3)|2|'1':1", "the row is whole")
    query("CREATE TABLE halves (id int) PARTITION BY RANGE (twice(id))", DB)
    query(f"CREATE FOREIGN TABLE half PARTITION OF halves FOR VALUES FROM (1) TO (9) SERVER gstore_fdw OPTIONS (base_file '{FILES}/half.base', "
          f"redo_log_file '{FILES}/half.redo', max_num_rows '100', primary_key 'id')", DB)
    query("DROP FOREIGN TABLE leaning", DB)
    query("DROP FUNCTION twice(int) CASCADE", DB)
    temporary = (f"CREATE FOREIGN TABLE pg_temp.brief (id int) SERVER gstore_fdw OPTIONS (base_file '{FILES}/brief.base', "
                 f"redo_log_file '{FILES}/brief.redo', max_num_rows '100', primary_key 'id'); INSERT INTO brief VALUES (1)")
    query(temporary + "; DISCARD TEMP", DB)
    ok(wait_until(lambda: state_of_statement(temporary) is None, 30), "a temporary table's files make room for the next one's")
    query("SET session_replication_role = replica; " + temporary.replace("brief", "replica") + "; DROP FOREIGN TABLE replica", DB)
    ok(wait_until(lambda: not [path for path in FILES.glob("*") if path.name.split(".")[0] in ("leaning", "half", "brief", "replica")], 30),
       "and no file is left")


def prepared_definitions():
    """Another session could end the transaction, so files could not go with it; and a restart would forget row locks."""
    make_table("prepared", "id int, note text", kv_access="true")
    query("INSERT INTO prepared VALUES (1, 'x')", DB)
    with connect() as session:
        for statement in ("DROP FOREIGN TABLE prepared", "ALTER FOREIGN TABLE prepared OPTIONS (SET kv_access 'false')",
                          "ALTER FOREIGN TABLE prepared RENAME COLUMN note TO remark", "SELECT FROM prepared FOR UPDATE"):
            session.execute(f"BEGIN; {statement}")
            equal(state_of(lambda: session.execute("PREPARE TRANSACTION 'strom'")), UNSUPPORTED, f"PREPARE after {statement}")
            session.execute("ROLLBACK; BEGIN; COMMIT")
    equal(query("SELECT note, pgstrom.store_check('prepared') FROM prepared", DB), "x|1", "the table is as it was")
    query("DROP FOREIGN TABLE prepared", DB)


def dropped_beside_a_checkpoint():
    """DROP waits for the worker's checkpoint, which would bring a base file back."""
    part, parts = 40_000, 20
    for _ in range(3):
        make_table("going", "id int, n int", max_num_rows=part * parts, redo_log_limit="16MB", durability="async")
        query(f"INSERT INTO going SELECT i, 0 FROM generate_series(1, {part * parts}) i; SELECT pgstrom.store_checkpoint('going')", DB)
        with connect() as session:
            for number in range(parts):
                session.execute(f"UPDATE going SET n = n + 1 WHERE id BETWEEN {number * part} AND {number * part + part - 1}")
                if wait_until((FILES / "going.base.new").exists, 0.6 if number > 10 else 0):
                    break
            session.execute("DROP FOREIGN TABLE going")
        time.sleep(0.5)
        equal(list(FILES.glob("going.*")), [], "no file is left of a table dropped beside a checkpoint")


def names_of_checkpoints():
    """A checkpoint writes BASE.new, which must be nobody else's file."""
    for option in ("base_file", "redo_log_file"):
        options = {"base_file": f"{FILES}/named", "redo_log_file": f"{FILES}/named.redo"}
        options[option] += ".new"
        text = ", ".join(f"{key} '{value}'" for key, value in options.items())
        equal(state_of_statement(f"CREATE FOREIGN TABLE named (id int) SERVER gstore_fdw OPTIONS ({text}, max_num_rows '10', primary_key 'id')"), BAD_OPTION,
              f"{option} with a checkpoint's name")
    (FILES / "taken.base.new").write_text("somebody's")
    equal(state_of_statement(f"CREATE FOREIGN TABLE taken (id int) SERVER gstore_fdw OPTIONS (base_file '{FILES}/taken.base', redo_log_file '{FILES}/taken.redo', "
                             "max_num_rows '10', primary_key 'id')"), BAD_OPTION, "a file with the checkpoint's name is there")
    equal((FILES / "taken.base.new").read_text(), "somebody's", "and is as it was")
    make_table("broken_off", "id int")
    (FILES / "broken_off.base.new").write_text("of a checkpoint that a crash has ended")
    query("DROP FOREIGN TABLE broken_off", DB)
    equal(list(FILES.glob("broken_off*")), [], "DROP removes what a checkpoint has left")


def dropped_in_one_session():
    """A session gives back descriptors and mappings of tables that it has dropped, also by ROLLBACK."""
    with connect() as session:
        pid = session.info.backend_pid

        def held():
            mappings = sum("pg_strom" in line for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines())
            return len(os.listdir(f"/proc/{pid}/fd")), mappings

        def make_and_drop(number, end):
            session.execute("BEGIN")
            session.execute(f"CREATE FOREIGN TABLE short_lived (id int, note text) SERVER gstore_fdw OPTIONS (base_file '{FILES}/s{number}.base', "
                            f"redo_log_file '{FILES}/s{number}.redo', max_num_rows '100', primary_key 'id', kv_access 'true')")
            session.execute("INSERT INTO short_lived SELECT i, 'x' FROM generate_series(1, 50) i")
            if end == "COMMIT":
                session.execute("COMMIT; BEGIN")
                session.execute("DROP FOREIGN TABLE short_lived")
            session.execute(end)

        for number in range(3):
            make_and_drop(number, ("COMMIT", "ROLLBACK")[number % 2])
        before = held()
        for number in range(3, 23):
            make_and_drop(number, ("COMMIT", "ROLLBACK")[number % 2])
        after = held()
        ok(after[0] <= before[0] + 4 and after[1] <= before[1] + 4, "no more is open and mapped after 20 more tables", f"{before} {after}")


def memory_of_deleted_rows():
    """DELETE … RETURNING keeps no row for longer than it looks at it."""
    make_table("many", "id int, note text", max_num_rows=100_000)
    query("INSERT INTO many SELECT i, repeat('x', 1000) FROM generate_series(1, 100000) i", DB)
    with connect() as session:
        status = pathlib.Path(f"/proc/{session.info.backend_pid}/status")

        def private_kb():
            return int(next(line for line in status.read_text().splitlines() if line.startswith("RssAnon")).split()[1])

        before = most = private_kb()
        deletion = Background(session, "WITH gone AS (DELETE FROM many RETURNING length(note) AS size) SELECT count(*), sum(size) FROM gone")
        while deletion.runs():
            most = max(most, private_kb())
            time.sleep(0.005)
        equal(deletion.end(), [(100_000, 100_000_000)], "all rows are deleted")
        ok(most - before < 40_000, "and do not stay in the session's memory", f"{most - before} kB")


def checkpoint_beside_full_table():
    """A checkpoint's snapshot keeps old versions. Who needs their places waits for it."""
    rows = 60_000
    make_table("tight", "id int, n int, note text", max_num_rows=rows + 1000)
    query(f"INSERT INTO tight SELECT i, 0, repeat('x', 500) FROM generate_series(1, {rows}) i", DB)
    stop = threading.Event()

    def checkpoints():
        with connect() as session:
            while not stop.is_set():
                session.execute("SELECT pgstrom.store_checkpoint('tight')")

    beside = threading.Thread(target=checkpoints)
    beside.start()
    state = None
    with connect() as session:
        for number in range(150):
            state = state or state_of(lambda: session.execute("UPDATE tight SET n = n + 1 WHERE id %% 100 = %s", [number % 100]))
    stop.set()
    beside.join()
    equal(state, None, "updates of a nearly full table beside checkpoints")
    equal(query("SELECT sum(n) FROM tight", DB), str(rows + rows // 2), "and all of them are done")


def failed_open_beside_changes():
    """A table that could not be opened, and tables that are being opened, while others make and drop tables."""
    make_table("no_log", "id int")
    (FILES / "no_log.redo").rename(FILES / "no_log.away")
    one = connect()
    equal(state_of(lambda: one.execute("SELECT * FROM no_log")), "58P01", "a table without its log")
    make_table("beside", "id int")
    equal(one.execute("SELECT count(*) > 0 FROM pg_class").fetchone()[0], True, "the session goes on after another one has made a table")
    (FILES / "no_log.away").rename(FILES / "no_log.redo")
    equal(one.execute("SELECT count(*) FROM no_log").fetchone()[0], 0, "and opens the table when its log is back")
    one.close()
    for number in range(8):
        make_table(f"opened_{number}", "id int")
    end, states = time.monotonic() + 6, []

    def open_all():
        while time.monotonic() < end:
            with connect() as session:
                for number in range(8):
                    states.append(state_of(lambda: session.execute(f"SELECT * FROM opened_{number}")))

    threads = [threading.Thread(target=open_all) for _ in range(3)]
    for thread in threads:
        thread.start()
    number = 0
    while time.monotonic() < end:
        number += 1
        make_table(f"passing_{number}", "id int")
        query(f"DROP FOREIGN TABLE passing_{number}", DB)
    for thread in threads:
        thread.join()
    equal(set(states), {None}, "tables are opened beside others that come and go")


def copy_of_the_database():
    """The copy's tables name the files of the original, and do not take them along."""
    query("CREATE DATABASE strom_store_original; CREATE DATABASE strom_store_unrelated")
    query("CREATE EXTENSION pg_strom", "strom_store_original")
    query(f"CREATE FOREIGN TABLE copied (id int, n int) SERVER gstore_fdw OPTIONS (base_file '{FILES}/copied.base', redo_log_file '{FILES}/copied.redo', "
          "max_num_rows '100', primary_key 'id')", "strom_store_original")
    query("INSERT INTO copied VALUES (1, 2)", "strom_store_original")
    query("CREATE DATABASE strom_store_copy TEMPLATE strom_store_original")
    with psycopg.connect(dbname="strom_store_copy", autocommit=True) as session:
        equal(state_of(lambda: session.execute("SELECT * FROM copied")), "XX001", "the copy's table is not the one of the files")
        session.execute("DROP FOREIGN TABLE copied")
    equal(query("SELECT n, pgstrom.store_check('copied') FROM copied", "strom_store_original"), "2|1", "dropping it leaves the original's files")
    query("DROP DATABASE strom_store_copy; DROP DATABASE strom_store_unrelated")
    query("DROP EXTENSION pg_strom CASCADE", "strom_store_original")
    equal(list(FILES.glob("copied.*")), [], "DROP EXTENSION removes the files of its tables")
    ok(wait_until(lambda: state_of_drop("strom_store_original") is None, 30), "and nothing keeps the database")


def state_of_drop(database):
    with psycopg.connect(dbname="postgres", autocommit=True) as session:
        return state_of(lambda: session.execute(f"DROP DATABASE {database}"))


def rotation_by_strangers():
    """Who is not the owner does not get as far as to ask for the lock."""
    query("CREATE ROLE strom_stranger LOGIN; GRANT USAGE ON SCHEMA pgstrom TO strom_stranger; CREATE TABLE of_others (id int)", DB)
    make_table("of_others_too", "id int", kv_access="true")
    with connect() as reader, psycopg.connect(dbname=DB, user="strom_stranger", autocommit=True) as stranger:
        reader.execute("BEGIN; SELECT FROM of_others; SELECT FROM of_others_too")
        stranger.execute("SET statement_timeout = '5s'")
        for table, state in (("of_others", "42809"), ("of_others_too", "42501"), ("pg_class", "42809")):
            equal(state_of(lambda: stranger.execute(f"SELECT pgstrom.kv_rotate('{table}')")), state, f"kv_rotate('{table}') by a stranger")
    query("DROP OWNED BY strom_stranger; DROP ROLE strom_stranger", DB)


def full_table():
    make_table("small", "id int", max_num_rows=10)
    with connect() as session:
        try:
            session.execute("INSERT INTO small SELECT generate_series(1, 100000)")
            ok(False, "a table with too many rows")
        except psycopg.Error as error:
            equal(error.sqlstate, "53400", "a table with too many rows")
            ok("small" in str(error) and '"max_num_rows" is 10' in (error.diag.message_detail or ""), "names table, option and limit", f"{error} {error.diag.message_detail}")


def many_large_answers():
    """A few kB of requests for a large row do not take the memory of the process that answers messages."""
    make_table("large", "id int, note text", kv_access="true")
    query("INSERT INTO large VALUES (1, repeat('x', 1000000))", DB)
    path, token = query("SELECT * FROM pgstrom.kv_session('large')", DB).split("|")
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect(path)
    version, get_many, keys, requests = 2, 3, 15, 60
    client.sendall(b"SROMMSG\0" + struct.pack("<II", version, 0) + bytes.fromhex(token))
    client.recv(1 << 16)
    body = struct.pack("<I", keys) + struct.pack("<Ii", 4, 1) * keys
    client.sendall((struct.pack("<IHHII", len(body), get_many, 0, 1, 0) + body) * requests)
    pid = query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_strom messages' AND datname = current_database()", DB)
    got = 0
    while got < keys * requests * 1_000_000:
        part = client.recv(1 << 20)
        if not part:
            break
        got += len(part)
    ok(got > keys * requests * 1_000_000, "all answers come", str(got))
    most = next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM"))
    ok(most < 300_000, "and take little memory at a time", f"{most} kB")
    client.close()


def growing_values():
    """Values that become longer again and again take the memory of those that were shorter."""
    rows, updates = 10_000, 45
    make_table("growing", "id int, note text", max_num_rows=2 * rows + 1000, kv_access="true")
    query(f"INSERT INTO growing SELECT i, repeat('x', 100) FROM generate_series(1, {rows}) i", DB)
    with connect() as session:
        for number in range(updates):
            session.execute(f"UPDATE growing SET note = repeat(chr(97 + {number % 26}), 100 + 16 * {number + 1})")
        relid, heap = session.execute("SELECT relation::oid, heap_bytes FROM pgstrom.store_info() WHERE relation = 'growing'::regclass").fetchone()
    own = rows * (100 + 16 * updates)
    ok(heap < 4 * own, "the table", f"{heap} bytes for {own} of values")
    region = sum(path.stat().st_blocks * 512 for path in pathlib.Path("/dev/shm").glob(f"pg_strom.*.{relid}.kv.*"))
    ok(0 < region < 4 * own + 8_000_000, "the region", f"{region} bytes for {own} of values")
    equal(query("SELECT pgstrom.store_check('growing'), count(DISTINCT note), max(length(note)) FROM growing", DB), f"{rows}|1|{100 + 16 * updates}", "all values are whole")
    query("DROP FOREIGN TABLE growing", DB)


def memory_of_dropped_files(pid):
    """Bytes of each file of memory that a process has open although it has been removed."""
    opened = ((path, os.readlink(path)) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir())
    return [path.stat().st_blocks * 512 for path, name in opened if name.startswith("/dev/shm/pg_strom.") and name.endswith("(deleted)")]


def taken_back():
    """A transaction that is taken back undoes its changes before the memory goes in which they lie: emptied files would get
    pages again, and without memory for these the server would end."""
    most = 200_000
    new = f"""CREATE FOREIGN TABLE new (id int) SERVER gstore_fdw
              OPTIONS (base_file '{FILES}/new.base', redo_log_file '{FILES}/new.redo', max_num_rows '1000000', primary_key 'id')"""
    make_table("turned", "id int, note text", max_num_rows="50000")
    for first, undo in (("", "ROLLBACK"), ("SAVEPOINT s", "ROLLBACK TO s")):
        with connect() as session:
            session.execute("INSERT INTO turned VALUES (-1, 'x'); DELETE FROM turned WHERE id = -1")
            session.execute(f"BEGIN; {first}; ALTER FOREIGN TABLE turned OPTIONS (ADD kv_access 'true')")
            session.execute("INSERT INTO turned SELECT i, repeat('y', 400) FROM generate_series(1, 20000) i")
            session.execute(undo)
            sizes = memory_of_dropped_files(session.info.backend_pid)
            ok(sizes != [] and max(sizes) < most, f"a region, {undo}", sizes)
            session.execute("COMMIT")
        with connect() as session:
            session.execute("INSERT INTO turned VALUES (-1, 'x'); DELETE FROM turned WHERE id = -1")
            session.execute(f"BEGIN; {first}; {new}; INSERT INTO new SELECT i FROM generate_series(1, 300000) i")
            session.execute(undo)
            sizes = memory_of_dropped_files(session.info.backend_pid)
            ok(sizes != [] and max(sizes) < most, f"a table, {undo}", sizes)
            session.execute("COMMIT")
        with connect() as session:
            session.execute(f"{new}; BEGIN; INSERT INTO new SELECT i FROM generate_series(1, 300000) i; DROP FOREIGN TABLE new; COMMIT")
            sizes = memory_of_dropped_files(session.info.backend_pid)
            ok(sizes != [] and max(sizes) < most, "DROP of a table after changes", sizes)
    equal(query("SELECT pgstrom.store_check('turned')", DB), "0", "the table is whole")


def old_versions_of_own_transaction():
    """A transaction with an id of its own gets places of versions that an ended snapshot has kept."""
    make_table("kept", "id int, n int", max_num_rows="1000")
    query("INSERT INTO kept SELECT i, i FROM generate_series(1, 1000) i", DB)
    with connect("REPEATABLE READ") as reader, connect() as writer:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM kept")
        writer.execute("BEGIN")
        writer.execute("UPDATE kept SET n = n + 1 WHERE id = 1")
        writer.execute("COMMIT; UPDATE kept SET n = n + 1")
        equal(writer.execute("SELECT pgstrom.store_compact('kept')").fetchone(), (0,), "a snapshot keeps old versions")
        reader.execute("COMMIT")
        ok(writer.execute("SELECT pgstrom.store_compact('kept')").fetchone()[0] >= 1000, "after its end they go, for the session that has ended them")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM kept")
        writer.execute("BEGIN")
        state = None
        for _ in range(22):  # the table has places for some rounds
            writer.execute("SAVEPOINT s")
            state = state_of(lambda: writer.execute("UPDATE kept SET n = n + 1"))
            writer.execute("ROLLBACK TO s" if state else "RELEASE s")
            if state:
                break
        equal(state, "53400", "a table with many old versions is full")
        reader.execute("COMMIT")
        writer.execute("COMMIT")
        with connect() as other:
            other.execute("BEGIN; UPDATE kept SET n = n + 1 WHERE id = 1")
            equal([state_of(lambda: other.execute("UPDATE kept SET n = n + 1")) for _ in range(2)], [None, None], "until the snapshot has ended")
            other.execute("COMMIT")


def removed_memory():
    """Nobody makes a second memory of a table whose file in /dev/shm was removed, as that would lose changes."""
    make_table("removed", "id int, n int")
    query("INSERT INTO removed SELECT i, 0 FROM generate_series(1, 100) i", DB)
    with connect() as session:
        session.execute("UPDATE removed SET n = 1 WHERE id = 1")
        oids = query("SELECT d.oid, c.oid FROM pg_database d, pg_class c WHERE d.datname = current_database() AND c.relname = 'removed'", DB)
        memory = list(pathlib.Path("/dev/shm").glob("pg_strom.*." + oids.replace("|", ".")))
        equal(len(memory), 1, "the table's memory")
        os.link(memory[0], memory[0].with_name("pg_strom_removed"))
        memory[0].unlink()
        equal([state_of_statement(s) for s in ("SELECT * FROM removed", "INSERT INTO removed VALUES (200, 1)")], ["55006"] * 2, "sessions that come then")
        session.execute("UPDATE removed SET n = n + 1 WHERE id = 1")
        equal(session.execute("SELECT n FROM removed WHERE id = 1").fetchone(), (2,), "those that use it go on")
        memory[0].with_name("pg_strom_removed").rename(memory[0])
    equal(query("SELECT count(*), sum(n), pgstrom.store_check('removed') FROM removed", DB), "100|2|100", "when it is back, all is well")


failed_open_beside_changes()
taken_back()
removed_memory()
old_versions_of_own_transaction()
growing_values()
many_large_answers()
copy_of_the_database()
rotation_by_strangers()
full_table()
folder_that_goes_away()
info_without_one()
changed_definitions()
changed_and_dropped()
moved_files()
dropped_dependencies()
prepared_definitions()
dropped_beside_a_checkpoint()
names_of_checkpoints()
dropped_in_one_session()
memory_of_deleted_rows()
checkpoint_beside_full_table()
alive("the server runs")
done()
