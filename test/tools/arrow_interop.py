#!/usr/bin/env python3
"""Compares the Arrow reader and writer with other implementations of the format.

usage: arrow_interop.py [FOLDER] [--seeds DIR]

FOLDER holds the programs arrow_dump and arrow_sample; by default test/unit/format in $STROM_BUILD_DIR or build. pyarrow, polars and duckdb write
files that arrow_dump reads; arrow_sample writes files that pyarrow reads. With --seeds the files go to DIR, too, as
seeds for the fuzzer. Exits 0 when everything agrees, 1 with the differences when not.
"""
import argparse
import decimal
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import duckdb
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

UNITS = {"s": "s", "ms": "ms", "us": "us", "ns": "ns"}
PLAIN = {
    pa.bool_(): "Bool", pa.int8(): "Int8", pa.int16(): "Int16", pa.int32(): "Int32", pa.int64(): "Int64",
    pa.uint8(): "UInt8", pa.uint16(): "UInt16", pa.uint32(): "UInt32", pa.float32(): "Float32",
    pa.float64(): "Float64", pa.date32(): "Date32", pa.date64(): "Date64", pa.string(): "Utf8",
    pa.large_string(): "LargeUtf8", pa.string_view(): "Utf8View",
}
# Types whose values arrow_dump leaves out.
NOT_DUMPED = [
    (pa.types.is_run_end_encoded, "RunEndEncoded"),
    (pa.types.is_null, "Null"), (pa.types.is_uint64, "UInt64"), (pa.types.is_float16, "Float16"),
    (pa.types.is_decimal256, "Decimal256(50,2)"), (pa.types.is_binary, "Binary"),
    (pa.types.is_large_binary, "LargeBinary"), (pa.types.is_binary_view, "BinaryView"),
    (pa.types.is_time32, "Time32"), (pa.types.is_time64, "Time64"), (pa.types.is_duration, "Duration"),
    (pa.types.is_interval, "Interval(MonthDayNano)"),
    (pa.types.is_map, "Map"), (pa.types.is_fixed_size_list, "FixedSizeList"),
    (pa.types.is_large_list, "LargeList"), (pa.types.is_list, "List"),
    (pa.types.is_list_view, "ListView"), (pa.types.is_large_list_view, "LargeListView"),
    (pa.types.is_struct, "Struct"), (lambda t: pa.types.is_union(t) and t.mode == "dense", "DenseUnion"),
    (pa.types.is_union, "SparseUnion"),
]


def expected_field(field):
    """The line that arrow_dump prints for a field, and whether it is readable."""
    if pa.types.is_dictionary(field.type):
        return expected_field(field.with_type(field.type.value_type))
    kind = field.type
    if kind in PLAIN:
        return f"# {field.name} {PLAIN[kind]}", True
    if pa.types.is_decimal(kind) and kind.bit_width <= 128:
        return f"# {field.name} Decimal{kind.bit_width}({kind.precision},{kind.scale})", True
    if pa.types.is_timestamp(kind):
        zone = f",{kind.tz}" if kind.tz else ""
        return f"# {field.name} Timestamp({kind.unit}{zone})", True
    if pa.types.is_fixed_size_binary(kind) and not pa.types.is_decimal(kind):
        return f"# {field.name} FixedSizeBinary({kind.byte_width})", True
    for test, name in NOT_DUMPED:
        if test(kind):
            return f"# {field.name} {name}", False
    raise AssertionError(f"no expectation for type {kind}")


def quote(data):
    return '"' + "".join(chr(c) if 0x20 <= c < 0x7F and chr(c) not in '"\\' else f"\\x{c:02X}" for c in data) + '"'


def integers(column):
    """Date and time columns as the integers that are stored."""
    width = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
    return column.view(width).to_pylist()


