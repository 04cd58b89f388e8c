#!/usr/bin/env python3
"""arrowstat: statistics in files of others, everything else in them as it was, at every moment."""
import decimal
import fcntl
import json
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import time

import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, program, run

OUT = folder("arrowstat")
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
rng = random.Random(6)


def arrowstat(*arguments, **options):
    return run("arrowstat", *arguments, **options)


def read(path):
    with ipc.open_file(path) as reader:
        return reader.read_all(), [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]


def stored(kind, value):
    """A value as the integer that statistics have."""
    if pa.types.is_float32(kind):
        return struct.unpack("<i", struct.pack("<f", value))[0]
    if pa.types.is_float64(kind):
        return struct.unpack("<q", struct.pack("<d", value))[0]
    if pa.types.is_decimal(kind):
        return int(value.scaleb(kind.scale))
    return value


def expected(batches, name):
    """What the two keys must be, or None."""
    lows, highs = [], []
    for batch in batches:
        column = batch.column(name)
        kind = column.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            column = column.view(pa.int32() if pa.types.is_date32(kind) else pa.int64())
        values = [v for v in column.to_pylist() if v is not None]
        known = values and not any(isinstance(v, float) and math.isnan(v) for v in values)
        lows.append(str(stored(kind, min(values))) if known else "null")
        highs.append(str(stored(kind, max(values))) if known else "null")
    return {b"min_values": ",".join(lows).encode(), b"max_values": ",".join(highs).encode()}


NUMBERS = {
    "i1": pa.int8(), "i2": pa.int16(), "i4": pa.int32(), "i8": pa.int64(), "u1": pa.uint8(), "u2": pa.uint16(),
    "u4": pa.uint32(), "f4": pa.float32(), "f8": pa.float64(), "d": pa.decimal128(38, 6), "d9": pa.decimal32(9, 1), "d18": pa.decimal64(18, 2), "date": pa.date32(),
    "date64": pa.date64(), "s": pa.timestamp("s"), "ms": pa.timestamp("ms", tz="UTC"), "us": pa.timestamp("us"),
    "ns": pa.timestamp("ns", tz="Asia/Tokyo"),
}


def numbers(kind, rows, nulls):
    def value():
        if pa.types.is_floating(kind):
            return rng.uniform(-1e6, 1e6)
        if pa.types.is_decimal(kind) and kind.bit_width < 128:
            return decimal.Decimal(rng.randint(-10**kind.precision + 1, 10**kind.precision - 1)).scaleb(-kind.scale)
        if pa.types.is_decimal(kind):
            return pa.scalar(rng.randint(-10**14, 10**14)).cast(pa.decimal128(20, 0)).cast(kind).as_py()
        if pa.types.is_date64(kind):
            return rng.randint(-9999, 9999) * 86400000
        width = 32 if pa.types.is_date32(kind) else kind.bit_width
        if pa.types.is_unsigned_integer(kind):
            return rng.randint(0, 2**width - 1)
        return rng.randint(-2**(width - 1), 2**(width - 1) - 1)

    values = [None if rng.random() < nulls else value() for _ in range(rows)]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.array(values, pa.int32() if pa.types.is_date32(kind) else pa.int64()).view(kind)
    return pa.array(values, kind)


TEXTS = ("text", "dict", "view")
COUNTED = ("u8", "time")
OTHERS = ("text", "dict", "u8", "time", "view")  # of others(), those that can have statistics, in its order


