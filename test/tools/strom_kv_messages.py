#!/usr/bin/env python3
"""Messages about store tables against a live server: strom-kv --messages, libstromkv's sessions, groups, rights, faults,
garbage on the socket, and a thousand clients."""
import array
import ctypes
import json
import mmap
import os
import random
import resource
import socket
import struct
import threading
import time

import psycopg

from checks import done, equal, folder, fresh_database, ok, query, run
from kv_library import Key, Row, fields_of, library

OUT = folder("strom_kv_messages")
os.chmod(OUT, 0o777)
DB = fresh_database("strom_kv_messages")
(OK, NOT_FOUND, SILENT, REFUSED, UNSUPPORTED, IO, INVALID, CONFLICT, DENIED, BUSY, FULL, CONSTRAINT, BAD_VALUE, DROPPED) = (0, 1, 4, 6, 8, 9, 11, 12, 13, 14, 15, 16, 17, 3)
NULL, STORED, TEXT = 0, 1, 2


def make_table(name, columns, **options):
    options = {"max_num_rows": 20000, "primary_key": "id", "kv_access": "true", "durability": "async", **options}
    rest = "".join(f", {key} '{value}'" for key, value in options.items())
    query(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER gstore_fdw "
          f"OPTIONS (base_file '{OUT}/{name}.base', redo_log_file '{OUT}/{name}.redo'{rest})", DB)


def kv(command, *arguments, wanted=0):
    status, out, err = run("strom-kv", command, *arguments, "--messages", "-d", DB)
    ok(status == wanted, f"strom-kv {command} {arguments[:2]}", status, out, err)
    return out if wanted == 0 else (out, err)


class Value(ctypes.Structure):
    _fields_ = (("form", ctypes.c_int), ("data", ctypes.c_char_p), ("bytes", ctypes.c_size_t))


class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("rows", "clients", "operations", "groups", "failures")]


def grant(table, session=None):
    statement = f"SELECT socket, token FROM pgstrom.kv_session('{table}')"
    return session.execute(statement).fetchone() if session else query(statement, DB).split("|")


def values_of(*values):
    """None: NULL; bytes: the stored form; text: text."""
    forms = [Value(NULL, None, 0) if value is None else Value(STORED, value, len(value)) if isinstance(value, bytes)
             else Value(TEXT, value.encode(), len(value.encode())) for value in values]
    return (Value * len(forms))(*forms)


class Session:
    def __init__(self, table=None, given=None):
        path, token = given or grant(table)
        self.session = ctypes.c_void_p()
        error = ctypes.create_string_buffer(500)
        self.status = library.stromkv_session_open(path.encode(), token.encode(), ctypes.byref(self.session), error, 500)
        self.opening = error.value.decode()

    def put(self, *values):
        is_new = ctypes.c_int()
        status = library.stromkv_session_put(self.session, values_of(*values), ctypes.byref(is_new))
        return status if status else "new" if is_new.value else "old"

    def put_many(self, rows):
        statuses = (ctypes.c_int * len(rows))()
        values = values_of(*[value for row in rows for value in row])
        return library.stromkv_session_put_many(self.session, values, len(rows), statuses), list(statuses)

    def get(self, key):
        row = Row()
        status = library.stromkv_session_get(self.session, Key(key, len(key)), ctypes.byref(row))
        return (status, self.fields(row), row.generation) if status == 0 else (status, None, 0)

    def get_many(self, keys):
        rows = (Row * len(keys))()
        status = library.stromkv_session_get_many(self.session, (Key * len(keys))(*[Key(key, len(key)) for key in keys]), rows, len(keys))
        return status, [(row.status, self.fields(row) if row.status == OK else None) for row in rows] if status == 0 else None

    def fields(self, row):
        return fields_of(library.stromkv_session_fields, self.session, library.stromkv_session_column_count(self.session), row)

    def delete(self, key):
        return library.stromkv_session_delete(self.session, Key(key, len(key)))

    def swap(self, generation, *values):
        return library.stromkv_session_compare_and_set(self.session, values_of(*values), ctypes.c_uint32(generation))

    def statistics(self):
        told = Statistics()
        status = library.stromkv_session_statistics(self.session, ctypes.byref(told))
        return told if status == 0 else status

    def error(self):
        return library.stromkv_session_error(self.session).decode()

    def close(self):
        library.stromkv_session_close(self.session)


