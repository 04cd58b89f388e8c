"""Converts values of rows between the store's bytes and those of Python, NumPy and Arrow.

docs/format/store.md has the form of a row's payload."""
from __future__ import annotations

import datetime
import json
import numbers
import operator
import struct
import uuid
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from ._encodings import UTF8, Encoding

# OIDs of types, from pg_type.dat.
BOOL, BYTEA, NAME, INT8, INT2, INT4, TEXT, OID, JSON, FLOAT4, FLOAT8 = 16, 17, 19, 20, 21, 23, 25, 26, 114, 700, 701
BPCHAR, VARCHAR, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, UUID, JSONB = 1042, 1043, 1082, 1083, 1114, 1184, 2950, 3802

_TEXTS = (TEXT, VARCHAR, BPCHAR, JSON, NAME)
_EPOCH = datetime.datetime(2000, 1, 1)
_UTC_EPOCH = _EPOCH.replace(tzinfo=datetime.timezone.utc)
_EPOCH_DAYS = 10957  # from 1970-01-01
_EPOCH_JULIAN = 2451545
_DAY_US = 86400 * 1000000
_US = datetime.timedelta(microseconds=1)


class Column(NamedTuple):
    """`width`: bytes of a stored value; 0: variable. `encoding`: of text."""

    name: str
    type: str
    type_id: int
    width: int
    encoding: Encoding = UTF8


def _infinite(value: int, bits: int) -> Optional[str]:
    if value == (1 << (bits - 1)) - 1:
        return "infinity"
    return "-infinity" if value == -(1 << (bits - 1)) else None


def _date(stored: bytes) -> Any:
    days, = struct.unpack("<i", stored)
    try:
        return _infinite(days, 32) or _EPOCH.date() + datetime.timedelta(days=days)
    except OverflowError:
        return days


def _timestamp(epoch: datetime.datetime) -> Callable[[bytes], Any]:
    def read(stored: bytes) -> Any:
        us, = struct.unpack("<q", stored)
        try:
            return _infinite(us, 64) or epoch + datetime.timedelta(microseconds=us)
        except OverflowError:
            return us

    return read


def _time(stored: bytes) -> Any:
    us, = struct.unpack("<q", stored)
    return "24:00:00" if us >= _DAY_US else (_EPOCH + datetime.timedelta(microseconds=us)).time()


def _number(form: str) -> Callable[[bytes], Any]:
    return lambda stored: struct.unpack(form, stored)[0]


_READERS: Dict[int, Callable[[bytes], Any]] = {
    BOOL: lambda stored: stored[0] != 0,
    INT2: _number("<i"), INT4: _number("<i"), INT8: _number("<q"), OID: _number("<Q"),
    FLOAT4: _number("<f"), FLOAT8: _number("<d"),
    DATE: _date, TIME: _time, TIMESTAMP: _timestamp(_EPOCH), TIMESTAMPTZ: _timestamp(_UTC_EPOCH),
    UUID: lambda stored: uuid.UUID(bytes=stored),
}


def python_value(column: Column, stored: Optional[bytes]) -> Any:
    """The value in Python. For unknown types it is the stored bytes. Dates and times that Python cannot represent
    become "infinity", "-infinity", or the number of days or microseconds since 2000-01-01."""
    if stored is None:
        return None
    if column.type_id in _TEXTS:
        return column.encoding.decode(stored.split(b"\0", 1)[0] if column.type_id == NAME else stored)
    reader = _READERS.get(column.type_id)
    return stored if reader is None else reader(stored)


class Stored(NamedTuple):
    """A row as the library gives it."""

    key: bytes
    payload: bytes
    has_nulls: bool


