#!/usr/bin/env python3
"""Makes the Parquet files in parquet/ beside this script: rows of other fixtures, as different writers store them.

They are committed, so that the regression tests need no Python; run this only to change them:
    make_parquet_fixtures.py            (needs pyarrow, duckdb, polars and datafusion)
"""
import datetime
import pathlib

import datafusion
import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

DATA = pathlib.Path(__file__).resolve().parent
HERE = DATA / "parquet"
ROWS_IN_GROUP = 100


def read(name):
    with pa.OSFile(str(DATA / name)) as source:
        return pa.ipc.open_file(source).read_all()


def write(name, table, **options):
    pq.write_table(table, HERE / name, **{"row_group_size": ROWS_IN_GROUP, **options})


def pyarrow_variants(rows):
    """The same rows with each codec, page version, encoding and kind of statistics."""
    write("snappy.parquet", rows)
    write("zstd.parquet", rows, compression="zstd", use_dictionary=False, data_page_version="2.0", data_page_size=400)
    write("gzip.parquet", rows, compression="gzip", version="1.0", use_deprecated_int96_timestamps=True)
    write("lz4.parquet", rows, compression="lz4", use_dictionary=False,
          column_encoding={"id": "DELTA_BINARY_PACKED", "i8": "DELTA_BINARY_PACKED", "f4": "BYTE_STREAM_SPLIT",
                           "f8": "BYTE_STREAM_SPLIT", "t": "DELTA_BYTE_ARRAY", "lt": "DELTA_LENGTH_BYTE_ARRAY",
                           "b": "RLE"})
    write("brotli.parquet", rows, compression="brotli", write_statistics=False, store_schema=False, row_group_size=300)
    write("mixed.parquet", rows, compression="none", dictionary_pagesize_limit=30, data_page_size=200,
          write_batch_size=8, write_page_index=True, write_page_checksum=True, row_group_size=500,
          store_decimal_as_integer=True)


def other_writers(rows):
    """Writers that cut long texts in statistics, or have other encodings and row groups."""
    connection = duckdb.connect()
    connection.register("rows", rows)
    connection.execute(f"COPY rows TO '{HERE}/duckdb.parquet' (ROW_GROUP_SIZE 2048)")
    polars.from_arrow(rows).write_parquet(HERE / "polars.parquet", row_group_size=200)
    context = datafusion.SessionContext()
    context.from_arrow(rows, name="rows")
    context.sql(f"COPY (SELECT * FROM rows ORDER BY id) TO '{HERE}/datafusion.parquet' "
                "OPTIONS ('format.statistics_truncate_length' '8', 'format.max_row_group_size' '100')").collect()


def nested_rows():
    """Types without a column of Parquet of their own."""
    pair = pa.struct([("a", pa.int32()), ("b", pa.string())])
    time = datetime.time
    return pa.table({
        "k": pa.array([1, 2, 3, 4], pa.int32()),
        "list": pa.array([[1, 2], None, [], [None, 3]], pa.list_(pa.int32())),
        "texts": pa.array([["x", None], ["longer than twelve bytes"], None, []], pa.large_list(pa.string())),
        "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": None, "b": None}], pair),
        "one": pa.array([{"a": None}, {"a": None}, {"a": 7}, None], pa.struct([("a", pa.int32())])),
        "pairs": pa.array([[{"a": 1, "b": "x"}], [], None, [{"a": 2, "b": None}, None]], pa.list_(pair)),
        "map": pa.array([[("x", 1)], None, [], [("y", None), ("z", 2)]], pa.map_(pa.string(), pa.int64())),
        "bytes": pa.array([b"", b"\x00\xff", None, b"abc"], pa.binary()),
        "ms": pa.array([time(0, 0), time(23, 59, 59, 999000), None, time(12, 30)], pa.time32("ms")),
        "us": pa.array([time(0, 0), time(23, 59, 59, 999999), None, time(12, 30)], pa.time64("us")),
        "u8": pa.array([0, 2**64 - 1, None, 2**63], pa.uint64()),
        "half": pa.array([0.5, -2.0, None, float("nan")], pa.float16()),
        "word": pa.array(["x", "y", None, "x"]).dictionary_encode(),
        "v": ["one", None, "three", "four"]})


def small_files(rows):
    types = read("types.arrow")
    write("types.parquet", types, row_group_size=2)
    nested = nested_rows()
    write("nested.parquet", nested, row_group_size=2)
    with pa.OSFile(str(HERE / "nested.arrow"), "wb") as sink, pa.ipc.new_file(sink, nested.schema) as writer:
        writer.write_table(nested)
    write("no_rows.parquet", rows.slice(0, 0))
    write("no_columns.parquet", pa.table({}))
    kv = pa.table({"k": pa.array([100, 101], pa.int32()), "v": ["hundred", None]})
    (HERE / "parts").mkdir(exist_ok=True)
    write("parts/b.parquet", kv, compression="zstd")
    with pa.OSFile(str(HERE / "parts/a.arrow"), "wb") as sink, pa.ipc.new_file(sink, kv.schema) as writer:
        writer.write_table(pa.table({"k": pa.array([1, 2, 3], pa.int32()), "v": ["one", "two", None]}))
    whole = (HERE / "types.parquet").read_bytes()
    (HERE / "cut.parquet").write_bytes(whole[:-9])
    (HERE / "no_metadata.parquet").write_bytes(b"PAR1" + b"\xff" * 100 + b"\x64\0\0\0PAR1")
    (HERE / "encrypted.parquet").write_bytes(whole[:-4] + b"PARE")
    damaged = bytearray((HERE / "mixed.parquet").read_bytes())
    damaged[40] ^= 0xff  # in a page, which has a checksum
    (HERE / "damaged.parquet").write_bytes(damaged)


def main():
    HERE.mkdir(exist_ok=True)
    rows = read("pruning/plain.arrow")
    pyarrow_variants(rows)
    other_writers(rows)
    small_files(rows)


if __name__ == "__main__":
    main()