def int4(number):
    return struct.pack("<i", number)


def commands():
    make_table("t", "id int, n bigint, x float8, note text, ts timestamp, a int[], j jsonb")
    equal(kv("put", "t", '{"id": 1, "n": 5, "note": "ž \\"q\\"", "ts": "2020-02-29 12:00:00", "a": null, "j": {"k": [1, 2]}}'), "inserted\n", "put")
    equal(query("SELECT id, n, x, note, ts, a, j FROM t", DB), '1|5||ž "q"|2020-02-29 12:00:00||{"k": [1, 2]}', "what SQL sees")
    equal(kv("put", "t", '{"id": 1, "n": 6}'), "updated\n", "put again")
    equal(json.loads(kv("get", "t", 1)), {"id": 1, "n": 6, "x": None, "note": None, "ts": None, "a": None, "j": None}, "get")
    equal(kv("mget", "t", 2, 1, wanted=1)[0].splitlines()[0], "null", "mget")
    equal(kv("del", "t", 1, 2, wanted=1)[0], "deleted\nnot found\n", "del")
    equal(json.loads(kv("stat", "t"))["rows"], 0, "stat")
    ok("invalid input syntax" in kv("put", "t", '{"id": "x"}', wanted=1)[1], "a value that is none")
    for arguments, message in ((("dump", "t", "--messages"), "without --messages"), (("put", "t", "{}", "--messages", "--socket=x", "--token=y"), "needs a session")):
        status, _, err = run("strom-kv", *arguments)
        ok(status == 2 and message in err, f"usage: {arguments}", status, err)


def changes():
    """Each answer tells what SQL, and the region, have from then on."""
    make_table("c", "id int, n int, note text")
    session = Session("c")
    equal((session.status, session.opening), (OK, ""), "a session")
    equal(session.put(int4(1), int4(10), b"ten"), "new", "a new row")
    equal(query("SELECT * FROM c", DB), "1|10|ten", "SQL sees it")
    equal(session.put(int4(1), int4(11), None), "old", "the row again")
    status, row, generation = session.get(int4(1))
    equal((status, row), (OK, [int4(1), int4(11), None]), "get")
    equal(session.swap(generation + 1, int4(1), int4(12), b""), CONFLICT, "CAS of another generation")
    equal(session.swap(generation, int4(1), int4(12), b""), OK, "CAS of this one")
    equal(session.swap(generation, int4(1), int4(13), b""), CONFLICT, "CAS once more")
    equal(session.swap(0, int4(1), int4(13), b""), CONFLICT, "CAS of a row that is there")
    equal(session.swap(0, int4(2), int4(13), b""), OK, "CAS of a new row")
    equal(session.swap(7, int4(3), int4(13), b""), CONFLICT, "CAS of a row that is not there")
    equal(query("SELECT id, n FROM c ORDER BY 1", DB), "1|12\n2|13", "what CAS has done")
    equal(session.get_many([int4(2), int4(9), int4(1)])[1], [(0, [int4(2), int4(13), b""]), (1, None), (0, [int4(1), int4(12), b""])], "mget")
    equal((session.delete(int4(2)), session.delete(int4(2)), session.get(int4(2))[0]), (OK, NOT_FOUND, NOT_FOUND), "delete")
    status, statuses = session.put_many([(int4(i), int4(i), b"many") for i in range(1000)])
    equal((status, set(statuses)), (OK, {OK}), "put of many rows")
    equal(query("SELECT count(*), sum(n), sum(id) FROM c WHERE note = 'many'", DB), "1000|499500|499500", "SQL sees all")
    # The same key several times in one transaction.
    equal(session.put_many([(int4(5000), int4(i), None) for i in range(100)])[0], OK, "one key a hundred times")
    equal(query("SELECT n FROM c WHERE id = 5000", DB), "99", "the last one counts")
    told = session.statistics()
    ok(told.rows == 1001 and told.clients >= 1 and told.groups < told.operations, "STAT", told.rows, told.groups, told.operations)
    equal(query("SELECT pgstrom.store_check('c')", DB), "1001", "all of it is sound")
    session.close()


