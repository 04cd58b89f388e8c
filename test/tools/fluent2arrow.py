#!/usr/bin/env python3
"""fluent2arrow: events in every form of the Forward protocol, from fluent-logger and made by hand; types and values that do not fit;
acknowledgements, kills, duplicates; bytes that are no messages; what PostgreSQL sees."""
import datetime
import decimal
import gzip
import hashlib
import os
import random
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import time

import msgpack
import pyarrow.ipc as ipc
from fluent import sender

from checks import done, equal, folder, fresh_database, ok, program, query, run
from forward_receiver import Receiver, acknowledged, is_closed

OUT = folder("fluent2arrow")
OUT.chmod(0o755)
rng = random.Random(5)


def event_time(seconds, nanoseconds):
    return msgpack.ExtType(0, struct.pack(">II", seconds, nanoseconds))


def packed(events):
    return b"".join(msgpack.packb(event) for event in events)


def rows(path):
    return ipc.open_file(str(path)).read_all().to_pylist()


# ---- Every form of message, without a schema ----
receiver = Receiver(str(OUT / "{tag}" / "all.arrow"), "--flush-interval=50")
link = receiver.connect()
link.sendall(msgpack.packb(["one", 1700000000, {"a": 1}]))
link.sendall(msgpack.packb(["one", event_time(1700000001, 123456789), {"a": 2.5, "b": [None, True, {"c": "ä\n\"\\"}], "z": b"\xff"}, {"chunk": "c1"}]))
ok(acknowledged(link, "c1"), "Message with an acknowledgement")
link.sendall(msgpack.packb(["one", [[1700000002, {"a": 3}], [event_time(1700000003, 0), {}]], {"chunk": "c2", "size": 2}]))
ok(acknowledged(link, "c2"), "Forward")
link.sendall(msgpack.packb(["two", packed([[1700000004, {"a": 4}], [1700000005, {"a": 5}]]), {"chunk": "c3"}]))
ok(acknowledged(link, "c3"), "PackedForward")
compressed = gzip.compress(packed([[1700000006, {"a": 6}]])) + gzip.compress(packed([[1700000007, {"a": 2**63}], [1700000008, {"a": -2**63}]]))
whole = msgpack.packb(["two", compressed, {"chunk": "c4", "compressed": "gzip", "other": [1, {"x": 2}]}])
for begin in range(0, len(whole), 7):
    link.sendall(whole[begin:begin + 7])
ok(acknowledged(link, "c4"), "CompressedPackedForward, in small parts")
link.sendall(msgpack.packb(["two", packed([[1700000004, {"a": 4}]]), {"chunk": "c3"}]))
ok(acknowledged(link, "c3"), "a chunk that came before is acknowledged")
link.sendall(msgpack.packb(["../../etc", [[1, {"a": 1}]], {"chunk": "c5"}]))
ok(acknowledged(link, "c5"), "a tag that leads elsewhere")
status, out, err = receiver.stop()
ok(status == 0 and "10 events" in out and "1 messages came twice" in out, "the end", status, out, err)
equal([row["record"] for row in rows(OUT / "one" / "all.arrow")], ['{"a": 1}', '{"a": 2.5, "b": [null, true, {"c": "ä\\n\\"\\\\"}], "z": "\\ufffd"}', '{"a": 3}', "{}"], "records as JSON")
equal([row["time"] for row in rows(OUT / "one" / "all.arrow")][1], datetime.datetime.fromtimestamp(1700000001, datetime.timezone.utc).replace(microsecond=123456), "times")
equal([(row["tag"], row["record"]) for row in rows(OUT / "two" / "all.arrow")],
      [("two", f'{{"a": {a}}}') for a in (4, 5, 6, 2**63, -2**63)], "the other tag, each event once")
ok((OUT / "_..____etc" / "all.arrow").exists() or any(p.name.startswith("_..") for p in OUT.iterdir()), "a safe name", list(OUT.iterdir()))

