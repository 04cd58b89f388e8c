#!/usr/bin/env python3
"""python/strom_kv: rows read out of shared memory and by messages are what SQL says, as Python's, NumPy's and Arrow's
values; changes; errors; tables that move and go."""
import contextlib
import datetime
import decimal
import os
import pathlib
import random
import signal
import sys
import threading
import time
import uuid

import numpy as np
import psycopg
import pyarrow as pa

from checks import BUILD_DIR, done, equal, folder, fresh_database, ok, query, raises

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
os.environ["STROMKV_LIBRARY"] = str(BUILD_DIR / "src/kv/libstromkv.so")

import strom_kv  # noqa: E402

OUT = folder("strom_kv_python")
os.chmod(OUT, 0o777)
DB = fresh_database("strom_kv_python")
CONNINFO = f"dbname={DB}"
TYPES = {"b": "bool", "s": "smallint", "n": "bigint", "r": "real", "x": "float8", "t": "text", "v": "varchar(9)", "d": "date", "ts": "timestamp",
         "tz": "timestamptz", "u": "uuid", "h": "bytea", "o": "oid", "c": "time"}
RANDOM = random.Random(7)


def make_table(name, columns, key="id", **options):
    options = {"max_num_rows": 20000, "primary_key": key, "kv_access": "true", "durability": "async", **options}
    rest = "".join(f", {option} '{value}'" for option, value in options.items())
    query(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER gstore_fdw "
          f"OPTIONS (base_file '{OUT}/{name}.base', redo_log_file '{OUT}/{name}.redo'{rest})", DB)


def random_row(key):
    day = datetime.date(1, 1, 1) + datetime.timedelta(days=RANDOM.randrange(3600000))
    moment = datetime.datetime.combine(day, datetime.time(RANDOM.randrange(24), RANDOM.randrange(60), RANDOM.randrange(60), RANDOM.randrange(1000000)))
    row = {"id": key, "b": RANDOM.random() < 0.5, "s": RANDOM.randrange(-32768, 32768), "n": RANDOM.randrange(-(1 << 63), 1 << 63),
           "r": float(np.float32(RANDOM.uniform(-1e9, 1e9))), "x": RANDOM.choice((RANDOM.uniform(-1, 1), float("inf"), -0.0, 1e-310)),
           "t": "".join(RANDOM.choices("aä日\n'\"", k=RANDOM.randrange(30))), "v": "".join(RANDOM.choices("xyz", k=RANDOM.randrange(10))),
           "d": day, "ts": moment, "tz": moment.replace(tzinfo=datetime.timezone.utc), "u": uuid.UUID(int=RANDOM.getrandbits(128)),
           "h": RANDOM.randbytes(RANDOM.randrange(20)), "o": RANDOM.randrange(1 << 32), "c": moment.time()}
    return {name: None if name != "id" and RANDOM.random() < 0.2 else value for name, value in row.items()}


def as_arrays(table, keys, wanted, names):
    arrow = table.mget(keys, form="arrow")
    found = [dict(zip(names, values)) for values in zip(*(arrow.column(name).to_pylist() for name in names))]
    for row in found:
        row["u"] = None if row["u"] is None else uuid.UUID(bytes=row["u"])
    equal([None if row["id"] is None else row for row in found], wanted, "as Arrow")
    equal([str(field.type) for field in arrow.schema][:6], ["int32", "bool", "int16", "int64", "float", "double"], "Arrow's types")
    arrays = table.mget(keys, form="numpy")
    equal([arrays[name].dtype.str for name in ("id", "b", "s", "n", "d", "ts", "t")], ["<i4", "|b1", "<i2", "<i8", "<M8[D]", "<M8[us]", "|O"],
          "NumPy's types")
    for name in ("id", "s", "n", "b", "x", "o"):
        equal(arrays[name].tolist(), [None if row is None else row[name] for row in wanted], f"column {name} by NumPy")
    equal([None if masked else value for value, masked in zip(arrays["ts"].data.tolist(), arrays["ts"].mask)],
          [None if row is None else row["ts"] for row in wanted], "times by NumPy")