class Shape:
    """The columns of a table, and the index of the key's column."""

    def __init__(self, columns: Sequence[Column], key: int) -> None:
        self.columns, self.key = list(columns), key
        self._bitmap = (len(self.columns) + 7) // 8

    @property
    def payload_bytes(self) -> int:
        """Bytes of the payload of a row without NULLs; 0 if values have variable width."""
        widths = [column.width for i, column in enumerate(self.columns) if i != self.key]
        return sum(widths) if all(widths) and self.columns[self.key].width else 0

    def split(self, keys: Any, payloads: Any) -> List[Any]:
        """The stored bytes of each column, from arrays of the keys' and the payloads' bytes, of rows without NULLs."""
        import numpy

        parts = [(f"c{i}", f"V{column.width}") for i, column in enumerate(self.columns) if i != self.key]
        table = payloads.view(numpy.dtype(parts)).reshape(-1)
        return [keys.view(f"V{column.width}") if i == self.key else numpy.ascontiguousarray(table[f"c{i}"])
                for i, column in enumerate(self.columns)]

    def fields(self, row: Stored) -> List[Optional[bytes]]:
        """The stored values of a row; None for NULL."""
        payload, at = row.payload, self._bitmap if row.has_nulls else 0
        fields: List[Optional[bytes]] = [None] * len(self.columns)
        fields[self.key] = row.key
        there = [i for i in range(len(self.columns))
                 if i != self.key and not (row.has_nulls and payload[i >> 3] >> (i & 7) & 1)]
        # The last value of variable width takes what those behind it leave.
        last = max((i for i in there if self.columns[i].width == 0), default=-1)
        behind = sum(self.columns[i].width for i in there if i > last)
        for i in there:
            width = self.columns[i].width
            if i == last:
                width = len(payload) - behind - at
            elif width == 0:
                width, = struct.unpack_from("<I", payload, at)
                at += 4
            fields[i] = payload[at:at + width]
            at += width
        return fields

    def row(self, stored: Stored) -> Dict[str, Any]:
        return {column.name: python_value(column, field) for column, field in zip(self.columns, self.fields(stored))}

    def stored_columns(self, found: Sequence[Optional[Stored]]) -> List[Any]:
        """For each column either a NumPy array with the stored bytes of all rows, or a list with None for NULL. A row
        that is None has only NULLs."""
        import numpy

        rows = [row for row in found if row is not None and not row.has_nulls]
        if rows and self.payload_bytes and len(rows) == len(found):
            return self.split(*(numpy.frombuffer(b"".join(parts), "u1")
                                for parts in ([row.key for row in rows], [row.payload for row in rows])))
        fields = [[None] * len(self.columns) if row is None else self.fields(row) for row in found]
        return [[row[i] for row in fields] for i in range(len(self.columns))]


# ---- NumPy and Arrow ----

_NUMPY: Dict[int, str] = {BOOL: "?", INT2: "<i4", INT4: "<i4", INT8: "<i8", OID: "<u8", FLOAT4: "<f4", FLOAT8: "<f8", DATE: "<i4",
                          TIME: "<i8", TIMESTAMP: "<i8", TIMESTAMPTZ: "<i8"}


def _numbers(column: Column, stored: Any) -> Any:
    """A masked array of a column's stored numbers; its mask is where values are NULL."""
    import numpy

    form = _NUMPY[column.type_id]
    if not isinstance(stored, list):
        return numpy.ma.masked_array(stored.view(form), numpy.zeros(len(stored), bool))
    nulls = numpy.array([value is None for value in stored], bool)
    data = b"".join(b"\0" * column.width if value is None else value for value in stored)
    return numpy.ma.masked_array(numpy.frombuffer(data, form), nulls)


def numpy_column(column: Column, stored: Any) -> Any:
    """A masked array: numbers and booleans, datetime64 in days or microseconds (NaT: infinite, or too late), else objects."""
    import numpy

    if column.type_id not in _NUMPY:
        values = stored if isinstance(stored, list) else [value.tobytes() for value in stored]
        objects = numpy.empty(len(values), object)
        objects[:] = [python_value(column, value) for value in values]
        return numpy.ma.masked_array(objects, numpy.array([value is None for value in values], bool))
    numbers = _numbers(column, stored)
    if column.type_id == INT2:
        return numbers.astype("<i2")
    if column.type_id == TIME:
        return numbers.astype("timedelta64[us]")
    if column.type_id not in (DATE, TIMESTAMP, TIMESTAMPTZ):
        return numbers
    is_date = column.type_id == DATE
    wide = numbers.data.astype("<i8")
    limits = numpy.iinfo("<i4" if is_date else "<i8")
    shift = _EPOCH_DAYS if is_date else _EPOCH_DAYS * _DAY_US
    infinite = (wide == limits.min) | (wide == limits.max) | (wide > numpy.iinfo("<i8").max - shift)
    shifted = numpy.where(infinite, 0, wide) + shift
    times = shifted.astype("datetime64[D]" if is_date else "datetime64[us]")
    times[infinite] = numpy.datetime64("NaT")
    return numpy.ma.masked_array(times, numbers.mask)


