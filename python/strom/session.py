"""Queries with columnar results: Arrow record batches that the server makes without its executor."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Optional

from . import exports, writing
from .errors import ExportGone, StromError
from .plans import Plan

_BATCH_BYTES = 16 << 20


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise ImportError("sessions need psycopg: pip install 'psycopg[binary]'") from error
    return psycopg


class _Pieces:
    """A file over consecutive values: the pieces of an Arrow stream. Reads refer to the values that psycopg has made,
    so that the process holds the result only once."""

    closed = False

    def __init__(self, values: Iterator[Any], progress: Optional[Callable[[int], None]]) -> None:
        self._values = values
        self._value = memoryview(b"")
        self._bytes = 0
        self._progress = progress

    def _next(self) -> bool:
        """Moves to the next non-empty value. False at the end."""
        while not self._value:
            row = next(self._values, None)
            if row is None:
                return False
            self._value = memoryview(row[0])
        return True

    def read_buffer(self, size: int) -> Any:
        """At most `size` bytes; none at the end. They are copied only if they span several values."""
        parts: list[Any] = []
        left = size
        while left > 0 and self._next():
            parts.append(self._value[:left])
            self._value = self._value[left:]
            left -= len(parts[-1])
        piece = parts[0] if len(parts) == 1 else b"".join(parts)
        self._bytes += len(piece)
        if self._progress is not None:
            self._progress(self._bytes)
        return piece

    def read(self, size: int = -1) -> bytes:
        """The same as bytes; everything that is left for a negative size."""
        if size >= 0:
            return bytes(self.read_buffer(size))
        parts = []
        while piece := self.read_buffer(_BATCH_BYTES):
            parts.append(bytes(piece))
        return b"".join(parts)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def _shared_reader(connection: Any, sql: str) -> Any:
    """The whole result as a pyarrow.RecordBatchReader, in memory that the server has filled and this process maps. The
    memory stays valid while anything refers to it."""
    execute = connection.execute
    identifier, = execute("SELECT pgstrom.export_query(%s, %s)", (sql, '{"form": "stream"}')).fetchone()
    try:
        return exports.open_export(identifier).reader()
    finally:
        execute("SELECT pgstrom.arrow_fdw_put_gpu_buffer(%s)", (identifier,))


class Result:
    """A query's record batches, as they arrive. Iterate over it, or read all of it; it can be read once.

    Attributes: schema, pyarrow's; is_shared, True if the rows are in memory of the server that this process maps."""

    def __init__(self, session: Session, sql: str, batch_bytes: int, progress: Optional[Callable[[int], None]],
                 shared: Any) -> None:
        import pyarrow

        self.is_shared = shared is not None
        self._values: Any = None
        if shared is not None:
            self._reader = shared
        else:
            # Row by row and in binary form, so that libpq holds one value at a time. psycopg makes a bytes object of
            # it, whose address is aligned for NumPy. A piece of a COPY would begin in the middle of a word.
            self._cursor = session.connection.cursor(binary=True)
            self._values = self._cursor.stream("SELECT pgstrom.arrow_ipc_stream(%s, %s)", (sql, batch_bytes))
            self._reader = pyarrow.ipc.open_stream(pyarrow.PythonFile(_Pieces(self._values, progress), "r"))
        self.schema = self._reader.schema

    @classmethod
    def of_reader(cls, reader: Any) -> Result:
        """A result over a pyarrow.RecordBatchReader in shared memory."""
        result = cls.__new__(cls)
        result.is_shared, result._values, result._reader, result.schema = True, None, reader, reader.schema
        return result

    def __iter__(self) -> Iterator[Any]:
        """Yields each pyarrow.RecordBatch."""
        yield from self._reader
        self._end()

    def read_all(self) -> Any:
        """All rows as pyarrow.Table."""
        table = self._reader.read_all()
        self._end()
        return table

    fetch_arrow_table = read_all

    def fetch_df(self) -> Any:
        """All rows as pandas.DataFrame. Arrow's columns are freed while those of pandas are made."""
        return self.read_all().to_pandas(split_blocks=True, self_destruct=True)

    def _end(self) -> None:
        """Called after the last record batch. Reads the rest, because errors are reported at its end."""
        if self._values is not None:
            values, self._values = self._values, None
            for _ in values:
                pass
            self._cursor.close()

    def close(self) -> None:
        """Ends the query, even if rows are left."""
        if self._values is not None:
            values, self._values = self._values, None
            values.close()
            self._cursor.close()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """A session of a PostgreSQL server with pg_strom. `connection` is psycopg's, for everything else."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._shares = True

    def query(self, sql: str, *, batch_bytes: Optional[int] = None,
              progress: Optional[Callable[[int], None]] = None, shared: Optional[bool] = None) -> Result:
        """The result of a SELECT. Errors are psycopg's.

        `shared`: the server writes the whole result into memory that this process maps, instead of sending it. None: if
        the server is on this machine, no transaction is open, and neither `batch_bytes` nor `progress` is given; a
        result that exceeds the server's setting pg_strom.export_memory is sent. True: always; a StromError or psycopg's
        error says why it is impossible. `batch_bytes`: the approximate size in bytes of a record batch that is sent.
        `progress` is called with the number of bytes received so far."""
        reader = None
        is_whole = batch_bytes is None and progress is None
        if shared or (shared is None and is_whole and self._may_share()):
            reader = self._shared(sql, bool(shared))
        return Result(self, sql, batch_bytes or _BATCH_BYTES, progress, reader)

    def _may_share(self) -> bool:
        status = _psycopg().pq.TransactionStatus
        info = self.connection.info
        # If libpq's host is a path or an abstract name, it is a socket of this machine.
        return (self._shares and self.connection.autocommit and info.transaction_status == status.IDLE and
                info.host[:1] in ("/", "@"))

    def _shared(self, sql: str, is_demanded: bool) -> Any:
        """None if the result has to be sent."""
        errors = _psycopg().errors
        try:
            return _shared_reader(self.connection, sql)
        except (errors.OutOfMemory, errors.ConfigurationLimitExceeded, errors.ProgramLimitExceeded):
            if is_demanded:
                raise
        except (ExportGone, errors.InsufficientPrivilege, errors.UndefinedFunction) as error:
            if is_demanded:
                raise
            # The server is in another network namespace, or has another version. This will not change later.
            self._shares = isinstance(error, errors.InsufficientPrivilege)
        return None

    def write(self, table: str, data: Any, append: bool = True) -> int:
        """Appends Arrow data to any table that can be written to; returns the number of rows.

        `table`: "name" or "schema.name". `data`: a pyarrow Table, RecordBatch or RecordBatchReader, a data frame of
        pandas or polars, or an iterable of record batches. Columns are matched by name. Either all rows are written or
        none. `append` False: the table's rows are removed first, in the same transaction. Nested types and intervals
        raise StromError."""
        return writing.write(self.connection, table, data, append)

    def plan(self, sql: str, analyze: bool = True) -> Plan:
        """The plan of a statement, with times and rows unless `analyze` is False. With `analyze` it runs the
        statement."""
        options = "ANALYZE, VERBOSE, FORMAT JSON" if analyze else "VERBOSE, FORMAT JSON"
        return Plan(self.connection.execute(f"EXPLAIN ({options}) {sql}").fetchone()[0][0])

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(dsn: str = "", **options: Any) -> Session:
    """Opens a session; `dsn` and `options` are those of libpq. The database needs the extension pg_strom."""
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