def values_are_those_of_sql():
    make_table("everything", "id int, " + ", ".join(f"{name} {kind}" for name, kind in TYPES.items()))
    rows = {key: random_row(key) for key in range(500)}
    names = ["id", *TYPES]
    with psycopg.connect(CONNINFO, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO everything ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})",
                               [[row[name] for name in names] for row in rows.values()])
        connection.execute("SET timezone = 'UTC'")
        selected = ", ".join("r::float8" if name == "r" else name for name in names)  # all of its digits
        told = {row[0]: dict(zip(names, row)) for row in connection.execute(f"SELECT {selected} FROM everything")}
    with strom_kv.attach(CONNINFO, "everything") as table, strom_kv.session(CONNINFO, "everything") as session:
        equal([column.name for column in table.columns], names, "the columns")
        equal((table.key, len(table)), ("id", 500), "key and number of rows")
        equal({key: table.get(key) for key in rows}, told, "get gives what SQL gives")
        equal({key: session.get(key) for key in rows}, told, "and so does a message")
        equal({row["id"]: row for row in table.scan()}, told, "and a scan")
        keys = [RANDOM.randrange(-50, 550) for _ in range(5000)]
        wanted = [told.get(key) for key in keys]
        equal(table.mget(keys), wanted, "many at once, also such as are not there")
        equal(session.mget(keys), wanted, "by messages, too")
        as_arrays(table, keys, wanted, names)
        raises(lambda: table.mget([1], form="pandas"), ValueError, '"rows", "numpy" or "arrow"', "another form")
        ok(table.statistics()["gets"] >= 5000, "reads are counted", table.statistics())


def whole_columns_at_once():
    make_table("narrow", "id bigint, x float8, n int")
    query("INSERT INTO narrow SELECT i, i / 8.0, -i FROM generate_series(1, 9000) i", DB)
    with strom_kv.attach(CONNINFO, "narrow") as table:
        keys = list(range(9000, 0, -1))
        batch = table.mget(keys, form="arrow")
        equal((batch.num_rows, batch.column("id").to_pylist(), batch.column("n").to_pylist()), (9000, keys, [-key for key in keys]), "rows without NULLs")
        ok(isinstance(batch, pa.RecordBatch) and batch.column("x").null_count == 0, "no NULLs")
        equal(table.mget(keys, form="numpy")["x"].sum(), sum(keys) / 8, "a sum by NumPy")
        equal((table.mget([]), table.mget([], form="arrow").num_rows), ([], 0), "no keys")


def dates_that_python_has_not():
    make_table("ends", "id int, d date, ts timestamp, c time")
    query("INSERT INTO ends VALUES (1, 'infinity', '-infinity', '24:00:00'), (2, '4713-01-01 BC', '290000-01-01', '23:59:59')", DB)
    with strom_kv.attach(CONNINFO, "ends") as table:
        equal(table.get(1), {"id": 1, "d": "infinity", "ts": "-infinity", "c": "24:00:00"}, "infinity and the end of the day")
        row = table.get(2)
        ok(isinstance(row["d"], int) and isinstance(row["ts"], int), "numbers where Python has no date", row)
        equal(str(table.mget([2], form="numpy")["d"][0]), "-4712-01-01", "NumPy has them")
        ok(np.isnat(table.mget([1], form="numpy")["ts"].data[0]), "NumPy has no infinity")
        raises(lambda: table.mget([1], form="arrow"), ValueError, 'column "d" has an infinite value', "nor has Arrow")
    query("DROP FOREIGN TABLE ends", DB)


