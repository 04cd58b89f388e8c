"""Reads and changes rows by messages to the server."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from . import _library as lib
from ._encodings import encoding_of
from ._tokens import Token, token_source
from ._values import Column, Stored, key_bytes, text_of
from .errors import StoreError
from .region import check_form, in_form, read_many, shape_of, stored_row

_TOGETHER = 256  # requests in one message


class Session:
    """A session, for one thread at a time. When a function returns, changes are as durable as the table's option says.
    After Unreachable or Silent it is unknown whether a change was made, and the session is unusable."""

    def __init__(self, token: Token) -> None:
        self._session: Optional[ctypes.c_void_p] = lib.opened("stromkv_session_open", token.socket.encode(), token.token.encode())
        self._shape = shape_of(self._session, "stromkv_session_", token.encoding)

    @classmethod
    def from_token(cls, socket: str, token: str, server_encoding: str = "UTF8") -> "Session":
        """Opens a session with the result of pgstrom.kv_session(). `server_encoding`: as SHOW tells it."""
        return cls(Token(socket, token, encoding_of(server_encoding)))

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            lib.library().stromkv_session_close(session)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_session", None) is not None:
            self.close()

    @property
    def columns(self) -> List[Column]:
        return list(self._shape.columns)

    def set_patience(self, milliseconds: int) -> None:
        """How long to wait for an answer; 0: for ever. 10000 by default."""
        lib.library().stromkv_session_set_patience(self._open(), ctypes.c_uint(milliseconds))

    def _open(self) -> ctypes.c_void_p:
        if self._session is None:
            raise ValueError("the session is closed")
        return self._session

    def _check(self, status: int) -> None:
        if status != lib.OK:
            raise lib.failure(status, lib.library().stromkv_session_error(self._open()).decode(errors="replace"))

    def _key(self, key: Any) -> Tuple[Any, lib.Key]:
        data = key_bytes(self._shape.columns[self._shape.key], key)
        held = ctypes.create_string_buffer(data, max(len(data), 1))
        return held, lib.Key(ctypes.addressof(held), len(data))

    def _values(self, row: Mapping[str, Any]) -> List[lib.Value]:
        unknown = set(row) - {column.name for column in self._shape.columns}
        if unknown:
            raise ValueError(f"the table has no column {sorted(unknown)[0]!r}")
        values = []
        for column in self._shape.columns:
            value = row.get(column.name)
            if value is None:
                values.append(lib.Value(lib.NULL, None, 0))
            elif isinstance(value, (bytes, bytearray, memoryview)):
                stored = bytes(value)
                values.append(lib.Value(lib.STORED, stored, len(stored)))
            else:
                text = text_of(column, value).encode(errors=column.encoding.errors)  # the server takes UTF-8
                values.append(lib.Value(lib.TEXT, text, len(text)))
        return values

    def get(self, key: Any) -> Optional[Dict[str, Any]]:
        """The row with this key; None if there is none."""
        row, _ = self.get_versioned(key)
        return row

    def get_versioned(self, key: Any) -> Tuple[Optional[Dict[str, Any]], int]:
        """The row and its generation for compare_and_set(); (None, 0) if there is none."""
        held, wanted = self._key(key)
        row = lib.Row()
        status = lib.library().stromkv_session_get(self._open(), wanted, ctypes.byref(row))
        del held
        if status == lib.NOT_FOUND:
            return None, 0
        self._check(status)
        return self._shape.row(stored_row(row)), int(row.generation)

    def mget(self, keys: Iterable[Any], form: str = "rows") -> Any:
        """Like Table.mget(). Each 256 rows belong to one moment."""
        check_form(form)
        key_column = self._shape.columns[self._shape.key]
        wanted = [key_bytes(key_column, key) for key in keys]
        found: List[Optional[Stored]] = []
        session = self._open()
        for begin in range(0, len(wanted), _TOGETHER):
            status, some = read_many(lambda *arguments: lib.library().stromkv_session_get_many(session, *arguments),
                                     wanted[begin:begin + _TOGETHER])
            self._check(status)
            found += some
        return in_form(self._shape, found, form)

    def put(self, row: Mapping[str, Any]) -> bool:
        """Makes the row, or changes the row with its key. Missing columns become NULL. bytes are stored values; other
        values are sent as text. Whole numbers in columns of dates and times are what get() gives beyond Python's years.
        Returns whether the row is new."""
        values = self._values(row)
        is_new = ctypes.c_int()
        self._check(lib.library().stromkv_session_put(self._open(), (lib.Value * len(values))(*values), ctypes.byref(is_new)))
        return is_new.value != 0

    def put_many(self, rows: Iterable[Mapping[str, Any]]) -> List[Optional[StoreError]]:
        """Writes several rows, each of which succeeds (None) or fails by itself."""
        all_rows = list(rows)
        outcomes: List[Optional[StoreError]] = []
        for begin in range(0, len(all_rows), _TOGETHER):
            some = [self._values(row) for row in all_rows[begin:begin + _TOGETHER]]
            values = [value for row in some for value in row]
            statuses = (ctypes.c_int * len(some))()
            status = lib.library().stromkv_session_put_many(self._open(), (lib.Value * len(values))(*values),
                                                            ctypes.c_size_t(len(some)), statuses)
            failed = [code for code in statuses if code != lib.OK]
            if status != lib.OK and not failed:
                self._check(status)
            said = lib.library().stromkv_session_error(self._open()).decode(errors="replace")
            # The library keeps only the last error's message.
            last = max((i for i, code in enumerate(statuses) if code != lib.OK), default=-1)
            outcomes += [None if code == lib.OK else lib.failure(code, said if i == last else "") for i, code in enumerate(statuses)]
        return outcomes

    def compare_and_set(self, row: Mapping[str, Any], generation: int) -> None:
        """Changes the row if it has this generation. For generation 0, makes the row if there is none. Else
        Conflict."""
        values = self._values(row)
        self._check(lib.library().stromkv_session_compare_and_set(self._open(), (lib.Value * len(values))(*values),
                                                                  ctypes.c_uint32(generation)))

    def delete(self, key: Any) -> bool:
        """Deletes the row; returns whether it existed."""
        held, wanted = self._key(key)
        status = lib.library().stromkv_session_delete(self._open(), wanted)
        del held
        if status == lib.NOT_FOUND:
            return False
        self._check(status)
        return True

    def statistics(self) -> Dict[str, int]:
        """rows of the table; clients, operations, groups and failures of this database's server."""
        told = lib.ServerStatistics()
        self._check(lib.library().stromkv_session_statistics(self._open(), ctypes.byref(told)))
        return {name: getattr(told, name) for name, *_ in told._fields_}


def session(database: Any, table: str) -> Session:
    """`database`: an argument for psycopg.connect(), or a connection. `table`: its name in SQL."""
    return Session(token_source(database, "kv_session", table)())
