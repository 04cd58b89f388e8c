"""Writes Arrow data to tables: through COPY, in the session's transaction. Numbers and times use COPY's binary form
(see binary_rows.py) if all columns are such; otherwise pyarrow writes CSV."""
from __future__ import annotations

import collections
import concurrent.futures
import io
from typing import Any, Callable, Deque, Iterable, Iterator

from . import binary_rows
from .errors import StromError

_CHUNK_BYTES = 1 << 20
_ROWS = 65536  # encoded at a time, while earlier rows are sent


def batches_of(data: Any) -> Iterator[Any]:
    """Record batches of anything with Arrow data: tables, batches, readers, data frames of pandas, polars and
    DuckDB."""
    import pyarrow

    if isinstance(data, pyarrow.RecordBatch):
        yield data
    elif isinstance(data, pyarrow.Table):
        yield from data.to_batches()
    elif isinstance(data, pyarrow.RecordBatchReader):
        yield from data
    elif hasattr(data, "__arrow_c_stream__"):
        yield from pyarrow.RecordBatchReader.from_stream(data)
    elif hasattr(data, "__arrow_c_array__"):
        yield pyarrow.record_batch(data)
    elif type(data).__module__.split(".")[0] == "pandas":
        yield from pyarrow.Table.from_pandas(data, preserve_index=False).to_batches()
    elif isinstance(data, Iterable):
        yield from data
    else:
        raise StromError(f"{type(data).__name__} has no Arrow data")


def check_columns(batch: Any) -> None:
    """Raises StromError for types that neither form supports."""
    import pyarrow

    types = pyarrow.types
    for name, column in zip(batch.schema.names, batch.columns):
        kind = column.type
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_nested(kind) or types.is_interval(kind) or types.is_duration(kind):
            raise StromError(f'column "{name}" has the type {kind}, which cannot be written')


def _as_text(column: Any) -> Any:
    """Converts the column so that PostgreSQL reads what pyarrow writes."""
    import pyarrow
    import pyarrow.compute as compute

    kind = column.type
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _as_text(column.dictionary_decode())
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return pyarrow.array([None if value is None else "\\x" + value.hex() for value in column.to_pylist()])
    if types.is_timestamp(kind) and kind.tz is not None:
        # PostgreSQL would read text without a zone in the session's zone.
        return compute.binary_join_element_wise(
            compute.cast(compute.cast(column, pyarrow.timestamp(kind.unit, "UTC")), pyarrow.timestamp(kind.unit))
            .cast(pyarrow.string()), "+00", "")
    if types.is_float16(kind):
        return column.cast(pyarrow.float32())
    if types.is_null(kind):
        return column.cast(pyarrow.string())
    return column


def _csv(batch: Any) -> bytes:
    import pyarrow
    import pyarrow.csv

    columns = [_as_text(column) for column in batch.columns]
    out = io.BytesIO()
    # NULL is an empty field, and an empty text is "".
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    pyarrow.csv.write_csv(pyarrow.RecordBatch.from_arrays(columns, batch.schema.names), out, options)
    return out.getvalue()


class _Copy:
    """A COPY to a table, started with the first rows. One thread encodes rows while this one sends earlier rows."""

    def __init__(self, cursor: Any, name: Any, pool: concurrent.futures.Executor) -> None:
        self._cursor, self._name, self._pool = cursor, name, pool
        self._manager: Any = None
        self._copy: Any = None
        self._schema: Any = None
        self._encode: Callable[[Any], Any] = _csv
        self._encoded: Deque[concurrent.futures.Future[Any]] = collections.deque()

    def _begin(self, schema: Any) -> None:
        from psycopg import sql

        columns = sql.SQL(", ").join(map(sql.Identifier, schema.names))
        encode = binary_rows.encoder(self._cursor, self._name, schema)
        form = sql.SQL("FORMAT csv, ENCODING 'UTF8'" if encode is None else "FORMAT binary")
        self._encode = encode or _csv
        self._manager = self._cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN ({})").format(self._name, columns, form))
        self._copy = self._manager.__enter__()
        if encode is not None:
            self._copy.write(binary_rows.HEADER)

    def add(self, batch: Any) -> None:
        check_columns(batch)
        if self._copy is None:
            self._begin(batch.schema)
            self._schema = batch.schema
        batch = self._like_first(batch)
        for begin in range(0, batch.num_rows, _ROWS):
            self._encoded.append(self._pool.submit(self._encode, batch.slice(begin, _ROWS)))
            if len(self._encoded) > 1:
                self._send()

    def _like_first(self, batch: Any) -> Any:
        import pyarrow

        if batch.schema.names != self._schema.names:
            raise StromError(f"record batches differ in their columns: {self._schema.names} and {batch.schema.names}")
        if self._encode is _csv or batch.schema.types == self._schema.types:
            return batch
        columns = [column.cast(kind) for column, kind in zip(batch.columns, self._schema.types)]
        return pyarrow.RecordBatch.from_arrays(columns, batch.schema.names)

    def _send(self) -> None:
        bytes_ = memoryview(self._encoded.popleft().result())
        for begin in range(0, len(bytes_), _CHUNK_BYTES):
            self._copy.write(bytes_[begin:begin + _CHUNK_BYTES])

    def end(self) -> None:
        while self._encoded:
            self._send()
        if self._manager is not None:
            if self._encode is not _csv:
                self._copy.write(binary_rows.END)
            self._manager.__exit__(None, None, None)

    def fail(self, error: BaseException) -> None:
        if self._manager is not None:
            self._manager.__exit__(type(error), error, error.__traceback__)


def write(connection: Any, table: str, data: Any, append: bool) -> int:
    """See Session.write()."""
    from psycopg import sql

    rows = 0
    name = sql.SQL(".").join(sql.Identifier(part) for part in table.split(".")) if isinstance(table, str) else table
    with connection.transaction(), connection.cursor() as cursor, concurrent.futures.ThreadPoolExecutor(1) as pool:
        if not append:
            cursor.execute(sql.SQL("TRUNCATE {}").format(name))
        copy = _Copy(cursor, name, pool)
        try:
            for batch in batches_of(data):
                copy.add(batch)
                rows += batch.num_rows
            copy.end()
        except BaseException as error:
            copy.fail(error)
            raise
    return rows
