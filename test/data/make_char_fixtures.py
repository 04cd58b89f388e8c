#!/usr/bin/env python3
"""Makes the Arrow files in chars/ beside this script: char(n) in the forms that it comes in.

They are committed, so that the tests need no Python; run this only to change them:
    make_char_fixtures.py            (needs pyarrow)

fixed.arrow is as PG-Strom's pg2arrow writes char(n), FixedSizeBinary without the name of a type, beside columns of bytes;
bytes.arrow has other bytes in the column that fixed.arrow has texts in. named.arrow has texts that say that they are char(n):
padded, without padding, with wide characters, as a dictionary; its file long.arrow has one that is too long.
"""
import pathlib

import pyarrow as pa

HERE = pathlib.Path(__file__).resolve().parent / "chars"
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECI", "5-LOW"]
ROWS = 600


def write(name, columns, schema, batch_rows=200):
    HERE.mkdir(exist_ok=True)
    table = pa.table(columns, schema=schema)
    with pa.OSFile(str(HERE / name), "wb") as sink:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=batch_rows)


def fixed(name, priorities):
    mode = ["AIR", "FOB", "Bär", None]  # of 10 bytes
    schema = pa.schema([
        ("id", pa.int32()), ("priority", pa.binary(15)), ("ship", pa.binary(1)), ("mode", pa.binary(10)),
        ("digest", pa.binary(16)), ("zeros", pa.binary(4)), ("nulls", pa.binary(4)),
    ])
    write(name, {
        "id": list(range(ROWS)),
        "priority": [priorities(i) for i in range(ROWS)],
        "ship": [b"0"] * ROWS,
        "mode": [None if mode[i % 4] is None else mode[i % 4].encode().ljust(10) for i in range(ROWS)],
        "digest": [bytes((i * k) % 256 for k in range(1, 17)) for i in range(ROWS)],
        "zeros": [b"ab\0\0"] * ROWS,
        "nulls": [None] * ROWS,
    }, schema)


def char(length, kind=pa.utf8()):
    return kind, {"pg_type": "pg_catalog.bpchar", "pg_typmod": str(length + 4)}


def named(name, extra=None):
    kinds = {
        "padded": char(15), "bare": char(15), "wide": char(8), "encoded": char(15, pa.dictionary(pa.int8(), pa.utf8())),
        "large": char(15, pa.large_utf8()), "any": (pa.utf8(), {"pg_type": "pg_catalog.bpchar"}),
    }
    fields = [pa.field("id", pa.int32())] + [pa.field(n, k, metadata=m) for n, (k, m) in kinds.items()]
    texts = [PRIORITIES[i % 5] for i in range(ROWS)]
    wide = ["Ünïté", "größe  ", "日本語", "abc", None]
    bare = list(texts)
    if extra is not None:
        bare[ROWS - 7] = extra
    write(name, {
        "id": list(range(ROWS)), "padded": [t.ljust(15) for t in texts], "bare": bare, "wide": [wide[i % 5] for i in range(ROWS)],
        "encoded": pa.array(texts).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.utf8())),
        "large": [t + " " * (i % 3) for i, t in enumerate(texts)], "any": [t + " " * (i % 3) for i, t in enumerate(texts)],
    }, pa.schema(fields))


if __name__ == "__main__":
    fixed("fixed.arrow", lambda i: PRIORITIES[i % 5].encode().ljust(15))
    fixed("bytes.arrow", lambda i: bytes([i % 256]) * 15 if i % 7 == 0 else PRIORITIES[i % 5].encode().ljust(15))
    named("named.arrow")
    named("long.arrow", "more than fifteen characters")