def rows_that_are_put_again():
    """What get() gives is what put() takes, for every type but those that are given as bytes."""
    make_table("again", "id int, d date, ts timestamp, ms timestamp(3), tz timestamptz, c time, n name, p char(5), x float8, r real, j json, k \"char\"")
    ends = [("4714-11-24 BC", "4714-11-24 00:00:00 BC"), ("0001-12-31 BC", "0001-12-31 23:59:59.999999 BC"), ("0001-01-01", "0001-01-01 00:00:00"),
            ("9999-12-31", "9999-12-31 23:59:59.999"), ("10000-01-01", "10000-01-01 00:00:00.000001"), ("5874897-12-31", "294276-12-31 23:59:59.999"),
            ("infinity", "-infinity")]
    for i, (day, moment) in enumerate(ends):
        zoned = moment.replace(" BC", "+00 BC") if " BC" in moment else moment + "+00"
        query(f"INSERT INTO again VALUES ({i}, '{day}', '{moment}', '{moment}', '{zoned if 'inf' not in moment else moment}', '24:00:00', 'nä', 'ab', 'NaN', 0.1, '[1, {{}}]', 'k')", DB)
    told = query("SELECT * FROM again ORDER BY id", DB)
    with strom_kv.session(CONNINFO, "again") as session:
        rows = session.mget(range(len(ends)))
        ok(isinstance(rows[0]["d"], int) and isinstance(rows[5]["tz"], int), "dates that are numbers", rows)
        for row in rows:
            equal(session.put({**row}), False, f"row {row['id']} is put again")
        equal(query("SELECT * FROM again ORDER BY id", DB), told, "and nothing has changed")
        for column, value in (("d", -2451546), ("d", 1 << 40), ("ts", 1 << 63), ("tz", -(1 << 62))):
            raises(lambda: session.put({"id": 0, column: value}), strom_kv.BadValue, "", f"{value} in {column}")
    make_table("bare", "id int, n numeric, a int[], i interval")
    query("INSERT INTO bare VALUES (1, 1.5, '{1}', '1 day')", DB)
    with strom_kv.session(CONNINFO, "bare") as session:
        row = session.get(1)
        for column in ("n", "a", "i"):
            raises(lambda: session.put({"id": 1, column: row[column]}), strom_kv.BadValue, "are taken as text only", f"bytes of column {column}")
        equal(session.put({"id": 1, "n": decimal.Decimal("2.5"), "a": "{2}", "i": "2 days"}), False, "as text")
    equal(query("SELECT n, a, i FROM bare", DB), "2.5|{2}|2 days", "what SQL has")
    for name, values in (("date", ("10000-01-01", "infinity", "2000-01-02")), ("timestamptz", ("0044-03-15 12:00+00 BC", "-infinity", "2000-01-02 00:00+00"))):
        make_table(f"by_{name}", f"id {name}, n int")
        query(f"INSERT INTO by_{name} VALUES " + ", ".join(f"('{value}', 1)" for value in values), DB)
        with strom_kv.attach(CONNINFO, f"by_{name}") as table, strom_kv.session(CONNINFO, f"by_{name}") as session:
            keys = [row["id"] for row in table.scan()]
            equal(([row["id"] for row in table.mget(keys)], [session.delete(key) for key in keys]), (keys, [True] * 3), f"keys of type {name}")
            raises(lambda: table.get("never"), ValueError, "no value of the key's type", "another text")


