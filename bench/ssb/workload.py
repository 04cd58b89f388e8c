"""The data and the 13 queries of the Star Schema Benchmark for all engines: the places of the files, the columns that a
query reads, and the comparison of results. Called by run.py and by the engines."""
from __future__ import annotations

import decimal
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    import pyarrow

TABLES = ("lineorder", "date1", "customer", "supplier", "part")
SEED = 1
_QUERY_FOLDER = Path(__file__).resolve().parent / "queries"

Row = Tuple[object, ...]
Rows = List[Row]


@dataclass(frozen=True)
class Query:
    name: str
    sql: str  # without the final semicolon
    columns: Tuple[str, ...]  # all columns that it refers to
    order_by: Tuple[int, ...]  # positions in the result, as in ORDER BY


def _parse_query(path: Path) -> Query:
    sql = path.read_text().strip().rstrip(";")
    columns = tuple(sorted(set(re.findall(r"\b(?:lo|d|c|s|p)_[a-z0-9_]+\b", sql))))
    outputs = [re.sub(r".* as ", "", item.strip()) for item in sql.split("from")[0].replace("select", "", 1).split(",")]
    ordered = re.search(r"order by (.*)$", sql)
    keys = [key.split()[0] for key in ordered.group(1).split(", ")] if ordered else []
    return Query(path.stem, sql, columns, tuple(outputs.index(key) for key in keys))


QUERIES: Dict[str, Query] = {path.stem: _parse_query(path) for path in sorted(_QUERY_FOLDER.glob("Q*.sql"))}
USED_COLUMNS = frozenset(column for query in QUERIES.values() for column in query.columns)


@dataclass(frozen=True)
class DataSet:
    """The Arrow files of one scale factor."""

    scale: float
    folder: Path
    data_version: str

    @property
    def label(self) -> str:
        """Identifies the data; heap tables made from it have this text as their comment."""
        return f"SSB scale {self.scale:g}, seed {SEED}, data version {self.data_version}"

    def path(self, table: str) -> Path:
        return self.folder / f"{table}.arrow"

    def mapped(self, table: str) -> pyarrow.Table:
        """The whole table, as views of its memory-mapped file."""
        import pyarrow

        return pyarrow.ipc.open_file(pyarrow.memory_map(str(self.path(table)))).read_all()

    def rows(self, table: str) -> int:
        return self.mapped(table).num_rows

    def column_bytes(self) -> Dict[str, int]:
        """The bytes of each used column's buffers."""
        tables = (self.mapped(table) for table in TABLES)
        return {name: table[name].nbytes for table in tables for name in table.column_names if name in USED_COLUMNS}


def ensure_data(scale: float, data_dir: Path, ssbgen: Path, threads: int) -> DataSet:
    """Generates the files, unless the same version of the generator has made them already."""
    version = subprocess.run([ssbgen, "--data-version"], check=True, capture_output=True, text=True).stdout.strip()
    data = DataSet(scale, data_dir.resolve() / f"ssb-sf{scale:g}-seed{SEED}-v{version}", version)
    if not data.folder.exists():
        unfinished = data.folder.with_name(f"{data.folder.name}.{os.getpid()}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        options = ["--scale", f"{scale:g}", "--seed", str(SEED), "--threads", str(threads), "--out", str(unfinished)]
        try:
            subprocess.run([ssbgen, *options], check=True)
            unfinished.rename(data.folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return data


def normalise(rows: Sequence[Sequence[object]]) -> Rows:
    """Values in a form that is the same for all engines: integers of any type, and strings."""

    def value(given: object) -> object:
        if given is None or isinstance(given, (int, str)):
            return given
        if isinstance(given, bytes):
            return given.decode()
        if isinstance(given, decimal.Decimal) and given == given.to_integral_value():
            return int(given)
        return given  # a type that no query returns; it will differ

    return [tuple(value(item) for item in row) for row in rows]


def difference(query: Query, expected: Rows, got: Rows) -> str:
    """Describes the difference. Empty when both are the same multiset of rows and have the order of ORDER BY."""
    if sorted(map(repr, expected)) != sorted(map(repr, got)):
        missing = [row for row in expected if row not in got][:3]
        surplus = [row for row in got if row not in expected][:3]
        counts = "" if len(got) == len(expected) else f"{len(got)} rows instead of {len(expected)}; "
        return f"{counts}missing {missing}, surplus {surplus}"
    for number, (one, two) in enumerate(zip(expected, got)):
        if [one[key] for key in query.order_by] != [two[key] for key in query.order_by]:
            return f"row {number + 1} is out of order: {two} instead of {one}"
    return ""
