#!/usr/bin/env python3
"""fluent2arrow as a receiver of syslog: the forms of RFC 5424 and RFC 3164, datagrams and streams with both framings, programs that
keep to no form, bytes that are no messages."""
import datetime
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, program, wait_until

OUT = folder("fluent2arrow_syslog")
MODULES = pathlib.Path(__file__).resolve().parent.parent / "modules"
UTC = datetime.timezone.utc


class Receiver:
    def __init__(self, name, *options, environment=None):
        self.path = OUT / f"{name}.arrow"
        self.process = subprocess.Popen([program("fluent2arrow"), "-L", "127.0.0.1:0", "--syslog-tcp=127.0.0.1:0", "--syslog-udp=127.0.0.1:0", "-o", str(self.path), "-v",
                                         "--flush-interval=20", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TZ": "Asia/Tokyo", **(environment or {})})
        places = self.process.stdout.readline().removeprefix("fluent2arrow: listening at ").split(", ", 2)
        self.tcp, self.udp = (int(place.split(" ")[0].rsplit(":", 1)[1]) for place in places[1:3])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.tcp), timeout=60)

    def stop(self):
        time.sleep(0.2)
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def events(self):
        return [{key: value for key, value in row.items() if value is not None} for row in ipc.open_file(str(self.path)).read_all().to_pylist()]


def utc(*parts):
    return datetime.datetime(*parts, tzinfo=UTC)


now = datetime.datetime.now(UTC)
tokyo = now + datetime.timedelta(hours=9)
month = tokyo.strftime("%b")
future = tokyo + datetime.timedelta(days=90)
recent = {"facility": "user", "severity": "notice"}
# What is sent, and the event; a time of None: when it came.
CASES = (
    ("<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [exampleSDID@32473 iut=\"3\" eventSource=\"App \\\"x\\\" \\] \\\\ \\n\"][e@1] \ufeffAn application event",
     utc(2003, 10, 11, 22, 14, 15, 3000), {"facility": "local4", "severity": "notice", "host": "mymachine.example.com", "ident": "evntslog", "msgid": "ID47",
                                          "data": {"exampleSDID@32473": {"iut": "3", "eventSource": 'App "x" ] \\ \\n'}, "e@1": {}}, "message": "An application event"}),
    ("<34>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 su 77 - - 'su root' failed", utc(2003, 8, 24, 12, 14, 15, 3),
     {"facility": "auth", "severity": "crit", "host": "192.0.2.1", "ident": "su", "pid": "77", "message": "'su root' failed"}),
    ("<0>1 - - - - - -", None, {"facility": "kern", "severity": "emerg"}),
    ("<191>1 2024-02-29T23:59:60Z h a p m -", utc(2024, 3, 1), {"facility": "local7", "severity": "debug", "host": "h", "ident": "a", "pid": "p", "msgid": "m"}),
    ("<13>1 2024-13-01T00:00:00Z h a p m - x", None, {**recent, "message": "1 2024-13-01T00:00:00Z h a p m - x"}),
    ("<13>1 - h a p m [broken x", None, {**recent, "message": "1 - h a p m [broken x"}),
    (f"<34>{month} {tokyo.day:2} 01:02:03 mymachine su[12]: 'su root' failed for lonvick", utc(tokyo.year, tokyo.month, tokyo.day, 1, 2, 3) - datetime.timedelta(hours=9),
     {"facility": "auth", "severity": "crit", "host": "mymachine", "ident": "su", "pid": "12", "message": "'su root' failed for lonvick"}),
    (f"<30>{future.strftime('%b')} 10 00:00:00 h cron: x", utc(future.year - 1, future.month, 10) - datetime.timedelta(hours=9),
     {"facility": "daemon", "severity": "info", "host": "h", "ident": "cron", "message": "x"}),
    (f"<30>{month} {tokyo.day:2} 00:00:00 cron[5]: no host", utc(tokyo.year, tokyo.month, tokyo.day) - datetime.timedelta(hours=9),
     {"facility": "daemon", "severity": "info", "ident": "cron", "pid": "5", "message": "no host"}),
    (f"<30>{month} {tokyo.day:2} 00:00:00 h a message without a program", utc(tokyo.year, tokyo.month, tokyo.day) - datetime.timedelta(hours=9),
     {"facility": "daemon", "severity": "info", "host": "h", "message": "a message without a program"}),
    ("<14>2024-05-06T07:08:09.5+02:00 h app: as rsyslog forwards", utc(2024, 5, 6, 5, 8, 9, 500000), {"facility": "user", "severity": "info", "host": "h", "ident": "app", "message": "as rsyslog forwards"}),
    ("no form at all", None, {**recent, "message": "no form at all"}),
    ("<192>too large", None, {**recent, "message": "<192>too large"}),
    ("<>x", None, {**recent, "message": "<>x"}),
    ("<13>", None, recent),
    ("日本 <5>", None, {**recent, "message": "日本 <5>"}),
)