def changes():
    make_table("t", "id int, n bigint CHECK (n < 1000), note text, j jsonb, h bytea")
    with strom_kv.attach(CONNINFO, "t") as table, strom_kv.session(CONNINFO, "t") as session:
        equal(session.put({"id": 1, "n": 5, "note": "ä'", "j": {"a": [1, None]}, "h": b"\0\1"}), True, "a new row")
        equal(query("SELECT n, note, j, h FROM t", DB), '5|ä\'|{"a": [1, null]}|\\x0001', "SQL sees it")
        equal((table.get(1)["note"], table.get(1)["h"]), ("ä'", b"\0\1"), "and so does the region")
        equal(session.put({"id": 1, "n": 6}), False, "the same row")
        equal(query("SELECT n, note FROM t", DB), "6|", "what is left out is NULL")
        row, generation = session.get_versioned(1)
        equal(row["n"], 6, "the row and its generation")
        session.compare_and_set({**row, "n": 7}, generation)
        raises(lambda: session.compare_and_set({**row, "n": 8}, generation), strom_kv.Conflict, "", "an older generation")
        session.compare_and_set({"id": 2, "n": 1}, 0)
        raises(lambda: session.compare_and_set({"id": 2, "n": 1}, 0), strom_kv.Conflict, "", "a row that must not be there")
        equal((session.delete(2), session.delete(2), session.get_versioned(2)), (True, False, (None, 0)), "deleted once")
        outcomes = session.put_many([{"id": i, "n": 999 if i % 3 else 1000} for i in range(10, 610)])
        equal([type(outcome).__name__ for outcome in outcomes], ["NoneType" if i % 3 else "ConstraintViolation" for i in range(10, 610)], "each by itself")
        equal(query("SELECT count(*) FROM t", DB), "401", "those that could")
        raises(lambda: session.put({"id": "x"}), strom_kv.BadValue, "integer", "a value of another type")
        raises(lambda: session.put({"id": 1, "other": 2}), ValueError, "no column 'other'", "an unknown column")
        raises(lambda: session.put({"id": 1, "note": ["a"]}), TypeError, 'column "note"', "a list for a text")
        try:
            session.put({"id": 3, "n": 5000})
        except strom_kv.ConstraintViolation as error:
            equal((error.sqlstate, error.status), ("23514", 16), "SQLSTATE and status")
        raises(lambda: table.get("x"), ValueError, "no value of the key's type, integer", "a key of another type")
        raises(lambda: table.get(1 << 40), ValueError, "no value of the key's type", "a key that is too large")
        for key in (1.0, decimal.Decimal(1), None, float("inf")):
            raises(lambda: table.get(key), ValueError, "no value of the key's type", f"{key!r} is no integer")
        equal(table.get(bytearray(b"\1\0\0\0"))["n"], 7, "a key's bytes")
        for error, call, text in ((strom_kv.BadValue, lambda: session.put({"id": 3, "note": "x" * 5_000_000}), "4 MB"),
                                  (strom_kv.StoreError, lambda: session.get(b"x" * 3000), "2000 bytes")):
            raises(call, error, text, "the error is that of the call, not of the one before")
        ok(session.statistics()["rows"] == 401, "statistics", session.statistics())
        row, generation = session.get_versioned(1)
        query("UPDATE t SET n = n WHERE id = 1; SELECT pgstrom.kv_rotate('t')", DB)
        equal(len(list(table.scan())), 401, "all rows of a region that was made anew")
        raises(lambda: session.compare_and_set({**row, "n": 8}, generation), strom_kv.Conflict, "", "an older generation, after a rotation")
        query("ALTER SYSTEM SET default_transaction_read_only = on", DB)
        query("SELECT pg_reload_conf()", DB)
        try:
            raises(lambda: [session.put({"id": 1, "n": 7}) or time.sleep(0.1) for _ in range(100)], strom_kv.StoreError, "read_only", "a put where changes are not wanted")
            equal(session.get_versioned(1)[0]["id"], 1, "reads go on there")
        finally:
            query("ALTER SYSTEM RESET default_transaction_read_only", DB)
            query("SELECT pg_reload_conf()", DB)
    raises(lambda: session.get(1), ValueError, "closed", "a session that was closed")
    raises(lambda: table.get(1), ValueError, "closed", "a table that was closed")