def others(rows):
    """Columns of all kinds, most of which have no statistics; they must come through."""
    numbers_list = pa.array([[1, None, i] for i in range(rows)])
    union = pa.UnionArray.from_sparse(pa.array([i % 2 for i in range(rows)], pa.int8()),
                                      [pa.array(range(rows)), pa.array([str(i) for i in range(rows)])], ["a", "b"], [0, 1])
    return {
        "text": pa.array([f"t{i}" for i in range(rows)]), "bool": pa.array([i % 2 == 0 for i in range(rows)]),
        "dict": pa.DictionaryArray.from_arrays(pa.array([i % 3 for i in range(rows)], pa.int32()), ["v", "w", "x"]), "list": numbers_list,
        "struct": pa.array([{"x": i, "y": str(i)} for i in range(rows)]), "u8": pa.array(range(rows), pa.uint64()),
        "map": pa.array([[("k", i)] for i in range(rows)], pa.map_(pa.string(), pa.int64())), "null": pa.nulls(rows),
        "time": pa.array(range(rows), pa.time64("us")), "duration": pa.array(range(rows), pa.duration("s")),
        "bin": pa.array([b"x"] * rows), "fixed": pa.array([b"xyz"] * rows, pa.binary(3)), "view": pa.array(["v" * 20] * rows, pa.string_view()),
        "half": pa.array([1.5] * rows, pa.float16()), "union": union, "interval": pa.array([(1, 2, 3)] * rows, pa.month_day_nano_interval()),
        "fixedlist": pa.array([[1, 2]] * rows, pa.list_(pa.int32(), 2)),
        "ree": pa.RunEndEncodedArray.from_arrays(pa.array([rows], pa.int32()), pa.array(["r"])),
    }


