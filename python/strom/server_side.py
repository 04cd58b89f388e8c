"""Sessions for PL/Python functions: they use the session that runs the function, without a second connection."""
from __future__ import annotations

import json
from typing import Any, Iterator

from . import exports
from .errors import StromError
from .plans import Plan
from .session import Result
from .writing import batches_of, check_columns

_ROWS = 65536  # rows for each statement


class ServerSession:
    """Like Session, in the function's own transaction. `plpy` is PL/Python's module, for everything else."""

    def __init__(self, plpy: Any) -> None:
        self.plpy = plpy

    def export(self, sql: str, **options: Any) -> exports.Export:
        """The result of a SELECT, in memory that the server has filled and only this process maps. Needs NumPy only.
        `options` are those of pgstrom.export_query(). Errors are plpy's."""
        make = self.plpy.prepare("SELECT pgstrom.export_query($1, $2::jsonb) AS identifier", ["text", "text"])
        identifier = self.plpy.execute(make, [sql, json.dumps(options)])[0]["identifier"]
        try:
            return exports.open_export(identifier)
        finally:
            drop = self.plpy.prepare("SELECT pgstrom.arrow_fdw_put_gpu_buffer($1)", ["text"])
            self.plpy.execute(drop, [identifier])

    def query(self, sql: str) -> Result:
        """The same as record batches. Needs pyarrow."""
        return Result.of_reader(self.export(sql, form="stream").reader())

    def write(self, table: str, data: Any, append: bool = True) -> int:
        """Like Session.write(), but by INSERT: the values become Python objects."""
        name = ".".join(self.plpy.quote_ident(part) for part in table.split("."))
        rows = 0
        with self.plpy.subtransaction():
            if not append:
                self.plpy.execute(f"TRUNCATE {name}")
            for batch in batches_of(data):
                check_columns(batch)
                types = self._types(name, batch.schema.names)
                columns = ", ".join(map(self.plpy.quote_ident, batch.schema.names))
                values = ", ".join(f"${i + 1}" for i in range(len(types)))
                insert = self.plpy.prepare(f"INSERT INTO {name} ({columns}) SELECT * FROM unnest({values})", [f"{kind}[]" for kind in types])
                for part in _slices(batch):
                    self.plpy.execute(insert, [column.to_pylist() for column in part.columns])
                rows += batch.num_rows
        return rows

    def _types(self, name: str, columns: list[str]) -> list[str]:
        found = self.plpy.execute(
            self.plpy.prepare("SELECT attname, format_type(atttypid, atttypmod) AS kind FROM pg_attribute WHERE attrelid = $1::regclass "
                              "AND attnum > 0 AND NOT attisdropped", ["text"]), [name])
        kinds = {row["attname"]: row["kind"] for row in found}
        for column in columns:
            if column not in kinds:
                raise StromError(f'table {name} has no column "{column}"')
        return [kinds[column] for column in columns]

    def plan(self, sql: str, analyze: bool = True) -> Plan:
        """Like Session.plan()."""
        options = "ANALYZE, VERBOSE, FORMAT JSON" if analyze else "VERBOSE, FORMAT JSON"
        found = self.plpy.execute(f"EXPLAIN ({options}) {sql}")[0]["QUERY PLAN"]
        return Plan((json.loads(found) if isinstance(found, str) else found)[0])


def _slices(batch: Any) -> Iterator[Any]:
    for begin in range(0, batch.num_rows, _ROWS):
        yield batch.slice(begin, _ROWS)


def here() -> ServerSession:
    """The session that runs this PL/Python function. StromError outside of PL/Python."""
    try:
        import plpy
    except ImportError as error:
        raise StromError("this is no PL/Python function: use strom.connect()") from error
    return ServerSession(plpy)