def render(column):
    if pa.types.is_dictionary(column.type):
        values = column.dictionary.to_pylist()  # dictionary_decode() knows no views
        column = pa.array([None if i is None else values[i] for i in column.indices.to_pylist()], column.type.value_type)
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        values, show = integers(column), str
    elif pa.types.is_boolean(kind):
        values, show = column.to_pylist(), lambda v: "true" if v else "false"
    elif pa.types.is_floating(kind):
        values, show = column.to_pylist(), lambda v: "%.17g" % v
    elif pa.types.is_decimal(kind):
        context = decimal.Context(prec=80)
        values, show = column.to_pylist(), lambda v: str(int(v.scaleb(kind.scale, context)))
    elif pa.types.is_fixed_size_binary(kind):
        values, show = column.to_pylist(), quote
    elif pa.types.is_integer(kind):
        values, show = column.to_pylist(), str
    else:
        values, show = column.to_pylist(), lambda v: quote(v.encode())
    return ["NULL" if v is None else show(v) for v in values]


def expected_dump(path):
    with ipc.open_file(path) as reader:
        fields = [expected_field(field) for field in reader.schema]
        lines = [line for line, _ in fields]
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            lines.append(f"-- batch {number}: {batch.num_rows} rows")
            columns = [render(batch.column(i)) for i, (_, readable) in enumerate(fields) if readable]
            lines += [",".join(row) for row in zip(*columns)]
    return lines


def random_column(kind, rows, null_share, rng):
    def text():
        return "".join(rng.choice("abcäöü€😀\"\\ \n") for _ in range(rng.choice([0, 1, 4, 11, 12, 13, 40])))

    def value():
        if pa.types.is_boolean(kind):
            return rng.random() < 0.5
        if pa.types.is_integer(kind):
            low = 0 if pa.types.is_unsigned_integer(kind) else -(1 << (kind.bit_width - 1))
            return rng.randint(low, low + (1 << kind.bit_width) - 1)
        if pa.types.is_floating(kind):
            return rng.choice([0.0, -0.0, 1.5, -2.25, float("inf"), 1e-30 if kind.bit_width == 64 else 0.5])
        if pa.types.is_decimal(kind):
            digits = rng.randint(-(10 ** kind.precision) + 1, 10 ** kind.precision - 1)
            return decimal.Decimal(digits).scaleb(-kind.scale, decimal.Context(prec=80))
        if pa.types.is_date64(kind):
            return rng.randint(-30_000, 60_000) * 86_400_000
        if pa.types.is_date32(kind):
            return rng.randint(-30_000, 60_000)
        if pa.types.is_timestamp(kind):
            return rng.randint(-(10 ** 9), 10 ** 9)
        if pa.types.is_fixed_size_binary(kind):
            return rng.randbytes(kind.byte_width)
        return text()

    values = [None if rng.random() < null_share else value() for _ in range(rows)]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.array(values, pa.int32() if pa.types.is_date32(kind) else pa.int64()).view(kind)
    return pa.array(values, kind)


READABLE = list(PLAIN) + [
    pa.decimal128(12, 2), pa.decimal128(38, 0), pa.decimal128(38, 10), pa.timestamp("s"), pa.timestamp("ms"),
    pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "Asia/Tokyo"), pa.binary(1),
    pa.binary(16),
]


def readable_table(rows, null_share, seed):
    rng = random.Random(seed)
    return pa.table({f"c{i}": random_column(kind, rows, null_share, rng) for i, kind in enumerate(READABLE)})


def unreadable_columns():
    """Three rows of every type that is not read; the columns between them must be found all the same."""
    dense = pa.UnionArray.from_dense(pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()),
                                     [pa.array([1, 2]), pa.array(["x"])])
    sparse = pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])])
    long_text = "longer than an inline view"
    return {
        "dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
        "null": pa.nulls(3),
        "uint64": pa.array([1, None, 2 ** 64 - 1], pa.uint64()),
        "float16": pa.array([1.0, None, 2.0], pa.float16()),
        "decimal256": pa.array([decimal.Decimal(1), None, None], pa.decimal256(50, 2)),
        "binary": pa.array([b"a", None, b"ccc"]),
        "large_binary": pa.array([b"a", None, b"ccc"], pa.large_binary()),
        "binary_view": pa.array([b"a", None, long_text.encode()], pa.binary_view()),
        "time32": pa.array([1, None, 2], pa.time32("s")),
        "time64": pa.array([1, None, 2], pa.time64("us")),
        "duration": pa.array([1, None, 2], pa.duration("us")),
        "interval": pa.array([(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval()),
        "list": pa.array([[1, 2], None, []], pa.list_(pa.int32())),
        "list_of_views": pa.array([["a", long_text], None, []], pa.list_(pa.string_view())),
        "large_list": pa.array([["a"], None, []], pa.large_list(pa.string())),
        "list_view": pa.array([[1], None, []], pa.list_view(pa.int8())),
        "large_list_view": pa.array([[1], None, []], pa.large_list_view(pa.int8())),
        "fixed_size_list": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int16(), 2)),
        "struct": pa.array([{"a": 1, "b": "x", "c": [long_text]}, None, {"a": 2, "b": None, "c": []}],
                           pa.struct([("a", pa.int64()), ("b", pa.string()), ("c", pa.list_(pa.string_view()))])),
        "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        "dense_union": dense,
        "sparse_union": sparse,
        "run_end": pc.run_end_encode(pa.array([7, 7, 8])),
        "nested_dictionary": pa.StructArray.from_arrays([pa.array(["a", "b", "a"]).dictionary_encode()], ["d"]),
    }


