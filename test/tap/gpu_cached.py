"""What the TAP tests of what stays in the GPU's memory share: columns in gpu_cache.py, join tables in gpu_joins.py. A test
has `connect(device, **settings)`, and the service's module of its own."""
import os
import random
import shutil
import signal
import sys
import threading
import time

import psycopg
import pyarrow as pa
import pyarrow.ipc as ipc

from gpu_server import service_answers, service_processes
from server import TEST_DIR, equal, ok, wait_until, with_and_without_engine

SETTLED = 2.2  # seconds after which a file's times tell it from later states
SECONDS = 10
FEW_MB = 48


def answer(session, statement):
    """Rows, or the SQLSTATE of an error."""
    try:
        return session.execute(statement).fetchall()
    except psycopg.Error as error:
        return error.sqlstate


def both(session, statement):
    return with_and_without_engine(session, statement, answer)


def agree(session, statements, name):
    differences = [(s, *found) for s in statements if (found := both(session, s))[0] != found[1]]
    ok(not differences, name, *(repr(d)[:2000] for d in differences))


def warm(session, statements, times=4):
    for _ in range(times):
        for statement in statements:
            answer(session, statement)


def write_file(path, table, batch_rows):
    with pa.OSFile(str(path), "wb") as sink, ipc.new_file(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=batch_rows):
            writer.write_batch(batch)


def pinned(session):
    return session.execute("SELECT coalesce(sum(pinned), 0)::int8 FROM pgstrom.gpu_cache_info").fetchone()[0]


def in_threads(work, count):
    """work(number) of `count` threads at the same time; the threads."""
    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    return threads


def service_process(module):
    return next(iter(service_processes(module)), None)


def kill_services(connect, module, watcher, wanted):
    """The service is killed under load; `wanted` has the answers of statements."""
    states, wrong, end = set(), [], time.monotonic() + 6

    def load(_):
        busy = connect()
        while time.monotonic() < end:
            for statement in wanted:
                ours = answer(busy, statement)
                if isinstance(ours, str):
                    states.add(ours)
                elif ours != wanted[statement]:
                    wrong.append(statement)
        busy.close()

    threads = in_threads(load, 4)
    for _ in range(2):
        time.sleep(1.5)
        process = service_process(module)
        os.kill(process, signal.SIGKILL)
        wait_until(lambda p=process: service_process(module) not in (None, p) and service_answers(watcher), 30)
    for thread in threads:
        thread.join()
    equal(wrong, [], "a killed service costs nobody a right answer")
    ok(states <= {"58000", "55000"}, "but errors of the service", states)


def crash_server(connect, module, session, watcher):
    """The session's backend is killed: the server restarts, and with it the service. A session of the next."""

    def is_up():
        try:
            connect("cpu").close()
            return True
        except psycopg.Error:
            return False

    process = service_process(module)
    os.kill(session.info.backend_pid, signal.SIGKILL)
    ok(wait_until(lambda: service_process(module) not in (None, process), 30), "a crash of the server ends the service")
    watcher.close()
    ok(wait_until(is_up, 30), "and both come back")
    session = connect()
    ok(wait_until(lambda: service_answers(session), 30), "with the service")
    return session


def share_little_memory(connect, statements, clients, kept_of):
    """Many sessions on a device that has not enough for all: a session that needs memory takes it from the cache. How much of
    it was found, by kept_of(session, statement), and the bytes that are kept in the end."""
    session = connect("cpu")
    wanted = {s: both(session, s)[1] for s in statements}
    wrong, found = [], [0]
    end = time.monotonic() + SECONDS

    def client(number):
        rng = random.Random(number)
        own = connect(cpu_threads="1")
        while time.monotonic() < end:
            statement = rng.choice(statements)
            ours = answer(own, statement)
            if ours != wanted[statement]:
                wrong.append((statement, len(ours) if isinstance(ours, list) else ours))
            if rng.random() < 0.1:
                found[0] += kept_of(own, statement)
        own.close()

    for thread in in_threads(client, clients):
        thread.join()
    equal(wrong[:3], [], "sessions with too little memory get their answers")
    ok(wait_until(lambda: pinned(session) == 0, 10), "and hold nothing when they are gone")
    total, = session.execute("SELECT coalesce(sum(bytes), 0)::int8 FROM pgstrom.gpu_cache_info").fetchone()
    ok(total < FEW_MB << 20, "no more is kept than there is", total)
    session.close()
    return found[0], total


def run(server, connect, module, make_tables, parts, little_memory, log):
    """All of a test on a server of its own, or those parts that the command line names."""

    def run_parts(those):
        for part in those:
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part()

    def has_service():
        session = connect("cpu")
        found = service_answers(session)
        session.close()
        return found

    environment = {"STROM_DEVICE_MODULE": str(module)}
    server.create()
    server.configure("shared_preload_libraries = 'pg_strom'", "max_connections = 60")
    try:
        server.start(environment)
        first = connect("cpu")
        first.execute("CREATE EXTENSION pg_strom")
        make_tables(first)
        ok(wait_until(lambda: service_answers(first), 10), "the service is there")
        first.close()
        time.sleep(SETTLED)
        run_parts(parts)
        server.stop()
        server.configure("pg_strom.gpu_cache_percent = 60")
        server.start({**environment, "STROM_HOST_DEVICE_MB": str(FEW_MB)})
        ok(wait_until(lambda: service_process(module) is not None and has_service(), 30),
           "a server with little memory on its GPU")
        run_parts([little_memory])
        server.stop()
    finally:
        shutil.copy(server.data / "server.log", TEST_DIR / log)
        server.remove()