def failures():
    """What one message gets wrong is its own failure, whatever came with it."""
    make_table("f", "id int, n int CHECK (n < 100), note varchar(3) NOT NULL", max_num_rows=50)
    session = Session("f")
    rows = [(int4(i), int4(i), b"abc") for i in range(20)]
    rows[3] = (int4(3), int4(100), b"abc")
    rows[5] = (int4(5), int4(5), b"abcd")
    rows[7] = (int4(7), int4(5), None)
    rows[9] = (None, int4(5), b"abc")
    rows[11] = ("eleven", int4(5), b"abc")
    rows[13] = (b"123", int4(5), b"abc")
    rows[15] = (int4(15), int4(5), b"\xff")
    rows[17] = ("17", " 17 ", "xyz")
    status, statuses = session.put_many(rows)
    wanted = [OK] * 20
    for i, code in ((3, CONSTRAINT), (5, BAD_VALUE), (7, CONSTRAINT), (9, CONSTRAINT), (11, BAD_VALUE), (13, BAD_VALUE), (15, BAD_VALUE)):
        wanted[i] = code
    equal(statuses, wanted, "each row has its own status")
    equal(query("SELECT count(*), sum(n) FROM f", DB), f"13|{sum(i for i in range(20) if wanted[i] == OK)}", "the others are there")
    equal(session.put(int4(1), int4(100), b"abc"), CONSTRAINT, "a constraint")
    ok("violates check constraint" in session.error() and "(23514)" in session.error(), "and what it says", session.error())
    statuses = session.put_many([(int4(100 + i), int4(1), b"abc") for i in range(60)])[1]
    equal((statuses.count(OK), statuses.count(FULL)), (37, 23), "a table that is full")
    equal(session.put("x" * ((4 << 20) - 1000), int4(1), b"abc"), BAD_VALUE, "a value of four MB that the error repeats")
    equal(session.get(int4(0))[0], OK, "leaves the session as it was")
    session.close()
    make_table("kinds", "id int, b bool, s smallint, o oid, d date, t time, ts timestamp(0), u uuid, v bytea, j jsonb, n numeric")
    session = Session("kinds")
    good = [int4(1), b"\1", int4(-5), struct.pack("<Q", 7), int4(8000), struct.pack("<q", 5), "2020-01-01 00:00:00.6", bytes(16), b"\0\xff", '{"a":1}', "1.50"]
    equal(session.put(*good), "new", "values of many types")
    equal(query("SELECT b, s, o, d, t, ts, u, v, j, n FROM kinds", DB), "t|-5|7|2021-11-26|00:00:00.000005|2020-01-01 00:00:01|00000000-0000-0000-0000-000000000000|\\x00ff|{\"a\": 1}|1.50", "as SQL sees them")
    for column, value, status in ((1, b"\2", BAD_VALUE), (2, int4(40000), BAD_VALUE), (3, struct.pack("<Q", 1 << 32), BAD_VALUE), (4, int4(2**31 - 2), BAD_VALUE),
                                  (5, struct.pack("<q", -1), BAD_VALUE), (6, struct.pack("<q", 1), BAD_VALUE), (9, b"{}", BAD_VALUE), (10, b"\0\0", BAD_VALUE), (10, "x", BAD_VALUE)):
        row = list(good)
        row[column] = value
        equal(session.put(*row), status, f"a value that is none, of column {column}")
    equal(query("SELECT count(*) FROM kinds WHERE j IS NOT NULL AND n = 1.5", DB), "1", "nothing of that is left")
    session.close()
    make_table("triggers", "id int")
    query("CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER x BEFORE INSERT ON triggers FOR EACH ROW EXECUTE FUNCTION nothing()", DB)
    session = Session("triggers")
    equal(session.put(int4(1)), UNSUPPORTED, "a table with triggers")
    session.close()