def same(found, name, tag="syslog"):
    equal(len(found), len(CASES), f"{name}: as many events")
    for row, (text, when, wanted) in zip(found, CASES):
        record = dict(json.loads(row["record"]))
        equal(record, wanted, f"{name}: {text[:40]}")
        ok(row["tag"] == tag and (row["time"] == when if when else abs((row["time"] - now).total_seconds()) < 600), f"{name}: its time", text, row["time"], when)


receiver = Receiver("lines")
with receiver.connect() as link:
    whole = b"".join(text.encode() + (b"\n", b"\r\n", b"\0")[i % 3] for i, (text, _, _) in enumerate(CASES))
    for at in range(0, len(whole), 11):
        link.sendall(whole[at:at + 11])
status, out, err = receiver.stop()
ok(status == 0 and f"{len(CASES)} events" in out, "lines", status, out, err)
same(receiver.events(), "lines")

receiver = Receiver("counted", "--syslog-tag=remote")
with receiver.connect() as link:
    link.sendall(b"".join(b"%d %s" % (len(text.encode()), text.encode()) for text, _, _ in CASES))
receiver.stop()
same(receiver.events(), "counted", tag="remote")

receiver = Receiver("datagrams")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
    for text, _, _ in CASES:
        link.sendto(text.encode(), ("127.0.0.1", receiver.udp))
    ok(wait_until(lambda: receiver.path.exists() and len(receiver.events()) == len(CASES)), "are written while it runs")
    link.sendto(b"<13>x" * 12000, ("127.0.0.1", receiver.udp))
receiver.stop()
same(receiver.events()[:-1], "datagrams")
equal(len(json.loads(receiver.events()[-1]["record"])["message"]), 60000 - 4, "a large one")

# Lines within a counted message, a last line without its end, bytes that are no UTF-8, and columns.
receiver = Receiver("odd", "--infer-schema")
with receiver.connect() as link:
    link.sendall(b"7 <13>a\nb6 <13>cd10 <13>nul\0in")
with receiver.connect() as link:
    link.sendall(b"<13>last\n\n<13>open")
with receiver.connect() as link:
    link.sendall(b"<13>bad \xff\xfe byte\n")
time.sleep(0.3)
receiver.stop()
equal(sorted(row["message"] for row in receiver.events()), sorted(["a\nb", "cd", "nul\ufffdin", "last", "open", "bad \ufffd\ufffd byte"]), "odd ones")

# The turn of the year: clocks of others are a little ahead, or behind.
library, clock = OUT / "standing_clock.so", OUT / "clock"
subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, MODULES / "standing_clock.c", "-ldl"], check=True)
for here, sent, year in (((2026, 12, 31, 23, 59, 50), "Jan  1 00:00:05", 2027), ((2027, 1, 1, 0, 0, 5), "Dec 31 23:59:50", 2026), ((2027, 1, 1, 0, 0, 5), "Jan  1 00:00:09", 2027),
                         ((2026, 12, 31, 23, 59, 50), "Dec 31 23:59:55", 2026), ((2026, 12, 31, 23, 59, 50), "Mar  1 00:00:00", 2026)):
    clock.write_text(str(int(utc(*here).timestamp())))
    receiver = Receiver(f"year{here[0]}{sent}".replace(" ", "_"), environment={"LD_PRELOAD": str(library), "STROM_CLOCK": str(clock), "TZ": "UTC",
                                                                               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"})
    with receiver.connect() as link:
        link.sendall(f"<13>{sent} h a: x\n".encode())
    receiver.stop()
    equal([row["time"] for row in receiver.events()], [datetime.datetime.strptime(f"{year} {sent} +0000", "%Y %b %d %H:%M:%S %z")], f"{sent} at {here}")

# What is no stream of messages closes the connection; others are served.
receiver = Receiver("bad")
for name, data in (("a size that is none", b"12x <13>"), ("a size that is too large", b"99999999999 x"), ("more than a megabyte", b"2000000 x"), ("a line without end", b"x" * (3 << 19))):
    with receiver.connect() as link:
        try:
            link.sendall(data)
            equal(link.recv(10), b"", f"{name}: closed")
        except ConnectionError:
            ok(True, f"{name}: closed")
rng = random.Random(4)
pieces = [text.encode() for text, _, _ in CASES] + [b"\n", b"\0", b"12 ", b"1 ", b"<", b">", b"[", b"]", b'"', b"=", b"\\"]
for _ in range(200):
    with receiver.connect() as link:
        try:
            link.sendall(b"".join(rng.choice(pieces)[rng.randrange(3):] for _ in range(rng.randrange(1, 20))))
        except ConnectionError:
            pass
with receiver.connect() as link:
    link.sendall(b"<13>alive\n")
status, out, err = receiver.stop()
ok(status == 0 and any("alive" in row["record"] for row in receiver.events()), "it lives", status, out[-200:], err[-200:])
taken = socket.socket()
taken.bind(("127.0.0.1", 0))
taken.listen()
failed = subprocess.run([program("fluent2arrow"), "-L", "127.0.0.1:0", f"--syslog-tcp=127.0.0.1:{taken.getsockname()[1]}", "-o", str(OUT / "x.arrow")], capture_output=True, text=True)
ok(failed.returncode == 1 and "could not listen" in failed.stderr, "an address that somebody has", failed)
done()