# ---- A schema ----
SCHEMA = "host:utf8,status:int16,bytes:int64,ratio:float64,good:bool,price:decimal(10,2),day:date,what:utf8,must:int32:not_null"
receiver = Receiver(str(OUT / "schema.arrow"), f"--schema={SCHEMA}", "--tag-column=label", "--ts-column=at", "--stats", "-C", "zstd")
logger = sender.FluentSender("web", host="127.0.0.1", port=receiver.port, nanosecond_precision=True, timeout=60)
good = {"host": "h1", "status": 200, "bytes": 5, "ratio": 0.5, "good": True, "price": "12.50", "day": "2024-02-29", "what": {"x": [1, "y"]}, "must": 1}
for record in (good, {**good, "status": 70000, "bytes": "17", "ratio": 3, "good": "maybe", "price": 1.25, "day": 5, "extra": 1}, {"must": 2}, {"host": "lost"},
               {"must": "7", "host": 5, "status": None, "good": 1, "ratio": float("inf")}):
    ok(logger.emit("access", record), "fluent-logger sends", logger.last_error)
logger.close()
status, out, err = receiver.stop()
ok(status == 0 and "4 events" in out and "3 values became NULL" in out and "1 keys" in out and "must" in err, "the end with a schema", status, out, err)
table = ipc.open_file(str(OUT / "schema.arrow")).read_all()
equal(table.column_names, ["at", "label", "host", "status", "bytes", "ratio", "good", "price", "day", "what", "must"], "columns")
found = [{key: value for key, value in row.items() if key not in ("at", "label")} for row in table.to_pylist()]
equal([str(row) for row in found], [str(row) for row in (
    {**good, "price": decimal.Decimal("12.50"), "day": datetime.date(2024, 2, 29), "what": '{"x": [1, "y"]}'},
    {"host": "h1", "status": None, "bytes": 17, "ratio": 3.0, "good": None, "price": decimal.Decimal("1.25"), "day": None, "what": '{"x": [1, "y"]}', "must": 1},
    {"host": None, "status": None, "bytes": None, "ratio": None, "good": None, "price": None, "day": None, "what": None, "must": 2},
    {"host": "5", "status": None, "bytes": None, "ratio": float("inf"), "good": True, "price": None, "day": None, "what": None, "must": 7})], "values by type")
ok(all(abs((row["at"] - datetime.datetime.now(datetime.timezone.utc)).total_seconds()) < 300 and row["label"] == "web.access" for row in table.to_pylist()), "times and tags")

# ---- PostgreSQL sees events while they come; files are gone on with ----
DB = fresh_database("strom_fluent")
query(f"IMPORT FOREIGN SCHEMA whole FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/one/all.arrow')", DB)
equal(query("SELECT min(record->>'a'), min(pg_typeof(record)::text) FROM whole", DB), "1|jsonb", "a record is jsonb")
receiver = Receiver(str(OUT / "live" / "{tag}.arrow"), "--schema=n:int64", "--flush-interval=100")
os.chmod(OUT, 0o755)
link = receiver.connect()
link.sendall(msgpack.packb(["a", packed([[1, {"n": i}] for i in range(1000)]), {"chunk": "first"}]))
ok(acknowledged(link, "first"), "a thousand events")
os.chmod(OUT / "live", 0o755)
query(f"CREATE FOREIGN TABLE live (time timestamptz, tag text, n bigint) SERVER arrow_fdw OPTIONS (dir '{OUT}/live', suffix 'arrow')", DB)
equal(query("SELECT count(*), sum(n) FROM live", DB), "1000|499500", "PostgreSQL reads them")
for i in range(20):
    link.sendall(msgpack.packb(["a" if i % 2 else "b", packed([[1, {"n": 1}]] * 10), {"chunk": f"next {i}"}]))
    ok(acknowledged(link, f"next {i}"), f"acknowledged {i}")
equal(query("SELECT count(*), sum(n) FROM live", DB), "1200|499700", "and what came since")
receiver.stop()
receiver = Receiver(str(OUT / "live" / "{tag}.arrow"), "--schema=n:int64")
with receiver.connect() as again:
    again.sendall(msgpack.packb(["a", 5, {"n": 7}, {"chunk": "x"}]))
    ok(acknowledged(again, "x"), "after a restart")
