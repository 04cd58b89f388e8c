"""Columns of Arrow files that hold other types than those of columns.py: their layouts, and values as Arrow has them.

Pools are SQL texts, as those of HEAP_TYPES; `stored` makes of each what a file stores."""

import uuid

import pyarrow as pa

from columns import HEAP_TYPES, SQL_NAMES, Column

INTERVALS = {
    "0": (0, 0, 0), "1 mon": (1, 0, 0), "30 days": (0, 30, 0), "-1 mon": (-1, 0, 0), "29 days 24:00": (0, 29, 86400 * 10**9),
    "1 year 2 mons -3 days 04:05:06.789": (14, -3, 14706789 * 10**6), "-00:00:00.000001": (0, 0, -1000),
    "1200000 mons": (1200000, 0, 0), "-100000 days": (0, -100000, 0), "23:59:59.999999": (0, 0, 86399999999 * 1000),
}
ARRAYS = {"{}": [], "{1,2,3}": [1, 2, 3], "{NULL}": [None], "{1,NULL,3}": [1, None, 3], "{0}": [0],
          "{2147483647,-2147483648}": [2**31 - 1, -(2**31)], "{-1,-2,-3,-4,-5,-6,-7,-8,-9,NULL}": [*range(-1, -10, -1), None]}
LAYOUTS = {
    "uuid": {"fixed": pa.binary(16), "text": pa.string()},
    "bytea": {"binary": pa.binary(), "large_binary": pa.large_binary(), "binary_view": pa.binary_view()},
    "time": {"time64us": pa.time64("us"), "time64ns": pa.time64("ns")},
    "interval": {"month_day_nano": pa.month_day_nano_interval()},
    "oid": {"uint32": pa.uint32()},
    "xid8": {"uint64": pa.uint64()},
    "pglsn": {"uint64": pa.uint64(), "text": pa.string()},
    "tid": {"fixed": pa.binary(6), "text": pa.string()},
    "int1": {"int8": pa.int8()},
    "float2": {"float16": pa.float16()},
    "macaddr": {"fixed": pa.binary(6), "text": pa.string()},
    "macaddr8": {"fixed": pa.binary(8), "text": pa.large_string()},
    "inet": {"text": pa.string()},
    "cidr": {"text": pa.string_view()},
    "enum": {"text": pa.string(), "dictionary": pa.dictionary(pa.int8(), pa.string())},
    "jsonb": {"text": pa.string()},
    "timetz": {"text": pa.string()},
    "array": {"list": pa.list_(pa.int32()), "large_list": pa.large_list(pa.int32())},
}


# The engine leaves these in files to PostgreSQL: with many of them little of a query would be the engine's.
RARE = ("time", "interval", "inet", "cidr", "enum", "jsonb", "timetz", "array")


def file_column(rng, name):
    """A column of such a type."""
    base, = rng.choices(list(LAYOUTS), [0.4 if base in RARE else 1 for base in LAYOUTS])
    column = Column(name, base, "tame", rng.choice([0, 0.05, 0.3, 1.0]), declared=SQL_NAMES.get(base, base))
    pool = list({"interval": INTERVALS, "array": ARRAYS}.get(base, HEAP_TYPES[base]))
    column.pool = rng.sample(pool, min(len(pool), rng.choice([1, 3, 20])))
    if base == "array":
        column.element = "int4"
    return column


def is_file_column(column):
    return column.base in LAYOUTS and not column.modifier


def micros(text):
    hours, minutes, seconds = (text + ":00").split(":")[:3]
    return round((int(hours) * 3600 + int(minutes) * 60) * 10**6 + float(seconds) * 10**6)


def stored(base, layout, text):
    if layout in ("text", "dictionary"):
        return text
    if base == "uuid":
        return uuid.UUID(text).bytes
    if base == "bytea":
        return bytes.fromhex(text[2:])
    if base == "time":
        return micros(text) * (1000 if layout == "time64ns" else 1)
    if base == "interval":
        return pa.MonthDayNano(list(INTERVALS[text]))
    if base == "array":
        return ARRAYS[text]
    if base in ("macaddr", "macaddr8"):
        return bytes.fromhex(text.replace(":", ""))
    if base == "pglsn":
        high, low = text.split("/")
        return int(high, 16) << 32 | int(low, 16)
    if base == "tid":
        block, item = text.strip("()").split(",")
        return int(block).to_bytes(4, "big") + int(item).to_bytes(2, "big")
    return float(text) if base == "float2" else int(text)


def file_array(rng, column, layout, rows):
    """`rows` values drawn from the pool."""
    pool = [stored(column.base, layout, text) for text in column.pool]
    values = [None if rng.random() < column.nulls else rng.choice(pool) for _ in range(rows)]
    kind = LAYOUTS[column.base][layout]
    if layout == "dictionary":  # one for all batches
        indexes = [None if v is None else pool.index(v) for v in values]
        return pa.DictionaryArray.from_arrays(pa.array(indexes, pa.int8()), pa.array(pool))
    if column.base == "time":
        return pa.array(values, pa.int64()).view(kind)
    return pa.array(values, kind)
