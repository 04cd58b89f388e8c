"""Measures the time that a server needs to send its rows, however fast the client is. The sessions are the same as
those of our tools, but the rows are dropped. Prints the seconds as JSON, like rivals.py. Called by run.py:

    floors.py FLOOR THREADS SOURCE TABLE KEY"""
import json
import socket
import struct
import sys
import threading
import time


def in_threads(count, work):
    failures = []

    def guarded(number):
        try:
            work(number)
        except Exception as error:  # the main thread reports it
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.perf_counter() - begin


def page_ranges(connection, table, count):
    """Conditions on ctid, as in pg2arrow."""
    pages = connection.execute("select pg_relation_size(%s::regclass) / 8192", (table,)).fetchone()[0]
    cuts = [pages * number // count for number in range(1, count)]
    lower = [""] + [f"ctid >= '({cut},0)'" for cut in cuts]
    upper = [f"ctid < '({cut},0)'" for cut in cuts] + [""]
    return [" and ".join(filter(None, pair)) or "true" for pair in zip(lower, upper)]


def discarded_copies(threads, source, table, statement):
    import psycopg

    connections = [psycopg.connect(source, autocommit=True) for _ in range(threads)]
    ranges = page_ranges(connections[0], table, threads)
    return in_threads(threads, lambda number: connections[number].execute(statement(ranges[number])))


def postgres_copy(threads, source, table, key):
    """COPY in binary form. The server itself discards the data and sends nothing."""
    return discarded_copies(threads, source, table, lambda where: f"copy (select * from {table} where {where}) to '/dev/null' (format binary)")


def postgres_stream(threads, source, table, key):
    """The same for the record batches that pg_strom makes."""

    def statement(where):
        query = f"select * from {table} where {where}".replace("'", "''")
        return f"copy (select pgstrom.arrow_ipc_stream('{query}', 1048576)) to '/dev/null' (format binary)"

    return discarded_copies(threads, source, table, statement)


class MariaSession:
    """The part of the protocol that a prepared query needs if its rows are dropped: by socket, without a password.
    https://mariadb.com/kb/en/clientserver-protocol/"""

    def __init__(self, path, user, database):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.packet()
        capabilities = 0x8 | 0x200 | 0x8000  # has a database, protocol 4.1, authentication of 4.1
        self.send(struct.pack("<IIB23x", capabilities, 1 << 24, 45) + user.encode() + b"\0\0" + database.encode() + b"\0", 1)
        self.expect_ok()

    def send(self, payload, number=0):
        self.socket.sendall(struct.pack("<I", len(payload))[:3] + bytes([number]) + payload)

    def exactly(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise RuntimeError("MariaDB closed the connection")
            data += more
        return data

    def packet(self):
        header = self.exactly(4)
        return self.exactly(int.from_bytes(header[:3], "little"))

    def expect_ok(self):
        answer = self.packet()
        if answer[0] == 0xFF:
            raise RuntimeError(answer[9:].decode(errors="replace"))
        return answer

    def prepare(self, query):
        self.send(b"\x16" + query.encode())
        answer = self.expect_ok()
        self.statement, columns = struct.unpack_from("<IH", answer, 1)
        for _ in range(columns + 1):  # one more for the end
            self.packet()

    def numbers(self, query):
        self.send(b"\x03" + query.encode())
        count = self.expect_ok()[0]
        for _ in range(count + 1):
            self.packet()
        row, at, values = self.packet(), 0, []
        for _ in range(count):
            values.append(int(row[at + 1:at + 1 + row[at]]))
            at += 1 + row[at]
        self.packet()
        return values

    def drop_rows(self):
        """Reads until the packet that marks the end, whose bytes are the last ones received."""
        self.send(b"\x17" + struct.pack("<IBI", self.statement, 0, 1))
        buffer = bytearray(1 << 20)
        tail = b""
        while True:
            size = self.socket.recv_into(buffer)
            if size == 0:
                raise RuntimeError("MariaDB closed the connection")
            tail = (tail + bytes(buffer[max(0, size - 9):size]))[-9:]
            if tail[:3] == b"\x05\0\0" and tail[4] == 0xFE:
                return


def mariadb_rows(threads, source, table, key):
    """Receives the rows of a prepared statement and drops them."""
    path, user, database = source.split(",")
    sessions = [MariaSession(path, user, database) for _ in range(threads)]
    least, most = sessions[0].numbers(f"select min({key}), max({key}) from {table}")
    cuts = [least + (most + 1 - least) * number // threads for number in range(1, threads)]
    lower = [""] + [f"{key} >= {cut}" for cut in cuts]
    upper = [f"{key} < {cut}" for cut in cuts] + [""]
    for session, pair in zip(sessions, zip(lower, upper)):
        session.prepare(f"select * from {table} where " + (" and ".join(filter(None, pair)) or "true"))
    return in_threads(threads, lambda number: sessions[number].drop_rows())


FLOORS = {"postgres_copy": postgres_copy, "postgres_stream": postgres_stream, "mariadb_rows": mariadb_rows}

if __name__ == "__main__":
    name, thread_count, *rest = sys.argv[1:]
    print(json.dumps({"seconds": FLOORS[name](int(thread_count), *rest)}))
