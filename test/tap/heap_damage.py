#!/usr/bin/env python3
"""Damaged pages of heap tables: ERROR XX001 that names table and block, or an answer, but never a crash; the session goes on.

A server of its own: tables are written, the server stops, bytes of their files are changed, and it starts again.
"""

import os
import pathlib
import random
import struct
import subprocess
import sys
import time

import psycopg

from server import TEST_DIR, done, equal, ok

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

PAGE = 8192
NORMAL = 1  # flags of an item
RANDOM_TABLES = 240
SEED = int(os.environ.get("STROM_SEED", "1"))
QUERIES = [
    "SELECT count(*), sum(k), sum(big), min(t), max(n), count(d), max(length(long)) FROM {0}",
    "SELECT k, t, n, d, left(long, 9) FROM {0} WHERE big > 5",
    "SELECT t, count(*) FROM {0} GROUP BY t",
    "SELECT a.k, b.t FROM {0} a JOIN {0} b ON a.k = b.k WHERE a.n > 1",
]
# What PostgreSQL itself says about damage: beside corrupt data, transactions and TOAST tables that are not there.
ALLOWED = {"XX001", "XX000", "XX002", "58P01", "22021", "54000"}


class Item:
    """A tuple of a page: the offsets of the tuple and of its data."""

    def __init__(self, page, number):
        self.line = 24 + 4 * (number - 1)
        word = struct.unpack_from("<I", page, self.line)[0]
        self.offset, self.flags, self.length = word & 0x7FFF, word >> 15 & 3, word >> 17
        self.data = self.offset + page[self.offset + 22]


def set_line(page, item, offset=None, flags=None, length=None):
    value = lambda given, old: old if given is None else given
    struct.pack_into("<I", page, item.line, value(offset, item.offset) | value(flags, item.flags) << 15 | value(length, item.length) << 17)


def set_byte(at, value):
    def change(page, item):
        page[item.offset + at] = value

    return change


def set_data(at, values):
    def change(page, item):
        page[item.data + at : item.data + at + len(values)] = bytes(values)

    return change


def header(at, form, value):
    return lambda page, item: struct.pack_into(form, page, at, value)


# The tuple's data: k int4, big int8, then t with a one-byte header at 16, which is a long value in item 5.
CASES = {
    "item beyond the page": lambda page, item: set_line(page, item, offset=PAGE - 8),
    "item longer than the page": lambda page, item: set_line(page, item, length=0x7FFF),
    "item shorter than a header": lambda page, item: set_line(page, item, length=10),
    "item cut off": lambda page, item: set_line(page, item, length=40),
    "no room for the null bitmap": set_byte(22, 8),
    "data behind the end": set_byte(22, 255),
    "header flags say nulls": lambda page, item: page.__setitem__(item.offset + 20, page[item.offset + 20] | 1),
    "a thousand attributes, and nulls": lambda page, item: (
        page.__setitem__(item.offset + 18, 0xFF), page.__setitem__(item.offset + 19, 0x07),
        page.__setitem__(item.offset + 20, page[item.offset + 20] | 1)),
    "text longer than the tuple": set_data(16, [0xFF]),
    "four-byte header of 2 GB": set_data(16, [0, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF]),
    "four-byte header of no bytes": set_data(16, [4 << 0, 0, 0, 0]),
    "compressed, longer than the tuple": set_data(16, [2, 0xFF, 0xFF, 0]),
    "out of line, of an unknown kind": set_data(16, [1, 77]),
    "out of line, a pointer into memory": set_data(16, [1, 1, 16, 16, 16, 16, 16, 16, 16, 16]),
    "checksum or header of the page": header(12, "<H", 0x4000),
    "items beyond the data": header(12, "<H", 8100),
    "page full of items": lambda page, item: (struct.pack_into("<HHH", page, 12, 8192, 8192, 8192),),
    "zeroed page": lambda page, item: page.__setitem__(slice(None), bytes(PAGE)),
    "zeroed but for the header": lambda page, item: page.__setitem__(slice(24, None), bytes(PAGE - 24)),
}
# An empty page; unused items; a padding byte is the null bitmap.
NOT_CORRUPT = {"zeroed page", "zeroed but for the header", "header flags say nulls"}
DAMAGED_BLOCK = 1


def make_table(session, name, frozen):
    session.execute(f"CREATE TABLE {name} (k int NOT NULL, big int8 NOT NULL, t text, n numeric(12,2), d date, long text)")
    session.execute(
        f"""INSERT INTO {name} SELECT i, i * 10, 'text ' || i, CASE WHEN i % 3 > 0 THEN i / 7.0 END, date '2024-01-01' + i,
          CASE i % 5 WHEN 0 THEN repeat('long value ', 400) WHEN 1 THEN NULL ELSE repeat('x', i % 90) END
          FROM generate_series(1, 250) i""")
    if frozen:
        session.execute(f"VACUUM FREEZE {name}")
    else:
        session.execute(f"SELECT count(*) FROM {name}")
    return session.execute(f"SELECT pg_relation_filepath('{name}')").fetchone()[0]