receiver.stop()
equal(query("SELECT count(*), sum(n) FROM live", DB), "1201|499707", "the file goes on")
receiver = Receiver(str(OUT / "live" / "{tag}.arrow"), "--schema=n:int64")
with receiver.connect() as again:
    for name in ("first", "next 19", "x", "next 18"):
        again.sendall(msgpack.packb(["a", 5, {"n": 7}, {"chunk": name}]))
        ok(acknowledged(again, name), f"chunk {name} comes again after a restart")
status, out, err = receiver.stop()
ok("0 events" in out and "4 messages came twice" in out, "and is known", out, err)
batches = ipc.open_file(str(OUT / "live" / "a.arrow")).num_record_batches
ok(batches <= 5, "small record batches become one", batches)
receiver = Receiver(str(OUT / "live" / "a.arrow"), "--schema=other:utf8")
with receiver.connect() as again:
    again.sendall(msgpack.packb(["a", 5, {"other": "x"}, {"chunk": "y"}]))
    ok(acknowledged(again, "y"), "other columns")
receiver.stop()
equal([row["other"] for row in rows(OUT / "live" / "a-1.arrow")], ["x"], "get a file of their own")

# ---- What PostgreSQL's texts cannot have: NUL, and bytes that are no UTF-8 ----
odd = {"a": "x\0y", "long": "0123456\x007" + "89" * 10, "b": b"ab\xffc\xc3\xa4", "c": {"k\0": ["\0", b"\xfe"]}}
clean = {"a": "x\ufffdy", "long": "0123456\ufffd7" + "89" * 10, "b": "ab\ufffdcä"}
ODD = "(time timestamptz, tag text, {})"
for name, options, columns in (("json", [], "record jsonb"), ("given", ["--schema=a:utf8,long:utf8,b:utf8,c:utf8"], "a text, long text, b text, c jsonb"), ("found", ["--infer-schema"], "a text, long text, b text, c jsonb")):
    receiver = Receiver(str(OUT / "odd" / f"{name}.arrow"), "--flush-interval=20", *options)
    with receiver.connect() as link:
        for tag in (b"t", b"a\xffb", b"a\0b"):
            link.sendall(b"\x94" + (bytes([0xa0 + len(tag)]) + tag) + msgpack.packb(1) + msgpack.packb(odd) + msgpack.packb({"chunk": f"odd {tag}"}))
            ok(acknowledged(link, f"odd {tag}"), f"odd tags: {name}")
    status, out, err = receiver.stop()
    ok("3 events" in out and "0 values became NULL" in out, f"no odd text becomes NULL: {name}", out, err)
    (OUT / "odd").chmod(0o755)
    query(f"CREATE FOREIGN TABLE odd_{name} {ODD.format(columns)} SERVER arrow_fdw OPTIONS (file '{OUT}/odd/{name}.arrow')", DB)
    value = (lambda key: f"record->>'{key}'") if name == "json" else str
    equal(query(f"SELECT string_agg(tag, ' '), min({value('a')}), max({value('a')}), max({value('long')}), max({value('b')}) FROM odd_{name}", DB),
          "|".join(["t a\ufffdb a\ufffdb", clean["a"], clean["a"], clean["long"], clean["b"] if name != "json" else "ab\ufffdc\ufffd\ufffd"]), f"odd texts in PostgreSQL: {name}")
    whole = "(record->'c')" if name == "json" else "c"
    equal(query(f"SELECT max({whole}::text) FROM odd_{name}", DB), '{"k\ufffd": ["\ufffd", "\ufffd"]}', f"and within others: {name}")

# ---- Killed at any instant: what was acknowledged is there, once ----
shutil.rmtree(OUT / "live")
sent, acked = 0, set()
for round_ in range(12):
    receiver = Receiver(str(OUT / "live" / "k.arrow"), "--schema=n:int64", "--flush-interval=5")
    with receiver.connect() as link:
        link.settimeout(60)
        unpacker = msgpack.Unpacker()
        deadline = time.monotonic() + rng.uniform(0.02, 0.3)
        mine = set()
        while time.monotonic() < deadline:
            link.sendall(msgpack.packb(["k", packed([[1, {"n": sent * 100 + i}] for i in range(100)]), {"chunk": str(sent)}]))
            mine.add(sent)
            sent += 1
            if len(mine) % 3 == 0:
                unpacker.feed(link.recv(65536))
                acked |= {int(answer["ack"]) for answer in unpacker}
        receiver.stop(signal.SIGKILL)
        try:
            while data := link.recv(65536):
                unpacker.feed(data)
        except ConnectionResetError:  # what it had not read yet is gone with it
            pass
        acked |= {int(answer["ack"]) for answer in unpacker}
