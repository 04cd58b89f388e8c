#!/usr/bin/env python3
"""Messages about store tables over TCP, against a live server: addresses and ports, all kinds of message, tokens, garbage,
half-open connections, slow clients, and a thousand clients."""
import ctypes
import json
import os
import random
import signal
import socket
import struct
import threading

import psycopg

from checks import done, equal, folder, fresh_database, ok, query, run, wait_until
from kv_library import Key, Row, fields_of, library

OUT = folder("strom_kv_tcp")
os.chmod(OUT, 0o777)
OK, NOT_FOUND, MOVED, DROPPED, SILENT, REFUSED, UNSUPPORTED, IO, CONFLICT, DENIED = 0, 1, 2, 3, 4, 6, 8, 9, 12, 13
HELLO = b"SROMMSG\0" + struct.pack("<II", 2, 0)


def set_up(addresses, port=0):
    """What messages are taken on from now on, by the processes that are started from now on."""
    for name, value in (("kv_listen_addresses", addresses), ("kv_port", port)):
        with psycopg.connect(dbname="postgres", autocommit=True) as session:
            session.execute("LOAD 'pg_strom'")
            session.execute(f"ALTER SYSTEM SET pg_strom.{name} = '{value}'" if value else f"ALTER SYSTEM RESET pg_strom.{name}")
            session.execute("SELECT pg_reload_conf()")
    with psycopg.connect(dbname="postgres", autocommit=True) as session:
        session.execute("LOAD 'pg_strom'")
        wait_until(lambda: session.execute("SELECT current_setting('pg_strom.kv_listen_addresses'), current_setting('pg_strom.kv_port')").fetchone() == (addresses, str(port)))


class Value(ctypes.Structure):
    _fields_ = (("form", ctypes.c_int), ("data", ctypes.c_char_p), ("bytes", ctypes.c_size_t))


class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("rows", "clients", "operations", "groups", "failures")]


def int4(number):
    return struct.pack("<i", number)


def make_table(database, name):
    query(f"""CREATE FOREIGN TABLE {name} (id int, n int) SERVER gstore_fdw OPTIONS (base_file '{OUT}/{database}.{name}.base',
              redo_log_file '{OUT}/{database}.{name}.redo', max_num_rows '20000', primary_key 'id', kv_access 'true', durability 'async')""", database)


def grant(database, table, session=None):
    statement = f"SELECT port, token FROM pgstrom.kv_session_tcp('{table}')"
    port, token = session.execute(statement).fetchone() if session else query(statement, database).split("|")
    return int(port), token


class Session:
    def __init__(self, port, token, host="127.0.0.1"):
        self.session = ctypes.c_void_p()
        error = ctypes.create_string_buffer(500)
        self.status = library.stromkv_session_open(f"tcp:{host}:{port}".encode(), token.encode(), ctypes.byref(self.session), error, 500)
        self.opening = error.value.decode()

    def put(self, *numbers):
        values = (Value * len(numbers))(*[Value(1, int4(number), 4) for number in numbers])
        return library.stromkv_session_put(self.session, values, None)

    def swap(self, generation, *numbers):
        values = (Value * len(numbers))(*[Value(1, int4(number), 4) for number in numbers])
        return library.stromkv_session_compare_and_set(self.session, values, ctypes.c_uint32(generation))

    def get(self, number):
        row = Row()
        status = library.stromkv_session_get(self.session, Key(int4(number), 4), ctypes.byref(row))
        return (status, fields_of(library.stromkv_session_fields, self.session, 2, row), row.generation) if status == 0 else (status, None, 0)

    def get_many(self, numbers):
        rows = (Row * len(numbers))()
        status = library.stromkv_session_get_many(self.session, (Key * len(numbers))(*[Key(int4(number), 4) for number in numbers]), rows, len(numbers))
        return status, [(row.status, fields_of(library.stromkv_session_fields, self.session, 2, row) if row.status == OK else None) for row in rows]

    def delete(self, number):
        return library.stromkv_session_delete(self.session, Key(int4(number), 4))

    def statistics(self):
        told = Statistics()
        return told if library.stromkv_session_statistics(self.session, ctypes.byref(told)) == 0 else None

    def close(self):
        library.stromkv_session_close(self.session)


