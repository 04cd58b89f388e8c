#!/usr/bin/env python3
"""Arrow tables that are written to: other sessions and programs meanwhile, crashes, full disks, files that others touch."""
import datetime
import decimal
import os
import pathlib
import random
import shutil
import subprocess
import threading
import time

import psycopg
import pyarrow as pa

from server import BUILD_DIR, done, equal, folder, fresh_database, incarnation, ok, psql, query, wait_for_restart

FILES = folder("arrow_writable")
os.chmod(FILES, 0o777)
DB = fresh_database("strom_arrow_writable")


def connect():
    return psycopg.connect(dbname=DB, autocommit=True)


def create(name, columns="k bigint, v text", options=""):
    path = FILES / f"{name}.arrow"
    query(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER arrow_fdw OPTIONS (file '{path}', writable 'true'{options})", DB)
    return path


def read(path):
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


# What the function of old versions did, as its documentation shows it.
ft = create("ft", "id int, x real, y real, z real")
ok(not ft.exists(), "CREATE FOREIGN TABLE makes no file")
query("INSERT INTO ft (SELECT x, random() * 100.0, random() * 100.0, random() * 100.0 FROM generate_series(1,1000) x)", DB)
equal(read(ft).num_rows, 1000, "INSERT makes it, and others read it")
out, _ = psql("""BEGIN;
INSERT INTO ft (SELECT x, random(), random(), random() FROM generate_series(1,300) x);
SELECT count(*) FROM ft;
ABORT;
SELECT count(*) FROM ft;""", DB)
equal(out, "1300\n1000", "a transaction sees its rows, and ABORT takes them back")

# What is taken back leaves the file byte for byte.
before = ft.read_bytes()
psql("BEGIN; INSERT INTO ft SELECT generate_series(1, 100000); SELECT count(*) FROM ft; ROLLBACK", DB)
equal(ft.read_bytes(), before, "ROLLBACK restores the file")

# Two writers: the second waits, whichever way it came, and sees what the first has written.
waits = create("waits")
first, second = connect(), connect()
first.autocommit = False
first.execute("INSERT INTO waits SELECT i, 'first' FROM generate_series(1, 10) i")
results = []


def write_second():
    results.append(second.execute("INSERT INTO waits SELECT 100, 'second' RETURNING (SELECT count(*) FROM waits)").fetchone()[0])


thread = threading.Thread(target=write_second)
thread.start()
time.sleep(0.5)
ok(not results, "the second writer waits")
equal(query("SELECT count(*) FROM waits", DB), "0", "and a reader does not")
first.execute("SELECT count(*) FROM waits")
first.execute("INSERT INTO waits VALUES (11, 'first')")
first.commit()
thread.join(timeout=30)
equal(len(results), 1, "until the first is done")
equal(query("SELECT count(*), count(DISTINCT v) FROM waits", DB), "12|2", "both wrote")
second.execute("SET lock_timeout = '200ms'")
first.execute("INSERT INTO waits VALUES (12, 'first')")
try:
    second.execute("INSERT INTO waits VALUES (13, 'second')")
    ok(False, "lock_timeout ends the wait")
except psycopg.errors.LockNotAvailable:
    ok(True, "lock_timeout ends the wait")
first.rollback()

# Two tables in two orders: PostgreSQL's own deadlock detection.
other = create("other")
second.execute("RESET lock_timeout")
second.autocommit = False
first.execute("INSERT INTO waits VALUES (20, 'first')")
second.execute("INSERT INTO other VALUES (20, 'second')")
errors = []


def cross(session, table):
    try:
        session.execute(f"INSERT INTO {table} VALUES (21, 'x')")
        session.commit()
    except psycopg.errors.DeadlockDetected as error:
        errors.append(error)
        session.rollback()


thread = threading.Thread(target=cross, args=(first, "other"))
thread.start()
time.sleep(0.2)
cross(second, "waits")
thread.join(timeout=30)
equal(len(errors), 1, "a deadlock is found, and one of two goes on")

# Two tables over each of two files, crosswise: the files are what the sessions wait for.
for name in ("waits", "other"):
    query(f"CREATE FOREIGN TABLE {name}_again (k bigint, v text) SERVER arrow_fdw OPTIONS (file '{FILES}/{name}.arrow', writable 'true')", DB)
errors.clear()
first.execute("INSERT INTO waits VALUES (20, 'first')")
second.execute("INSERT INTO other VALUES (20, 'second')")
thread = threading.Thread(target=cross, args=(first, "other_again"))
thread.start()
time.sleep(0.3)
equal(query(f"SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE pid = {first.info.backend_pid}", DB), "Lock|advisory", "the wait is shown")
cross(second, "waits_again")
thread.join(timeout=30)
equal(len(errors), 1, "a deadlock over files is found, and one of two goes on")
equal(query("SELECT (SELECT count(*) FROM waits WHERE k = 21) + (SELECT count(*) FROM other WHERE k = 21)", DB), "2", "which wrote, as the one before did")
first.execute("INSERT INTO waits VALUES (22, 'first')")
try:
    first.execute("INSERT INTO waits_again VALUES (22, 'first')")
    ok(False, "one transaction does not write to a file by two tables")
except psycopg.errors.FeatureNotSupported:
    ok(True, "one transaction does not write to a file by two tables")
first.rollback()
first.close()
second.close()

# What a power cut may leave: the new size, and zeros where the new end should be.
for zeros in (1, 10, 4096, 3 << 20):
    size = waits.stat().st_size
    wanted = query("SELECT count(*), sum(k) FROM waits", DB)
    with open(waits, "r+b") as file:
        file.truncate(size + zeros)
    equal(query("SELECT count(*), sum(k) FROM waits", DB), wanted, f"a file with {zeros} zeros behind its end is read")
    if zeros > 10:
        query("BEGIN; INSERT INTO waits VALUES (23, 'lost'); ROLLBACK", DB)
        equal((waits.stat().st_size, read(waits).num_rows), (size, int(wanted.split("|")[0])), "and the next writer cuts them off")
    query("INSERT INTO waits VALUES (23, 'again'); INSERT INTO waits VALUES (24, 'again')", DB)
with open(waits, "r+b") as file:
    file.truncate(waits.stat().st_size - 3)
_, err = psql("SELECT count(*) FROM waits", DB)
ok("XX001" in err, "a file that was cut is not mended", err)
waits.unlink()

# Another program waits for the lock on the file, too.
pg2arrow = BUILD_DIR / "tools/pg2arrow/pg2arrow"
if pg2arrow.exists():
    session = connect()
    session.autocommit = False
    session.execute("INSERT INTO waits VALUES (30, 'session')")
    os.chmod(waits, 0o666)
    shared = FILES / "shared.arrow"
    tool = subprocess.Popen([pg2arrow, "-d", DB, "-c", "SELECT 31::bigint AS k, 'tool'::text AS v", "--append", waits],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(0.5)
    ok(tool.poll() is None, "pg2arrow --append waits for the transaction")
    session.commit()
    output = tool.communicate(timeout=30)[0]
    equal(tool.returncode, 0, f"and goes on {output}")
    equal(query("SELECT string_agg(v, ' ' ORDER BY k) FROM waits WHERE k IN (30, 31)", DB), "session tool", "both wrote")
    shutil.chown(waits, "postgres") if os.geteuid() == 0 else None
    query("INSERT INTO waits VALUES (32, 'again')", DB)
    equal(query("SELECT count(*) FROM waits WHERE k BETWEEN 30 AND 40", DB), "3", "a file that pg2arrow has replaced is written to")
    session.close()

# Readers in loops, PostgreSQL's and pyarrow's, while a writer commits, gives up and writes many batches.
BATCH = 1000
busy = create("busy", options=", batch_rows '300'")
query(f"INSERT INTO busy SELECT i, 'v' || i FROM generate_series(1, {BATCH}) i", DB)
stop = threading.Event()
failures, looks = [], [0, 0, 0]


def look_postgres(index, settings):
    session = connect()
    session.execute(settings)
    last = 0
    while not stop.is_set():
        try:
            count, total, texts = session.execute("SELECT count(*), sum(k), count(v) FROM busy").fetchone()
            if count % BATCH != 0 or count < last or texts != count or total != (count // BATCH) * BATCH * (BATCH + 1) // 2:
                failures.append(f"PostgreSQL saw {count} rows after {last}, sum {total}")
            last = count
            looks[index] += 1
        except psycopg.Error as error:
            failures.append(str(error))


def look_pyarrow():
    last = 0
    while not stop.is_set():
        try:
            count = read(busy).num_rows
            if count % BATCH != 0 or count < last:
                failures.append(f"pyarrow saw {count} rows after {last}")
            last = count
            looks[2] += 1
        except Exception as error:  # noqa: BLE001: any
            failures.append(f"pyarrow: {error}")


threads = [threading.Thread(target=look_postgres, args=(0, "SET pg_strom.enabled = off")),
           threading.Thread(target=look_postgres, args=(1, "SET pg_strom.cpu_setup_cost = 0")),
           threading.Thread(target=look_pyarrow)]
for thread in threads:
    thread.start()
writer = connect()
commits = 1
begin = time.monotonic()
enough = False
while time.monotonic() < begin + 10 or not enough and time.monotonic() < begin + 120:
    enough = min(looks) > 5 and commits > 20
    if random.random() < 0.3:
        # Given up before anything was written to the file: one that has been is cut, see below.
        writer.execute("BEGIN")
        writer.execute("INSERT INTO busy SELECT i FROM generate_series(1, 100) i")
        writer.execute("ROLLBACK")
    else:
        writer.execute(f"INSERT INTO busy SELECT i, 'v' || i FROM generate_series(1, {BATCH}) i")
        commits += 1
stop.set()
for thread in threads:
    thread.join()
ok(not failures, "no reader fails or sees a half", *failures[:5])
ok(enough, "they looked and wrote often", looks, commits)
equal(query("SELECT count(*) FROM busy", DB), str(commits * BATCH), "all commits are there")

# A cursor goes on with what it saw when it was opened, while others write, give up and cut the file. The engine has the
# rows in any order.
for enabled in ("off", "on"):
    rows = int(query("SELECT count(*) FROM busy", DB))
    out, err = psql(f"""SET pg_strom.enabled = {enabled}; SET pg_strom.cpu_setup_cost = 0;
BEGIN; DECLARE c CURSOR FOR SELECT k FROM busy; FETCH 1 FROM c;
\\! psql -X -q -d {DB} -c "INSERT INTO busy SELECT i, 'w' FROM generate_series(1, {BATCH}) i"
\\! psql -X -q -d {DB} -c "BEGIN" -c "INSERT INTO busy SELECT i, 'w' FROM generate_series(1, {BATCH}) i" -c "ROLLBACK"
FETCH ALL FROM c; COMMIT;""", DB)
    found = [int(line) for line in out.splitlines()]
    equal((len(found), sum(found), err), (rows, rows // BATCH * BATCH * (BATCH + 1) // 2, ""),
          f"a cursor under writers, pg_strom.enabled = {enabled}")
STOPPED = FILES / "cut.arrow"
cut = create("cut", options=", batch_rows '100'")
query("INSERT INTO cut SELECT i, 'v' FROM generate_series(1, 1000) i", DB)
stop.clear()
failures.clear()


def look_cut():
    session = connect()
    while not stop.is_set():
        try:
            count = session.execute("SELECT count(v) FROM cut").fetchone()[0]
            if count != 1000:
                failures.append(f"{count} rows")
        except psycopg.Error as error:
            failures.append(str(error))


thread = threading.Thread(target=look_cut)
thread.start()
for _ in range(30):
    writer.execute("BEGIN")
    writer.execute("INSERT INTO cut SELECT i, 'w' FROM generate_series(1, 2000) i")
    writer.execute("ROLLBACK")
stop.set()
thread.join()
ok(not failures, "readers of a file whose end comes and goes", *failures[:3])
writer.close()

# A killed backend: the file is one of the committed states. (At every single step: test/unit/format/arrow/file_appender_test.)
crash = create("crash", options=", batch_rows '500'")
query("INSERT INTO crash SELECT i, 'v' FROM generate_series(1, 10) i", DB)
generator = random.Random(11)
known = 10
kills = 20
problems = []
for round_number in range(kills):
    session = connect()
    pid = session.info.backend_pid
    before = incarnation()
    acknowledged = [known]

    def write_until_killed():
        try:
            while True:
                session.execute("INSERT INTO crash SELECT i, 'v' FROM generate_series(1, 2000) i")
                acknowledged[0] += 2000
        except psycopg.Error:
            pass

    thread = threading.Thread(target=write_until_killed)
    thread.start()
    time.sleep(generator.random() * 0.08)
    os.kill(pid, 9)
    thread.join()
    count = read(crash).num_rows
    if count not in (acknowledged[0], acknowledged[0] + 2000):
        problems.append(f"round {round_number}: {count} rows, {acknowledged[0]} acknowledged")
    known = count
    session.close()
    wait_for_restart(before)
ok(not problems, f"{kills} killed backends leave a committed file", *problems[:5])
equal(query("SELECT count(*) FROM crash", DB), str(known), "PostgreSQL agrees")
query("INSERT INTO crash VALUES (1, 'v')", DB)
equal(read(crash).num_rows, known + 1, "and the next writer goes on")

# The server goes down with a transaction that has written.
session = connect()
session.autocommit = False
session.execute("INSERT INTO crash SELECT i, 'lost' FROM generate_series(1, 5000) i")
victim = connect()
before = incarnation()
os.kill(victim.info.backend_pid, 9)
wait_for_restart(before)
equal(read(crash).num_rows, known + 1, "a crash of the server loses what was not committed, for others")
equal(query("SELECT count(*) FROM crash WHERE v = 'lost'", DB), "0", "and for PostgreSQL")
query("INSERT INTO crash VALUES (2, 'v')", DB)
equal(read(crash).num_rows, known + 2, "and leaves nothing in the way")

# Killed while it puts another file in the place of one: what is left beside it goes with the next write.
rewritten = create("rewritten")
query("INSERT INTO rewritten SELECT i, 'v' FROM generate_series(1, 1000) i", DB)
problems = []
for round_number in range(6):
    session = connect()
    pid = session.info.backend_pid
    before = incarnation()

    def rewrite_until_killed():
        try:
            while True:
                session.execute("BEGIN; TRUNCATE rewritten; INSERT INTO rewritten SELECT i, 'v' FROM generate_series(1, 1000) i; COMMIT")
        except psycopg.Error:
            pass

    thread = threading.Thread(target=rewrite_until_killed)
    thread.start()
    time.sleep(generator.random() * 0.3)
    os.kill(pid, 9)
    thread.join()
    if read(rewritten).num_rows != 1000:
        problems.append(read(rewritten).num_rows)
    session.close()
    wait_for_restart(before)
ok(not problems, "a backend that is killed while it rewrites leaves a whole file", problems)
leftover = FILES / ".rewritten.arrow.strom-1-0-abc.tmp"
os.link(rewritten, leftover)  # killed between giving the old file another name and taking its own away
other_leftover = FILES / ".other.arrow.strom-2-0-abc.tmp"
other_leftover.write_bytes(b"x" * 1000)
shutil.chown(other_leftover, "postgres") if os.geteuid() == 0 else None
query("INSERT INTO rewritten VALUES (1, 'v')", DB)
equal([name for name in os.listdir(FILES) if name.startswith(".")], [], "the next writer leaves no temporary file")
equal(read(rewritten).num_rows, 1001, "and all rows")

# A full disk.
small = FILES / "small"
small.mkdir(exist_ok=True)
mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(small)],
                                               capture_output=True).returncode == 0
if mounted:
    try:
        os.chmod(small, 0o777)
        query(f"CREATE FOREIGN TABLE disk (k bigint, v text) SERVER arrow_fdw OPTIONS (file '{small}/f.arrow', writable 'true', batch_rows '1000')", DB)
        query("INSERT INTO disk SELECT i, 'v' FROM generate_series(1, 1000) i", DB)
        before = (small / "f.arrow").read_bytes()
        _, err = psql("INSERT INTO disk SELECT i, repeat('x', 100) FROM generate_series(1, 100000) i", DB)
        ok("53100" in err and "No space left" in err, "a full disk is an ERROR", err)
        equal((small / "f.arrow").read_bytes(), before, "the file is as it was")
        ok(os.statvfs(small).f_bavail > 400, "and space is given back", os.statvfs(small))
        query("INSERT INTO disk VALUES (1, 'v')", DB)
        equal(query("SELECT count(*) FROM disk", DB), "1001", "what fits is written")
        out, err = psql("""BEGIN; INSERT INTO disk SELECT i, 'kept' FROM generate_series(1, 2500) i; SAVEPOINT s;
INSERT INTO disk SELECT i, repeat('x', 100) FROM generate_series(1, 100000) i; ROLLBACK TO s; INSERT INTO disk VALUES (3, 'kept'); COMMIT;
SELECT count(*), count(DISTINCT k) FROM disk WHERE v = 'kept'; SELECT count(*) FROM disk;""", DB)
        ok("53100" in err and out.splitlines() == ["2501|2500", "3502"], "after a savepoint, too: what came before it is kept", out, err)
        _, err = psql(f"SELECT pgstrom.arrow_export('SELECT i, repeat(''x'', 100) FROM generate_series(1, 100000) i', '{small}/e.arrow')", DB)
        ok("53100" in err and "No space left" in err and os.listdir(small) == ["f.arrow"], "arrow_export leaves nothing on a full disk", err)
    finally:
        query("DROP FOREIGN TABLE IF EXISTS disk", DB)
        subprocess.run(["umount", "-l", str(small)], check=False)

# Files that cannot be written, and files that others touch.
locked = create("locked")
query("INSERT INTO locked VALUES (1, 'v')", DB)
os.chmod(locked, 0o444)
_, err = psql("INSERT INTO locked VALUES (2, 'v')", DB)
ok("42501" in err and str(locked) in err, "a read-only file", err)
os.chmod(locked, 0o644)
session = connect()
session.autocommit = False
session.execute("INSERT INTO locked VALUES (2, 'v')")
replacement = FILES / "replacement.arrow"
shutil.copy(locked, replacement)
os.replace(replacement, locked)
try:
    session.commit()
    ok(False, "a file that was replaced during the transaction is an ERROR")
except psycopg.Error as error:
    ok(error.sqlstate == "XX001", "a file that was replaced during the transaction is an ERROR", error)
session.close()
equal(read(locked).num_rows, 1, "and the new one is left alone")
shutil.chown(locked, "postgres") if os.geteuid() == 0 else None
query("INSERT INTO locked VALUES (3, 'v')", DB)
equal(read(locked).num_rows, 2, "until the next transaction")
link = FILES / "link.arrow"
link.symlink_to(locked)
query(f"CREATE FOREIGN TABLE linked (k bigint, v text) SERVER arrow_fdw OPTIONS (file '{link}', writable 'true')", DB)
query("INSERT INTO linked VALUES (4, 'v'); TRUNCATE linked; INSERT INTO linked VALUES (5, 'v')", DB)
ok(link.is_symlink() and read(locked).num_rows == 1, "a symbolic link stays one")
for name, content in (("garbage", b"no Arrow file" * 100), ("empty", b"")):
    path = create(name)
    path.write_bytes(content)
    os.chmod(path, 0o666)
    _, err = psql(f"INSERT INTO {name} VALUES (1, 'v')", DB)
    ok("XX001" in err and str(path) in err, f"a file that is {name}", err)
    equal(path.read_bytes(), content, "is left alone")

# A file that others wrote is gone on with, and its readers are not disturbed.
theirs = create("theirs", "k bigint, v text, d numeric(8,2), t timestamp")
table = pa.table({"k": pa.array(range(10), pa.int64()), "v": [f"row {i}" for i in range(10)],
                  "extra": pa.array([1.5] * 10), "d": pa.array([decimal.Decimal("1.25")] * 10, pa.decimal128(8, 2)),
                  "t": pa.array([datetime.datetime(2020, 1, 1)] * 10, pa.timestamp("ms"))})
with pa.OSFile(str(theirs), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file_writer:
    file_writer.write_table(table)
os.chmod(theirs, 0o666)
out, err = psql(f"""BEGIN; DECLARE c CURSOR FOR SELECT k FROM theirs; FETCH 1 FROM c;
\\! psql -X -q -d {DB} -c "INSERT INTO theirs VALUES (10, 'ten', 2.5, '2020-01-01 00:00:00.5')"
MOVE FORWARD ALL IN c; COMMIT; SELECT count(*), sum(d), max(t) FROM theirs""", DB)
equal((out, err), ("0\n11|15.00|2020-01-01 00:00:00.5", ""), "a file of pyarrow's is gone on with")
equal(read(theirs).column("extra").to_pylist(), [1.5] * 10 + [None], "fields without a column are NULL")
_, err = psql("INSERT INTO theirs VALUES (1, '', 1, '2020-01-01 00:00:00.0005')", DB)
ok("22008" in err, "digits that the file has no place for are an error", err)
mapped = pa.ipc.open_file(pa.memory_map(str(theirs)))
query("INSERT INTO theirs SELECT i FROM generate_series(1, 5000) i", DB)
equal(mapped.read_all().num_rows, 11, "pyarrow's mapped reader goes on with what it saw")

# Garbage of many small transactions does not grow for ever.
tiny = create("tiny", "k bigint")
session = connect()
for i in range(300):
    session.execute("INSERT INTO tiny VALUES (%s)", (i,))
session.close()
file = pa.ipc.open_file(pa.OSFile(str(tiny)))
ok(file.num_record_batches < 30, "small record batches are joined", file.num_record_batches)
equal(file.read_all().column("k").to_pylist(), list(range(300)), "and in order")

# Every type, as pyarrow reads it.
query("""CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE TYPE pair AS (a int, b text); CREATE DOMAIN money2 AS numeric(9,2)""", DB)
TYPES = {
    "b bool": ("true", True, pa.bool_()),
    "i2 int2": ("-5", -5, pa.int16()),
    "i4 int4": ("7", 7, pa.int32()),
    "i8 int8": ("9223372036854775807", 2**63 - 1, pa.int64()),
    "f4 float4": ("1.5", 1.5, pa.float32()),
    "f8 float8": ("-2.25", -2.25, pa.float64()),
    "o oid": ("4294967295", 2**32 - 1, pa.uint32()),
    "n numeric(10,3)": ("-1234567.891", decimal.Decimal("-1234567.891"), pa.decimal128(10, 3)),
    "wide numeric(60,5)": ("1e50", decimal.Decimal("1e50"), pa.decimal256(60, 5)),
    "m money2": ("12.5", decimal.Decimal("12.50"), pa.decimal128(9, 2)),
    "d date": ("'0001-01-01'", datetime.date(1, 1, 1), pa.date32()),
    "t time": ("'23:59:59.999999'", datetime.time(23, 59, 59, 999999), pa.time64("us")),
    "ts timestamp": ("'2020-02-29 12:00'", datetime.datetime(2020, 2, 29, 12), pa.timestamp("us")),
    "iv interval": ("'1 year 2 days 3.5 s'", (12, 2, 3_500_000_000), pa.month_day_nano_interval()),
    "x text": ("'grün'", "grün", pa.utf8()),
    "c char(4)": ("'ab'", "ab  ", pa.utf8()),
    "nm name": ("'name'", "name", pa.utf8()),
    "by bytea": ("'\\x00ff'", b"\x00\xff", pa.binary()),
    "j jsonb": ("'{\"a\": [1]}'", '{"a": [1]}', pa.utf8()),
    "u uuid": ("'00112233-4455-6677-8899-aabbccddeeff'", bytes.fromhex("00112233445566778899aabbccddeeff"), pa.binary(16)),
    "mc macaddr": ("'01:02:03:04:05:06'", bytes([1, 2, 3, 4, 5, 6]), pa.binary(6)),
    "ip inet": ("'10.0.0.1/8'", "10.0.0.1/8", pa.utf8()),
    "r int4range": ("'[1,5)'", "[1,5)", pa.utf8()),
    "a int[]": ("'{1,NULL,3}'", [1, None, 3], None),
    "at text[]": ("'{a,\"b c\"}'", ["a", "b c"], None),
    "p pair": ("'(5,x)'", {"a": 5, "b": "x"}, None),
    "pa pair[]": ("ARRAY['(5,x)', NULL]::pair[]", [{"a": 5, "b": "x"}, None], None),
    "mo mood": ("'ok'", "ok", None),
}
columns = ", ".join(TYPES)
query(f"CREATE TABLE all_types ({columns})", DB)
query("INSERT INTO all_types VALUES (" + ", ".join(v[0] for v in TYPES.values()) + ")", DB)
query("INSERT INTO all_types DEFAULT VALUES", DB)
written = create("written", columns)
query("INSERT INTO written SELECT * FROM all_types", DB)
query("INSERT INTO written SELECT * FROM all_types", DB)
query(f"SELECT pgstrom.arrow_export('TABLE all_types', '{FILES}/exported.arrow', '{{\"compression\": \"zstd\"}}')", DB)
session = connect()
stream = session.execute("SELECT pgstrom.arrow_ipc('TABLE all_types')").fetchone()[0]
pieces = b"".join(row[0] for row in session.execute("SELECT pgstrom.arrow_ipc_stream('TABLE all_types')"))
session.close()
for name, data in (("INSERT", read(written)), ("arrow_export", read(FILES / "exported.arrow")),
                   ("arrow_ipc", pa.ipc.open_stream(stream).read_all()),
                   ("arrow_ipc_stream", pa.ipc.open_stream(pieces).read_all())):
    data.validate(full=True)
    for column, (_, wanted, arrow_type) in TYPES.items():
        found = data.column(column.split()[0])
        values = [tuple(v) if isinstance(v, pa.MonthDayNano) else v for v in found.to_pylist()]
        if values != [wanted, None] * (2 if name == "INSERT" else 1) or (arrow_type is not None and found.type != arrow_type):
            ok(False, f"{name}: {column}", values, found.type)
    ok(True, f"{name} writes every type")
equal(read(FILES / "exported.arrow").schema.field("m").metadata[b"pg_type"], b"public.money2", "with its name in the metadata")
done()
