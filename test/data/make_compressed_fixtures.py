#!/usr/bin/env python3
"""Makes the Arrow files in compressed/ beside this script: the rows of pruning/plain.arrow, compressed, and damaged.

They are committed, so that the tests need no Python; run this only to change them:
    make_compressed_fixtures.py            (needs pyarrow)
"""
import pathlib
import struct

import pyarrow as pa

DATA = pathlib.Path(__file__).resolve().parent
HERE = DATA / "compressed"


def write(name, table, codec, rows_in_batch=None):
    with pa.OSFile(str(HERE / name), "wb") as sink:
        with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
            for batch in table.to_batches(max_chunksize=rows_in_batch):
                writer.write_batch(batch)


def damaged(name, source, change):
    """A copy of `source` with the first compressed buffer of column `words` changed by change(bytes, place)."""
    whole = bytearray((HERE / source).read_bytes())
    frame = {"lz4": b"\x04\x22\x4d\x18", "zstd": b"\x28\xb5\x2f\xfd"}[source.split(".")[0].split("_")[0]]
    place = whole.index(frame)
    change(whole, place)
    (HERE / name).write_bytes(whole)


def declare(size):
    return lambda whole, place: struct.pack_into("<q", whole, place - 8, size)


def scramble(whole, place):
    whole[place + 4 : place + 24] = b"\xff" * 20


def main():
    HERE.mkdir(exist_ok=True)
    with pa.OSFile(str(DATA / "pruning/plain.arrow")) as source:
        table = pa.ipc.open_file(source).read_all()
    for codec in ("lz4", "zstd"):
        write(f"{codec}.arrow", table, codec, 300)
        numbers = pa.table({"x": pa.array([i // 7 for i in range(1000)], pa.int32()),
                            "words": [f"word {i // 9}" for i in range(1000)]})
        write(f"{codec}_small.arrow", numbers, codec)
        damaged(f"{codec}_scrambled.arrow", f"{codec}_small.arrow", scramble)
        damaged(f"{codec}_bomb.arrow", f"{codec}_small.arrow", declare(1 << 50))
        damaged(f"{codec}_larger.arrow", f"{codec}_small.arrow", declare(4004))
        damaged(f"{codec}_smaller.arrow", f"{codec}_small.arrow", declare(3996))
        damaged(f"{codec}_negative.arrow", f"{codec}_small.arrow", declare(-2))


if __name__ == "__main__":
    main()