def damage(path, change, number=None, block=DAMAGED_BLOCK):
    """Changes what belongs to an item; by default the first tuple without nulls."""
    with open(path, "r+b") as file:
        file.seek(block * PAGE)
        page = bytearray(file.read(PAGE))
        if number is None:
            number = next(n for n in range(3, 30) if not page[Item(page, n).offset + 20] & 1)
        change(page, Item(page, number))
        file.seek(block * PAGE)
        file.write(page)


def random_change(rng):
    """Bytes of the line pointers, of a tuple's header, or of its data."""

    def change(page, item):
        for _ in range(rng.choice([1, 1, 2, 5])):
            place = rng.choice(
                [rng.randrange(24, 24 + 120), item.offset + rng.choice([18, 19, 20, 21, 22, 23]),
                 item.data + rng.randrange(0, 40), rng.randrange(4000, PAGE)])
            page[min(place, PAGE - 1)] = rng.choice([0, 1, 2, 3, 0x12, 0x7F, 0x80, 0xFF, rng.randrange(256)])

    return change


def connect(**settings):
    deadline = time.monotonic() + 30
    while True:
        try:
            session = psycopg.connect(cluster.conninfo("postgres"), autocommit=True)
            break
        except psycopg.OperationalError:  # a crash is being recovered from
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
    defaults = {"pg_strom.cpu_setup_cost": "0", "pg_strom.cpu_tuple_cost": "0.000001", "pg_strom.cpu_threads": "2",
                "statement_timeout": "20s"}
    for name, value in {**defaults, **settings}.items():
        session.execute(f"SET {name} = '{value}'")
    return session


def answer(session, statement):
    """(number of rows, None) or (None, error). Values may be such that no client can read them."""
    try:
        return session.execute(statement).rowcount, None
    except psycopg.Error as error:
        return None, error


def check_case(session, name, table):
    for query in QUERIES:
        statement = query.format(table)
        rows, error = answer(session, statement)
        if session.closed:
            ok(False, f"{name}: the session lives after {statement}", error, cluster.last_signals())
            return connect()
        if name in NOT_CORRUPT:
            ok(error is None, f"{name}: no error", error)
            continue
        text = "" if error is None else f"{error.diag.message_primary} {error.diag.message_detail}"
        named = f'"{table}"' in text and f"block {DAMAGED_BLOCK}" in text or "invalid page in block 1" in text
        unneeded = error is None and ("GROUP BY t" not in query) and "long" not in query  # columns before the damage
        ok(error is not None and error.sqlstate == "XX001" and named or unneeded, f"{name}: error that names table and block",
           statement, error and error.sqlstate, text, rows)
    return session


def check_random(session, tables):
    counts = {}
    for table in tables:
        for query in QUERIES:
            statement = query.format(table)
            rows, error = answer(session, statement)
            if session.closed:
                ok(False, f"random damage: the session lives after {statement}", error, cluster.last_signals())
                session = connect()
                continue
            state = "answered" if error is None else error.sqlstate
            counts[state] = counts.get(state, 0) + 1
            if state != "answered" and state not in ALLOWED:
                ok(False, f"random damage: {statement}", error)
    ok(counts.get("XX001", 0) > 0 and counts.get("answered", 0) > 0, f"random damage with seed {SEED}: {counts}")
    return session


def without_checksums():
    """They are the default from PostgreSQL 18 on, and would find the damage before anybody looks at a tuple."""
    initdb = pathlib.Path(os.environ["STROM_PG_BINDIR"]) / "initdb"
    known = subprocess.run([initdb, "--help"], capture_output=True, text=True, check=True).stdout
    return ["--no-data-checksums"] if "--no-data-checksums" in known else []


cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "heap_damage", os.environ["STROM_SERVER_USER"])
try:
    cluster.create(without_checksums())
    cluster.start({})
    rng = random.Random(SEED)
    paths = {}
    with psycopg.connect(cluster.conninfo("postgres"), autocommit=True) as setup:
        setup.execute("CREATE EXTENSION pg_strom")
        for i, name in enumerate(CASES):
            for kind in ("frozen", "plain"):
                paths[f"{kind}_{i}"] = make_table(setup, f"{kind}_{i}", kind == "frozen")
        for i in range(RANDOM_TABLES):
            paths[f"random_{i}"] = make_table(setup, f"random_{i}", i % 2 == 0)
        setup.execute("ANALYZE")
        setup.execute("CHECKPOINT")
    cluster.stop()
    for i, change in enumerate(CASES.values()):
        for kind in ("frozen", "plain"):
            damage(cluster.data / paths[f"{kind}_{i}"], change)
    for i in range(RANDOM_TABLES):
        damage(cluster.data / paths[f"random_{i}"], random_change(rng), rng.randint(1, 20), rng.randint(0, 1))
    cluster.start({})
    session = connect()
    plan = str(session.execute("EXPLAIN " + QUERIES[0].format("plain_0")).fetchall())
    ok("CpuPreAgg" in plan, "the engine answers", plan)
    for i, name in enumerate(CASES):
        for kind in ("frozen", "plain"):
            session = check_case(session, f"{name}, {kind}" if name not in NOT_CORRUPT else name, f"{kind}_{i}")
    session = check_random(session, [f"random_{i}" for i in range(RANDOM_TABLES)])
    equal(cluster.last_signals(), [], "no process was killed by a signal")
finally:
    cluster.remove()
done()