def sample(name):
    batches = []
    for rows, nulls in ((500, 0.1), (33, 0), (64, 1), (1, 0)):
        columns = {key: numbers(kind, rows, nulls) for key, kind in NUMBERS.items()} | others(rows)
        batches.append(pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns)))
    fields = [field.with_metadata({"pg_type": "x", "empty": ""}) if field.name == "i4" else field for field in batches[0].schema]
    schema = pa.schema(fields, metadata={"sql_command": "SELECT '…'", "other": "x" * 300})
    batches = [pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in batches]
    with ipc.new_file(OUT / name, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return OUT / name, batches


def same_but_statistics(before, after, name):
    same = after.equals(before) or repr(after.to_pylist()) == repr(before.to_pylist())  # NaN is not equal to itself
    ok(same, f"{name}: the values are the same")
    without = {b"min_values", b"max_values"}
    for old, new in zip(before.schema, after.schema):
        kept = {k: v for k, v in (new.metadata or {}).items() if k not in without}
        if (old.metadata or {}) != kept or old.type != new.type or old.nullable != new.nullable:
            ok(False, f"{name}: field {old.name} is the same", old, old.metadata, new, new.metadata)
    equal(after.schema.metadata, before.schema.metadata, f"{name}: the metadata of the file is the same")


def check_statistics():
    path, batches = sample("all.arrow")
    before, sizes = read(path)
    original = path.read_bytes()
    equal(arrowstat(path)[1].split("\n")[1:], ["  no statistics", ""], "a file without statistics")
    equal(arrowstat("--refresh", path), (0, "", ""), "nothing to refresh")
    equal(path.read_bytes() == original, True, "leaves the file alone")
    equal(arrowstat("--add", path), (0, "", ""), "--add")
    check_added(path, batches, before, sizes, original)
    check_shown(path, batches)
    check_removed(path, before, original)


def check_added(path, batches, before, sizes, original):
    after, after_sizes = read(path)
    equal(after_sizes, sizes, "record batches are the same")
    same_but_statistics(before, after, "--add")
    for name in NUMBERS:
        metadata = after.schema.field(name).metadata
        equal({k: metadata.get(k) for k in (b"min_values", b"max_values")}, expected(batches, name), f"statistics of {name}")
    equal([f.name for f in after.schema if b"min_values" in (f.metadata or {})], [*NUMBERS, *OTHERS], "no others")
    for name in TEXTS:
        texts = [[v for v in batch.column(name).to_pylist() if v is not None] for batch in batches]
        metadata = after.schema.field(name).metadata
        equal((metadata[b"min_values"].decode(), metadata[b"max_values"].decode()),
              tuple(",".join(f'"{of(t)}"' for t in texts) for of in (min, max)), f"statistics of {name}")
    for name in COUNTED:
        counts = [batch.num_rows - 1 for batch in batches]
        metadata = after.schema.field(name).metadata
        equal((metadata[b"min_values"].decode(), metadata[b"max_values"].decode()),
              (",".join("0" for _ in counts), ",".join(map(str, counts))), f"statistics of {name}")
    equal(path.read_bytes()[:len(original) - 200] == original[:len(original) - 200], True, "nothing before the footer was written")
    equal(arrowstat("--check", path), (0, "", ""), "--check")


def check_shown(path, batches):
    out = arrowstat("--columns=i4", path)[1]
    values = [v for v in batches[0].column("i4").to_pylist() if v is not None]
    ok(f"[0] {min(values)} .. {max(values)}\n" in out and "[2] unknown" in out and "i8" not in out, "--show", out)
    shown = [json.loads(line) for line in arrowstat("--json", path)[1].splitlines()]
    equal([entry["column"] for entry in shown], [*NUMBERS, *OTHERS], "--json has each column")
    equal(shown[2]["batches"][0], {"min": str(min(values)), "max": str(max(values))}, "--json has values")
    ok(shown[12]["batches"][1]["min"].count("-") >= 2 or "BC" in shown[12]["batches"][1]["min"], "dates are shown as dates", shown[12])


def check_removed(path, before, original):
    equal(arrowstat("--remove", "--stat=i4,f8", path), (0, "", ""), "--remove of two columns")
    after, _ = read(path)
    same_but_statistics(before, after, "--remove of two")
    equal([f.name for f in after.schema if b"min_values" in (f.metadata or {})], [n for n in [*NUMBERS, *OTHERS] if n not in ("i4", "f8")],
          "two columns have lost theirs")
    equal(arrowstat("--refresh", path), (0, "", ""), "--refresh")
    after, _ = read(path)
    equal(b"min_values" in (after.schema.field("i4").metadata or {}), False, "--refresh adds none")
    equal(arrowstat("--remove", path), (0, "", ""), "--remove")
    after, _ = read(path)
    same_but_statistics(before, after, "--remove")
    equal([f.name for f in after.schema if b"min_values" in (f.metadata or {})], [], "all are gone")
    for _ in range(20):
        arrowstat("--add", path)
        arrowstat("--remove", path)
    ok(path.stat().st_size < len(original) + 100_000, "the file does not grow", path.stat().st_size, len(original))
    same_but_statistics(before, read(path)[0], "after many changes")


def check_special_values():
    nan = float("nan")
    path = OUT / "special.arrow"
    columns = [[1.0, nan], [-0.0, 0.0], [float("-inf"), float("inf")], [None, None]]
    with ipc.new_file(path, pa.schema([("f", pa.float64())])) as writer:
        for values in columns:
            writer.write_batch(pa.record_batch([pa.array(values, pa.float64())], names=["f"]))
    arrowstat("--add", path)
    lines = arrowstat(path)[1].split("\n")[2:6]
    equal([lines[0], lines[2], lines[3]], ["    [0] unknown", "    [2] -Infinity .. Infinity", "    [3] unknown"], "NaN, infinity, nulls")
    equal(arrowstat("--check", path)[0], 0, "and --check agrees")
    lying = read(path)[0]
    metadata = lying.schema.field("f").metadata | {b"max_values": b"null,0,0,null"}
    with ipc.new_file(path, pa.schema([lying.schema.field("f").with_metadata(metadata)])) as writer:
        for values in columns:
            writer.write_batch(pa.record_batch([pa.array(values, pa.float64())], schema=pa.schema([lying.schema.field("f").with_metadata(metadata)])))
    status, out, err = arrowstat("--check", path)
    ok(status == 1 and 'Column "f", record batch 2: they say -Infinity to 0, the values are -Infinity to Infinity.' in err, "wrong statistics", err)
    equal(arrowstat("--refresh", "--check", path)[0], 2, "--refresh and --check exclude each other")
    equal((arrowstat("--refresh", path)[0], arrowstat("--check", path)[0]), (0, 0), "--refresh mends them")

    batched = OUT / "batched.arrow"
    with ipc.new_file(batched, pa.schema([("k", pa.int32())])) as writer:
        writer.write_batch(pa.record_batch([pa.array([1, 5], pa.int32())], names=["k"]), custom_metadata={"min_max_stats.k": "1,5"})
    equal(arrowstat(batched)[1].split("\n")[1:], ["  k [0] 1,5 (in the record batch)", ""], "statistics in record batches")
    ok('  min_max_stats.k: "1,5"' in run("arrow-info", "-bm", batched)[1], "which arrow-info shows, too")
    equal((arrowstat("--add", batched)[0], arrowstat("--check", batched)[0]), (0, 0), "others can be added")

    stale = OUT / "stale.arrow"
    schema = pa.schema([pa.field("k", pa.int32(), metadata={"min_values": "1,2", "max_values": "1,2"})])
    with ipc.new_file(stale, schema) as writer:
        writer.write_batch(pa.record_batch([pa.array([5], pa.int32())], schema=schema))
    ok("another number of record batches" in arrowstat(stale)[1], "statistics left behind by others")
    arrowstat("--refresh", stale)
    equal(read(stale)[0].schema.field("k").metadata, {b"min_values": b"5", b"max_values": b"5"}, "are made anew")


def check_files_of_others():
    frame = polars.DataFrame({"a": list(range(1000)), "t": ["x"] * 1000})
    frame.write_ipc(OUT / "polars.arrow")
    equal(arrowstat("--add", OUT / "polars.arrow"), (0, "", ""), "a file of Polars")
    equal(polars.read_ipc(OUT / "polars.arrow").equals(frame), True, "Polars reads it")
    for name in ("types", "types_v4", "polars", "zero_rows", "no_batches", "odd_names"):
        path = OUT / f"data_{name}.arrow"
        shutil.copy(DATA / f"{name}.arrow", path)
        before = read(path)[0]
        equal(arrowstat("--add", path)[0], 0, f"{name}.arrow")
        same_but_statistics(before, read(path)[0], name)
        equal(arrowstat("--check", path)[0], 0, f"{name}.arrow is right")


def check_refusals():
    path, _ = sample("refused.arrow")
    original = path.read_bytes()
    status, out, err = arrowstat("--add", "--columns=i5", path)
    ok(status == 1 and 'has no column "i5"' in err and "There is a column" in err, "an unknown column", err)
    for name in ("bin", "list"):
        status, out, err = arrowstat("--add", f"--columns={name}", path)
        ok(status == 1 and "can have no statistics" in err, f"no statistics for {name}", err)
    status, out, err = arrowstat()
    ok(status == 2 and "no file to read" in err, "no file", err)
    status, out, err = arrowstat("--add", "--remove", path)
    ok(status == 2 and "exclude each other" in err, "contradicting options", err)
    with open(path) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, out, err = arrowstat("--add", path)
        ok(status == 1 and "is being changed by another process" in err, "two at once", err)
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (len(original) + 100,) * 2)}
    status, out, err = arrowstat("--add", path, **limited)
    ok(status == 1 and "File too large" in err, "no room", err)
    equal(path.read_bytes() == original, True, "none of these changes the file")
    for bad in ("empty_file", "truncated", "wrong_magic", "bad_offsets"):
        shutil.copy(DATA / f"{bad}.arrow", OUT / "bad.arrow")
        before = (OUT / "bad.arrow").read_bytes()
        status = arrowstat("--add", OUT / "bad.arrow")[0]
        ok(status == 1 or bad == "bad_offsets", f"{bad}.arrow is refused")
        ok(status == 0 or (OUT / "bad.arrow").read_bytes() == before, f"{bad}.arrow is left alone")
    os.mkfifo(OUT / "fifo")
    for target, message in ((OUT / "missing", "No such file"), (OUT, "not a regular file"), (OUT / "fifo", "not a regular file")):
        status, out, err = arrowstat("--add", target)
        ok(status == 1 and message in err, f"{target.name} is refused", err)
    if os.geteuid() != 0:
        path.chmod(0o444)
        equal(arrowstat("--add", path)[0], 1, "a read-only file")
        path.chmod(0o644)
    for i in range(200):  # any byte changed: done or refused, and never a crash
        damaged = bytearray(original)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        (OUT / "damaged.arrow").write_bytes(damaged)
        status = arrowstat("--add", OUT / "damaged.arrow")[0]
        if status not in (0, 1):
            ok(False, f"damaged file {i} ends with {status}")