def arrow_array(column: Column, stored: Any) -> Any:
    """A pyarrow array. ValueError for infinite dates and times, which Arrow does not have."""
    import numpy
    import pyarrow

    types = {BOOL: pyarrow.bool_(), INT2: pyarrow.int16(), INT4: pyarrow.int32(), INT8: pyarrow.int64(), OID: pyarrow.uint32(),
             FLOAT4: pyarrow.float32(), FLOAT8: pyarrow.float64(), DATE: pyarrow.date32(), TIME: pyarrow.time64("us"),
             TIMESTAMP: pyarrow.timestamp("us"), TIMESTAMPTZ: pyarrow.timestamp("us", "UTC")}
    if column.type_id in types:
        values = numpy_column(column, stored)
        nulls = numpy.ma.getmaskarray(values)
        data = values.data
        if data.dtype.kind == "M":
            if numpy.isnat(data[~nulls]).any():
                raise ValueError(f'column "{column.name}" has an infinite value, which Arrow has not')
            data = data.astype("<i8").astype("<i4" if column.type_id == DATE else "<i8")
        elif data.dtype.kind == "m":
            data = data.astype("<i8")
        bare = {DATE: pyarrow.int32(), TIME: pyarrow.int64(), TIMESTAMP: pyarrow.int64(), TIMESTAMPTZ: pyarrow.int64()}
        target = types[column.type_id]
        array = pyarrow.array(data, mask=nulls if nulls.any() else None, type=bare.get(column.type_id, None))
        return array if array.type == target else array.view(target) if column.type_id in bare else array.cast(target)
    values = stored if isinstance(stored, list) else [value.tobytes() for value in stored]
    if column.type_id in _TEXTS:
        return pyarrow.array([python_value(column, value) for value in values], pyarrow.string())
    return pyarrow.array(values, pyarrow.binary(column.width) if column.width else pyarrow.binary())


# ---- To the store ----


def _units(value: Any, bits: int, convert: Callable[[], int]) -> int:
    """The number that the store has for a date or time of python_value(); `convert` is for those of Python's own types."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if value in ("infinity", "-infinity"):
        return (1 << (bits - 1)) - 1 if value == "infinity" else -(1 << (bits - 1))
    return convert()


def key_bytes(column: Column, key: Any) -> bytes:
    """A key in the stored form of its column. bytes are used unchanged."""
    if isinstance(key, (bytes, bytearray, memoryview)):
        return bytes(key)
    kind = column.type_id
    try:
        if kind in (INT2, INT4, INT8, OID):
            return struct.pack({INT8: "<q", OID: "<Q"}.get(kind, "<i"), int(key) if isinstance(key, str) else operator.index(key))
        if kind in (TEXT, VARCHAR):
            if key is None:
                raise TypeError("NULL is no key")
            return column.encoding.encode(str(key))
        if kind == UUID:
            return (key if isinstance(key, uuid.UUID) else uuid.UUID(str(key))).bytes
        if kind == DATE:
            return struct.pack("<i", _units(key, 32, lambda: (key - _EPOCH.date()).days))
        if kind == TIMESTAMP:
            return struct.pack("<q", _units(key, 64, lambda: (key - _EPOCH) // _US))
        if kind == TIMESTAMPTZ:
            return struct.pack("<q", _units(key, 64, lambda: (key - _UTC_EPOCH) // _US))
    except (struct.error, TypeError, ValueError) as error:
        raise ValueError(f"{key!r} is no value of the key's type, {column.type}") from error
    raise ValueError(f"keys of type {column.type} are given by their bytes, as they are stored")


def number_keys(column: Column, keys: Any) -> Optional[Any]:
    """Integer keys as an array of stored values; None: they are something else, or out of range."""
    import numpy

    form = {INT2: "<i4", INT4: "<i4", INT8: "<i8"}.get(column.type_id)
    numbers = numpy.asarray(keys)
    if form is None or numbers.ndim != 1 or numbers.dtype.kind != "i":
        return None
    stored = numpy.ascontiguousarray(numbers, form)
    return stored if (stored == numbers).all() else None


def text_of(column: Column, value: Any) -> str:
    """A value as text for SQL's input functions."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral) and column.type_id in (DATE, TIMESTAMP, TIMESTAMPTZ):
        # What python_value() gives for dates beyond Python's years. SQL reads Julian days, whatever the year.
        days, us = (int(value), None) if column.type_id == DATE else divmod(int(value), _DAY_US)
        return f"J{days + _EPOCH_JULIAN}" + ("" if us is None else f" {us // 3600000000:02}:{us // 60000000 % 60:02}:"
                                             f"{us // 1000000 % 60:02}.{us % 1000000:06}") + ("+00" if column.type_id == TIMESTAMPTZ else "")
    if isinstance(value, (dict, list)) and column.type_id in (JSON, JSONB):
        return json.dumps(value)
    if isinstance(value, (dict, list, tuple, set)):
        raise TypeError(f'a value of column "{column.name}" ({column.type}) is given as the text that SQL reads')
    return str(value)
