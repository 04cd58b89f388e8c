#!/usr/bin/env python3
"""Makes the Arrow files in dictionaries/ beside this script: columns that are stored as indexes into dictionaries.

They are committed, so that the tests need no Python; run this only to change them:
    make_dictionary_fixtures.py            (needs pyarrow)

plain.arrow has the rows without dictionaries; encoded.arrow has them with, compressed.arrow compressed as well;
delta.arrow has dictionaries that grow from batch to batch.
"""
import pathlib

import pyarrow as pa

HERE = pathlib.Path(__file__).resolve().parent / "dictionaries"
WORDS = ["apple", "banana", "", "a word of more than twelve bytes", "größer", "日本語"]
ROWS = 1000


def columns():
    def every(n, make):
        return [None if i % n == 0 else make(i) for i in range(ROWS)]

    return {
        "id": (pa.array(range(ROWS), pa.int32()), None),
        "t1": (pa.array(every(7, lambda i: WORDS[i % len(WORDS)]), pa.string()), pa.int8()),
        "t2": (pa.array([WORDS[i * i % len(WORDS)] for i in range(ROWS)], pa.string()), pa.uint16()),
        "t4": (pa.array(every(5, lambda i: f"word {i % 77}"), pa.string()), pa.int32()),
        "t8": (pa.array(every(3, lambda i: f"{i % 13}" * 5), pa.large_string()), pa.int64()),
        "i": (pa.array(every(4, lambda i: i % 9 - 4), pa.int64()), pa.int8()),
        "d": (pa.array(every(4, lambda i: i % 30), pa.int32()).cast(pa.date32()), pa.int16()),
        "f": (pa.array(every(6, lambda i: i % 11 / 4), pa.float64()), pa.uint8()),
    }


def encoded(values, index):
    if index is None:
        return values
    made = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(made.indices.cast(index), made.dictionary)


def null_in_dictionary():
    """NULL by the bitmap, by the dictionary, and by both."""
    indexes = pa.array([0, 1, 2, None, 1, 0], pa.int32())
    return pa.table({"n": pa.array(range(6), pa.int32()),
                     "t": pa.DictionaryArray.from_arrays(indexes, pa.array(["one", None, "three"])),
                     "x": pa.DictionaryArray.from_arrays(indexes, pa.array([10, None, 30], pa.int32()))})


def write(name, table, rows_in_batch=None, **options):
    with pa.OSFile(str(HERE / name), "wb") as sink:
        with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            for batch in table.to_batches(max_chunksize=rows_in_batch):
                writer.write_batch(batch)


def write_delta(name):
    words = [f"word {i}" for i in range(30)]
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("id", pa.int32()), ("t", kind)])
    with pa.OSFile(str(HERE / name), "wb") as sink:
        with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
            for part in range(3):
                known = pa.array(words[: 10 * (part + 1)])
                indexes = pa.array([i % len(known) for i in range(100)], pa.int32())
                values = pa.DictionaryArray.from_arrays(indexes, known)
                ids = pa.array(range(100 * part, 100 * part + 100), pa.int32())
                writer.write_batch(pa.record_batch([ids, values], schema=schema))


def out_of_range(name):
    indexes = pa.array([0, 1, 2, 1], pa.int32())
    table = pa.table({"t": pa.DictionaryArray.from_arrays(indexes, pa.array(["one", "two", "three"])),
                      "x": pa.DictionaryArray.from_arrays(indexes, pa.array([10, 20, 30], pa.int32()))})
    write(name, table)
    whole = (HERE / name).read_bytes()
    good, bad = b"\0\0\0\0\1\0\0\0\2\0\0\0\1\0\0\0", b"\0\0\0\0\1\0\0\0\7\0\0\0\1\0\0\0"
    assert whole.count(good) == 2
    (HERE / name).write_bytes(whole.replace(good, bad))


def main():
    HERE.mkdir(exist_ok=True)
    plain = {name: values for name, (values, _) in columns().items()}
    write("plain.arrow", pa.table(plain), 400)
    table = pa.table({name: encoded(values, index) for name, (values, index) in columns().items()})
    write("encoded.arrow", table, 400)
    write("compressed.arrow", table, 300, compression="zstd")
    write("nulls.arrow", null_in_dictionary())
    write_delta("delta.arrow")
    out_of_range("out_of_range.arrow")


if __name__ == "__main__":
    main()