def rights_and_tokens():
    query("CREATE ROLE regress_kv_python LOGIN; GRANT SELECT ON t TO regress_kv_python", DB)
    with strom_kv.session(f"{CONNINFO} user=regress_kv_python", "t") as session:
        equal(session.get(1)["n"], 7, "who may read")
        raises(lambda: session.put({"id": 1}), strom_kv.Denied, "permission denied", "may not write")
    with psycopg.connect(CONNINFO, autocommit=True) as connection:
        socket, token = connection.execute("SELECT socket, token FROM pgstrom.kv_attach('t')").fetchone()
        with strom_kv.Table.from_token(socket, token) as table:
            equal(table.get(1)["n"], 7, "a token is enough")
            raises(lambda: strom_kv.Table.from_token(socket, token), strom_kv.Refused, "", "but only once")
            query("SELECT pgstrom.kv_rotate('t')", DB)
            raises(lambda: table.get(1), strom_kv.Moved, "", "a region that moved, and no other token")
        with strom_kv.attach(connection, "t") as table:
            query("SELECT pgstrom.kv_rotate('t')", DB)
            equal(table.get(1)["n"], 7, "attached to again")
    query("DROP OWNED BY regress_kv_python; DROP ROLE regress_kv_python", DB)


def threads_beside_a_writer():
    query("INSERT INTO narrow SELECT 100000 + i, 0, 0 FROM generate_series(1, 100) i", DB)
    table, failures, stop = strom_kv.attach(CONNINFO, "narrow"), [], threading.Event()
    keys = list(range(100001, 100101))

    def read():
        while not stop.is_set():
            for row in table.mget(keys):
                if row["x"] != row["n"]:
                    failures.append(row)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(1, 60):
        query(f"UPDATE narrow SET x = {i}, n = {i} WHERE id > 100000", DB)
        if i % 20 == 0:
            query("SELECT pgstrom.kv_rotate('narrow')", DB)
    stop.set()
    for reader in readers:
        reader.join()
    equal(failures[:3], [], "no torn row, also while the region moves")
    equal([row["n"] for row in table.mget(keys)], [59] * 100, "the last change")
    query("DROP FOREIGN TABLE narrow", DB)
    raises(lambda: table.get(1), strom_kv.StoreError, "", "a dropped table")
    table.close()


def server_processes(first):
    """{process: ticks of processor time} of the postmaster `first` and its children."""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if first in (int(stat.parent.name), int(fields[1])):
            found[int(stat.parent.name)] = int(fields[11]) + int(fields[12])
    return found


def send_all(processes, number):
    """A process that was about to end may be gone by now."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def reads_while_the_server_is_stopped():
    make_table("still", "id bigint, n bigint")
    query("INSERT INTO still SELECT i, i * i FROM generate_series(1, 20000) i", DB)
    with strom_kv.attach(CONNINFO, "still") as table:
        keys = np.arange(1, 20001)
        postmaster = int(query("SELECT pg_read_file('postmaster.pid')", DB).split()[0])
        before = server_processes(postmaster)
        ok(len(before) > 3, "processes of the server", before)
        send_all(before, signal.SIGSTOP)
        try:
            time.sleep(0.1)
            before = server_processes(postmaster)
            begin, rows, wrong = time.monotonic(), 0, 0
            while time.monotonic() - begin < 1:
                wrong += int((table.mget(keys, form="numpy")["n"] != keys * keys).sum())
                rows += len(keys)
            after = server_processes(postmaster)
        finally:
            send_all(before, signal.SIGCONT)
        equal((wrong, after), (0, before), "gets go on while the server is stopped, and cost it nothing")
        ok(rows >= 100000, "as fast as before", rows)
        equal(query("SELECT count(*) FROM still", DB), "20000", "the server goes on")
    query("DROP FOREIGN TABLE still", DB)


values_are_those_of_sql()
whole_columns_at_once()
dates_that_python_has_not()
rows_that_are_put_again()
changes()
rights_and_tokens()
threads_beside_a_writer()
reads_while_the_server_is_stopped()
done()