def rights():
    query("CREATE ROLE strom_kv_writer; GRANT USAGE ON SCHEMA pgstrom TO strom_kv_writer", DB)
    make_table("r", "id int, n int CHECK (n > 0)")
    try:
        with psycopg.connect(dbname=DB, autocommit=True) as user:
            user.execute("SET ROLE strom_kv_writer")
            try:
                grant("r", user)
                ok(False, "a session without SELECT")
            except psycopg.errors.InsufficientPrivilege:
                pass
            query("GRANT SELECT ON r TO strom_kv_writer", DB)
            session = Session(given=grant("r", user))
            query("INSERT INTO r VALUES (1, 1)", DB)
            equal((session.get(int4(1))[0], session.put(int4(1), int4(2)), session.delete(int4(1)), session.swap(0, int4(7), int4(2))), (OK, DENIED, DENIED, DENIED), "a reader")
            query("GRANT INSERT, UPDATE ON r TO strom_kv_writer", DB)
            equal((session.put(int4(1), int4(2)), session.delete(int4(1))), ("old", DENIED), "INSERT and UPDATE, granted meanwhile")
            query("GRANT DELETE ON r TO strom_kv_writer", DB)
            equal(session.delete(int4(1)), OK, "DELETE")
            # Code of the table runs as the client's role.
            query("""CREATE FUNCTION who(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN
                     IF current_user <> 'strom_kv_writer' THEN RAISE 'runs as %', current_user; END IF; RETURN true; END$$;
                     ALTER FOREIGN TABLE r ADD CHECK (who(n))""", DB)
            equal(session.put(int4(2), int4(2)), "new", "whose rights a constraint's function has")
            query("REVOKE ALL ON r FROM strom_kv_writer", DB)
            equal((session.put(int4(1), int4(2)), session.get(int4(2))[0]), (DENIED, DENIED), "REVOKE")
            session.close()
    finally:
        query("DROP OWNED BY strom_kv_writer; DROP ROLE strom_kv_writer", DB)


