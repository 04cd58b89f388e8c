#!/usr/bin/env python3
"""Store tables on a device that is slow or fails while a checkpoint is made (test/modules/slow_device.c). A server of its
own."""
import mmap
import os
import pathlib
import struct
import subprocess
import sys
import threading
import time

import psycopg

from server import TEST_DIR, done, equal, ok, state_of, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "test/diff"))

from cluster import Cluster  # noqa: E402

IO_ERROR = "58030"
HEARTBEAT_AT = 192 + 24  # in the header of a region
cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "store_devices", os.environ["STROM_SERVER_USER"])
FILES, DEVICE = cluster.folder / "files", cluster.folder / "device"


def compiled():
    library = TEST_DIR / "slow_device.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, ROOT / "test/modules/slow_device.c", "-ldl"], check=True)
    library.chmod(0o755)
    return library


def connect():
    return psycopg.connect(cluster.conninfo("postgres"), autocommit=True, connect_timeout=30)


def query(statement):
    with connect() as session:
        return session.execute(statement).fetchall()


def make_table(name, columns, **options):
    options = {"max_num_rows": 1000, "primary_key": "id", "redo_log_limit": "16MB", **options}
    rest = "".join(f", {key} '{value}'" for key, value in options.items())
    with connect() as session:
        session.execute(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER gstore_fdw "
                        f"OPTIONS (base_file '{FILES}/{name}.base', redo_log_file '{FILES}/{name}.redo'{rest})")


def failed_sync_beside_checkpoint():
    """What the device has is not known after a failed fsync. A checkpoint that began before does not make up for that."""
    make_table("synced", "id int, n int")
    session = connect()
    session.execute("INSERT INTO synced VALUES (1, 1)")
    (DEVICE / "slow").touch()
    outcome = []
    checkpoint = threading.Thread(target=lambda: outcome.append(state_of(lambda: query("SELECT pgstrom.store_checkpoint('synced')::text"))))
    checkpoint.start()
    ok(wait_until(lambda: (FILES / "synced.base.new").exists(), 10), "a checkpoint is being made")
    (DEVICE / "broken").touch()
    equal(state_of(lambda: session.execute("INSERT INTO synced VALUES (2, 2)")), IO_ERROR, "a commit whose fsync fails")
    (DEVICE / "broken").unlink()
    ok(checkpoint.is_alive(), "all of that beside the checkpoint")
    (DEVICE / "slow").unlink()
    checkpoint.join()
    equal(outcome, [None], "the checkpoint is made")
    equal(state_of(lambda: session.execute("INSERT INTO synced VALUES (3, 3)")), IO_ERROR, "it says nothing of what failed after its moment")
    equal(query("SELECT id FROM synced ORDER BY 1"), [(1,)], "what failed is not there")
    session.execute("SELECT pgstrom.store_checkpoint('synced')")
    session.execute("INSERT INTO synced VALUES (4, 4)")
    session.close()
    cluster.stop("immediate")
    cluster.start(ENVIRONMENT)
    equal(query("SELECT id, pgstrom.store_check('synced') FROM synced ORDER BY 1"), [(1, 2), (4, 2)], "the next one does, also after a crash")


def heartbeat_beside_checkpoint():
    """Clients see that the server lives while its worker writes a large base file slowly."""
    rows = 200_000
    make_table("beating", "id int, note text", max_num_rows=2 * rows, kv_access="true", redo_log_limit="32MB")
    with connect() as session:
        session.execute(f"INSERT INTO beating SELECT i, repeat('x', 70) FROM generate_series(1, {rows}) i")
        session.execute("SELECT pgstrom.store_checkpoint('beating')")
        relid = session.execute("SELECT 'beating'::regclass::oid").fetchone()[0]
        with open(next(pathlib.Path("/dev/shm").glob(f"pg_strom.*.{relid}.kv.*")), "rb") as file:
            memory = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ)
        (DEVICE / "slow").touch()
        for part in range(4):
            session.execute(f"UPDATE beating SET note = repeat('y', 71) WHERE id % 4 = {part}")
    new, longest, took, last, changed = FILES / "beating.base.new", 0.0, 0.0, 0, time.monotonic()
    ok(wait_until(new.exists, 30), "the worker makes a checkpoint")
    begin = time.monotonic()
    while new.exists() and took < 60:
        beat, took = struct.unpack_from("<Q", memory, HEARTBEAT_AT)[0], time.monotonic() - begin
        if beat != last:
            last, changed = beat, time.monotonic()
        longest = max(longest, time.monotonic() - changed)
        time.sleep(0.01)
    (DEVICE / "slow").unlink()
    ok(last > 1_700_000_000_000_000, "the heartbeat is a time", last)
    ok(took > 5 and longest < took / 2, "it goes on meanwhile", f"the checkpoint took {took:.1f} s, the longest pause was {longest:.1f} s")


try:
    cluster.create()
    ENVIRONMENT = {"LD_PRELOAD": str(compiled()), "STROM_DEVICE": str(DEVICE)}
    cluster.configure("fsync = on", "max_worker_processes = 8")
    cluster.start(ENVIRONMENT)
    cluster.folder.chmod(0o755)
    for folder in (FILES, DEVICE):
        cluster.make_folder(folder)
    with connect() as first:
        first.execute("CREATE EXTENSION pg_strom")
    failed_sync_beside_checkpoint()
    heartbeat_beside_checkpoint()
    equal(cluster.last_signals(), [], "no process was killed by a signal")
    cluster.stop("fast")  # which leaves no memory behind
finally:
    cluster.stop()
    cluster.remove()
done()
