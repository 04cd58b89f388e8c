#!/usr/bin/env python3
"""arrow2csv: every unit and every type, in each style and nested, read back and compared with what pyarrow has."""
import csv
import datetime
import io
import json
import random
import re

import pyarrow as pa

from checks import done, equal, folder, fresh_database, ok, query, run, write_batches

OUT = folder("arrow2csv_units")
rng = random.Random(7)
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def rows(column, *options):
    """The column's texts as CSV, and as values of JSON."""
    batch = pa.record_batch([column], names=["v"])
    path = write_batches(OUT / "v.arrow", [batch])
    status, out, err = run("arrow2csv", "--null=<null>", *options, path)
    ok(status == 0, f"{column.type}: CSV", err)
    status, lines, err = run("arrow2csv", "--ndjson", *options, path)
    ok(status == 0, f"{column.type}: JSON", err)
    return [r[0] if r else "" for r in csv.reader(io.StringIO(out))], [json.loads(line)["v"] for line in lines.split("\n")[:-1]]


def clock(text):
    """Nanoseconds of [-]HH:MM:SS[.fraction]."""
    sign, hours, minutes, seconds, fraction = re.fullmatch(r"([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?", text).groups()
    nanos = ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 10**9 + int((fraction or "0").ljust(9, "0"))
    return -nanos if sign == "-" else nanos


def interval(text):
    """Months, days, nanoseconds."""
    months = days = nanos = 0
    for number, unit in re.findall(r"([+-]?\d+) (year|mon|day)s?", text):
        months += int(number) * {"year": 12, "mon": 1, "day": 0}[unit]
        days += int(number) if unit == "day" else 0
    rest = re.search(r"[+-]?\d+:\d\d:\d\d(\.\d+)?$", text)
    return months, days, clock(rest.group(0)) if rest else 0


def stamp(text):
    """Nanoseconds since 1970 of a date and a time, whatever the year."""
    year, rest, era = re.fullmatch(r"(\d+)(-.*?)( BC)?", text).groups()
    number = 1 - int(year) if era else int(year)
    date, time = re.split("[ T]", rest)
    time = time.replace("+00:00", "").replace("+00", "")
    periods, in_period = divmod(number, 400)
    day = datetime.date(in_period + 2000, int(date[1:3]), int(date[4:6])).toordinal() - datetime.date(2000, 1, 1).toordinal()
    days = day + (periods - 5) * 146097 + (datetime.date(2000, 1, 1) - datetime.date(1970, 1, 1)).days
    return days * 86400 * 10**9 + clock(time)


def numbers(low, high):
    return [low, high, 0, 1, -1 if low < 0 else 2] + [rng.randint(low, high) for _ in range(20)] + [None]


def both(column, wanted, parse, name):
    """The same in CSV, in JSON, in lists and structs."""
    texts, values = rows(column)
    equal([None if t == "<null>" else parse(t) for t in texts], wanted, f"{name}: CSV")
    equal([None if v is None else parse(str(v)) for v in values], wanted, f"{name}: JSON")
    nested = pa.array([[v] for v in range(len(column))], pa.list_(pa.int64()))
    nested = pa.ListArray.from_arrays(nested.offsets, column)
    equal([None if v[0] is None else parse(str(v[0])) for v in rows(nested)[1]], wanted, f"{name}: in lists")
    struct = pa.StructArray.from_arrays([column], names=["x"])
    equal([None if v["x"] is None else parse(str(v["x"])) for v in rows(struct)[1]], wanted, f"{name}: in structs")


for unit, per_second in UNITS.items():
    nanos = 10**9 // per_second
    kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    values = numbers(0, 86400 * per_second - 1)
    both(pa.array(values, pa.int32() if unit in ("s", "ms") else pa.int64()).view(kind), [None if v is None else v * nanos for v in values], clock, str(kind))
    values = numbers(-2**63, 2**63 - 1)
    both(pa.array(values, pa.int64()).view(pa.duration(unit)), [None if v is None else v * nanos for v in values], clock, f"duration {unit}")
    low = max(-2**63, -210866803200 * per_second)
    values = numbers(low, min(2**63 - 1, 9224318016000 * per_second))
    for zone in (None, "Asia/Tokyo"):
        both(pa.array(values, pa.int64()).view(pa.timestamp(unit, zone)), [None if v is None else v * nanos for v in values], stamp, f"timestamp {unit} {zone}")

values = [pa.MonthDayNano([m, d, n]) for m, d, n in [(0, 0, 0), (1, -1, 1), (-14, 400, -1), (2**31 - 1, -2**31, 2**63 - 1), (-2**31, 2**31 - 1, -2**63), (0, 0, 123456789),
                                                     (0, 3, -999), (12, 0, 86400 * 10**9)]]
column = pa.array(values, pa.month_day_nano_interval())
both(column, [(v.months, v.days, v.nanoseconds) for v in values], interval, "interval")

