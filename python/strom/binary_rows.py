"""Converts Arrow's columns to rows in the binary form of COPY, with NumPy: numbers, booleans, dates and times.

A row consists of the number of its fields, and the length and bytes of each field, all big-endian. A NULL has the
length -1 and no bytes. Rows are first made without regard to NULL, in an array of structures; then the bytes of NULLs
are removed."""
from __future__ import annotations

from typing import Any, Callable, Optional

from .errors import StromError

HEADER = b"PGCOPY\n\xff\r\n\0" + b"\0" * 8  # no flags, and no extension of the header
END = b"\xff\xff"
_DAYS, _MICROS = 10957, 946684800_000_000  # from 1970 to 2000, the epoch of PostgreSQL's dates and timestamps

# PostgreSQL's types that are supported: their OIDs, the names of Arrow's types with the same values, and NumPy's type
# of a field. Narrower integers fit as well. Narrower floats do not: as text, 0.1 in 32 bits becomes 0.1 in 64 bits, but
# their bits differ.
_TYPES: dict[int, tuple[tuple[str, ...], str]] = {
    16: (("bool",), "u1"),
    21: (("int8", "uint8", "int16"), ">i2"),
    23: (("int8", "uint8", "int16", "uint16", "int32"), ">i4"),
    20: (("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"), ">i8"),
    700: (("float", "halffloat"), ">f4"),
    701: (("double",), ">f8"),
    1082: (("date32[day]",), ">i4"),
    1083: (("time64[us]",), ">i8"),
    1114: (("timestamp[us]",), ">i8"),
    1184: (("timestamp[us, tz",), ">i8"),
}
_SHIFTS = {1082: (_DAYS, 1 << 31), 1114: (_MICROS, 1 << 63), 1184: (_MICROS, 1 << 63)}


def _is_of(kind: str, names: tuple[str, ...]) -> bool:
    return any(kind == name or (name.endswith("tz") and kind.startswith(name)) for name in names)


def encoder(cursor: Any, name: Any, schema: Any) -> Optional[Callable[[Any], Any]]:
    """Returns an object that encodes record batches of this schema for the table `name` (of psycopg.sql). None if a
    column has another type, or if the table does not fit; COPY reports the reason better."""
    try:
        import numpy
    except ImportError:
        return None
    from psycopg import sql

    cursor.execute(sql.SQL("SELECT attname, atttypid FROM pg_catalog.pg_attribute WHERE attrelid = pg_catalog.to_regclass({}) AND attnum > 0 "
                           "AND NOT attisdropped").format(sql.Literal(name.as_string(cursor))))
    types = dict(cursor.fetchall())
    wanted = [types.get(column, 0) for column in schema.names]
    if not wanted or any(oid not in _TYPES or not _is_of(str(kind), _TYPES[oid][0]) for oid, kind in zip(wanted, schema.types)):
        return None
    fields = [("count", ">i2")]
    for i, oid in enumerate(wanted):
        fields += [(f"length{i}", ">i4"), (f"value{i}", _TYPES[oid][1])]
    row = numpy.dtype(fields)
    return lambda batch: _encode(batch, wanted, row)


def _encode(batch: Any, oids: list[int], row: Any) -> Any:
    import numpy

    rows = numpy.empty(batch.num_rows, dtype=row)
    rows["count"] = len(oids)
    absent = None
    for i, (oid, column) in enumerate(zip(oids, batch.columns)):
        width = row[f"value{i}"].itemsize
        rows[f"length{i}"] = width
        rows[f"value{i}"] = _values(column, oid, batch.schema.names[i])
        if column.null_count:
            nulls = column.is_null().to_numpy(zero_copy_only=False)
            if absent is None:
                absent = numpy.zeros((batch.num_rows, row.itemsize), dtype=bool)
            begin = row.fields[f"value{i}"][1]
            absent[nulls, begin:begin + width] = True
            rows[f"length{i}"][nulls] = -1
    plain = rows.view("u1")
    return plain if absent is None else plain[~absent.reshape(-1)]


def _values(column: Any, oid: int, name: str) -> Any:
    """The column's values in PostgreSQL's units. For NULLs the values are undefined."""
    import pyarrow

    kind = column.type
    if pyarrow.types.is_float16(kind):
        column = column.cast(pyarrow.float32())
    if pyarrow.types.is_temporal(kind):
        column = column.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
    if column.null_count:
        column = column.fill_null(False if pyarrow.types.is_boolean(kind) else 0)
    values = column.to_numpy(zero_copy_only=False)
    if oid not in _SHIFTS or len(values) == 0:
        return values
    shift, limit = _SHIFTS[oid]
    # The least and the greatest value are PostgreSQL's infinities.
    if int(values.min()) - shift <= -limit or int(values.max()) - shift >= limit - 1:
        raise StromError(f'column "{name}" has a value that is out of PostgreSQL\'s range')
    return values - shift