have = [row["n"] for row in rows(OUT / "live" / "k.arrow")]
ok(acked and acked <= {n // 100 for n in have} and len(set(have)) == len(have) and all(have.count(chunk * 100 + 99) == 1 for chunk in list(acked)[:20]),
   f"12 kills: {len(acked)} of {sent} chunks acknowledged, {len(have)} rows")

# ---- Bytes that are no messages, and clients that are slow ----
receiver = Receiver(str(OUT / "bad" / "{tag}.arrow"), "--schema=n:int64", "--flush-interval=20")
slow = receiver.connect()
whole = msgpack.packb(["slow", [[1, {"n": 1}]], {"chunk": "slow"}])
slow.sendall(whole[:-1])
for name, data in (("text", b"GET / HTTP/1.1\r\n\r\n"), ("a byte of none", b"\xc1"), ("a number", msgpack.packb(5)), ("an empty array", msgpack.packb([])), ("no tag", msgpack.packb([1, 2, {}])),
                   ("no record", msgpack.packb(["t", 5])), ("a record that is none", msgpack.packb(["t", 5, 6])), ("a wrong time", msgpack.packb(["t", "x", 6])),
                   ("events that are none", msgpack.packb(["t", [[1, {"n": 1}], 5]])), ("damaged compression", msgpack.packb(["t", b"\x1f\x8b\x08\x00xxxx", {"compressed": "gzip"}])),
                   ("a bomb", msgpack.packb(["t", gzip.compress(b"\0" * (300 << 20), 1), {"compressed": "gzip"}])), ("another compression", msgpack.packb(["t", b"", {"compressed": "zstd"}])),
                   ("packed events cut off", msgpack.packb(["t", packed([[1, {"n": 1}]])[:-1]])), ("a time that is too large", msgpack.packb(["t", 2**62, {"n": 1}])),
                   ("a time that is no number", msgpack.packb(["t", float("nan"), {"n": 1}]))):
    with receiver.connect() as link:
        ok(is_closed(link, data), f"{name}: the connection is closed")
# Without a schema records become JSON: keys that have keys would double with each level.
inside = b"\x01"
for _ in range(30):
    inside = b"\x81" + inside + b"\x01"
jsons = Receiver(str(OUT / "bad" / "json.arrow"))
with jsons.connect() as link:
    link.sendall(b"\x93\xa1t\x92\x92\x01\x81" + inside + b"\x01\x92\x01\x81\xa1a\x01\x81\xa5chunk\xa1j")
    ok(acknowledged(link, "j"), "keys in keys: the event is left out, the next one is not")
status, out, err = jsons.stop()
ok("nested" in err and [row["record"] for row in rows(OUT / "bad" / "json.arrow")] == ['{"a": 1}'], "with a warning", out, err)
for _ in range(300):
    data = bytearray(whole)
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    with receiver.connect() as link:
        link.sendall(data)
with receiver.connect() as link:
    link.sendall(b"\x94\xa4fine\x01\x82" + inside + b"\x01\xa1n\x2a" + msgpack.packb({"chunk": "fine"}))
    ok(acknowledged(link, "fine"), "others are served")
crowd = [receiver.connect() for _ in range(200)]
slow.sendall(whole[-1:])
ok(acknowledged(slow, "slow"), "a slow client is served at last")
for link in crowd:
    link.close()
status, out, err = receiver.stop()
ok(status == 0 and rows(OUT / "bad" / "fine.arrow")[0]["n"] == 42, "it has lived through all", status, err)

# ---- More tags than files can be open at once ----
receiver = Receiver(str(OUT / "tags" / "{tag}.arrow"), "--schema=n:int64", "--flush-interval=100")
resource.prlimit(receiver.process.pid, resource.RLIMIT_NOFILE, (64, 64))
link = receiver.connect()
link.sendall(packed([f"tag{i}", [[1, {"n": i}]], {"chunk": f"c{i}"}] for i in range(300)))
unpacker, found = msgpack.Unpacker(), []
while len(found) < 300 and (data := link.recv(65536)):
    unpacker.feed(data)
    found += [answer["ack"] for answer in unpacker]
equal(sorted(found) == sorted(f"c{i}" for i in range(300)), True, "all chunks of 300 tags are acknowledged")
status, out, err = receiver.stop()
equal((status, [[row["n"] for row in rows(OUT / "tags" / f"tag{i}.arrow")] for i in range(300)]), (0, [[i] for i in range(300)]), "a file for each tag")

# ---- Columns for whatever comes ----
found_folder = OUT / "found"


def types(path):
    return {field.name: str(field.type) for field in ipc.open_file(str(path)).schema if field.name not in ("time", "tag")}


def found_rows(*numbers):
    return [{key: value for key, value in row.items() if key != "tag" and value is not None} for number in numbers for row in rows(found_folder / f"a{number}.arrow")]


at = datetime.datetime.fromtimestamp(1, datetime.timezone.utc)
receiver = Receiver(str(found_folder / "{tag}.arrow"), "--infer-schema", "--flush-interval=20", "--stats")
link = receiver.connect()


def send(tag, chunk, *records):
    link.sendall(msgpack.packb([tag, packed([[1, record] for record in records]), {"chunk": chunk}]))
    ok(acknowledged(link, chunk), f"found: {chunk}")


first = [{"n": 1, "s": "x", "f": 0.5, "b": True, "j": {"k": [1]}, "nothing": None}, {"n": -2, "late": "y"}]
send("a", "first", *first)
equal(types(found_folder / "a.arrow"), {"n": "int64", "s": "string", "f": "double", "b": "bool", "j": "string", "late": "string"}, "types of the first records")
send("a", "more", {"n": 3, "new": 2**63, "time": "noon", "time_": 5, "tag": 1})
equal(types(found_folder / "a-1.arrow"), {**types(found_folder / "a.arrow"), "new": "decimal128(20, 0)", "time_": "string", "time__": "int64", "tag_": "int64"}, "further keys, also those of our own columns, begin another file")
send("a", "again", {"n": 4})
equal([row.get("n") for row in found_rows("-1")], [3, 4], "which is gone on with")
send("a", "other", {"n": 2.5, "f": 7, "s": "ä", "b": None}, {"n": 5, "new": 6})
equal(types(found_folder / "a-2.arrow")["n"], "double", "whole numbers and others")
send("a", "texts", {"n": "007", "f": "1", "b": "yes", "j": "j", "new": "n"})
equal({types(found_folder / "a-3.arrow")[name] for name in ("n", "f", "b", "j", "new")}, {"string"}, "what does not go together is text")
send("a", "last", {"n": 8, "f": 1.5, "b": False, "j": [1, {"k": None}], "new": 2**64 - 1})
equal(found_rows("", "-1", "-2", "-3"), [{"time": at, **{key: '{"k": [1]}' if key == "j" else value for key, value in first[0].items() if value is not None}}, {"time": at, **first[1]},
      {"time": at, "n": 3, "new": decimal.Decimal(2**63), "time_": "noon", "time__": 5, "tag_": 1}, {"time": at, "n": 4}, {"time": at, "n": 2.5, "f": 7.0, "s": "ä"},
      {"time": at, "n": 5.0, "new": decimal.Decimal(6)}, {"time": at, "n": "007", "f": "1", "b": "yes", "j": "j", "new": "n"},
      {"time": at, "n": "8", "f": "1.5", "b": "false", "j": '[1, {"k": null}]', "new": str(2**64 - 1)}], "every value is there")
send("b", "b", {"one": 1})
equal(types(found_folder / "b.arrow"), {"one": "int64"}, "another tag has its own columns")
send("none", "none", {"nothing": None}, {})
equal((len(rows(found_folder / "none.arrow")), types(found_folder / "none.arrow")), (2, {}), "records without values")
send("many", "many", {f"k{i}": i for i in range(1500)}, {f"k{i}": i for i in range(700, 2200)}, {"x" * 300: 1, b"\xff": 2, "": 3})
equal(len(types(found_folder / "many.arrow")), 1000, "keys without end do not become columns without end")
status, out, err = receiver.stop()
ok(status == 0 and "1703 keys without a column" in out, "the others are counted", status, out, err)
receiver = Receiver(str(found_folder / "{tag}.arrow"), "--infer-schema", "--flush-interval=3600000")
link = receiver.connect()
link.sendall(msgpack.packb(["a", packed([[1, {"n": "x"}]]), {"chunk": "r1"}]))
link.sendall(msgpack.packb(["b", packed([[1, {"one": 2}]]), {"chunk": "r2"}]))
link.sendall(msgpack.packb(["b", packed([[1, {"one": 3, "more": True}]]), {"chunk": "r3"}]))
link.sendall(msgpack.packb(["b", packed([[1, {"one": "t", "last": 1}]]), {"chunk": "r4"}]))
link.sendall(msgpack.packb(["b", packed([[1, {"one": 5}], [1, 5]]), {"chunk": "broken"}]))
ok(is_closed(link), "a damaged message")
receiver.stop()
equal((len(rows(found_folder / "a-3.arrow")), (found_folder / "a-4.arrow").exists()), (3, False), "a restart goes on with the last file")
equal([[{key: value for key, value in row.items() if key in ("one", "more", "last")} for row in rows(found_folder / f"b{number}.arrow")] for number in ("", "-1", "-2")],
      [[{"one": 1}], [{"one": 2, "more": None}, {"one": 3, "more": True}], [{"one": "t", "more": None, "last": 1}]], "further columns of events that wait, and other types")
found_folder.chmod(0o755)
query(f"CREATE FOREIGN TABLE found (time timestamptz, tag text, n text, late text, new text) SERVER arrow_fdw OPTIONS (files '{found_folder}/a-3.arrow')", DB)
equal(query("SELECT count(*), count(n), min(n) FROM found", DB), "3|3|007", "PostgreSQL reads them")
query(f"CREATE FOREIGN TABLE b (time timestamptz, tag text, one bigint, more bool) SERVER arrow_fdw OPTIONS (files '{found_folder}/b.arrow,{found_folder}/b-1.arrow', missing_columns 'null')", DB)
equal(query("SELECT count(*), sum(one), count(more) FROM b", DB), "3|6|1", "and files with more columns beside those with fewer")

# ---- @fluent-org/logger, where there is one ----
if os.environ.get("STROM_FLUENT_LOGGER"):
    (OUT / "logger_key").write_text("secret\n")
    (OUT / "logger_key").chmod(0o600)
    receiver = Receiver(str(OUT / "node.arrow"), "--infer-schema", f"--shared-key-file={OUT}/logger_key", "--flush-interval=20")
    sent = subprocess.run(["node", os.path.join(os.path.dirname(__file__), "fluent_logger.js"), str(receiver.port)], capture_output=True, text=True, timeout=300)
    status, out, err = receiver.stop()
    ok(sent.returncode == 0 and status == 0 and "2000 events" in out, "@fluent-org/logger has all of its answers", sent.stderr, out, err)
    found = sorted((row["mode"], row["i"], row["half"], row["text"], row["list"]) for row in rows(OUT / "node.arrow"))
    equal(found, sorted((mode, i, i + 0.5, f"ä{i}", f"[{i}]") for mode in ("Message", "Forward", "PackedForward", "CompressedPackedForward") for i in range(500)), "and its events are there")

# ---- Who has sent much does not wait for the flush ----
receiver = Receiver(str(OUT / "much.arrow"), "--schema=n:int64", "--flush-interval=3600000")
with receiver.connect() as link:
    for i in range(3):
        link.sendall(msgpack.packb(["t", packed([[1, {"n": i}]] * 200000), {"chunk": f"m{i}"}]))
        ok(acknowledged(link, f"m{i}"), "acknowledged long before")
    link.sendall(msgpack.packb(["t", 1, {"n": 7}, {"chunk": "few"}]))
status, out, err = receiver.stop()
ok("600001 events" in out and len(rows(OUT / "much.arrow")) == 600001, "and few at the end", out, err)

# ---- A folder that cannot be written to: events wait ----
blocked = OUT / "blocked"
blocked.write_text("a file where a folder should be")
receiver = Receiver(str(blocked / "x.arrow"), "--schema=n:int64", "--flush-interval=20")
with receiver.connect() as link:
    link.sendall(msgpack.packb(["t", 1, {"n": 1}, {"chunk": "w"}]))
    link.settimeout(0.5)
    try:
        link.recv(100)
        ok(False, "not acknowledged while it cannot be written")
    except TimeoutError:
        ok(True, "not acknowledged while it cannot be written")
    blocked.unlink()
    link.settimeout(60)
    ok(acknowledged(link, "w"), "acknowledged when it can")
status, out, err = receiver.stop(signal.SIGINT)
ok(status == 0 and "events wait" in err and "written again" in err, "both are told", err)

# ---- Keys, users, TLS ----
def sha(*parts):
    return hashlib.sha512(b"".join(parts)).hexdigest()


def greet(link, key=b"secret", user=b"", password=b"", early=b""):
    """The answer to our PING; None when the connection was closed."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(link.recv(65536))
    hello, offer = unpacker.unpack()
    equal((hello, offer["keepalive"], len(offer["nonce"])), ("HELO", True, 16), "HELO")
    digest = sha(offer["auth"], user, password) if offer["auth"] else ""
    link.sendall(msgpack.packb(["PING", "client", b"salt", sha(b"salt", b"client", offer["nonce"], key), user, digest]) + early)
    data = link.recv(65536)
    if not data:
        return None
    unpacker.feed(data)
    pong, welcome, reason, host, proof = unpacker.unpack()
    equal((pong, proof), ("PONG", sha(b"salt", host.encode(), offer["nonce"], key) if welcome else ""), "PONG")
    return welcome, reason


def secret(name, text, mode=0o600):
    path = OUT / name
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def certificate(name, *options):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", OUT / f"{name}.key", "-out", OUT / f"{name}.pem", *options], check=True, capture_output=True)
    return str(OUT / f"{name}.pem"), str(OUT / f"{name}.key")


event = msgpack.packb(["k", 1, {"n": 7}, {"chunk": "k"}])
key_file, users = secret("key", "secret\n"), secret("users", "ann:pass:word\nbob:x\n")
receiver = Receiver(str(OUT / "keys.arrow"), "--schema=n:int64", "--flush-interval=20", f"--shared-key-file={key_file}")
with receiver.connect() as link:
    equal(greet(link, early=event), (True, ""), "the shared key")
    ok(acknowledged(link, "k"), "then events are taken, also those that came with it")
with receiver.connect() as link:
    equal(greet(link, b"other", early=event), (False, "shared_key mismatch"), "another key")
    ok(is_closed(link), "ends the connection")
for name, data in (("no PING", event), ("a PING cut off", msgpack.packb(["PING", "h"])), ("a PING of numbers", msgpack.packb(["PING", 1, 2, 3, 4, 5])), ("too much", b"\xc6\x00\x10\x00\x00" + b"x" * 70000)):
    with receiver.connect() as link:
        link.recv(65536)
        ok(is_closed(link, data), f"{name}: the connection is closed")
status, out, err = receiver.stop()
ok(status == 0 and "1 events" in out and "is refused" in err and len(rows(OUT / "keys.arrow")) == 1, "events of strangers are not taken", status, out, err)
receiver = Receiver(str(OUT / "users.arrow"), "--schema=n:int64", "--flush-interval=20", f"--shared-key-file={key_file}", f"--users-file={users}")
for user, password, answer in ((b"ann", b"pass:word", (True, "")), (b"ann", b"x", (False, "username/password mismatch")), (b"", b"", (False, "username/password mismatch")), (b"bob", b"x", (True, ""))):
    with receiver.connect() as link:
        equal(greet(link, user=user, password=password), answer, f"user {user}")
receiver.stop()
server, client = certificate("server"), certificate("client")
trusting = ssl.create_default_context(cafile=server[0])
receiver = Receiver(str(OUT / "tls.arrow"), "--schema=n:int64", "--flush-interval=20", f"--tls-cert={server[0]}", f"--tls-key={server[1]}", f"--shared-key-file={key_file}")
silent = receiver.connect()
with trusting.wrap_socket(receiver.connect(), server_hostname="127.0.0.1") as link:
    equal(greet(link), (True, ""), "the key by TLS")
    for i in range(20):
        link.sendall(msgpack.packb(["k", packed([[1, {"n": i}]] * 20000), {"chunk": f"t{i}"}]))
    answers = msgpack.Unpacker()
    found = []
    while len(found) < 20 and (data := link.recv(65536)):
        answers.feed(data)
        found += [answer["ack"] for answer in answers]
    equal(found, [f"t{i}" for i in range(20)], "events by TLS")
with receiver.connect() as link:
    link.sendall(event * 10)
    try:
        ok(link.recv(100)[:1] in (b"", b"\x15"), "a client without TLS gets an alert, or nothing")
    except ConnectionResetError:
        ok(True, "a client without TLS gets nothing")
status, out, err = receiver.stop()
ok(status == 0 and "400000 events" in out, "all have come by TLS", status, out, err)
receiver = Receiver(str(OUT / "mutual.arrow"), "--schema=n:int64", "--flush-interval=20", f"--tls-cert={server[0]}", f"--tls-key={server[1]}", f"--tls-ca={client[0]}")
known = ssl.create_default_context(cafile=server[0])
known.load_cert_chain(*client)
with known.wrap_socket(receiver.connect(), server_hostname="127.0.0.1") as link:
    link.sendall(event)
    ok(acknowledged(link, "k"), "a client with a certificate")
try:
    with trusting.wrap_socket(receiver.connect(), server_hostname="127.0.0.1") as link:
        link.sendall(event)
        ok(is_closed(link), "a client without one")
except (ssl.SSLError, ConnectionError) as error:
    ok(True, "a client without one", error)
status, out, err = receiver.stop()
ok(status == 0 and "1 events" in out, "is not served", out, err)
for arguments, code, text in (([f"--users-file={users}"], 2, "needs --shared-key-file"), ([f"--tls-cert={server[0]}"], 2, "need each other"), ([f"--tls-ca={server[0]}"], 2, "needs --tls-cert"),
                              ([f"--shared-key-file={secret('open', 'x', 0o644)}"], 1, "everybody"), ([f"--shared-key-file={secret('empty', '')}"], 1, "nothing in"),
                              ([f"--shared-key-file={OUT}/nowhere"], 1, "No such file"), ([f"--shared-key-file={key_file}", f"--users-file={secret('no password', 'ann')}"], 1, "USER:PASSWORD"),
                              ([f"--tls-cert={server[0]}", f"--tls-key={client[1]}"], 1, "could not use the key"), ([f"--tls-cert={key_file}", f"--tls-key={client[1]}"], 1, "could not use the certificate")):
    status, out, err = run("fluent2arrow", "-L", "127.0.0.1:0", "-o", OUT / "x.arrow", *arguments)
    ok(status == code and text in err, " ".join(arguments), status, err)

# ---- Options ----
first = Receiver(str(OUT / "o.arrow"))
for arguments, code, text in ((["-o", "x"], 1, "could not listen"), ([], 2, "no file"), (["-o", "a%Q"], 2, "%Q"), (["-o", "x", "--schema=a:nope"], 2, "nope"),
                              (["-o", "x", "--schema=time:int8"], 2, "two columns"), (["-o", "x", "-L", "nowhere"], 1, "no address"),
                              (["-o", "x", "--wrong=skip"], 2, "needs --schema"), (["-o", "x", "--http-limit=1m"], 2, "needs --http"), (["-o", "x", "--syslog-tag=s"], 2, "needs --syslog-tcp"), (["-o", "x/"], 2, "folder")):
    status, out, err = run("fluent2arrow", *(["-L", f"127.0.0.1:{first.port}"] if "-L" not in arguments else []), *arguments, cwd=OUT)
    ok(status == code and text in err, " ".join(arguments), status, err)
first.stop()
unix = OUT / "s.sock"
for number in range(2):
    process = subprocess.Popen([program("fluent2arrow"), "-L", str(unix), "-o", str(OUT / "u.arrow")], stdout=subprocess.PIPE)
    process.stdout.readline()
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(unix))
        link.sendall(msgpack.packb(["t", 1, {"n": 1}, {"chunk": f"u{number}"}]))
        ok(acknowledged(link, f"u{number}"), "a UNIX socket")
    process.kill()
    process.wait()
equal(len(rows(OUT / "u.arrow")), 2, "also after a kill left it behind")
done()