def others_changes():
    """Rows that SQL has for itself are busy, and keep nobody else waiting for long."""
    make_table("o", "id int, n int")
    query("INSERT INTO o SELECT i, 0 FROM generate_series(1, 100) i", DB)
    one, two = Session("o"), Session("o")
    with psycopg.connect(dbname=DB) as other:
        other.execute("UPDATE o SET n = 1 WHERE id = 1")
        equal((one.put(int4(1), int4(2)), two.put(int4(2), int4(2))), (BUSY, "old"), "a row that another transaction has changed")
        status, statuses = one.put_many([(int4(i), int4(3), ) for i in range(1, 11)])
        equal(statuses, [BUSY] + [OK] * 9, "beside others")
        other.commit()
    equal(one.put(int4(1), int4(2)), "old", "when it has ended")
    with psycopg.connect(dbname=DB) as other:
        other.execute("ALTER FOREIGN TABLE o ADD CHECK (n >= 0)")
        equal((one.put(int4(1), int4(5)), one.get(int4(1))[0]), (BUSY, BUSY), "a table that is locked")
        other.rollback()
    equal(one.put(int4(1), int4(5)), "old", "and not any more")
    # Counters, by CAS, against SQL: no increment is lost.
    errors = []

    def count_by_sql():
        with psycopg.connect(dbname=DB, autocommit=True) as session:
            for _ in range(300):
                session.execute("UPDATE o SET n = n + 1 WHERE id = 50")

    def count_by_messages():
        session, counted = Session("o"), 0
        while counted < 300:
            _, row, generation = session.get(int4(50))
            status = session.swap(generation, int4(50), int4(struct.unpack("<i", row[1])[0] + 1))
            counted += status == OK
            if status not in (OK, CONFLICT, BUSY):
                errors.append((status, session.error()))
                break
        session.close()

    threads = [threading.Thread(target=task) for task in (count_by_sql, count_by_messages, count_by_messages)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(errors, [], "counting raises no errors")
    equal(query("SELECT n FROM o WHERE id = 50", DB), "900", "every increment counts")
    # Whole transactions of SQL, in one MGET.
    stop = threading.Event()

    def move():
        with psycopg.connect(dbname=DB, autocommit=True) as session:
            while not stop.is_set():
                session.execute("UPDATE o SET n = n + CASE id WHEN 60 THEN 1 ELSE -1 END WHERE id IN (60, 61)")

    query("UPDATE o SET n = 0 WHERE id IN (60, 61)", DB)
    mover = threading.Thread(target=move)
    mover.start()
    sums = set()
    for _ in range(2000):
        sums.add(sum(struct.unpack("<i", row[1])[0] for _, row in one.get_many([int4(60), int4(61)])[1]))
    stop.set()
    mover.join()
    equal(sums, {0}, "rows of one MGET are of one moment")
    equal(query("SELECT pgstrom.store_check('o')", DB), "100", "all of it is sound")
    one.close()
    two.close()


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(path)
    return client


def read_all(client):
    data = b""
    while True:
        part = client.recv(65536)
        if not part:
            return data
        data += part


def garbage():
    make_table("g", "id int, n int")
    path, token = grant("g")
    good = Session("g")
    equal(Session(given=(path, "0" * 32)).status, REFUSED, "a token that nobody made")
    used = Session(given=(path, token))
    equal((used.status, Session(given=(path, token)).status), (OK, REFUSED), "a token is good once")
    used.close()
    attach = query("SELECT socket, token FROM pgstrom.kv_attach('g')", DB).split("|")
    equal(Session(given=(path, attach[1])).status, REFUSED, "a token for a region")
    client = connect(attach[0])
    client.sendall(b"SROMATCH" + struct.pack("<II", 1, 0) + bytes.fromhex(grant("g")[1]))
    equal(struct.unpack("<I", client.recv(100)[8:12])[0], 1, "a token for messages at the other socket")
    client.close()
    for version, outcome in ((1, 10), (2, 0), (3, 10)):
        client = connect(path)
        client.sendall(b"SROMMSG\0" + struct.pack("<II", version, 0) + bytes.fromhex(grant("g")[1]))
        equal(struct.unpack("<IHHII", client.recv(16))[2], outcome, f"version {version}")
        client.close()
    numbers = random.Random(1)
    silent = []
    for size in (0, 1, 31, 32, 33, 5000):
        client = connect(path)
        client.sendall(numbers.randbytes(size))
        silent.append(client)
    ok(struct.unpack("<H", read_all(silent[3])[6:8])[0] == 10, "garbage is answered, and no more")

    def admitted():
        client = connect(path)
        client.sendall(b"SROMMSG\0" + struct.pack("<II", 2, 0) + bytes.fromhex(grant("g")[1]))
        size = struct.unpack("<IHHII", client.recv(16))[0]
        while size > 0:
            size -= len(client.recv(size))
        return client

    # Bodies that are wrong are answered one by one; headers that are wrong end the connection.
    client = admitted()
    client.sendall(struct.pack("<IHHII", 3, 4, 0, 77, 0) + b"abc" + struct.pack("<IHHII", 0, 7, 0, 78, 0))
    answers = b""
    while answers.count(b"08P01") < 1 or len(answers) < 60:
        answers += client.recv(1000)
    equal(struct.unpack("<IHHII", answers[:16])[2:4], (8, 77), "a body that is not understood")
    client.sendall(struct.pack("<IHHII", 4, 2, 0, 79, 0) + int4(1) + struct.pack("<IHHII", 0xFFFFFFF, 2, 0, 0, 0))
    answers = read_all(client)
    ok(struct.unpack("<IHHII", answers[:16])[3] == 79 and b"too long" in answers, "a header that is not understood, after an answer", answers)
    for seed in range(40):
        client = admitted()
        numbers.seed(seed)
        try:
            client.sendall(b"".join(struct.pack("<IHHII", size, numbers.randint(0, 8), 0, 1, 0) + numbers.randbytes(size) for size in [numbers.randint(0, 40) for _ in range(50)]))
            client.shutdown(socket.SHUT_WR)
            read_all(client)
        except (BrokenPipeError, ConnectionResetError):
            pass
        client.close()
    # A client that hangs up on its side gets all its answers.
    client = admitted()
    client.sendall(struct.pack("<IHHII", 4, 2, 0, 1, 0) * 1 + int4(1) + b"".join(struct.pack("<IHHII", 4, 2, 0, i, 0) + int4(1) for i in range(2, 1001)))
    client.shutdown(socket.SHUT_WR)
    answers = read_all(client)
    equal((len(answers), struct.unpack("<IHHII", answers[-16:])[2:4]), (16000, (1, 1000)), "half-open")
    # Clients that go in the middle of a message, and such as take no answer.
    client = admitted()
    client.sendall(struct.pack("<IHHII", 1000, 2, 0, 1, 0))
    client.close()
    lazy = admitted()
    lazy.setblocking(False)
    try:
        for i in range(100000):
            lazy.send(struct.pack("<IHHII", 4, 2, 0, i, 0) + int4(1))
    except BlockingIOError:
        pass
    equal((good.put(int4(1), int4(1)), good.get(int4(1))[0]), ("new", OK), "nobody else is kept away")
    lazy.close()
    for client in silent:
        client.close()
    equal(query("SELECT pgstrom.store_check('g')", DB), "1", "all of it is sound")
    good.close()


def strangers():
    """Clients that show no token have a part of the places, and keep nobody else out."""
    make_table("h", "id int, n int")
    path, silent = grant("h")[0], []
    good = Session("h")
    least = 1500
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(4 * least, resource.getrlimit(resource.RLIMIT_NOFILE)[0]), resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    for _ in range(least):
        silent.append(connect(path))
    began = time.monotonic()
    equal((good.put(int4(1), int4(1)), good.get(int4(1))[0]), ("new", OK), "who is connected is served")
    other = Session("h")
    equal(other.get(int4(1))[0], OK, "who comes with a token gets a place")
    ok(time.monotonic() - began < 5, "without waiting", time.monotonic() - began)
    gone = sum(hung_up(client) for client in silent)
    ok(400 <= gone < least, "those who are silent for the longest time lose theirs", gone)
    equal(hung_up(silent[-1]), False, "not the last ones")
    for client in (*silent, good, other):
        client.close()


def hung_up(client):
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True
    except BlockingIOError:
        return False


RING, HEAD = 32 << 10, 4096
WORD = {"sent": 0, "taken": 64, "sleeps": 128}


class Rings:
    """A client by shared memory, which may break all rules."""

    def __init__(self, table):
        path, token = grant(table)
        self.client = connect(path)
        self.client.sendall(b"SROMMSG\0" + struct.pack("<II", 2, 0) + bytes.fromhex(token))
        size = struct.unpack("<IHHII", self.client.recv(16))[0]
        while size > 0:
            size -= len(self.client.recv(size))
        self.client.sendall(struct.pack("<IHHII", 0, 10, 0, 5, 0))
        answer, ancillary, _, _ = self.client.recvmsg(100, 100)
        equal(struct.unpack("<IHHII", answer), (0, 10, 0, 5, 0), "rings are given")
        descriptors = array.array("i", ancillary[0][2])
        self.memory = mmap.mmap(descriptors[0], HEAD + 2 * RING)
        for truncated in (0, 1 << 20):
            try:
                os.ftruncate(descriptors[0], truncated)
                ok(False, "the memory was cut off")
            except PermissionError:
                pass
        os.close(descriptors[0])
        self.sent = self.taken = 0

    def set(self, direction, word, value):
        struct.pack_into("<Q", self.memory, 192 * direction + WORD[word], value)

    def send(self, data):
        for byte in data:
            self.memory[HEAD + self.sent % RING] = byte
            self.sent += 1
        self.set(0, "sent", self.sent)
        self.client.sendall(b"\0")

    def receive(self, size):
        for _ in range(2000):
            if struct.unpack_from("<Q", self.memory, 192)[0] - self.taken >= size:
                break
            time.sleep(0.01)
        data = bytes(self.memory[HEAD + RING + (self.taken + i) % RING] for i in range(size))
        self.taken += size
        self.set(1, "taken", self.taken)
        return data

    def has_ended(self):
        try:
            return self.client.recv(1) == b""
        except ConnectionResetError:
            return True


def garbage_in_rings():
    make_table("gr", "id int, n int")
    good = Session("gr")
    equal(good.put(int4(1), int4(1)), "new", "a client that keeps to the rules")
    get = struct.pack("<IHHII", 4, 2, 0, 9, 0) + int4(1)
    head = (client := Rings("gr")).send(get) or client.receive(16)
    equal(struct.unpack("<IHHI", head[:12]), (4, 2, 0, 9), "an answer by rings")
    equal(client.receive(4), int4(1), "and its row")
    client.send(struct.pack("<IHHII", 0, 10, 0, 6, 0))
    equal(struct.unpack("<IHHII", client.receive(16))[2:4], (10, 6), "rings within rings")
    for direction, word, value in ((0, "sent", 1 << 50), (0, "sent", RING + 1), (1, "taken", 1 << 50), (1, "taken", 1)):
        client = Rings("gr")
        client.set(direction, word, value)
        if direction == 0:
            client.client.sendall(b"\0")
        else:
            client.send(get)
        ok(client.has_ended(), f"counts that cannot be: {direction} {word} {value}")
    numbers = random.Random(2)
    for seed in range(20):
        client = Rings("gr")
        numbers.seed(seed)
        client.memory[HEAD:HEAD + RING] = numbers.randbytes(RING)
        client.set(0, "sent", numbers.randint(16, RING))
        client.client.sendall(numbers.randbytes(10))
        ok(client.has_ended(), "garbage ends it")
    # Who sleeps without being woken, takes no answer, or goes in the middle of a message keeps nobody away.
    lazy = Rings("gr")
    lazy.send(b"".join(get for _ in range(1500)))
    time.sleep(0.2)
    equal((good.put(int4(1), int4(2)), good.get(int4(1))[0]), ("old", OK), "beside a client that takes nothing")
    answers = lazy.receive(20 * 1000) + lazy.receive(20 * 500)
    equal({answers[at:at + 12] + answers[at + 16:at + 20] for at in range(0, len(answers), 20)}, {head[:12] + int4(1)}, "which gets all in the end")
    half = Rings("gr")
    half.send(get[:10])
    half.client.close()
    gone = Rings("gr")
    gone.send(struct.pack("<IHHII", 22, 4, 0, 1, 0) + struct.pack("<IBI", 2, 1, 4) + int4(77) + struct.pack("<BI", 1, 4) + int4(5))
    gone.client.close()
    for _ in range(100):
        if good.get(int4(77))[0] == OK:
            break
        time.sleep(0.05)
    equal(good.get(int4(77))[0], OK, "what was sent before the end counts")
    # Messages that are longer than a ring, both ways.
    make_table("long", "id int, v bytea", max_num_rows=100)
    session = Session("long")
    values = [bytes([i]) * 300000 for i in range(40)]
    equal(set(session.put_many([(int4(i), value) for i, value in enumerate(values)])[1]), {OK}, "long rows")
    equal([row[1] == values[i] for i, (_, row) in enumerate(session.get_many([int4(i) for i in range(40)])[1])], [True] * 40, "come back")
    session.close()
    equal(query("SELECT pgstrom.store_check('gr')", DB), "2", "all of it is sound")
    good.close()


def many_clients():
    make_table("m", "id int, n int")
    with psycopg.connect(dbname=DB, autocommit=True) as connection:
        sessions = [Session(given=grant("m", connection)) for _ in range(1000)]
    equal({session.status for session in sessions}, {OK}, "1000 clients")
    equal(sessions[0].statistics().clients >= 1000, True, "are there at once")

    def work(part):
        for i in part:
            statuses = sessions[i].put_many([(int4(i), int4(n)) for n in range(5)])[1] + [sessions[i].get(int4(i))[0]]
            if set(statuses) != {OK}:
                ok(False, "a client among many", i, statuses, sessions[i].error())

    threads = [threading.Thread(target=work, args=(range(k, 1000, 8),)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(query("SELECT count(*), min(n), max(n) FROM m", DB), "1000|4|4", "all have put their rows")
    for session in sessions:
        session.close()


def endings():
    """Tables and servers that go while clients are there."""
    make_table("e", "id int, n int")
    session = Session("e")
    equal(session.put(int4(1), int4(1)), "new", "a row")
    query("SELECT pgstrom.kv_rotate('e')", DB)
    equal((session.put(int4(1), int4(2)), session.get(int4(1))[0]), ("old", OK), "after kv_rotate")
    query("ALTER FOREIGN TABLE e OPTIONS (SET kv_access 'false')", DB)
    equal((session.put(int4(1), int4(2)), session.get(int4(1))[0]), (DROPPED, DROPPED), "without kv_access")
    query("ALTER FOREIGN TABLE e OPTIONS (SET kv_access 'true')", DB)
    equal(session.put(int4(1), int4(3)), "old", "with it again")
    query("DROP FOREIGN TABLE e", DB)
    equal(session.put(int4(1), int4(2)), DROPPED, "a table that was dropped")
    session.close()
    make_table("e2", "id int, n int", durability="sync")
    session = Session("e2")
    equal(session.put(int4(1), int4(1)), "new", "a row that is synchronized")
    pid = query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_strom messages' AND datname = current_database()", DB)
    query(f"SELECT pg_terminate_backend({pid})", DB)
    time.sleep(1)
    equal((session.put(int4(1), int4(2)), session.put(int4(1), int4(2))), (IO, IO), "a server that has ended")
    session.close()
    session = Session("e2")
    equal(session.put(int4(1), int4(3)), "old", "another one is started")
    session.close()


commands()
changes()
failures()
rights()
others_changes()
garbage()
garbage_in_rings()
many_clients()
strangers()
endings()
time.sleep(3)
query(f"DROP DATABASE {DB}")
done()
