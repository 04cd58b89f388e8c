#!/usr/bin/env python3
"""Reads of store tables by RDMA, in a machine that has a device: a server, and clients that find it by the address of the
device. Started by test/rdma/machine. What has no other proof is here: gets go on while no process of the server runs, and a
client that ignores what it is told reads nothing once the right to it is gone."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import psycopg  # noqa: E402
import strom_kv  # noqa: E402

ADDRESS, PORT, DATA = "10.77.0.1", 54321, "/tmp/data"
BIN, BUILD = os.environ["STROM_PG_BINDIR"], pathlib.Path(os.environ["STROM_BUILD_DIR"])
CLIENT = str(BUILD / "tools/strom-kv/strom-kv")
passed = failed = 0


def ok(condition, name, *remarks):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    print(("ok - " if condition else "not ok - ") + name, flush=True)
    if not condition:
        print("\n".join("    " + str(remark)[:2000] for remark in remarks), flush=True)


def server(*command, check=True):
    words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
    return subprocess.run(words, check=check, stdout=subprocess.DEVNULL)


def connect(user="postgres"):
    return psycopg.connect(host=ADDRESS, port=PORT, user=user, dbname="postgres", autocommit=True)


def client(*words, user="postgres"):
    return subprocess.run([CLIENT, *words, "--rdma", "-h", ADDRESS, "-p", str(PORT), "-U", user, "-d", "postgres"],
                          capture_output=True, text=True)


def attach(session, table):
    """As a program does it that keeps its connection."""
    port, token = session.execute("SELECT port, token FROM pgstrom.kv_session_tcp(%s::regclass)", (table,)).fetchone()
    return strom_kv.Table.from_token(f"rdma:{ADDRESS}:{port}", token)


def refused(read, text, name):
    """A read ends in an error that says `text`."""
    try:
        found = read()
    except strom_kv.StoreError as error:
        ok(text in str(error), f"{name}: {error}")
    else:
        ok(False, name, found)


def reads_all(table, rows, step=97):
    """Whether the table has exactly these rows, a dictionary."""
    keys = list(rows)[::step] + [10**8]
    return table.mget(keys) == [{"id": key, **rows[key]} if key in rows else None for key in keys]


def postgres_processes():
    return [int(entry.name) for entry in pathlib.Path("/proc").iterdir()
            if entry.name.isdigit() and (entry / "comm").read_text().startswith("postgres")]


def set_up():
    server(BIN + "/initdb", "-D", DATA, "-U", "postgres", "-A", "trust", "-N", "--no-locale", "-E", "UTF8")
    with open(DATA + "/postgresql.conf", "a") as settings:
        settings.write(f"listen_addresses = '{ADDRESS}'\nport = {PORT}\nunix_socket_directories = '/tmp'\nfsync = off\n"
                       f"shared_buffers = 32MB\npg_strom.kv_listen_addresses = '{ADDRESS}'\npg_strom.kv_rdma = on\n"
                       "shared_preload_libraries = 'pg_strom'\n")
    with open(DATA + "/pg_hba.conf", "a") as rules:
        rules.write("host all all 10.77.0.0/24 trust\n")
    server(BIN + "/pg_ctl", "-D", DATA, "-l", "/tmp/server.log", "-w", "-t", "300", "start")


def make_table(session, name, rows, text):
    session.execute(f"""CREATE FOREIGN TABLE {name} (id int, n int, t text) SERVER gstore_fdw OPTIONS (
        base_file '/tmp/{name}.base', redo_log_file '/tmp/{name}.redo', max_num_rows '100000', primary_key 'id', kv_access 'true')""")
    session.execute(f"INSERT INTO {name} SELECT i, i * 3, repeat(chr(97 + i % 26), {text}) FROM generate_series(1, {rows}) i")
    return {i: {"n": i * 3, "t": chr(97 + i % 26) * text} for i in range(1, rows + 1)}


def gets_and_scans(session):
    rows = make_table(session, "t", 20000, 40)
    found = client("get", "t", "77")
    ok(found.returncode == 0 and '"n": 231' in found.stdout.replace(":2", ": 2"), "strom-kv get", found)
    found = client("get", "t", "20001")
    ok(found.returncode == 1, "strom-kv get of a row that is not there", found)
    found = client("dump", "t")
    ok(found.returncode == 0 and len(found.stdout.splitlines()) == 20000, "strom-kv dump", found.stderr)
    with attach(session, "t") as table:
        ok(reads_all(table, rows), "rows as they are")
        session.execute("UPDATE t SET n = -id WHERE id % 10 = 0; DELETE FROM t WHERE id % 10 = 1")
        rows = {key: {**row, "n": -key if key % 10 == 0 else row["n"]} for key, row in rows.items() if key % 10 != 1}
        ok(reads_all(table, rows), "rows after changes")
        ok(len(list(table.scan())) == 18000, "a scan")
    return rows


def growth(session):
    """A region that takes memory after clients have come."""
    make_table(session, "grows", 10, 10)
    with attach(session, "grows") as table:
        ok(table.get(3)["n"] == 9, "before it grows")
        session.execute("INSERT INTO grows SELECT i, i, repeat('x', 1500) FROM generate_series(11, 40000) i")
        found = table.mget(range(11, 40001, 501))
        ok(all(row is not None and row["t"] == "x" * 1500 and row["n"] == row["id"] for row in found), "after it has grown",
           [row for row in found if row is None][:3])


def writers(session):
    """Values that change while they are read: each says twice what it is."""
    session.execute("""CREATE FOREIGN TABLE pairs (id int, a bigint, b bigint) SERVER gstore_fdw OPTIONS (
        base_file '/tmp/pairs.base', redo_log_file '/tmp/pairs.redo', max_num_rows '1000', primary_key 'id', kv_access 'true',
        durability 'async')""")
    session.execute("INSERT INTO pairs SELECT i, 0, 0 FROM generate_series(1, 50) i")
    stop = threading.Event()
    changes = [0]

    def write():
        with connect() as own:
            while not stop.is_set():
                changes[0] += 1
                own.execute("UPDATE pairs SET a = %s, b = %s WHERE id = %s", (changes[0], -changes[0], random.randint(1, 50)))

    writer = threading.Thread(target=write)
    writer.start()
    wrong = reads = 0
    with attach(session, "pairs") as table:
        until = time.monotonic() + 30
        while time.monotonic() < until or reads == 0 or changes[0] < 100:
            for row in table.mget(range(1, 51)):
                reads += 1
                wrong += row is None or row["a"] != -row["b"]
    stop.set()
    writer.join()
    ok(wrong == 0, f"{reads} gets beside {changes[0]} changes", wrong)


def stopped_server(session):
    with attach(session, "t") as table:
        ok(table.get(77)["n"] == 231, "before the server is stopped")
        stopped = postgres_processes()
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        try:
            found = [table.get(key) for key in range(2, 2000, 10)]
            states = {pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] for process in stopped}
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)
        ok(states == {"T"} and len(stopped) > 5, "the server's processes were stopped", states, stopped)
        ok(all(row is not None and row["n"] == 3 * row["id"] for row in found), "gets while the server is stopped")


def rotation(session):
    """Clients that are told, and one that has no right any more."""
    session.execute("CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader")
    with connect("reader") as own:
        table = attach(own, "t")
        ok(table.get(77)["n"] == 231, "with the right to read")
        session.execute("REVOKE SELECT ON t FROM reader")
        refused(lambda: table.get(77), "", "after REVOKE")
        table.close()
    with attach(session, "t") as table:
        ok(table.get(77)["n"] == 231, "another region")
        session.execute("DROP FOREIGN TABLE t")
        refused(lambda: table.get(77), "", "after DROP")


def raw_reads(session):
    """A client that keeps its connection and reads on, whatever the header says."""
    make_table(session, "secret", 5000, 100)
    port, token = session.execute("SELECT port, token FROM pgstrom.kv_session_tcp('secret')").fetchone()
    reader = subprocess.Popen([str(BUILD / "test/rdma/raw_reader"), ADDRESS, str(port), token], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    before = reader.stdout.readline().split()
    ok(before[:1] == ["read"] and int(before[1]) > 100000, "bytes of the region", before)
    # The process that gives memory back is stopped: what is left is what REVOKE itself has done.
    worker = [process for process in postgres_processes()
              if "pg_strom messages" in pathlib.Path(f"/proc/{process}/cmdline").read_text()]
    os.kill(worker[0], signal.SIGSTOP)
    session.execute("SELECT pgstrom.kv_rotate('secret')")
    reader.stdin.write("again\n")
    reader.stdin.flush()
    after = reader.stdout.readline().split()
    ok(len(worker) == 1 and after[:1] == ["read"] and int(after[1]) == 0, "zeros, once the region has moved", after)
    os.kill(worker[0], signal.SIGCONT)
    found = ["read"]
    for _ in range(600):
        reader.stdin.write("again\n")
        reader.stdin.flush()
        found = reader.stdout.readline().split()
        if found[:1] != ["read"]:
            break
        time.sleep(0.1)
    ok(found[:1] == ["refused"], "nothing, once the server has noticed", found)
    reader.stdin.close()
    reader.wait()


def refusals(session):
    make_table(session, "plain", 10, 10)
    refused(lambda: strom_kv.Table.from_token(f"rdma:{ADDRESS}:1", "0" * 32).get(1), "could not connect",
            "a port that nobody has")
    port, token = session.execute("SELECT port, token FROM pgstrom.kv_session_tcp('plain')").fetchone()
    refused(lambda: strom_kv.Table.from_token(f"rdma:{ADDRESS}:{port}", "0" * 32).get(1), "token", "a token that is none")
    found = subprocess.run([str(BUILD / "test/rdma/raw_reader"), ADDRESS, str(port), token, "forged"], capture_output=True,
                           text=True, stdin=subprocess.DEVNULL)
    ok(found.stdout.startswith("refused"), "a ticket that is none", found)


if __name__ == "__main__":
    set_up()
    with connect() as session:
        session.execute("CREATE EXTENSION pg_strom")
        for test in (gets_and_scans, growth, writers, stopped_server, raw_reads, refusals, rotation):
            try:
                test(session)
            except Exception as error:  # the others are tried all the same
                ok(False, test.__name__, type(error), error)
    sys.stdout.write(open("/tmp/server.log").read() if failed else "")
    server(BIN + "/pg_ctl", "-D", DATA, "-m", "immediate", "stop", check=False)
    print(f"{passed} passed, {failed} failed", flush=True)
