"""Queries whose results come as the server's own columns: Arrow record batches that it makes past its executor."""
from __future__ import annotations

import struct
from typing import Any, Callable, Iterator, Optional

from . import writing
from .errors import StromError
from .plans import Plan

_HEADER = b"PGCOPY\n\xff\r\n\0"
_FIELDS = struct.Struct("!h")
_LENGTH = struct.Struct("!i")
_BATCH_BYTES = 16 << 20


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise ImportError("sessions need psycopg: pip install 'psycopg[binary]'") from error
    return psycopg


class _Pieces:
    """A file of the values of a COPY in binary format with one column: the pieces of an Arrow stream."""

    closed = False

    def __init__(self, copy: Any, progress: Optional[Callable[[int], None]]) -> None:
        self._copy = copy
        self._blocks = iter(copy)
        self._have = bytearray()
        self._left = 0  # of the value at hand
        self._is_done = False
        self._bytes = 0
        self._progress = progress
        header = self._take(len(_HEADER) + 8)
        if header[:len(_HEADER)] != _HEADER:
            raise StromError("the server does not send COPY's binary format")

    def _fill(self, size: int) -> None:
        while len(self._have) < size:
            block = next(self._blocks, None)
            if block is None:
                raise StromError("the server's data ends too early")
            self._have += block

    def _take(self, size: int) -> bytes:
        self._fill(size)
        taken = bytes(self._have[:size])
        del self._have[:size]
        return taken

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes; none at the end."""
        parts: list[bytes] = []
        wanted = size
        while wanted != 0 and not self._is_done:
            if self._left == 0:
                fields, = _FIELDS.unpack(self._take(_FIELDS.size))
                if fields < 0:
                    self.drain()
                    break
                self._left, = _LENGTH.unpack(self._take(_LENGTH.size))
                continue
            if not self._have:
                self._fill(1)
            some = min(len(self._have), self._left) if wanted < 0 else min(len(self._have), self._left, wanted)
            parts.append(bytes(self._have[:some]))
            del self._have[:some]
            self._left -= some
            self._bytes += some
            wanted -= some if wanted > 0 else 0
        if self._progress is not None:
            self._progress(self._bytes)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def drain(self) -> None:
        """Takes what is left of the copy, at whose end errors would be told."""
        self._is_done = True
        for _ in self._blocks:
            pass

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


class _Stopped(Exception):
    """Tells psycopg that nobody reads the rest."""


class Result:
    """A query's record batches, as they come. Iterate over it, or take all of it; it is read once."""

    def __init__(self, session: Session, sql: str, batch_bytes: int, progress: Optional[Callable[[int], None]]) -> None:
        import pyarrow

        self._cursor = session.connection.cursor()
        statement = _psycopg().sql.SQL(
            "COPY (SELECT pgstrom.arrow_ipc_stream({}, {})) TO STDOUT (FORMAT binary)").format(sql, batch_bytes)
        self._copy = self._cursor.copy(statement)
        self._pieces = _Pieces(self._copy.__enter__(), progress)
        self._reader = pyarrow.ipc.open_stream(pyarrow.PythonFile(self._pieces, "r"))
        self.schema = self._reader.schema

    def __iter__(self) -> Iterator[Any]:
        """pyarrow.RecordBatch after pyarrow.RecordBatch."""
        yield from self._reader
        self._end()

    def read_all(self) -> Any:
        """All rows as pyarrow.Table."""
        table = self._reader.read_all()
        self._end()
        return table

    fetch_arrow_table = read_all

    def fetch_df(self) -> Any:
        """All rows as pandas.DataFrame."""
        return self.read_all().to_pandas()

    def _end(self) -> None:
        """After the last record batch."""
        if self._copy is not None:
            self._pieces.drain()
            copy, self._copy = self._copy, None
            copy.__exit__(None, None, None)
            self._cursor.close()

    def close(self) -> None:
        """Ends the query, also where rows are left."""
        if self._copy is not None:
            copy, self._copy = self._copy, None
            copy.__exit__(_Stopped, _Stopped(), None)
            self._cursor.close()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """A session of a PostgreSQL with pg_strom. `connection` is psycopg's, for everything else."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def query(self, sql: str, *, batch_bytes: int = _BATCH_BYTES,
              progress: Optional[Callable[[int], None]] = None) -> Result:
        """The result of a SELECT. `batch_bytes`: about the size of a record batch. `progress` is called with the bytes
        that have come. Errors are psycopg's."""
        return Result(self, sql, batch_bytes, progress)

    def write(self, table: str, data: Any, append: bool = True) -> int:
        """Adds Arrow data to a table of any kind that can be written to; the number of rows.

        `table`: "name" or "schema.name". `data`: a pyarrow Table, RecordBatch or RecordBatchReader, a data frame of
        pandas or polars, or an iterable of record batches. Its columns go by name. All rows are written, or none.
        `append` False: the table's rows are removed first, in the same transaction. Types that are nested, and
        intervals, are a StromError."""
        return writing.write(self.connection, table, data, append)

    def plan(self, sql: str, analyze: bool = True) -> Plan:
        """The plan of a statement, with times and rows unless `analyze` is False. It runs the statement."""
        options = "ANALYZE, VERBOSE, FORMAT JSON" if analyze else "VERBOSE, FORMAT JSON"
        return Plan(self.connection.execute(f"EXPLAIN ({options}) {sql}").fetchone()[0][0])

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(dsn: str = "", **options: Any) -> Session:
    """A session; `dsn` and `options` are those of libpq. The database needs the extension pg_strom."""
    connection = _psycopg().connect(dsn, autocommit=True, **options)
    found = connection.execute("SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'pg_strom'").fetchone()
    if found is None:
        name = connection.info.dbname
        connection.close()
        raise StromError(f'database "{name}" does not have pg_strom: CREATE EXTENSION pg_strom;')
    return Session(connection)


def write(table: str, data: Any, append: bool = True, dsn: str = "") -> int:
    """Session.write() in a session of its own."""
    with connect(dsn) as session:
        return session.write(table, data, append)


def plan(sql: str, analyze: bool = True, dsn: str = "") -> Plan:
    """Session.plan() in a session of its own."""
    with connect(dsn) as session:
        return session.plan(sql, analyze)
