#!/usr/bin/env python3
"""What sessions may lose that do not wait for their commits. By a crash: whole transactions, never their changes of one
table alone. By a full disk: what they changed before the server knew of it. A server of its own, which is killed."""
import os
import signal
import subprocess
import sys
import time

import psycopg

from server import TEST_DIR, done, equal, ok, state_of, wait_until

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "store_durability", os.environ["STROM_SERVER_USER"])
FILES = cluster.folder / "files"


def connect():
    return psycopg.connect(cluster.conninfo("postgres"), autocommit=True, connect_timeout=10)


def make_table(name, folder=FILES, **options):
    rest = "".join(f", {key} '{value}'" for key, value in options.items())
    with connect() as session:
        session.execute(f"""CREATE FOREIGN TABLE {name} (id int, n int) SERVER gstore_fdw OPTIONS (base_file '{folder}/{name}.base',
                            redo_log_file '{folder}/{name}.redo', redo_log_limit '16MB', max_num_rows '1000', primary_key 'id'{rest})""")
        session.execute(f"INSERT INTO {name} VALUES (1, 0), (2, 0)")


def crash_after_a_later_commit(later):
    """Kills the server just when `later` has brought the log of an earlier transaction to the device."""
    with connect() as session:
        before = session.execute("SELECT n FROM heap WHERE id = 1").fetchone()[0]
        session.execute("SET synchronous_commit = off; BEGIN")
        for table in ("heap", "one", "two"):
            session.execute(f"UPDATE {table} SET n = n + 1 WHERE id = 1")
        session.execute("COMMIT; SET synchronous_commit = on")
        session.execute(later)
        os.kill(int((cluster.data / "postmaster.pid").read_text().splitlines()[0]), signal.SIGQUIT)
    cluster.running = False
    ok(wait_until(lambda: not (cluster.data / "postmaster.pid").exists(), 30), "the server is killed")
    cluster.start({})
    with connect() as session:
        found = [session.execute(f"SELECT n FROM {table} WHERE id = 1").fetchone()[0] for table in ("heap", "one", "two")]
    equal(found, [before + 1] * 3, f"all tables have the transaction, after {later}")


def full_disk():
    """The worker writes the log of a table whose commits do not wait. Where it cannot, they get to know."""
    small = FILES / "small"
    cluster.make_folder(small)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=777", "tmpfs", small], capture_output=True).returncode != 0:
        return
    try:
        make_table("crowded", small, durability="async")
        with connect() as session:
            update = "UPDATE crowded SET n = n + 1 WHERE id = 1"
            session.execute(update)
            with open(small / "filler", "wb") as filler:
                filler.write(b"x" * (os.statvfs(small).f_bavail * os.statvfs(small).f_frsize))
            states = []
            for _ in range(2000):  # some kilobytes more than the last page of the file has room for
                states.append(state_of(lambda: session.execute(update)))
                if states[-1] is not None:
                    break
                time.sleep(0.005)
            equal(states[-1], "53100", f"a commit on a full disk, after {len(states)}")
            kept = session.execute("SELECT n FROM crowded WHERE id = 1").fetchone()
            (small / "filler").unlink()
            equal(state_of(lambda: session.execute("UPDATE crowded SET n = n WHERE id = 1")), None, "when there is room again")
        cluster.stop("fast")
        cluster.start({})
        with connect() as session:
            equal(session.execute("SELECT n FROM crowded WHERE id = 1").fetchone(), kept, "nothing is lost then")
            session.execute("DROP FOREIGN TABLE crowded")
    finally:
        subprocess.run(["umount", "-l", small], check=False)


try:
    cluster.create()
    cluster.configure("fsync = on")
    cluster.start({})
    cluster.make_folder(FILES)
    with connect() as first:
        first.execute("CREATE EXTENSION pg_strom; CREATE TABLE heap (id int PRIMARY KEY, n int); INSERT INTO heap VALUES (1, 0)")
    make_table("one")
    make_table("two")
    for number in range(2):
        crash_after_a_later_commit("UPDATE one SET n = n + 1 WHERE id = 2")
        crash_after_a_later_commit(f"INSERT INTO heap VALUES ({number} + 2, 0)")
    full_disk()
finally:
    cluster.stop()
    cluster.remove()
done()
