#!/usr/bin/env python3
"""Arrow files that the GPU service reads by itself, with a library in cuFile's place and without: PostgreSQL's answers; files
that change, end early or cannot be read; pgstrom.storage_check(). A server of its own."""

import datetime
import decimal
import os
import pathlib
import re
import signal
import threading
import time

import psycopg
import pyarrow as pa
import pyarrow.ipc as ipc

import gpu_server
from server import TEST_DIR, done, equal, folder, ok, state_of, wait_until

ROWS, BATCH = 500_000, 200_000
COLUMNS = ("i int, l bigint, n bigint, f float8, d numeric(20, 3), b bool, day date, at timestamp, s text, k text")
QUERIES = [
    "SELECT count(*), sum(i), min(l), max(l), sum(n), count(n) FROM {t}",
    "SELECT i % 10, count(*), sum(n), sum(d), min(day), max(at) FROM {t} WHERE f > 100 GROUP BY 1 ORDER BY 1",
    "SELECT k, count(*), sum(l), count(b), min(n) FROM {t} WHERE b GROUP BY k ORDER BY k",
    "SELECT i, l, n, f, d, b, day, at, s FROM {t} WHERE i % 50021 = 7 ORDER BY i",
    "SELECT i, s FROM {t} WHERE s LIKE '%9999' AND n IS NULL ORDER BY i",
    "SELECT count(*) FROM {t} WHERE NOT b AND n IS NULL AND l BETWEEN 1000 AND 800000",
    "SELECT a.i, b.n FROM {t} a JOIN {t} b ON a.i = b.l / 3 WHERE a.i % 9973 = 0 ORDER BY 1, 2",
    "SELECT sum(2000000000 + i) FROM {t} WHERE i < 10000",
    "SELECT i, d FROM {t} ORDER BY d DESC, i LIMIT 20",
]


DEVICE, CUFILE = (str(gpu_server.readable_module(name)) for name in ("strom_host_device.so", "strom_fake_cufile.so"))


def every(n, make):
    return [None if i % n == 0 else make(i) for i in range(ROWS)]


def write(path, alignment_bytes=0):
    """A file whose columns lie anywhere; `alignment_bytes` of other columns' values come first."""
    table = pa.table({
        "pad": pa.array(["x" * alignment_bytes] + [""] * (ROWS - 1)),
        "i": pa.array(range(ROWS), pa.int32()),
        "l": pa.array([i * 3 for i in range(ROWS)], pa.int64()),
        "n": pa.array(every(3, lambda i: i * 1_000_003), pa.int64()),
        "f": pa.array([i / 7 for i in range(ROWS)], pa.float64()),
        "d": pa.array([decimal.Decimal(i * 37 % 99991) / 1000 for i in range(ROWS)], pa.decimal128(20, 3)),
        "b": pa.array(every(5, lambda i: i % 2 == 1), pa.bool_()),
        "day": pa.array([datetime.date(2020, 1, 1) + datetime.timedelta(i % 3000) for i in range(ROWS)], pa.date32()),
        "at": pa.array([datetime.datetime(2021, 1, 1) + datetime.timedelta(seconds=i) for i in range(ROWS)], pa.timestamp("us")),
        "s": pa.array(every(7, lambda i: f"text {i}")),
        "k": pa.array([f"key {i % 17}" for i in range(ROWS)]).dictionary_encode(),
    })
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=BATCH)
    os.chmod(path, 0o644)
    os.chown(path, *owner)