def mixed_table(without=()):
    columns = {}
    for number, (name, column) in enumerate(unreadable_columns().items()):
        if name in without:
            continue
        columns[name] = column
        columns[f"after_{name}"] = pa.array([number, None, -number], pa.int32())
        columns[f"text_after_{name}"] = pa.array([name, None, f"{name} in a view of its own"], pa.string_view())
    return pa.table(columns)


def write_pyarrow(path, table, batch_rows=None, **options):
    with pa.OSFile(str(path), "wb") as sink, \
            ipc.new_file(sink, table.schema, options=ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=batch_rows)


def files_to_read(folder):
    v4, v5 = pa.ipc.MetadataVersion.V4, pa.ipc.MetadataVersion.V5
    for version, name in ((v4, "v4"), (v5, "v5")):
        for legacy in (False, True):
            prefix = f"pyarrow_{name}{'_without_marker' if legacy else ''}"
            options = {"metadata_version": version, "use_legacy_format": legacy}
            for rows, share in ((1000, 0.2), (1000, 0.0), (77, 1.0), (0, 0.0), (1, 0.5)):
                path = folder / f"{prefix}_{rows}_{share}.arrow"
                write_pyarrow(path, readable_table(rows, share, rows), batch_rows=300, **options)
                yield path
            path = folder / f"{prefix}_mixed.arrow"
            write_pyarrow(path, mixed_table(), **options)
            yield path
    path = folder / "pyarrow_slices.arrow"
    write_pyarrow(path, readable_table(1000, 0.3, 5).slice(13, 500), batch_rows=101)
    yield path
    path = folder / "pyarrow_no_columns.arrow"
    write_pyarrow(path, pa.table({}))
    yield path
    path = folder / "pyarrow_no_batches.arrow"
    write_pyarrow(path, readable_table(0, 0, 0).schema.empty_table())
    yield path
    for codec in ("lz4", "zstd"):
        path = folder / f"pyarrow_{codec}.arrow"
        write_pyarrow(path, readable_table(5000, 0.2, 9), compression=codec)
        yield path
    yield from polars_files(folder)
    yield from duckdb_files(folder)


def polars_files(folder):
    frame = polars.from_arrow(readable_table(1000, 0.2, 7).drop_columns(["c14"]))  # views have a column of their own
    frame = frame.with_columns(
        polars.Series("text", [None if i % 5 == 0 else "x" * (i % 40) for i in range(1000)]),
        polars.Series("category", [f"k{i % 3}" for i in range(1000)], dtype=polars.Categorical),
        polars.Series("list", [[i, i + 1] for i in range(1000)]),
        polars.Series("behind", range(1000)))
    for name, options in (("default", {}), ("old", {"compat_level": polars.CompatLevel.oldest()})):
        path = folder / f"polars_{name}.arrow"
        frame.write_ipc(path, compression="uncompressed", **options)
        yield path
    for codec in ("lz4", "zstd"):
        path = folder / f"polars_{codec}.arrow"
        frame.write_ipc(path, compression=codec)
        yield path
    path = folder / "polars_batches.arrow"
    frame.write_ipc(path, compression="uncompressed", record_batch_size=100)
    yield path
    path = folder / "polars_empty.arrow"
    frame.clear().write_ipc(path, compression="uncompressed")
    yield path


