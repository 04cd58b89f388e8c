#!/usr/bin/env python3
"""Store tables that the engine scans while other sessions change them: every answer is that of one snapshot.

Writers move amounts between rows, insert and delete pairs of rows whose amounts cancel out, and take changes back, so
that every snapshot has the same sum. Readers ask the engine and PostgreSQL's own scan within one snapshot."""
import os
import random
import re
import threading
import time

import psycopg

from server import done, equal, folder, fresh_database, ok, query

FILES = folder("store_engine")
os.chmod(FILES, 0o777)
DB = fresh_database("strom_store_engine")
ROWS, AMOUNT, SECONDS = 80000, 100, 6
SEED = int(os.environ.get("STROM_SEED", "1"))
ENGINE = "SET pg_strom.cpu_setup_cost = 0; SET pg_strom.cpu_tuple_cost = 0; SET max_parallel_workers_per_gather = 0"
QUERIES = [
    "SELECT count(*), sum(amount), sum(length(note)), count(note) FROM accounts WHERE id >= 0",
    "SELECT id % 7, count(*), sum(amount), min(note COLLATE \"C\") FROM accounts WHERE amount <> 7 GROUP BY 1 ORDER BY 1",
    "SELECT sum(a.amount), count(*) FROM accounts a JOIN accounts b ON a.id = b.other WHERE b.amount > 90",
    "SELECT id, amount, note FROM accounts WHERE id % 4001 = 3 ORDER BY id",
    "SELECT sum(price) FROM accounts WHERE id % 3 = 0",
]

query(f"""CREATE FOREIGN TABLE accounts (id int, amount int, other int, note text, price numeric(12,2))
  SERVER gstore_fdw OPTIONS (base_file '{FILES}/accounts.base', redo_log_file '{FILES}/accounts.redo',
                             max_num_rows '200000', primary_key 'id', durability 'async');
  INSERT INTO accounts SELECT i, {AMOUNT}, {ROWS} - i,
    CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'short' ELSE 'a note that has no room in sixteen bytes ' || i END, i
  FROM generate_series(0, {ROWS} - 1) i;
  ANALYZE accounts""", DB)

stop = threading.Event()
failures = []


def write(number):
    chance = random.Random(SEED * 100 + number)
    session = psycopg.connect(dbname=DB, autocommit=True)
    session.execute("SET pg_strom.enabled = off")
    changes = 0
    while not stop.is_set():
        low, high = sorted(chance.sample(range(ROWS), 2))
        fresh = 1000000 + number * 1000000 + changes * 2
        moved = chance.randrange(10)
        try:
            with session.transaction():
                session.execute("UPDATE accounts SET amount = amount - %s, note = note || '.' WHERE id = %s", (moved, low))
                session.execute("UPDATE accounts SET amount = amount + %s, price = price + 1 WHERE id = %s", (moved, high))
                if chance.random() < 0.5:
                    session.execute("""INSERT INTO accounts VALUES (%s, %s, -1, 'one of a pair of rows, of any length'),
                                       (%s, %s, -1, NULL)""", (fresh, moved, fresh + 1, -moved))
                if chance.random() < 0.3:
                    session.execute("DELETE FROM accounts WHERE id IN (%s, %s)", (fresh - 20, fresh - 19))
                if chance.random() < 0.2:
                    raise psycopg.Rollback()
            changes += 1
        except psycopg.errors.DeadlockDetected:
            pass
        except psycopg.Error as error:
            failures.append(f"writer {number}: {error}")
            return
    session.close()
    counts.append(changes)


def read(number):
    session = psycopg.connect(dbname=DB, autocommit=True)
    session.execute(ENGINE)
    session.execute("SET default_transaction_isolation = 'REPEATABLE READ'")
    chance = random.Random(SEED * 100 + 50 + number)
    compared = 0
    while not stop.is_set():
        with session.transaction():
            session.execute("SELECT 1 FROM accounts WHERE id = 0")
            if chance.random() < 0.5:
                time.sleep(0.05)
            for statement in chance.sample(QUERIES, 3):
                session.execute("SET pg_strom.enabled = on")
                found = session.execute(statement).fetchall()
                session.execute("SET pg_strom.enabled = off")
                wanted = session.execute(statement).fetchall()
                compared += 1
                if found != wanted:
                    failures.append(f"{statement}: {found[:3]}, not {wanted[:3]}")
                    return
            total = session.execute("SELECT sum(amount) FROM accounts").fetchone()[0]
            if total != ROWS * AMOUNT:
                failures.append(f"a sum of {total}")
                return
    session.close()
    compares.append(compared)


counts, compares = [], []
for statement in QUERIES:
    plan = query(f"{ENGINE}; EXPLAIN (COSTS OFF) {statement}", DB)
    ok("Cpu" in plan and "Foreign Scan" not in plan, f"the engine runs it: {statement}", plan)
plan = query(f"{ENGINE}; EXPLAIN (ANALYZE, COSTS OFF) {QUERIES[0]}", DB)
chunks = re.search(r"Store Chunks: \[whole: (\d+), partial: (\d+), skipped: 0\]", plan)
ok(chunks and int(chunks[1]) + int(chunks[2]) == 2, "EXPLAIN tells how many chunks have a bitmap", plan)
threads = [threading.Thread(target=write, args=(i,)) for i in range(3)]
threads += [threading.Thread(target=read, args=(i,)) for i in range(2)]
for thread in threads:
    thread.start()
time.sleep(SECONDS)
stop.set()
for thread in threads:
    thread.join(120)
equal(failures, [], "every answer is that of the snapshot")
ok(len(counts) == 3 and min(counts) > 20, f"writers wrote: {counts}")
ok(len(compares) == 2 and min(compares) > 5, f"readers compared: {compares}")

# A snapshot keeps what it sees while slots are wanted for new versions; a cursor of the engine reads on.
old = psycopg.connect(dbname=DB)
old.execute(ENGINE)
old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
before = old.execute(QUERIES[0]).fetchall()
cursor = old.cursor("reader")
cursor.itersize = 1000
cursor.execute("SELECT id, note FROM accounts WHERE id >= 0")
first = cursor.fetchmany(1000)
query("UPDATE accounts SET note = repeat('another', 10), amount = 1 WHERE id < 20000; SELECT pgstrom.store_compact('accounts')", DB)
query("DELETE FROM accounts WHERE id >= 60000; SELECT pgstrom.store_compact('accounts')", DB)
rest = cursor.fetchall()
equal(len(first) + len(rest), before[0][0], "the cursor has all rows of its snapshot")
ok(not any(note and note.startswith("another") for _, note in first + rest), "and none of later ones")
equal(old.execute(QUERIES[0]).fetchall(), before, "the snapshot sees what it saw")
old.close()
query("SELECT pgstrom.store_compact('accounts')", DB)
after = query(f"{ENGINE}; {QUERIES[0]}", DB)
equal(after, query(f"SET pg_strom.enabled = off; {QUERIES[0]}", DB), "later snapshots see the rest")
done()
