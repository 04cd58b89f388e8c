#!/usr/bin/env python3
"""Makes the Arrow files in pruning/ beside this script: tables with statistics of their record batches.

They are committed, so that the tests need no Python; run this only to change them:
    make_pruning_fixtures.py            (needs pyarrow)

The same rows stand in a file with statistics in the fields' metadata (fields.arrow), in one with statistics in the
metadata of the record batches (batches.arrow), and in one without (plain.arrow).
"""
import datetime
import decimal
import math
import pathlib
import random
import sys

import pyarrow as pa

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "diff"))
from arrow_statistics import annotated, batch_metadata  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "pruning"
ROWS_IN_BATCH = 100
WORDS = ["apple", "apricot", "banana", "blueberry", "cherry", "citron, candied", "date", "elderberry",
         "a word that is longer than the thirty-one bytes that are kept", "größer", "日本語の長い言葉です、とても長い"]


def rows(count):
    """Columns that grow with the row, so that batches differ, with NULLs, NaN and a batch of nothing else."""
    rng = random.Random(5)
    day, moment = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)
    last = count // ROWS_IN_BATCH - 1

    def some(make):
        return [None if rng.random() < 0.05 or i // ROWS_IN_BATCH == last else make(i) for i in range(count)]

    def real(i):
        return math.nan if i % 333 == 0 else (i - count / 2) / 3

    return [
        ("id", pa.int32(), list(range(count))),
        ("i1", pa.int8(), some(lambda i: i // 20 % 120 - 60)),
        ("i2", pa.int16(), some(lambda i: i - 500)),
        ("i4", pa.int32(), some(lambda i: i * 7 - 3000)),
        ("i8", pa.int64(), some(lambda i: (i - 500) * 10**15)),
        ("u4", pa.uint32(), some(lambda i: i * 4_000_000)),
        ("f4", pa.float32(), some(real)),
        ("f8", pa.float64(), some(real)),
        ("n", pa.decimal128(12, 2), some(lambda i: decimal.Decimal(i * 13 - 5000) / 100)),
        ("d", pa.date32(), some(lambda i: day + datetime.timedelta(days=i // 3))),
        ("d8", pa.date64(), some(lambda i: day + datetime.timedelta(days=i // 3))),
        ("ts", pa.timestamp("ms"), some(lambda i: moment + datetime.timedelta(hours=i))),
        ("tz", pa.timestamp("ns", "UTC"), some(lambda i: moment + datetime.timedelta(minutes=i * 11))),
        ("t", pa.string(), some(lambda i: WORDS[i * len(WORDS) // count])),
        ("lt", pa.large_string(), some(lambda i: rng.choice(WORDS[:6]))),
        ("b", pa.bool_(), some(lambda i: i % 2 == 0)),
        ("same", pa.int32(), [i // ROWS_IN_BATCH for i in range(count)]),
    ]


def write(name, schema, batches, metadata=lambda batch: None):
    HERE.mkdir(exist_ok=True)
    with pa.OSFile(str(HERE / name), "wb") as sink:
        with pa.ipc.new_file(sink, schema) as writer:
            for batch in batches:
                writer.write_batch(batch, custom_metadata=metadata(batch))


def main():
    columns = rows(1000)
    schema = pa.schema([(name, kind) for name, kind, _ in columns])
    arrays = [pa.array(values, kind) for _, kind, values in columns]
    batches = pa.table(arrays, schema=schema).to_batches(max_chunksize=ROWS_IN_BATCH)
    write("plain.arrow", schema, batches)
    with_limits = pa.schema([annotated(field, [b.column(i) for b in batches]) for i, field in enumerate(schema)])
    write("fields.arrow", with_limits, [pa.record_batch(b.columns, schema=with_limits) for b in batches])
    write("batches.arrow", schema, batches, batch_metadata)
    # Statistics that cannot be used: too few, no numbers, out of the type's range, and the lowest above the highest.
    odd = pa.schema([pa.field(name, pa.int32(), metadata={"min_values": low, "max_values": high}) for name, low, high in
                     [("few", "1", "1"), ("words", "one,two", "three,four"), ("wide", "-9999999999,0", "1,9999999999"),
                      ("swapped", "5,6", "1,2"), ("empty", "", ""), ("one_side", "null,1", "5,2"),
                      ("huge", "9" * 60 + ",1", "9" * 60 + ",1")]])
    parts = [pa.record_batch([pa.array([n], pa.int32())] * len(odd), schema=odd) for n in (1, 2)]
    write("odd.arrow", odd, parts)


if __name__ == "__main__":
    main()
