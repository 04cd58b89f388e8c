#!/usr/bin/env python3
"""Makes the Arrow files in virtual/ and drift/ beside this script: names and metadata with values, files that differ.

They are committed, so that the tests need no Python; run this only to change them:
    make_virtual_fixtures.py            (needs pyarrow)
"""
import pathlib

import pyarrow as pa

HERE = pathlib.Path(__file__).resolve().parent


def write(name, schema, batches):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for columns in batches:
            writer.write_batch(pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, schema)], schema=schema))


def sales():
    for i, (month, region) in enumerate([(202401, "north"), (202401, "south"), (202402, "north"), (202403, "east_coast")]):
        schema = pa.schema(
            [pa.field("item", pa.string()), pa.field("n", pa.int32(), metadata={"unit": "pieces", "min_values": "", "seen": f"{i}.5"})],
            metadata={"owner": "größe", "stamp": f"2024-01-0{i + 1}", "shard": f"{i},x{i}", **({"late": "7"} if i > 1 else {})},
        )
        batches = [[["a", "b", None], [i * 10 + b, None, i * 10 + b + 2]] for b in range(3)]
        write(f"virtual/sales/sales_{month}_{region}.arrow", schema, batches)


def folders():
    schema = pa.schema([("n", pa.int32())])
    for year in (2023, 2024):
        for quarter in (1, 2):
            write(f"virtual/hive/year={year}/quarter={quarter}/a.arrow", schema, [[[year * 10 + quarter]]])
    write("virtual/hive/year=__HIVE_DEFAULT_PARTITION__/quarter=1/b.arrow", schema, [[[1]]])
    write("virtual/hive/year=2023/quarter=x%2Fy/c.arrow", schema, [[[2]]])
    write("virtual/hive/top.arrow", schema, [[[3]]])


def drift():
    write("drift/v1.arrow", pa.schema([("k", pa.int32()), ("v", pa.string())]), [[[1, 2], ["one", None]]])
    write("drift/v2.arrow", pa.schema([("extra", pa.float32()), ("v", pa.large_string()), ("k", pa.int64())]),
          [[[0.5, None], ["three", "four"], [3, 2**40]]])
    write("drift/v3.arrow", pa.schema([("k", pa.int8()), ("extra", pa.float64())]), [[[-5, None], [1e300, 2.5]]])
    write("drift/text_key.arrow", pa.schema([("k", pa.string()), ("v", pa.string())]), [[["x"], ["y"]]])


sales()
folders()
drift()