def connect(port, host="127.0.0.1"):
    client = socket.create_connection((host, port), timeout=60)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def read_all(client):
    data = b""
    while True:
        part = client.recv(65536)
        if not part:
            return data
        data += part


def take(client, size):
    """That many bytes, but where the connection ends."""
    data = b""
    while len(data) < size:
        part = client.recv(size - len(data))
        if not part:
            break
        data += part
    return data


def admitted(port, token):
    client = connect(port)
    client.sendall(HELLO + bytes.fromhex(token))
    size = struct.unpack("<IHHII", take(client, 16))[0]
    take(client, size)
    return client


def off_by_default():
    database = fresh_database("strom_kv_no_tcp")
    make_table(database, "t")
    try:
        grant(database, "t")
        ok(False, "TCP is off by default")
    except RuntimeError as error:
        ok("messages are not taken over TCP" in str(error) and "kv_listen_addresses" in str(error), "TCP is off by default", error)
    equal(query("SELECT length(token) FROM pgstrom.kv_session('t')", database), "32", "messages over the UNIX socket are not")
    return database


def all_kinds(database):
    make_table(database, "t")
    port, token = grant(database, "t")
    session = Session(port, token)
    equal((session.status, session.opening), (OK, ""), "a session")
    equal((session.put(1, 10), session.put(2, 20), query("SELECT sum(n) FROM t", database)), (OK, OK, "30"), "PUT")
    status, row, generation = session.get(1)
    equal((status, row), (OK, [int4(1), int4(10)]), "GET")
    equal(session.get_many([2, 3, 1]), (OK, [(0, [int4(2), int4(20)]), (1, None), (0, [int4(1), int4(10)])]), "MGET")
    equal((session.swap(generation, 1, 11), session.swap(generation, 1, 12)), (OK, CONFLICT), "CAS")
    equal((session.delete(2), session.delete(2)), (OK, NOT_FOUND), "DELETE")
    equal(session.statistics().rows, 1, "STAT")
    session.close()
    by_name = Session(*grant(database, "t"), host="localhost")
    equal(by_name.get(1)[0], OK, "by the host's name")
    by_name.close()
    # The command line, by a session over TCP, too, where the server has one.
    for arguments, wanted in ((("put", "t", '{"id": 5, "n": 50}'), "inserted\n"), (("get", "t", 5), '{"id": 5, "n": 50}\n'), (("del", "t", 5), "deleted\n")):
        status, out, err = run("strom-kv", *arguments, "--messages", "--tcp", "-d", database)
        equal((status, out), (0, wanted), f"strom-kv {arguments[0]} --messages --tcp {err}")
    port, token = grant(database, "t")
    status, out, err = run("strom-kv", "get", "t", 1, "--messages", f"--socket=tcp:127.0.0.1:{port}", f"--token={token}")
    equal((status, out), (0, '{"id": 1, "n": 11}\n'), f"strom-kv with somebody else's token {err}")
    for arguments, message in ((("get", "t", "1", "--messages", "--tcp", "--socket=x", "--token=y"), "takes no --tcp"),
                               (("get", "t", "1", "--messages", "--socket=tcp:127.0.0.1", "--token=" + "0" * 32), "not of the form"),
                               (("get", "t", "1", "--messages", "--socket=tcp:127.0.0.1:1", "--token=" + "0" * 32), "refused"),
                               (("get", "t", "1", "--messages", "--socket=tcp:no host at all:1", "--token=" + "0" * 32), "could not connect")):
        status, _, err = run("strom-kv", *arguments)
        ok(status != 0 and message in err, f"strom-kv {arguments}", status, err)


