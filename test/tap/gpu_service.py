#!/usr/bin/env python3
"""Queries through the GPU service, on a device whose memory is apart from the server's (test/modules/host_device.cpp): the
CPU's answers; crowds; cancels; services, sessions and servers that die; what is said when there is none. Servers of its
own."""

import functools
import os
import pathlib
import signal
import threading
import time

import psycopg
import pyarrow as pa
import pyarrow.ipc as ipc

from gpu_server import Cluster, device_session, readable_module, service_answers, service_processes
from server import TEST_DIR, done, equal, folder, ok, state_of, wait_until

ROWS = 300_000
CLIENTS = 100
eventually = functools.partial(wait_until, seconds=10)
BACK_SECONDS = 5  # within which a service that was killed answers again
QUERIES = [
    "SELECT count(*), sum(n), min(t), max(t) FROM heap WHERE n % 3 = 1",
    "SELECT k, count(*), sum(m), avg(n) FROM heap GROUP BY k ORDER BY k",
    "SELECT t, count(*), max(t || 'x') FROM heap WHERE k < 50 GROUP BY t ORDER BY t LIMIT 50",
    "SELECT d.name, count(*), sum(h.n) FROM heap h JOIN dim d ON d.id = h.k WHERE d.id > 10 GROUP BY 1 ORDER BY 1",
    "SELECT h.id, d.name FROM heap h JOIN dim d ON d.id = h.k WHERE h.n = 77 ORDER BY h.id",
    "SELECT id, upper(t) FROM heap WHERE t LIKE '%99' AND id < 100000 ORDER BY id",
    "SELECT count(*) FROM heap h WHERE NOT EXISTS (SELECT FROM dim d WHERE d.id = h.k AND d.name > 'n5')",
    "SELECT d.id, d.name, h.id FROM heap h RIGHT JOIN dim d ON d.id = h.k AND h.id < 200 ORDER BY 1, 3",
    "SELECT s, count(*), sum(i) FROM files GROUP BY s ORDER BY s",
    "SELECT f.i, f.s FROM files f JOIN dim d ON d.id = f.i % 200 WHERE d.name = 'n7' AND f.i < 5000 ORDER BY f.i",
    "SELECT sum(2000000000 + n) FROM heap WHERE id < 1000",  # overflows of some rows: PostgreSQL's error, or none
    "SELECT count(DISTINCT t), count(DISTINCT k) FROM heap",
]
LONG = "SELECT count(*) FROM heap a JOIN heap b ON a.k = b.k WHERE a.n + b.n = 12345678"

module = readable_module("strom_host_device.so")


def connect(server, device="gpu", **settings):
    return device_session(server, device, **settings)


def answers(session):
    found = []
    for query in QUERIES:
        try:
            found.append(session.execute(query).fetchall())
        except psycopg.Error as error:
            found.append(error.sqlstate)
    return found