# Everything else is what pyarrow has.
for kind, values in ((pa.bool_(), [True, False, None]), (pa.int8(), numbers(-2**7, 2**7 - 1)), (pa.uint8(), numbers(0, 2**8 - 1)),
                     (pa.int16(), numbers(-2**15, 2**15 - 1)), (pa.uint16(), numbers(0, 2**16 - 1)), (pa.int32(), numbers(-2**31, 2**31 - 1)),
                     (pa.uint32(), numbers(0, 2**32 - 1)), (pa.int64(), numbers(-2**63, 2**63 - 1)), (pa.uint64(), numbers(0, 2**64 - 1)),
                     (pa.float64(), [0.1, -0.0, 1e300, 5e-324, 2**53 + 2.0, None]), (pa.string(), ["", "a", '"', "\\", "\x01\x1f", "é€😀", "null", "N", None]),
                     (pa.large_string(), ["", "a", None]), (pa.string_view(), ["", "long enough not to be inline", None])):
    column = pa.array(values, kind)
    equal(rows(column)[1], values, f"{kind}: JSON")
    offsets = pa.array(range(len(values) + 1), pa.int32())
    equal([v[0] for v in rows(pa.ListArray.from_arrays(offsets, column))[1]], values, f"{kind}: JSON, in lists")
    equal(rows(column.dictionary_encode())[1] if not pa.types.is_string_view(kind) else values, values, f"{kind}: JSON, from a dictionary")
for kind in (pa.float16(), pa.float32()):
    values = [0.5, -0.0, 1.5, 65504.0, None]
    equal([None if v is None else float(v) for v in rows(pa.array(values, kind))[1]], values, f"{kind}: JSON")

# Bytes: what comes out is what went in, in each style.
for kind, values in ((pa.binary(4), [b"\x00\x01\x7f\xff", b"\\x\\n", b'"\t\r\n', None]), (pa.binary(), [b"\x00\xff", b"", b"\\", None]),
                     (pa.large_binary(), [b"\x00\xff", b"", None]), (pa.binary_view(), [b"\x00" * 20, b"", None])):
    column = pa.array(values, kind)
    for options in (["--csv", "--binary=hex"], ["--tsv", "--binary=hex", "--null=<null>"]):
        path = write_batches(OUT / "b.arrow", [pa.record_batch([column], names=["v"])])
        status, out, err = run("arrow2csv", *options, path)
        texts = [line.replace("\\\\", "\\") if "--tsv" in options else line for line in out.splitlines()]
        equal([bytes.fromhex(t[2:]) if t.startswith("\\x") else None for t in texts], values, f"{kind} {options}")
    equal([None if v is None else bytes.fromhex(v[2:]) for v in rows(column, "--binary=hex")[1]], values, f"{kind}: JSON")
    offsets = pa.array(range(len(values) + 1), pa.int32())
    equal([None if v[0] is None else bytes.fromhex(v[0][2:]) for v in rows(pa.ListArray.from_arrays(offsets, column), "--binary=hex")[1]], values, f"{kind}: JSON, in lists")

# A script makes a table of the same values, lists and bytes included.
DB = fresh_database("strom_arrow2csv_units")
COLUMNS = {
    "i": (pa.list_(pa.int32()), [[1, None, 3], [], None], "integer[]", ["{1,NULL,3}", "{}", None]),
    "t": (pa.large_list(pa.string()), [['a"b\\c', "", "NULL", "{,}", "tab\t"], [None], None], "text[]", ['{"a\\"b\\\\c","","NULL","{,}","tab\t"}', "{NULL}", None]),
    "d": (pa.list_(pa.date32(), 2), [[datetime.date(2024, 2, 29), None], [datetime.date(1, 1, 1)] * 2, None], "date[]", ["{2024-02-29,NULL}", "{0001-01-01,0001-01-01}", None]),
    "b": (pa.list_(pa.binary()), [[b"\x00\xff", b"\\"], [], None], "bytea[]", ['{"\\\\x00ff","\\\\x5c"}', "{}", None]),
    "f": (pa.list_(pa.binary(2)), [[b"\x00\xff"], [], None], "bytea[]", ['{"\\\\x00ff"}', "{}", None]),
    "bo": (pa.list_(pa.bool_()), [[True, False], [], None], "boolean[]", ["{t,f}", "{}", None]),
    "ts": (pa.list_view(pa.timestamp("us", "UTC")), [[datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)], [], None], "timestamp with time zone[]", ['{"2024-01-01 00:00:00+00"}', "{}", None]),
    "n": (pa.list_(pa.list_(pa.int8())), [[[1], [2, 3]], [], None], "jsonb", ["[[1], [2, 3]]", "[]", None]),
    "s": (pa.struct([("x", pa.int8()), ("y", pa.string())]), [{"x": 1, "y": "z"}, None, None], "jsonb", ['{"x": 1, "y": "z"}', None, None]),
    "c": (pa.binary(3), [b"ab ", b"xyz", None], "character(3)", ["ab ", "xyz", None]),
    "x": (pa.binary(3), [b"ab\x00", b"\\xy", None], "bytea", ["\\x616200", "\\x5c7879", None]),
}
batch = pa.record_batch([pa.array(v[1], v[0]) for v in COLUMNS.values()], names=list(COLUMNS))
path = write_batches(OUT / "script.arrow", [batch])
status, script, err = run("arrow2csv", "--create-table=copied", path)
ok(status == 0, "--create-table", err)
query("SET bytea_output = hex; SET timezone = 'UTC'; SET client_min_messages = warning;\n" + script, DB)
for name, (_, _, kind, texts) in COLUMNS.items():
    equal(query(f"SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'copied'::regclass AND attname = '{name}'", DB), kind, f"--create-table: type of {name}")
    found = query(f"SET timezone = 'UTC'; SELECT coalesce(json_agg({name}::text), '[]') FROM copied" if kind != "character(3)" else f"SELECT json_agg(CASE WHEN {name} IS NOT NULL THEN rpad({name}::text, 3) END) FROM copied", DB)
    equal(json.loads(found.splitlines()[-1]), texts, f"--create-table: values of {name}")
done()
