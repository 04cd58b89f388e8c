#!/usr/bin/env python3
"""The plugin arrow_file of Fluentd (ruby/): types, policies, names of files, statistics, kills, writers side by side, what PostgreSQL
reads. Without Fluentd, by fluentd/drive.rb; with STROM_FLUENTD, the path of a Fluentd, also by that."""
import datetime
import decimal
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import time

import pyarrow as pa
import pyarrow.ipc as ipc

from checks import done, equal, fill, folder, fresh_database, leftovers, ok, query, small_disk, wait_until

HERE = pathlib.Path(__file__).resolve().parent
RUBY = HERE.parent.parent / "ruby" / "lib"
OUT = folder("fluent_plugin")
OUT.chmod(0o755)
rng = random.Random(3)
UTC = datetime.timezone.utc


def start():
    return subprocess.Popen(["ruby", "-w", f"-I{RUBY}", f"-I{HERE}/fluentd", str(HERE / "fluentd" / "drive.rb")], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def drive(*orders):
    """What the plugin answers to each {conf, chunks}."""
    out, err = start().communicate("".join(json.dumps(order) + "\n" for order in orders), timeout=120)
    equal(err, "", "Ruby has no warnings")
    return [json.loads(line) for line in out.splitlines()]


def chunk(records, tag="web", **more):
    return {"tag": tag, "events": [[1700000000 + i, 123456789, record] for i, record in enumerate(records)], **more}


def write(conf, *chunks):
    return drive({"conf": conf, "chunks": list(chunks)})[0]


def table(path):
    found = ipc.open_file(str(path)).read_all()
    found.validate(full=True)
    return found


# ---- Every type, in every compression: what becomes a value, what becomes NULL ----
TYPES = {
    "Bool": (pa.bool_(), [(True, True), ("off", False), (1, True), ("maybe", None), (2, None), ("T", True)]),
    "Int8": (pa.int8(), [(127, 127), (-128, -128), (128, None), ("5", 5), (2.0, 2), (2.5, None), ("x", None), (True, None)]),
    "Int16": (pa.int16(), [(32767, 32767), (32768, None)]),
    "Int32": (pa.int32(), [(-2**31, -2**31), (2**31, None), (1e300, None)]),
    "Int64": (pa.int64(), [(2**63 - 1, 2**63 - 1), (2**63, None), (" -7 ", -7)]),
    "Uint8": (pa.uint8(), [(255, 255), (-1, None), (256, None)]),
    "Uint16": (pa.uint16(), [(65535, 65535), (65536, None)]),
    "Uint32": (pa.uint32(), [(2**32 - 1, 2**32 - 1), (2**32, None)]),
    "Uint64": (pa.uint64(), [(2**64 - 1, 2**64 - 1), (2**64, None)]),
    "Float16": (pa.float16(), [(1.5, 1.5), (65519, 65504.0), (65520, float("inf")), (6e-8, 5.960464477539063e-08), (-0.1, -0.0999755859375), (1e-9, 0.0), (2049, 2048.0), (2051, 2052.0)]),
    "Float32": (pa.float32(), [(0.5, 0.5), ("-Infinity", float("-inf")), ([], None)]),
    "Float64": (pa.float64(), [(0.1, 0.1), ("1e3", 1000.0), (7, 7.0), ("seven", None), ("1_0", None)]),
    "Decimal": (pa.decimal128(38, 9), [(1, decimal.Decimal("1.000000000")), ("0.0000000005", decimal.Decimal("0.000000001"))]),
    "Decimal128(10,2)": (pa.decimal128(10, 2), [("-12.345", decimal.Decimal("-12.35")), (0.1, decimal.Decimal("0.10")), ("1e9999", None), (10**8, None), ("1e999999999", None),
                                               (99999999, decimal.Decimal("99999999.00"))]),
    "Timestamp[sec]": (pa.timestamp("s"), [(5, datetime.datetime(1970, 1, 1, 0, 0, 5)), ("2024-02-29 12:34:56", datetime.datetime(2024, 2, 29, 12, 34, 56)), ("2023-02-29", None)]),
    "Timestamp[ms]": (pa.timestamp("ms"), [(1.5, datetime.datetime(1970, 1, 1, 0, 0, 1, 500000)), ("1969-12-31T23:59:59.999Z", datetime.datetime(1969, 12, 31, 23, 59, 59, 999000))]),
    "Timestamp": (pa.timestamp("us"), [("2024-01-01T00:00:00+09:30", datetime.datetime(2023, 12, 31, 14, 30)), ("yesterday", None), (1e300, None), ("2024-01-01 24:00", None)]),
    "Timestamp[us,UTC]": (pa.timestamp("us", "UTC"), [("2024-01-01 00:00:00.000001-0100", datetime.datetime(2024, 1, 1, 1, 0, 0, 1, UTC))]),
    "Time[sec]": (pa.time32("s"), [("12:34", datetime.time(12, 34)), (86400, None)]),
    "Time[ns]": (pa.time64("ns"), [("23:59:59.999999", datetime.time(23, 59, 59, 999999)), ("24:00:00", None)]),
    "Date": (pa.date32(), [("2024-02-29", datetime.date(2024, 2, 29)), ("0001-01-01", datetime.date(1, 1, 1)), (5, None), ("2024-13-01", None)]),
    "Date[ms]": (pa.date64(), [("1969-12-31", datetime.date(1969, 12, 31))]),
    "Utf8": (pa.utf8(), [("ä", "ä"), (5, "5"), ({"a": [1, None]}, '{"a":[1,null]}'), ("", ""), (True, "true")]),
    "Binary": (pa.binary(), [("ä", "ä".encode())]),
    "Ipaddr4": (pa.binary(4), [("192.168.0.1", bytes([192, 168, 0, 1])), ("1.2.3.256", None), ("1.2.3", None), ("::1", None)]),
    "Ipaddr6": (pa.binary(16), [(text, socket.inet_pton(socket.AF_INET6, text)) for text in ("::", "::1", "1::", "fe80::1:2", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4")]
                + [(text, None) for text in ("1.2.3.4", ":::", "1:2:3:4:5:6:7", "1::2::3", "g::", "1:2:3:4:5:6:7:8:9", "::1.2.3", "1:2:3:4:5:6:7::8")]),
}
names = [f"c{i}" for i in range(len(TYPES))]
rows = max(len(cases) for _, cases in TYPES.values())
records = [{name: cases[i][0] for name, (_, cases) in zip(names, TYPES.values()) if i < len(cases)} for i in range(rows)]
orders = [{"conf": {"path": str(OUT / f"types-{codec.replace(':', '')}.arrow"), "compression": codec, "schema_defs": ",\n  ".join(map("=".join, zip(names, TYPES)))},
           "chunks": [chunk(records)]} for codec in ("none", "lz4", "zstd", "zstd:19")]
equal(drive(*orders), [{"errors": []}] * 4, "every type")
for order in orders:
    found = table(order["conf"]["path"])
    equal(found.schema.types, [type_ for type_, _ in TYPES.values()], "types")
    for name, (text, (_, cases)) in zip(names, TYPES.items()):
        equal(list(map(str, found[name].to_pylist())), [str(wanted) for _, wanted in cases] + ["None"] * (rows - len(cases)), f"values of {text}")

# ---- Times, tags and policies ----
SCHEMA = "ts=Timestamp[ns,UTC],tag=Utf8,host=Utf8;stat_enabled,status=Int16,note=Float64;stat_disabled"
BASE = {"schema_defs": SCHEMA, "ts_column": "ts", "tag_column": "tag"}
good = {"host": "h1", "status": 200, "note": 0.5}
records = [good, {"host": "h2"}, {**good, "more": [1]}, {**good, "status": 70000, "host": "h" * 40}, {**good, "note": None}]
answers = drive(*({"conf": {**BASE, "path": str(OUT / f"policy-{name}.arrow"), **more}, "chunks": [chunk(records)]} for name, more in (
    ("default", {}), ("missing", {"missing_key": "error"}), ("extra", {"extra_key": "error"}), ("wrong", {"wrong_value": "error"}),
    ("text", {"extra_key": "text", "wrong_value": "text", "text_column": "rest"}), ("text2", {"wrong_value": "text"}))))
equal([[message for _, _, message in answer["errors"]] for answer in answers],
      [[], ['a record without a value for "status"'], ['a record with the key "more", which has no column'],
       ['a value that does not fit into column "status": 70000'], [], []], "what is refused")
columns = {name: table(OUT / f"policy-{name}.arrow") for name in ("default", "missing", "extra", "wrong", "text", "text2")}
equal([columns[name].num_rows for name in columns], [5, 4, 4, 4, 5, 5], "the others are written")
equal(columns["default"]["status"].to_pylist(), [200, None, 200, None, 200], "wrong values are NULL")
equal([json.loads(text) if text else None for text in columns["text"]["rest"].to_pylist()], [None, None, {"more": [1]}, {"status": 70000}, None], "what is kept as text")
equal([json.loads(text) if text else None for text in columns["text2"]["extra"].to_pylist()], [None, None, None, {"status": 70000}, None], "wrong values alone")
equal(columns["default"]["ts"].cast(pa.int64()).to_pylist(), [(1700000000 + i) * 10**9 + 123456789 for i in range(5)], "times of events")
equal(columns["default"]["tag"].to_pylist(), ["web"] * 5, "tags")
metadata = {field.name: field.metadata or {} for field in columns["default"].schema}
equal(metadata["host"], {b"min_values": b'"h1"', b"max_values": b'"' + b"h" * 31 + b'i"'}, "bounds of texts")
equal((metadata["note"], metadata["tag"], metadata["status"]), ({}, {}, {b"min_values": b"200", b"max_values": b"200"}), "bounds of others")

# ---- Bytes that are no UTF-8, NUL, numbers that JSON does not have: each is one value's matter ----
BAD, NUL = {"hex": "ff0080"}, "x\0y"
KINDS = ("Utf8", "Binary", "Int32", "Uint64", "Float64", "Bool", "Timestamp", "Date", "Time", "Decimal", "Ipaddr4", "Ipaddr6")
odd = {"schema_defs": ",".join(f"c{i}={kind}" for i, kind in enumerate(KINDS)), "extra_key": "text", "wrong_value": "text", "text_column": "rest"}
deep = 0
for _ in range(120):
    deep = [deep]
every = {f"c{i}": BAD for i in range(len(KINDS))}
answer = write({**odd, "path": str(OUT / "odd.arrow")}, chunk([{"c2": 1}, every, {"c0": {"a": [BAD, NUL, float("nan"), float("-inf"), {NUL: 1}]}, "x": [BAD, NUL, float("inf")]},
                                                              {"c0": NUL, "c1": NUL, "c2": NUL, "c8": float("nan"), "c4": float("nan")}, {"c0": deep}, {"c1": [NUL]}, {"c2": 2}]))
equal([message for _, _, message in answer["errors"]], ["a record that cannot be stored: ArgumentError: a value that is nested too deeply"], "one record is refused, and its chunk is not")
found = table(OUT / "odd.arrow")
equal(found["c2"].to_pylist(), [1, None, None, None, None, 2], "the others are written")
equal(found["c1"].to_pylist()[1:5], [b"\xff\0\x80", None, b"x\0y", b'["x\xef\xbf\xbdy"]'], "bytes stay as they are")
equal(found["c0"].to_pylist()[1:4], ["\ufffd" * 3, '{"a":["\ufffd\ufffd\ufffd","x\ufffdy","NaN","-Infinity",{"x\ufffdy":1}]}', "x\ufffdy"], "texts have neither NUL nor broken characters")
rest = [text and json.loads(text) for text in found["rest"].to_pylist()]
equal(rest[:3], [None, {f"c{i}": "\ufffd" * 3 for i in range(2, len(KINDS))}, {"x": ["\ufffd\ufffd\ufffd", "x\ufffdy", "Infinity"]}], "nor has what is kept as text")
equal(rest[3:], [{"c2": "x\ufffdy", "c8": "NaN"}, None, None], "and numbers that JSON does not have are texts")
answer = write({**odd, "wrong_value": "error", "path": str(OUT / "odd2.arrow")}, chunk([{"c2": 1}, {"c5": BAD}, {"c2": 3}]))
ok(len(answer["errors"]) == 1 and 'column "c5"' in answer["errors"][0][2], "a refused value", answer)
equal(table(OUT / "odd2.arrow")["c2"].to_pylist(), [1, 3], "is its record's matter")

# ---- Names ----
now = datetime.datetime.now()
answers = drive(*({"conf": {**BASE, "path": str(OUT / path), **more}, "chunks": chunks} for path, more, chunks in (
    ("a/${tag}/%Y-%y-%m-%d%%.arrow", {}, [chunk([good], "../x/y"), chunk([good], "../x/y"), chunk([good], "")]),
    ("b/%Y%m%d_%H%M%S.arrow", {}, [chunk([good], timekey=86400 * 365)]), ("c/${key}_%p.arrow", {}, [chunk([good], variables={"key": ".hidden/%d"})]),
    ("d/${chunk_id}.arrow", {}, [chunk([good], id="one"), chunk([good] * 2, id="two"), chunk([good], id="one")]),
    ("e/grows.arrow", {"filesize_threshold": "20k"}, [chunk([good] * 100, id=str(i)) for i in range(12)]), ("f/none.arrow", {}, [chunk([])]))))
equal([answer["errors"] for answer in answers], [[]] * 6, "names are good")
day = now.strftime("%Y-%y-%m-%d%%")
files = sorted(str(path.relative_to(OUT)) for letter in "abcdef" for path in (OUT / letter).rglob("*") if path.is_file())
equal(files[:4], [f"a/_.._x_y/{day}-1.arrow", f"a/_.._x_y/{day}.arrow", f"a/_/{day}.arrow", "b/19710101_000000.arrow"], "tags, times and numbers")
ok(files[4].startswith("c/_.hidden__d_") and files[4].split("_")[-1][:-6].isdigit(), "keys and processes", files[4])
equal(files[5:7], ["d/one.arrow", "d/two.arrow"], "a chunk that comes again is there already")
grown = [table(OUT / path) for path in files[7:]]
ok(2 <= len(grown) <= 6 and sum(part.num_rows for part in grown) == 1200 and all((OUT / path).stat().st_size <= 20480 for path in files[7:]), "files grow up to a size", files[7:])
reader = ipc.open_file(str(OUT / files[7]))
equal(reader.schema.field("status").metadata[b"min_values"], b",".join([b"200"] * reader.num_record_batches), "bounds of each record batch")

# ---- What the configuration must not have ----
answers = drive(*({"conf": {**BASE, "path": str(OUT / "x.arrow"), **more}, "chunks": []} for more in (
    {"schema_defs": "a"}, {"schema_defs": "a=Int7"}, {"schema_defs": "a=Int8,a=Int8"}, {"schema_defs": "a=Int8;fast"}, {"schema_defs": "a=Bool;stat_enabled"}, {"schema_defs": " , "},
    {"ts_column": "tag"}, {"tag_column": "nope"}, {"compression": "gzip"}, {"compression": "zstd:23"}, {"compression": "lz4:3"}, {"format": "parquet"}, {"wrong_value": "maybe"},
    {"chunk_keys": ["time"]}, {"wrong_value": "text", "text_column": "host"}, {"schema_defs": "a=Decimal(39,2)"}, {"schema_defs": "a=Timestamp[min]"}, {"path": "x/${nope}.arrow"})))
for answer, text in zip(answers, ("not NAME=TYPE", "no type", "two columns", "stat_enabled", "no statistics", "no columns", "another type", "no column", "no compression", "levels 1 to 22",
                                  "only zstd", "not in the list", "not in the list", "need tag", "has a column", "no type", "no type", "no key of chunks")):
    ok(answer.get("failure", "").startswith("Fluent::ConfigError") and text in answer["failure"], f"refused: {text}", answer)
ok("failure" in write({**BASE, "path": "/proc/nowhere/x.arrow"}, chunk([good])), "a folder that cannot be made fails, and the chunk stays with Fluentd")

# ---- Killed at any instant, and others in the same folder: files are whole, none is lost or replaced ----
LIVE = OUT / "live"


def size_of(path):
    """Of the files that are whole; one may be replaced meanwhile."""
    return sum(name.stat().st_size for name in path.glob("*.arrow") if name.exists())


written = 0
for round_ in range(6):
    order = {"conf": {**BASE, "path": str(LIVE / "k.arrow"), "compression": "zstd", "filesize_threshold": "60k" if round_ % 2 else "0"}, "chunks": [chunk([good] * 200)], "times": 100000}
    before = size_of(LIVE)
    processes = [start() for _ in range(2)]
    for process in processes:
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
    wait_until(lambda: size_of(LIVE) > before)
    time.sleep(rng.uniform(0, 0.4))
    for process in processes:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    found = sum(table(path).num_rows for path in LIVE.glob("*.arrow"))
    ok(found > written and found % 200 == 0, f"round {round_}: whole files", found, written)
    written = found
write({**BASE, "path": str(LIVE / "k.arrow")}, chunk([good]))
equal(leftovers(LIVE), [], "nothing is left of what was killed")

# ---- A full disk: the chunk stays with Fluentd, and comes again ----
if os.geteuid() == 0:
    with small_disk(OUT / "small", "1m") as small:
        for threshold in ("0", "100m"):
            process = start()

            def order(**what):
                process.stdin.write(json.dumps(what) + "\n")
                process.stdin.flush()
                return json.loads(process.stdout.readline())

            conf = {"path": str(small / f"{threshold}.arrow"), "schema_defs": "n=Int64", "filesize_threshold": threshold}
            first, second = ([chunk([{"n": n} for n in range(begin, begin + 10000)], id=str(begin))] for begin in (0, 10000))
            equal(order(conf=conf, chunks=first), {"errors": []}, "while there is room")
            fill(small / "filler")
            for _ in range(3):
                answer = order(chunks=second)
                ok(answer.get("failure", "").startswith("Errno::ENOSPC"), "a full disk is an error", answer)
                equal(table(small / f"{threshold}.arrow")["n"].to_pylist(), list(range(10000)), "the file is as it was")
                equal(sorted(path.name for path in small.iterdir()), [f"{threshold}.arrow", "filler"], "and nothing else is left")
            (small / "filler").unlink()
            equal(order(chunks=second), {"errors": []}, "when there is room again, the chunk is written")
            equal(process.communicate(timeout=60)[1], "", "Ruby has no warnings")
            paths = [small / f"{threshold}.arrow", small / f"{threshold}-1.arrow"][:2 if threshold == "0" else 1]
            equal([n for path in paths for n in table(path)["n"].to_pylist()], list(range(20000)), "once")
            for path in paths:
                path.unlink()

# ---- PostgreSQL ----
conf = {"path": str(OUT / "sql" / "${tag}_%Y%m%d.arrow"), "ts_column": "ts", "tag_column": "tag", "extra_key": "text", "compression": "lz4",
        "schema_defs": "ts=Timestamp[us,UTC],tag=Utf8,addr=Ipaddr4,addr6=Ipaddr6,status=Int16,bytes=Int64,cost=Decimal(10,2)"}
for part in range(4):
    write(conf, chunk([{"addr": f"10.0.{part}.{i % 250}", "addr6": f"fe80::{i % 9}", "status": 200 + part, "bytes": i, "cost": i / 4, "x": i} for i in range(1000)], f"web{part}"))
DB = fresh_database("strom_fluent_plugin")
query(f"IMPORT FOREIGN SCHEMA logs FROM SERVER arrow_fdw INTO public OPTIONS (dir '{OUT}/sql', suffix 'arrow')", DB)
equal(query("SELECT string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'logs'::regclass AND attnum > 0", DB),
      "ts timestamp with time zone, tag text, addr inet, addr6 inet, status smallint, bytes bigint, cost numeric, extra jsonb", "types in PostgreSQL")
equal(query("SELECT count(*), sum(bytes), sum(cost), sum((extra->>'x')::int), count(DISTINCT addr), min(addr6), max(ts AT TIME ZONE 'UTC') FROM logs", DB),
      "4000|1998000|499500.00|1998000|1000|fe80::|2023-11-14 22:29:59.123456", "values in PostgreSQL")
ok("skipped: 3" in query("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT sum(bytes) FROM logs WHERE status = 202", DB), "record batches are skipped by their bounds",
   query("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT sum(bytes) FROM logs WHERE status = 202", DB))
equal(query("SELECT count(*) FROM logs WHERE status = 202", DB), "1000", "and the answer is right")


# ---- A real Fluentd, as the page for users says ----
def as_the_page_says(fluentd):
    page = (HERE.parent.parent / "docs" / "user" / "fluentd.md").read_text()
    conf, sql = re.search(r"```\n(# fluent.conf\n.*?)```\n```sql\n(.*?)```", page, re.DOTALL).groups()
    home = OUT / "real"
    (home / "logs").mkdir(parents=True)
    for place, ours in (("/var/log/nginx", home), ("/var/lib/fluentd", home), ("/data/logs", home / "logs")):
        conf, sql = conf.replace(place, str(ours)), sql.replace(place, str(ours))
    (home / "fluent.conf").write_text(conf.replace("  tag web", "  read_from_head true\n  tag web").replace("flush_interval 5s", "flush_interval 1s"))
    stamp = datetime.datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    (home / "access.log").write_text("".join(f'10.0.0.{i % 9} - - [{stamp}] "GET /{i} HTTP/1.1" {500 if i % 10 == 0 else 200} {i} "-" "agent"\n' for i in range(5000)))
    process = subprocess.Popen(["ruby", f"{fluentd}/bin/fluentd", "-p", str(RUBY / "fluent" / "plugin"), "-c", str(home / "fluent.conf")],
                               env={**os.environ, "RUBYLIB": f"{fluentd}/lib:{RUBY}"}, stdout=(home / "log").open("w"), stderr=subprocess.STDOUT)
    ok(wait_until(lambda: sum(table(path).num_rows for path in (home / "logs").glob("*.arrow")) == 5000, 60), "events in files")
    process.terminate()
    equal(process.wait(60), 0, "Fluentd ends")
    (home / "fluent.conf").write_text(conf.replace("${tag}_%Y%m%d", "all_%p").replace("web.**", "web.** nothing"))
    check = subprocess.run(["ruby", f"{fluentd}/bin/fluentd", "--dry-run", "-p", str(RUBY / "fluent" / "plugin"), "-c", str(home / "fluent.conf")],
                           env={**os.environ, "RUBYLIB": f"{fluentd}/lib:{RUBY}"}, capture_output=True, text=True)
    equal(check.returncode, 0, "names need not have the keys of chunks")
    answer = query(sql, DB)
    rows_ = [line.split("|") for line in answer.splitlines() if "|" in line]
    equal([sum(int(row[i]) for row in rows_) for i in (1, 2, 3)], [5000, 500, sum(range(5000))], "the page's query")


if "STROM_FLUENTD" in os.environ:
    as_the_page_says(os.environ["STROM_FLUENTD"])
done()