def processes_of(data):
    """Processes with that working folder, as all of a server have it."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == data:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def device_of(session, query):
    plan = session.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) " + query).fetchall()
    return [line.strip() for (line,) in plan if line.strip().startswith("Device:")]


def make_tables(session):
    files = folder("gpu_service")
    table = pa.table({"i": pa.array(range(100_000), pa.int32()),
                      "s": pa.array([f"text {i % 37}" if i % 11 else None for i in range(100_000)]).dictionary_encode(),
                      "v": pa.array([f"view {i % 5}" for i in range(100_000)], pa.string_view())})
    with ipc.new_file(files / "a.arrow", table.schema) as writer:
        for batch in table.to_batches(max_chunksize=30_000):
            writer.write_batch(batch)
    session.execute(f"""
        CREATE TABLE heap AS SELECT i AS id, i % 100 AS k, i % 1000 AS n, (i % 977)::numeric(12, 2) / 4 AS m, 't' || i % 1000 AS t
          FROM generate_series(1, {ROWS}) i;
        CREATE TABLE dim AS SELECT i AS id, 'n' || i AS name FROM generate_series(1, 120) i;
        CREATE FOREIGN TABLE files (i int, s text, v text) SERVER arrow_fdw OPTIONS (file '{files}/a.arrow')""")
    for table in ("VACUUM ANALYZE heap", "ANALYZE dim", "ANALYZE files"):
        session.execute(table)


def crowd(server, wanted, seconds=None):
    """CLIENTS sessions at a time, or 8 for so many seconds: what they got that is neither right nor in `accepted`."""
    wrong, begun = [], time.monotonic()
    states = set()

    def client(number):
        try:
            session = connect(server)
            rounds = 0
            while (rounds == 0) if seconds is None else time.monotonic() < begun + seconds:
                rounds += 1
                place = (number + rounds) % len(QUERIES)
                try:
                    rows = session.execute(QUERIES[place]).fetchall()
                    if rows != wanted[place]:
                        wrong.append((QUERIES[place], len(rows)))
                except psycopg.Error as error:
                    if error.sqlstate != wanted[place]:
                        states.add(error.sqlstate or str(error))
            session.close()
        except psycopg.Error as error:
            wrong.append(str(error))

    threads = [threading.Thread(target=client, args=(i,)) for i in range(CLIENTS if seconds is None else 8)]
    for thread in threads:
        thread.start()
    return threads, wrong, states


server = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "gpu_service_cluster", os.environ["STROM_SERVER_USER"])
server.create()
server.configure("shared_preload_libraries = 'pg_strom'", "max_connections = 150")
ENVIRONMENT = {"STROM_DEVICE_MODULE": str(module)}
try:
    server.start(ENVIRONMENT)
    cpu = connect(server, "cpu")
    cpu.execute("CREATE EXTENSION pg_strom")
    make_tables(cpu)
    ok(eventually(lambda: service_answers(cpu)), "the service is there")
    gpu = connect(server)
    wanted = answers(cpu)
    equal(answers(gpu), wanted, "the CPU's answers")
    equal(device_of(gpu, QUERIES[0]), ["Device: GPU0 (memory of its own (cpu))"], "EXPLAIN tells the device")
    ok("CPU" in device_of(cpu, QUERIES[0])[0], "and that it was the CPU")
    auto = connect(server, "auto", cpu_tuple_cost="0.0001", gpu_setup_cost="1000", gpu_tuple_cost="0.0001")
    ok("CPU" in device_of(auto, "SELECT count(*) FROM heap WHERE n = 1")[0], "too few rows to be worth it")
    auto.execute("SET pg_strom.gpu_setup_cost = 1; SET pg_strom.gpu_tuple_cost = 0.00001")
    ok("GPU0" in device_of(auto, "SELECT count(*) FROM heap WHERE n = 1")[0], "enough rows to be worth it")

    # Views of the service.
    rows = cpu.execute("SELECT pid, tasks > 0, busy_ms > 0, name FROM pgstrom.gpu_sessions").fetchall()
    ok(any(row == (gpu.info.backend_pid, True, True, f"{gpu.info.backend_pid} ") for row in rows), "the session is in the ledger", rows)

    # Cancels.
    begin = time.monotonic()
    gpu.execute("SET statement_timeout = 300")
    equal(state_of(lambda: gpu.execute(LONG)), "57014", "a query ends at its timeout")
    gpu.execute("RESET statement_timeout")
    ok(time.monotonic() - begin < 10, "soon", time.monotonic() - begin)
    equal(gpu.execute(QUERIES[0]).fetchall(), wanted[0], "the session goes on")
    victim = connect(server)
    pid = victim.info.backend_pid
    thread = threading.Thread(target=lambda: state_of(lambda: victim.execute(LONG)))
    thread.start()
    ok(eventually(lambda: cpu.execute(f"SELECT FROM pgstrom.gpu_sessions WHERE pid = {pid}").fetchall()), "a session works")
    cpu.execute(f"SELECT pg_terminate_backend({pid})")
    thread.join()
    ok(eventually(lambda: not cpu.execute(f"SELECT FROM pgstrom.gpu_sessions WHERE pid = {pid}").fetchall()),
       "a session that is terminated leaves the ledger")

    # A crowd.
    threads, wrong, states = crowd(server, wanted)
    for thread in threads:
        thread.join()
    equal((wrong, states), ([], set()), f"{CLIENTS} clients have their answers")
    gpu.close()
    auto.close()
    ok(eventually(lambda: not cpu.execute("SELECT FROM pgstrom.gpu_sessions").fetchall()), "and have left the service")

    # The service is killed under load.
    threads, wrong, states = crowd(server, wanted, seconds=12)
    slowest = 0
    for _ in range(3):
        time.sleep(1.5)
        (process,) = service_processes(module)
        os.kill(process, signal.SIGKILL)
        killed = time.monotonic()
        eventually(lambda: any(p != process for p in service_processes(module)) and service_answers(cpu), seconds=30)
        slowest = max(slowest, time.monotonic() - killed)
    for thread in threads:
        thread.join()
    equal(wrong, [], "a killed service costs nobody an answer or a connection")
    ok(states <= {"58000", "55000"}, "but an error of the service", states)
    ok(slowest < BACK_SECONDS, f"it is back within {BACK_SECONDS} seconds", slowest)
    equal(cpu.execute("SELECT 1").fetchall(), [(1,)], "the server was not restarted")
    gpu = connect(server)
    equal(answers(gpu), wanted, "the CPU's answers after that")

    # A stopped service.
    (process,) = service_processes(module)
    os.kill(process, signal.SIGSTOP)
    gpu.execute("SET statement_timeout = 1000")
    equal(state_of(lambda: gpu.execute(QUERIES[0])), "57014", "a query that waits for a stopped service can be ended")
    os.kill(process, signal.SIGCONT)
    gpu.execute("RESET statement_timeout")
    equal(gpu.execute(QUERIES[0]).fetchall(), wanted[0], "and goes on when the service does")

    # The server ends, in both ways.
    for connection in (gpu, cpu):
        connection.close()
    server.stop()
    ok(eventually(lambda: not service_processes(module)), "the service ends with the server")
    server.start(ENVIRONMENT)
    ok(eventually(lambda: service_processes(module)), "and comes with it")
    os.kill(int((server.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    ok(eventually(lambda: not service_processes(module)), "and ends when the server is killed")
    server.running = False
    # Its processes notice one after the other, and until the last has, no new server starts there.
    ok(eventually(lambda: not processes_of(server.data), seconds=30), "as all its processes do")
    # Until its parent has waited for the dead process, its number is still taken.
    (server.data / "postmaster.pid").unlink()
    (server.socket / ".s.PGSQL.55999.lock").unlink()

    # No service.
    server.start({"STROM_DEVICE_MODULE": "/nowhere/module.so"})
    session = connect(server)
    equal(state_of(lambda: session.execute(QUERIES[0])), "55000", "without a service gpu is an error")
    session.execute("SET pg_strom.device = auto")
    equal(session.execute(QUERIES[0]).fetchall(), wanted[0], "and auto is the CPU")
    equal(session.execute("SELECT count(*) FROM pgstrom.gpu_sessions").fetchall(), [(0,)], "no sessions")
    finding = session.execute("SELECT status, detail, fix FROM pgstrom.doctor() WHERE \"check\" = 'GPU service'").fetchall()
    ok(len(finding) == 1 and finding[0][0] == "error" and finding[0][2], "doctor() tells it", finding)
    log = (server.data / "server.log").read_text(errors="replace")
    ok("could not open device module \"/nowhere/module.so\"" in log, "and the log why")
    session.close()
    server.stop()
    server.start({})
    session = connect(server, "auto")
    equal(session.execute(QUERIES[0]).fetchall(), wanted[0], "a server without a GPU notices nothing")
    equal(session.execute("SELECT count(*) FROM pgstrom.doctor() WHERE \"check\" = 'GPU service'").fetchall(), [(0,)],
          "nothing is missing there")
    session.close()
finally:
    server.remove()
done()