def duckdb_files(folder):
    query = """
        SELECT i::TINYINT % 100 AS t, i::INTEGER AS i, i::BIGINT * 10000000000 AS b, (i / 7.0)::DOUBLE AS d,
               (i * 1.25)::DECIMAL(15, 2) AS dec, CASE WHEN i % 4 <> 0 THEN repeat('né', (i % 20)::INTEGER) END AS s,
               DATE '1992-01-01' + i::INTEGER AS day, TIMESTAMP '2001-01-01' + INTERVAL (i) MINUTE AS ts,
               (TIMESTAMP '2001-01-01' + INTERVAL (i) HOUR)::TIMESTAMPTZ AS tz, i % 2 = 0 AS even, [i, i] AS list
        FROM range(100) r(i)"""
    result = duckdb.sql(query)
    table = result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table()
    path = folder / "duckdb.arrow"
    write_pyarrow(path, table)
    yield path


def dump(program, path):
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


class Report:
    def __init__(self):
        self.checks = 0
        self.failures = 0

    def check(self, name, good, text=""):
        self.checks += 1
        if not good:
            self.failures += 1
            print(f"FAILED {name}\n{text}")


def check_reader(report, program, path):
    code, lines, errors = dump(program, path)
    expected = expected_dump(path)
    difference = next((f"line {i}:\n  got      {a}\n  expected {b}" for i, (a, b) in enumerate(zip(lines, expected))
                       if a != b), f"{len(lines)} lines, expected {len(expected)}")
    report.check(f"reading {path.name}", code == 0 and lines == expected, errors + difference)


def check_streams(report, program, folder):
    """The streaming format is read as the file format is."""
    table = readable_table(100, 0.1, 3)
    dumps = []
    for name, make in (("stream.arrows", ipc.new_stream), ("stream.arrow", ipc.new_file)):
        with pa.OSFile(str(folder / name), "wb") as sink, make(sink, table.schema) as writer:
            writer.write_table(table)
        code, output, errors = dump(program, folder / name)
        dumps.append(output)
        report.check(name, code == 0, errors)
    report.check("stream.arrows has the same rows", dumps[0] == dumps[1], "they differ")


def check_writer(report, programs, folder):
    for batches, rows, nulls in ((3, 1000, "some"), (1, 1000, "none"), (2, 100, "all"), (2, 0, "none"), (0, 0, "none")):
        path = folder / f"ours_{batches}_{rows}_{nulls}.arrow"
        subprocess.run([programs / "arrow_sample", path, str(batches), str(rows), nulls], check=True)
        with ipc.open_file(path) as reader:
            table = reader.read_all()
            table.validate(full=True)
            schema = reader.schema
        report.check(f"{path.name}: rows", table.num_rows == batches * rows)
        report.check(f"{path.name}: metadata", schema.metadata == {b"made by": b"a test"} and
                     schema.field("t").metadata == {b"min_values": b"1,2", b"empty": b""}, str(schema))
        with open(path, "rb") as source:
            source.seek(8)
            leading = ipc.read_schema(source)
        report.check(f"{path.name}: schema message", leading.equals(schema, check_metadata=True))
        check_reader(report, programs / "arrow_dump", path)
        report.check(f"{path.name}: polars", polars.read_ipc(path).height == batches * rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    built = pathlib.Path(os.environ.get("STROM_BUILD_DIR", "build")) / "test/unit/format"
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=built, help="folder of arrow_dump and arrow_sample")
    parser.add_argument("--seeds", type=pathlib.Path, help="also leave small files here")
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in files_to_read(folder):
            check_reader(report, options.folder / "arrow_dump", path)
        check_streams(report, options.folder / "arrow_dump", folder)
        check_writer(report, options.folder, folder)
        if options.seeds:
            options.seeds.mkdir(parents=True, exist_ok=True)
            for path in folder.iterdir():
                if path.stat().st_size < 40_000:
                    (options.seeds / path.name).write_bytes(path.read_bytes())
    print(f"{report.checks - report.failures} passed, {report.failures} failed")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
