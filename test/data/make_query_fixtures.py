#!/usr/bin/env python3
"""Makes the Arrow files in queries/ beside this script, which the tests of the engine's queries read.

They are committed, so that the tests need no Python; run this only to change them:
    make_query_fixtures.py            (needs pyarrow)
"""
import datetime
import decimal
import pathlib
import random

import pyarrow as pa

HERE = pathlib.Path(__file__).resolve().parent / "queries"
WORDS = ["alpha", "beta", "gamma", "delta", "größer", "日本語", "", "a longer text that is not inlined", "50% off_sale"]


def write(name, columns, rows_in_batch):
    schema = pa.schema([(column, kind) for column, kind, _ in columns])
    table = pa.table([pa.array(values, kind) for _, kind, values in columns], schema=schema)
    HERE.mkdir(exist_ok=True)
    with pa.OSFile(str(HERE / name), "wb") as sink:
        with pa.ipc.new_file(sink, schema) as writer:
            for batch in table.to_batches(max_chunksize=rows_in_batch):
                writer.write_batch(batch)


def facts(rows):
    rng = random.Random(1)

    def some(make, nulls=0.05):
        return [None if rng.random() < nulls else make() for _ in range(rows)]

    day, moment = datetime.date(1992, 1, 1), datetime.datetime(1992, 1, 1)
    cents = lambda: decimal.Decimal(rng.randint(-10**6, 10**7)) / 100
    odd = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0]
    return [
        ("id", pa.int32(), list(range(rows))),
        ("k", pa.int32(), some(lambda: rng.randint(0, 120))),
        ("k8", pa.int64(), some(lambda: rng.randint(0, 120))),
        ("i2", pa.int16(), some(lambda: rng.randint(-50, 50))),
        ("i4", pa.int32(), some(lambda: rng.randint(-1000, 1000))),
        ("i8", pa.int64(), some(lambda: rng.randint(-10**12, 10**12))),
        ("f4", pa.float32(), some(lambda: rng.randint(-400, 400) / 8)),
        ("f8", pa.float64(), some(lambda: rng.choice(odd) if rng.random() < 0.02 else rng.randint(-4000, 4000) / 16)),
        ("n", pa.decimal128(15, 2), some(cents)),
        ("d", pa.date32(), some(lambda: day + datetime.timedelta(days=rng.randint(0, 2500)))),
        ("ts", pa.timestamp("us"), some(lambda: moment + datetime.timedelta(seconds=rng.randint(0, 2 * 10**8)))),
        ("t", pa.string(), some(lambda: rng.choice(WORDS))),
        ("c", pa.binary(4), some(lambda: rng.choice([b"a   ", b"ab  ", b"abc ", b"abcd"]))),
        ("b", pa.bool_(), some(lambda: rng.random() < 0.3)),
    ]


def dimension(rows):
    rng = random.Random(2)
    return [
        ("k", pa.int32(), list(range(rows))),
        ("name", pa.string(), [f"name {i % 17}" for i in range(rows)]),
        ("region", pa.string(), [rng.choice(["north", "south", None]) for _ in range(rows)]),
        ("weight", pa.decimal128(6, 3), [decimal.Decimal(rng.randint(0, 9999)) / 1000 for _ in range(rows)]),
        ("opened", pa.date32(), [datetime.date(1990 + i % 9, 1 + i % 12, 1) for i in range(rows)]),
    ]


def edges():
    """Rows whose evaluation overflows or divides by zero."""
    least, most = -2**31, 2**31 - 1
    return [
        ("id", pa.int32(), [1, 2, 3, 4, 5, 6]),
        ("x", pa.int32(), [most, least, 0, 7, None, 10]),
        ("y", pa.int32(), [1, -1, 0, 2, 0, 5]),
        ("z", pa.int64(), [2**63 - 1, -2**63, 0, 7, None, 10]),
        ("n", pa.decimal128(38, 0), [decimal.Decimal(text) for text in ("9" * 38, "-" + "9" * 38, "0", "7", "1", "10")]),
    ]


def main():
    write("facts.arrow", facts(6000), 2500)
    write("dimension.arrow", dimension(100), 64)
    write("duplicates.arrow", [("k", pa.int64(), [1, 1, 2, 3, 3, 3, None, None]),
                               ("v", pa.int32(), [10, 11, 20, 30, 31, 32, 90, 91])], 8)
    write("edges.arrow", edges(), 4)


if __name__ == "__main__":
    main()