def sort_key(column):
    """The column as a type that pyarrow can sort by."""
    if pa.types.is_decimal(column.type):
        return column.cast(pa.decimal128(38, column.type.scale))
    return column.cast(pa.binary()) if pa.types.is_fixed_size_binary(column.type) else column


def sorted_types():
    """Columns of any type go along and are sorted by; the codec and the dictionaries stay."""
    mdn = pa.MonthDayNano
    columns = {
        "f2": pa.array([2, None, -1, float("nan"), 0], pa.float16()), "u8": pa.array([2**64 - 1, 5, None, 0, 7], pa.uint64()),
        "d256": pa.array([decimal.Decimal(10**50), None, decimal.Decimal(-1), 5, 0], pa.decimal256(60, 0)), "t": pa.array([5, None, 1, 4, 3], pa.time64("ns")),
        "dur": pa.array([5, None, -1, 4, 3], pa.duration("ms")), "mdn": pa.array([mdn([0, 31, 0]), None, mdn([1, 0, 0]), mdn([0, 0, -1]), mdn([2, 0, 0])]),
        "b": pa.array([b"b", b"", None, b"a", b"ab"]), "lb": pa.array([b"b", b"", None, b"a", b"ab"], pa.large_binary()), "bv": pa.array([b"b" * 20, b"", None, b"a", b"ab"], pa.binary_view()),
        "l": pa.array([[2], None, [1, None], [1], []], pa.list_(pa.int8())), "ll": pa.array([["b"], None, ["a"], [], ["a", "b"]], pa.large_list(pa.string())),
        "lv": pa.array([[2], None, [1, 2], [1], []], pa.list_view(pa.int32())), "fl": pa.array([[2, 1], None, [1, None], [1, 1], [0, 0]], pa.list_(pa.int32(), 2)),
        "s": pa.array([{"x": 2, "y": "a"}, None, {"x": 1, "y": None}, {"x": 1, "y": "b"}, {"x": None, "y": "a"}], pa.struct([("x", pa.int32()), ("y", pa.string_view())])),
        "m": pa.array([[("b", 1)], None, [("a", 2)], [], [("a", 1)]], pa.map_(pa.string(), pa.int32())),
        "dict": pa.array(["b", None, "a", "c", "a"]).dictionary_encode(), "dict8": pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1, 2], pa.uint8()), pa.array([30, 10, 20])),
        "ldict": pa.ListArray.from_arrays(pa.array([0, 1, 1, 2, 3, 4]), pa.array(["q", "p", "q", None]).dictionary_encode()),
        "null": pa.nulls(5), "ree": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 5]), pa.array([7, None, 6])),
        "union": pa.UnionArray.from_dense(pa.array([0, 1, 0, 1, 1], pa.int8()), pa.array([0, 0, 1, 1, 2], pa.int32()), [pa.array([1, 2]), pa.array(["x", "y", "z"])]),
        "n": pa.array(range(5)),
    }
    orders = {"f2": [2, 4, 0, 3, 1], "u8": [3, 1, 4, 0, 2], "d256": [2, 4, 3, 0, 1], "t": [2, 4, 3, 0, 1], "dur": [2, 4, 3, 0, 1], "mdn": [3, 2, 0, 4, 1],
              "b": [1, 3, 4, 0, 2], "lb": [1, 3, 4, 0, 2], "bv": [1, 3, 4, 0, 2], "l": [4, 3, 2, 0, 1], "ll": [3, 2, 4, 0, 1], "lv": [4, 3, 2, 0, 1], "fl": [4, 3, 2, 0, 1],
              "s": [3, 2, 0, 4, 1], "m": [3, 4, 2, 0, 1], "dict": [2, 4, 0, 3, 1], "dict8": [0, 3, 4, 2, 1], "ldict": [1, 2, 0, 3, 4], "null": [0, 1, 2, 3, 4], "ree": [3, 4, 0, 1, 2], "n": [0, 1, 2, 3, 4]}
    path, target = OUT / "types.arrow", OUT / "types_sorted.arrow"
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    for codec in (None, "lz4", "zstd"):
        with ipc.new_file(path, batch.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
            writer.write_batch(batch)
            writer.write_batch(batch.slice(0, 0))
        for key, order in orders.items():
            status, out, err = arrowstat(f"--sort-by={key}", path, "-o", target, "-f", "--batch-rows=2")
            if not ok(status == 0, f"--sort-by={key}, {codec}", err):
                continue
            found = read(target)[0]
            equal([f.type for f in found.schema], [f.type for f in batch.schema], f"--sort-by={key}, {codec}: the types stay")
            rows = {name: column.to_pylist() for name, column in columns.items()}
            wanted = {name: [values[i] for i in order] for name, values in rows.items()}
            differ = [name for name in columns if repr(found.column(name).to_pylist()) != repr(wanted[name])]
            equal(differ, [], f"--sort-by={key}, {codec}: the order of the rows")
            found.validate(full=True)
        storage = run("arrow-info", "-b", target)[1]
        ok((codec or "none") in storage if codec else "lz4" not in storage and "zstd" not in storage, f"{codec}: the codec stays", storage)
    status, out, err = arrowstat("--sort-by=union", path, "-o", OUT / "union.arrow")
    ok(status == 1 and 'rows cannot be sorted by column "union"' in err and not (OUT / "union.arrow").exists(), "unions have no order", err)


def check_sorted_copies():
    kinds = NUMBERS | {"b": pa.bool_(), "t": pa.string(), "lt": pa.large_string(), "v": pa.string_view(), "fb": pa.binary(2)}

    def few(kind, rows):  # many equal values
        if pa.types.is_boolean(kind):
            return pa.array([rng.choice([True, False, None]) for _ in range(rows)], kind)
        if pa.types.is_fixed_size_binary(kind) and not pa.types.is_decimal(kind):
            return pa.array([rng.choice([b"aa", b"ab", b"\xff\x00", None]) for _ in range(rows)], kind)
        if pa.types.is_floating(kind):
            return pa.array([rng.choice([0.0, -1.5, float("nan"), float("inf"), float("-inf"), 1e-30, None]) for _ in range(rows)], kind)
        if kind in (pa.string(), pa.large_string(), pa.string_view()):
            return pa.array([rng.choice(["", "a", "ä", "b" * 30, "B", None]) for _ in range(rows)], kind)
        return numbers(kind, 5, 0.2).take(pa.array([rng.randrange(5) for _ in range(rows)], pa.int64()))

    batches = [pa.RecordBatch.from_arrays([few(kind, rows) for kind in kinds.values()], names=list(kinds)) for rows in (400, 1, 0, 250)]
    path = OUT / "unsorted.arrow"
    with ipc.new_file(path, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    table = read(path)[0]
    flat = table.cast(pa.schema([pa.field(f.name, pa.string() if f.type == pa.string_view() else f.type) for f in table.schema]))
    target = OUT / "sorted.arrow"
    for keys in [[name] for name in kinds] + [["b", "i1", "t"], ["v", "f8"]]:
        sortable = pa.table({k: sort_key(flat.column(k)) for k in keys})
        order = pc.sort_indices(sortable, sort_keys=[(k, "ascending", "at_end") for k in keys])
        equal(arrowstat(f"--sort-by={','.join(keys)}", path, "-o", target, "-f", "--batch-rows=100")[0], 0, f"--sort-by {keys}")
        found, sizes = read(target)
        wanted = flat.take(order)
        equal([f.type for f in found.schema], list(kinds.values()), f"--sort-by {keys}: the types stay")
        found = found.cast(flat.schema)
        differ = [k for k in kinds if not (repr(found.column(k).to_pylist()) == repr(wanted.column(k).to_pylist())
                                           if pa.types.is_floating(kinds[k]) else found.column(k).equals(wanted.column(k)))]
        equal(differ, [], f"--sort-by {keys}: the order of the rows")
        equal(sizes, [100] * 6 + [51], "record batches of that many rows")
    equal(arrowstat("--check", target)[0], 0, "the copy's statistics are right")
    equal(b"min_values" in read(target)[0].schema.field("i4").metadata, True, "the copy has statistics")
    status, out, err = arrowstat("--sort-by=i4", path, "-o", target)
    ok(status == 1 and "exists" in err, "an existing file stays", err)
    for arguments, message in ((["--sort-by=i4", path], "--sort-by needs -o FILE"),
                               (["-o", target, path], "-o, -f, --page-cache and --batch-rows need --sort-by"),
                               (["--sort-by=i4", "--add", path], "--sort-by and --add exclude each other")):
        status, out, err = arrowstat(*arguments)
        ok(status == 2 and message in err, message, err)
    sorted_types()
    for name in ("no_batches", "zero_rows"):
        equal(arrowstat("--sort-by=" + read(DATA / f"{name}.arrow")[0].schema[0].name, DATA / f"{name}.arrow", "-o", OUT / f"sorted_{name}")[0], 0, f"{name}.arrow")
    many = OUT / "many.arrow"  # more rows than one thread sorts
    with ipc.new_file(many, pa.schema([("k", pa.int64()), ("n", pa.int64())])) as writer:
        for b in range(4):
            writer.write_batch(pa.record_batch([pa.array([rng.randrange(1000) for _ in range(300_000)]), pa.array(range(b * 300_000, (b + 1) * 300_000))], names=["k", "n"]))
    arrowstat("--sort-by=k", "-n", 4, many, "-o", target, "-f")
    table = read(many)[0]
    equal(read(target)[0].equals(table.take(pc.sort_indices(table, [("k", "ascending"), ("n", "ascending")]))), True, "four threads sort as one")


def check_kills():
    """Killed at any moment, the file has the old statistics or the new ones, and all its values."""
    path, _ = sample("killed.arrow")
    before, _ = read(path)
    changed = 0
    begin = time.monotonic()
    for target in ("--add", "--remove"):
        run("arrowstat", target, path, path, path)
    whole = (time.monotonic() - begin) / 2  # on this machine, with what else it does
    for i in range(200):
        target = "--remove" if i % 2 else "--add"
        process = subprocess.Popen([program("arrowstat"), target, path, path, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * 2 * whole)
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.wait()
        try:
            after, _ = read(path)
        except Exception as error:
            ok(False, f"kill {i}: the file is whole", error)
            return
        with_statistics = [f.name for f in after.schema if b"min_values" in (f.metadata or {})]
        changed += bool(with_statistics)
        if with_statistics not in ([], [*NUMBERS, *OTHERS]) or not after.equals(before):
            ok(False, f"kill {i}: old or new", with_statistics)
            return
    ok(0 < changed < 200, "200 kills, both outcomes were seen", changed)
    same_but_statistics(before, read(path)[0], "after 200 kills")
    ok(path.stat().st_size < 2_000_000, "the file has not grown much", path.stat().st_size)


check_statistics()
check_special_values()
check_files_of_others()
check_refusals()
check_sorted_copies()
check_kills()
done()