class Reader:
    """A region that is read over TCP."""

    def __init__(self, port, token):
        self.table, self.reader = ctypes.c_void_p(), ctypes.c_void_p()
        error = ctypes.create_string_buffer(500)
        self.status = library.stromkv_attach(f"tcp:127.0.0.1:{port}".encode(), token.encode(), ctypes.byref(self.table), error, 500)
        self.error = error.value.decode()
        if self.status == OK:
            library.stromkv_reader_open(self.table, ctypes.byref(self.reader))

    def get(self, number):
        row = Row()
        status = library.stromkv_get(self.reader, Key(int4(number), 4), ctypes.byref(row))
        return (status, self.fields(row)) if status == OK else (status, None)

    def get_many(self, numbers):
        rows = (Row * len(numbers))()
        status = library.stromkv_get_many(self.reader, (Key * len(numbers))(*[Key(int4(number), 4) for number in numbers]), rows, len(numbers))
        return status, [(row.status, self.fields(row) if row.status == OK else None) for row in rows] if status == OK else None

    def fields(self, row):
        return fields_of(library.stromkv_fields, self.reader, library.stromkv_column_count(self.table), row)

    def close(self):
        library.stromkv_reader_close(self.reader)
        library.stromkv_detach(self.table)


def messages_process(database):
    return int(query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_strom messages' AND datname = current_database()", database))


def rdma_without_a_device(database):
    """What is said where the setting is off, or there is no device. Reads by RDMA are in test/rdma."""
    make_table(database, "far")
    status, _, err = run("strom-kv", "get", "far", 1, "--rdma", "-d", database)
    ok(status == 1 and "takes no connections by RDMA" in err and "pg_strom.kv_rdma" in err, "RDMA is off", status, err)
    for command, message in ((("put", "far", "{}"), "does not go by RDMA"), (("verify", "far"), "does not go by RDMA"),
                             (("get", "far", "1", "--tcp"), "neither --tcp nor"), (("get", "far", "1", "--messages"), "neither --tcp nor"),
                             (("get", "far", "1", "--socket=tcp:a:1", "--token=b"), "takes no --rdma")):
        status, _, err = run("strom-kv", *command, "--rdma")
        ok(status == 2 and message in err, f"usage: {command}", err)


def reads_of_the_region(database):
    """Gets and scans by reads of the region's bytes: the same library's functions, the same rows, other costs."""
    make_table(database, "r")
    query("INSERT INTO r SELECT i, i * i FROM generate_series(1, 5000) i", database)
    for arguments, wanted in ((("get", "r", 17), ['{"id": 17, "n": 289}']), (("mget", "r", 3, 1), ['{"id": 3, "n": 9}', '{"id": 1, "n": 1}'])):
        status, out, err = run("strom-kv", *arguments, "--tcp", "-d", database)
        equal((status, out.splitlines()), (0, wanted), f"strom-kv {arguments[0]} --tcp {err}")
    status, out, err = run("strom-kv", "dump", "r", "--tcp", "-d", database)
    equal((status, sorted(json.loads(line)["n"] for line in out.splitlines())), (0, [i * i for i in range(1, 5001)]), "dump " + err)
    equal(json.loads(run("strom-kv", "stat", "r", "--tcp", "-d", database)[1])["rows"], 5000, "stat")
    bench = json.loads(run("strom-kv", "bench", "r", "--tcp", "--seconds=1", "--threads=2", "--batch=8", "-d", database)[1])
    ok(bench["gets"] > 0 and bench["missing"] == 0, "bench", bench)
    for command, message in ((("verify", "r"), "does not go over TCP"), (("del", "r", "1"), "without --messages")):
        status, _, err = run("strom-kv", *command, "--tcp")
        ok(status == 2 and message in err, f"usage: {command}", err)
    port, token = grant(database, "r")
    client = Reader(port, token)
    equal((client.status, client.error), (OK, ""), "attached")
    equal(Reader(port, token).status, REFUSED, "a token is good once")
    equal((client.get(70), client.get(7777)[0]), ((OK, [int4(70), int4(4900)]), NOT_FOUND), "get")
    equal(client.get_many([5, 6000, *range(1, 100)]), (OK, [(OK, [int4(5), int4(25)]), (NOT_FOUND, None), *[(OK, [int4(i), int4(i * i)]) for i in range(1, 100)]]), "get of many")
    error = ctypes.create_string_buffer(500)
    equal((library.stromkv_verify(client.table, error, 500), b"where it is mapped" in error.value), (UNSUPPORTED, True), "verify")
    with psycopg.connect(dbname=database) as session:
        for i in range(300):
            session.execute("UPDATE r SET n = %s WHERE id = 1", (i,))
            session.commit()
            if client.get(1) != (OK, [int4(1), int4(i)]):
                ok(False, "a commit is seen at once", i)
                break
        session.execute("UPDATE r SET n = -1 WHERE id = 1")
        equal(client.get(1)[1], [int4(1), int4(299)], "changes that are not committed")
        session.rollback()
    torn_reads(database)
    # What takes a region away.
    query("SELECT pgstrom.kv_rotate('r')", database)
    equal((client.get(1)[0], client.get_many([1, 2])[0]), (MOVED, MOVED), "a region that was rotated")
    client.close()
    query("CREATE ROLE strom_kv_far; GRANT USAGE ON SCHEMA pgstrom TO strom_kv_far; GRANT SELECT ON r TO strom_kv_far", database)
    with psycopg.connect(dbname=database, autocommit=True) as session:
        session.execute("SET ROLE strom_kv_far")
        client = Reader(*grant(database, "r", session))
    equal(client.get(2)[0], OK, "a role with SELECT")
    query("REVOKE SELECT ON r FROM strom_kv_far", database)
    equal(client.get(2)[0], DENIED, "and without it")
    client.close()
    query("DROP OWNED BY strom_kv_far; DROP ROLE strom_kv_far", database)
    client = Reader(*grant(database, "r"))
    library.stromkv_set_patience(client.table, ctypes.c_uint(300))
    process = messages_process(database)
    os.kill(process, signal.SIGSTOP)
    equal(client.get(2)[0], SILENT, "two-sided: a server that is stopped answers nothing")
    os.kill(process, signal.SIGCONT)
    equal(client.get(2)[0], IO, "and the connection is of no more use")
    client.close()
    client = Reader(*grant(database, "r"))
    query("DROP FOREIGN TABLE r", database)
    equal((client.get(2)[0], client.get(3)[0]), (DROPPED, DROPPED), "a table that was dropped")
    client.close()


def torn_reads(database):
    """Rows whose values belong together, read while they are changed."""
    query(f"""CREATE FOREIGN TABLE w (id int, a int, pad text, b int) SERVER gstore_fdw OPTIONS (base_file '{OUT}/w.base',
              redo_log_file '{OUT}/w.redo', max_num_rows '1000', primary_key 'id', kv_access 'true', durability 'async');
              INSERT INTO w SELECT i, 0, repeat('x', 100), 0 FROM generate_series(0, 49) i""", database)
    stop, errors = threading.Event(), []

    def write():
        numbers = random.Random(1)
        with psycopg.connect(dbname=database, autocommit=True) as session:
            while not stop.is_set():
                n = numbers.randrange(1 << 30)
                session.execute("UPDATE w SET a = %s, b = %s, pad = repeat('z', %s) WHERE id = %s", (n, n, numbers.randrange(3000), numbers.randrange(50)))

    writer = threading.Thread(target=write)
    writer.start()
    client = Reader(*grant(database, "w"))
    for i in range(3000):
        status, row = client.get(i % 50)
        if status != OK or row[0] != int4(i % 50) or row[1] != row[3] or len(set(row[2])) > 1:
            errors.append((i, status, row))
    stop.set()
    writer.join()
    client.close()
    equal(errors[:3], [], "reads beside a writer are whole")


def raw_reads(database):
    """Ranges that are none of the region's."""
    make_table(database, "b")
    query("INSERT INTO b SELECT i, i FROM generate_series(1, 100) i", database)
    client = admitted(*grant(database, "b"))

    def read(*ranges):
        client.sendall(struct.pack("<IHHII", 4 + 12 * len(ranges), 8, 0, 5, 0) + struct.pack("<I", len(ranges)) + b"".join(struct.pack("<QI", *each) for each in ranges))
        size, kind, outcome, tag, number = struct.unpack("<IHHII", take(client, 16))
        return outcome, number, take(client, size)

    outcome, number, header = read((0, 4096))
    equal((outcome, header[:8], number > 0), (0, b"STROMKV1", True), "the header")
    equal(read((0, 4), (4, 4), (1, 3))[2], header[:8] + header[1:4], "pieces of it")
    file_bytes, = struct.unpack("<Q", header[96:104])
    end, = struct.unpack("<Q", header[152:160])
    for offset, size in ((end, 1000), (file_bytes - 8, 16), (file_bytes, 4096), (1 << 63, 4096), ((1 << 64) - 1, 4096)):
        equal(read((offset, size)), (0, number, bytes(size)), f"zeros at {offset}")
    equal(len(read((0, 1 << 22))[2]), 1 << 22, "4 MB")
    equal(read((0, 1 << 22), (0, 1))[0], 8, "more than 4 MB")
    equal(read(*[(0, 1)] * 257)[0], 8, "too many ranges")
    equal(read()[0], 0, "none")
    client.close()


def tokens(database):
    make_table(database, "k")
    port, token = grant(database, "k")
    equal(Session(port, "0" * 32).status, REFUSED, "a token that nobody made")
    used = Session(port, token)
    equal((used.status, Session(port, token).status), (OK, REFUSED), "a token is good once")
    used.close()
    equal(Session(port, query("SELECT token FROM pgstrom.kv_attach('k')", database)).status, REFUSED, "a token for a region")
    # A token of another database.
    other = fresh_database("strom_kv_tcp_other")
    make_table(other, "k")
    other_port, other_token = grant(other, "k")
    ok(other_port != port, "each database has a port")
    equal(Session(port, other_token).status, REFUSED, "a token of another database")
    # A client keeps the process there.
    waiting = Session(*grant(database, "k"))
    port, token = grant(database, "k")
    query("SELECT pg_sleep(31)", database)
    equal(Session(port, token).status, REFUSED, "a token that has expired")
    waiting.close()
    return other


def garbage(database):
    make_table(database, "g")
    with psycopg.connect(dbname=database, autocommit=True) as connection:
        port, token = grant(database, "g", connection)
        good = Session(port, token)
        numbers = random.Random(1)
        silent = []
        for size in (0, 1, 31, 32, 5000, 500000):
            client = connect(port)
            try:
                client.sendall(numbers.randbytes(size))
                silent.append(client)
            except (BrokenPipeError, ConnectionResetError):
                client.close()
        ok(struct.unpack("<H", read_all(silent[3])[6:8])[0] == 10, "garbage is answered, and no more")
        for request in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", struct.pack(">II", 8, 80877103), b"\x16\x03\x01" + bytes(100)):
            client = connect(port)
            client.sendall(request + bytes(32))
            try:
                answer = read_all(client)
                equal(struct.unpack("<H", answer[6:8])[0], 10, "another protocol")
            except ConnectionResetError:
                pass
            client.close()
        for seed in range(40):
            client = admitted(*grant(database, "g", connection))
            numbers.seed(seed)
            try:
                client.sendall(b"".join(struct.pack("<IHHII", size, numbers.randint(0, 9), 0, 1, 0) + numbers.randbytes(size) for size in [numbers.randint(0, 40) for _ in range(50)]))
                client.shutdown(socket.SHUT_WR)
                read_all(client)
            except (BrokenPipeError, ConnectionResetError):
                pass
            client.close()
        # A message byte by byte.
        client = admitted(*grant(database, "g", connection))
        for byte in struct.pack("<IHHII", 4, 2, 0, 77, 0) + int4(1):
            client.sendall(bytes([byte]))
        equal(struct.unpack("<IHHII", take(client, 16))[1:4], (2, 1, 77), "a slow client")
        # One that hangs up on its side gets all its answers.
        client.sendall(b"".join(struct.pack("<IHHII", 4, 2, 0, i, 0) + int4(1) for i in range(1, 1001)))
        client.shutdown(socket.SHUT_WR)
        answers = read_all(client)
        equal((len(answers), struct.unpack("<IHHII", answers[-16:])[2:4]), (16000, (1, 1000)), "half-open")
        client.close()
        # One that goes within a message, by RST; one that takes no answer.
        client = admitted(*grant(database, "g", connection))
        client.sendall(struct.pack("<IHHII", 1000, 2, 0, 1, 0))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        lazy = admitted(*grant(database, "g", connection))
        lazy.setblocking(False)
        try:
            while True:
                lazy.send(struct.pack("<IHHII", 4, 2, 0, 1, 0) + int4(1))
        except BlockingIOError:
            pass
        equal((good.put(1, 1), good.get(1)[0]), (OK, OK), "nobody else is kept away")
        # A machine that is gone without a word is noticed by the kernel: each connection has a timer of its own.
        mine = timers_at(port)
        ok(mine and "00" not in mine, "connections are looked after", mine)
        lazy.close()
        for client in silent:
            client.close()
        good.close()
    equal(query("SELECT pgstrom.store_check('g')", database), "1", "all of it is sound")


def timers_at(port):
    """Kinds of timer of the server's established connections at a port: 00 is none, 02 is keepalive."""
    found = []
    for line in open("/proc/net/tcp", encoding="ascii").read().splitlines()[1:]:
        fields = line.split()
        if fields[1].endswith(f":{port:04X}") and fields[3] == "01":
            found.append(fields[5].split(":")[0])
    return found


def many_clients(database):
    make_table(database, "m")
    with psycopg.connect(dbname=database, autocommit=True) as connection:
        sessions = [Session(*grant(database, "m", connection)) for _ in range(1000)]
    equal({session.status for session in sessions}, {OK}, "1000 clients")
    ok(sessions[0].statistics().clients >= 1000, "are there at once")
    failures = []

    def work(part):
        for i in part:
            statuses = {sessions[i].put(i, i), sessions[i].put(i, 2 * i), sessions[i].get(i)[0]}
            if statuses != {OK}:
                failures.append((i, statuses))

    threads = [threading.Thread(target=work, args=(range(k, 1000, 8),)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal((failures, query("SELECT count(*), sum(n) FROM m", database)), ([], "1000|999000"), "all have put their rows")
    for session in sessions:
        session.close()


def endings(database):
    make_table(database, "e")
    session = Session(*grant(database, "e"))
    equal(session.put(1, 1), OK, "a row")
    pid = query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_strom messages' AND datname = current_database()", database)
    query(f"SELECT pg_terminate_backend({pid}, 60000)", database)
    equal((session.put(1, 2), session.put(1, 2)), (IO, IO), "a server that has ended")
    session.close()
    session = Session(*grant(database, "e"))
    equal(session.put(1, 3), OK, "another one is started")
    session.close()


def leave(database):
    query(f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '{database}' AND pid <> pg_backend_pid()", "postgres")
    query(f"DROP DATABASE {database}", "postgres")


databases = [off_by_default()]
databases.append(fresh_database("strom_kv_tcp"))
try:
    # One of the addresses is none of this machine.
    set_up("localhost, 192.0.2.77")
    all_kinds(databases[1])
    reads_of_the_region(databases[1])
    rdma_without_a_device(databases[1])
    raw_reads(databases[1])
    databases.append(tokens(databases[1]))
    garbage(databases[1])
    many_clients(databases[1])
    endings(databases[1])
    set_up("127.0.0.1", 64321)
    databases.append(fresh_database("strom_kv_tcp_port"))
    make_table(databases[-1], "p")
    chosen, _ = grant(databases[-1], "p")
    ok(64321 <= chosen < 64321 + 32, "a port of the setting's range", chosen)
finally:
    set_up("")
for name in databases:
    leave(name)
done()