def evict(*paths):
    """Takes the files out of the page cache, but for pages that a session has read through its mapping."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def connect(device="gpu", user=None, **settings):
    if user is None:
        return gpu_server.device_session(server, device, **{"enable_gpu_cache": "off", **settings})
    return psycopg.connect(f"{server.conninfo('postgres')} user={user}", autocommit=True)


def read_bytes(session, query):
    """How much of its files the service has read by itself, in kB; None without that line."""
    plan = session.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) " + query).fetchone()[0]
    return plan[0]["Plan"].get("GPU-Direct SQL") or next(
        (child["GPU-Direct SQL"] for child in plan[0]["Plan"].get("Plans", []) if "GPU-Direct SQL" in child), None)


def service_answers():
    with connect("cpu") as session:
        session.execute("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS pg_strom")
        return gpu_server.service_answers(session)


def check(session, path):
    """{check: (status, detail, fix)} of pgstrom.storage_check()."""
    rows = session.execute("SELECT * FROM pgstrom.storage_check(%s)", (str(path),)).fetchall()
    ok(all(row[1] in ("ok", "note", "warning") and row[2] for row in rows), f"every row of {path} is whole", rows)
    return {row[0]: row[1:] for row in rows}


def start(cufile=CUFILE, faults="", driver="auto"):
    server.configure(f"pg_strom.gpudirect_driver = {driver}")
    server.start({"STROM_DEVICE_MODULE": DEVICE, "STROM_CUFILE_LIBRARY": cufile, "STROM_FAKE_CUFILE": faults})
    ok(wait_until(service_answers, seconds=10), f"a service with driver {driver}, {cufile and pathlib.Path(cufile).name} {faults}")


def answers_are_right(what, paths, reads=True):
    """With the files out of the page cache."""
    with connect() as session:
        for table in ("files", "shifted"):
            for query in QUERIES:
                evict(*paths)
                equal(session.execute(query.format(t=table)).fetchall(), wanted[query], f"{what}: {query.format(t=table)[:50]}")
    found = []

    def is_read():  # all that it can, once no session that has ended holds pages any more
        evict(*paths)
        with connect() as session:
            found.append(read_bytes(session, QUERIES[0].format(t="files")))
        return (found[-1] or 0) >= ROWS * 20

    ok(wait_until(is_read, seconds=10) if reads else not is_read() and found == [None],
       f"{what}: it was{'' if reads else ' not'} read by the service", found)


server = gpu_server.Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "gpu_storage_cluster", os.environ["STROM_SERVER_USER"])
server.create()
owner = (server.data.stat().st_uid, server.data.stat().st_gid)
server.configure("shared_preload_libraries = 'pg_strom'")
files = folder("gpu_storage")
os.chown(files, *owner)
paths = [files / "a.arrow", files / "b.arrow"]
write(paths[0])
write(paths[1], 12_345)
try:
    start()
    slow = "SELECT sum(i), sum(l), sum(n) FROM files WHERE l >= (SELECT 0 FROM pg_sleep(1))"
    with connect("cpu", enabled="off") as cpu:
        for table, path in zip(("files", "shifted"), paths):
            cpu.execute(f"CREATE FOREIGN TABLE {table} ({COLUMNS}) SERVER arrow_fdw OPTIONS (file '{path}')")
            cpu.execute(f"ANALYZE {table}")
        wanted = {query: cpu.execute(query.format(t="files")).fetchall() for query in QUERIES}
        right = cpu.execute(slow).fetchall()

    # By cuFile.
    answers_are_right("cuFile", paths)
    log = pathlib.Path(str(server.socket) + "/.s.PG_STROM.55999.cufile.log")
    ok(log.exists() and len(re.findall(r"^read \d+$", log.read_text(), re.M)) > 20, "its log is beside the socket")
    ok(not list(server.data.glob("**/cufile*")), "and not in the data directory")
    with connect(gpudirect_enabled="off") as session:
        for path in paths:
            path.read_bytes()
        session.execute("SET pg_strom.gpudirect_enabled = on")
        equal(read_bytes(session, QUERIES[0].format(t="files")), None, "what is in the page cache is not read again")
    evict(*paths)
    with connect(gpudirect_enabled="off") as session:
        equal(read_bytes(session, QUERIES[0].format(t="files")), None, "nor anything when it is switched off")
    registered = log.read_text().count("\nregister"), log.read_text().count("\nderegister")
    equal(registered[0], registered[1], "all files are closed again")

    # Checks.
    cpu = connect("cpu", enabled="off")
    found = check(cpu, paths[0])
    equal(sorted(found), sorted(["file", "file system", "storage", "O_DIRECT", "io_uring", "cuFile", "way"]), "what is checked")
    equal((found["way"][0], found["way"][1][:41]), ("ok", "The GPU service reads it by cuFile. What "), "the way")
    ok(found["cuFile"][1].startswith("cuFile 1.15 with nvidia-fs 2.25, compatibility mode allowed"), "what cuFile says", found)
    equal(check(cpu, files)["file"][1].split(",")[0], str(paths[0]), "a folder's first file")
    empty = folder("gpu_storage_empty")
    equal(sorted(check(cpu, empty)), sorted(["file", "file system", "storage", "io_uring", "cuFile", "way"]), "an empty folder")
    cpu.execute("SET pg_strom.gpudirect_enabled = off")
    equal(check(cpu, paths[0])["way"][2], "SET pg_strom.gpudirect_enabled = on;", "it says when it is switched off")
    cpu.execute("RESET pg_strom.gpudirect_enabled")
    hidden = files / "hidden"
    hidden.write_bytes(b"x" * 10000)
    hidden.chmod(0)
    os.chown(hidden, 0, 0)
    os.mkfifo(files / "pipe")
    for path, state in [("/nowhere", "58P01"), ("/dev/null", "22023"), (files / "pipe", "22023"), ("", "58P01"), (hidden, "42501"),
                        (f"{paths[0]}/x", "58P01"), ("/" + "x" * 5000, "58030")]:
        if path == hidden and owner[0] == 0:
            continue
        equal(state_of(lambda p=path: cpu.execute("SELECT * FROM pgstrom.storage_check(%s)", (str(p),))), state, f"{str(path)[:40]}")
    equal(cpu.execute("SELECT * FROM pgstrom.storage_check(NULL)").fetchall(), [], "no path")
    equal(check(cpu, "/proc/version")["O_DIRECT"][0], "note", "a file without O_DIRECT")
    hidden.unlink()
    (files / "pipe").unlink()
    cpu.execute("CREATE ROLE gpu_storage_role LOGIN; GRANT USAGE ON SCHEMA pgstrom TO gpu_storage_role")
    with connect(user="gpu_storage_role") as role:
        equal(state_of(lambda: role.execute(f"SELECT * FROM pgstrom.storage_check('{paths[0]}')")), "42501", "a role without the right")
        cpu.execute("GRANT pg_read_server_files TO gpu_storage_role")
        ok(len(role.execute(f"SELECT * FROM pgstrom.storage_check('{paths[0]}')").fetchall()) == 7, "and with it")

    # Files that change between the beginning of a query and its reads.
    cpu.close()
    kept = paths[0].read_bytes()

    def while_it_sleeps(change):
        evict(*paths)
        outcome = []
        with connect() as session:
            thread = threading.Thread(target=lambda: outcome.append(state_of(lambda: session.execute(slow).fetchall())))
            thread.start()
            time.sleep(0.5)
            change()
            thread.join()
        return outcome[0]

    evict(*paths)
    with connect() as session:
        ok((read_bytes(session, slow) or 0) > 0, "a file is read by the service after the wait")
        equal(session.execute(slow).fetchall(), right, "and right when it stays as it is")
    equal(while_it_sleeps(lambda: os.truncate(paths[0], len(kept) // 2)), "XX001", "a file that is cut")
    paths[0].write_bytes(kept)

    def overwrite():
        with open(paths[0], "r+b") as file:
            file.seek(len(kept) // 2)
            file.write(b"\0" * 1000)
            file.flush()
            os.fsync(file.fileno())

    equal(while_it_sleeps(overwrite), "XX001", "a file whose bytes change")
    paths[0].write_bytes(kept)

    def replace():
        (files / "new").write_bytes(b"not an Arrow file")
        os.replace(files / "new", paths[0])

    equal(while_it_sleeps(replace), None, "a file that is replaced")
    paths[0].unlink()
    paths[0].write_bytes(kept)

    # A service that dies while it reads.
    for _ in range(2):
        for process in gpu_server.service_processes(DEVICE):
            os.kill(process, signal.SIGKILL)
        ok(wait_until(service_answers, seconds=10), "it is back")
    answers_are_right("after deaths", paths)

    server.stop()

    # The other ways.
    for cufile, faults, driver, way in [(CUFILE, "short", "auto", "ok The GPU service reads it by cuFile"),
                                        (CUFILE, "fail", "auto", "ok The GPU service reads it by cuFile"),  # until it has failed
                                        (CUFILE, "refuse", "auto", "ok The GPU service reads it by io_uring"),
                                        ("/nowhere/libcufile.so", "", "auto", "ok The GPU service reads it by io_uring"),
                                        (CUFILE, "", "vfs", "note The GPU service reads it by plain reads"),
                                        (CUFILE, "refuse", "cufile", "note Sessions read it")]:
        start(cufile, faults, driver)
        with connect("cpu") as session:
            found = check(session, paths[0])
            if found["io_uring"][0] != "ok":
                way = way.replace("ok The GPU service reads it by io_uring", "note The GPU service reads it by plain reads")
            equal(f"{found['way'][0]} {found['way'][1]}"[:len(way)], way, f"what is said of {driver} {faults}")
        answers_are_right(f"{driver} {faults}", paths, reads=driver != "cufile")
        server.stop()

    # No service.
    server.start({})
    with connect("auto") as session:
        found = check(session, paths[0])
        equal((found["way"][0], found["way"][1][:14], found["way"][2]), ("note", "Sessions read ", "SELECT * FROM pgstrom.doctor();"), "without a service")
        equal(session.execute(QUERIES[0].format(t="files")).fetchall(), wanted[QUERIES[0]], "all goes on")
    server.stop()
finally:
    server.remove()
done()
