"""Reads a table's published region, without involving the server."""
from __future__ import annotations

import ctypes
import itertools
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from . import _library as lib
from ._encodings import Encoding, encoding_of
from ._tokens import Token, token_source
from ._values import Column, Shape, Stored, arrow_array, key_bytes, number_keys, numpy_column

_MOST_KEYS = 4096  # for one call of the library; their rows are in memory together


def shape_of(owner: Any, prefix: str, encoding: Encoding) -> Shape:
    """The columns that the library reports for a table or session."""
    library = lib.library()
    columns = []
    for i in range(getattr(library, f"{prefix}column_count")(owner)):
        column = getattr(library, f"{prefix}column_at")(owner, i).contents
        columns.append(Column(encoding.decode(column.name), column.type.decode(), column.type_id, column.width, encoding))
    return Shape(columns, getattr(library, f"{prefix}key_column")(owner))


class _Region:
    """A mapped region. It lives as long as a reader refers to it."""

    def __init__(self, token: Token) -> None:
        self.table = lib.opened("stromkv_attach", token.socket.encode(), token.token.encode())
        self.shape = shape_of(self.table, "stromkv_", token.encoding)

    def __del__(self) -> None:
        if getattr(self, "table", None):
            lib.library().stromkv_detach(self.table)


class _Reader:
    """The library's reader for one thread."""

    def __init__(self, region: _Region) -> None:
        self.region = region
        self.reader = ctypes.c_void_p()
        status = lib.library().stromkv_reader_open(region.table, ctypes.byref(self.reader))
        if status != lib.OK:
            raise lib.failure(status)

    def __del__(self) -> None:
        if getattr(self, "reader", None):
            lib.library().stromkv_reader_close(self.reader)


def stored_row(row: lib.Row) -> Stored:
    return Stored(ctypes.string_at(row.key.data, row.key.bytes), ctypes.string_at(row.data, row.bytes), row.form != 0)


def read_many(call: Callable[[Any, Any, int], int], keys: Sequence[bytes]) -> Tuple[int, List[Optional[Stored]]]:
    """The status, and the rows; None for a missing row."""
    held = [ctypes.create_string_buffer(key, max(len(key), 1)) for key in keys]
    wanted = (lib.Key * len(keys))(*[lib.Key(ctypes.addressof(buffer), len(key)) for buffer, key in zip(held, keys)])
    rows = (lib.Row * len(keys))()
    status = call(wanted, rows, len(keys))
    if status != lib.OK:
        return status, []
    return status, [stored_row(row) if row.status == lib.OK else None for row in rows]


def read_numbers(reader: "_Reader", keys: Any) -> Optional[List[Any]]:
    """The stored columns of the rows with these keys, which are an array of numbers, with little work for each row.
    None if a row is missing, has NULLs or has to be tried again, or if values have variable width."""
    import numpy

    shape, width = reader.region.shape, keys.dtype.itemsize
    whole = shape.payload_bytes
    if whole == 0 or len(keys) == 0:
        return None
    wanted = numpy.empty(min(len(keys), _MOST_KEYS), numpy.dtype(lib.Key))
    rows = numpy.empty(len(wanted), numpy.dtype(lib.Row))
    pieces: List[bytes] = []
    for begin in range(0, len(keys), _MOST_KEYS):
        count = min(_MOST_KEYS, len(keys) - begin)
        wanted["data"][:count] = keys.ctypes.data + numpy.arange(begin, begin + count, dtype="u8") * width
        wanted["bytes"] = width
        status = lib.library().stromkv_get_many(reader.reader, wanted.ctypes.data, rows.ctypes.data, count)
        got = rows[:count]
        if status != lib.OK or (got["status"] != lib.OK).any() or (got["form"] != 0).any() or (got["bytes"] != whole).any():
            return None
        pieces += map(ctypes.string_at, got["data"].tolist(), itertools.repeat(whole))
    return shape.split(keys.view("u1"), numpy.frombuffer(b"".join(pieces), "u1"))


def in_form(shape: Shape, found: Sequence[Optional[Stored]], form: str) -> Any:
    """`form`: "rows", "numpy" or "arrow"."""
    if form == "rows":
        return [None if row is None else shape.row(row) for row in found]
    return as_columns(shape, shape.stored_columns(found), form)


def check_form(form: str) -> None:
    if form not in ("rows", "numpy", "arrow"):
        raise ValueError(f'form is "rows", "numpy" or "arrow", not {form!r}')


def as_columns(shape: Shape, stored: Sequence[Any], form: str) -> Any:
    """`form`: "numpy" or "arrow"."""
    if form == "numpy":
        return {column.name: numpy_column(column, values) for column, values in zip(shape.columns, stored)}
    import pyarrow

    return pyarrow.RecordBatch.from_arrays([arrow_array(column, values) for column, values in zip(shape.columns, stored)],
                                           [column.name for column in shape.columns])


