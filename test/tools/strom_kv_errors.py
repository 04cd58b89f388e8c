#!/usr/bin/env python3
"""What strom-kv, libstromkv and the package strom_kv say about what cannot be done: it names the reason and the way on."""
import ctypes
import json
import os
import pathlib
import sys
import time

import psycopg

from checks import BUILD_DIR, done, equal, folder, fresh_database, ok, query, raises, run
from kv_library import Key, Row, library

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
os.environ["STROMKV_LIBRARY"] = str(BUILD_DIR / "src/kv/libstromkv.so")

import strom_kv  # noqa: E402

OUT = folder("strom_kv_errors")
os.chmod(OUT, 0o777)
DB = fresh_database("strom_kv_errors")
CONNINFO = f"dbname={DB}"
INVALID = 11


def make_table(name, columns):
    query(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER gstore_fdw OPTIONS (base_file '{OUT}/{name}.base', redo_log_file '{OUT}/{name}.redo', "
          f"max_num_rows '1000', primary_key 'id', kv_access 'true', durability 'async')", DB)


def kv(command, *arguments, wanted=0):
    """Standard output, or the error of a command that has to fail."""
    status, out, err = run("strom-kv", command, "-d", DB, *arguments)
    ok(status == wanted, f"strom-kv {command} {arguments[:2]}", status, out, err)
    return out if wanted == 0 else err


def unknown_columns():
    make_table("t", "id int, note text, n int")
    for way in ((), ("--messages",)):
        error = kv("put", *way, "t", '{"id": 1, "nots": "x"}', wanted=1)
        for part in ('table "t" has no column "nots"', 'did you mean "note"?', "id, note, n"):
            ok(part in error, f"{part} {way}", error)
        error = kv("put", *way, "t", '{"id": 1, "something": null}', wanted=1)
        ok('no column "something"' in error and "did you mean" not in error, f"no column has a name like it {way}", error)
        equal(query("SELECT count(*) FROM t", DB), "0", "nothing was put")


def negative_keys():
    for way in ((), ("--messages",)):
        kv("put", *way, "t", '{"id": -5, "n": 7}')
        equal(json.loads(kv("get", *way, "t", "--", "-5"))["n"], 7, f"a negative key after -- {way}")
        equal(kv("del", *way, "t", "--", "-5"), "deleted\n", f"deleted {way}")
    ok("strom-kv get positions -- -5" in run("strom-kv", "--help")[1], "--help shows how")


def answers_that_are_too_large():
    make_table("large", "id int, b bytea")
    query("ALTER FOREIGN TABLE large ALTER b SET STORAGE EXTERNAL", DB)
    query("INSERT INTO large SELECT i, decode(repeat('00', 900000), 'hex') FROM generate_series(1, 20) i", DB)
    with strom_kv.session(CONNINFO, "large") as session:
        try:
            session.mget(range(1, 21))
            ok(False, "20 rows of 900 kB")
        except strom_kv.TooLarge as error:
            ok("more than 16 MB: ask for fewer keys at a time" in str(error), "what to do", error)
            equal((error.sqlstate, error.status), ("54000", 19), "SQLSTATE and status")
        equal([len(row["b"]) for row in session.mget(range(1, 11))], [900000] * 10, "the session goes on, with fewer keys")
    error = kv("mget", "--messages", "large", *range(1, 21), wanted=1)
    ok("ask for fewer keys at a time" in error, "strom-kv says so, too", error)
    with strom_kv.attach(CONNINFO, "large") as table:
        equal(len(table.mget(range(1, 21))), 20, "the region has no such limit")


def locked_rows_and_tables():
    make_table("named", "id text, n int")
    query("INSERT INTO t VALUES (1, 'a', 1); INSERT INTO named VALUES ('ä key', 1), (repeat('x', 200), 1)", DB)
    with strom_kv.session(CONNINFO, "t") as session, strom_kv.session(CONNINFO, "named") as named, psycopg.connect(CONNINFO) as other:
        other.execute("UPDATE t SET n = 2; UPDATE named SET n = 2; INSERT INTO t VALUES (9)")
        told = 'another transaction has the row with id = {} of table "{}"; waited for 100 ms'
        for call, text in ((lambda: session.put({"id": 1, "n": 5}), told.format(1, "t")), (lambda: session.delete(1), told.format(1, "t")),
                           (lambda: session.put({"id": 9}), told.format(9, "t")), (lambda: named.delete("ä key"), told.format("ä key", "named")),
                           (lambda: named.put({"id": "x" * 200}), told.format("x" * 100 + "...", "named"))):
            raises(call, strom_kv.Busy, text, "a row that another transaction has")
        outcomes = session.put_many([{"id": i} for i in (2, 1, 3)])
        equal([str(outcome) for outcome in outcomes], ["None", told.format(1, "t"), "None"], "one of several")
        other.rollback()
        other.execute("ALTER FOREIGN TABLE t ADD CHECK (n > -100)")
        for call in (lambda: session.put({"id": 1, "n": 5}), lambda: session.get(1)):
            raises(call, strom_kv.Busy, "another transaction has locked the table; waited for 100 ms", "a table that is locked")
        other.rollback()
        equal(session.put({"id": 1, "n": 5}), False, "and not any more")


def tables_without_a_region():
    """The server of messages closes a table that it cannot serve any more; PostgreSQL would warn of it."""
    log = pathlib.Path(query("SHOW data_directory")) / "server.log"
    begin = log.stat().st_size
    make_table("closed", "id int")
    with strom_kv.session(CONNINFO, "closed") as session:
        session.put({"id": 1})
        query("ALTER FOREIGN TABLE closed OPTIONS (SET kv_access 'false')", DB)
        for call in (lambda: session.get(1), lambda: session.put({"id": 2})):
            raises(call, strom_kv.Dropped, "no published region any more", "a table that is not published any more")
        query("ALTER FOREIGN TABLE closed OPTIONS (SET kv_access 'true')", DB)
        equal(session.put({"id": 2}), True, "the session goes on when it is published again")
    with log.open(errors="replace") as text:
        text.seek(begin)
        told = text.read()
    equal([line for line in told.splitlines() if "leak" in line], [], "no table was left open")


def keys_without_bytes():
    """A key whose length says that it has bytes, but which has none, is refused before anything reads it."""
    with psycopg.connect(CONNINFO, autocommit=True) as connection:
        table, reader, session, error = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(500)
        for function, opener, opened in (("kv_attach", library.stromkv_attach, table), ("kv_session", library.stromkv_session_open, session)):
            path, token = connection.execute(f"SELECT socket, token FROM pgstrom.{function}('t')").fetchone()
            equal(opener(path.encode(), token.encode(), ctypes.byref(opened), error, 500), 0, function)
    library.stromkv_reader_open(table, ctypes.byref(reader))
    keys, rows = (Key * 3)(Key(b"\1\0\0\0", 4), Key(None, 4), Key(b"\1\0\0\0", 4)), (Row * 3)()
    for owner, many, one in ((reader, library.stromkv_get_many, library.stromkv_get), (session, library.stromkv_session_get_many, library.stromkv_session_get)):
        equal((many(owner, keys, rows, ctypes.c_size_t(3)), one(owner, keys[1], rows)), (INVALID, INVALID), "a key without bytes")
        equal((many(owner, keys, rows, ctypes.c_size_t(1)), one(owner, keys[2], rows), rows[0].bytes > 0), (0, 0, True), "the others are found")
    library.stromkv_session_close(session)
    library.stromkv_reader_close(reader)
    library.stromkv_detach(table)


unknown_columns()
negative_keys()
answers_that_are_too_large()
locked_rows_and_tables()
tables_without_a_region()
keys_without_bytes()
time.sleep(3)
query(f"DROP DATABASE {DB}")
done()
