#!/usr/bin/env python3
"""fluent2arrow as a receiver of HTTP: every form of body as Fluentd's in_http takes it, answers when events are on the disk, requests in
small parts and one behind the other, limits, slow clients, bytes that are no requests."""
import datetime
import gzip
import http.client
import json
import random
import re
import signal
import socket
import subprocess
import time
import urllib.parse

import msgpack
import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, program

OUT = folder("fluent2arrow_http")
UTC = datetime.timezone.utc
rng = random.Random(8)


class Receiver:
    def __init__(self, name, *options):
        self.folder = OUT / name
        self.process = subprocess.Popen([program("fluent2arrow"), "-L", "127.0.0.1:0", "--http=127.0.0.1:0", "-o", str(self.folder / "{tag}.arrow"), "-v", *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+) \(HTTP\)", self.process.stdout.readline())[1])

    def client(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def post(self, path, body, kind="application/json", client=None, **headers):
        link = client or self.client()
        link.request("POST", path, body=body, headers={"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}})
        answer = link.getresponse()
        answer.read()
        return answer.status

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def events(self, tag):
        return ipc.open_file(str(self.folder / f"{tag}.arrow")).read_all().to_pylist()

    def records(self, tag):
        return [json.loads(row["record"]) for row in self.events(tag)]


record = {"n": 1, "f": -2.5e3, "t": 'ä"\\\n\t/', "y": True, "x": None, "l": [1, {"k": []}], "big": 2**63, "min": -2**63}
receiver = Receiver("forms", "--flush-interval=20")
client = receiver.client()
equal(receiver.post("/app.log", json.dumps(record), client=client), 200, "JSON")
equal(receiver.records("app.log"), [record], "and it is on the disk")
equal(receiver.post("/app/log", json.dumps([record, {"n": 2}, {}], ensure_ascii=False).encode(), "application/json; charset=utf-8", client=client), 200, "an array, on the same connection")
equal(receiver.post("//app.log", "json=" + urllib.parse.quote_plus(json.dumps({"form": "a+b & c"})), "application/x-www-form-urlencoded", client=client), 200, "a form")
equal(receiver.post("/app.log", "x=1&msgpack=" + urllib.parse.quote(msgpack.packb({"form": "packed"})), "application/x-www-form-urlencoded", client=client), 200, "a form with MessagePack")
equal(receiver.post("/app.log", msgpack.packb({"packed": 1}), "application/msgpack", client=client), 200, "MessagePack")
equal(receiver.post("/app.log", msgpack.packb([{"packed": i} for i in range(40)]), "application/msgpack", client=client), 200, "an array of it")
equal(receiver.post("/app.log", '{"line": 1}\n {"line": 2}\n\n[{"line": 3}]\n', "application/x-ndjson", client=client), 200, "lines of JSON")
equal(receiver.post("/app.log", gzip.compress(b'{"packed": "gzip"}'), client=client, Content_Encoding="gzip"), 200, "gzip")
equal(receiver.post("/app.log", "[]", client=client), 200, "no events")
equal(receiver.post("/app.log", iter([b'{"chu', b"nk", b'ed": 1}']), client=client), 200, "chunks")
equal(receiver.records("app.log"), [record, record, {"n": 2}, {}, {"form": "a+b & c"}, {"form": "packed"}, {"packed": 1}, *({"packed": i} for i in range(40)), {"line": 1}, {"line": 2}, {"line": 3},
                                    {"packed": "gzip"}, {"chunked": 1}], "all of them, in order")
equal(receiver.post("/timed?time=1700000000.25&x=1", '{"a": 1}', client=client), 200, "a time")
equal(receiver.post("/timed?x=1&time=0", '{"a": 2}', client=client), 200, "a time of 0")
timed = [row["time"] for row in receiver.events("timed")]
ok(timed[0] == datetime.datetime.fromtimestamp(1700000000.25, UTC) and abs((timed[1] - datetime.datetime.now(UTC)).total_seconds()) < 60, "times", timed)
equal(receiver.post("/text", b'"\\ud83d\\ude00 \\u00e4 \\ud800 \\udc00x \\u0000\\b\\f \xff"'.join([b'{"t": ', b"}"]), client=client), 200, "texts with escapes")
equal(receiver.records("text"), [{"t": "😀 ä \ufffd \ufffdx \ufffd\b\f \ufffd"}], "are what they mean, except for NUL")
equal([receiver.post(f"/{tag}", '{"a": 1}', client=client) for tag in ("x%ffb", "x%00b")], [200, 200], "tags that are no texts")
equal([row["tag"] for row in receiver.events("x_b")], ["x\ufffdb"] * 2, "become some")
for number in ("0", "-0", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e2", "1E-2", "0.1", "1.7976931348623157e308"):
    equal(receiver.post("/numbers", '{"n": %s}' % number, client=client), 200, number)
equal([row["n"] for row in receiver.records("numbers")], [0, 0, 2**63 - 1, -2**63, 2**64 - 1, 1.8446744073709552e19, 100, 0.01, 0.1, 1.7976931348623157e308], "numbers")

# ---- What is refused: the next request is served all the same ----
for status, path, body, kind, headers in (
        (400, "/", "{}", "application/json", {}), (400, "/t", "", "application/json", {}), (400, "/t", "{", "application/json", {}), (400, "/t", "{} x", "application/json", {}),
        (400, "/t", "5", "application/json", {}), (400, "/t", '[{"a": 1}, 5]', "application/json", {}), (400, "/t", "[" * 100 + "]" * 100, "application/json", {}), (400, "/t", '{"a": 01}', "application/json", {}),
        (400, "/t", '{"a": 1e999}', "application/json", {}), (400, "/t", '{"a": nan}', "application/json", {}), (400, "/t", '{"a" 1}', "application/json", {}), (400, "/t", '{"a": 1,}', "application/json", {}),
        (400, "/t", '{"a": "\n"}', "application/json", {}), (400, "/t", '{"a": "\\u12"}', "application/json", {}), (400, "/t", '{"a": "\\x"}', "application/json", {}), (400, "/t", "{a: 1}", "application/json", {}),
        (400, "/t", b"\xc1", "application/msgpack", {}), (400, "/t", b"\x81\xa1", "application/msgpack", {}), (400, "/t", b"\xdf\xff\xff\xff\xff", "application/msgpack", {}),
        (400, "/t", "a=1", "application/x-www-form-urlencoded", {}), (400, "/t?time=x", "{}", "application/json", {}), (400, "/t?time=-1", "{}", "application/json", {}),
        (415, "/t", "{}", "text/plain", {}), (415, "/t", "{}", "application/json", {"Content_Encoding": "br"}), (400, "/t", "{}", "application/json", {"Content_Encoding": "gzip"})):
    equal(receiver.post(path, body, kind, client=client, **headers), status, f"{status}: {path} {body[:30]}")
client.request("GET", "/app.log")
answer = client.getresponse()
answer.read()
equal((answer.status, answer.getheader("Allow")), (405, "POST"), "GET")
equal(receiver.post("/t", '{"after": 1}', client=client), 200, "the connection goes on")
equal(receiver.records("t"), [{"after": 1}], "nothing of what was refused is there")


def raw(data, parts=None):
    """All that comes until the connection is closed, or nothing comes for a while."""
    with receiver.connect() as link:
        for begin in range(0, len(data), parts or len(data)):
            link.sendall(data[begin:begin + (parts or len(data))])
        link.settimeout(3)
        found = b""
        try:
            while part := link.recv(65536):
                found += part
        except (TimeoutError, ConnectionError):
            return found + b"(open)"
        return found


def request(body, *headers, path="/raw", version="1.1"):
    return "\r\n".join([f"POST {path} HTTP/{version}", "Host: x", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers, "", body]).encode()


close = "Connection: close"
found = raw(request('{"a": 1}') + request('{"a": 2}') + request('{"a": 3}', close), parts=5)
equal(found.count(b"HTTP/1.1 200 OK"), 3, "requests one behind the other, in small parts")
ok(not found.endswith(b"(open)"), "which is closed at last", found)
equal(raw(b"\r\n\n" + request('{"a": 4}', version="1.0").replace(b"\r\n", b"\n")).count(b" 200 OK"), 1, "HTTP/1.0, lines without returns")
with receiver.connect() as link:
    whole = request('{"a": 5}', "Expect: 100-continue", close)
    link.sendall(whole[:-8])
    equal(link.recv(1000), b"HTTP/1.1 100 Continue\r\n\r\n", "a body that waits to be welcome")
    link.sendall(whole[-8:])
    ok(b" 200 OK" in link.recv(1000), "and is")
chunks = b"POST /raw HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4;x=y\r\n{\"a\"\r\n004\r\n: 6}\r\n0\r\nTrailer: 1\r\n\r\n"
for parts in (1, 7, None):
    equal(raw(chunks, parts).count(b" 200 OK"), 1, f"chunks in parts of {parts}")
equal(receiver.records("raw"), [{"a": i} for i in (1, 2, 3, 4, 5, 6, 6, 6)], "all are there, each once")
for name, data, status in (
        ("no HTTP", b"\x93\xa1t\x01\x80\n\n", b"400"), ("another version", b"POST / HTTP/2.0\r\n\r\n", b"505"), ("a header without a colon", b"POST / HTTP/1.1\r\nx\r\n\r\n", b"400"),
        ("a length that is none", b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"), ("two lengths", b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
        ("a length beside chunks", b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"), ("another encoding", b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", b"501"),
        ("a chunk's size that is none", chunks.replace(b"004", b"xyz"), b"400"), ("a chunk without its end", chunks.replace(b"\r\n004", b"x\r\n004"), b"400"),
        ("a chunk's line that is long", chunks.replace(b"x=y", b"x" * 2000), b"400"), ("a long line behind chunks", chunks.replace(b"Trailer", b"T" * 2000), b"400"),
        ("a header that folds", b"POST / HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n", b"400"), ("headers without end", b"POST / HTTP/1.1\r\n" + b"A: b\r\n" * 20000, b"431"),
        ("an absurd length", b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"413"), ("an absurd chunk", chunks.replace(b"004", b"fffffffff"), b"413")):
    found = raw(data)
    ok(found.startswith(b"HTTP/1.1 " + status) and not found.endswith(b"(open)"), name, found[:100], found[-20:])
status, out, err = receiver.stop()
ok(status == 0, "the end", status, err)

# ---- Limits, columns, clients that are slow or go away ----
receiver = Receiver("limits", "--http-limit=4k", "--flush-interval=100", "--infer-schema")
idle, slow, gone = receiver.connect(), receiver.connect(), receiver.connect()
slow.sendall(request('{"slow": 1}', close)[:-3])
gone.sendall(request('{"gone": 1}'))
gone.close()
begin = time.monotonic()
equal(receiver.post("/c", json.dumps({"text": "x" * 4000})), 200, "just small enough")
ok(time.monotonic() - begin < 20, "others do not wait for it")
equal(receiver.post("/c", json.dumps({"text": "x" * 5000})), 413, "too large")
bomb = gzip.compress(gzip.compress(b"[" + b" " * (300 << 20) + b"]"))
equal(receiver.post("/c", gzip.decompress(bomb)[:4000], Content_Encoding="gzip"), 400, "compression that is cut off")
slow.sendall(request('{"slow": 1}', close)[-3:])
ok(b" 200 OK" in slow.recv(1000), "a slow client is served at last")
clients = [receiver.client() for _ in range(100)]
for number, client in enumerate(clients):
    client.request("POST", "/many", body=json.dumps({"n": number}), headers={"Content-Type": "application/json"})
equal([client.getresponse().status for client in clients], [200] * 100, "a hundred clients at once")
equal(sorted(row["n"] for row in receiver.events("many")), list(range(100)), "have a column")
for _ in range(300):
    data = bytearray(request('{"a": 1}') if rng.random() < 0.5 else chunks)
    for _ in range(rng.randint(1, 5)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    with receiver.connect() as link:
        link.sendall(data)
equal(receiver.post("/alive", "{}"), 200, "it lives")
begin = time.monotonic()
idle.settimeout(60)
equal(idle.recv(1), b"", "a client that sends nothing is disconnected")
status, out, err = receiver.stop()
ok(status == 0 and "gone" in receiver.events("raw")[0], "events of a client that is gone are there", status, err)

# ---- Killed: what was answered is on the disk ----
receiver = Receiver("killed", "--flush-interval=5", "--infer-schema")
client, answered = receiver.client(), 0
end = time.monotonic() + 1
while time.monotonic() < end:
    answered += receiver.post("/k", json.dumps([{"n": answered}]), client=client) == 200
receiver.process.kill()
receiver.process.wait()
ok(answered > 3 and {row["n"] for row in receiver.events("k")} >= set(range(answered)), "killed", answered)
done()