class Table:
    """A table's committed rows, for all threads. When the server replaces the region, the table attaches again, if
    attach() has opened it and the role may still read it."""

    def __init__(self, tokens: Callable[[], Token]) -> None:
        self._tokens = tokens
        self._lock = threading.Lock()
        self._region: Optional[_Region] = _Region(tokens())
        self._threads = threading.local()

    @classmethod
    def from_token(cls, socket: str, token: str, server_encoding: str = "UTF8") -> "Table":
        """Opens a table with the result of pgstrom.kv_attach(). Raises Moved when the server replaces the region.
        `server_encoding`: as SHOW tells it in the table's database."""
        given = [Token(socket, token, encoding_of(server_encoding))]

        def once() -> Token:
            if not given:
                raise lib.failure(lib.MOVED)
            return given.pop()

        return cls(once)

    def close(self) -> None:
        self._region = None
        self._threads = threading.local()

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _current(self) -> _Region:
        region = self._region
        if region is None:
            raise ValueError("the table is closed")
        return region

    def _reader(self) -> _Reader:
        region = self._current()
        reader = getattr(self._threads, "reader", None)
        if reader is None or reader.region is not region:
            reader = self._threads.reader = _Reader(region)
        return reader

    def _attach_again(self, moved: _Region) -> None:
        with self._lock:
            if self._region is moved:
                self._region = _Region(self._tokens())

    @property
    def columns(self) -> List[Column]:
        return list(self._current().shape.columns)

    @property
    def key(self) -> str:
        """The name of the key's column."""
        shape = self._current().shape
        return shape.columns[shape.key].name

    def __len__(self) -> int:
        """The current number of rows."""
        return int(lib.library().stromkv_row_count(self._current().table))

    def _rows(self, keys: Iterable[Any]) -> Tuple[Shape, List[Optional[Stored]]]:
        wanted = list(keys)
        for attempt in range(3):
            reader = self._reader()
            shape = reader.region.shape
            bytes_of = [key_bytes(shape.columns[shape.key], key) for key in wanted]
            found: List[Optional[Stored]] = []
            status = lib.OK
            for begin in range(0, len(bytes_of), _MOST_KEYS):
                status, some = read_many(lambda *arguments: lib.library().stromkv_get_many(reader.reader, *arguments),
                                         bytes_of[begin:begin + _MOST_KEYS])
                if status != lib.OK:
                    break
                found += some
            if status == lib.OK:
                return shape, found
            if status != lib.MOVED or attempt == 2:
                raise lib.failure(status)
            self._attach_again(reader.region)
        raise AssertionError

    def get(self, key: Any) -> Optional[Dict[str, Any]]:
        """The row with this key; None if there is none."""
        shape, found = self._rows([key])
        return None if found[0] is None else shape.row(found[0])

    def mget(self, keys: Iterable[Any], form: str = "rows") -> Any:
        """Rows in the order of the keys. form "rows": a list, with None for keys without a row. "numpy": a dict of
        masked arrays; "arrow": a pyarrow.RecordBatch. In both, keys without a row have NULLs."""
        check_form(form)
        wanted = keys if hasattr(keys, "__len__") else list(keys)
        if form != "rows":
            reader = self._reader()
            shape = reader.region.shape
            numbers = number_keys(shape.columns[shape.key], wanted)
            stored = None if numbers is None else read_numbers(reader, numbers)
            if stored is not None:
                return as_columns(shape, stored, form)
        shape, found = self._rows(wanted)
        return in_form(shape, found, form)

    def _begin_scan(self, row: Any) -> Tuple[_Reader, int]:
        """A reader at its first row, and the status of that."""
        reader = _Reader(self._current())
        lib.library().stromkv_scan_begin(reader.reader)
        return reader, lib.library().stromkv_scan_next(reader.reader, ctypes.byref(row))

    def scan(self) -> Iterator[Dict[str, Any]]:
        """All rows, in no particular order. Rows that the server moves meanwhile may be returned twice or not at
        all."""
        row = lib.Row()
        reader, status = self._begin_scan(row)
        if status == lib.MOVED:
            self._attach_again(reader.region)
            reader, status = self._begin_scan(row)
        while status == lib.OK:
            yield reader.region.shape.row(stored_row(row))
            status = lib.library().stromkv_scan_next(reader.reader, ctypes.byref(row))
        if status != lib.NOT_FOUND:
            raise lib.failure(status)

    def statistics(self) -> Dict[str, int]:
        """gets, bucket_reads, record_reads and retries of this thread."""
        told = lib.ReaderStatistics()
        lib.library().stromkv_reader_statistics(self._reader().reader, ctypes.byref(told))
        return {name: getattr(told, name) for name, *_ in told._fields_}


def attach(database: Any, table: str) -> Table:
    """`database`: an argument for psycopg.connect(), or a connection. `table`: its name in SQL."""
    return Table(token_source(database, "kv_attach", table))
