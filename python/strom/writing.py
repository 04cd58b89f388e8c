"""Arrow data into tables: through COPY, in the transaction of the session."""
from __future__ import annotations

import io
from typing import Any, Iterable, Iterator

from .errors import StromError

_CHUNK_BYTES = 1 << 20


def _batches(data: Any) -> Iterator[Any]:
    """Record batches of whatever has Arrow data: tables, batches, readers, data frames of pandas, polars and DuckDB."""
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


def _as_text(column: Any, name: str) -> Any:
    """The column as one that pyarrow writes as PostgreSQL reads it."""
    import pyarrow
    import pyarrow.compute as compute

    kind = column.type
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _as_text(column.dictionary_decode(), name)
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return pyarrow.array([None if value is None else "\\x" + value.hex() for value in column.to_pylist()])
    if types.is_nested(kind) or types.is_interval(kind) or types.is_duration(kind):
        raise StromError(f'column "{name}" has the type {kind}, which cannot be written')
    if types.is_timestamp(kind) and kind.tz is not None:
        # Text without a zone would be taken for the session's.
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

    columns = [_as_text(column, name) for name, column in zip(batch.schema.names, batch.columns)]
    out = io.BytesIO()
    # NULL is nothing, and an empty text is "".
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    pyarrow.csv.write_csv(pyarrow.RecordBatch.from_arrays(columns, batch.schema.names), out, options)
    return out.getvalue()


def write(connection: Any, table: str, data: Any, append: bool) -> int:
    """See Session.write()."""
    from psycopg import sql

    rows = 0
    name = sql.SQL(".").join(sql.Identifier(part) for part in table.split(".")) if isinstance(table, str) else table
    with connection.transaction(), connection.cursor() as cursor:
        if not append:
            cursor.execute(sql.SQL("TRUNCATE {}").format(name))
        copy = None
        try:
            for batch in _batches(data):
                if copy is None:
                    columns = sql.SQL(", ").join(map(sql.Identifier, batch.schema.names))
                    manager = cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv, ENCODING 'UTF8')").format(name, columns))
                    copy = manager.__enter__()
                text = memoryview(_csv(batch))
                for begin in range(0, len(text), _CHUNK_BYTES):
                    copy.write(text[begin:begin + _CHUNK_BYTES])
                rows += batch.num_rows
        except BaseException as error:
            if copy is not None:
                manager.__exit__(type(error), error, error.__traceback__)
            raise
        if copy is not None:
            manager.__exit__(None, None, None)
    return rows
