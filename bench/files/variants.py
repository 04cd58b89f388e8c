"""The Star Schema Benchmark's data in several forms of Arrow files.
They are compressed, dictionary-encoded, in many files, or sorted with statistics. Called by run.py."""
from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator

import pyarrow as pa
from pyarrow import ipc, parquet

from workload import TABLES, DataSet

BIG = "lineorder"
MANY_FILES, SMALL_FILES = 1000, 12000


@dataclass(frozen=True)
class Variant:
    """One form of the data. If a form concerns only lineorder, the dimension tables are plain."""

    name: str
    about: str
    write: Callable[[DataSet, Path], None]  # fills a folder with files TABLE.arrow, or with folders TABLE
    can_be_mapped: bool = False  # by pyarrow, as a table without copies
    is_parquet: bool = False

    def ensure(self, data: DataSet) -> None:
        folder = data.folder / "forms" / self.name
        if self.name == "plain" or folder.exists():
            return
        unfinished = folder.with_name(f"{self.name}.{os.getpid()}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        try:
            self.write(data, unfinished)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


@dataclass(frozen=True)
class FormDataSet(DataSet):
    """The benchmark's rows in one of the forms."""

    form: str = "plain"

    def path(self, table: str) -> Path:
        """The path of a file or a folder."""
        folder = self.folder / "forms" / self.form
        for found in (folder / f"{table}.arrow", folder / f"{table}.parquet", folder / table):
            if found.exists():
                return found
        return super().path(table)


def _batches(data: DataSet, table: str) -> Iterator[pa.RecordBatch]:
    reader = ipc.open_file(pa.memory_map(str(data.path(table))))
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _write(path: Path, batches: Iterator[pa.RecordBatch], **options: object) -> None:
    writer = None
    for batch in batches:
        writer = writer or ipc.new_file(str(path), batch.schema, options=ipc.IpcWriteOptions(**options))
        writer.write_batch(batch)
    writer.close()


def _compressed(codec: str) -> Callable[[DataSet, Path], None]:
    def write(data: DataSet, folder: Path) -> None:
        for table in TABLES:
            _write(folder / f"{table}.arrow", _batches(data, table), compression=codec)

    return write


def _parquet(data: DataSet, folder: Path) -> None:
    for table in TABLES:
        parquet.write_table(data.mapped(table), folder / f"{table}.parquet", row_group_size=1_000_000, compression="snappy")


def _dictionaries(data: DataSet, folder: Path) -> None:
    """Writes text columns with few values as dictionaries, as pandas (categories), Polars (enums) and DuckDB do."""
    for table in TABLES:
        plain = data.mapped(table)
        for position, field in enumerate(plain.schema):
            if not pa.types.is_string(field.type):
                continue
            sample = plain[field.name].slice(0, 100_000)
            if len(sample.unique()) * 10 < max(len(sample), 10_000):
                encoded = plain[field.name].dictionary_encode()
                plain = plain.set_column(position, pa.field(field.name, encoded.type, field.nullable), encoded)
        _write(folder / f"{table}.arrow", iter(plain.unify_dictionaries().to_batches()))


def _files(count: int) -> Callable[[DataSet, Path], None]:
    def write(data: DataSet, folder: Path) -> None:
        (folder / BIG).mkdir()
        table = data.mapped(BIG)
        for number in range(count):
            begin, end = (table.num_rows * i // count for i in (number, number + 1))
            part = table.slice(begin, end - begin).combine_chunks()
            _write(folder / BIG / f"{number:05d}.arrow", iter(part.to_batches()))

    return write


def _sorted(arrowstat: Path) -> Callable[[DataSet, Path], None]:
    def write(data: DataSet, folder: Path) -> None:
        target = str(folder / f"{BIG}.arrow")
        rows = str(max(data.rows(BIG) // 300, 1))
        run = [str(arrowstat), "--sort-by=lo_orderdate", f"--batch-rows={rows}", "-o", target, str(data.path(BIG))]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([str(arrowstat), "--add", target], check=True, stdout=subprocess.DEVNULL)

    return write


def variants(tools: Path) -> Dict[str, Variant]:
    """`tools`: the folder with arrowstat."""
    every = (
        Variant("plain", "as the main benchmark has it", lambda data, folder: None),
        Variant("lz4", "record batches compressed with LZ4", _compressed("lz4")),
        Variant("zstd", "record batches compressed with ZSTD", _compressed("zstd")),
        Variant("dictionary", "text of few values encoded by dictionaries", _dictionaries, True),
        Variant("parquet", "Parquet with row groups of a million rows, snappy", _parquet, is_parquet=True),
        Variant("many", f"lineorder in {MANY_FILES} files of one record batch", _files(MANY_FILES)),
        Variant("small", f"lineorder in {SMALL_FILES} files of one record batch", _files(SMALL_FILES)),
        Variant("sorted", "lineorder sorted by date in 300 record batches, with statistics", _sorted(tools / "arrowstat" / "arrowstat"),
                True),
    )
    return {variant.name: variant for variant in every}  # fmt: skip
