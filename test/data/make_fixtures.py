#!/usr/bin/env python3
"""Makes the Arrow files beside this script, which the regression tests read.

They are committed, so that the tests need no Python; run this only to change them:
    make_fixtures.py            (needs pyarrow and polars)
"""
import datetime
import decimal
import pathlib
import shutil

import polars
import pyarrow as pa

HERE = pathlib.Path(__file__).resolve().parent


def write(name, schema, batches, **options):
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    with pa.OSFile(str(path), "wb") as sink:
        with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            for batch in batches:
                writer.write_batch(batch)


def record_batch(schema, *columns):
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, schema)], schema=schema)


def all_types():
    """Every readable type: lowest and highest values, ordinary ones, and NULL."""
    date, stamp = datetime.date, datetime.datetime
    columns = [
        ("b", pa.bool_(), [True, False, True, None]),
        ("i1", pa.int8(), [-128, 127, 1, None]),
        ("i2", pa.int16(), [-32768, 32767, 2, None]),
        ("i4", pa.int32(), [-2**31, 2**31 - 1, 3, None]),
        ("i8", pa.int64(), [-2**63, 2**63 - 1, 4, None]),
        ("u1", pa.uint8(), [0, 255, 5, None]),
        ("u2", pa.uint16(), [0, 65535, 6, None]),
        ("u4", pa.uint32(), [0, 2**32 - 1, 7, None]),
        ("f4", pa.float32(), [float("-inf"), float("nan"), 8.5, None]),
        ("f8", pa.float64(), [float("inf"), -0.0, 9.25, None]),
        ("dec", pa.decimal128(38, 4),
         [decimal.Decimal("-" + "9" * 34 + ".9999"), decimal.Decimal("0.0010"), decimal.Decimal("12345.6700"), None]),
        ("dec0", pa.decimal128(20, 0), [decimal.Decimal(-10000), decimal.Decimal(0), decimal.Decimal(100000001), None]),
        ("d32", pa.date32(), [date(1, 1, 1), date(9999, 12, 31), date(2000, 1, 1), None]),
        ("d64", pa.date64(), [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), None]),
        ("ts_s", pa.timestamp("s"), [stamp(1, 1, 1), stamp(9999, 12, 31, 23, 59, 59), stamp(1970, 1, 1), None]),
        ("ts_ms", pa.timestamp("ms"), [stamp(1, 1, 1), stamp(2038, 1, 19, 3, 14, 8, 123000), stamp(1969, 12, 31), None]),
        ("ts_us", pa.timestamp("us"), [stamp(1, 1, 1), stamp(9999, 12, 31, 23, 59, 59, 999999), stamp(2000, 1, 1), None]),
        ("ts_ns", pa.timestamp("ns"), [-1, 1999, 0, None]),
        ("tstz", pa.timestamp("us", "Europe/Paris"), [stamp(2024, 7, 1, 12), stamp(1999, 12, 31, 23), stamp(1970, 1, 1), None]),
        ("s", pa.string(), ["", "short", "größer als zwölf Bytes", None]),
        ("ls", pa.large_string(), ["", "short", "日本語", None]),
        ("sv", pa.string_view(), ["", "twelve bytes", "more than twelve bytes", None]),
        ("fb", pa.binary(4), [b"abcd", b"a   ", b"    ", None]),
    ]
    schema = pa.schema([(name, kind) for name, kind, _ in columns])
    halves = [record_batch(schema, *[values[i:i + 2] for _, _, values in columns]) for i in (0, 2)]
    write("types.arrow", schema, halves)
    write("types_v4.arrow", schema, halves, metadata_version=pa.ipc.MetadataVersion.V4)


KV = pa.schema([pa.field("k", pa.int32(), nullable=False), ("v", pa.string())])


def several_files():
    write("parts/part1.arrow", KV, [record_batch(KV, [1, 2], ["one", "two"]), record_batch(KV, [3], [None])])
    write("parts/part2.arrow", KV, [record_batch(KV, [4], ["four"])])
    (HERE / "parts/readme.txt").write_text("not an Arrow file\n")
    for i in range(7):
        write(f"seven/f{i}.arrow", KV, [record_batch(KV, [i], [str(i)])])
    text = pa.schema([("k", pa.string()), ("v", pa.string())])
    write("other_type.arrow", text, [record_batch(text, ["1"], ["one"])])
    only_k = pa.schema([("k", pa.int32())])
    write("missing_column.arrow", only_k, [record_batch(only_k, [1])])
    wide = pa.schema([("k", pa.int32()), ("v", pa.large_string())])
    write("large_text.arrow", wide, [record_batch(wide, [5], ["five"])])


def empty_files():
    write("no_batches.arrow", KV, [])
    none = record_batch(KV, [], [])
    write("zero_rows.arrow", KV, [none, record_batch(KV, [7], ["seven"]), none])


def odd_names():
    long = "l" * 70
    schema = pa.schema([("x", pa.int32()), ("x", pa.int32()), ("X", pa.int32()), ("", pa.int32()), ("ctid", pa.int32()),
                        (long + "1", pa.int32()), (long + "2", pa.int32())])
    write("odd_names.arrow", schema, [record_batch(schema, [1], [2], [3], [4], [5], [6], [7])])


def unreadable():
    strings = pa.array(["a", "b"])
    empty = pa.array([b"", b""], pa.binary(0))
    batch = pa.record_batch([pa.array([1, 2], pa.int32()), strings.dictionary_encode(), empty], names=["k", "d", "st"])
    write("unsupported.arrow", batch.schema, [batch])
    write("compressed.arrow", KV, [record_batch(KV, [1] * 1000, ["x"] * 1000)], compression="lz4")
    schema = pa.schema([("i", pa.int32()), ("d", pa.date32()), ("ts", pa.timestamp("s")), ("t", pa.string())])
    days = pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32())
    seconds = pa.array([0, 2**62], pa.int64()).cast(pa.timestamp("s"))
    text = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"ok\xff\xfe")])
    write("bad_values.arrow", schema, [pa.record_batch([pa.array([1, 2], pa.int32()), days, seconds, text], schema=schema)])
    whole = (HERE / "parts/part1.arrow").read_bytes()
    (HERE / "truncated.arrow").write_bytes(whole[:len(whole) // 2])
    (HERE / "wrong_magic.arrow").write_bytes(b"NOTARROW" + whole[8:])
    (HERE / "empty_file.arrow").write_bytes(b"")
    good, bad = b"\0\0\0\0\3\0\0\0\6\0\0\0", b"\0\0\0\0\3\0\0\0\x60\0\0\0"  # the offsets of "one", "two"
    assert whole.count(good) == 1
    (HERE / "bad_offsets.arrow").write_bytes(whole.replace(good, bad))


def other_writers():
    frame = polars.DataFrame({"k": [1, 2, None], "name": ["x", None, "a rather long name"],
                              "d": [datetime.date(2024, 2, 29), None, datetime.date(1992, 1, 1)]})
    frame.write_ipc(HERE / "polars.arrow", compression="uncompressed")


for folder in ("parts", "seven"):
    shutil.rmtree(HERE / folder, ignore_errors=True)
all_types()
several_files()
empty_files()
odd_names()
unreadable()
other_writers()
